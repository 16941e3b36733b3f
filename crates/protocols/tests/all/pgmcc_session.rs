//! A source of pgmcc and its receivers over lossy paths.

use crate::window_sessions::{lossy, plan, run};
use layercast_core::contract::{Arrival, Ecn, Endpoint, Input, Origin, Peer};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Size, Time, WireSeq};
use layercast_protocols::pgmcc::header::{ReceiverId, Report};
use layercast_protocols::pgmcc::options::{Cut, Model, RttUnit};
use layercast_protocols::pgmcc::{Header, Options, Receiver, Source};
use layercast_testkit::{Pair, Path};

fn run_with(options: &Options, paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let source = |stream| Source::new(options, plan(), stream);
    run(source, |stream| Receiver::new(options, plan(), stream), paths, seconds)
}

/// Packets per second that the source sent in the next minute.
fn per_second(pair: &mut Pair<Source, Receiver>) -> f64 {
    let before = pair.source().counters().sent;
    pair.run(Duration::from_secs(60));
    (pair.source().counters().sent - before) as f64 / 60.0
}

/// The loss rate is a mean over some 120 packets, so it may name another now and then.
#[test]
fn the_receiver_that_is_worst_off_is_the_acker_most_of_the_time() {
    let far = Path { delay: Duration::from_ms(150), ..lossy(0.01) };
    for rtt in [RttUnit::Packets, RttUnit::Time] {
        for model in [Model::Simple, Model::Timeouts] {
            let options = Options { rtt, model, ..Options::default() };
            for (paths, worst) in
                [([lossy(0.0), lossy(0.05), lossy(0.005)], 1), ([lossy(0.0), lossy(0.01), far], 2)]
            {
                let mut pair = run_with(&options, &paths, 20);
                let mut seconds = 0;
                for _ in 0..100 {
                    pair.run(Duration::from_secs(1));
                    seconds += u32::from(pair.source().acker() == Some(pair.receiver(worst).id()));
                }
                assert!(seconds > 70, "{rtt:?} {model:?} {worst}: {seconds} of 100 s");
            }
        }
    }
}

/// The window with a random loss of p is near sqrt(3 / (2 p)), as that of TCP.
#[test]
fn the_rate_is_that_of_a_tcp_on_the_worst_path() {
    for cut in [Cut::Skip, Cut::Take] {
        for loss in [0.005, 0.02] {
            let options = Options { cut, ..Options::default() };
            let mut pair = run_with(&options, &[lossy(0.0), lossy(loss)], 60);
            let model = (1.5 / loss).sqrt() / 0.06;
            let ratio = per_second(&mut pair) / model;
            assert!((0.6..1.3).contains(&ratio), "{cut:?} {loss}: {ratio} of the model");
        }
    }
}

#[test]
fn only_the_acker_acknowledges_and_the_others_tell_of_losses() {
    let mut pair = run_with(&Options::default(), &[lossy(0.002), lossy(0.03), lossy(0.0)], 60);
    let before: Vec<usize> = (0..3).map(|index| pair.record(index).reports.len()).collect();
    let acks = per_second(&mut pair) * 60.0 * 0.97;
    let reports = |index: usize| pair.record(index).reports.len() - before[index];
    assert!((reports(1) as f64 / acks - 1.0).abs() < 0.05, "{} of {acks}", reports(1));
    assert!(reports(0) > 0 && (reports(0) as f64) < 0.004 * acks, "{}", reports(0));
    assert_eq!(reports(2), 0);
}

#[test]
fn an_acker_that_leaves_is_replaced_at_once_and_one_that_crashes_after_its_timeouts() {
    let mut pair = run_with(&Options::default(), &[lossy(0.05), lossy(0.01)], 60);
    let (worst, other) = (pair.receiver(0).id(), pair.receiver(1).id());
    assert_eq!(pair.source().acker(), Some(worst));
    pair.stop_receiver(0);
    // One way up for the leave report, and a round trip with the delay of an election.
    pair.run(Duration::from_ms(300));
    assert_eq!((pair.source().acker(), pair.source().counters().given_up), (Some(other), 0));

    let mut pair = run_with(&Options::default(), &[lossy(0.05), lossy(0.01)], 60);
    pair.path_mut(0).loss = 1.0;
    // Timeouts of one and of two seconds.
    pair.run(Duration::from_ms(2800));
    assert_eq!(pair.source().acker(), Some(worst));
    pair.run(Duration::from_ms(800));
    assert_eq!((pair.source().acker(), pair.source().counters().given_up), (Some(other), 1));
    assert!(per_second(&mut pair) > 100.0, "the other is not held up");
}

#[test]
fn round_trip_times_do_not_depend_on_clocks() {
    let ahead = Path { clock_ahead: Duration::from_secs(4000), ..lossy(0.01) };
    let pair = run_with(&Options::default(), &[ahead], 30);
    let rtt = pair.source().estimates(pair.now()).rtt.expect("a round-trip time");
    assert!(rtt >= Duration::from_ms(60) && rtt < Duration::from_ms(62), "{rtt}");
    assert_eq!(pair.source().counters().invalid, 0);
}

#[test]
fn without_losses_the_rate_of_the_session_is_reached_and_not_exceeded() {
    let mut pair = run_with(&Options::default(), &[lossy(0.0)], 60);
    let rate = per_second(&mut pair);
    assert!((1240.0..1251.0).contains(&rate), "{rate} of 1250 packets/s");
}

