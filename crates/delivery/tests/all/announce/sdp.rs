//! Session descriptions in SDP.

use std::net::IpAddr;

use layercast_core::layers::LayerTable;
use layercast_core::units::{Rate, Size};
use layercast_delivery::announce::sdp::{
    Description, Fec, Media, Origin, PARTS_MAX, SDP_MAX, SdpError, SdpProblem, TSI_MAX,
};
use layercast_delivery::session::Session;
use proptest::prelude::*;

use crate::announce::support::{self, text};

const SESSION: &str = r#"layercast = 1
session = 305419896
protocol = "elm"
source = "192.0.2.1"
group = "239.1.2.0:5500"
feedback = "192.0.2.1:5501"
packet = 1000
layers = [128000, 128000, 256000]
"#;

fn read(text: &str) -> Result<Description, SdpError> {
    Description::read(text.as_bytes())
}

fn of(session: &Session) -> Description {
    let origin = Origin::new([192, 0, 2, 1].into(), 3_913_056_000, 1);
    Description::of_session(session, "News of today", origin, 16).unwrap()
}

#[test]
fn a_session_whose_description_names_relays_is_the_same() {
    let session: Session = SESSION.parse().unwrap();
    let mut description = of(&session);
    description.name_relays(&["192.0.2.7:5600".parse().unwrap(), "[2001:db8::7]:5601".parse().unwrap()]);
    let read = Description::read(description.write().unwrap().as_bytes()).unwrap();
    assert_eq!(read.session_text().unwrap().parse::<Session>().unwrap(), session);
    assert_eq!(read.relays().len(), 2);
}

#[test]
fn a_session_of_ours_is_written_and_read() {
    let session: Session = SESSION.parse().unwrap();
    let description = of(&session);
    let written = description.write().unwrap();
    assert_eq!(written.replace("\r\n", "\n"), text("layercast.sdp"));
    assert!(written.lines().count() == written.matches("\r\n").count(), "lines end as RFC 8866 has it");
    assert_eq!(read(&text("layercast.sdp")), Ok(description.clone()));
    assert_eq!(description.session_text().unwrap(), SESSION);
    assert_eq!(description.group().unwrap().to_string(), "239.1.2.0:5500");
    assert_eq!(
        description.url().unwrap().to_string(),
        "layercast://239.1.2.0:5500?source=192.0.2.1&name=News%20of%20today"
    );
}

#[test]
fn a_line_for_each_channel_is_read() {
    let description = read(&text("channels.sdp")).unwrap();
    assert_eq!(description.origin.address, "2001:db8::1");
    assert_eq!((description.start_s, description.stop_s), (2_873_397_496, 2_873_404_696));
    assert_eq!(description.source, Some("2001:db8::1".parse().unwrap()));
    assert_eq!((description.tsi, description.channels()), (3, 2));
    assert_eq!(description.fec[1], Fec { reference: 1, encoding: 129, instance: Some(0) });
    let last = &description.media[1];
    assert_eq!((last.port, last.kbps, &last.fec[..]), (12346, Some(128), &[1][..]));
    assert_eq!(last.group, "ff1e:3ad::7f2e:172a:1e25".parse::<IpAddr>().unwrap());
    // The ports differ, so it is not the form that a session of ours has.
    assert_eq!(description.group(), None);
    assert_eq!(read(&description.write().unwrap()), Ok(description));
}

#[test]
fn a_broadcast_session_is_read() {
    let description = read(&text("broadcast.sdp")).unwrap();
    let media = Media {
        port: 40101,
        group: [238, 1, 1, 111].into(),
        ttl: Some(127),
        channels: 1,
        kbps: Some(2000),
        fec: Vec::new(),
    };
    assert_eq!(description.media, [media]);
    assert_eq!((description.tsi, description.source), (0, None));
    let error = description.session_text().unwrap_err();
    assert_eq!(error.problem, SdpProblem::Missing("a=x-layercast"));
}

