//! The shape of the waves: which are active when, and at which rates (RFC 3738, section 3.1).

use layercast_core::math::{ceil, exp, ln, pow};
use layercast_core::units::{Channel, Duration, Level, Rate, Size};

/// The base channel. It is held first and always; wave i is channel i + 1.
pub const BASE: Channel = Channel(0);

/// The most channels of a session.
pub const MAX_CHANNELS: u16 = 1024;

/// Bounds beyond any realistic plan, so that no plan can stall a host.
const MOST_PACKETS_PER_S: f64 = 1e6;
const MOST_WAVES: u16 = 1000;
const MOST_SILENT: u64 = 60_000;

/// What a session decides about its waves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveConfig {
    /// The rate of the base channel at the start of a slot, in packets/s (BCR_P).
    pub base_rate: f64,
    /// The most that the source sends over all channels, in packets/s (SR_P).
    pub top_rate: f64,
    /// The length of a slot (TSD).
    pub slot: Duration,
    /// The minimum silence of a wave's channel (QD).
    pub quiet: Duration,
    /// The factor by which a rate falls in a slot (P).
    pub fall: f64,
    /// How many waves are active at any time (N); 0 for the fewest that reach the top rate.
    pub waves: u16,
    /// Whether a wave's first slot is filled up to the top rate.
    pub is_constant: bool,
}

/// What source and receivers derive from the configuration (RFC 3738, section 3.1.1). Rates
/// are in packets/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Waves {
    fall: f64,
    base_rate: f64,
    slot: Duration,
    active: u16,
    silent: u16,
    top_rate: f64,
    is_constant: bool,
    base_packets: u32,
}

impl Waves {
    /// The waves of a session.
    pub fn new(config: &WaveConfig) -> Waves {
        let wanted = config.top_rate.min(MOST_PACKETS_PER_S);
        let (slot_s, fall) = (config.slot.as_secs_f64(), config.fall);
        let silent = config.quiet.as_ns().div_ceil(config.slot.as_ns().max(1)).min(MOST_SILENT) as u16;
        let base_packets = ceil(config.base_rate * slot_s * (fall - 1.0) / ln(fall)).max(1.0) as u32;
        let mut waves = Waves {
            fall,
            base_rate: config.base_rate,
            slot: config.slot,
            active: 1,
            silent,
            top_rate: wanted,
            is_constant: config.is_constant,
            base_packets,
        };
        while waves.joined_rate(waves.active) < wanted && waves.active < MOST_WAVES {
            waves.active += 1;
        }
        if config.waves > 0 {
            waves.active = config.waves.min(MOST_WAVES);
        }
        waves.top_rate = wanted.min(waves.joined_rate(waves.active)).max(waves.base_rate);
        waves
    }

    /// The factor by which a rate falls in a slot (P).
    pub fn fall(&self) -> f64 {
        self.fall
    }

    /// The rate of the base channel at the start of a slot (BCR_P).
    pub fn base_rate(&self) -> f64 {
        self.base_rate
    }

    /// The length of a slot (TSD).
    pub fn slot(&self) -> Duration {
        self.slot
    }

    /// How many waves are active at any time (N).
    pub fn active_waves(&self) -> u16 {
        self.active
    }

    /// For how many slots a wave's channel is silent (Q).
    pub fn silent_slots(&self) -> u16 {
        self.silent
    }

    /// Slots in a cycle, which is how many wave channels there are (T).
    pub fn cycle(&self) -> u16 {
        self.active + self.silent
    }

    /// The number of channels: the waves and the base.
    pub fn channels(&self) -> u16 {
        self.cycle() + 1
    }

    /// The maximum rate of the source (SR_P).
    pub fn top_rate(&self) -> f64 {
        self.top_rate
    }

    /// Whether all channels together have a constant rate.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// How many packets the base channel has in a slot (L).
    pub fn base_packets(&self) -> u32 {
        self.base_packets
    }

    /// The natural logarithm of how much a rate falls in a slot.
    pub fn steepness(&self) -> f64 {
        -ln(self.fall)
    }

