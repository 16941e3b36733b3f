//! Flows of the traffic library, as files give them.

use layercast_core::units::{Duration, Size};
use layercast_simulator::tcp::TcpVariant;

use crate::results::TrafficKind;
use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{DemandPlan, Distribution, FlowPlan, Traffic};

/// The small scenario with one more table of flows, after these defaults; what that is, or what is wrong.
fn flow(defaults: &str, keys: &str) -> Result<FlowPlan, String> {
    let text =
        format!("{SMALL}\n[defaults.flow]\n{defaults}\n[flows.lib]\nfrom = \"S\"\nto = \"R1\"\n{keys}\n");
    let scenario = read_text(&text, &[]).map_err(|errors| errors.to_string())?;
    Ok(scenario.flows.into_iter().find(|flow| flow.name == "lib").unwrap())
}

#[track_caller]
fn refused(defaults: &str, keys: &str, why: &[&str]) {
    let reported = flow(defaults, keys).unwrap_err();
    for part in why {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    assert_eq!(reported.matches("error:").count(), 1, "{reported}");
}

const CUBIC: &str = "protocol = \"tcp-cubic\"";

#[test]
fn each_kind_is_read_with_its_options() {
    let web = flow(CUBIC, "traffic = \"web\"\npage = \"1 MB\"\npage_sigma = 0\nreading = \"10 s\"").unwrap();
    assert_eq!((web.kind, web.has_transfers(), web.protocol()), (Some(TrafficKind::Web), true, "tcp-cubic"));
    let Traffic::Tcp { demand: DemandPlan::Pages(pages), .. } = &web.traffic else { panic!("{web:?}") };
    assert_eq!(pages.page, Distribution::Fixed(1_000_000.0));
    assert_eq!(pages.reading_s, Distribution::Exponential { mean: 10.0 });
    assert_eq!(pages.handshake_bytes, 4000.0);

    let video = flow(CUBIC, "traffic = \"video\"\nladder = \"1 Mbit/s, 3 Mbit/s\"\nwindow = 100").unwrap();
    let Traffic::Tcp { demand: DemandPlan::Player(player), options } = &video.traffic else {
        panic!("{video:?}")
    };
    assert_eq!((player.ladder.len(), player.segment, options.window), (2, Duration::from_secs(4), 100));
    assert!(!video.has_transfers());

    let file = flow("", "traffic = \"download\"\nprotocol = \"tcp-bbr\"\nfile = \"3 MB\"").unwrap();
    let Traffic::Tcp { demand, options } = &file.traffic else { panic!("{file:?}") };
    assert_eq!(options.variant, TcpVariant::Bbr);
    let gap = Distribution::Exponential { mean: 5.0 };
    assert_eq!(*demand, DemandPlan::Transfers { size: Distribution::Fixed(3e6), gap });

    for protocol in ["", "protocol = \"udp\""] {
        let call = flow("", &format!("traffic = \"call\"\ntalkspurts = true\n{protocol}")).unwrap();
        let Traffic::Udp { rate, packet_size, pauses } = call.traffic else { panic!("{call:?}") };
        assert_eq!((rate.as_kbps(), packet_size), (80.0, Size::from_bytes(200)));
        assert!(pauses.is_some());
    }
}

#[test]
fn a_default_that_a_kind_cannot_use_does_not_hold_for_it() {
    let call = flow("protocol = \"tcp-cubic\"\nwindow = 30\npage = \"1 MB\"", "traffic = \"call\"").unwrap();
    assert_eq!(call.protocol(), "udp");
    let sized = "protocol = \"tcp-cubic\"\nsize = \"1 MB\"\ngap = \"1 s\"";
    assert_eq!(flow(sized, "traffic = \"video\"").unwrap().kind, Some(TrafficKind::Video));
    // The other way round: what a table says itself decides.
    let web = "protocol = \"tcp-cubic\"\ntraffic = \"web\"";
    assert_eq!(flow(web, "").unwrap().kind, Some(TrafficKind::Web));
    assert_eq!(flow(web, "protocol = \"udp\"\nrate = \"1 Mbit/s\"").unwrap().kind, None);
    assert_eq!(flow(web, "size = \"1 MB\"\ngap = \"1 s\"").unwrap().kind, None);
    assert_eq!(flow(web, "traffic = \"call\"").unwrap().kind, Some(TrafficKind::Call));
    assert_eq!(flow("traffic = \"call\"", CUBIC).unwrap().kind, None);
    refused("protocol = \"udp\"", "traffic = \"web\"", &["`protocol` is missing"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let web = |keys: &str, why: &[&str]| refused(CUBIC, &format!("traffic = \"web\"\n{keys}"), why);
    refused(CUBIC, "traffic = \"wep\"", &["\"wep\"", "\"web\", \"video\"", "did you mean `web`"]);
    web("size = \"1 MB\"", &["`size` has no place here", "\"page_sigma\""]);
    web("arrivals = \"1 s\"", &["`arrivals` has no place here"]);
    web("on = \"1 s\"", &["`on` has no place here"]);
    web("rate = \"1 Mbit/s\"", &["`rate` has no place here"]);
    web("ladder = \"1 Mbit/s\"", &["`web` does not use `ladder`"]);
    web("pgae = \"1 MB\"", &["no key `pgae`", "did you mean `page`"]);
    web("page = \"0 bytes\"", &["is not allowed"]);
    web("page_sigma = 9", &["is not allowed", "from 0 to 3"]);
    web("reading = \"0 s\"", &["is not allowed"]);
    web("protocol = \"udp\"", &["`web` runs over a TCP"]);
    refused("", "traffic = \"web\"", &["`protocol` is missing"]);
    let video = |keys: &str, why: &[&str]| refused(CUBIC, &format!("traffic = \"video\"\n{keys}"), why);
    video("ladder = \"3 Mbit/s, 1 Mbit/s\"", &["does not rise above"]);
    video("ladder = \"1, 2\"", &["is no rate"]);
    video("segment = \"1 ns\"", &["is not allowed"]);
    video("startup = \"300 s\"", &["playing begins with 300 s, but the buffer holds 240 s"]);
    video("buffer = \"100 s\"", &["reservoir and cushion need 216 s, but the buffer holds 100 s"]);
    refused(CUBIC, "traffic = \"call\"\npage = \"1 MB\"", &["`call` does not use `page`"]);
    refused(CUBIC, "traffic = \"call\"\nwindow = 5", &["`call` does not use `window`"]);
    refused(CUBIC, "traffic = \"call\"\nprotocol = \"tcp-cubic\"", &["a call is sent by `udp`", "tcp-cubic"]);
    refused(CUBIC, "traffic = \"call\"\ninterval = \"1 us\"", &["is not allowed"]);
    refused(CUBIC, "traffic = \"call\"\npayload = \"1461 bytes\"", &["is not allowed"]);
    refused(CUBIC, "page = \"1 MB\"", &["`page` is an option of `traffic = \"web\"`"]);
    refused(CUBIC, "reading = \"1 s\"", &["`traffic = \"web\"` and `traffic = \"download\"`"]);
}
