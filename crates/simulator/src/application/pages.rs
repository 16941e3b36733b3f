//! A user who reads web pages: a document, a pause in which it is parsed, all objects embedded in it, and a time of
//! reading, again and again over one connection (HTTP/2, RFC 9113, section 5) or one for each page.
//!
//! The sender is the server. What it sees agrees with what the user sees: the acknowledgement of a response takes as
//! long to arrive as the request that follows it, so a response and its acknowledgement take as long as a request and
//! its response.

use layercast_core::stream::Stream;
use layercast_core::units::Duration;

use super::distribution::Distribution;

/// What a user reads, and how. Sizes in bytes on the wire, rounded up to whole packets; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PagesConfig {
    /// The weight of a page, with its document.
    pub page: Distribution,
    /// The weight of the document. A page is no lighter than its document.
    pub document: Distribution,
    /// From the end of the document to the requests for the embedded objects.
    pub parse_s: Distribution,
    /// From the end of a page to the request for the next. A user begins with such a time.
    pub reading_s: Distribution,
    /// What the server sends on a new connection before it can answer: its part of the TLS handshake. Zero for none.
    pub handshake_bytes: f64,
    /// Whether each page has a connection of its own.
    pub one_connection_per_page: bool,
}

/// A response of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Response {
    pub(super) bytes: f64,
    /// Whether the connection is opened for it.
    pub(super) on_new_connection: bool,
}

/// What follows a response that was delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delivered {
    /// The time to the next request.
    pub(super) wait: Duration,
    /// Whether the page is complete.
    pub(super) is_last: bool,
}

/// Where a user is in a page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Reads a page, or has not begun.
    Reading,
    /// The server's part of the handshake is on its way.
    Handshake,
    /// The connection is open; the document is to be requested.
    Open,
    /// The document is on its way.
    Document,
    /// The document is there and is parsed.
    Parsing,
    /// The embedded objects are on their way.
    Objects,
}

/// A user.
#[derive(Debug)]
pub(super) struct Pages {
    config: PagesConfig,
    stage: Stage,
    has_connection: bool,
    document_bytes: f64,
    /// What the page has besides its document.
    objects_bytes: f64,
}

impl Pages {
    pub(super) fn new(config: PagesConfig) -> Pages {
        Pages {
            config,
            stage: Stage::Reading,
            has_connection: false,
            document_bytes: 0.0,
            objects_bytes: 0.0,
        }
    }

    pub(super) fn draw_reading(&self, stream: &mut Stream) -> Duration {
        self.config.reading_s.draw_duration(stream)
    }

    /// The wait is over: what the server sends next.
    pub(super) fn request(&mut self, stream: &mut Stream) -> Response {
        if self.stage == Stage::Parsing {
            self.stage = Stage::Objects;
            return Response { bytes: self.objects_bytes, on_new_connection: false };
        }
        if self.stage == Stage::Open {
            self.stage = Stage::Document;
            return Response { bytes: self.document_bytes, on_new_connection: false };
        }
        self.document_bytes = self.config.document.draw(stream);
        self.objects_bytes = (self.config.page.draw(stream) - self.document_bytes).max(0.0);
        let on_new_connection = self.config.one_connection_per_page || !self.has_connection;
        self.has_connection = true;
        if on_new_connection && self.config.handshake_bytes > 0.0 {
            self.stage = Stage::Handshake;
            return Response { bytes: self.config.handshake_bytes, on_new_connection };
        }
        self.stage = Stage::Document;
        Response { bytes: self.document_bytes, on_new_connection }
    }

    /// All that was sent has been acknowledged. None if nothing was on its way.
    pub(super) fn delivered(&mut self, stream: &mut Stream) -> Option<Delivered> {
        match self.stage {
            Stage::Handshake => {
                self.stage = Stage::Open;
                Some(Delivered { wait: Duration::ZERO, is_last: false })
            }
            Stage::Document if self.objects_bytes > 0.0 => {
                self.stage = Stage::Parsing;
                Some(Delivered { wait: self.config.parse_s.draw_duration(stream), is_last: false })
            }
            Stage::Document | Stage::Objects => {
                self.stage = Stage::Reading;
                Some(Delivered { wait: self.draw_reading(stream), is_last: true })
            }
            Stage::Reading | Stage::Open | Stage::Parsing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(page: f64, handshake_bytes: f64, one_connection_per_page: bool) -> Pages {
        Pages::new(PagesConfig {
            page: Distribution::Fixed(page),
            document: Distribution::Fixed(1000.0),
            parse_s: Distribution::Fixed(0.1),
            reading_s: Distribution::Fixed(30.0),
            handshake_bytes,
            one_connection_per_page,
        })
    }

    /// The responses of two pages in order, with the waits after them in milliseconds.
    fn two_pages(mut pages: Pages) -> Vec<(f64, bool, u64)> {
        let (mut responses, mut complete) = (Vec::new(), 0);
        let stream = &mut Stream::new(1, "user");
        while complete < 2 {
            assert_eq!(pages.delivered(stream), None, "nothing is on its way");
            let response = pages.request(stream);
            let delivered = pages.delivered(stream).unwrap();
            responses.push((response.bytes, response.on_new_connection, delivered.wait.as_ns() / 1_000_000));
            complete += u32::from(delivered.is_last);
        }
        responses
    }

    #[test]
    fn a_page_is_a_document_and_then_its_objects() {
        let next = [(1000.0, false, 100), (4000.0, false, 30_000)];
        let first = [(1000.0, true, 100), next[1]];
        assert_eq!(two_pages(pages(5000.0, 0.0, false)), [first, next].concat());
    }

    #[test]
    fn a_page_no_heavier_than_its_document_has_no_objects() {
        assert_eq!(two_pages(pages(900.0, 0.0, false)), [(1000.0, true, 30_000), (1000.0, false, 30_000)]);
    }

    #[test]
    fn a_handshake_comes_first_on_each_connection() {
        let on_open = [(1000.0, false, 100), (4000.0, false, 30_000)];
        let handshake = [(4096.0, true, 0)];
        let (once, each) = (pages(5000.0, 4096.0, false), pages(5000.0, 4096.0, true));
        assert_eq!(two_pages(once), [&handshake[..], &on_open, &on_open].concat());
        assert_eq!(two_pages(each), [&handshake[..], &on_open, &handshake, &on_open].concat());
    }
}
