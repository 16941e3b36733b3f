//! What the mean rate is, and which tau_0 and base rate suit a round-trip time (Wei and Zhang, sections on
//! throughput and on the choice of parameters; erratum E-12 of the linear structure).
//!
//! A receiver alternates between level i and i + 1 with one loss event in each spacing tau_{i+1}. Then the
//! mean rate is K' / sqrt(p) packets in each tau_0, where p is the loss event rate.

use layercast_core::math;
use layercast_core::units::{Duration, Rate, Size};

/// The share alpha of time on the upper level, from the mean rate between two cumulative rates.
pub fn upper_share(mean: f64, lower: f64, upper: f64) -> f64 {
    (mean - lower) / (upper - lower)
}

/// K' for a ratio K = B_{i+1} / B_i, m packets of the base layer in each tau_0, and the share alpha of time on
/// the upper level: sqrt(((K - 1) alpha + 1) m / K).
pub fn scale(ratio: f64, packets: f64, share: f64) -> f64 {
    math::sqrt(((ratio - 1.0) * share + 1.0) * packets / ratio)
}

/// m: packets of the base layer in each tau_0, from the base rate in byte/s.
pub fn packets_per_interval(base_interval_s: f64, base_rate: f64, packet_bytes: f64) -> f64 {
    base_interval_s * base_rate / packet_bytes
}

/// The loss event rate of a receiver that alternates between these cumulative rates (byte/s) with one
/// loss event in each `spacing_s`.
pub fn loss_event_rate(lower: f64, upper: f64, share: f64, spacing_s: f64, packet_bytes: f64) -> f64 {
    let volume = ((upper / lower - 1.0) * share + 1.0) * spacing_s * lower;
    packet_bytes / volume
}

/// The mean rate in byte/s at a loss event rate, for K' = `scale`.
pub fn mean_rate(scale: f64, loss_event_rate: f64, packet_bytes: f64, base_interval_s: f64) -> f64 {
    scale / math::sqrt(loss_event_rate) * packet_bytes / base_interval_s
}

/// The mean rate over the first `cycles` + 1 cycles of exponential back-off between two rates.
pub fn mean_with_backoff(lower: f64, upper: f64, share: f64, cycles: u32) -> f64 {
    let cycles = f64::from(cycles) + 1.0;
    lower + (upper - lower) * share * cycles / (math::pow(2.0, cycles) - 1.0)
}

/// The tau_0 in seconds that gives the rate of a TCP with this round-trip time and constant c, for K' =
/// `scale`.
pub fn matched_interval_s(scale: f64, rtt_s: f64, tcp_constant: f64) -> f64 {
    scale * rtt_s / tcp_constant
}

/// The layer structures of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Each layer has the rate of the base.
    Linear,
    /// Each cumulative rate doubles the one below.
    Exponential,
}

impl Structure {
    /// The cumulative rate of a level over that of the base.
    pub fn multiple(self, level: u32) -> f64 {
        match self {
            Structure::Linear => f64::from(level) + 1.0,
            Structure::Exponential => math::pow(2.0, f64::from(level)),
        }
    }

    /// The level whose cumulative rate is a multiple of the base rate, or the highest below it.
    fn level_of(self, multiple: f64) -> u32 {
        let level = match self {
            Structure::Linear => math::floor(multiple) - 1.0,
            Structure::Exponential => math::floor(math::log2(multiple.max(1.0))),
        };
        level.clamp(0.0, 1e6) as u32
    }
}

/// Between which levels a receiver is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingPoint {
    /// The lower level.
    pub level: u32,
    /// The share alpha of time on the upper one: 1 where loss events are too rare to leave it within its
    /// spacing, and too frequent to go on to the next.
    pub upper_share: f64,
    /// The mean rate over that of the base.
    pub multiple: f64,
}

/// Where a receiver settles at a loss event rate, with m packets of the base layer in each tau_0 and
/// layers without end. Between two loss events it gets 1 / p packets: that is [`loss_event_rate`] turned
/// round, for the highest level that these suffice for. Below the first it stays on the base.
pub fn place(structure: Structure, packets: f64, loss_event_rate: f64) -> OperatingPoint {
    // What comes between two loss events, in packets of the base layer in a tau_0. On level i it takes
    // B_i B_{i+1} / B_0^2 of them to be there at the next point of the level above.
    let volume = 1.0 / (loss_event_rate * packets);
    let product = |level: u32| structure.multiple(level) * structure.multiple(level + 1);
    let guess = match structure {
        Structure::Linear => math::sqrt(volume),
        Structure::Exponential => math::sqrt(volume / 2.0),
    };
    let mut level = structure.level_of(guess);
    if level > 0 && product(level) > volume {
        level -= 1;
    }
    let (lower, upper) = (structure.multiple(level), structure.multiple(level + 1));
    let share = (volume / product(level) - 1.0) * lower / (upper - lower);
    let upper_share = share.clamp(0.0, 1.0);
    OperatingPoint { level, upper_share, multiple: lower + (upper - lower) * upper_share }
}

