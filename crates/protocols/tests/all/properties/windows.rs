//! RLA and Golestani and Sabnani: decoders, and the probability of listening.

use layercast_core::family::AnyHeader as _;
use layercast_core::lct::{Cci, Extension, LctFields};
use layercast_core::units::{Duration, Time};
use layercast_protocols::golestani_sabnani;
use layercast_protocols::registry::Header;
use layercast_protocols::rla;
use layercast_protocols::rla::signals::{Signals, probability};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut room = [0; 28];
        if let Ok(report) = rla::header::Report::decode(0x1e, &bytes) {
            prop_assert_eq!(report.encode(0x1e, &mut room), 28);
            prop_assert_eq!(&room[..], &bytes[..28]);
        }
        if let Ok(report) = golestani_sabnani::header::Report::decode(0x1f, &bytes) {
            prop_assert_eq!(report.encode(0x1f, &mut room), 28);
            prop_assert_eq!(&room[..], &bytes[..28]);
        }
    }

    #[test]
    fn any_extension_is_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for kind in [94, 95] {
            if let Ok(extension) = Extension::new(kind, &bytes) {
                let cci = Cci::Short([1, 2, 3, 4]);
                let pieces = LctFields { cci, session: Some(1), end_of_session: true, extension };
                if let Ok(header) = Header::from_lct(&pieces) {
                    prop_assert_eq!(header.to_lct(), Some(pieces));
                }
            }
        }
    }

    #[test]
    fn the_probability_is_one_and_falls_with_each_receiver(troubled in 1usize..10_000, part in 0.0f64..=1.0) {
        let some = probability(troubled, part);
        prop_assert!((0.0..=1.0).contains(&some));
        prop_assert!(probability(troubled + 1, part) <= some && probability(troubled, part / 2.0) <= some);
    }

    /// The mean distance of signals lies between the least and the largest distance.
    #[test]
    fn the_mean_distance_of_signals_stays_in_range(
        steps in proptest::collection::vec(1u64..100_000, 1..100), weight in 0.01f64..=1.0,
    ) {
        let mut now = Time::ZERO;
        let mut signals = Signals::new(now);
        for &ms in &steps {
            now += Duration::from_ms(ms);
            prop_assert!(signals.on_loss(now, Duration::ZERO, weight));
        }
        let (least, most) = (steps.iter().min().unwrap_or(&0), steps.iter().max().unwrap_or(&0));
        let mean = 1000.0 * signals.interval_s(now).unwrap_or(-1.0);
        prop_assert!(mean >= *least as f64 - 1e-6 && mean <= *most as f64 + 1e-6, "{mean}");
    }
}