#[test]
fn layers_may_have_a_line_each_with_one_port() {
    let with = |lines: &str| read(&text("layercast.sdp").replace("c=IN IP4 239.1.2.0/16/3", lines));
    let three = "c=IN IP4 239.1.2.0/16\nc=IN IP4 239.1.2.1/16/2";
    assert_eq!(with(three), read(&text("layercast.sdp")));
    let gap = with("c=IN IP4 239.1.2.0/16\nc=IN IP4 239.1.2.2/16/2").unwrap_err();
    assert_eq!(gap, SdpError { line: Some(17), problem: SdpProblem::Layout });
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let good = text("layercast.sdp");
    let number = |field, text: &str| SdpProblem::Number { field, text: text.into() };
    for (from, to, line, problem) in [
        ("v=0", "v=1", Some(1), SdpProblem::Version),
        ("s=News", "v=0\ns=News", Some(3), SdpProblem::Version),
        ("v=0", "", Some(1), SdpProblem::Form(String::new())),
        ("t=0 0", "t 0 0", Some(4), SdpProblem::Form("t 0 0".into())),
        ("t=0 0", "x=0", Some(4), SdpProblem::Letter('x')),
        ("t=0 0", "t=0", Some(4), SdpProblem::Shape("t=", "t=START STOP")),
        ("t=0 0", "t=-1 0", Some(4), number("t=", "-1")),
        ("t=0 0\n", "", None, SdpProblem::Missing("t=")),
        ("s=News of today", "s=", Some(3), SdpProblem::Text("s=")),
        ("s=News of today", "s=\x1b[31m", Some(3), SdpProblem::Text("s=")),
        ("s=News of today", "s=a\ns=b", Some(4), SdpProblem::Duplicate("s=")),
        ("o=- 3913056000", "o=- now", Some(2), number("o=", "now")),
        (
            "192.0.2.1\ns=",
            "x y\ns=",
            Some(2),
            SdpProblem::Shape("o=", "o=USER SESSION VERSION IN IP4 ADDRESS"),
        ),
        ("incl", "excl", Some(5), SdpProblem::Filter),
        ("* 192.0.2.1", "* 192.0.2.1 192.0.2.2", Some(5), SdpProblem::Filter),
        ("* 192.0.2.1", "* 2001:db8::1", Some(5), SdpProblem::Address("2001:db8::1".into())),
        ("* 192.0.2.1", "* 239.1.2.3", None, SdpProblem::Filter),
        ("tsi:305419896", "tsi:281474976710656", Some(6), number("a=flute-tsi", "281474976710656")),
        ("a=flute-tsi:305419896\n", "", None, SdpProblem::Missing("a=flute-tsi")),
        ("a=FEC:1", "a=flute-tsi:2", Some(19), SdpProblem::Sessions(305_419_896, 2)),
        ("a=flute-ch:3", "a=flute-ch:4", None, SdpProblem::Channels { given: 4, found: 3 }),
        ("a=FEC:1", "a=FEC:2", Some(15), SdpProblem::Fec(2)),
        ("ion:1 ", "ion:0 ", Some(9), SdpProblem::Duplicate("a=FEC-declaration")),
        ("=6", "=256", Some(9), number("a=FEC-declaration", "256")),
        (
            "packet = 1000",
            "packet",
            Some(13),
            SdpProblem::Shape("a=x-layercast", "a=x-layercast:KEY = VALUE"),
        ),
        ("packet = 1000", "protocol = 1", Some(13), SdpProblem::Duplicate("a=x-layercast")),
        ("m=application 5500", "m=application 0", Some(15), number("m=", "0")),
        ("FLUTE/UDP", "RTP/AVP", None, SdpProblem::NoFlute),
        ("c=IN IP4 239.1.2.0/16/3\n", "", Some(15), SdpProblem::Missing("c=")),
        ("239.1.2.0/16/3", "239.1.2.0", Some(16), SdpProblem::Ttl),
        ("239.1.2.0/16/3", "239.1.2.0/256/3", Some(16), number("c=", "256")),
        ("239.1.2.0/16/3", "239.1.2.0/16/0", None, SdpProblem::Channels { given: 3, found: 0 }),
        ("239.1.2.0/16/3", "10.1.2.0/16/3", None, SdpProblem::Group([10, 1, 2, 0].into())),
        ("239.1.2.0/16/3", "239.255.255.254/16/3", None, SdpProblem::Group([239, 255, 255, 254].into())),
        ("AS:512", "AS:fast", Some(17), number("b=AS", "fast")),
    ] {
        assert!(good.contains(from), "{from}");
        assert_eq!(read(&good.replacen(from, to, 1)), Err(SdpError { line, problem }), "{from} -> {to}");
    }
    let error = read(&good.replace("t=0 0", "t=0")).unwrap_err();
    assert_eq!(error.to_string(), "SDP, line 4: the line `t=` is not of the form `t=START STOP`");
    assert_eq!(read("").unwrap_err().problem, SdpProblem::Version);
    assert_eq!(Description::read(b"v=0\r\ns=\xff").unwrap_err().problem, SdpProblem::Utf8);
}

