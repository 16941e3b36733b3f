//! The headers of all protocols on LCT. The type of the extension tells the protocol.

use core::fmt;

use super::Header;
use crate::{
    cbr, elm, fixed, flid, golestani_sabnani, nca, pgmcc, rla, rlc, rlm, smcc, tfmcc, tfrc, webrc, wei_zhang,
};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Channel, Layer, WireSeq};

/// The type of the extension of the fixed protocol: the layer (16); the CCI is the number.
const FIXED_EXTENSION: u8 = 82;

/// The longest feedback packet in bytes.
pub const MAX_FEEDBACK: usize = elm::header::MAX_HEADER;

/// Why bytes from the network are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LctError {
    /// The extension belongs to no protocol.
    Extension(u8),
    /// ELM does not take it.
    Elm(elm::header::HeaderError),
    /// RLC does not take it.
    Rlc(rlc::HeaderError),
    /// TFRC or CBR does not take it.
    Tfrc(tfrc::header::DataError),
    /// TFRC or CBR does not take the report.
    TfrcReport(tfrc::header::ReportError),
    /// TFMCC does not take it.
    Tfmcc(tfmcc::header::HeaderError),
    /// RLM does not take it.
    Rlm(rlm::HeaderError),
    /// The protocol of Wei and Zhang does not take it.
    WeiZhang(wei_zhang::HeaderError),
    /// SMCC does not take it.
    Smcc(smcc::header::HeaderError),
    /// pgmcc does not take it.
    Pgmcc(pgmcc::HeaderError),
    /// RLA does not take it.
    Rla(rla::HeaderError),
    /// The protocol of Golestani and Sabnani does not take it.
    GolestaniSabnani(golestani_sabnani::HeaderError),
    /// WEBRC does not take it.
    Webrc(webrc::HeaderError),
    /// A protocol of the FLID family does not take it.
    Flid(flid::HeaderError),
    /// The congestion control information has another length than that of the protocol.
    Cci {
        /// Its length in bytes.
        len: usize,
    },
    /// The fixed protocol does not take it.
    Fixed,
    /// It is not a report.
    NoReport,
}

impl fmt::Display for LctError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LctError::Extension(kind) => write!(f, "extension {kind} belongs to no protocol"),
            LctError::Elm(error) => write!(f, "elm: {error}"),
            LctError::Rlc(error) => write!(f, "rlc: {error}"),
            LctError::Tfrc(error) => write!(f, "tfrc: {error}"),
            LctError::TfrcReport(error) => write!(f, "tfrc: {error}"),
            LctError::Tfmcc(error) => write!(f, "tfmcc: {error}"),
            LctError::Rlm(error) => write!(f, "rlm: {error}"),
            LctError::WeiZhang(error) => write!(f, "wei-zhang: {error}"),
            LctError::Smcc(error) => write!(f, "smcc: {error}"),
            LctError::Pgmcc(error) => write!(f, "pgmcc: {error}"),
            LctError::Rla(error) => write!(f, "rla: {error}"),
            LctError::GolestaniSabnani(error) => write!(f, "golestani-sabnani: {error}"),
            LctError::Webrc(error) => write!(f, "webrc: {error}"),
            LctError::Flid(error) => write!(f, "flid: {error}"),
            LctError::Cci { len } => write!(f, "congestion control information of {len} bytes"),
            LctError::Fixed => write!(f, "fixed: an extension of wrong length"),
            LctError::NoReport => write!(f, "not a report"),
        }
    }
}

impl core::error::Error for LctError {}

