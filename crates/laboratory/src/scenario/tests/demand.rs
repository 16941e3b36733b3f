//! What flows have to send, as files give it.

use layercast_core::units::{Rate, Size};

use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{DemandPlan, Distribution, Traffic};

/// The small scenario with more keys of its flows; what they send, or what is wrong.
fn traffic(protocol: &str, keys: &str) -> Result<Traffic, String> {
    let text = SMALL.replace(r#"protocol = "tcp-sack""#, &format!("protocol = \"{protocol}\"\n{keys}"));
    assert_ne!(text, SMALL);
    read_text(&text, &[]).map(|scenario| scenario.flows[0].traffic.clone()).map_err(|e| e.to_string())
}

#[track_caller]
fn refused(protocol: &str, keys: &str, why: &str) {
    let reported = traffic(protocol, keys).unwrap_err();
    assert!(reported.contains(why), "{reported}");
}

#[test]
fn distributions_and_demands_are_read() {
    let tcp = |keys: &str| match traffic("tcp-sack", keys).unwrap() {
        Traffic::Tcp { demand, .. } => demand,
        Traffic::Udp { .. } => unreachable!("it is a TCP"),
    };
    assert_eq!(tcp(""), DemandPlan::Endless);
    assert_eq!(
        tcp("size = \"20 kB\"\ngap = { distribution = \"exponential\", mean = \"500 ms\" }"),
        DemandPlan::Transfers {
            size: Distribution::Fixed(20_000.0),
            gap: Distribution::Exponential { mean: 0.5 }
        }
    );
    assert_eq!(
        tcp("size = { distribution = \"pareto\", mean = \"20 kB\", shape = 1.2 }\narrivals = \"100 ms\""),
        DemandPlan::Arrivals {
            size: Distribution::Pareto { mean: 20_000.0, shape: 1.2 },
            gap: Distribution::Fixed(0.1)
        }
    );
    assert_eq!(
        tcp(
            "on = { distribution = \"log-normal\", mean = \"1 s\", sigma = 2 }\noff = { distribution = \"weibull\", mean = \"1 s\", shape = 0.5 }"
        ),
        DemandPlan::OnOff {
            on: Distribution::LogNormal { mean: 1.0, sigma: 2.0 },
            off: Distribution::Weibull { mean: 1.0, shape: 0.5 }
        }
    );
    let uniform = Distribution::Uniform { low: 0.0, high: 2.0 };
    assert_eq!(
        traffic(
            "udp",
            "rate = \"1 Mbit/s\"\non = { distribution = \"uniform\", low = \"0 s\", high = \"2 s\" }\noff = \"1 s\""
        )
        .unwrap(),
        Traffic::Udp {
            rate: Rate::from_mbps(1.0),
            packet_size: Size::from_bytes(1000),
            pauses: Some((uniform, Distribution::Fixed(1.0)))
        }
    );
}

#[test]
fn demands_that_make_no_sense_are_refused() {
    refused("tcp-sack", "size = \"20 kB\"", "transfers need one rule");
    refused("tcp-sack", "size = \"20 kB\"\ngap = \"1 s\"\narrivals = \"1 s\"", "transfers need one rule");
    refused("tcp-sack", "gap = \"1 s\"", "there are no transfers");
    refused("tcp-sack", "on = \"1 s\"", "need each other");
    refused("tcp-sack", "rate = \"1 Mbit/s\"", "does not use `rate`");
    refused("tcp-sack", "size = \"1 kB\"\ngap = \"1 s\"\non = \"1 s\"\noff = \"1 s\"", "do not pause");
    refused("udp", "", "`rate` is missing");
    refused("udp", "rate = \"1 Mbit/s\"\nwindow = 20", "`udp` does not use `window`");
    refused("udp", "rate = \"1 Mbit/s\"\nsize = \"1 kB\"\ngap = \"1 s\"", "`udp` does not use `size`");
}

#[test]
fn distributions_that_make_no_sense_are_refused() {
    let sized = |size: &str, why: &str| refused("tcp-sack", &format!("gap = \"1 s\"\nsize = {size}"), why);
    sized("{ distribution = \"pareto\", mean = \"1 kB\" }", "`shape` is missing");
    sized("{ distribution = \"pareto\", mean = \"1 kB\", shape = 1 }", "has no mean");
    sized("{ distribution = \"exponential\", mean = \"1 kB\", shape = 2 }", "does not use `shape`");
    sized("{ distribution = \"uniform\", low = \"2 kB\", high = \"1 kB\" }", "ends before it begins");
    sized("{ distribution = \"normal\", mean = \"1 kB\" }", "is not known");
    sized("{ distribution = \"exponential\", mean = \"1 s\" }", "is not allowed");
    sized("\"0 bytes\"", "is not allowed");
}
