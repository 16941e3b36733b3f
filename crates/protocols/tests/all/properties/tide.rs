use core::num::NonZeroU64;

use layercast_core::units::Channel;
use layercast_core::wire::{MAX_REPORT, Wire as _, WireNumbers};
use layercast_kit::estimator::SendTime;
use layercast_kit::feedback::{Echo, ReceiverId};
use layercast_kit::response::Response;
use layercast_protocols::tide::{
    Base, Data, Header, History, Report, Suppression, untruncated_mean, virtual_events,
};
use proptest::prelude::*;

const NUMBERS: WireNumbers = WireNumbers { extensions: &[97], report: Some(0x20) };

prop_compose! {
    fn echo()(receiver in 1u64.., timestamp_us in any::<u32>(), hold_us in any::<u32>()) -> Echo {
        Echo { receiver: ReceiverId(NonZeroU64::new(receiver).expect("not zero")), timestamp_us, hold_us }
    }
}

prop_compose! {
    /// A header whose fields agree.
    fn data()(
        cycle in 1u16..1000, slot in any::<u16>(), channel in any::<u16>(), number in any::<u32>(),
        sent_us in any::<u32>(), phase_us in any::<u32>(), end_of_session in any::<bool>(),
        suppression in any::<u8>(), echo in proptest::option::of(echo()),
    ) -> Data {
        let channel = Channel(channel % (cycle + 1));
        let base = Base { suppression: Suppression::from_wire(suppression), echo };
        let base = (channel == Channel(0)).then_some(base);
        Data { slot: slot % cycle, channel, number, cycle, sent_us, phase_us, end_of_session, base }
    }
}

proptest! {
    #[test]
    fn data_survives_the_wire(data in data()) {
        let header = Header::Data(data);
        let fields = header.to_lct(&NUMBERS).expect("data travels on LCT");
        prop_assert_eq!(Header::from_lct(&fields, &NUMBERS), Ok(header));
        prop_assert_eq!(header.channel(), Some(data.channel));
    }

    #[test]
    fn reports_survive_the_wire_and_short_ones_are_refused(
        receiver in 1u64.., timestamp_us in any::<u32>(), waves in any::<u16>(), rtt_us in any::<u32>(),
        fair_rate in any::<u32>(), cut in 0usize..24,
    ) {
        let receiver = ReceiverId(NonZeroU64::new(receiver).expect("not zero"));
        let report = Header::Report(Report { receiver, timestamp_us, waves, rtt_us, fair_rate });
        let mut bytes = [0; MAX_REPORT];
        let length = report.encode_report(0x20, &mut bytes).expect("a report");
        prop_assert_eq!(Header::decode_report(0x20, &bytes[..length]), Some(Ok(report)));
        prop_assert!(Header::decode_report(0x20, &bytes[..cut]).is_some_and(|read| read.is_err()));
    }

    #[test]
    fn any_bytes_are_a_report_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Some(Ok(Header::Report(report))) = Header::decode_report(0x20, &bytes) {
            prop_assert_eq!(report.receiver.0.get().to_be_bytes(), &bytes[4..12]);
        }
    }

    #[test]
    fn a_larger_window_meets_more_events_but_no_more_than_its_share(
        packets in 1.0f64..1e4, more in 1.0f64..10.0, sent in 1.0f64..1e4, losses in 0.0f64..20.0,
    ) {
        let (few, many) = (virtual_events(packets, sent, losses), virtual_events(packets * more, sent, losses));
        prop_assert!(few > 0.0 && few <= many * (1.0 + 1e-9), "{few} {many}");
        prop_assert!(many <= few * more * (1.0 + 1e-9), "{few} {many}");
    }

    #[test]
    fn seen_periods_lose_more_than_all(mean in 1.0f64..50.0) {
        prop_assert!(untruncated_mean(mean) <= mean);
    }

    /// A history that begins with a rate gives that rate.
    #[test]
    fn a_known_rate_is_the_fair_rate(rate in 10.0f64..1e5, rtt_ms in 2u32..800, cubic in any::<bool>()) {
        let response = if cubic { Response::Cubic } else { Response::Reno };
        let rtt_s = f64::from(rtt_ms) * 1e-3;
        prop_assume!(rate * rtt_s >= 4.0);
        let mut history = History::new(response);
        history.begin(SendTime::from_us(1_000_000), rate, rtt_s);
        let fair = history.fair_rate(0.0, rtt_s);
        prop_assert!((fair / rate - 1.0).abs() < 1e-3, "{fair} for {rate}");
    }

    /// Any losses at any times give a finite rate, and much longer intervals no lower one. Events that were not met are
    /// placed in whole numbers, so a tenth is allowed; what the history began with is forgotten. CUBIC's replay of few periods may settle at either of two
    /// windows, so it is only finite.
    #[test]
    fn fewer_losses_give_no_lower_rate(
        gaps_ms in proptest::collection::vec(100u64..20_000, 66..90), lost in 1u32..200, packets in 1.0f64..1e4,
        rtt_ms in 1u32..800, cubic in any::<bool>(),
    ) {
        let response = if cubic { Response::Cubic } else { Response::Reno };
        let rtt_s = f64::from(rtt_ms) * 1e-3;
        let rate = |stretch: u64| {
            let mut history = History::new(response);
            history.begin(SendTime::default(), packets / rtt_s, rtt_s);
            let mut at_us = 0;
            for gap_ms in &gaps_ms {
                // At least two round-trip times apart, so that each loss opens a period.
                at_us += (gap_ms + 2 * u64::from(rtt_ms)) * 1000 * stretch;
                history.on_loss(SendTime::from_us(at_us), lost, rtt_s, packets);
            }
            history.fair_rate(0.0, rtt_s)
        };
        let (rare, frequent) = (rate(4), rate(1));
        prop_assert!(frequent.is_finite() && frequent > 0.0);
        prop_assert!(cubic || rare >= 0.9 * frequent, "{rare} {frequent}");
    }
}
