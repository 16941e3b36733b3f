//! Session descriptions: what is printed is read again, and errors are named.

use std::net::SocketAddr;

use layercast_core::layers::LayerTable;
use layercast_core::units::{Channel, Duration, Rate, Size};
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::session::{Session, SessionError, whole_rates};
use layercast_delivery::stream::{StreamPlan, Units};
use proptest::prelude::*;

const TEXT: &str = r#"layercast = 1
session = 305419896
protocol = "elm"
source = "192.0.2.1"
group = "239.1.2.0:5500"
feedback = "192.0.2.1:5501"
packet = 1000
layers = [128000, 128000, 256000]
"#;

#[test]
fn the_text_of_the_page_is_read() {
    let session: Session = TEXT.parse().unwrap();
    assert_eq!(session.to_string(), TEXT);
    assert_eq!(session.layers.top_rate(), Rate::from_kbps(512.0));
    assert_eq!(session.address(Channel(2)).unwrap().to_string(), "239.1.2.2:5500");
    assert_eq!(session.address(Channel(3)), None);
}

#[test]
fn a_stream_is_said_with_its_deadline_and_its_units() {
    for units in [Units::Fixed(1316), Units::Length] {
        let plan = StreamPlan { deadline: Duration::from_ms(500), units };
        let session = Session { stream: Some(plan), ..TEXT.parse().unwrap() };
        let text = session.to_string();
        assert_eq!(text.contains("unit_bytes = 1316"), units != Units::Length, "{text}");
        assert_eq!(text.parse(), Ok(session));
    }
    let with = |line: &str| format!("{TEXT}{line}\n").parse::<Session>();
    for wrong in
        ["stream = 1", "stream = {}", "stream = { deadline_ms = -1 }", "stream = { deadline_ms = 9 }"]
    {
        assert_eq!(with(wrong), Err(SessionError::Key("stream")), "{wrong}");
    }
    for bytes in ["0", "1048577", "-1", "\"1\""] {
        let line = format!("stream = {{ deadline_ms = 500, unit_bytes = {bytes} }}");
        assert_eq!(with(&line), Err(SessionError::Key("stream")), "{line}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let with = |from: &str, to: &str| TEXT.replace(from, to).parse::<Session>().unwrap_err();
    assert_eq!(with("layercast = 1", "layercast = 2"), SessionError::Version(2));
    assert_eq!(with("session = 305419896", "session = -1"), SessionError::Key("session"));
    assert!(matches!(with("\"elm\"", "\"xyz\""), SessionError::Protocol { name, .. } if name == "xyz"));
    let amca = with("\"elm\"", "\"amca\"");
    assert_eq!(amca, SessionError::Option("report_every".into()), "all of its nodes agree on it");
    assert_eq!(with("packet = 1000", "packet = 100"), SessionError::Packet(100));
    assert_eq!(with("239.1.2.0", "10.1.2.0"), SessionError::Group([10, 1, 2, 0].into()));
    assert_eq!(with("239.1.2.0", "224.0.0.5"), SessionError::Group([224, 0, 0, 5].into()));
    let outside = with("239.1.2.0", "239.255.255.254").to_string();
    assert!(outside.contains("239.255.255.254") && outside.contains("239.255.255.253"), "{outside}");
    assert_eq!(with("5501", "0"), SessionError::Key("feedback"));
    assert_eq!(
        with("[128000, 128000, 256000]", "[1, 0]").to_string(),
        "session description: the rate of layer 1 must be positive"
    );
    let many = with("[128000", &format!("[{}128000", "1, ".repeat(40)));
    assert!(many.to_string().contains("43 layers: ELM's headers can number 32"), "{many}");
    assert_eq!(with("packet = 1000", "packet = 1000\nchannels = 4"), SessionError::Channels(3));
    assert_eq!(with("packet = 1000", "packet = 1000\nchannels = -1"), SessionError::Key("channels"));
    let foreign = "packet = 1000\noptions = { slot = \"1 s\" }";
    assert_eq!(with("packet = 1000", foreign), SessionError::Option("slot".into()));
    assert_eq!(with("256000]", "9223372036854775807]"), SessionError::Key("layers"));
    assert!(matches!(with("packet = 1000", "packet = ="), SessionError::Text(_)));
    assert_eq!("".parse::<Session>(), Err(SessionError::Key("layercast")));
}

#[test]
fn options_are_printed_as_toml_reads_them() {
    let base_interval = "options = { base_interval = \"\\n250 ms\\t\" }";
    let text = TEXT
        .replace("\"elm\"", "\"wei-zhang\"")
        .replace("packet = 1000", &format!("packet = 1000\n{base_interval}"));
    let session: Session = text.parse().unwrap();
    assert_eq!(session.agreed, [("base_interval".to_owned(), "\n250 ms\t".to_owned())]);
    assert_eq!(session.to_string().parse(), Ok(session));
}

proptest! {
    #[test]
    fn what_is_printed_is_read(tsi in any::<u32>(), rates in proptest::collection::vec(1u64..10_000_000_000, 1..=32), packet in 256u32..=9000, octets in any::<[u8; 3]>(), port in 1u16.., salt in any::<Option<[u8; 16]>>()) {
        let rates = rates.iter().map(|&bps| Rate::from_bps(bps as f64));
        let layers = LayerTable::from_rates(rates).unwrap();
        let session = Session {
            tsi,
            protocol: "rlc".to_owned(),
            source: [10, 0, 0, 1].into(),
            group: SocketAddr::from(([232, octets[0], octets[1], octets[2]], port)),
            feedback: SocketAddr::from(([10, 0, 0, 1], port)),
            packet: Size::from_bytes(packet),
            channels: layers.count(),
            agreed: Vec::new(),
            group_key: salt.map(|_| "abcd-efgh".to_owned()),
            salt: salt.map(Salt),
            layers,
            stream: None,
        };
        prop_assert_eq!(session.to_string().parse(), Ok(session));
    }

    #[test]
    fn a_salt_comes_back_and_nothing_else_is_one(salt in any::<[u8; 16]>(), text in "[0-9a-g+]{30,34}") {
        prop_assert_eq!(Salt(salt).to_string().parse(), Ok(Salt(salt)));
        if let Ok(salt) = text.parse::<Salt>() {
            prop_assert_eq!(salt.to_string(), text);
        }
    }

    #[test]
    fn layers_of_any_scheme_have_whole_bit_rates(factor in 1.1f64..3.0, count in 1u16..20) {
        let layers = LayerTable::multiplicative(factor, Rate::from_kbps(128.0), count).unwrap();
        let whole = whole_rates(&layers).unwrap();
        for layer in layers.layers() {
            prop_assert!((layers.rate(layer).as_bps() - whole.rate(layer).as_bps()).abs() <= 0.5);
            prop_assert_eq!(whole.rate(layer).as_bps().fract(), 0.0);
        }
    }

    #[test]
    fn no_text_panics(at in 0usize..200, with in "\\PC{0,3}") {
        let mut text = TEXT.to_owned();
        let at = at % text.len();
        text.replace_range(at..at + 1, &with);
        let _ = text.parse::<Session>();
    }
}
