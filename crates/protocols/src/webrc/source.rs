//! The source: the base channel and the active waves, paced by the shape of the waves alone.

use alloc::collections::VecDeque;

use super::options::{Options, WordForm};

use super::{Header, header::LARGEST_SHORT};
use layercast_core::contract::{Action, ActionQueue, Endpoint, Estimates, Input, Payload, Send};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Size, Time};
use layercast_kit::pacing::Dither;
use layercast_kit::waves::{BASE, Departures, Waves, channel_of, slot_of};

/// After a stall longer than this, missed packets are skipped rather than sent in a burst.
const LONGEST_LAG: Duration = Duration::from_ms(100);

/// The source of a WEBRC session.
#[derive(Clone, Debug)]
pub struct Source {
    waves: Waves,
    departures: Departures,
    dither: Dither,
    is_long: bool,
    end_packets: u32,
    size: Size,
    start: Time,
    is_sending: bool,
    is_over: bool,
    /// The slot, counted from the start, and when it began.
    slot: (u64, Time),
    /// The next packet of the base in this slot, and when it leaves.
    base: (u32, Time),
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

impl Wave {
    fn schedule(&mut self, departures: &Departures, dither: &mut Dither) {
        let Some(behind) = self.left.checked_sub(1) else {
            self.next = Time::MAX;
            return;
        };
        let planned = self.end - departures.before_end(behind);
        let after = behind.checked_sub(1).map_or(self.end, |behind| self.end - departures.before_end(behind));
        self.next = planned + dither.delay(after.since(planned));
    }
}

impl Source {
    /// A source for a session; `stream` dithers its departures.
    pub fn new(options: &Options, plan: SessionPlan, stream: Stream) -> Source {
        let waves = options.waves(&plan);
        Source {
            departures: Departures::new(&waves),
            dither: Dither::new(options.dither, stream),
            is_long: options.word == WordForm::Long,
            end_packets: options.end_packets,
            size: plan.packet_size,
            start: Time::ZERO,
            is_sending: false,
            is_over: false,
            slot: (0, Time::ZERO),
            base: (0, Time::ZERO),
            active: VecDeque::with_capacity(usize::from(waves.active_waves())),
            open: waves.active_waves(),
            actions: ActionQueue::default(),
            waves,
        }
    }

    /// The number of the slot in the cycle (CTSI).
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
        wave.schedule(&self.departures, &mut self.dither);
        wave
    }

    /// When the base sends a packet of this slot; after the last one, when the next slot begins. The first one, by which
    /// receivers learn of the slot, is not dithered.
    fn base_time(&mut self, number: u32) -> Time {
        let planned = |number| {
            if number < self.waves.base_packets() {
                self.slot.1 + self.departures.base_departure(number)
            } else {
                self.slot.1 + self.waves.slot()
            }
        };
        let at = planned(number);
        if number == 0 || number >= self.waves.base_packets() {
            return at;
        }
        let gap = planned(number + 1).since(at);
        at + self.dither.delay(gap)
    }

    fn begin_slot(&mut self) {
        self.slot = (self.slot.0 + 1, self.slot.1 + self.waves.slot());
        self.base = (0, self.slot.1);
        self.active.pop_front();
        self.fill(self.slot.1);
    }

    fn send_due(&mut self, now: Time) {
        while self.is_sending {
            let (at, place) = self.next();
            if at > now {
                return;
            }
            if now.since(at) > LONGEST_LAG {
                self.find_place(now);
            } else if at >= self.slot.1 + self.waves.slot() {
                self.begin_slot();
            } else {
                self.depart(place);
            }
        }
    }

    /// When the next packet leaves, and of which wave; none for the base.
    fn next(&self) -> (Time, Option<usize>) {
        let base = (self.base.1, None);
        let waves = self.active.iter().enumerate().map(|(place, wave)| (wave.next, Some(place)));
        waves.fold(base, |earliest, next| if next.0 < earliest.0 { next } else { earliest })
    }

    fn depart(&mut self, place: Option<usize>) {
        let (channel, number) = match place {
            None => {
                let number = self.base_number();
                self.base.0 += 1;
                self.base.1 = self.base_time(self.base.0);
                (BASE, number)
            }
            Some(place) => {
                let wave = &mut self.active[place];
                wave.left -= u64::from(wave.left > 0);
                wave.schedule(&self.departures, &mut self.dither);
                // The last packet of a wave has the largest number (RFC 3738, section 3.1.2).
                (wave.channel, u32::MAX - wave.left as u32)
            }
        };
        let send = Send::data(channel, self.header(channel, number, false), self.size);
        self.actions.send(send);
    }

    /// The number of the base's next packet. It wraps at the largest multiple of the packets in a slot.
    fn base_number(&self) -> u32 {
        let packets = u64::from(self.waves.base_packets());
        let number = self.slot.0 * packets + u64::from(self.base.0);
        (number % base_numbers(&self.waves, self.is_long)) as u32
    }

    fn header(&self, channel: Channel, number: u32, end_of_session: bool) -> Header {
        let number = if self.is_long { number } else { number & LARGEST_SHORT };
        let (slot, cycle) = (self.slot_in_cycle(), self.waves.cycle());
        Header { slot, channel, number, cycle, is_long: self.is_long, end_of_session }
    }

    fn stop(&mut self) {
        if self.is_sending {
            let header = self.header(BASE, self.base_number(), true);
            for _ in 0..self.end_packets {
                self.actions.send(Send { payload: Payload::None, ..Send::data(BASE, header, self.size) });
            }
        }
        (self.is_sending, self.is_over) = (false, true);
    }
}

/// How many numbers the base channel has before they wrap (RFC 3738, section 3.1.2).
pub(super) fn base_numbers(waves: &Waves, is_long: bool) -> u64 {
    let (all, packets) = (if is_long { 1u64 << 32 } else { 1 << 16 }, u64::from(waves.base_packets()));
    (all / packets).max(1) * packets
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
                self.is_sending = true;
                self.find_place(now);
            }
            Input::Finish | Input::Stop => self.stop(),
            Input::Demand(level) => self.demand(now, level),
            Input::DataExhausted => self.is_sending = false,
            // Slots pass all the same: the waves continue where they would be.
            Input::DataAvailable if !self.is_sending && !self.active.is_empty() => {
                self.is_sending = true;
                self.find_place(now);
            }
            Input::Timer
            | Input::DataAvailable
            | Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_) => {}
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
