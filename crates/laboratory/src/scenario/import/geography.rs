//! Delays from places.

use layercast_core::math::sqrt;
use libm::{asin, cos, sin};

/// Two thirds of the speed of light in vacuum, as in fibre, in metres per second.
const IN_FIBRE_M_PER_S: f64 = 299_792_458.0 * 2.0 / 3.0;

/// The mean radius of the earth in metres (IUGG).
const EARTH_M: f64 = 6_371_008.8;

/// Degrees of latitude and longitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// The propagation delay over the great circle between two places, in whole microseconds. Cables are
/// longer, so this is a lower bound.
pub(super) fn delay_us(one: Place, other: Place) -> u64 {
    (distance_m(one, other) / IN_FIBRE_M_PER_S * 1e6).round() as u64
}

/// The haversine formula, which is exact for near places too.
fn distance_m(one: Place, other: Place) -> f64 {
    let half_sine = |angle: f64| sin(angle.to_radians() / 2.0);
    let latitude = half_sine(other.latitude - one.latitude);
    let longitude = half_sine(other.longitude - one.longitude);
    let cosines = cos(one.latitude.to_radians()) * cos(other.latitude.to_radians());
    let haversine = latitude * latitude + cosines * longitude * longitude;
    2.0 * EARTH_M * asin(sqrt(haversine).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_globe() {
        let (pole, equator) =
            (Place { latitude: 90.0, longitude: 0.0 }, Place { latitude: 0.0, longitude: 77.0 });
        let quarter = std::f64::consts::FRAC_PI_2 * EARTH_M;
        assert!((distance_m(pole, equator) - quarter).abs() < 1.0);
        // Paris and New York: 5837 km over the great circle, 29.2 ms in fibre.
        let (paris, new_york) =
            (Place { latitude: 48.8566, longitude: 2.3522 }, Place { latitude: 40.7128, longitude: -74.006 });
        assert!((distance_m(paris, new_york) / 1000.0 - 5837.0).abs() < 2.0);
        assert_eq!(delay_us(paris, new_york) / 100, 292);
        assert_eq!(delay_us(paris, paris), 0);
        let across = Place { latitude: 0.0, longitude: -179.0 };
        assert!(distance_m(across, Place { latitude: 0.0, longitude: 179.0 }) < 300_000.0);
    }
}
