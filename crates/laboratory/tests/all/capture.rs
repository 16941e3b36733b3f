//! Captures: read back by the library that wrote them, and by a foreign reader.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::running::{Ran, run_observed};
use etherparse::{SlicedPacket, TransportSlice};
use layercast_laboratory::run::Observation;
use layercast_testkit::tshark::dissected;
use pcap_file::pcap::PcapReader;
use pcap_file::{DataLink, TsResolution};

/// The dissector checks the IP checksum too.
const CHECKSUM: [&str; 2] = ["-o", "ip.check_checksum:TRUE"];

/// Every kind of packet crosses G-H.
const SCENARIO: &str = r#"
name = "all kinds of packets"
duration = "30 s"
series_bin = "1 s"

[links]
S-G = { rate = "100 Mbit/s", delay = "1 ms" }
G-H = { rate = "3 Mbit/s", delay = "10 ms", queue = { limit = "20 packets" } }
H-R1 = { rate = "100 Mbit/s", delay = "1 ms" }
H-R2 = { rate = "100 Mbit/s", delay = "2 ms" }

[defaults.session]
source = "S"
layers = { scheme = "doubling", base = "64 kbit/s", count = 6 }
leave_latency = "100 ms"

[sessions.elm]
protocol = "elm"
receivers = ["R1", "R2"]

[sessions.rlc]
protocol = "rlc"
receivers = ["R1"]

[sessions.fixed]
protocol = "fixed"
receivers = ["R2"]
stop = "20 s"

[flows.sack]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R1"

[flows.reno]
protocol = "tcp-reno"
profile = "ns2"
from = "S"
to = "R2"
start = "1 s"

[flows.vegas]
protocol = "tcp-vegas"
profile = "ns2"
from = "R2"
to = "S"
"#;

/// Both directions of G-H.
const LINKS: [usize; 2] = [2, 3];

fn captured(name: &str) -> (Ran, [PathBuf; 2]) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let observation = Observation {
        directory: directory.clone(),
        captures: LINKS.to_vec(),
        capture_replication: 2,
        notes: false,
    };
    let ran = run_observed("all-kinds.toml", SCENARIO, &["replications=2"], 2, Some(observation));
    (ran, ["capture-G-H.pcap", "capture-H-G.pcap"].map(|file| directory.join(file)))
}

#[test]
fn a_capture_reads_back_and_has_what_the_link_sent() {
    let (ran, files) = captured("capture-read-back");
    for (file, link) in files.iter().zip(LINKS) {
        let mut reader = PcapReader::new(File::open(file).unwrap()).unwrap();
        assert_eq!(reader.header().datalink, DataLink::IPV4);
        assert_eq!(reader.header().ts_resolution, TsResolution::NanoSecond);
        let (mut bytes, mut last) = (0u64, std::time::Duration::ZERO);
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        while let Some(packet) = reader.next_packet() {
            let packet = packet.unwrap();
            assert!(packet.timestamp >= last, "in the order of time");
            last = packet.timestamp;
            bytes += u64::from(packet.orig_len);
            let total = u16::from_be_bytes([packet.data[2], packet.data[3]]);
            assert_eq!(u32::from(total), packet.orig_len);
            // The payload is not captured, so the reader has to accept that it is shorter.
            let sliced = etherparse::LaxSlicedPacket::from_ip(&packet.data).unwrap();
            let kind = match &sliced.transport {
                Some(TransportSlice::Tcp(_)) => "tcp",
                Some(TransportSlice::Udp(_)) => "udp",
                _ => "pim",
            };
            *kinds.entry(kind).or_default() += 1;
        }
        let window = &ran.outcome.replications[1].windows[0].links[link];
        let rate_bps = ran.outcome.experiment.links[link].rate_kbps * 1e3;
        let sent = window.utilisation * rate_bps * 30.0 / 8.0;
        // Some control packets are a few bytes longer or shorter than the simulator has them: 12
        // bytes of options on a SYN, 4 on an acknowledgement with blocks, 10 on a graft.
        let packets: u32 = kinds.values().sum();
        assert!((bytes as f64 - sent).abs() <= 12.0 * f64::from(packets), "{bytes} of {sent} bytes");
        assert!(link == LINKS[1] || (bytes as f64 - sent).abs() <= 40.0 * 12.0, "{bytes} of {sent} bytes");
        let expected: &[&str] = if link == LINKS[0] { &["tcp", "udp"] } else { &["pim", "tcp", "udp"] };
        assert_eq!(kinds.keys().copied().collect::<Vec<_>>(), expected);
        assert!(SlicedPacket::from_ip(&[]).is_err(), "the reader does find fault");
    }
}

