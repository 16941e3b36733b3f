//! The source: the base channel and the active waves, paced by the shape of the waves, with dither.

use alloc::collections::VecDeque;

use super::header::{Base, Data, Header, Report};
use super::options::Options;
use super::suppression::ReportControl;
use super::train::follows;
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Payload, Send};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Size, Time};
use layercast_kit::feedback::{EchoQueue, TokenBucket, Waiting};
use layercast_kit::pacing::Dither;
use layercast_kit::waves::{BASE, Departures, Waves, channel_of, slot_of};

/// After a stall longer than this, missed packets are skipped rather than sent in a burst.
const LONGEST_LAG: Duration = Duration::from_ms(100);

/// Packets that announce the end: one may be lost, and a receiver waits for the second.
const END_PACKETS: u32 = 3;

/// Reports a second that are answered at most.
const REPORTS_PER_S: f64 = 50.0;

/// The source of a Tide session.
#[derive(Clone, Debug)]
pub struct Source {
    waves: Waves,
    departures: Departures,
    dither: Dither,
    size: Size,
    start: Time,
    is_sending: bool,
    is_over: bool,
    /// The slot, counted from the start, and when it began.
    slot: (u64, Time),
    /// The next packet of the base in this slot, and when it leaves.
    base: (u32, Time),
    base_number: u32,
    decision_interval: Duration,
    /// When the present round of reports ends.
    round_end: Time,
    control: ReportControl,
    bucket: TokenBucket,
    echoes: EchoQueue,
    /// The active waves that are sent, the lowest first.
    active: VecDeque<Wave>,
    /// How many of them are sent.
    open: u16,
    actions: ActionQueue<Header>,
}

/// A wave from now to its end.
#[derive(Clone, Copy, Debug)]
struct Wave {
    channel: Channel,
    end: Time,
    /// Packets still to send, and when the next one leaves.
    left: u64,
    next: Time,
}

