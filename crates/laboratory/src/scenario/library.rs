//! The traffic library: web pages, video, downloads and calls with the parameters of today, and where those come from
//! (`docs/traffic.md`).

mod ladder;

use layercast_core::option::{Above, OptionError, OptionSet as _, OptionSpec, RawValue};
use layercast_core::options;
use layercast_core::units::{Duration, Rate, Size};
use layercast_simulator::{Distribution, PagesConfig, PlayerConfig};

pub use self::ladder::Ladder;
use crate::results::TrafficKind;

options! {
    /// Users who read one web page after another.
    pub struct WebOptions {
        /// The median weight of a page with all that it embeds, in bytes on the wire; weights are log-normal. 2412 KB:
        /// the median desktop page of July 2025 (HTTP Archive, Web Almanac 2025, chapter Page Weight).
        page: Size = Size::from_bytes(2_470_000), Above(Size::from_bytes(0));
        /// The standard deviation of the natural logarithm of the weight; with 1.04 one page in ten weighs 9179 KB or
        /// more, as in that chapter.
        page_sigma: f64 = 1.04, 0.0 => 3.0;
        /// The median weight of the document, in bytes on the wire; weights are log-normal. 22 KB: the median HTML of
        /// a desktop page (same chapter).
        document: Size = Size::from_bytes(22_500), Above(Size::from_bytes(0));
        /// The standard deviation of the natural logarithm of the document's weight; with 0.77 one in ten weighs 59 KB
        /// or more, as HTML responses do (same chapter).
        document_sigma: f64 = 0.77, 0.0 => 3.0;
        /// The mean time from the end of the document to the requests for what it embeds; times are exponential. 0.13 s:
        /// IEEE 802.16m-08/004r5, section 10.1, after the model of 3GPP2.
        parse: Duration = Duration::from_ms(130);
        /// The mean time from the end of a page to the request for the next; times are exponential. A user begins with
        /// such a time. 30 s: IEEE 802.16m-08/004r5, section 10.1.
        reading: Duration = Duration::from_secs(30), Duration::from_ms(1);
        /// What the server sends on a new connection before it can answer, which takes a round trip more: its part of
        /// the TLS 1.3 handshake with its certificates (RFC 8446, section 2). 4 kB are our own assumption; 0 bytes for
        /// none.
        handshake: Size = Size::from_bytes(4000);
        /// Whether each page opens a connection of its own. Otherwise a user keeps one, as HTTP/2 does within a site
        /// (RFC 9113, section 9.1).
        new_connections: bool = false;
    }
}

options! {
    /// Players of video, each with one connection.
    pub struct VideoOptions {
        /// How long a segment plays. 4 s: Huang and others, SIGCOMM 2014, section 3.
        segment: Duration = Duration::from_secs(4), Duration::from_ms(100) => Duration::from_secs(60);
        /// The bit rates of the video, without headers. The default is that of Apple's HLS Authoring Specification for
        /// H.264.
        ladder: Ladder = Ladder::default();
        /// The most that a player buffers; when there is no room for a segment it waits. 240 s: Huang and others,
        /// SIGCOMM 2014, section 3.
        buffer: Duration = Duration::from_secs(240), Duration::from_ms(100) => Duration::from_secs(3600);
        /// With less than this in the buffer the lowest rate is chosen (BBA-0). 90 s: the same paper, section 4.
        reservoir: Duration = Duration::from_secs(90), Duration::ZERO => Duration::from_secs(3600);
        /// Over how much more in the buffer the rate rises to the highest (BBA-0). 126 s: the same paper, section 4.
        cushion: Duration = Duration::from_secs(126), Duration::from_ms(100) => Duration::from_secs(3600);
        /// Playing begins with this much in the buffer, and goes on with it after a stall: one segment by default, which
        /// is our own assumption.
        startup: Duration = Duration::from_secs(4), Duration::from_ms(1) => Duration::from_secs(3600);
    }
}

options! {
    /// Files, one after another, each on a new connection.
    pub struct DownloadOptions {
        /// The size of a file in bytes on the wire, or the median where `file_sigma` is above 0. 0.5 MB: 3GPP TR 36.814,
        /// section A.2.1.3.1, FTP traffic model 2.
        file: Size = Size::from_bytes(500_000), Above(Size::from_bytes(0));
        /// The standard deviation of the natural logarithm of the size; above 0 sizes are log-normal.
        file_sigma: f64 = 0.0, 0.0 => 3.0;
        /// The mean time from the end of a file to the request for the next; times are exponential. 5 s: the same model.
        reading: Duration = Duration::from_secs(5), Duration::from_ms(1);
    }
}

options! {
    /// One direction of a telephone call.
    pub struct CallOptions {
        /// The voice in a packet. 160 bytes: G.711, of which 64 kbit/s make 20 ms (RFC 3551, section 4.5.14). RTP, UDP
        /// and IP add 40 bytes.
        payload: Size = Size::from_bytes(160), Above(Size::from_bytes(0)) => Size::from_bytes(1460);
        /// From one packet to the next. 20 ms: RFC 3551, section 4.2.
        interval: Duration = Duration::from_ms(20), Duration::from_ms(1) => Duration::from_secs(1);
        /// Whether packets are sent in talkspurts only (silence suppression).
        talkspurts: bool = false;
        /// The mean length of a talkspurt; lengths are exponential. 1.004 s: ITU-T P.59, table 1.
        talk: Duration = Duration::from_ms(1004), Duration::from_ms(1);
        /// The mean length of a silence between talkspurts; lengths are exponential. 1.587 s: ITU-T P.59, table 1.
        silence: Duration = Duration::from_ms(1587), Duration::from_ms(1);
    }
}