/// A connection that agrees on ECN over a queue that marks, and a stream at a constant rate next to it.
const MARKED: &str = r#"
name = "marks and datagrams"
duration = "10 s"

[links]
S-R = { rate = "2 Mbit/s", delay = "10 ms", queue = { kind = "codel", ecn = true } }

[flows.tcp]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R"
window = 100
ecn = true

[flows.stream]
protocol = "udp"
from = "S"
to = "R"
rate = "400 kbit/s"
packet_size = "500 bytes"
"#;

#[test]
fn marks_are_answered_and_datagrams_shown_in_a_capture() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture-marked");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let observation = Observation {
        directory: directory.clone(),
        captures: vec![0, 1],
        capture_replication: 1,
        notes: false,
    };
    run_observed("marked.toml", MARKED, &["replications=1"], 1, Some(observation));
    let fields = [
        "tcp.flags.syn",
        "tcp.flags.ece",
        "tcp.flags.cwr",
        "udp.dstport",
        "udp.length",
        "ip.len",
        "ip.dsfield.ecn",
        "_ws.malformed",
    ];
    let reported = ["capture-S-R.pcap", "capture-R-S.pcap"]
        .map(|file| dissected(&directory.join(file), 5500, &CHECKSUM, &fields));
    let [Some(forward), Some(backward)] = reported else { return };
    assert!(forward.iter().chain(&backward).all(|line| line[7].is_empty()));
    let truth = |text: &str| matches!(text, "1" | "True");
    let count = |lines: &[Vec<String>], fits: &dyn Fn(&[String]) -> bool| {
        lines.iter().filter(|line| fits(line.as_slice())).count()
    };
    let is_tcp = |line: &[String]| !line[0].is_empty();
    // 100 packets in a second, a last one perhaps not on its way yet.
    let datagrams = count(&forward, &|line| line[3] == "9" && line[4] == "480" && line[5] == "500");
    assert!((999..=1001).contains(&datagrams), "{datagrams}");
    // The opening packets agree on ECN: both flags, then one.
    let opens = |line: &[String]| is_tcp(line) && truth(&line[0]);
    assert_eq!(count(&forward, &|line| opens(line) && truth(&line[1]) && truth(&line[2])), 1);
    assert_eq!(count(&backward, &|line| opens(line) && truth(&line[1]) && !truth(&line[2])), 1);
    // The queue marks as packets leave it, so the capture shows the mark. Its echo comes until the reduction is confirmed.
    let marked = count(&forward, &|line| is_tcp(line) && line[6] == "3");
    let cuts = count(&forward, &|line| is_tcp(line) && !truth(&line[0]) && truth(&line[2]));
    let echoes = count(&backward, &|line| is_tcp(line) && !truth(&line[0]) && truth(&line[1]));
    assert!(marked > 3 && cuts > 3, "{marked} marks, {cuts} cuts");
    assert!(echoes > cuts && cuts <= marked, "{marked} marks, {echoes} echoes, {cuts} cuts");
    assert_eq!(count(&forward, &|line| is_tcp(line) && !truth(&line[0]) && truth(&line[1])), 0);
}

/// TCP alone, both ways, with losses of a short queue and connections one after another. Both directions of G-R
/// have a rate at which the dissector does not take a resent packet for one that was overtaken.
const ONLY_TCP: &str = r#"
name = "only TCP"
duration = "20 s"

[links]
S-G = { rate = "100 Mbit/s", delay = "1 ms" }
G-R = { rate = "2 Mbit/s", delay = "20 ms", queue = { limit = "10 packets" }, loss = 0.003 }

[flows.down]
protocol = "tcp-cubic"
from = "S"
to = "R"

[flows.up]
protocol = "tcp-sack"
from = "R"
to = "S"

[flows.pages]
protocol = "tcp-cubic"
from = "S"
to = "R"
size = "60 kB"
gap = "1 s"
"#;

fn only_tcp(name: &str, profile: &str) -> [PathBuf; 2] {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let observation = Observation {
        directory: directory.clone(),
        captures: LINKS.to_vec(),
        capture_replication: 1,
        notes: false,
    };
    let sets = ["down", "up", "pages"].map(|flow| format!("flow.{flow}.profile={profile}"));
    let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    sets.push("replications=1");
    run_observed("only-tcp.toml", ONLY_TCP, &sets, 1, Some(observation));
    ["capture-G-R.pcap", "capture-R-G.pcap"].map(|file| directory.join(file))
}

/// A segment as the capture has it.
struct Segment {
    at_ms: f64,
    /// The way it goes: its ports.
    ports: (u16, u16),
    is_syn: bool,
    seq: u32,
    payload: u32,
    ack: u32,
    /// Its timestamp and the echo.
    clock: Option<(u32, u32)>,
}

