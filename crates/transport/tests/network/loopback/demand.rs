//! Layers that nobody holds are not sent.

use std::sync::Mutex;
use std::time::Instant;

use super::*;

/// A receiver that holds a level whatever happens, until `stop`.
fn holding(
    number: u8,
    into: PathBuf,
    level: u16,
    silent: bool,
    stop: &Arc<AtomicBool>,
) -> thread::JoinHandle<Vec<Notice>> {
    let options = ReceiveOptions {
        protocol_options: vec![("level".to_owned(), level.to_string())],
        silent,
        within: None,
        ..receiving(number, into)
    };
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let mut notices = Vec::new();
        let ended = receive(&options, &stop, &mut |event| {
            if let Event::Notice(notice) = event {
                notices.push(notice.clone());
            }
        });
        assert!(ended.is_err(), "the file is too long to be complete");
        notices
    })
}

#[test]
fn layers_that_nobody_holds_are_left_out_until_someone_comes() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("demand");
    let file = temp.with("file", &content(60_000_000));
    // 64 kbit/s to 32.8 Mbit/s, 4096 packets/s; seven layers, 4.1 Mbit/s, are always sent.
    let layers = LayerTable::doubling(Rate::from_kbps(64.0), 10).unwrap();
    let ends = Ends { after: Some(Duration::from_secs(100)), ..Ends::default() };
    let options = SendOptions { layers, ..sending(250, "fixed", ends) };
    let (stop, stop_source) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    // Twice a second: how long it has been sending, and how many packets.
    let sent: Arc<Mutex<Vec<(f64, u64)>>> = Arc::default();
    let (flag, log) = (Arc::clone(&stop_source), Arc::clone(&sent));
    let source = thread::spawn(move || {
        send(&[file], &options, &flag, &mut |event| {
            if let Event::Progress(Progress::Send(progress)) = event {
                log.lock().unwrap().push((progress.elapsed.as_secs_f64(), progress.counters.packets));
            }
        })
    });
    let slow = holding(250, temp.directory("slow"), 2, false, &stop);
    // Packets per second since so many seconds ago.
    let rate = |span: f64| {
        let log = sent.lock().unwrap();
        let &(now, packets) = log.last()?;
        let &(then, before) = log.iter().rev().find(|(at, _)| *at <= now - span)?;
        Some((packets - before) as f64 / (now - then))
    };
    let wait_for = |what: &str, seconds: u64, is_so: &dyn Fn(f64) -> bool| {
        let begin = Instant::now();
        while !rate(1.0).is_some_and(is_so) {
            assert!(begin.elapsed() < Duration::from_secs(seconds), "{what}: {:?} packets/s", rate(1.0));
            thread::sleep(Duration::from_millis(100));
        }
        begin.elapsed()
    };
    // All layers at first, for the one that starts; on a machine under load some packets are late.
    wait_for("at first", 20, &|rate| rate > 3000.0);
    wait_for("without demand", 50, &|rate| rate < 700.0);
    // One that reports nothing says all the same for which layers it is there, and gets everything, soon.
    let fast = holding(250, temp.directory("fast"), 9, true, &stop);
    wait_for("a new receiver", 10, &|rate| rate > 3000.0);
    stop.store(true, Ordering::Relaxed);
    stop_source.store(true, Ordering::Relaxed);
    assert_eq!((slow.join().unwrap(), fast.join().unwrap()), (Vec::new(), Vec::new()));
    let sent = source.join().unwrap().unwrap();
    assert!(sent.progress.counters.demands >= 2, "{:?}", sent.progress.counters);
    assert_eq!(sent.progress.counters.bad_feedback, 0);
}
