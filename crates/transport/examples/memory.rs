//! The memory of a source: `memory FILE` creates every block's encoder and prints the resident set, then
//! how long repair symbols take. `docs/transport.md` has the measurements.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use layercast_delivery::packet::PayloadId;
use layercast_transport::file::FileSource;

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("memory FILE")?;
    let file = FileSource::open(Path::new(&path), 900)?;
    let oti = file.oti();
    println!(
        "{} bytes in {} blocks of {} symbols: {}",
        oti.length(),
        oti.blocks(),
        oti.block_symbols(0),
        resident()
    );
    let mut room = vec![0; oti.symbol_size()];
    let mut repair = |round: u32| -> Result<(), Box<dyn Error>> {
        let begin = Instant::now();
        for block in 0..oti.blocks() {
            let id = PayloadId::new(block, oti.block_symbols(block) + round).ok_or("id")?;
            file.symbol(id, &mut room)?;
        }
        println!("round {round} of repair in {:?}: {}", begin.elapsed(), resident());
        Ok(())
    };
    (0..4).try_for_each(&mut repair)
}