/// All segments of a file, in its order.
fn segments(file: &Path) -> Vec<Segment> {
    let mut reader = PcapReader::new(File::open(file).unwrap()).unwrap();
    let mut found = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        let sliced = etherparse::LaxSlicedPacket::from_ip(&packet.data).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("not TCP") };
        let clock = tcp.options_iterator().find_map(|option| match option.unwrap() {
            etherparse::TcpOptionElement::Timestamp(value, echo) => Some((value, echo)),
            _ => None,
        });
        found.push(Segment {
            at_ms: packet.timestamp.as_secs_f64() * 1e3,
            ports: (tcp.source_port(), tcp.destination_port()),
            is_syn: tcp.syn(),
            seq: tcp.sequence_number(),
            payload: packet.orig_len - 20 - tcp.slice().len() as u32,
            ack: tcp.acknowledgment_number(),
            clock,
        });
    }
    found
}

/// The parts of a file between one SYN and the next of the same connection.
fn connections(segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    let mut open: BTreeMap<(u16, u16), Vec<Segment>> = BTreeMap::new();
    let mut done = Vec::new();
    for segment in segments {
        let present = open.entry(segment.ports).or_default();
        if segment.is_syn && present.iter().any(|earlier| earlier.seq != segment.seq) {
            done.push(std::mem::take(present));
        }
        present.push(segment);
    }
    done.extend(open.into_values());
    done
}

#[test]
fn payloads_of_tcp_tile_the_sequence_numbers_and_acknowledgements_have_none() {
    for (profile, payload) in [("linux", 1448), ("ns2", 960)] {
        let files = only_tcp(&format!("capture-tiles-{profile}"), profile);
        let mut data_of = BTreeMap::new();
        for file in &files {
            let found = connections(segments(file));
            // One long connection each way, and several pages one after another on the same ports.
            assert!(found.len() >= 5, "{} connections", found.len());
            for connection in found {
                let first = connection[0].seq;
                let has_data = connection.iter().any(|segment| segment.payload > 0);
                let boundary = |byte: u32| byte == 1 || byte.wrapping_sub(1).is_multiple_of(payload);
                for segment in &connection {
                    if !has_data || segment.is_syn {
                        assert_eq!(segment.payload, 0, "an acknowledgement or a SYN has data");
                        continue;
                    }
                    assert_eq!(segment.payload, payload);
                    assert!(boundary(segment.seq.wrapping_sub(first)), "{}", segment.seq);
                }
                if has_data {
                    let starts: std::collections::BTreeSet<u32> =
                        connection.iter().map(|segment| segment.seq.wrapping_sub(first)).collect();
                    data_of.insert((connection[0].ports, first), starts);
                }
            }
        }
        for file in &files {
            for segment in segments(file).iter().filter(|segment| segment.payload == 0 && !segment.is_syn) {
                let there = (segment.ports.1, segment.ports.0);
                let known = data_of.iter().any(|(&(ports, first), starts)| {
                    let next = segment.ack.wrapping_sub(first);
                    // It asks for the packet after one that was sent.
                    ports == there && (next == 1 || starts.contains(&next.wrapping_sub(payload)))
                });
                assert!(known, "{} acknowledges a part of a packet", segment.ack);
            }
        }
    }
}

#[test]
fn timestamps_advance_and_echo_what_was_sent() {
    let [down, up] = only_tcp("capture-clocks", "linux").map(|file| segments(&file));
    let mut all: Vec<&Segment> = down.iter().chain(&up).collect();
    all.sort_by(|one, other| one.at_ms.total_cmp(&other.at_ms));
    let mut sent: BTreeMap<(u16, u16), Vec<u32>> = BTreeMap::new();
    let mut echoes = 0;
    for segment in all {
        let (value, echo) = segment.clock.expect("every segment has a timestamp");
        let mine = sent.entry(segment.ports).or_default();
        assert!(mine.last().is_none_or(|last| *last <= value), "a clock goes back");
        assert!((f64::from(value) - segment.at_ms).abs() <= 1.0, "{value} at {} ms", segment.at_ms);
        mine.push(value);
        let theirs = sent.entry((segment.ports.1, segment.ports.0)).or_default();
        assert!(echo == 0 || theirs.binary_search(&echo).is_ok(), "{echo} was never sent");
        if segment.payload == 0 && !segment.is_syn {
            // Of data that went to an end and came back: the link is crossed at least once.
            let took = segment.at_ms - f64::from(echo - 1);
            assert!((20.0..2000.0).contains(&took), "{took} ms");
            echoes += 1;
        }
    }
    assert!(echoes > 1000, "{echoes}");
    assert!(segments(&only_tcp("capture-no-clocks", "ns2")[0]).iter().all(|segment| segment.clock.is_none()));
}

