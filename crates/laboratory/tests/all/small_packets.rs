//! Small packets in sessions of layers: virtual packets of the size of TCP's give back what TCP's equation, or a rule that
//! counts losses, takes for them (thesis, section 4.3.4).

use crate::running::{run_text, runs_long};

/// A path with losses alone: 1 % of packets of any size, and a round-trip time of 100 ms.
const NETWORK: &str = r#"
name = "Small packets"
duration = "160 s"
replications = 2
windows = [["60 s", "end"]]

[links]
S-R = { rate = "100 Mbit/s", delay = "50 ms", loss = { forward = 0.01 }, queue = { limit = "unlimited" } }

[sessions.layered]
protocol = "elm"
source = "S"
receivers = ["R"]
layers = { scheme = "doubling", base = "64 kbit/s", count = 8 }
packet_size = "1000 bytes"
"#;

fn kbps(protocol: &str, sets: &[&str]) -> f64 {
    let protocol = format!("session.layered.protocol={protocol}");
    run_text("small-packets", NETWORK, &[&[protocol.as_str()], sets].concat()).kbps("layered@R")
}

/// With packets of a fifth of the size, the same loss of packets allows an equation a fifth of the rate, and RLC, whose
/// rate grows with the root of the size (`docs/protocols/rlc.md`), 0.45 of it; with virtual packets of the whole size it
/// allows all of it. By the representative rule a virtual packet is lost as often as a real one. Levels double and
/// are held for seconds, so two runs of 100 s say little: over eight seeds small packets had 0.15 to 0.25 (ELM) and 0.40 to 0.48
/// (RLC) of the rate, virtual ones 0.66 to 1.25 and 0.87 to 1.30.
#[test]
fn virtual_packets_give_small_ones_the_rate_of_large_ones() {
    // SMCC's 32 channels of small packets take seconds.
    let protocols = if runs_long() { &["elm", "rlc", "smcc"][..] } else { &["elm", "rlc"] };
    for protocol in protocols {
        let large = kbps(protocol, &[]);
        let small = kbps(protocol, &["session.layered.packet_size=200 bytes"]);
        let sets =
            ["session.layered.packet_size=200 bytes", "session.layered.options.virtual_size=1000 bytes"];
        let virtual_packets = kbps(protocol, &sets);
        assert!(small < 0.6 * large, "{protocol}: {small} of {large}");
        assert!((0.6..1.6).contains(&(virtual_packets / large)), "{protocol}: {virtual_packets} of {large}");
    }
}
