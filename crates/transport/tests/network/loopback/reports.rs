//! Reception reports: what a source knows of receivers of different rates.

use layercast_transport::send::Reception;

use super::*;

/// What the source knew after its polls, until it was stopped.
fn watched(
    path: PathBuf,
    options: SendOptions,
    until: impl Fn(&Reception) -> bool,
) -> (Vec<Reception>, Sent) {
    let stop = AtomicBool::new(false);
    let mut seen = Vec::new();
    let sent = send(&[path], &options, &stop, &mut |event| {
        if let Event::Reception(reception) = event {
            stop.store(until(reception), Ordering::Relaxed);
            seen.push(Reception::clone(reception));
        }
    });
    (seen, sent.unwrap())
}

/// Three receivers of one, two and three layers: levels that `fixed` takes by its option.
#[test]
fn three_receivers_of_different_rates_are_listed_the_slowest_first() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("reports");
    // 1, 2 and 4 Mbit/s: the fastest takes a minute and more.
    let file = temp.with("file", &content(40_000_000));
    let layers = LayerTable::doubling(Rate::from_mbps(1.0), 3).unwrap();
    let ends = Ends { after: Some(Duration::from_secs(55)), ..Ends::default() };
    let options = SendOptions { layers, ..sending(190, "fixed", ends) };
    let receivers: Vec<_> = (0..3)
        .map(|top| {
            let options = ReceiveOptions {
                protocol_options: vec![("level".to_owned(), top.to_string())],
                start_within: Duration::from_secs(30),
                ..receiving(190, temp.directory(&format!("into {top}")))
            };
            thread::spawn(move || get(&options).map(|_| ()))
        })
        .collect();
    // The first polls are answered by a part of the receivers: the number is exact when all answer.
    let is_settled = |reception: &Reception| {
        reception.summary.slowest.len() == 3 && reception.summary.receivers.mean == 3.0
    };
    let (seen, sent) = watched(file, options, is_settled);
    for receiver in receivers {
        // The source ends before they are complete.
        assert!(matches!(
            receiver.join().unwrap(),
            Err(Error::Kept { .. } | Error::Receive(ReceiveError::SessionEnded { .. }))
        ));
    }
    let last = seen.last().unwrap();
    assert_eq!(last.summary.receivers.mean, 3.0, "{last:?}");
    let reports: Vec<_> = last.summary.slowest.iter().map(|known| known.report).collect();
    assert_eq!(reports.iter().map(|report| report.level.as_number()).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(reports.windows(2).all(|two| two[0].share < two[1].share), "{reports:?}");
    assert!(last.summary.slowest.iter().all(|known| known.from.ip() == Ipv4Addr::LOCALHOST));
    // The last reports of receivers that gave up when the source had ended come too late.
    assert_eq!(sent.reception.unwrap().summary.slowest.len(), 3);
    let counters = sent.progress.counters;
    assert!(counters.reception_reports >= 3 && counters.bad_feedback == 0, "{counters:?}");
}

#[test]
fn a_silent_receiver_reports_nothing_and_a_source_without_reports_asks_for_none() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("silent");
    let file = temp.with("file", &content(300_000));
    let ends = Ends { completions: Some(1), after: Some(Duration::from_secs(4)), ..Ends::default() };
    let options = SendOptions { reports: false, ..sending(194, "fixed", ends) };
    let receiver = ReceiveOptions { silent: true, ..receiving(194, temp.directory("into")) };
    let receiver = thread::spawn(move || get(&receiver));
    let (seen, sent) = watched(file, options, |_| false);
    receiver.join().unwrap().unwrap();
    assert_eq!((seen.len(), sent.reception), (0, None));
    assert_eq!((sent.stopped, sent.completed.len()), (Stopped::Time, 0));
    assert_eq!(sent.progress.counters.completions, 0);
}
