//! TFMCC's small rules, each as a function: timers, suppression, round-trip times, first intervals.
//!
//! Times are seconds and rates byte/s where a number has no unit of its own.

use layercast_core::math::ln;
use layercast_core::units::Duration;
use layercast_kit::equation::{EquationError, Formula, Path};
use layercast_kit::fair::FairEquation;
use layercast_kit::response::Response;

/// The feedback timer of a receiver (RFC 4654, section 4.5), in seconds. `round` is the length of a
/// round, `x` uniform in (0, 1], `group` the upper bound of the number of receivers, above 1.
pub fn feedback_delay(round: f64, x: f64, group: f64) -> f64 {
    (round * (1.0 + ln(x) / ln(group))).max(0.0)
}

/// How much a receiver whose rate is this fraction of the source's is held back, 0 to 1: at half the source's
/// rate and below not at all, at nine tenths and above fully (the TFMCC paper and NORM, not RFC 4654).
pub fn hold_back(rate_ratio: f64) -> f64 {
    (rate_ratio.clamp(0.5, 0.9) - 0.5) / 0.4
}

/// A timer with its bias (the TFMCC paper and NORM): the part `bias` of the round is given to the
/// receiver's rate by `hold_back`, the rest to the timer of RFC 4654.
pub fn biased_delay(round: f64, delay: f64, hold_back: f64, bias: f64) -> f64 {
    bias * hold_back * round + (1.0 - bias) * delay
}

/// Whether a rate need not be reported, given the lowest reported rate `suppression` (RFC 4654, sections 3.4
/// and 4.5). `part` is 1 - g there. The factor is applied here and not by the source as well.
pub fn is_suppressed(rate: f64, suppression: f64, part: f64) -> bool {
    rate > part * suppression
}

/// The largest round-trip time after a feedback round whose largest one was `peak` (RFC 4654, section
/// 3.2). It is never below the packets' spacing, since suppression travels in data packets.
pub fn max_rtt_after_round(
    max_rtt: Duration,
    peak: Duration,
    spacing: Duration,
    granularity: Duration,
) -> Duration {
    max_rtt.scaled(0.9).max(peak).max(spacing + granularity)
}

/// The equation of what is corrected later: the simple model, where Reno's rate is fair (RFC 4654, section 5.6).
const fn simple(fair_to: Response) -> FairEquation {
    FairEquation { fair_to, formula: Formula::Simple }
}

/// The rate of a receiver that knew only the largest round-trip time, corrected for its true one: Reno's goes with
/// its inverse (RFC 4654, section 3.3), another is calculated again for the same loss rate.
pub fn rescaled_rate(
    fair_to: Response,
    packet_bytes: f64,
    rate: f64,
    max_rtt: Duration,
    rtt: Duration,
) -> f64 {
    if rtt.is_zero() {
        return rate;
    }
    if fair_to == Response::Reno {
        return rate * max_rtt.as_secs_f64() / rtt.as_secs_f64();
    }
    let path = Path::from_secs(packet_bytes, max_rtt.as_secs_f64(), 4.0 * max_rtt.as_secs_f64());
    simple(fair_to).rate_at_rtt(&path, rate, rtt.as_secs_f64()).unwrap_or(rate)
}

/// The loss event rate at which the fair rate, for Reno by the simple model, is the receive rate, and with it the
/// first loss interval, which is its inverse (RFC 4654, section 5.6).
///
/// # Errors
/// If the path or the rate has no such interval.
pub fn first_loss_rate(fair_to: Response, path: &Path, receive_rate: f64) -> Result<f64, EquationError> {
    simple(fair_to).loss_rate(path, receive_rate)
}