    /// P to the power of some slots.
    pub fn fallen(&self, slots: f64) -> f64 {
        exp(-self.steepness() * slots)
    }

    /// The rate of the base and the lowest `waves` waves at the start of a slot (ARR_max).
    pub fn joined_rate(&self, waves: u16) -> f64 {
        let up = 1.0 / self.fall;
        self.base_rate * (pow(up, f64::from(waves) + 1.0) - 1.0) / (up - 1.0)
    }

    /// How many levels a receiver may have: the base, and each of the active waves with those below it.
    pub fn levels(&self) -> u16 {
        self.active + 1
    }

    /// How many waves a source sends where this level is the highest in demand
    /// ([`Input::Demand`](layercast_core::contract::Input::Demand)): one at least.
    pub fn in_demand(&self, level: Level) -> u16 {
        level.layer_count().saturating_sub(1).clamp(1, self.active)
    }

    /// The mean rate over a slot of a receiver that holds a level throughout, with packets of this size: no more than the
    /// source sends.
    pub fn level_rate(&self, level: Level, packet: Size) -> Rate {
        let Some(top) = level.top() else { return Rate::ZERO };
        let in_slot = (1.0 - self.fall) / self.steepness();
        let packets_per_s = (self.joined_rate(top.0.min(self.active)) * in_slot).min(self.top_rate);
        Rate::from_bps(packets_per_s * packet.as_bits() as f64)
    }

    /// The smallest slow start rate: that of the base and two waves (SSMINR_P; RFC 3738, section 3.2.2.6).
    pub fn slow_start_floor(&self) -> f64 {
        self.joined_rate(2)
    }

    /// The factor by which the rate grows when one wave is joined in addition to `waves` others (RFC 3738, section 3.2.3.6).
    pub fn join_factor(&self, waves: u16) -> f64 {
        self.joined_rate(waves + 1) / self.joined_rate(waves)
    }

    /// The mean time between two packets of wave `place` in a slot, in seconds; the lowest wave is 1
    /// (RFC 3738, section 3.2.2.2, has half of it).
    pub fn mean_gap_s(&self, place: u16) -> f64 {
        self.steepness() / (1.0 - self.fall) / self.base_rate * pow(self.fall, f64::from(place))
    }

    /// The mean time from the moment at which a join of wave `place` takes effect to its first packet, in
    /// seconds: half the mean gap (RFC 3738, section 3.2.2.2).
    pub fn first_packet_delay_s(&self, place: u16) -> f64 {
        self.mean_gap_s(place) / 2.0
    }

    /// The number of the wave at `place` in a slot; the lowest is 1.
    pub fn wave_at(&self, slot: u16, place: u16) -> u16 {
        ((u32::from(slot) + u32::from(place.max(1)) - 1) % u32::from(self.cycle())) as u16
    }

    /// The waves that are active in a slot, the lowest first.
    pub fn active_in(&self, slot: u16) -> impl Iterator<Item = u16> {
        (1..=self.active).map(move |place| self.wave_at(slot, place))
    }
}

/// The channel of a wave.
pub fn channel_of(wave: u16) -> Channel {
    Channel(wave + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_to_what_the_source_sends() {
        let config = WaveConfig {
            base_rate: 16.0,
            top_rate: 125_000.0,
            slot: Duration::from_ms(2500),
            quiet: Duration::from_secs(15),
            fall: 0.75,
            waves: 0,
            is_constant: false,
        };
        let (waves, packet) = (Waves::new(&config), Size::from_bytes(1000));
        let rate = |count| waves.level_rate(Level::from_count(count), packet).as_bps();
        assert_eq!((waves.levels(), rate(0)), (28, 0.0));
        // The mean of a rate that falls by a quarter is 0.869 of it.
        assert!((rate(1) / 128e3 - 0.869).abs() < 0.001, "{}", rate(1));
        assert!((1..waves.levels()).all(|count| rate(count) < rate(count + 1)));
        assert!((0.869e9..=1e9).contains(&rate(waves.levels())), "{}", rate(waves.levels()));
    }
}
