//! An SMCC source and its receivers over lossy and narrow paths.

use layercast_core::contract::{
    Action, Arrival, Cause, Ecn, Endpoint, Estimates, Input, JoinError, Origin, Peer, TraceEvent,
};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, Size, Time};
use layercast_protocols::smcc::header::{ReceiverId, Report};
use layercast_protocols::smcc::{Header, Options, Receiver, Source};
use layercast_protocols::tfmcc;
use layercast_protocols::tfmcc::header::FloatRate;
use layercast_testkit::{Pair, Path, cases};

/// Minimum rates of 200, 400, 800 and 1600 kbit/s.
fn plan() -> SessionPlan {
    let layers = LayerTable::doubling(Rate::from_kbps(400.0), 4).expect("a layer structure");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

fn pair(options: &Options, paths: &[Path]) -> Pair<Source, Receiver> {
    let receiver = |(index, &path): (usize, &Path)| {
        (Receiver::new(options, plan(), Stream::new(index as u64, "receiver")), path)
    };
    let source = Source::new(options, plan(), Stream::new(7, "source"));
    Pair::new(source, paths.iter().enumerate().map(receiver).collect(), Time::from_ns(5000), 3)
}

fn run(paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let mut pair = pair(&Options::default(), paths);
    pair.run(Duration::from_secs(seconds));
    pair
}

fn narrow(kbps: f64) -> Path {
    Path { rate: Some(Rate::from_kbps(kbps)), ..Path::default() }
}

fn level(pair: &Pair<Source, Receiver>, index: usize) -> i32 {
    pair.receiver(index).estimates(pair.now()).level.as_number()
}

fn attempts(pair: &Pair<Source, Receiver>, index: usize) -> Vec<(Time, Level, bool)> {
    let notes = pair.record(index).notes.iter();
    let attempt = |&(at, note): &(Time, TraceEvent)| match note {
        TraceEvent::JoinAttempt { to, joined } => Some((at, to, joined)),
        _ => None,
    };
    notes.filter_map(attempt).collect()
}

#[test]
fn every_receiver_gets_the_layer_of_its_path_and_limits_it() {
    let mut pair = run(&[narrow(300.0), narrow(600.0), narrow(1200.0), Path::default()], 60);
    let before: Vec<u64> = (0..4).map(|index| pair.record(index).delivered).collect();
    let mut limited = [0; 3];
    for _ in 0..600 {
        pair.run(Duration::from_ms(100));
        for (index, count) in limited.iter_mut().enumerate() {
            let id = pair.receiver(index).id();
            *count += u32::from(pair.source().limiting(Layer(index as u16)) == Some(id));
        }
    }
    // Three narrow paths in the middle of a layer each, one that carries all layers.
    for (index, (before, kbps)) in before.into_iter().zip([300.0, 600.0, 1200.0, 3200.0]).enumerate() {
        let own = (pair.record(index).delivered - before) as f64 * 8.0 / 60.0;
        assert!((0.7 * kbps..1.05 * kbps).contains(&own), "{index}: {own} of {kbps} kbit/s");
        assert!((index as i32 - level(&pair, index)).abs() <= 1, "{index} at level {}", level(&pair, index));
    }
    assert!(limited.iter().all(|&count| count > 300), "each layer has its own: {limited:?} of 600");
}

#[test]
fn the_rate_rises_by_one_unit_at_a_time_before_a_join() {
    let options = Options::default();
    // Receiver 0 holds layer 0 down, so the layer above is faster than it by more than a few units.
    let mut pair = pair(&options, &[narrow(250.0), Path::default()]);
    let mut steps = vec![0];
    for _ in 0..40_000 {
        pair.run(Duration::from_ms(1));
        let now = pair.receiver(1).steps();
        if steps.last() != Some(&now) {
            steps.push(now);
        }
    }
    assert!(steps.iter().max() >= Some(&3), "{steps:?}");
    let each = steps.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == 0);
    assert!(each, "one unit a step, and none after the end: {steps:?}");
    assert_eq!(level(&pair, 1), 3);
    let tried = attempts(&pair, 1);
    let levels: Vec<u16> = tried.iter().map(|(_, to, _)| to.layer_count()).collect();
    assert!(tried.iter().all(|&(.., joined)| joined) && levels == [2, 3, 4], "{tried:?}");
}