impl Header {
    /// The pieces of a data header; none for a header that travels by unicast.
    pub fn to_lct(&self) -> Option<LctFields> {
        match self {
            Header::Elm(elm::Header::Data(data)) => Some(data.to_lct()),
            Header::Elm(elm::Header::Report(_)) => None,
            Header::Rlc(header) => Some(header.to_lct()),
            Header::Tfrc(tfrc::Header::Data(data)) => Some(data.to_lct(tfrc::LCT_EXTENSION)),
            Header::Cbr(tfrc::Header::Data(data)) => Some(data.to_lct(cbr::LCT_EXTENSION)),
            Header::Tfrc(tfrc::Header::Report(_)) | Header::Cbr(tfrc::Header::Report(_)) => None,
            Header::Tfmcc(tfmcc::Header::Data(data)) => Some(data.to_lct()),
            Header::Tfmcc(tfmcc::Header::Report(_)) => None,
            Header::Rlm(header) => Some(header.to_lct()),
            Header::WeiZhang(header) => Some(header.to_lct()),
            Header::Smcc(smcc::Header::Data(data)) => Some(data.to_lct()),
            Header::Smcc(smcc::Header::Counting(counting)) => Some(counting.to_lct()),
            Header::Smcc(smcc::Header::Report(_)) => None,
            // Routers take part: the transport has none.
            Header::Nca(_) => None,
            Header::Pgmcc(pgmcc::Header::Data(data)) => Some(data.to_lct()),
            Header::Pgmcc(pgmcc::Header::Report(_)) => None,
            Header::Rla(rla::Header::Data(data)) => Some(rla::header::to_lct(data)),
            Header::Rla(rla::Header::Report(_)) => None,
            Header::GolestaniSabnani(golestani_sabnani::Header::Data(data)) => Some(data.to_lct()),
            Header::GolestaniSabnani(golestani_sabnani::Header::Report(_)) => None,
            Header::Webrc(header) => Some(header.to_lct()),
            Header::FlidSl(header) => Some(header.to_lct(flid::sl::LCT_EXTENSION)),
            Header::FlidDl(header) => Some(header.to_lct(flid::dl::LCT_EXTENSION)),
            Header::EFlidDl(header) => Some(header.to_lct(flid::ecn::LCT_EXTENSION)),
            // It has a form of its own, which is not LCT's.
            Header::Amca(_) => None,
            Header::Fixed(header) => Some(LctFields {
                cci: Cci::Short(header.seq.0.to_be_bytes()),
                session: None,
                end_of_session: false,
                extension: ExtensionPayload::default()
                    .with(&header.layer.0.to_be_bytes())
                    .extension(FIXED_EXTENSION),
            }),
        }
    }

    /// Whether extensions of this type are a protocol's.
    pub fn is_lct_extension(kind: u8) -> bool {
        matches!(
            kind,
            elm::LCT_EXTENSION
                | rlc::LCT_EXTENSION
                | tfrc::LCT_EXTENSION
                | cbr::LCT_EXTENSION
                | tfmcc::LCT_EXTENSION
                | rlm::LCT_EXTENSION
                | wei_zhang::LCT_EXTENSION
                | smcc::LAYER_EXTENSION
                | smcc::COUNTING_EXTENSION
                | pgmcc::LCT_EXTENSION
                | rla::LCT_EXTENSION
                | golestani_sabnani::LCT_EXTENSION
                | webrc::LCT_EXTENSION
                | flid::sl::LCT_EXTENSION
                | flid::dl::LCT_EXTENSION
                | flid::ecn::LCT_EXTENSION
                | FIXED_EXTENSION
        )
    }

