//! `--metrics`: a page of measures for Prometheus, by a server of one request at a time.

use std::fmt::{Display, Write as _};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long one connection may take in all.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 8 << 10;
/// The pause after a connection that could not be accepted, such as for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// The format of the page (Prometheus text format 0.0.4).
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The pages that are served now: the measures, and if there is one a status as JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served(Arc<Mutex<(String, Option<String>)>>);

impl Served {
    /// Replaces the page.
    pub(crate) fn set(&self, page: Page) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = page.0;
    }

    /// Replaces the status.
    pub(crate) fn set_status(&self, json: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(json);
    }

    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn status(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

/// Serves a page in a thread of its own, until the program ends. Returns the address, with the port that the system
/// chose if 0 was requested.
///
/// # Errors
/// If nothing can listen there.
pub(crate) fn serve(address: SocketAddr, page: Served) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let accept = move || {
        for stream in listener.incoming() {
            match stream {
                // A client that goes away harms no one.
                Ok(stream) => drop(answer(stream, &page)),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    };
    thread::Builder::new().name("metrics".to_owned()).spawn(accept)?;
    Ok(address)
}

/// Reads a request and answers it.
fn answer(mut stream: TcpStream, page: &Served) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = head(&mut stream, end)?;
    let (status, body, wants_body) = match &request {
        Some(request) => response(request, page),
        None => ("431 Request Header Fields Too Large", "the request is too long\n".to_owned(), true),
    };
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {FORMAT}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    if wants_body {
        text.push_str(&body);
    }
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    // Unread bytes would reset the connection before the client has read the answer.
    let mut rest = [0; LONGEST_REQUEST];
    for _ in 0..LONGEST_REQUEST {
        stream.set_read_timeout(Some(left(end)?))?;
        if stream.read(&mut rest)? == 0 {
            break;
        }
    }
    Ok(())
}

fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The request up to its empty line; none if it is too long. What follows is not read.
fn head(stream: &mut TcpStream, end: Instant) -> io::Result<Option<Vec<u8>>> {
    let (mut request, mut part) = (Vec::with_capacity(1024), [0; 1024]);
    loop {
        stream.set_read_timeout(Some(left(end)?))?;
        let count = stream.read(&mut part)?;
        request.extend_from_slice(part.get(..count).unwrap_or_default());
        if count == 0 || request.windows(4).any(|four| four == b"\r\n\r\n") {
            return Ok(Some(request));
        }
        if request.len() > LONGEST_REQUEST {
            return Ok(None);
        }
    }
}

/// The status, the body, and whether the body is sent.
fn response(request: &[u8], page: &Served) -> (&'static str, String, bool) {
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let words: Vec<&str> = std::str::from_utf8(line).unwrap_or_default().split(' ').collect();
    match words.as_slice() {
        [method @ ("GET" | "HEAD"), target, "HTTP/1.0" | "HTTP/1.1"] => {
            let wants_body = *method == "GET";
            match target.split('?').next() {
                Some("/metrics") => ("200 OK", page.get(), wants_body),
                Some("/status") if let Some(status) = page.status() => ("200 OK", status, wants_body),
                _ => ("404 Not Found", "the page is /metrics\n".to_owned(), wants_body),
            }
        }
        [_, _, "HTTP/1.0" | "HTTP/1.1"] => {
            ("405 Method Not Allowed", "this server answers GET\n".to_owned(), true)
        }
        _ => ("400 Bad Request", "this is not a request of HTTP/1.1\n".to_owned(), true),
    }
}

/// A page in the making.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Adds a measure that only grows while a session lasts.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "counter");
        let _ = writeln!(self.0, "layercast_{name} {value}");
    }

    /// Adds counters that differ in a label.
    pub(crate) fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, impl Display)>,
    ) {
        self.head(name, help, "counter");
        for (of, value) in values {
            let _ = writeln!(self.0, "layercast_{name}{{{label}=\"{}\"}} {value}", escaped(of));
        }
    }

    /// Adds a measure that goes up and down; nothing if it is unknown.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.head(name, help, "gauge");
            let _ = writeln!(self.0, "layercast_{name} {value}");
        }
    }

    /// Adds what does not change, as labels of a 1.
    pub(crate) fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) {
        self.head(name, help, "gauge");
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(self.0, "layercast_{name}{{{}}} 1", labels.join(","));
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP layercast_{name} {help}\n# TYPE layercast_{name} {kind}");
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with one counter on its page.
    fn server() -> SocketAddr {
        let served = Served::default();
        let mut page = Page::default();
        page.counter("sent_packets_total", "Packets sent.", 7);
        served.set(page);
        serve(SocketAddr::from(([127, 0, 0, 1], 0)), served).expect("a free port")
    }

    fn ask(server: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // The server may have answered and closed already.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    const PAGE: &str = "# HELP layercast_sent_packets_total Packets sent.\n\
                        # TYPE layercast_sent_packets_total counter\nlayercast_sent_packets_total 7\n";

    #[test]
    fn a_request_gets_the_page() {
        let answer = ask(server(), b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", PAGE.len())), "{head}");
        assert_eq!(body, PAGE);
        let head_only = ask(server(), b"HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head_only.starts_with("HTTP/1.1 200 OK") && head_only.ends_with("\r\n\r\n"), "{head_only}");
    }

    #[test]
    fn other_requests_and_garbage_are_refused_and_the_next_is_answered() {
        let server = server();
        let long = [b"GET /metrics HTTP/1.1\r\n".as_slice(), &[b'x'; 20_000]].concat();
        let cases: [(&[u8], &str); 8] = [
            (b"GET / HTTP/1.1\r\n\r\n", "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"\r\n\r\n", "400"),
            (b"GET /metrics", "400"),
            (b"GET /metrics SPDY/9\r\n\r\n", "400"),
            (b"\x16\x03\x01\x02\x00\xff\xfe\r\n\r\n", "400"),
            (b"", "400"),
            (&long, "431"),
        ];
        for (request, status) in cases {
            let answer = ask(server, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
        }
        assert!(ask(server, b"GET /metrics HTTP/1.0\r\n\r\n").ends_with(PAGE));
    }

    #[test]
    fn many_connections_at_once_are_all_answered() {
        let server = server();
        let clients: Vec<_> =
            (0..64).map(|_| thread::spawn(move || ask(server, b"GET /metrics HTTP/1.1\r\n\r\n"))).collect();
        for client in clients {
            assert!(client.join().expect("an answer").ends_with(PAGE));
        }
    }

    #[test]
    fn a_client_that_says_nothing_keeps_the_next_waiting_for_a_while_only() {
        let server = server();
        let mut silent = TcpStream::connect(server).expect("a connection");
        assert!(ask(server, b"GET /metrics HTTP/1.1\r\n\r\n").ends_with(PAGE));
        let mut end = [0; 1];
        assert!(matches!(silent.read(&mut end), Ok(0) | Err(_)), "its connection is closed");
    }

    #[test]
    fn labels_are_escaped_and_unknown_values_left_out() {
        let mut page = Page::default();
        page.info("info", "What.", &[("name", "a \"b\"\\\n")]);
        page.gauge("rtt_seconds", "Round-trip time.", None);
        page.gauge("level", "Level.", Some(f64::NAN));
        assert_eq!(
            page.0,
            "# HELP layercast_info What.\n# TYPE layercast_info gauge\n\
             layercast_info{name=\"a \\\"b\\\"\\\\\\n\"} 1\n"
        );
    }
}