impl Source {
    /// A source for a session; `stream` dithers its departures.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        let waves = options.waves(&plan);
        Source {
            departures: Departures::new(&waves),
            dither: Dither::new(options.dither, stream),
            size: plan.packet_size,
            start: Time::ZERO,
            is_sending: false,
            is_over: false,
            slot: (0, Time::ZERO),
            base: (0, Time::ZERO),
            base_number: 0,
            decision_interval: options.decision_interval(),
            round_end: Time::ZERO,
            control: ReportControl::default(),
            bucket: TokenBucket::new(REPORTS_PER_S, Time::ZERO),
            echoes: EchoQueue::new(true),
            active: VecDeque::with_capacity(usize::from(waves.active_waves())),
            open: waves.active_waves(),
            actions: ActionQueue::default(),
            waves,
        }
    }

    /// The number of the slot in the cycle.
    fn slot_in_cycle(&self) -> u16 {
        (self.slot.0 % u64::from(self.waves.cycle())) as u16
    }

    /// Advances all waves to `now`. Packets before it are not sent.
    fn find_place(&mut self, now: Time) {
        self.slot = slot_of(&self.waves, self.start, now);
        let (packets, began) = (self.waves.base_packets(), self.slot.1);
        let is_ahead = |&number: &u32| began + self.departures.base_departure(number) >= now;
        let number = (0..packets).find(is_ahead).unwrap_or(packets);
        self.base = (number, self.base_time(number));
        self.active.clear();
        self.fill(now);
    }

    /// Adds the waves above those that are sent, as of `now`, up to the highest that is in demand.
    fn fill(&mut self, now: Time) {
        while self.active.len() < usize::from(self.open) {
            let wave = self.wave(self.active.len() as u16 + 1, now);
            self.active.push_back(wave);
        }
    }

    /// Sends the waves of a level from now on, one at least. A wave that is not sent falls all the same, and has
    /// the numbers of its place when it is sent again.
    fn demand(&mut self, now: Time, level: Level) {
        self.open = self.waves.in_demand(level);
        if self.is_sending {
            self.active.truncate(usize::from(self.open));
            self.fill(now);
        }
    }

    /// The wave at position `place` in this slot, as of `now`.
    fn wave(&mut self, place: u16, now: Time) -> Wave {
        let slot = self.waves.slot();
        let end = self.slot.1 + slot * u64::from(place);
        let left = self.departures.left_at(end.since(now).as_secs_f64() / slot.as_secs_f64());
        let channel = channel_of(self.waves.wave_at(self.slot_in_cycle(), place));
        let mut wave = Wave { channel, end, left, next: Time::MAX };
        wave.next = self.departure(&wave);
        wave
    }

    /// When the next packet of a wave leaves: up to a part of the gap to the packet after it later than planned,
    /// so the order stays.
    fn departure(&mut self, wave: &Wave) -> Time {
        let Some(behind) = wave.left.checked_sub(1) else { return Time::MAX };
        let planned = wave.end - self.departures.before_end(behind);
        let after = behind.checked_sub(1).map(|behind| wave.end - self.departures.before_end(behind));
        self.dithered(planned, after.unwrap_or(wave.end))
    }

    fn dithered(&mut self, planned: Time, after: Time) -> Time {
        planned + self.dither.delay(after.since(planned))
    }

    /// When the base sends a packet of this slot; after the last one, when the next slot begins.
    fn base_time(&mut self, number: u32) -> Time {
        let next_slot = self.slot.1 + self.waves.slot();
        if number >= self.waves.base_packets() {
            return next_slot;
        }
        if follows(self.base_number) {
            return self.base.1.max(self.slot.1);
        }
        let planned = |number| self.slot.1 + self.departures.base_departure(number);
        let (at, after) = (
            planned(number),
            if number + 1 < self.waves.base_packets() { planned(number + 1) } else { next_slot },
        );
        self.dithered(at, after)
    }

    fn begin_slot(&mut self) {
        self.slot = (self.slot.0 + 1, self.slot.1 + self.waves.slot());
        self.base = (0, self.base_time(0));
        self.active.pop_front();
        self.fill(self.slot.1);
    }

    fn send_due(&mut self, now: Time) {
        while self.is_sending {
            let (at, place) = self.next();
            if at > now {
                return;
            }
            let lag = now.since(at);
            if lag > LONGEST_LAG {
                self.find_place(now);
            } else if at >= self.slot.1 + self.waves.slot() {
                self.begin_slot();
            } else if let Some(place) = place.filter(|&place| lag > self.patience(place)) {
                self.active[place] = self.wave(place as u16 + 1, now);
            } else {
                self.depart(now, place);
            }
        }
    }

    /// How late a wave's packets may be before they are skipped: the less, the higher it is. So a source that cannot keep
    /// its rate sheds the highest waves, and receivers that do not hold them lose nothing.
    fn patience(&self, place: usize) -> Duration {
        LONGEST_LAG.scaled(1.0 - 0.5 * (place + 1) as f64 / self.active.len().max(1) as f64)
    }

    /// When the next packet leaves, and of which wave; none for the base.
    fn next(&self) -> (Time, Option<usize>) {
        let base = (self.base.1, None);
        let waves = self.active.iter().enumerate().map(|(place, wave)| (wave.next, Some(place)));
        waves.fold(base, |earliest, next| if next.0 < earliest.0 { next } else { earliest })
    }

    fn depart(&mut self, now: Time, place: Option<usize>) {
        let (channel, number) = match place {
            None => {
                let number = self.base_number;
                self.base_number = number.wrapping_add(1);
                let next = self.base.0 + 1;
                self.base = (next, self.base_time(next));
                (BASE, number)
            }
            Some(place) => {
                let mut wave = self.active[place];
                wave.left -= u64::from(wave.left > 0);
                wave.next = self.departure(&wave);
                self.active[place] = wave;
                (wave.channel, u32::MAX - wave.left as u32)
            }
        };
        let header = self.header(now, channel, number, false);
        let send = Send::data(channel, header, self.size);
        self.actions.send(send);
    }

    fn header(&mut self, now: Time, channel: Channel, number: u32, end_of_session: bool) -> Header {
        let base = (channel == BASE).then(|| self.base_part(now));
        Header::Data(Data {
            slot: self.slot_in_cycle(),
            channel,
            number,
            cycle: self.waves.cycle(),
            sent_us: now.as_wire_us(),
            phase_us: now.since(self.slot.1).as_us().min(u64::from(u32::MAX)) as u32,
            end_of_session,
            base,
        })
    }

    fn base_part(&mut self, now: Time) -> Base {
        while now >= self.round_end {
            self.control.end_round();
            self.round_end = (self.round_end + self.decision_interval).max(now - self.decision_interval);
        }
        Base { suppression: self.control.suppression(), echo: self.echoes.pop(now) }
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        self.control.count();
        if self.bucket.take(now) {
            let (receiver, timestamp_us) = (report.receiver, report.timestamp_us);
            let has_rtt = report.rtt_us > 0;
            self.echoes.push(Waiting { receiver, timestamp_us, arrived: now, has_rtt });
        }
    }

    fn stop(&mut self, now: Time) {
        if self.is_sending {
            let header = self.header(now, BASE, self.base_number, true);
            for _ in 0..END_PACKETS {
                self.actions.send(Send { payload: Payload::None, ..Send::data(BASE, header, self.size) });
            }
        }
        (self.is_sending, self.is_over) = (false, true);
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        if self.is_over {
            return;
        }
        match input {
            Input::Start => {
                self.start = now;
                self.round_end = now + self.decision_interval;
                self.is_sending = true;
                self.find_place(now);
            }
            Input::Finish | Input::Stop => self.stop(now),
            Input::Demand(level) => self.demand(now, level),
            Input::DataExhausted => self.is_sending = false,
            // Slots pass all the same: the waves continue where they would be.
            Input::DataAvailable if !self.is_sending && !self.active.is_empty() => {
                self.is_sending = true;
                self.find_place(now);
            }
            Input::Packet(arrival) => {
                if let Header::Report(report) = arrival.header {
                    self.on_report(now, &report);
                }
            }
            Input::Timer | Input::DataAvailable | Input::JoinFailed(..) | Input::SendRefused(_) => {}
        }
        self.send_due(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.is_sending.then(|| self.next().0)
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let count = if self.is_sending { self.open + 1 } else { 0 };
        Estimates { level: Level::from_count(count), ..Estimates::default() }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use layercast_core::layers::LayerTable;
    use layercast_core::units::Rate;

    #[test]
    fn waves_without_demand_are_not_sent_and_come_back_with_the_numbers_of_their_place() {
        let layers = LayerTable::between(Rate::from_kbps(128.0), Rate::from_mbps(10.0)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let source = || {
            Source::new(
                &Options { dither: 0.0, ..Options::default() },
                plan.clone(),
                Stream::new(1, "source"),
            )
        };
        let second = |at: u64| Time::ZERO + Duration::from_secs(at);
        // What a source sends in 40 s: when, on which channel, which number.
        let sent = |mut source: Source, demands: &[(u64, u16)]| {
            let mut packets = Vec::new();
            let mut demands = demands.iter().copied().peekable();
            source.handle(Time::ZERO, Input::Start);
            loop {
                while let Some(action) = source.poll_action() {
                    let Action::Send(Send { header: Header::Data(data), .. }) = action else { continue };
                    packets.push((data.sent_us, data.channel, data.number, data.slot));
                }
                let next = source.deadline().unwrap();
                if let Some((at, level)) = demands.next_if(|(at, _)| second(*at) <= next) {
                    source.handle(second(at), Input::Demand(Level::from_count(level)));
                } else if next >= second(40) {
                    return (packets, source.estimates(next).level);
                } else {
                    source.handle(next, Input::Timer);
                }
            }
        };
        let waves = Options::default().waves(&plan);
        let (all, top) = sent(source(), &[]);
        assert_eq!(top, Level::from_count(waves.levels()));
        let (some, level) = sent(source(), &[(10, 4), (20, 99), (30, 0)]);
        assert_eq!(level, Level::from_count(2), "the base and one wave always");
        // Whatever is sent is sent at the same time with the same number.
        let place = |&(_, channel, _, slot): &(u32, Channel, u32, u16)| match channel.0.checked_sub(1) {
            Some(wave) => (wave + waves.cycle() - slot) % waves.cycle() + 1,
            None => 0,
        };
        let in_demand = |packet: &(u32, Channel, u32, u16)| match packet.0 / 1_000_000 {
            10..20 => place(packet) <= 3,
            30.. => place(packet) <= 1,
            _ => true,
        };
        let expected: Vec<_> = all.into_iter().filter(in_demand).collect();
        assert!(expected == some, "{} and {} packets", expected.len(), some.len());
    }

    #[test]
    fn the_base_sends_three_packets_at_once_again_and_again() {
        let layers = LayerTable::between(Rate::from_kbps(128.0), Rate::from_mbps(1.0)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1500) };
        let mut source = Source::new(&Options::default(), plan, Stream::new(1, "source"));
        let mut base = Vec::new();
        source.handle(Time::ZERO, Input::Start);
        while let Some(next) = source.deadline().filter(|&next| next < Time::ZERO + Duration::from_secs(40)) {
            source.handle(next, Input::Timer);
            while let Some(action) = source.poll_action() {
                let Action::Send(Send { header: Header::Data(data), .. }) = action else { continue };
                base.extend((data.channel == BASE).then_some((data.number, data.sent_us)));
            }
        }
        let at_once = base.windows(2).filter(|pair| follows(pair[1].0) && pair[0].1 == pair[1].1).count();
        let apart = base.windows(2).filter(|pair| follows(pair[1].0) && pair[0].1 < pair[1].1).count();
        // Ten packets a second and one train a second; the beginning of a slot may divide one.
        assert!(at_once > 70 && apart <= 16, "{at_once} {apart}");
        assert!(base.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1 && pair[1].1 >= pair[0].1));
    }

    #[test]
    fn a_source_that_is_too_slow_sheds_the_highest_waves() {
        let layers = LayerTable::between(Rate::from_kbps(128.0), Rate::from_mbps(100.0)).unwrap();
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options::default();
        let waves = options.waves(&plan);
        let mut source = Source::new(&options, plan, Stream::new(1, "source"));
        // A host that takes 100 us for a packet, 80 Mbit/s, and looks at the clock when all are sent.
        let each = Duration::from_us(100);
        let (mut now, end) = (Time::ZERO, Time::ZERO + Duration::from_secs(20));
        let mut newest = vec![None; usize::from(waves.channels())];
        let mut skipped = vec![0u64; usize::from(waves.levels())];
        let mut sent = 0u32;
        source.handle(now, Input::Start);
        while now < end {
            while let Some(action) = source.poll_action() {
                let Action::Send(Send { header: Header::Data(data), .. }) = action else { continue };
                sent += 1;
                now += each;
                let cycle = waves.cycle();
                let place =
                    data.channel.0.checked_sub(1).map_or(0, |wave| (wave + cycle - data.slot) % cycle + 1);
                let gap = newest[data.channel.index()]
                    .map_or(0, |newest| data.number.wrapping_sub(u32::wrapping_add(newest, 1)));
                // A channel that was silent has the numbers of another wave.
                skipped[usize::from(place)] += u64::from(gap) * u64::from(gap < 1 << 20);
                newest[data.channel.index()] = Some(data.number);
            }
            now = now.max(source.deadline().unwrap_or(end));
            source.handle(now, Input::Timer);
        }
        let top = usize::from(waves.active_waves());
        assert!(sent > 195_000, "{sent} packets in 20 s");
        assert!(skipped[top] > 10_000, "{skipped:?}");
        // A burst may cost some waves below the highest, and never those of receivers at half of the rate.
        assert!(skipped[..3 * top / 4].iter().all(|&count| count == 0), "{skipped:?}");
    }
}