    /// A data header from its pieces. Never panics.
    ///
    /// # Errors
    /// What the protocol finds wrong, or that there is no such protocol.
    pub fn from_lct(pieces: &LctFields) -> Result<Header, LctError> {
        let kind = pieces.extension.kind();
        let is_long = matches!(pieces.cci, Cci::Long(_));
        let is_flid =
            matches!(kind, flid::sl::LCT_EXTENSION | flid::dl::LCT_EXTENSION | flid::ecn::LCT_EXTENSION);
        // FLID's information is long, WEBRC's may be either, and all others' is short.
        let wrong = kind != webrc::LCT_EXTENSION && is_flid != is_long;
        if Header::is_lct_extension(kind) && wrong {
            return Err(LctError::Cci { len: pieces.cci.bytes().len() });
        }
        let flid = || flid::Header::from_lct(pieces).map_err(LctError::Flid);
        match kind {
            flid::sl::LCT_EXTENSION => flid().map(Header::FlidSl),
            flid::dl::LCT_EXTENSION => flid().map(Header::FlidDl),
            flid::ecn::LCT_EXTENSION => flid().map(Header::EFlidDl),
            elm::LCT_EXTENSION => elm::header::Data::from_lct(pieces)
                .map(|data| Header::Elm(elm::Header::Data(data)))
                .map_err(LctError::Elm),
            rlc::LCT_EXTENSION => rlc::Header::from_lct(pieces).map(Header::Rlc).map_err(LctError::Rlc),
            tfrc::LCT_EXTENSION => tfrc::header::Data::from_lct(pieces)
                .map(|data| Header::Tfrc(tfrc::Header::Data(data)))
                .map_err(LctError::Tfrc),
            cbr::LCT_EXTENSION => tfrc::header::Data::from_lct(pieces)
                .map(|data| Header::Cbr(tfrc::Header::Data(data)))
                .map_err(LctError::Tfrc),
            tfmcc::LCT_EXTENSION => tfmcc::header::Data::from_lct(pieces)
                .map(|data| Header::Tfmcc(tfmcc::Header::Data(data)))
                .map_err(LctError::Tfmcc),
            rlm::LCT_EXTENSION => rlm::Header::from_lct(pieces).map(Header::Rlm).map_err(LctError::Rlm),
            wei_zhang::LCT_EXTENSION => {
                wei_zhang::Header::from_lct(pieces).map(Header::WeiZhang).map_err(LctError::WeiZhang)
            }
            smcc::LAYER_EXTENSION => smcc::header::Data::from_lct(pieces)
                .map(|data| Header::Smcc(smcc::Header::Data(data)))
                .map_err(LctError::Smcc),
            smcc::COUNTING_EXTENSION => smcc::header::Counting::from_lct(pieces)
                .map(|counting| Header::Smcc(smcc::Header::Counting(counting)))
                .map_err(LctError::Smcc),
            pgmcc::LCT_EXTENSION => pgmcc::header::Data::from_lct(pieces)
                .map(|data| Header::Pgmcc(pgmcc::Header::Data(data)))
                .map_err(LctError::Pgmcc),
            rla::LCT_EXTENSION => rla::header::from_lct(pieces)
                .map(|data| Header::Rla(rla::Header::Data(data)))
                .map_err(LctError::Rla),
            golestani_sabnani::LCT_EXTENSION => golestani_sabnani::header::Data::from_lct(pieces)
                .map(|data| Header::GolestaniSabnani(golestani_sabnani::Header::Data(data)))
                .map_err(LctError::GolestaniSabnani),
            webrc::LCT_EXTENSION => {
                webrc::Header::from_lct(pieces).map(Header::Webrc).map_err(LctError::Webrc)
            }
            FIXED_EXTENSION => match pieces.extension.content() {
                &[high, low] => Ok(Header::Fixed(fixed::Header {
                    layer: Layer(u16::from_be_bytes([high, low])),
                    seq: WireSeq(u32::from_be_bytes(pieces.cci.first())),
                })),
                _ => Err(LctError::Fixed),
            },
            kind => Err(LctError::Extension(kind)),
        }
    }

