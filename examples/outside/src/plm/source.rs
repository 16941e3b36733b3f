//! The source: every layer at its rate, in pairs.

use alloc::vec::Vec;

use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Send};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Pacer, Size, Time, WireSeq};

use super::{Header, Options, PAIR};

/// A host that was away for longer than this does not have its packets sent late.
const LONGEST_LAG: Duration = Duration::from_secs(1);

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    plan: SessionPlan,
    jitter: f64,
    stream: Stream,
    layers: Vec<LayerPairs>,
    is_sending: bool,
    actions: ActionQueue<Header>,
}

/// When the pairs of a layer leave.
#[derive(Clone, Debug)]
struct LayerPairs {
    layer: Layer,
    next_seq: WireSeq,
    /// The exact points in time, one for each pair.
    pacer: Pacer,
    /// How long after its point the next pair leaves: less than the distance of two points.
    late: Duration,
}

impl LayerPairs {
    fn departs(&self) -> Time {
        self.pacer.next() + self.late
    }

    /// Goes on at a phase that is drawn from `stream`.
    fn restart(&mut self, now: Time, stream: &mut Stream) {
        self.pacer.reschedule(now + stream.uniform_duration(self.pacer.spacing()));
        self.late = Duration::ZERO;
    }
}

impl Source {
    /// A source of a session. Phases and jitter come from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        Source {
            plan,
            jitter: options.jitter,
            stream,
            layers: Vec::new(),
            is_sending: false,
            actions: ActionQueue::default(),
        }
    }

    fn begin(&mut self, now: Time) {
        let pair = Size::from_bytes(self.plan.packet_size.as_bytes().saturating_mul(u32::from(PAIR)));
        for layer in self.plan.layers.layers() {
            let pacer = Pacer::new(now, pair, self.plan.layers.rate(layer));
            self.layers.push(LayerPairs { layer, next_seq: WireSeq(0), pacer, late: Duration::ZERO });
        }
        self.resume(now);
    }

    fn resume(&mut self, now: Time) {
        if !self.is_sending {
            self.layers.iter_mut().for_each(|layer| layer.restart(now, &mut self.stream));
            self.is_sending = true;
        }
    }

    fn send_due(&mut self, now: Time) {
        if self.deadline().is_none_or(|next| next > now) {
            return;
        }
        for pairs in &mut self.layers {
            while pairs.departs() <= now {
                if now.since(pairs.departs()) > LONGEST_LAG {
                    pairs.pacer.reschedule(now);
                }
                let header = Header { layer: pairs.layer, seq: pairs.next_seq, is_first: true };
                let data = Send::data(pairs.layer.channel(), header, self.plan.packet_size);
                self.actions.send(Send { count: PAIR, ..data });
                pairs.next_seq = pairs.next_seq.plus(u32::from(PAIR));
                pairs.pacer.advance();
                pairs.late = self.stream.uniform_duration(pairs.pacer.spacing().scaled(self.jitter));
            }
        }
    }

    /// Ends the session; nothing makes it go on.
    fn end(&mut self) {
        self.layers.clear();
        self.is_sending = false;
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => self.begin(now),
            Input::DataExhausted => self.is_sending = false,
            Input::DataAvailable => self.resume(now),
            Input::Finish | Input::Stop => self.end(),
            Input::Timer
            | Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_)
            | Input::Demand(_) => {}
        }
        self.send_due(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.layers.iter().map(LayerPairs::departs).min().filter(|_| self.is_sending)
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let count = if self.is_sending { self.layers.len() as u16 } else { 0 };
        Estimates { level: Level::from_count(count), ..Estimates::default() }
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::layers::LayerTable;
    use layercast_core::units::Rate;

    use super::*;

    const SIZE: Size = Size::from_bytes(500);

    fn source(jitter: f64) -> Source {
        let layers = LayerTable::from_rates([60.0, 60.0, 120.0].map(Rate::from_kbps)).expect("layers");
        let options = Options { jitter, ..Options::default() };
        Source::new(&options, SessionPlan { layers, packet_size: SIZE }, Stream::new(1, "source"))
    }

    /// What the source sends until `end`, from an input at `now` on.
    fn run(source: &mut Source, now: Time, input: Input<Header>, end: Time) -> Vec<(Time, Send<Header>)> {
        let (mut now, mut input, mut sends) = (now, input, Vec::new());
        loop {
            source.handle(now, input);
            while let Some(action) = source.poll_action() {
                let Action::Send(send) = action else { panic!("a source that does not send: {action:?}") };
                sends.push((now, send));
            }
            let Some(next) = source.deadline().filter(|&next| next <= end) else { return sends };
            assert!(next > now);
            (now, input) = (next, Input::Timer);
        }
    }

    #[test]
    fn each_layer_sends_pairs_at_its_rate_and_numbers_its_packets() {
        for jitter in [0.0, 0.5, 1.0] {
            let end = Time::from_secs_f64(100.0);
            let sends = run(&mut source(jitter), Time::ZERO, Input::Start, end);
            for (layer, kbps) in [(0, 60.0), (1, 60.0), (2, 120.0)] {
                let of_layer = sends.iter().filter(|(_, send)| send.header.layer == Layer(layer));
                let headers: Vec<Header> = of_layer.map(|(_, send)| send.header).collect();
                let bits = headers.len() as f64 * 2.0 * SIZE.as_bits() as f64;
                assert!((bits / 1e5 - kbps).abs() < 0.2, "{} kbit/s on layer {layer}", bits / 1e5);
                let in_order = |(index, header): (usize, &Header)| header.seq == WireSeq(2 * index as u32);
                assert!(headers.iter().enumerate().all(in_order));
            }
            assert!(
                sends.iter().all(|(_, send)| send.count == PAIR && send.header.is_first && send.size == SIZE)
            );
        }
    }

    #[test]
    fn jitter_keeps_equal_layers_from_falling_into_step() {
        let distances = |jitter: f64| {
            let sends = run(&mut source(jitter), Time::ZERO, Input::Start, Time::from_secs_f64(20.0));
            let times = |layer: u16| {
                let of_layer = sends.iter().filter(move |(_, send)| send.header.layer == Layer(layer));
                of_layer.map(|&(at, _)| at.as_secs_f64())
            };
            times(0).zip(times(1)).map(|(one, other)| one - other).collect::<Vec<f64>>()
        };
        let spread = |distances: &[f64]| {
            distances.iter().fold(f64::MIN, |a, &b| a.max(b))
                - distances.iter().fold(f64::MAX, |a, &b| a.min(b))
        };
        assert!(spread(&distances(0.0)) < 1e-6);
        assert!(spread(&distances(0.5)) > 0.06, "half of 133 ms, both ways");
    }

    #[test]
    fn without_data_nothing_is_sent_and_no_number_is_skipped() {
        let mut source = source(0.5);
        let before = run(&mut source, Time::ZERO, Input::Start, Time::from_secs_f64(10.0));
        let pause = Time::from_secs_f64(10.0);
        assert!(run(&mut source, pause, Input::DataExhausted, Time::MAX).is_empty());
        let again = Time::from_secs_f64(100.0);
        let after = run(&mut source, again, Input::DataAvailable, Time::from_secs_f64(101.0));
        let last = before.iter().rfind(|(_, send)| send.header.layer == Layer(2)).expect("a pair").1.header;
        let next = after.iter().find(|(_, send)| send.header.layer == Layer(2)).expect("a pair").1.header;
        assert_eq!(next.seq, last.seq.plus(2));
        assert!(run(&mut source, Time::from_secs_f64(102.0), Input::Finish, Time::MAX).is_empty());
        assert!(run(&mut source, Time::from_secs_f64(103.0), Input::DataAvailable, Time::MAX).is_empty());
    }

    #[test]
    fn a_host_that_was_away_is_not_flooded() {
        let mut source = source(0.5);
        run(&mut source, Time::ZERO, Input::Start, Time::ZERO);
        let back = Time::from_secs_f64(1000.0);
        assert_eq!(run(&mut source, back, Input::Timer, back).len(), 3, "one pair of each layer");
    }
}
