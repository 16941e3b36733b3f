//! Writes the files of two invented experiments, to look at: `cargo run --example made_up_report -- DIR`.

use std::error::Error;
use std::path::PathBuf;

use layercast_laboratory::results::{RunCost, Summary, table, write_all};

#[path = "../tests/all/made_up.rs"]
mod made_up;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    for (name, crowded) in [("plain", false), ("crowded", true)] {
        let experiment = made_up::experiment(crowded);
        let replications = made_up::replications(&experiment, 15);
        let summary =
            Summary::new(&experiment, &replications, RunCost { wall_s: 4.0, peak_rss_bytes: None })?;
        println!("{}", table::render(&experiment, &summary, table::WIDTH));
        write_all(&dir.join(name), &experiment, &replications, &summary)?;
    }
    Ok(())
}
