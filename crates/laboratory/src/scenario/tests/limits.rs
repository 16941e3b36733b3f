//! What could not be run, would never end, or means nothing is refused with its bound.

use crate::scenario::ScenarioErrors;
use crate::scenario::testing::{SMALL, read_text};

fn refused(overrides: &[&str]) -> ScenarioErrors {
    read_text(SMALL, overrides).expect_err("it is refused")
}

/// The only error has these words.
fn only(overrides: &[&str], words: &[&str]) {
    let errors = refused(overrides);
    assert_eq!(errors.0.len(), 1, "{errors}");
    let text = errors.to_string();
    for word in words {
        assert!(text.contains(word), "{overrides:?} without {word}: {text}");
    }
}

#[test]
fn runs_and_bins_are_bounded() {
    only(&["series_bin=1 ns"], &["bins of 1 ns are 60000000000", "a `series_bin` of 60 us or more"]);
    only(&["duration=1e7 s"], &["bins of 1 s are 10000000", "a `series_bin` of 10 s or more"]);
    only(&["duration=1e9 s"], &["a run of 1000000000 s is too long", "10000 h"]);
    only(&["duration=1e300 s"], &["the most is 18446744073 s"]);
    only(&["duration=99999999999999999999 h"], &["the most is 18446744073 s"]);
    assert!(read_text(SMALL, &["duration=1e7 s", "series_bin=10 s"]).is_ok());
    // All flows of all replications are kept together.
    only(&["replications=100000", "flow.tcp.count=100"], &["at most 4 here"]);
}

#[test]
fn rates_are_bounded() {
    for (rate, words) in [("1e30 Gbit/s", "above 10000 Gbit/s"), ("0.001 bit/s", "below 1 bit/s")] {
        only(&[&format!("link.G-R2.rate={rate}")], &[words]);
        only(&[&format!("session.elm.layers.base={rate}")], &[words]);
    }
    assert!(read_text(SMALL, &["link.G-R2.rate=1 bit/s", "link.G-R1.rate=10000 Gbit/s"]).is_ok());
}

#[test]
fn packets_have_room_for_headers_and_fit_in_udp() {
    for size in ["1 bytes", "28 bytes", "65508 bytes", "1 MB"] {
        only(&[&format!("session.elm.packet_size={size}")], &["not possible", "from 29 to 65507 bytes"]);
    }
    for size in ["40 bytes", "1000 MB"] {
        only(&[&format!("flow.tcp.packet_size={size}")], &["not possible", "from 41 to 65507 bytes"]);
    }
    only(&["session.elm.packet_size=1.5 bytes"], &["there are only whole bytes"]);
    only(&["session.elm.packet_size=9999 MB"], &["the most is 4294967295 bytes"]);
    let sizes = ["session.elm.packet_size=29 bytes", "flow.tcp.packet_size=1.4 kB"];
    assert_eq!(read_text(SMALL, &sizes).map(|plan| plan.sessions[0].packet_size.as_bytes()), Ok(29));
}

#[test]
fn packets_are_for_reliable_protocols() {
    only(&["session.elm.packets=1000"], &["does not repair losses", "`stop` ends the session", "\"nca\""]);
    assert!(read_text(SMALL, &["session.elm.packets=1000", "session.elm.protocol=nca"]).is_ok());
}

#[test]
fn starts_and_pauses_are_bounded() {
    let arrivals = |gap: &str| [format!("flow.tcp.arrivals={gap}"), "flow.tcp.size=1 kB".to_owned()];
    let [gap, size] = arrivals("1 ns");
    only(&[&gap, &size], &["60000000000 arrivals in 60 s", "one every 600 ns or more"]);
    let [gap, size] = arrivals("1 us");
    assert!(read_text(SMALL, &[&gap, &size]).is_ok());
    only(&["flow.tcp.on=1 ns", "flow.tcp.off=1 ns"], &["30000000000 pauses"]);
}

#[test]
fn changes_come_before_the_end() {
    let change = |at: &str| format!("link.G-R2.changes=[{{ at = \"{at}\", rate = \"1 Mbit/s\" }}]");
    only(&[&change("61 s")], &["the change is at 61 s, but the run ends at 60 s"]);
    assert!(read_text(SMALL, &[&change("60 s")]).is_ok());
}

#[test]
fn hints_fit_where_they_are_given() {
    only(&["duration=5"], &["5 is not allowed: it needs a unit behind the number"]);
    let errors = read_text(&SMALL.replace("\"60 s\"", "60"), &[]).unwrap_err().to_string();
    assert!(errors.contains("it needs a unit, in quotes"), "{errors}");
    for key in ["flow.tcp.window", "replications"] {
        only(&[&format!("{key}=1000000000000000000")], &["the largest whole number is 4294967295"]);
    }
    // Two flows of a table at a node are numbered, one is not.
    let group = |pattern: &str| format!("{SMALL}\n[groups]\ng = [\"{pattern}\"]");
    for (pattern, set) in [("tcp@R1", "flow.tcp.count=2"), ("tcp-*@R1", "flow.tcp.count=1")] {
        let errors = read_text(&group(pattern), &[set]).unwrap_err();
        assert_eq!(errors.0[0].nearest.as_deref(), Some("tcp*@R1"), "{errors}");
    }
}

#[test]
fn very_many_errors_are_counted() {
    let mut text = String::from("name = \"x\"\nduration = \"1 s\"\n[links]\nA-B = {}\n[flows]\n");
    for number in 0..5_000 {
        text.push_str(&format!("f{number} = {{ protocol = \"udp\", from = \"N{number}\", to = \"B\" }}\n"));
    }
    let errors = read_text(&text, &[]).unwrap_err();
    assert!(errors.0.len() > 10_000, "each flow has an unknown node and no rate");
    let shown = errors.to_string();
    assert!(shown.ends_with(&format!("... and {} more\n\n{} errors", errors.0.len() - 20, errors.0.len())));
    assert_eq!(shown.matches(" --> ").count(), 20);
    assert_eq!(errors.0.last().map(|error| error.line), Some(5 + 5_000));
}

#[test]
fn groups_of_very_many_flows_are_read_in_their_order() {
    let text = format!("{SMALL}\n[groups]\ng = [\"tcp-2@R2\", \"tcp-*@R*\"]");
    let plan = read_text(&text, &["flow.tcp.count=30000"]).unwrap();
    let flows = &plan.groups[0].flows;
    assert_eq!((flows.len(), flows[0].as_str(), flows[1].as_str()), (60_000, "tcp-2@R2", "tcp-1@R1"));
}
