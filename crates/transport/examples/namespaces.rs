//! Two measurements behind links of 3, 6 and 12 Mbit/s between network namespaces, which need root:
//! `namespaces file [LAYERS]` sends 50 MB to receivers that start together, join late or are killed and started
//! again; `namespaces three [LAYERS]` sends them to three receivers that start together; `namespaces alone [LAYERS]` has three receivers for three minutes, for comparison with
//! `scenarios/transport/three-links.toml`. LAYERS is `BASE_KBPS FACTOR COUNT`, by default `128 2 8`.
//! `docs/transport.md` has the measurements.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]

#[path = "../tests/network/lab/mod.rs"]
mod lab;

use std::error::Error;
use std::fs;
use std::thread;
use std::time::Duration;

use lab::transfer::{Finished, LINKS_MBPS, TempDir, receiver, transfer, transfer_to_three};
use lab::{Lab, ROLE};

fn main() -> Result<(), Box<dyn Error>> {
    if let Ok(role) = std::env::var(ROLE) {
        lab::child::play(&role);
        return Ok(());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let layers = arguments.get(1).map_or("128 2 8", String::as_str);
    // A lab starts this program again without arguments, in a role.
    let lab = Lab::new(&LINKS_MBPS, &[])?;
    match arguments.first().map(String::as_str) {
        Some("file") => fifty_megabytes(&lab, layers),
        Some("three") => fifty_megabytes_to_three(&lab, layers),
        Some("alone") => alone_for_three_minutes(&lab, layers),
        _ => return Err("namespaces file|three|alone [LAYERS]".into()),
    }
    Ok(())
}

fn fifty_megabytes(lab: &Lab, layers: &str) {
    let within = Duration::from_secs(1200);
    let finished = transfer(lab, "large", 50_000_000, layers, Duration::from_secs(60), 60, within);
    let [first, middle, last] = LINKS_MBPS;
    let further = [(last, ", restarted at 60 s"), (middle, ", from 60 s")];
    show(&finished, [(first, ""), (middle, ""), (last, "")].into_iter().chain(further));
}

fn fifty_megabytes_to_three(lab: &Lab, layers: &str) {
    let finished = transfer_to_three(lab, "three", 50_000_000, layers, 60, Duration::from_secs(1200));
    show(&finished, LINKS_MBPS.into_iter().map(|link| (link, "")));
}

fn show(finished: &[Finished], links: impl Iterator<Item = (u32, &'static str)>) {
    for (one, (link, which)) in finished.iter().zip(links) {
        println!(
            "{link} Mbit/s{which}: complete after {:.0} s, {:.2} Mbit/s over the last 60 s, {:.0} %",
            one.took_s,
            one.goodput_bps / 1e6,
            one.goodput_bps / 1e4 / f64::from(link)
        );
    }
}

/// The three receivers alone, from 60 to 180 s.
fn alone_for_three_minutes(lab: &Lab, layers: &str) {
    let temp = TempDir::new("alone");
    let file = temp.0.join("file");
    fs::write(&file, vec![7; 250_000_000]).unwrap();
    let source = lab.start("source", &format!("send {} {layers}", file.display()), &temp.0.join("send.log"));
    let receivers: Vec<_> =
        (0..3).map(|number| receiver(lab, &temp, number, &format!("r{number}"))).collect();
    thread::sleep(Duration::from_secs(182));
    for (mut one, link) in receivers.into_iter().zip(LINKS_MBPS) {
        one.child.kill().unwrap();
        one.child.wait().unwrap();
        let log = fs::read_to_string(&one.log).unwrap();
        let (mut count, mut goodput, mut level, mut loss) = (0.0, 0.0, 0.0, 0.0);
        for line in log.lines().filter(|line| line.starts_with("AT")) {
            let words: Vec<_> = line.split(' ').collect();
            let number = |index: usize| words[index].parse::<f64>().unwrap_or(-1.0);
            if (60.0..180.0).contains(&number(1)) {
                count += 1.0;
                goodput += number(5);
                level += number(3);
                loss += number(9);
            }
        }
        println!(
            "{link} Mbit/s: goodput {:.0} kbit/s, mean level {:.2}, loss estimated {:.2} %",
            goodput / count / 1e3,
            level / count,
            loss / count * 100.0
        );
    }
    drop(source);
}
