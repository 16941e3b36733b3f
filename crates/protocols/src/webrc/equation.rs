//! WEBRC's form of TCP's rate, with rounded constants (RFC 3738, section 3.2.2.3), or another TCP's in its place.

use layercast_core::math::sqrt;
use layercast_kit::equation::{MIN_LOSS_RATE, solve_simplified};
use layercast_kit::response::Response;

/// The weight of the square root of the loss rate.
const ROOT: f64 = 0.816;
/// The weight of the timeout term.
const TIMEOUT: f64 = 7.35;

/// The rate in packets/s at a loss rate, above 0 and at most 1, and a round-trip time in seconds.
pub fn equation_rate(loss: f64, rtt_s: f64) -> f64 {
    1.0 / (rtt_s * sqrt(loss) * (ROOT + TIMEOUT * loss * (1.0 + 32.0 * loss * loss)))
}

/// The loss rate at which the equation gives a rate in packets/s, from 1e-8 to 1.
pub fn loss_for_rate(rate: f64, rtt_s: f64) -> f64 {
    solve_simplified(ROOT, TIMEOUT, 1.0 / (rtt_s * rate))
}

/// The rate that is fair, in packets/s, at a loss rate and a round-trip time in seconds: Reno's by the RFC's equation.
pub fn fair_rate(fair_to: Response, loss: f64, rtt_s: f64) -> f64 {
    match fair_to {
        Response::Reno => equation_rate(loss, rtt_s),
        other => other.packets_per_s(loss, rtt_s),
    }
}

/// The loss rate at which the fair rate in packets/s is this one, from 1e-8 to 1: the inverse, of the same response.
pub fn fair_loss(fair_to: Response, rate: f64, rtt_s: f64) -> f64 {
    match fair_to {
        Response::Reno => loss_for_rate(rate, rtt_s),
        other => other.events_a_packet(rate, rtt_s).max(MIN_LOSS_RATE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_leads_back() {
        for loss in [1e-7, 1e-4, 0.01, 0.1, 0.9] {
            let back = loss_for_rate(equation_rate(loss, 0.2), 0.2);
            assert!((back / loss - 1.0).abs() < 1e-9, "{loss} came back as {back}");
        }
        assert_eq!(loss_for_rate(1e-9, 0.2), 1.0);
        assert_eq!(loss_for_rate(1e9, 0.2), 1e-8);
    }

    #[test]
    fn a_fair_rate_and_its_inverse_are_of_one_response() {
        assert_eq!(fair_rate(Response::Reno, 0.01, 0.2), equation_rate(0.01, 0.2));
        assert_eq!(fair_loss(Response::Reno, 50.0, 0.2), loss_for_rate(50.0, 0.2));
        for loss in [1e-7, 1e-4, 0.01, 0.1, 0.9] {
            let back = fair_loss(Response::Cubic, fair_rate(Response::Cubic, loss, 0.2), 0.2);
            assert!((back / loss - 1.0).abs() < 1e-6, "{loss} came back as {back}");
        }
        // RFC 9438, figure 6: 1.054 (0.2 / 1e-4)^(3/4) packets in 0.2 s.
        assert!((fair_rate(Response::Cubic, 1e-4, 0.2) / 1576.0 - 1.0).abs() < 0.005);
        assert_eq!(fair_loss(Response::Cubic, 1e9, 0.2), 1e-8);
        assert!((0.999..=1.0).contains(&fair_loss(Response::Cubic, 1e-9, 0.2)));
    }
}