    /// The layer of a data header, of a counting layer that of its channel; none for feedback.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Header::Elm(elm::Header::Data(data)) => Some(data.layer()),
            Header::Elm(elm::Header::Report(_)) => None,
            Header::Rlc(header) => Some(header.layer()),
            Header::Tfrc(tfrc::Header::Data(_)) | Header::Cbr(tfrc::Header::Data(_)) => Some(Layer::BASE),
            Header::Tfrc(tfrc::Header::Report(_)) | Header::Cbr(tfrc::Header::Report(_)) => None,
            Header::Tfmcc(tfmcc::Header::Data(_)) => Some(Layer::BASE),
            Header::Tfmcc(tfmcc::Header::Report(_)) => None,
            Header::Rlm(rlm::Header::Data(data)) => Some(data.layer),
            Header::Rlm(rlm::Header::Announcement(_)) => None,
            Header::WeiZhang(header) => Some(header.layer),
            Header::Smcc(smcc::Header::Data(data)) => Some(data.layer()),
            Header::Smcc(smcc::Header::Counting(counting)) => Some(Layer(counting.channel)),
            Header::Smcc(smcc::Header::Report(_)) => None,
            Header::Nca(nca::Header::Data(_) | nca::Header::Repair(_)) => Some(Layer::BASE),
            Header::Nca(_) => None,
            Header::Pgmcc(pgmcc::Header::Data(_)) => Some(Layer::BASE),
            Header::Pgmcc(pgmcc::Header::Report(_)) => None,
            Header::Rla(rla::Header::Data(_)) => Some(Layer::BASE),
            Header::Rla(rla::Header::Report(_)) => None,
            Header::GolestaniSabnani(golestani_sabnani::Header::Data(_)) => Some(Layer::BASE),
            Header::GolestaniSabnani(golestani_sabnani::Header::Report(_)) => None,
            Header::Webrc(header) => Some(header.layer()),
            Header::FlidSl(header) | Header::FlidDl(header) | Header::EFlidDl(header) => Some(header.layer()),
            Header::Amca(header) => header.data_seq().map(|_| Layer::BASE),
            Header::Fixed(header) => Some(header.layer),
        }
    }

    /// The channel that a data header belongs on; none for feedback.
    pub fn channel(&self) -> Option<Channel> {
        match self {
            Header::FlidSl(header) | Header::FlidDl(header) | Header::EFlidDl(header) => {
                Some(header.channel())
            }
            other => other.layer().map(Layer::channel),
        }
    }

    /// Writes a feedback header and returns its length; none for a data header.
    pub fn encode_feedback(&self, bytes: &mut [u8; MAX_FEEDBACK]) -> Option<usize> {
        match self {
            Header::Elm(header @ elm::Header::Report(_)) => Some(header.encode(bytes)),
            Header::Tfrc(tfrc::Header::Report(report)) => Some(report.encode(tfrc::REPORT_KIND, bytes)),
            Header::Cbr(tfrc::Header::Report(report)) => Some(report.encode(cbr::REPORT_KIND, bytes)),
            Header::Tfmcc(tfmcc::Header::Report(report)) => Some(report.encode(bytes)),
            Header::Rlm(rlm::Header::Announcement(made)) => Some(made.encode(bytes)),
            Header::Smcc(smcc::Header::Report(report)) => Some(report.encode(bytes)),
            Header::Pgmcc(pgmcc::Header::Report(report)) => Some(report.encode(bytes)),
            Header::Rla(rla::Header::Report(report)) => Some(report.encode(bytes)),
            Header::GolestaniSabnani(golestani_sabnani::Header::Report(report)) => Some(report.encode(bytes)),
            _ => None,
        }
    }

    /// Reads a feedback header. Never panics.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode_feedback(bytes: &[u8]) -> Result<Header, LctError> {
        let report = |kind| tfrc::header::Report::decode(kind, bytes).map(tfrc::Header::Report);
        match bytes.first() {
            Some(&tfrc::REPORT_KIND) => {
                return report(tfrc::REPORT_KIND).map(Header::Tfrc).map_err(LctError::TfrcReport);
            }
            Some(&cbr::REPORT_KIND) => {
                return report(cbr::REPORT_KIND).map(Header::Cbr).map_err(LctError::TfrcReport);
            }
            Some(&tfmcc::REPORT) => {
                let report = tfmcc::header::Report::decode(bytes).map_err(LctError::Tfmcc)?;
                return Ok(Header::Tfmcc(tfmcc::Header::Report(report)));
            }
            Some(&rlm::REPORT_KIND) => {
                let made = rlm::Announcement::decode(bytes).map_err(LctError::Rlm)?;
                return Ok(Header::Rlm(rlm::Header::Announcement(made)));
            }
            Some(&smcc::REPORT) => {
                let report = smcc::header::Report::decode(bytes).map_err(LctError::Smcc)?;
                return Ok(Header::Smcc(smcc::Header::Report(report)));
            }
            Some(&pgmcc::REPORT_KIND) => {
                let report = pgmcc::header::Report::decode(bytes).map_err(LctError::Pgmcc)?;
                return Ok(Header::Pgmcc(pgmcc::Header::Report(report)));
            }
            Some(&rla::REPORT_KIND) => {
                let report = rla::header::Report::decode(bytes).map_err(LctError::Rla)?;
                return Ok(Header::Rla(rla::Header::Report(report)));
            }
            Some(&golestani_sabnani::REPORT_KIND) => {
                let report = golestani_sabnani::header::Report::decode(bytes);
                let report = report.map_err(LctError::GolestaniSabnani)?;
                return Ok(Header::GolestaniSabnani(golestani_sabnani::Header::Report(report)));
            }
            _ => {}
        }
        match elm::Header::decode(bytes) {
            Ok((header @ elm::Header::Report(_), _)) => Ok(Header::Elm(header)),
            Ok(_) => Err(LctError::NoReport),
            Err(error) => Err(LctError::Elm(error)),
        }
    }
}

impl super::Source {
    /// The session number that the source drew, where its protocol has one.
    pub fn session(&self) -> Option<u32> {
        match self {
            super::Source::Elm(source) => Some(source.session()),
            super::Source::Tfrc(source) => Some(source.session()),
            super::Source::Cbr(source) => Some(source.session()),
            super::Source::Tfmcc(source) => Some(source.session()),
            super::Source::Smcc(source) => Some(source.session()),
            super::Source::Pgmcc(source) => Some(source.session()),
            super::Source::Rla(source) => Some(source.session()),
            super::Source::GolestaniSabnani(source) => Some(source.session()),
            super::Source::FlidSl(source)
            | super::Source::FlidDl(source)
            | super::Source::EFlidDl(source) => Some(source.session()),
            super::Source::Amca(source) => Some(source.session()),
            super::Source::Nca(_)
            | super::Source::Rlc(_)
            | super::Source::Rlm(_)
            | super::Source::WeiZhang(_)
            | super::Source::Webrc(_)
            | super::Source::Fixed(_) => None,
        }
    }
}
