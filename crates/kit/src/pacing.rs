//! Sources that send every layer at its constant rate, and dither of departures.

use alloc::vec::Vec;

use layercast_core::layers::Phases;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Level, Pacer, Time, WireSeq};

/// The dither of sources on real networks: as much as the constant rate of ns-2 has with `random_`, whose departures
/// move by up to half of their spacing.
pub const DEPLOYED_DITHER: f64 = 0.5;

/// Random delays of departures. Evenly spaced packets meet a drop-tail queue in one phase of its service, and
/// that phase, not the load, decides how many of them are lost (Floyd and Jacobson 1992).
#[derive(Clone, Debug)]
pub struct Dither {
    share: f64,
    stream: Stream,
}

impl Dither {
    /// Delays of up to `share` of the gap to the next departure, from 0 (none) to 1, drawn from `stream`.
    pub fn new(share: f64, stream: Stream) -> Dither {
        Dither { share: share.clamp(0.0, 1.0), stream }
    }

    /// No delays.
    pub fn none() -> Dither {
        Dither::new(0.0, Stream::new(0, "dither"))
    }

    /// By how much later than planned a packet departs, where the next one is planned a `gap` later. It is less than the
    /// gap, so the order stays, and since the plan does not move, so does the rate.
    pub fn delay(&mut self, gap: Duration) -> Duration {
        if self.share <= 0.0 { Duration::ZERO } else { self.stream.uniform_duration(gap.scaled(self.share)) }
    }

    /// The same as a part of the gap, for a source whose spacing may change before the packet departs.
    pub fn part(&mut self) -> f64 {
        if self.share <= 0.0 { 0.0 } else { self.share * self.stream.uniform() }
    }
}

