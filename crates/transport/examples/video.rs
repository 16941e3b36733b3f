//! Temporal layers of an H.264 video for `layercast send --stream --units length`, and back.
//!
//! ```text
//! video split BASE MIDDLE REST < annex-b      frames to three files or pipes
//! video merge SECONDS OUT.h264 IN...          the layers that there are, as one video
//! ```
//!
//! The video must have groups of one reference frame and three others that nobody refers to (x264: `bframes=3:b-adapt=0:
//! b-pyramid=none:aud=1`). Reference frames are the base layer, the middle one of each three the next layer, the other two the
//! last; so each set of layers from the base up can be decoded. A unit is a number, the time at which it was complete (ns since
//! 1970), and the frame. `merge` waits SECONDS for frames of upper layers that belong before one that is here, and prints how
//! long units were on their way, which needs both on one host.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Types of NAL units (ITU-T H.264, table 7-1).
const SLICE: u8 = 1;
const IDR: u8 = 5;
const DELIMITER: u8 = 9;

/// The number and the time before a frame.
const HEAD: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [command, layers @ ..] if command == "split" && layers.len() == 3 => split(layers),
        [command, seconds, out, inputs @ ..] if command == "merge" && !inputs.is_empty() => {
            merge(Duration::from_secs_f64(seconds.parse()?), out, inputs)
        }
        _ => Err("video split BASE MIDDLE REST | video merge SECONDS OUT.h264 IN...".into()),
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The layer of a frame, by whether it may be referred to and how many came since the last such frame.
fn layer_of(frame: &[u8], since_reference: &mut usize) -> usize {
    let slices = nal_units(frame).filter_map(|at| frame.get(at).copied());
    let is_reference = slices.filter(|head| matches!(head & 0x1f, SLICE | IDR)).any(|head| head & 0x60 != 0);
    if is_reference {
        *since_reference = 0;
        return 0;
    }
    *since_reference += 1;
    if *since_reference == 2 { 1 } else { 2 }
}

/// Where NAL units begin: after the start codes.
fn nal_units(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.windows(3).enumerate().filter(|(_, code)| *code == [0, 0, 1]).map(|(at, _)| at + 3)
}

/// Where the first frame ends: where the next delimiter begins, with a start code of four bytes.
fn frame_end(bytes: &[u8]) -> Option<usize> {
    nal_units(bytes)
        .filter(|at| bytes.get(*at).is_some_and(|head| head & 0x1f == DELIMITER))
        .map(|at| at.saturating_sub(4))
        .find(|at| *at > 0)
}

fn split(layers: &[String]) -> Result<(), Box<dyn Error>> {
    let mut outputs = Vec::new();
    for path in layers {
        outputs.push(File::options().write(true).create(true).truncate(true).open(path)?);
    }
    let (mut input, mut bytes, mut part) = (io::stdin().lock(), Vec::new(), vec![0; 1 << 16]);
    let (mut number, mut since_reference) = (0u64, 0);
    let mut put = |frame: &[u8]| -> io::Result<()> {
        let layer = layer_of(frame, &mut since_reference);
        let length = u32::try_from(frame.len() + HEAD).unwrap_or(u32::MAX);
        let unit =
            [&length.to_be_bytes()[..], &number.to_be_bytes(), &now_ns().to_be_bytes(), frame].concat();
        number += 1;
        outputs.get_mut(layer).map_or(Ok(()), |output| output.write_all(&unit))
    };
    loop {
        let read = input.read(&mut part)?;
        bytes.extend_from_slice(part.get(..read).unwrap_or_default());
        while let Some(end) = frame_end(&bytes) {
            put(bytes.get(..end).unwrap_or_default())?;
            bytes.drain(..end);
        }
        if read == 0 {
            if !bytes.is_empty() {
                put(&bytes)?;
            }
            return Ok(());
        }
    }
}

/// A unit of a layer, and how long it was on its way.
struct Arrived {
    layer: usize,
    number: u64,
    delay: Duration,
    frame: Vec<u8>,
}

fn read_units(layer: usize, path: &str, to: &mpsc::Sender<Arrived>) -> io::Result<()> {
    let mut input = File::open(path)?;
    let mut prefix = [0; 4];
    while input.read_exact(&mut prefix).is_ok() {
        let mut unit = vec![0; u32::from_be_bytes(prefix) as usize];
        input.read_exact(&mut unit)?;
        let now = now_ns();
        let Some((number, rest)) = unit.split_first_chunk() else { continue };
        let Some((sent, frame)) = rest.split_first_chunk() else { continue };
        let delay = Duration::from_nanos(now.saturating_sub(u64::from_be_bytes(*sent)));
        let arrived = Arrived { layer, number: u64::from_be_bytes(*number), delay, frame: frame.to_vec() };
        if to.send(arrived).is_err() {
            break;
        }
    }
    Ok(())
}

fn merge(wait: Duration, out: &str, inputs: &[String]) -> Result<(), Box<dyn Error>> {
    let (to, from) = mpsc::channel();
    for (layer, path) in inputs.iter().cloned().enumerate() {
        let to = to.clone();
        thread::spawn(move || {
            if let Err(error) = read_units(layer, &path, &to) {
                eprintln!("{path}: {error}");
            }
        });
    }
    drop(to);
    let mut out = BufWriter::new(File::create(out)?);
    let mut waiting: BTreeMap<u64, (Instant, Vec<u8>)> = BTreeMap::new();
    let mut delays = vec![Vec::new(); inputs.len()];
    // The base layer begins with a reference frame; what comes before it cannot be decoded.
    let (mut next, mut written) = (None, Vec::new());
    loop {
        let arrived = from.recv_timeout(Duration::from_millis(20));
        let is_over = matches!(arrived, Err(RecvTimeoutError::Disconnected));
        if let Ok(Arrived { layer, number, delay, frame }) = arrived {
            delays.get_mut(layer).into_iter().for_each(|delays| delays.push(delay));
            if next.is_none()
                && layer == 0
                && nal_units(&frame).any(|at| frame.get(at).is_some_and(|head| head & 0x1f == IDR))
            {
                next = Some(number);
            }
            if next.is_some_and(|next| number >= next) {
                waiting.insert(number, (Instant::now(), frame));
            }
        }
        while let Some(entry) = waiting.first_entry() {
            let (since, _) = entry.get();
            if Some(*entry.key()) != next && since.elapsed() < wait && !is_over {
                break;
            }
            next = Some(entry.key() + 1);
            out.write_all(&entry.remove().1)?;
            written.push(Instant::now());
        }
        if is_over {
            break;
        }
    }
    out.flush()?;
    for (layer, delays) in delays.iter_mut().enumerate() {
        if delays.is_empty() {
            println!("layer {layer}: no unit");
            continue;
        }
        delays.sort_unstable();
        let ms = |share: f64| {
            let at = ((delays.len() as f64 * share) as usize).min(delays.len().saturating_sub(1));
            delays.get(at).map_or(f64::NAN, |delay| delay.as_secs_f64() * 1e3)
        };
        println!(
            "layer {layer}: {} units, glass to glass median {:.1} ms, 95 % {:.1} ms, longest {:.1} ms",
            delays.len(),
            ms(0.5),
            ms(0.95),
            ms(1.0)
        );
    }
    let end = written.last().copied();
    let last = |seconds: u64| {
        let is_recent = |at: &&Instant| end.is_some_and(|end| end - **at < Duration::from_secs(seconds));
        written.iter().filter(is_recent).count() as f64 / seconds as f64
    };
    println!("{} frames; {:.1} per second over the last 15 s", written.len(), last(15));
    Ok(())
}