/// What suits a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// tau_0.
    pub base_interval: Duration,
    /// The rate of the base layer.
    pub base_rate: Rate,
    /// m, packets of the base layer in each tau_0.
    pub packets: u32,
    /// K'.
    pub scale: f64,
    /// The level i, counted from 0, between which and the next a receiver with the share alternates.
    pub level: u32,
    /// Layers that are needed to reach the fastest receiver's rate.
    pub layers: u32,
}

/// The path and packets that a design is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The structure of the layers.
    pub structure: Structure,
    /// The round-trip time of the TCP that receivers should be fair to.
    pub rtt: Duration,
    /// The TCP constant c: sqrt(3/2) with an acknowledgement a packet, about 0.93 with delayed ones.
    pub tcp_constant: f64,
    /// The size of packets.
    pub packet_size: Size,
    /// The rate that a receiver is expected to get.
    pub share: Rate,
    /// The highest rate that any receiver may get.
    pub fastest: Rate,
    /// The share alpha of time on the upper level: 0.5 if nothing is known.
    pub upper_share: f64,
}

/// Chooses tau_0 and the base rate for m packets of the base layer in each tau_0. K' depends on the level
/// and so on the base rate, which depends on K': a few rounds settle it.
pub fn design(aim: &Aim, packets: u32) -> Design {
    let packets = packets.max(1);
    let bytes = f64::from(aim.packet_size.as_bytes());
    let mut level = 1;
    let mut made = at_level(aim, packets, level);
    for _ in 0..32 {
        let base = made.base_rate.as_bytes_per_s().max(bytes * 1e-6);
        let next = aim.structure.level_of(aim.share.as_bytes_per_s() / base);
        if next == level {
            break;
        }
        level = next;
        made = at_level(aim, packets, level);
    }
    made
}

fn at_level(aim: &Aim, packets: u32, level: u32) -> Design {
    let ratio = match aim.structure {
        Structure::Linear => (f64::from(level) + 2.0) / (f64::from(level) + 1.0),
        Structure::Exponential => 2.0,
    };
    let scale = scale(ratio, f64::from(packets), aim.upper_share);
    let interval_s = matched_interval_s(scale, aim.rtt.as_secs_f64(), aim.tcp_constant);
    let base = f64::from(packets) * f64::from(aim.packet_size.as_bytes()) / interval_s;
    let multiple = aim.fastest.as_bytes_per_s() / base;
    let layers = match aim.structure {
        Structure::Linear => math::ceil(multiple),
        Structure::Exponential => math::ceil(math::log2(multiple.max(1.0))) + 1.0,
    };
    Design {
        base_interval: Duration::from_secs_f64(interval_s),
        base_rate: Rate::from_bps(base * 8.0),
        packets,
        scale,
        level,
        layers: layers.clamp(1.0, 1e6) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place gives back the loss event rate that it was asked for, and the mean rate of K'.
    #[test]
    fn a_place_is_where_the_loss_event_rate_leads() {
        let (packets, interval_s, bytes) = (4.0, 0.08, 1000.0);
        let base = packets * bytes / interval_s;
        for structure in [Structure::Linear, Structure::Exponential] {
            for (level, share) in [(0, 0.25), (1, 0.5), (3, 0.9), (6, 0.01)] {
                let (lower, upper) = (structure.multiple(level), structure.multiple(level + 1));
                let spacing_s = interval_s * upper;
                let rate = loss_event_rate(lower * base, upper * base, share, spacing_s, bytes);
                let place = place(structure, packets, rate);
                assert_eq!(place.level, level, "{structure:?}");
                assert!((place.upper_share - share).abs() < 1e-9, "{structure:?}: {place:?}");
                let mean = mean_rate(scale(upper / lower, packets, share), rate, bytes, interval_s);
                assert!((place.multiple * base / mean - 1.0).abs() < 1e-9, "{structure:?}: {place:?}");
            }
        }
    }

    #[test]
    fn rare_losses_leave_a_gap_between_levels() {
        // 4 units of volume are all of level 1 for its spacing of 2; level 2 needs 6.
        let at = |volume: f64| place(Structure::Linear, 1.0, 1.0 / volume);
        assert_eq!(at(5.0), OperatingPoint { level: 0, upper_share: 1.0, multiple: 2.0 });
        assert_eq!((at(6.0).level, at(6.0).upper_share), (1, 0.0));
        assert_eq!(at(0.5), OperatingPoint { level: 0, upper_share: 0.0, multiple: 1.0 });
        let doubling = place(Structure::Exponential, 1.0, 1.0 / 6.0);
        assert_eq!(doubling, OperatingPoint { level: 0, upper_share: 1.0, multiple: 2.0 });
    }
}