#[test]
fn a_receiver_that_leaves_a_layer_reports_it_and_is_followed_by_another() {
    let paths = [narrow(600.0), Path::default(), Path::default()];
    let mut pair = run(&paths, 60);
    let id = pair.receiver(0).id();
    let mut seen = false;
    for _ in 0..300 {
        pair.run(Duration::from_ms(100));
        seen |= pair.source().limiting(Layer(1)) == Some(id);
    }
    assert!(seen, "the narrow path limits layer 1");
    // Its packets of layer 1 are lost from now on, and with them its fair rate.
    let mut count = 0u32;
    pair.set_tamper(Box::new(move |_, index, arrival| {
        count += 1;
        index != 0 || arrival.origin != Origin::Channel(Channel(1)) || count.is_multiple_of(3)
    }));
    pair.run(Duration::from_secs(20));
    let left = |note: &TraceEvent| matches!(note, TraceEvent::LevelChanged { cause: Cause::RateBelow, from, to } if to < from);
    assert!(pair.record(0).notes.iter().any(|(_, note)| left(note)));
    assert_eq!((level(&pair, 0), level(&pair, 1)), (0, 3));
    assert_ne!(pair.source().limiting(Layer(1)), Some(id), "it no longer limits that layer");
}

#[test]
fn a_receiver_that_can_have_nothing_leaves_the_session() {
    let options = Options { starved_leave: Duration::from_secs(20), ..Options::default() };
    let mut pair = pair(&options, &[Path { loss: 0.4, ..Path::default() }, Path::default()]);
    pair.run(Duration::from_secs(90));
    assert_eq!((level(&pair, 0), level(&pair, 1)), (-1, 3));
}

/// A receiver whose host refuses every counting layer.
struct WithoutCounting {
    receiver: Receiver,
    now: Time,
    refused: Option<Channel>,
    left: Vec<Channel>,
}

