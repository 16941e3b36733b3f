//! The kernel's TCP as other traffic: one flow without an end, or short transfers as a browser has them.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use layercast_core::stream::Stream;
use serde_json::json;
use socket2::{Domain, Socket, Type};

/// How often a sink says how many bytes came.
const SAY_EVERY: Duration = Duration::from_millis(500);
/// How much is written or read by one call.
const PART: usize = 1 << 16;
/// The maximum time for one short transfer.
const TRANSFER_MAX: Duration = Duration::from_secs(60);

/// The options of a sink.
#[derive(Args, Clone, Debug)]
pub struct SinkOptions {
    /// The port to listen to
    pub port: u16,
}

/// The options of a source.
#[derive(Args, Clone, Debug)]
pub struct SourceOptions {
    /// The sink
    pub to: SocketAddr,

    /// The congestion control of the kernel
    #[arg(long, default_value = "cubic")]
    pub control: String,

    /// Short transfers of so many bytes, in place of one without an end
    #[arg(long, value_name = "BYTES")]
    pub transfers: Option<u64>,

    /// The mean time between the begins of two transfers, in ms; gaps are exponentially distributed
    #[arg(long, default_value_t = 500.0)]
    pub gap_ms: f64,

    /// The seed of the gaps
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Takes what comes, and prints twice a second how many bytes came. A connection that ends is confirmed by one byte.
///
/// # Errors
/// If the port cannot be used.
pub fn sink(options: &SinkOptions) -> Result<()> {
    let listener =
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, options.port)).context("the port of the sink")?;
    let bytes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&bytes);
    thread::spawn(move || {
        for connection in listener.incoming().filter_map(io::Result::ok) {
            let count = Arc::clone(&count);
            thread::spawn(move || take(connection, &count));
        }
    });
    let begin = Instant::now();
    loop {
        let line = json!({
            "event": "progress", "time_s": begin.elapsed().as_secs_f64(), "bytes": bytes.load(Ordering::Relaxed),
        });
        println!("{line}");
        thread::sleep(SAY_EVERY);
    }
}

fn take(mut connection: TcpStream, count: &AtomicU64) {
    let mut room = vec![0; PART];
    while let Ok(came @ 1..) = connection.read(&mut room) {
        count.fetch_add(came as u64, Ordering::Relaxed);
    }
    let _ = connection.write_all(&[1]);
}

fn connect(options: &SourceOptions) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(options.to), Type::STREAM, None)?;
    socket.set_tcp_congestion(options.control.as_bytes())?;
    socket.connect(&options.to.into())?;
    Ok(socket.into())
}

/// Sends until it is ended.
///
/// # Errors
/// If the sink cannot be reached, or the kernel lacks the congestion control.
pub fn source(options: &SourceOptions) -> Result<()> {
    let Some(bytes) = options.transfers else {
        let mut connection = connect(options).with_context(|| format!("TCP with {}", options.control))?;
        let zeros = vec![0; PART];
        loop {
            connection.write_all(&zeros)?;
        }
    };
    let mut stream = Stream::new(options.seed, "transfers");
    let begin = Instant::now();
    let mut at = Duration::ZERO;
    loop {
        at += Duration::from_secs_f64(-(1.0 - stream.uniform()).ln() * options.gap_ms * 1e-3);
        thread::sleep(at.saturating_sub(begin.elapsed()));
        let options = options.clone();
        thread::spawn(move || {
            let began = Instant::now();
            let seconds = transfer(&options, bytes).map(|()| began.elapsed().as_secs_f64());
            println!("{}", json!({ "event": "transfer", "seconds": seconds.ok() }));
        });
    }
}

/// One short transfer, from the first packet until its end is confirmed.
fn transfer(options: &SourceOptions, bytes: u64) -> io::Result<()> {
    let mut connection = connect(options)?;
    connection.set_read_timeout(Some(TRANSFER_MAX))?;
    connection.set_write_timeout(Some(TRANSFER_MAX))?;
    io::copy(&mut io::repeat(0).take(bytes), &mut connection)?;
    connection.shutdown(Shutdown::Write)?;
    connection.read_exact(&mut [0])
}
