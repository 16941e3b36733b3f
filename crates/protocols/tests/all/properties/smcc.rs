use core::num::NonZeroU64;

use layercast_core::family::AnyHeader as _;
use layercast_core::lct::{Cci, Extension, LctFields, MAX_CONTENT};
use layercast_core::units::WireSeq;
use layercast_core::wire::MAX_REPORT;
use layercast_protocols::registry::Header as Any;
use layercast_protocols::smcc::Header;
use layercast_protocols::smcc::header::{Counting, Data, FloatRate, HeaderError, ReceiverId, Report};

/// The wire numbers of SMCC.
const LAYER_EXTENSION: u8 = 86;
const COUNTING_EXTENSION: u8 = 87;
const REPORT: u8 = 0x17;
use layercast_protocols::tfmcc::header::{Data as Told, Echo, Report as Said};
use proptest::prelude::*;

fn receiver() -> impl Strategy<Value = ReceiverId> {
    (1u64..).prop_filter_map("not zero", |number| NonZeroU64::new(number).map(ReceiverId))
}

prop_compose! {
    fn tfmcc_data()(
        session in any::<u32>(), seq in any::<u32>(), timestamp_us in any::<u32>(),
        end_of_session in any::<bool>(), round in any::<u8>(), max_rtt_us in 1..=64_000_000u32,
        suppression in any::<u16>(), rate in 0..u16::MAX,
        limiting in proptest::option::of(receiver()),
        echo in proptest::option::of((receiver(), any::<u32>())),
    ) -> Told {
        let echo = echo.map(|(receiver, timestamp_us)| Echo { receiver, timestamp_us });
        Told {
            session, seq: WireSeq(seq), timestamp_us, end_of_session, round, max_rtt_us,
            suppression: FloatRate(suppression), rate: FloatRate(rate), limiting, echo,
        }
    }
}

prop_compose! {
    fn said()(
        session in any::<u32>(), receiver in receiver(), timestamp_us in any::<u32>(),
        heard_us in any::<u32>(), round in any::<u8>(), has_rtt in any::<bool>(),
        has_loss in any::<bool>(), leaving in any::<bool>(), rate in any::<u16>(),
    ) -> Said {
        let rate = FloatRate(rate);
        Said { session, receiver, timestamp_us, heard_us, round, has_rtt, has_loss, leaving, rate }
    }
}

fn header() -> impl Strategy<Value = Header> {
    prop_oneof![
        (tfmcc_data(), any::<u16>(), any::<u8>()).prop_map(|(tfmcc, above, layer)| {
            Header::Data(Data { tfmcc, above: FloatRate(above), layer })
        }),
        (any::<u32>(), any::<u32>(), any::<u32>(), any::<u16>()).prop_map(
            |(session, seq, timestamp_us, channel)| {
                Header::Counting(Counting { session, seq: WireSeq(seq), timestamp_us, channel })
            }
        ),
        (said(), any::<u8>()).prop_map(|(tfmcc, layer)| Header::Report(Report { tfmcc, layer })),
    ]
}

proptest! {
    #[test]
    fn every_header_comes_back(header in header()) {
        let header = Any::Smcc(header);
        let mut room = [0; MAX_REPORT];
        match header.encode_report(&mut room) {
            Some(length) => {
                prop_assert_eq!(Any::decode_report(&room[..length]), Ok(header));
                prop_assert_eq!(header.to_lct(), None);
            }
            None => {
                let fields = header.to_lct();
                prop_assert!(fields.is_some(), "neither feedback nor data");
                if let Some(fields) = fields {
                    prop_assert!(Any::is_lct_extension(fields.extension.kind()));
                    prop_assert_eq!(Any::from_lct(&fields), Ok(header));
                }
            }
        }
    }

    #[test]
    fn a_report_that_is_cut_is_refused(said in said(), layer in any::<u8>()) {
        let mut room = [0; MAX_REPORT];
        let length = Report { tfmcc: said, layer }.encode(REPORT, &mut room);
        for cut in 0..length {
            prop_assert_eq!(Report::decode(REPORT, &room[..cut]), Err(HeaderError::Length { have: cut }));
        }
    }

    #[test]
    fn an_extension_that_is_cut_is_not_another_header(tfmcc in tfmcc_data(), above in any::<u16>()) {
        let fields = Data { tfmcc, above: FloatRate(above), layer: 3 }.to_lct(LAYER_EXTENSION);
        let content = fields.extension.content();
        for len in (2..content.len()).step_by(4) {
            let extension = Extension::new(LAYER_EXTENSION, &content[..len]).expect("whole words");
            let read = Data::from_lct(&LctFields { extension, ..fields });
            // With an echo the shorter form is a whole header too; only its length distinguishes them.
            prop_assert!(read.is_err() || len == 26, "{} bytes of {}", len, content.len());
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..MAX_CONTENT + 8), cci in any::<[u8; 4]>(),
        end_of_session in any::<bool>(),
    ) {
        // Decoding and encoding again changes nothing that was understood.
        if let Ok(report) = Report::decode(REPORT, &bytes) {
            let mut room = [0; MAX_REPORT];
            let length = report.encode(REPORT, &mut room);
            prop_assert_eq!(Report::decode(REPORT, &room[..length]), Ok(report));
        }
        for kind in [LAYER_EXTENSION, COUNTING_EXTENSION] {
            let Ok(extension) = Extension::new(kind, &bytes) else { continue };
            let fields = LctFields { cci: Cci::Short(cci), session: Some(1), end_of_session, extension };
            if let Ok(header) = Any::from_lct(&fields) {
                let again = header.to_lct().map(|fields| Any::from_lct(&fields));
                prop_assert_eq!(again, Some(Ok(header)));
            }
        }
    }
}

#[test]
fn other_first_bytes_and_lengths_are_named() {
    assert_eq!(Report::decode(REPORT, &[0x16; 28]), Err(HeaderError::Kind(0x16)));
    assert_eq!(Report::decode(REPORT, &[]), Err(HeaderError::Length { have: 0 }));
    let extension = Extension::new(COUNTING_EXTENSION, &[0; 10]).expect("whole words");
    let fields = LctFields { cci: Cci::Short([0; 4]), session: None, end_of_session: false, extension };
    assert_eq!(Counting::from_lct(&fields), Err(HeaderError::Length { have: 10 }));
}
