//! Sources that send every layer at its constant rate.

use alloc::vec::Vec;

use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Pacer, Time, WireSeq};

/// When the next packet of each layer departs, and its number.
#[derive(Clone, Debug)]
pub struct LayerClocks {
    layers: Vec<(Pacer, WireSeq)>,
    /// How many of them are sent.
    open: usize,
    /// When the next packet is due, and of which layer; none while nothing is sent.
    next: Option<(Time, usize)>,
    /// A layer that is further behind than this goes on from now: a host that stalled does not make up for it
    /// with a burst.
    longest_lag: Duration,
}

impl Default for LayerClocks {
    fn default() -> Self {
        LayerClocks::with_longest_lag(Duration::from_ms(100))
    }
}

impl LayerClocks {
    /// Clocks that make up for a stall of at most `longest_lag`.
    pub fn with_longest_lag(longest_lag: Duration) -> LayerClocks {
        LayerClocks { layers: Vec::new(), open: usize::MAX, next: None, longest_lag }
    }

    /// Begins all layers with number 0, each at a phase of its own that is drawn from `stream`; with
    /// `base_at_once` the base layer begins at `now`.
    pub fn begin(&mut self, now: Time, plan: &SessionPlan, stream: &mut Stream, base_at_once: bool) {
        let numbers = plan.layers.layers().map(|_| WireSeq(0));
        self.begin_at(now, plan, numbers, stream, base_at_once);
    }

    /// [Begins](LayerClocks::begin) as many layers as there are numbers, each with its own.
    pub fn begin_at(
        &mut self,
        now: Time,
        plan: &SessionPlan,
        numbers: impl IntoIterator<Item = WireSeq>,
        stream: &mut Stream,
        base_at_once: bool,
    ) {
        for (layer, number) in plan.layers.layers().zip(numbers) {
            let (size, rate) = (plan.packet_size, plan.layers.rate(layer));
            let spacing = Pacer::new(now, size, rate).spacing();
            let at_once = base_at_once && layer == Layer::BASE;
            let phase = if at_once { Duration::ZERO } else { stream.uniform_duration(spacing) };
            self.layers.push((Pacer::new(now + phase, size, rate), number));
        }
        self.look_ahead();
    }

    /// How many layers there are.
    pub fn count(&self) -> u16 {
        self.layers.len() as u16
    }

    /// The next packet that is due at `now`: its layer and its number, in the order of departure.
    pub fn take_due(&mut self, now: Time) -> Option<(Layer, WireSeq)> {
        let (at, index) = self.next.filter(|&(at, _)| at <= now)?;
        let (pacer, _) = &mut self.layers[index];
        if now.since(at) > self.longest_lag {
            pacer.reschedule(now);
        }
        pacer.advance();
        self.look_ahead();
        let layer = Layer(index as u16);
        Some((layer, self.take_number(layer)))
    }

    /// The next number of a layer, which must exist, for a packet out of turn.
    pub fn take_number(&mut self, layer: Layer) -> WireSeq {
        let (_, next) = &mut self.layers[layer.index()];
        let number = *next;
        *next = number.next();
        number
    }

    /// Sends only the layers of a level from now on, the base at least
    /// ([`Input::Demand`](layercast_core::contract::Input::Demand)). Numbers of the others stay where they are: a receiver
    /// that joins one later finds no gap. Those that are sent again begin at new phases.
    pub fn demand(&mut self, now: Time, level: Level, stream: &mut Stream) {
        let open = usize::from(level.layer_count()).max(1);
        let opened = self.layers.iter_mut().take(open).skip(self.open);
        for (pacer, _) in opened {
            let phase = stream.uniform_duration(pacer.spacing());
            pacer.reschedule(now + phase);
        }
        self.open = open;
        if self.next.is_some() {
            self.look_ahead();
        }
    }

    /// How many layers are sent, while any are.
    pub fn open(&self) -> u16 {
        self.open.min(self.layers.len()) as u16
    }

    /// The application has no data at present.
    pub fn pause(&mut self) {
        self.next = None;
    }

