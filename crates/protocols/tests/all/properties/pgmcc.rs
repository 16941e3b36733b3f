//! pgmcc: decoders, the loss filter, the model, and a source with arbitrary inputs.

use std::num::NonZeroU64;

use layercast_core::contract::{Arrival, Ecn, Endpoint, Input, Origin, Peer};
use layercast_core::layers::LayerTable;
use layercast_core::lct::{Cci, Extension, LctFields};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time, WireSeq};
use layercast_protocols::pgmcc::election::throughput;
use layercast_protocols::pgmcc::header::{Data, ReceiverId, Report};
use layercast_protocols::pgmcc::options::Model;
use layercast_protocols::pgmcc::{Header, LossFilter, Options, Source};
use proptest::prelude::*;

fn report() -> impl Strategy<Value = Report> {
    let numbers = (0u64..4, any::<u16>(), 0u32..400, any::<u32>(), any::<bool>(), any::<bool>());
    numbers.prop_map(|(receiver, loss, highest, came, ack, leaving)| Report {
        session: 0,
        receiver: ReceiverId(NonZeroU64::new(receiver + 1).expect("not zero")),
        ack,
        leaving,
        loss,
        highest: WireSeq(highest),
        came: if ack { came } else { 0 },
        heard_us: 0,
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(report) = Report::decode(0x1d, &bytes) {
            let mut room = [0; 28];
            prop_assert_eq!(report.encode(0x1d, &mut room), 28);
            prop_assert_eq!(&room[..], &bytes[..28]);
        }
        if let Ok(extension) = Extension::new(93, &bytes) {
            let cci = Cci::Short([1, 2, 3, 4]);
            let pieces = LctFields { cci, session: Some(1), end_of_session: false, extension };
            if let Ok(data) = Data::from_lct(&pieces) {
                prop_assert_eq!(data.to_lct(93), pieces);
            }
        }
    }

    #[test]
    fn the_loss_rate_lies_between_none_and_all(
        memory in 0.0f64..=1.0, packets in proptest::collection::vec(any::<bool>(), 0..500),
    ) {
        let (mut filter, mut worse) = (LossFilter::new(memory), LossFilter::new(memory));
        for lost in packets {
            filter.on_packet(lost);
            worse.on_packet(true);
            prop_assert!((0.0..=1.0).contains(&filter.rate()) && filter.rate() <= worse.rate());
        }
    }

    #[test]
    fn throughput_falls_with_losses_and_with_the_round_trip_time(
        rtt in 0.001f64..1e6, more in 1.001f64..100.0, p in 1e-4f64..0.5,
    ) {
        for model in [Model::Simple, Model::Timeouts] {
            let base = throughput(model, rtt, p);
            prop_assert!(base.is_finite() && base > 0.0);
            prop_assert!(throughput(model, rtt * more, p) < base);
            prop_assert!(throughput(model, rtt, (p * more).min(1.0)) < base);
            prop_assert!(throughput(model, rtt, f64::NAN) >= throughput(model, rtt, 1e-5));
        }
    }

    /// Whatever reports say, the window stays in its bounds, nothing is sent faster than the session's rate,
    /// and the acker is one that reported.
    #[test]
    fn a_source_with_arbitrary_reports_keeps_its_bounds(
        reports in proptest::collection::vec((report(), 0u64..200), 0..200),
    ) {
        let layers = LayerTable::from_rates([Rate::from_mbps(1.0)]).expect("a layer");
        let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
        let options = Options { most_window: 40.0, ..Options::default() };
        let mut source = Source::new(&options, plan, Stream::new(1, "source"));
        let (mut now, session) = (Time::from_ns(1), source.session());
        source.handle(now, Input::Start);
        for (mut report, ms) in reports {
            now += Duration::from_ms(ms);
            report.session = session;
            report.heard_us = now.as_wire_us().wrapping_sub(50_000);
            let header = Header::Report(report);
            let (origin, size) = (Origin::Peer(Peer(1)), Size::from_bytes(64));
            source.handle(now, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
            while source.poll_action().is_some() {}
            prop_assert!((1.0..=40.0).contains(&source.window()), "{}", source.window());
            prop_assert!(source.acker().is_none_or(|acker| acker.0.get() <= 4));
            prop_assert!(source.deadline().is_none_or(|at| at > now));
            let allowed = now.as_secs_f64() * 125.0 + f64::from(options.burst) + 1.0;
            prop_assert!(source.counters().sent as f64 <= allowed);
        }
    }
}