impl Endpoint for WithoutCounting {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        self.now = now;
        self.receiver.handle(now, input);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        loop {
            match self.receiver.poll_action() {
                Some(Action::Join(channel)) if channel.0 >= 4 => self.refused = Some(channel),
                Some(action) => {
                    if let Action::Leave(channel) = action {
                        self.left.push(channel);
                    }
                    return Some(action);
                }
                None => {
                    let channel = self.refused.take()?;
                    self.receiver.handle(self.now, Input::JoinFailed(channel, JoinError::Limit));
                }
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.receiver.deadline()
    }

    fn estimates(&self, now: Time) -> Estimates {
        self.receiver.estimates(now)
    }
}

#[test]
fn a_counting_layer_that_cannot_be_joined_ends_the_attempt_and_backs_off() {
    let options = Options::default();
    let member = |(index, path): (usize, Path)| {
        let receiver = Receiver::new(&options, plan(), Stream::new(index as u64, "receiver"));
        (WithoutCounting { receiver, now: Time::ZERO, refused: None, left: Vec::new() }, path)
    };
    let source = Source::new(&options, plan(), Stream::new(7, "source"));
    let members = [narrow(250.0), Path::default()].into_iter().enumerate().map(member).collect();
    let mut pair = Pair::new(source, members, Time::from_ns(5000), 3);
    pair.run(Duration::from_secs(120));
    let counters = pair.receiver(1).receiver.joins();
    let failed = counters.attempts - counters.joined;
    // 1 + 2 + 4 + 8 + 16 + 32 s and a little more pass between seven of them.
    assert!((3..=8).contains(&failed), "{counters:?}");
    assert!(pair.receiver(1).left.iter().all(|channel| channel.0 < 4), "leaves only what it holds");
    assert_eq!(pair.receiver(1).receiver.steps(), 0);
}

/// A report that no receiver sent.
fn forged(number: u64, session: u32, layer: u8, rate: u16, leaving: bool, heard_us: u32) -> Arrival<Header> {
    let receiver = ReceiverId(core::num::NonZeroU64::new(number).expect("not zero"));
    let tfmcc = tfmcc::header::Report {
        session,
        receiver,
        timestamp_us: 1,
        heard_us,
        round: 0,
        has_rtt: number.is_multiple_of(2),
        has_loss: number.is_multiple_of(3),
        leaving,
        rate: FloatRate(rate),
    };
    let header = Header::Report(Report { tfmcc, layer });
    Arrival { origin: Origin::Peer(Peer(0)), size: Size::from_bytes(64), ecn: Ecn::NotCapable, header }
}

#[test]
fn whatever_is_reported_every_layer_keeps_to_its_bounds() {
    let mut source = Source::new(&Options::default(), plan(), Stream::new(7, "source"));
    let mut now = Time::from_ns(1_000_000_000);
    source.handle(now, Input::Start);
    let session = source.session();
    let mut stream = Stream::new(1, "forger");
    for step in 1..20_000u64 {
        now += Duration::from_ms(1);
        let heard_us = now.as_wire_us().wrapping_sub(stream.bits() as u32 % 400_000);
        let (layer, rate) = (stream.bits() as u8 % 6, stream.bits() as u16);
        let arrival = forged(step, session, layer, rate, step % 7 == 0, heard_us);
        source.handle(now, Input::Packet(arrival));
        while source.poll_action().is_some() {}
        for (layer, low) in [200.0, 400.0, 800.0, 1600.0].into_iter().enumerate() {
            let kbps = source.rate(Layer(layer as u16)).as_kbps();
            assert!((0.999 * low..=2.001 * low).contains(&kbps), "layer {layer}: {kbps}");
        }
    }
    let counters = source.counters();
    assert!(counters.invalid > 5000, "layers 4 and 5 do not exist: {counters:?}");
    assert!(counters.surplus_reports > 0 || counters.reports > 10_000, "{counters:?}");
}

#[test]
fn equal_seeds_make_equal_sessions() {
    let record = || {
        let pair = run(&[Path { loss: 0.02, ..narrow(900.0) }, Path { loss: 0.01, ..Path::default() }], 40);
        format!("{:?} {:?} {:?}", pair.record(0), pair.record(1), pair.source().counters())
    };
    assert_eq!(record(), record());
}

/// A thousand receivers (or 63) with losses of their own, in layers of 20 to 80 kbit/s. Reports come from a handful
/// a round and a limiting receiver in each layer, as in TFMCC; the source keeps one time stamp for each of
/// 256 receivers a layer at most, however many report (`there_is_room_for_so_many` in the module).
#[test]
fn a_thousand_receivers_send_a_few_reports_a_round() {
    let layers = LayerTable::doubling(Rate::from_kbps(40.0), 2).expect("a layer structure");
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(500) };
    let options = Options::default();
    let mut stream = Stream::new(4, "paths");
    let mut member = |index: u64| {
        let loss = if index.is_multiple_of(10) { 0.3 } else { stream.uniform_in(0.001, 0.02) };
        let receiver = Receiver::new(&options, plan.clone(), Stream::new(index, "receiver"));
        (
            receiver,
            Path { loss, delay: Duration::from_ms(stream.uniform_in(10.0, 60.0) as u64), ..Path::default() },
        )
    };
    let count = u64::from(cases(1000).max(63));
    let members = (0..count).map(&mut member).collect();
    let source = Source::new(&options, plan.clone(), Stream::new(7, "source"));
    let mut pair = Pair::new(source, members, Time::from_ns(5000), 3);
    pair.run(Duration::from_secs(30));
    let before = *pair.source().counters();
    pair.run(Duration::from_secs(30));
    let counters = pair.source().counters();
    let (others, rounds) = (counters.other_reports - before.other_reports, counters.rounds - before.rounds);
    assert!(rounds > 10 && others <= 40 * rounds, "{others} reports in {rounds} rounds");
    assert_eq!(counters.surplus_reports, 0);
    let level = |index: usize| pair.receiver(index).estimates(pair.now()).level.as_number();
    let mut wrong = [0.0, 0.0];
    for index in 0..count as usize {
        let is_lossy = index.is_multiple_of(10);
        let belongs = if is_lossy { 0 } else { 1 };
        wrong[usize::from(is_lossy)] += f64::from(u8::from(level(index) != belongs));
    }
    let [upper, lower] = [wrong[0] / (0.9 * count as f64), wrong[1] / (0.1 * count as f64)];
    assert!(upper < 0.1 && lower < 0.2, "{upper} of nine tenths and {lower} of a tenth are elsewhere");
}

/// A path that carries the middle of a layer, while others keep the layer above fast: some attempts find
/// too little capacity, and have no effect but the wait.
#[test]
fn an_attempt_that_finds_too_little_fails_and_the_next_one_waits() {
    let paths = [narrow(700.0), Path::default(), Path::default()];
    let pair = run(&paths, 400);
    let tried = attempts(&pair, 0);
    let failed: Vec<Time> = tried.iter().filter(|&&(.., joined)| !joined).map(|&(at, ..)| at).collect();
    assert!(!failed.is_empty(), "{tried:?}");
    let changes = |from: Time| {
        let levels = pair.record(0).notes.iter();
        let changed = |&&(at, note): &&(Time, TraceEvent)| {
            at == from && matches!(note, TraceEvent::LevelChanged { .. })
        };
        levels.filter(changed).count()
    };
    for &at in &failed {
        let next = tried.iter().map(|&(at, ..)| at).find(|&next| next > at);
        assert!(next.is_none_or(|next| next.since(at) >= Duration::from_secs(1)), "{tried:?}");
        assert_eq!(changes(at), 0, "the level stays");
    }
    assert_eq!(pair.receiver(0).steps(), 0);
}
