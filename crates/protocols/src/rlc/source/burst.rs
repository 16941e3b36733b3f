//! Bursts: pairs of packets, then silence, right before a synchronisation point.

use layercast_core::units::{Duration, Layer, Pacer, Rate, Size, Time};

/// What is left of a layer's share in a burst: pairs, a single packet, and departures without one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// The base interval at whose end the burst's point is.
    pub(super) interval: u64,
    pairs: u32,
    single: bool,
    silent: u32,
    pub(super) place: u8,
    pub(super) length: u8,
}

/// The burst window of the current base interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BurstWindow {
    pub(super) interval: u64,
    /// Layers 0 to this one take part.
    pub(super) top: Option<Layer>,
    pub(super) opens: Time,
    pub(super) closes: Time,
}

/// What a layer does at one of its departures.
pub(super) enum Departure {
    Packet,
    Pair,
    Silence,
}

/// How long a burst and the silence after it last: as long as twice the burst's packets take at the
/// cumulative rate.
pub(super) fn burst_span(packets: u32, size: Size, rate: Rate) -> Duration {
    match packets {
        0 => Duration::ZERO,
        packets => rate.time_to_send(size) * (2 * u64::from(packets)),
    }
}

impl BurstWindow {
    pub(super) fn takes(&self, layer: Layer, at: Time) -> bool {
        self.top.is_some_and(|top| layer <= top) && self.opens <= at && at < self.closes
    }
}

impl Burst {
    /// The share of a layer whose next departure is the pacer's: half of the departures before
    /// `closes` become pairs, the last half fall silent, so the mean rate does not change.
    pub(super) fn over(interval: u64, mut pacer: Pacer, closes: Time) -> Burst {
        let mut departures = 0u32;
        while pacer.next() < closes && departures < 255 {
            departures += 1;
            pacer.advance();
        }
        let pairs = departures / 2;
        let length = if pairs == 0 { 0 } else { departures as u8 };
        Burst { interval, pairs, single: pairs > 0 && departures % 2 == 1, silent: pairs, place: 0, length }
    }

    pub(super) fn depart(&mut self) -> Departure {
        if self.pairs > 0 {
            self.pairs -= 1;
            Departure::Pair
        } else if self.single {
            self.single = false;
            Departure::Packet
        } else if self.silent > 0 {
            self.silent -= 1;
            Departure::Silence
        } else {
            Departure::Packet
        }
    }
}