/// When the next packet of each layer departs, and its number.
#[derive(Clone, Debug)]
pub struct LayerClocks {
    layers: Vec<(Pacer, WireSeq)>,
    /// How many of them are sent.
    open: usize,
    phases: Phases,
    dither: Dither,
    /// By how much later than its pacer says the next packet of each layer departs.
    delays: Vec<Duration>,
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
        let (layers, delays) = (Vec::new(), Vec::new());
        let (open, phases, dither) = (usize::MAX, Phases::default(), Dither::none());
        LayerClocks { layers, open, phases, dither, delays, next: None, longest_lag }
    }

    /// The same with departures that are dithered. The first packet of a layer, whose phase is random anyway, is not.
    pub fn dithered(self, dither: Dither) -> LayerClocks {
        LayerClocks { dither, ..self }
    }

    /// Begins all layers with number 0, by the plan together or each at a phase of its own that is drawn from `stream`;
    /// with `base_at_once` the base layer begins at `now`.
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
        self.phases = plan.layers.phases();
        for (layer, number) in plan.layers.layers().zip(numbers) {
            let (size, rate) = (plan.packet_size, plan.layers.rate(layer));
            let spacing = Pacer::new(now, size, rate).spacing();
            let at_once = base_at_once && layer == Layer::BASE;
            let phase = if at_once { Duration::ZERO } else { self.phases.draw(spacing, stream) };
            self.layers.push((Pacer::new(now + phase, size, rate), number));
            self.delays.push(Duration::ZERO);
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
        self.delays[index] = self.dither.delay(pacer.spacing());
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
            let phase = self.phases.draw(pacer.spacing(), stream);
            pacer.reschedule(now + phase);
        }
        self.delays.iter_mut().take(open).skip(self.open).for_each(|delay| *delay = Duration::ZERO);
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
            let phase = self.phases.draw(pacer.spacing(), stream);
            pacer.reschedule(now + phase);
        }
        self.delays.fill(Duration::ZERO);
        self.look_ahead();
    }

    /// Ends all layers.
    pub fn stop(&mut self) {
        self.layers.clear();
        self.delays.clear();
        self.next = None;
    }

    /// When the next packet is due.
    pub fn next(&self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    fn look_ahead(&mut self) {
        let departures = self.layers.iter().take(self.open).zip(&self.delays).enumerate();
        self.next = departures.map(|(index, ((pacer, _), &delay))| (pacer.next() + delay, index)).min();
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

    /// Layers of 128, 128 and 256 kbit/s: at each packet of the base all others have one, the fast one another between.
    #[test]
    fn layers_that_begin_together_send_together_also_after_a_pause() {
        let layers = LayerTable::from_rates([128.0, 128.0, 256.0].map(Rate::from_kbps)).unwrap();
        let plan =
            SessionPlan { layers: layers.beginning(Phases::Together), packet_size: Size::from_bytes(1000) };
        let (mut clocks, mut stream) = (LayerClocks::default(), Stream::new(1, "clocks"));
        let sent = |clocks: &mut LayerClocks, from: Time| {
            let mut times = alloc::collections::BTreeMap::new();
            while let Some(at) = clocks.next().filter(|at| at.since(from) < Duration::from_secs(1)) {
                *times.entry(at.since(from).as_us()).or_insert(0) += clocks.take_due(at).map_or(0, |_| 1);
            }
            times.into_iter().take(4).collect::<Vec<_>>()
        };
        let expected = [(0, 3), (31_250, 1), (62_500, 3), (93_750, 1)];
        clocks.begin(Time::ZERO, &plan, &mut stream, false);
        assert_eq!(sent(&mut clocks, Time::ZERO), expected);
        clocks.pause();
        let later = Time::from_secs_f64(7.0);
        clocks.resume(later, &mut stream);
        assert_eq!(sent(&mut clocks, later), expected);
        assert_eq!(stream.bits(), Stream::new(1, "clocks").bits(), "nothing is drawn");
    }

    #[test]
    fn dithered_packets_keep_their_order_and_their_rate() {
        let layers = LayerTable::from_rates([80.0, 40.0].map(Rate::from_kbps)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let departures = |share| {
            let mut stream = Stream::new(1, "clocks");
            let dither = Dither::new(share, stream.branch("dither"));
            let mut clocks = LayerClocks::default().dithered(dither);
            clocks.begin(Time::ZERO, &plan, &mut stream, true);
            let next = core::iter::from_fn(|| {
                let at = clocks.next().unwrap();
                clocks.take_due(at).map(|(layer, number)| (layer, number, at))
            });
            next.take(3000).filter(|(layer, ..)| *layer == Layer(0)).collect::<Vec<_>>()
        };
        let (even, dithered) = (departures(0.0), departures(0.5));
        // 80 kbit/s are a packet of 1000 bytes in 100 ms.
        let spacing = Duration::from_ms(100);
        let mut delays = Vec::new();
        for (place, ((_, number, at), (_, planned_number, planned))) in dithered.iter().zip(&even).enumerate()
        {
            assert_eq!((number, planned_number), (&WireSeq(place as u32), &WireSeq(place as u32)));
            let delay = at.since(*planned);
            assert!(*at >= *planned && delay < spacing.scaled(0.5), "packet {place} departs {delay} late");
            delays.push(delay.as_secs_f64());
        }
        // Uniform in [0, 50 ms): mean 25 ms, standard deviation 14.4 ms, so 4 errors of the mean of 1999 are 1.3 ms.
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!((mean - 0.025).abs() < 0.0013, "{mean} s over {}", delays.len());
        assert!(dithered.is_sorted_by_key(|(_, _, at)| *at), "the order of a layer stays");
    }

    #[test]
    fn dither_of_nothing_draws_nothing() {
        let mut dither = Dither::none();
        assert_eq!((dither.delay(Duration::from_secs(1)), dither.part()), (Duration::ZERO, 0.0));
        let mut stream = Stream::new(1, "parent");
        let _branch = stream.branch("dither");
        assert_eq!(stream.bits(), Stream::new(1, "parent").bits(), "a branch moves nothing");
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