/// A source alone, with synthetic reports.
struct Alone {
    source: Source,
    now: Time,
    sent: Vec<(u64, Option<ReceiverId>, bool)>,
}

impl Alone {
    fn new() -> Alone {
        let source = Source::new(&Options::default(), plan(), Stream::new(1, "source"));
        let mut alone = Alone { source, now: Time::from_ns(1), sent: Vec::new() };
        alone.give(Input::Start);
        alone
    }

    fn give(&mut self, input: Input<Header>) {
        self.source.handle(self.now, input);
        while let Some(action) = self.source.poll_action() {
            if let layercast_core::contract::Action::Send(send) = action
                && let Header::Data(data) = send.header
            {
                for index in 0..u64::from(send.count) {
                    let seq = u64::from(data.base.seq.0) + index;
                    self.sent.push((seq, data.acker, data.base.end_of_session));
                }
            }
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(at) = self.source.deadline().filter(|&at| at <= end) {
            self.now = at;
            self.give(Input::Timer);
        }
        self.now = end;
    }

    fn report(&mut self, receiver: u64, ack: bool, loss: f64, highest: u64) {
        let report = Report {
            session: self.source.session(),
            receiver: id(receiver),
            ack,
            leaving: false,
            loss: Report::wire_loss(loss),
            highest: WireSeq(highest as u32),
            came: if ack { u32::MAX } else { 0 },
            heard_us: self.now.as_wire_us().wrapping_sub(40_000),
        };
        let (origin, size) = (Origin::Peer(Peer(0)), Size::from_bytes(64));
        let header = Header::Report(report);
        self.give(Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
    }

    fn newest(&self) -> u64 {
        self.sent.last().map_or(0, |&(seq, ..)| seq)
    }
}

fn id(number: u64) -> ReceiverId {
    ReceiverId(std::num::NonZeroU64::new(number).expect("not zero"))
}

#[test]
fn a_new_acker_that_acknowledges_nothing_is_dropped_after_two_timeouts_and_barred() {
    let mut alone = Alone::new();
    alone.report(1, false, 0.0, 1);
    alone.report(1, true, 0.01, alone.newest());
    assert_eq!(alone.source.acker(), Some(id(1)));
    // A forged loss rate of one. The packets under way are acknowledged by the acker before.
    alone.report(2, false, 1.0, 1);
    assert_eq!(alone.source.acker(), Some(id(2)));
    alone.report(1, true, 0.01, alone.newest());
    assert_eq!(alone.sent.last().map(|&(_, acker, _)| acker), Some(Some(id(2))));
    alone.wait(Duration::from_ms(1900));
    assert_eq!(alone.source.acker(), Some(id(2)));
    alone.wait(Duration::from_ms(200));
    assert_eq!((alone.source.acker(), alone.source.counters().given_up), (None, 1));
    assert_eq!(alone.sent.last().map(|&(_, acker, _)| acker), Some(None), "packets ask for an election");
    alone.report(2, false, 1.0, alone.newest());
    assert_eq!(alone.source.acker(), None);
    alone.report(1, false, 0.01, alone.newest());
    assert_eq!(alone.source.acker(), Some(id(1)));
    alone.wait(Duration::from_secs(1));
    alone.report(1, true, 0.01, alone.newest());
    alone.wait(Duration::from_secs(9));
    alone.report(2, false, 1.0, alone.newest());
    assert_eq!(alone.source.acker(), Some(id(2)), "the bar is lifted");
}

#[test]
fn a_number_that_was_not_sent_is_rejected() {
    let mut alone = Alone::new();
    for highest in [2, 100, u64::from(u32::MAX), 0] {
        alone.report(1, true, 0.0, highest);
    }
    assert_eq!((alone.source.acker(), alone.source.counters().invalid, alone.newest()), (None, 4, 1));
    assert_eq!(alone.source.window(), 1.0);
}

#[test]
fn without_receivers_a_packet_leaves_each_second_and_asks_for_an_acker() {
    let mut alone = Alone::new();
    alone.wait(Duration::from_secs(20));
    let expected: Vec<_> = (1..=21).map(|seq| (seq, None, false)).collect();
    assert_eq!(alone.sent, expected);
}

#[test]
fn a_source_without_data_is_silent_and_one_that_ends_says_so_once() {
    let mut alone = Alone::new();
    alone.report(1, false, 0.0, 1);
    alone.give(Input::DataExhausted);
    alone.report(1, true, 0.0, 2);
    alone.wait(Duration::from_secs(100));
    assert_eq!((alone.newest(), alone.source.deadline()), (2, None));
    alone.give(Input::DataAvailable);
    assert_eq!((alone.newest(), alone.source.window()), (4, 2.0), "as many as the window allows");
    alone.give(Input::Finish);
    let ends = alone.sent.iter().filter(|&&(_, _, end)| end).count();
    assert_eq!((ends, alone.source.deadline()), (3, None));
    alone.give(Input::Stop);
    assert_eq!(alone.newest(), 7, "the end was announced");
}

#[test]
fn receivers_leave_at_the_end_of_the_session() {
    let mut pair = run_with(&Options::default(), &[lossy(0.0)], 10);
    pair.stop_source();
    pair.run(Duration::from_secs(1));
    assert_eq!(pair.receiver(0).estimates(pair.now()).level, Level::NONE);
}
