//! The command that `layercast receive --on-complete` runs for each file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::Context;

use crate::output::complain;

/// How many files may wait for their command. Reception does not wait for it: further ones are failures.
const WAITING: usize = 1 << 16;

struct Job {
    path: PathBuf,
    name: String,
    length: u64,
}

/// Runs the command, one at a time, in the order of the files.
pub(crate) struct OnComplete {
    into: PathBuf,
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    failures: Arc<AtomicUsize>,
}

impl OnComplete {
    /// Starts to run a command for files in a directory. Files that wait when `stop` is set are named and left.
    pub(crate) fn start(command: &str, into: &Path, stop: &Arc<AtomicBool>) -> anyhow::Result<OnComplete> {
        let into = std::path::absolute(into).context("the directory has no path")?;
        let (queue, jobs) = sync_channel::<Job>(WAITING);
        let failures = Arc::new(AtomicUsize::new(0));
        let (failed, stopped, command) = (Arc::clone(&failures), Arc::clone(stop), command.to_owned());
        let run = move || {
            for job in jobs {
                let done = if stopped.load(Ordering::Relaxed) {
                    Err("not run, since this was interrupted".to_owned())
                } else {
                    run(&command, &job)
                };
                if let Err(reason) = done {
                    failed.fetch_add(1, Ordering::Relaxed);
                    complain(&format!("warning: the command for {}: {reason}", job.name));
                }
            }
        };
        let thread =
            thread::Builder::new().name("command".into()).spawn(run).context("cannot spawn a thread")?;
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(OnComplete { into, queue, thread, failures })
    }

    /// A file is in its place.
    pub(crate) fn file(&self, name: &str, length: u64) {
        let job = Job { path: self.into.join(name), name: name.to_owned(), length };
        if self.queue.as_ref().is_none_or(|queue| queue.try_send(job).is_err()) {
            self.failures.fetch_add(1, Ordering::Relaxed);
            complain(&format!("warning: the command for {name}: not run, {WAITING} files wait already"));
        }
    }

    /// Waits for the last command; how many failed or were not run.
    pub(crate) fn finish(mut self) -> usize {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.failures.load(Ordering::Relaxed)
    }
}

/// The file's name comes from the network: it is in the environment alone, never part of the command.
fn run(command: &str, job: &Job) -> Result<(), String> {
    let status = Command::new("sh")
        .args(["-c", command])
        .env("LAYERCAST_PATH", &job.path)
        .env("LAYERCAST_NAME", &job.name)
        .env("LAYERCAST_LENGTH", job.length.to_string())
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("it cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_data_and_failures_are_counted_in_order() {
        let into = std::env::temp_dir().join(format!("layercast-command-{}", std::process::id()));
        std::fs::create_dir_all(&into).expect("a directory");
        let log = into.join("log");
        let command = format!(
            "printf '%s %s\\n' \"$LAYERCAST_NAME\" \"$LAYERCAST_LENGTH\" >>'{}'; test \"$LAYERCAST_NAME\" != bad",
            log.display()
        );
        let stop = Arc::new(AtomicBool::new(false));
        let commands = OnComplete::start(&command, &into, &stop).expect("it starts");
        let names = ["first", "$(touch injected); `touch injected`", "bad", "'; touch injected; '"];
        names.iter().zip(1..).for_each(|(name, length)| commands.file(name, length));
        assert_eq!(commands.finish(), 1);
        let expected: Vec<String> =
            names.iter().zip(1..).map(|(name, length)| format!("{name} {length}\n")).collect();
        assert_eq!(std::fs::read_to_string(&log).expect("the log"), expected.concat());
        assert!(!Path::new("injected").exists());
        std::fs::remove_dir_all(into).expect("removed");
    }
}