    /// The application has data again: paused layers continue at new phases.
    pub fn resume(&mut self, now: Time, stream: &mut Stream) {
        if self.next.is_some() {
            return;
        }
        for (pacer, _) in &mut self.layers {
            let phase = stream.uniform_duration(pacer.spacing());
            pacer.reschedule(now + phase);
        }
        self.look_ahead();
    }

    /// Ends all layers.
    pub fn stop(&mut self) {
        self.layers.clear();
        self.next = None;
    }

    /// When the next packet is due.
    pub fn next(&self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    fn look_ahead(&mut self) {
        let departures = self.layers.iter().take(self.open).enumerate();
        self.next = departures.map(|(index, (pacer, _))| (pacer.next(), index)).min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::layers::LayerTable;
    use layercast_core::units::{Rate, Size};

    #[test]
    fn a_layer_without_demand_is_not_sent_and_goes_on_without_a_gap() {
        let layers = LayerTable::from_rates([80.0, 40.0, 80.0].map(Rate::from_kbps)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let mut clocks = LayerClocks::with_longest_lag(Duration::from_secs(1));
        let mut stream = Stream::new(1, "clocks");
        let taken = |clocks: &mut LayerClocks, second: u64| {
            let mut numbers = [const { Vec::new() }; 3];
            for ms in 1000 * second..1000 * (second + 1) {
                let now = Time::ZERO + Duration::from_ms(ms);
                while let Some((layer, number)) = clocks.take_due(now) {
                    numbers[layer.index()].push(number.0);
                }
            }
            numbers
        };
        clocks.begin(Time::ZERO, &plan, &mut stream, true);
        assert_eq!(taken(&mut clocks, 0).map(|of| of.len()), [10, 5, 10]);
        clocks.demand(Time::from_secs_f64(1.0), Level::from_count(2), &mut stream);
        assert_eq!((clocks.open(), clocks.count()), (2, 3));
        assert_eq!(taken(&mut clocks, 1).map(|of| of.len()), [10, 5, 0]);
        clocks.demand(Time::from_secs_f64(2.0), Level::NONE, &mut stream);
        assert_eq!(taken(&mut clocks, 2).map(|of| of.len()), [10, 0, 0], "the base is always sent");
        clocks.demand(Time::from_secs_f64(3.0), Level::from_count(9), &mut stream);
        let last = taken(&mut clocks, 3);
        assert_eq!(last.clone().map(|of| of[0]), [30, 10, 10]);
        assert!(last[2].len() >= 9, "{last:?}");
        clocks.pause();
        clocks.demand(Time::from_secs_f64(4.0), Level::from_count(3), &mut stream);
        assert_eq!(clocks.next(), None, "demand is no data");
    }

    #[test]
    fn packets_depart_in_order_and_a_stall_is_not_made_up_for() {
        let layers = LayerTable::from_rates([80.0, 40.0].map(Rate::from_kbps)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let mut clocks = LayerClocks::with_longest_lag(Duration::from_ms(300));
        let mut stream = Stream::new(1, "clocks");
        clocks.begin_at(Time::ZERO, &plan, [WireSeq(7), WireSeq(0)], &mut stream, true);
        let taken = |clocks: &mut LayerClocks, ms| {
            let now = Time::ZERO + Duration::from_ms(ms);
            core::iter::from_fn(|| clocks.take_due(now)).collect::<Vec<_>>()
        };
        assert_eq!(taken(&mut clocks, 0), [(Layer(0), WireSeq(7))]);
        let due = taken(&mut clocks, 300);
        assert_eq!(due.iter().filter(|(layer, _)| *layer == Layer(0)).count(), 3);
        assert!(matches!(due.len(), 4 | 5), "{due:?}");
        assert!(taken(&mut clocks, 10_000).len() < 12, "most of 145 packets are not sent late");
        clocks.pause();
        assert_eq!((clocks.next(), clocks.count()), (None, 2));
        clocks.resume(Time::from_secs_f64(20.0), &mut stream);
        assert!(clocks.next().is_some_and(|at| at >= Time::from_secs_f64(20.0)));
        clocks.stop();
        clocks.resume(Time::from_secs_f64(30.0), &mut stream);
        assert_eq!(clocks.next(), None, "what has ended is not resumed");
    }
}