/// The first interval, calculated for `loss_rate` with `assumed` for the round-trip time, corrected for the true one:
/// for Reno with the square of their ratio (RFC 4654, section 5.6).
pub fn rescaled_interval(
    fair_to: Response,
    length: f64,
    loss_rate: f64,
    rtt: Duration,
    assumed: Duration,
) -> f64 {
    if fair_to == Response::Reno {
        let ratio = rtt.as_secs_f64() / assumed.as_secs_f64();
        return length * ratio * ratio;
    }
    let packets_per_s = fair_to.packets_per_s(loss_rate, assumed.as_secs_f64());
    length * loss_rate / fair_to.events_a_packet(packets_per_s, rtt.as_secs_f64())
}

/// Follows the round-trip time between two measurements by the delay of data packets (RFC 4654, section
/// 4.3.3, with the sign of erratum E43: the reverse part is the sample less the delay one way).
///
/// The clocks' offset is in the delay and in the reverse part, and cancels. All arithmetic is modulo
/// 2^32 microseconds, as time stamps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWayDelay {
    reverse_us: Option<u32>,
}

impl OneWayDelay {
    /// A measured round-trip time, with a packet stamped `sent_us` by the source that arrived at `now_us`
    /// on the receiver's clock.
    pub fn measured(&mut self, rtt: Duration, now_us: u32, sent_us: u32) {
        let rtt_us = rtt.as_us() as u32;
        self.reverse_us = Some(rtt_us.wrapping_sub(now_us.wrapping_sub(sent_us)));
    }

    /// The round-trip time by a packet's delay. None before the first measurement, and if it is
    /// not positive or more than 64 s.
    pub fn rtt(&self, now_us: u32, sent_us: u32) -> Option<Duration> {
        let rtt_us = now_us.wrapping_sub(sent_us).wrapping_add(self.reverse_us?);
        let rtt = Duration::from_us(u64::from(rtt_us));
        (!rtt.is_zero() && rtt <= layercast_kit::estimator::MAX_RTT).then_some(rtt)
    }

    /// Forgets the measurement.
    pub fn reset(&mut self) {
        self.reverse_us = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(rtt_ms: u64) -> Path {
        let rtt_s = Duration::from_ms(rtt_ms).as_secs_f64();
        Path::from_secs(1000.0, rtt_s, 4.0 * rtt_s)
    }

    /// What was calculated with an assumed round-trip time is corrected to what the true one would have given.
    #[test]
    fn corrections_lead_to_the_values_of_the_true_round_trip_time() {
        let (assumed, rtt) = (Duration::from_ms(500), Duration::from_ms(80));
        for fair_to in [Response::Reno, Response::Cubic] {
            for received in [2e4, 2e5, 2e6] {
                let loss_rate = first_loss_rate(fair_to, &path(500), received).unwrap();
                let own = rescaled_interval(fair_to, 1.0 / loss_rate, loss_rate, rtt, assumed);
                let direct = 1.0 / first_loss_rate(fair_to, &path(80), received).unwrap();
                assert!((own / direct - 1.0).abs() < 1e-6, "{fair_to:?} {received}: {own} {direct}");
            }
            let asked = simple(fair_to).rate(&path(500), 1e-4).unwrap().known().unwrap().as_bytes_per_s();
            let own = rescaled_rate(fair_to, 1000.0, asked, assumed, rtt);
            let direct = simple(fair_to).rate(&path(80), 1e-4).unwrap().known().unwrap().as_bytes_per_s();
            assert!((own / direct - 1.0).abs() < 1e-6, "{fair_to:?}: {own} {direct}");
        }
    }

    /// A first interval of CUBIC goes with RTT^(1/3) where its rate goes with RTT^(-1/4) p^(-3/4).
    #[test]
    fn intervals_of_cubic_depend_little_on_the_round_trip_time() {
        let (assumed, rtt) = (Duration::from_ms(800), Duration::from_ms(400));
        let length = rescaled_interval(Response::Cubic, 1e5, 1e-5, rtt, assumed);
        assert!((length / 1e5 - 0.794).abs() < 0.005, "{length}");
        assert_eq!(rescaled_interval(Response::Reno, 1e5, 1e-5, rtt, assumed), 2.5e4);
    }
}