/// Headers of IP, UDP and RTP (RFC 791, RFC 768, RFC 3550), in bytes.
const CALL_HEADERS: u32 = 40;

/// The options of one kind of traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryOptions {
    /// Web pages.
    Web(WebOptions),
    /// Video.
    Video(VideoOptions),
    /// Downloads.
    Download(DownloadOptions),
    /// Calls.
    Call(CallOptions),
}

impl LibraryOptions {
    /// The defaults.
    pub fn new(kind: TrafficKind) -> LibraryOptions {
        match kind {
            TrafficKind::Web => LibraryOptions::Web(WebOptions::default()),
            TrafficKind::Video => LibraryOptions::Video(VideoOptions::default()),
            TrafficKind::Download => LibraryOptions::Download(DownloadOptions::default()),
            TrafficKind::Call => LibraryOptions::Call(CallOptions::default()),
        }
    }

    /// All options with their values.
    pub fn option_specs(&self) -> Vec<OptionSpec> {
        match self {
            LibraryOptions::Web(options) => options.option_specs(),
            LibraryOptions::Video(options) => options.option_specs(),
            LibraryOptions::Download(options) => options.option_specs(),
            LibraryOptions::Call(options) => options.option_specs(),
        }
    }

    /// Sets an option.
    ///
    /// # Errors
    /// As [`Options::set`](layercast_core::option::Options::set).
    pub fn set_option(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        match self {
            LibraryOptions::Web(options) => options.set_option(name, value),
            LibraryOptions::Video(options) => options.set_option(name, value),
            LibraryOptions::Download(options) => options.set_option(name, value),
            LibraryOptions::Call(options) => options.set_option(name, value),
        }
    }
}

impl WebOptions {
    /// As the simulator needs them.
    pub(super) fn config(&self) -> PagesConfig {
        PagesConfig {
            page: log_normal(self.page, self.page_sigma),
            document: log_normal(self.document, self.document_sigma),
            parse_s: exponential(self.parse),
            reading_s: exponential(self.reading),
            handshake_bytes: f64::from(self.handshake.as_bytes()),
            one_connection_per_page: self.new_connections,
        }
    }
}

impl VideoOptions {
    /// As the simulator needs them.
    pub(super) fn config(&self) -> PlayerConfig {
        PlayerConfig {
            segment: self.segment,
            ladder: self.ladder.0.clone(),
            reservoir: self.reservoir,
            cushion: self.cushion,
            buffer: self.buffer,
            startup: self.startup,
        }
    }
}

impl DownloadOptions {
    /// The size of a file in bytes, and the time between two in seconds.
    pub(super) fn transfers(&self) -> (Distribution, Distribution) {
        (log_normal(self.file, self.file_sigma), exponential(self.reading))
    }
}

impl CallOptions {
    /// The size of a packet on the wire.
    pub(super) fn packet_size(&self) -> Size {
        Size::from_bytes(self.payload.as_bytes() + CALL_HEADERS)
    }

    /// The rate while packets are sent.
    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.packet_size().as_bits() as f64 / self.interval.as_secs_f64())
    }

    /// How long packets are sent and not sent, in seconds.
    pub(super) fn pauses(&self) -> Option<(Distribution, Distribution)> {
        self.talkspurts.then(|| (exponential(self.talk), exponential(self.silence)))
    }
}

/// The distribution with a median and a standard deviation of the logarithm.
fn log_normal(median: Size, sigma: f64) -> Distribution {
    let median = f64::from(median.as_bytes());
    if sigma > 0.0 {
        Distribution::LogNormal { mean: median * libm::exp(sigma * sigma / 2.0), sigma }
    } else {
        Distribution::Fixed(median)
    }
}

fn exponential(mean: Duration) -> Distribution {
    Distribution::Exponential { mean: mean.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::stream::Stream;

    /// The share of 100 000 draws above a weight in KB.
    fn above(distribution: Distribution, kb: f64) -> f64 {
        let mut stream = Stream::new(1, "weights");
        let count = (0..100_000).filter(|_| distribution.draw(&mut stream) > kb * 1024.0).count();
        count as f64 / 1e5
    }

    /// The quartiles and deciles of the Web Almanac, desktop. Shares of 100 000 draws are exact to 0.5 % (3 standard
    /// errors); the log-normal passes through the median and the 90th percentile and is near the others.
    #[test]
    fn weights_are_those_of_the_sources() {
        let web = WebOptions::default().config();
        for (kb, share, tolerance) in [
            (607.0, 0.9, 0.02),
            (1275.0, 0.75, 0.03),
            (2412.0, 0.5, 0.006),
            (4570.0, 0.25, 0.03),
            (9179.0, 0.1, 0.006),
        ] {
            let found = above(web.page, kb);
            assert!((found - share).abs() < tolerance, "{found} of pages above {kb} KB, not {share}");
        }
        assert!((above(web.document, 22.0) - 0.5).abs() < 0.006);
        assert!((above(web.document, 59.0) - 0.1).abs() < 0.006);
    }

    #[test]
    fn a_call_has_80_kbit_s_on_the_wire() {
        let call = CallOptions::default();
        assert_eq!((call.packet_size().as_bytes(), call.rate().as_bps()), (200, 80_000.0));
        assert_eq!(call.pauses(), None);
    }

    #[test]
    fn options_of_all_kinds_have_names_of_their_own_or_mean_the_same() {
        for kind in TrafficKind::ALL {
            let mut options = LibraryOptions::new(kind);
            for spec in options.option_specs() {
                let set = options.set_option(spec.name, RawValue::from_text(&spec.default));
                assert_eq!(set, Ok(()), "{} {} takes its own default", kind.name(), spec.name);
            }
            assert_eq!(options, LibraryOptions::new(kind));
        }
    }
}