#[test]
fn what_others_add_is_skipped() {
    let added =
        "t=0 0\nr=604800 3600 0 90000\nz=0 0\na=recvonly\na=x-other:1\nb=X-YZ:1\nk=prompt\ne=a@b\np=+1";
    assert_eq!(read(&text("layercast.sdp").replace("t=0 0", added)), read(&text("layercast.sdp")));
}

#[test]
fn descriptions_are_bounded() {
    let long = text("layercast.sdp") + &"a=recvonly\n".repeat(SDP_MAX / 8);
    assert_eq!(read(&long).unwrap_err().problem, SdpProblem::Long(long.len()));
    let many = text("layercast.sdp") + &"a=FEC:1\n".repeat(PARTS_MAX);
    assert_eq!(read(&many).unwrap_err().problem, SdpProblem::Many("a=FEC"));
    let channels = text("layercast.sdp").replace("/3", "/1025").replace("ch:3", "ch:1025");
    assert_eq!(read(&channels).unwrap_err().problem, SdpProblem::ManyChannels(1025));
}

#[test]
fn what_cannot_be_written_is_named() {
    let with = |change: fn(&mut Description)| {
        let mut description = support::session(1, "a", 1);
        change(&mut description);
        description.write().map_err(|error| error.problem)
    };
    assert_eq!(with(|d| d.name = "a\nb".into()), Err(SdpProblem::Text("s=")));
    assert_eq!(with(|d| d.origin.username = "a b".into()), Err(SdpProblem::Text("o=")));
    assert_eq!(with(|d| d.tsi = TSI_MAX + 1), Err(SdpProblem::Tsi(TSI_MAX + 1)));
    assert_eq!(with(|d| d.media.clear()), Err(SdpProblem::NoFlute));
    assert_eq!(with(|d| d.media[0].ttl = None), Err(SdpProblem::Ttl));
    assert_eq!(with(|d| d.media[0].fec.push(4)), Err(SdpProblem::Fec(4)));
    assert_eq!(
        with(|d| d.media[0].group = "ff15::1".parse().unwrap()),
        Err(SdpProblem::Address("ff15::1".into()))
    );
    assert_eq!(with(|d| d.lines.push(("a=b".into(), "c".into()))), Err(SdpProblem::Text("a=x-layercast")));
    let long = "a".repeat(SDP_MAX);
    let mut description = support::session(1, &long, 1);
    description.origin.version = 2;
    assert!(matches!(description.write().unwrap_err().problem, SdpProblem::Long(_)));
}

#[test]
fn a_deletion_carries_the_origin() {
    let origin = Origin::new("2001:db8::1".parse().unwrap(), 17, 2);
    assert_eq!(origin.line(), "o=- 17 2 IN IP6 2001:db8::1\r\n");
    assert_eq!(Origin::read(origin.line().as_bytes()), Ok(origin.clone()));
    assert!(origin.is_same_session(&Origin { version: 3, ..origin.clone() }));
    assert!(!origin.is_same_session(&Origin { id: 3, ..origin.clone() }));
    assert_eq!(Origin::read(b"v=0").unwrap_err().problem, SdpProblem::Missing("o="));
}

fn v4_or_v6() -> impl Strategy<Value = (IpAddr, IpAddr, Option<u8>)> {
    let v4 = (any::<[u8; 2]>(), any::<u8>())
        .prop_map(|([a, b], ttl)| (IpAddr::from([239, a, b, 1]), IpAddr::from([10, a, b, 1]), Some(ttl)));
    let v6 = any::<[u16; 6]>().prop_map(|[a, b, c, d, e, f]| {
        (IpAddr::from([0xff15, a, b, c, d, e, f, 1]), IpAddr::from([0x2001, a, b, c, d, e, f, 1]), None)
    });
    prop_oneof![v4, v6]
}

