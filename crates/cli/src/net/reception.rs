//! What a sender says of its receivers, from their reception reports.

use std::fmt::Write as _;

use layercast_core::units::Time;
use layercast_delivery::reporting::{Interval, KnownReceiver};
use layercast_transport::send::Reception;

/// How many receivers are listed at the end.
const LISTED: usize = 20;
/// A receiver that was silent for longer than a poll or two is said to be.
const SILENT_S: f64 = 15.0;

/// How many receivers, how far, and the slowest; none while nobody has reported. `completions` have reported their
/// completion besides.
pub(crate) fn line(reception: &Reception, completions: usize) -> Option<String> {
    let summary = &reception.summary;
    let at_least = completions as f64;
    let receivers = summary.receivers;
    let receivers = Interval {
        mean: receivers.mean.max(at_least),
        low: receivers.low.max(at_least),
        high: receivers.high.max(at_least),
    };
    if receivers.mean < 0.5 {
        return None;
    }
    let complete = summary.complete.max(at_least);
    let mut text = format!("reception: {}, {} complete", number(&receivers), rounded(complete));
    if let Some(median) = summary.median {
        let _ = write!(text, ", half have {:.0} % or more", (median * 100.0).floor());
    }
    if let Some(slowest) = summary.slowest.first() {
        let _ = write!(text, "; slowest: {} {}", slowest.from.ip(), state(slowest, reception.at));
    }
    Some(text)
}

/// How many receivers; none while nobody has reported.
pub(crate) fn number_of(reception: &Reception) -> Option<String> {
    let receivers = &reception.summary.receivers;
    (receivers.mean >= 0.5).then(|| number(receivers))
}

/// How many of the receivers that are not known to be complete have been silent, so that they may be.
pub(crate) fn unknown(reception: &Reception) -> usize {
    reception.summary.slowest.iter().filter(|known| is_unknown(known, reception.at)).count()
}

fn is_unknown(known: &KnownReceiver, now: Time) -> bool {
    !known.report.is_leaving && known.silent_s(now) > SILENT_S
}

/// The slowest receivers that are not known to be complete, a line each.
pub(crate) fn incomplete(reception: &Reception) -> String {
    let slowest = &reception.summary.slowest;
    let mut text = String::new();
    for known in slowest.iter().take(LISTED) {
        let what = if is_unknown(known, reception.at) { "Unknown" } else { "Not complete" };
        let _ = writeln!(text, "{what}: {} {}", known.from, state(known, reception.at));
    }
    if let Some(more @ 1..) = slowest.len().checked_sub(LISTED) {
        let _ = writeln!(text, "Not complete: {more} more that are known");
    }
    text
}

fn state(known: &KnownReceiver, now: Time) -> String {
    let report = &known.report;
    let mut text = format!("at {:.0} %, level {}", (known.share() * 100.0).floor(), report.level);
    if let Some(lost) = report.lost {
        let _ = write!(text, ", {:.0} % lost", f64::from(lost) / 10.0);
    }
    if report.failed > 0 {
        let _ = write!(text, ", {} files failed", report.failed);
    }
    if report.disk_fails {
        text.push_str(", its disk is full or fails");
    }
    let silent = known.silent_s(now);
    if report.is_leaving {
        text.push_str(", has ended");
    } else if silent > SILENT_S {
        let _ = write!(text, ", silent for {silent:.0} s");
    }
    text
}

/// A number of receivers, with its interval if it is an estimate.
fn number(receivers: &Interval) -> String {
    let mean = rounded(receivers.mean);
    if receivers.low == receivers.mean {
        let at_least = if receivers.high > receivers.mean { "at least " } else { "" };
        let noun = if mean == "1" { "receiver" } else { "receivers" };
        return format!("{at_least}{mean} {noun}");
    }
    format!("about {mean} receivers ({} to {})", rounded(receivers.low), rounded(receivers.high))
}

/// A number with three digits that count, and commas.
fn rounded(number: f64) -> String {
    let mut unit = 1.0;
    while number / unit >= 999.5 {
        unit *= 10.0;
    }
    let digits = format!("{:.0}", (number / unit).round() * unit);
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::{Duration, Level};
    use layercast_delivery::packet::{ReceptionReport, WHOLE};
    use layercast_delivery::reporting::{CollectorCounters, Summary};
    use std::num::NonZeroU64;

    fn known(address: &str, percent: u16) -> KnownReceiver {
        let report = ReceptionReport {
            tsi: 1,
            receiver: NonZeroU64::MIN,
            poll: 0,
            exponent: 0,
            is_complete: false,
            is_leaving: false,
            disk_fails: false,
            share: (u32::from(percent) * u32::from(WHOLE) / 100 + 1) as u16,
            level: Level::from_count(2),
            lost: Some(93),
            left_s: None,
            objects: 0,
            failed: 0,
        };
        KnownReceiver { from: address.parse().expect("an address"), at: Time::ZERO, report }
    }

    fn reception(mean: f64, low: f64, high: f64, slowest: Vec<KnownReceiver>) -> Reception {
        let receivers = Interval { mean, low, high };
        let (complete, median) = (12.2, Some(0.639));
        let summary =
            Summary { receivers, complete, median, slowest, counters: CollectorCounters::default() };
        Reception { at: Time::ZERO + Duration::from_secs(40), summary }
    }

    #[test]
    fn the_line_says_how_many_how_far_and_who_is_slowest() {
        let mut slow = known("192.0.2.7:4000", 12);
        slow.at = Time::ZERO + Duration::from_secs(30);
        let text = line(&reception(1237.8, 1104.0, 1399.6, vec![slow]), 0);
        assert_eq!(
            text.as_deref(),
            Some(
                "reception: about 1,240 receivers (1,100 to 1,400), 12 complete, half have 63 % or more; slowest: \
                 192.0.2.7 at 12 %, level 1, 9 % lost"
            )
        );
        assert_eq!(rounded(106_854.4), "107,000");
        assert_eq!(rounded(999.6), "1,000");
    }

    #[test]
    fn few_receivers_are_counted_exactly_and_nobody_is_not_mentioned() {
        let text = line(&reception(3.0, 3.0, 3.0, Vec::new()), 0).expect("a line");
        assert!(text.starts_with("reception: 3 receivers, 12 complete"), "{text}");
        let text = line(&reception(2.0, 2.0, 85.0, Vec::new()), 0).expect("a line");
        assert!(text.starts_with("reception: at least 2 receivers, 12 complete"), "{text}");
        let nobody = Reception {
            summary: Summary { complete: 0.0, median: None, ..reception(0.0, 0.0, 0.0, Vec::new()).summary },
            ..reception(0.0, 0.0, 0.0, Vec::new())
        };
        assert_eq!(line(&nobody, 0), None);
        assert_eq!(line(&nobody, 1).as_deref(), Some("reception: 1 receiver, 1 complete"));
    }

    #[test]
    fn what_is_wrong_with_a_receiver_is_said() {
        let mut known = vec![known("192.0.2.7:4000", 12); 22];
        (known[0].report.disk_fails, known[0].report.failed) = (true, 2);
        known[1].report.is_leaving = true;
        let text = incomplete(&reception(1.0, 1.0, 1.0, known));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "Unknown: 192.0.2.7:4000 at 12 %, level 1, 9 % lost, 2 files failed, its disk is full or fails, \
             silent for 40 s"
        );
        assert_eq!(lines[1], "Not complete: 192.0.2.7:4000 at 12 %, level 1, 9 % lost, has ended");
        assert_eq!((lines.len(), lines[20]), (21, "Not complete: 2 more that are known"));
    }
}
