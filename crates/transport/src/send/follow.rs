//! Changes of files while they are sent: a thread looks again and again, so that sending does not stop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use layercast_delivery::send_state::fingerprint::Fingerprint;

use super::scan::{Found, FoundItem, LeftOut, Reading, hashed, scan};
use crate::error::Error;
use crate::notice::Notice;

/// The interval of looks.
const TICK: Duration = Duration::from_secs(2);
/// A file is new, changed or gone when it has been so for this time: not while somebody writes to it.
const QUIET: Duration = Duration::from_secs(2);
/// How many things that are left out are remembered, to say each once.
const SAID_MAX: usize = 1 << 16;
/// The interval of checks for the end.
const END_EVERY: Duration = Duration::from_millis(100);

/// What changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) new: Found,
    /// The names of files that are gone.
    pub(super) removed: Vec<String>,
    pub(super) notices: Vec<Notice>,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.new.is_empty() && self.removed.is_empty() && self.notices.is_empty()
    }
}

/// A thread that looks for changes until this is dropped.
#[derive(Debug)]
pub(super) struct Follower {
    changes: Receiver<Changes>,
    end: Arc<AtomicBool>,
}

impl Follower {
    /// Looks for changes of what was found.
    pub(super) fn start(paths: &[PathBuf], found: &Found, how: Reading) -> Result<Follower, Error> {
        let mut watch = Watch::new(paths, found, how);
        let end = Arc::new(AtomicBool::new(false));
        let (queue, changes) = sync_channel(1);
        let flag = Arc::clone(&end);
        let run = move || {
            let ended = || flag.load(Ordering::Relaxed);
            while !ended() {
                let begin = Instant::now();
                while begin.elapsed() < TICK && !ended() {
                    thread::sleep(END_EVERY);
                }
                let changes = watch.scan(Instant::now(), &mut |_| !ended());
                if !changes.is_empty() && queue.send(changes).is_err() {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("follow".into()).spawn(run);
        spawned.map_err(|source| Error::Socket {
            what: "start a thread that looks for changes".into(),
            source,
        })?;
        Ok(Follower { changes, end })
    }

    /// Changes that were found since the last call.
    pub(super) fn take(&self) -> Option<Changes> {
        self.changes.try_recv().ok()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

/// A name with another state than the one that is sent, none if it is gone, and since when.
type Candidates = BTreeMap<String, (Option<FoundItem>, Instant)>;

/// What is sent, and what may soon be.
#[derive(Debug)]
struct Watch {
    paths: Vec<PathBuf>,
    how: Reading,
    /// The file system of each path that is a folder.
    roots: BTreeMap<PathBuf, u64>,
    sent: BTreeMap<String, Option<Fingerprint>>,
    candidates: Candidates,
    said: BTreeSet<PathBuf>,
    failures: u32,
}

impl Watch {
    fn new(paths: &[PathBuf], found: &Found, how: Reading) -> Watch {
        let root = |path: &PathBuf| {
            let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
            Some((path.clone(), metadata.dev()))
        };
        Watch {
            paths: paths.to_vec(),
            how,
            roots: paths.iter().filter_map(root).collect(),
            sent: found.iter().map(|(found, _)| (found.name.clone(), found.fingerprint)).collect(),
            candidates: BTreeMap::new(),
            said: BTreeSet::new(),
            failures: 0,
        }
    }

    /// Looks at all paths; `go_on` is asked while files are read.
    fn scan(&mut self, now: Instant, go_on: &mut dyn FnMut(u64) -> bool) -> Changes {
        let mut changes = Changes::default();
        match self.present(&mut changes.notices) {
            Ok((present, gone)) => {
                self.failures = 0;
                self.note(present, gone, now);
                self.settle(now, &mut changes, go_on);
            }
            // What cannot be read is not gone: nothing is removed at the receivers.
            Err(error) => {
                self.failures += 1;
                // Something may have vanished while it was looked at.
                if self.failures == 2 {
                    changes.notices.push(Notice::NotFollowed { reason: error.to_string() });
                }
            }
        }
        changes
    }

    /// Everything that is there now, and the names of what is gone.
    fn present(
        &mut self,
        notices: &mut Vec<Notice>,
    ) -> Result<(BTreeMap<String, FoundItem>, Vec<String>), Error> {
        let (mut present, mut unread) = (BTreeMap::new(), Vec::new());
        for path in &self.paths {
            let failed = |source| Error::file("read", path, source);
            match (fs::metadata(path), self.roots.get(path)) {
                (Err(error), None) if error.kind() == io::ErrorKind::NotFound => continue,
                (Err(error), _) => return Err(failed(error)),
                (Ok(metadata), Some(&device)) if metadata.dev() != device => {
                    let reason = "another file system is there, or this one was unmounted";
                    return Err(failed(io::Error::other(reason)));
                }
                (Ok(_), _) => {}
            }
            let found = scan(std::slice::from_ref(path))?;
            for left_out in found.left_out {
                if self.said.len() < SAID_MAX && self.said.insert(left_out.path.clone()) {
                    notices.push(left_out.notice());
                }
            }
            present.extend(found.items.into_iter().map(|item| (item.name.clone(), item)));
            unread.extend(found.unread);
        }
        // What cannot be looked at is as it was.
        let below =
            |name: &str, folder: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let is_unread = |name: &str| unread.iter().any(|folder| below(name, folder));
        let is_gone = |name: &&String| !present.contains_key(*name) && !is_unread(name);
        let gone = self.sent.keys().filter(is_gone).cloned().collect();
        Ok((present, gone))
    }

    /// Notes what differs from what is sent, and since when.
    fn note(&mut self, mut present: BTreeMap<String, FoundItem>, gone: Vec<String>, now: Instant) {
        let mut candidates = Candidates::new();
        present.retain(|name, item| self.sent.get(name) != Some(&item.fingerprint));
        let differing = present.into_iter().map(|(name, item)| (name, Some(item)));
        for (name, state) in differing.chain(gone.into_iter().map(|name| (name, None))) {
            let fingerprint = |item: &Option<FoundItem>| item.as_ref().map(|item| item.fingerprint);
            let since = match self.candidates.get(&name) {
                Some((before, since)) if fingerprint(before) == fingerprint(&state) => *since,
                _ => now,
            };
            candidates.insert(name, (state, since));
        }
        self.candidates = candidates;
    }

    /// Takes what has been the same for long enough.
    fn settle(&mut self, now: Instant, changes: &mut Changes, go_on: &mut dyn FnMut(u64) -> bool) {
        let quiet = |since: Instant| now.saturating_duration_since(since) >= QUIET;
        let ready: Vec<(String, Option<FoundItem>)> = self
            .candidates
            .iter()
            .filter(|(_, (_, since))| quiet(*since))
            .map(|(name, (state, _))| (name.clone(), state.clone()))
            .collect();
        for (name, state) in ready {
            match state {
                None => {
                    self.sent.remove(&name);
                    changes.removed.push(name.clone());
                }
                Some(found) => match hashed(&found, self.how, go_on) {
                    Ok(item) => {
                        self.sent.insert(name.clone(), found.fingerprint);
                        changes.new.push((found, item));
                    }
                    Err(Error::Interrupted) => return,
                    // It changed or vanished while it was read: it is looked at again.
                    Err(Error::FileChanged { .. }) => {}
                    Err(error) => {
                        if self.said.insert(found.path.clone()) {
                            changes.notices.push(LeftOut::file(&found.path, &error).notice());
                        }
                        continue;
                    }
                },
            }
            self.candidates.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_delivery::object::Cut;

    const HOW: Reading =
        Reading { cut: Cut { symbol: 1000, longest: 1000, is_signed: false }, tagged: u64::MAX };

    struct Site {
        root: PathBuf,
        begin: Instant,
        watch: Watch,
    }

    impl Site {
        fn new(name: &str) -> Site {
            let root = std::env::temp_dir().join(format!("layercast-follow-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(root.join("site/sub")).expect("folders");
            fs::write(root.join("site/a"), b"a").expect("a file");
            fs::write(root.join("site/sub/b"), b"b").expect("a file");
            let paths = [root.join("site")];
            let found = scan(&paths).expect("files");
            let found: Found = found
                .items
                .into_iter()
                .map(|one| (one.clone(), hashed(&one, HOW, &mut |_| true).expect("a hash")))
                .collect();
            Site { watch: Watch::new(&paths, &found, HOW), root, begin: Instant::now() }
        }

        /// What a look after so many seconds finds: names of new files and of those that are gone.
        fn scan(&mut self, seconds: u64) -> (Vec<String>, Vec<String>, Vec<String>) {
            let changes = self.watch.scan(self.begin + Duration::from_secs(seconds), &mut |_| true);
            let notices = changes.notices.iter().map(ToString::to_string).collect();
            (changes.new.into_iter().map(|(_, item)| item.path).collect(), changes.removed, notices)
        }
    }

    impl Drop for Site {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn nothing() -> (Vec<String>, Vec<String>, Vec<String>) {
        (Vec::new(), Vec::new(), Vec::new())
    }

    #[test]
    fn a_change_counts_when_it_has_been_the_same_for_two_seconds() {
        let mut site = Site::new("quiet");
        assert_eq!(site.scan(0), nothing());
        fs::write(site.root.join("site/a"), b"longer").expect("a file");
        fs::write(site.root.join("site/c"), b"new").expect("a file");
        fs::remove_file(site.root.join("site/sub/b")).expect("removed");
        assert_eq!(site.scan(2), nothing());
        // Somebody still writes to one of them.
        fs::write(site.root.join("site/c"), b"new and longer").expect("a file");
        let (new, removed, _) = site.scan(4);
        assert_eq!(new, ["site/a", "site/sub"], "an empty folder is sent too");
        assert_eq!(removed, ["site/sub/b"]);
        assert_eq!(site.scan(5), nothing());
        assert_eq!(site.scan(6).0, ["site/c"]);
        assert_eq!(site.scan(8), nothing());
    }

    #[test]
    fn a_folder_that_is_gone_as_a_whole_removes_nothing_and_is_named_once() {
        let mut site = Site::new("gone");
        fs::rename(site.root.join("site"), site.root.join("elsewhere")).expect("moved");
        assert_eq!(site.scan(0), nothing());
        let (new, removed, notices) = site.scan(2);
        assert!(new.is_empty() && removed.is_empty());
        assert!(notices.len() == 1 && notices[0].contains("nothing is removed"), "{notices:?}");
        assert_eq!(site.scan(4), nothing());
        fs::rename(site.root.join("elsewhere"), site.root.join("site")).expect("moved back");
        assert_eq!((site.scan(6), site.scan(9)), (nothing(), nothing()));
    }
}
