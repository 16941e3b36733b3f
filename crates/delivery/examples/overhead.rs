//! What arrives at a receiver until it has a file, with packets lost at random and no network between:
//!
//! ```sh
//! cargo run --release -p layercast-delivery --example overhead -- MEGABYTES LOSS SEED [TURN]
//! ```
//!
//! With TURN blocks take turns, each for this part of its symbols. The packets of three channels in the ratio 1:1:2, each of 912 bytes after its LCT header.

#![allow(clippy::disallowed_methods, reason = "this measures real time")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration as StdDuration, Instant};

use layercast_core::family::AnyHeader as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Time, WireSeq};
use layercast_delivery::carousel::BlockWindow;
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::{MemoryDisk, MemoryObjects};
use layercast_delivery::object::{Coding, Content, sha256};
use layercast_delivery::reception::{Reception, ReceptionSettings};
use layercast_delivery::sender::Sender;
use layercast_protocols::fixed;
use layercast_protocols::registry::Header;

const SYMBOL: u16 = 908;
const TURNS: [u16; 4] = [0, 2, 1, 2];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (megabytes, loss, seed, turn) = match arguments.as_slice() {
        [megabytes, loss, seed] => (megabytes, loss, seed, None),
        [megabytes, loss, seed, turn] => (megabytes, loss, seed, Some(turn.parse()?)),
        _ => return Err("MEGABYTES LOSS SEED [TURN]".into()),
    };
    let (length, loss, seed): (usize, f64, u64) =
        (megabytes.parse::<usize>()? * 1_000_000, loss.parse()?, seed.parse()?);
    let mut stream = Stream::new(seed, "losses");
    let bytes: Vec<u8> = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let settings = TableSettings {
        symbol: SYMBOL,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        signer: None,
    };
    let mut sender = Sender::new(settings, 3);
    if let Some(turn) = turn {
        sender.set_block_window(BlockWindow { all_up_to: 0, turn, ..BlockWindow::NONE });
    }
    let file = Some((length as u64, Some(sha256(&bytes))));
    let item = Item {
        path: "file".into(),
        file,
        tag: None,
        leaves: Arc::default(),
        parts: None,
        members: Arc::default(),
        attributes: Attributes::default(),
    };
    let change = sender.change(&[item], &[], true, &|_| Vec::new())?;
    let toi = *change.added.first().ok_or("no object")?;
    let Some(Content::File { coding, .. }) = sender.catalogue().object(toi).map(|entry| entry.content) else {
        return Err("no file".into());
    };
    let mut objects = MemoryObjects::default();
    objects.add(toi, coding, bytes);
    let mut reception = Reception::new(MemoryDisk::default(), ReceptionSettings::default());
    let (mut now, mut arrived, mut arrived_bytes, mut table) = (Time::ZERO, 0u64, 0u64, 0u64);
    let (mut worked, mut longest) = (StdDuration::ZERO, StdDuration::ZERO);
    let mut room = [0; 1000];
    for turn in TURNS.into_iter().cycle() {
        now += Duration::from_us(250);
        let load = sender.next(Channel(turn), now, &mut room, &mut objects)?;
        if stream.chance(loss) {
            continue;
        }
        let header = Header::Fixed(fixed::Header { layer: Layer(turn), seq: WireSeq(0) });
        let repr = load.repr(header.to_lct().ok_or("no LCT fields")?, 1);
        arrived += 1;
        arrived_bytes += load.length as u64;
        table += u64::from(load.toi == 0);
        reception.packet(&repr, room.get(..load.length).unwrap_or_default())?;
        let start = Instant::now();
        while reception.work()? {}
        worked += start.elapsed();
        longest = longest.max(start.elapsed());
        if !reception.needs_packets() {
            break;
        }
    }
    let counters = reception.counters();
    let blocks = if let Coding::RaptorQ(oti) = coding { oti.blocks() } else { 0 };
    println!(
        "{blocks} blocks, {} symbols; {arrived} packets arrived, {table} of the table",
        coding.symbols()
    );
    println!(
        "{:.4} of the file's bytes, {} symbols needless, {} blocks decoded",
        arrived_bytes as f64 / length as f64,
        counters.needless,
        counters.decoded
    );
    println!(
        "work {:.2} s, the longest {:.3} s; complete: {}",
        worked.as_secs_f64(),
        longest.as_secs_f64(),
        reception.is_complete()
    );
    Ok(())
}