fn description() -> impl Strategy<Value = Description> {
    let word = "[^\\s\\p{C}]{1,10}";
    let line = "\\PC{1,20}";
    let lines = proptest::collection::btree_map("[a-z]{1,8}", "[^\\s\\p{C}]{1,20}", 0..6);
    let fec = proptest::collection::btree_map(any::<u32>(), (any::<u8>(), any::<Option<u16>>()), 1..4);
    let origin = (word, any::<u64>(), any::<u64>(), any::<bool>(), word);
    let media = proptest::collection::vec((1u16.., 1u16..100, any::<Option<u64>>(), any::<bool>()), 1..5);
    let head = (line, proptest::option::of(line), any::<(u64, u64)>(), any::<bool>(), 0..=TSI_MAX);
    (origin, head, any::<Option<[u8; 32]>>(), fec, media, lines, v4_or_v6()).prop_map(
        |(origin, head, key, fec, media, lines, (group, source, ttl))| {
            let (username, id, version, is_v6, address) = origin;
            let (name, information, (start_s, stop_s), with_source, tsi) = head;
            let fec: Vec<Fec> = fec
                .into_iter()
                .map(|(reference, (encoding, instance))| Fec { reference, encoding, instance })
                .collect();
            let uses = |uses: bool| if uses { vec![fec[0].reference] } else { Vec::new() };
            let media = media
                .into_iter()
                .map(|(port, channels, kbps, with_fec)| Media {
                    port,
                    group,
                    ttl,
                    channels,
                    kbps,
                    fec: uses(with_fec),
                })
                .collect();
            Description {
                origin: Origin { username, id, is_v6, address, version },
                name,
                information,
                start_s,
                stop_s,
                source: with_source.then_some(source),
                tsi,
                key,
                media,
                lines: lines.into_iter().collect(),
                fec,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(description in description()) {
        let written = description.write().unwrap();
        prop_assert_eq!(read(&written), Ok(description));
    }

    #[test]
    fn sessions_come_back(tsi in any::<u32>(), rates in proptest::collection::vec(1u64..10_000_000_000, 1..=32), packet in 256u32..=9000, octets in any::<[u8; 2]>()) {
        let layers = LayerTable::from_rates(rates.iter().map(|&bps| Rate::from_bps(bps as f64))).unwrap();
        let mut session: Session = SESSION.parse().unwrap();
        let group = format!("232.{}.{}.0:5500", octets[0], octets[1]);
        session.group = group.parse().unwrap();
        session.protocol = "rlc".into();
        session.tsi = tsi;
        session.packet = Size::from_bytes(packet);
        session.channels = layers.count();
        session.layers = layers;
        let read = read(&of(&session).write().unwrap()).unwrap();
        prop_assert_eq!(read.session_text().unwrap().parse::<Session>(), Ok(session));
        let total: u64 = rates.iter().sum();
        prop_assert_eq!(read.media[0].kbps, Some(total.div_ceil(1000)));
    }

    #[test]
    fn no_text_panics(lines in proptest::collection::vec("(([vosiuepcbtrzkamx]=)|(a=(flute-ch|flute-tsi|FEC|FEC-declaration|source-filter|x-layercast|x-layercast-key):)|(m=application ))?\\PC{0,30}", 0..12)) {
        let _ = read(&lines.join("\n"));
        let _ = read(&(text("layercast.sdp") + &lines.join("\r\n")));
        let _ = Origin::read(lines.join("\n").as_bytes());
    }

    #[test]
    fn what_is_read_can_be_written(at in 0usize..800, with in "\\PC{0,3}|[0-9/:. \\n]{0,3}", from in 0..3usize) {
        let mut changed = text(["layercast.sdp", "channels.sdp", "broadcast.sdp"][from]);
        let at = at % changed.len();
        changed.replace_range(at..at + 1, &with);
        if let Ok(description) = read(&changed) {
            prop_assert_eq!(read(&description.write().unwrap()), Ok(description));
        }
    }
}