#[test]
fn wireshark_calls_out_of_order_only_what_is_sent_again() {
    let fields =
        ["tcp.analysis.out_of_order", "tcp.analysis.retransmission", "tcp.analysis.ack_lost_segment"];
    for profile in ["linux", "ns2"] {
        for file in only_tcp(&format!("capture-order-{profile}"), profile) {
            let Some(reported) = dissected(&file, 5500, &CHECKSUM, &fields) else { return };
            // Sent again: below what was sent already, by connection.
            let mut highest: BTreeMap<(u16, u16), u32> = BTreeMap::new();
            let mut wrong = Vec::new();
            let found = segments(&file);
            assert_eq!(found.len(), reported.len());
            for (number, (segment, line)) in found.iter().zip(&reported).enumerate() {
                let before = highest.entry(segment.ports).or_default();
                let is_again = segment.seq <= *before && segment.payload > 0;
                *before = if segment.is_syn { segment.seq } else { segment.seq.max(*before) };
                let is_called = line.iter().take(2).any(|field| !field.is_empty());
                if is_called && !is_again {
                    wrong.push((number + 1, segment.ports, line.clone()));
                }
            }
            assert!(wrong.is_empty(), "{profile}, {}: {wrong:?}", file.display());
        }
    }
}

#[test]
fn wireshark_finds_no_fault_with_a_capture() {
    let (_, files) = captured("capture-wireshark");
    let fields = [
        "frame.protocols",
        "_ws.malformed",
        "_ws.expert.severity",
        "_ws.expert.message",
        "ip.checksum.status",
        "pim.cksum.status",
        "tcp.analysis.retransmission",
        "tcp.options.sack.count",
        "rmt-lct.tsi",
        "rmt-fec.esi",
        "tcp.flags.syn",
        "tcp.flags.ack",
        "pim.numjoins",
        "pim.numprunes",
    ];
    /// The severity of an error; notes and warnings are about retransmissions and losses.
    const ERROR: u32 = 0x0080_0000;
    for (forward, file) in files.iter().enumerate().map(|(index, file)| (index == 0, file)) {
        let mut reader = PcapReader::new(File::open(file).unwrap()).unwrap();
        let mut packets = 0;
        while reader.next_packet().is_some() {
            packets += 1;
        }
        let Some(reported) = dissected(file, 5500, &CHECKSUM, &fields) else { return };
        assert_eq!(reported.len(), packets);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for line in &reported {
            let field = |name: &str| line[fields.iter().position(|field| *field == name).unwrap()].as_str();
            assert_eq!(field("_ws.malformed"), "", "{line:?}");
            let severities = field("_ws.expert.severity").split(',').filter(|text| !text.is_empty());
            assert!(
                severities.map(|text| text.parse::<u32>().unwrap()).all(|found| found < ERROR),
                "{line:?}"
            );
            assert_eq!(field("ip.checksum.status"), "1", "{line:?}");
            assert!(matches!(field("pim.cksum.status"), "" | "1"), "{line:?}");
            let protocols = field("frame.protocols");
            let kind = match () {
                () if protocols.contains("rmt-fec") => "data",
                () if protocols.contains("rmt-lct") => "end of session",
                () if protocols.contains("udp") => "report",
                () if protocols.contains("pim") => "pim",
                () if field("tcp.flags.syn") == "1" && field("tcp.flags.ack") == "1" => "syn-ack",
                () if field("tcp.flags.syn") == "1" => "syn",
                () => "tcp",
            };
            *counts.entry(kind).or_default() += 1;
            let has = |name: &str| !field(name).is_empty() && field(name) != "0";
            for (name, is) in [
                ("join", has("pim.numjoins")),
                ("prune", has("pim.numprunes")),
                ("blocks", has("tcp.options.sack.count")),
            ] {
                *counts.entry(name).or_default() += u32::from(is);
            }
        }
        let count = |kind: &str| counts.get(kind).copied().unwrap_or(0);
        if forward {
            assert!(count("data") > 1000 && count("tcp") > 1000, "{counts:?}");
            assert_eq!((count("syn"), count("syn-ack")), (2, 0), "{counts:?}");
            assert_eq!((count("pim"), count("report")), (0, 0), "{counts:?}");
        } else {
            assert!(count("report") > 5 && count("tcp") > 1000, "{counts:?}");
            assert!(count("join") > 10 && count("prune") > 5, "{counts:?}");
            assert_eq!(count("join") + count("prune"), count("pim"), "{counts:?}");
            assert!(count("blocks") > 10, "{counts:?}");
            assert_eq!((count("syn"), count("syn-ack")), (0, 2), "{counts:?}");
        }
    }
}
