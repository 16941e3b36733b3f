//! The line that names a session.

use std::net::IpAddr;

use layercast_delivery::announce::url::{SessionUrl, UrlError};
use layercast_delivery::security::encryption::Salt;
use proptest::prelude::*;

/// The public key of the first test vector of RFC 8032, section 7.1, and the same in base64url.
const KEY: [u8; 32] = [
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
    0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
];
const KEY_TEXT: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

fn read(text: &str) -> Result<SessionUrl, UrlError> {
    text.parse()
}

#[test]
fn a_line_with_everything_is_read_and_printed() {
    let text = format!("layercast://239.1.2.0:5500?source=192.0.2.1&key={KEY_TEXT}&name=News%20of%20today");
    let url = read(&text).unwrap();
    assert_eq!(url.group, IpAddr::from([239, 1, 2, 0]));
    assert_eq!(url.port, 5500);
    assert_eq!(url.source, Some(IpAddr::from([192, 0, 2, 1])));
    assert_eq!(url.key, Some(KEY));
    assert_eq!(url.name.as_deref(), Some("News of today"));
    assert_eq!(url.to_string(), text);
}

#[test]
fn ipv6_stands_in_brackets() {
    let text = "layercast://[ff3e::8000:1]:5500?source=2001:db8::1";
    let url = read(text).unwrap();
    assert_eq!(url.group, "ff3e::8000:1".parse::<IpAddr>().unwrap());
    assert_eq!(url.to_string(), text);
    assert_eq!(read("layercast://ff15::1:5500"), Err(UrlError::Brackets("ff15::1:5500".into())));
    assert_eq!(read("layercast://[ff15::1"), Err(UrlError::Group("[ff15::1".into())));
    assert_eq!(read("layercast://[ff12::1%eth0]:1"), Err(UrlError::Group("ff12::1%eth0".into())));
}

#[test]
fn other_parameters_and_letter_case_of_the_scheme_do_not_matter() {
    let url = read("LayerCast://239.1.2.0:5500/?later=1&later=%zz&&name=a&x").unwrap();
    assert_eq!(url.to_string(), "layercast://239.1.2.0:5500?name=a");
    assert_eq!(read("layercast://239.1.2.0:5500").unwrap().name, None);
}

#[test]
fn what_is_wrong_is_named_with_a_remedy() {
    let group = IpAddr::from([232, 1, 1, 1]);
    let own = IpAddr::from([239, 1, 2, 0]);
    let v6: IpAddr = "2001:db8::1".parse().unwrap();
    for (text, error) in [
        ("239.1.2.0:5500", UrlError::Scheme),
        ("", UrlError::Scheme),
        ("http://239.1.2.0:5500", UrlError::Scheme),
        ("layercast://news:5500", UrlError::Group("news".into())),
        ("layercast://10.1.2.0:5500", UrlError::NotMulticast([10, 1, 2, 0].into())),
        ("layercast://224.0.0.5:5500", UrlError::NotMulticast([224, 0, 0, 5].into())),
        ("layercast://[ff01::5]:5500", UrlError::NotMulticast("ff01::5".parse().unwrap())),
        ("layercast://239.1.2.0", UrlError::Port("239.1.2.0".into())),
        ("layercast://239.1.2.0:0", UrlError::Port("239.1.2.0:0".into())),
        ("layercast://239.1.2.0:+5", UrlError::Port("239.1.2.0:+5".into())),
        ("layercast://239.1.2.0:65536", UrlError::Port("239.1.2.0:65536".into())),
        ("layercast://[ff15::1]5500", UrlError::Port("[ff15::1]5500".into())),
        ("layercast://239.1.2.0:5500/news", UrlError::Unexpected("/news".into())),
        ("layercast://239.1.2.0:5500?name=a#b", UrlError::Unexpected("#b".into())),
        ("layercast://239.1.2.0:5500?name=a&name=a", UrlError::Duplicate("name")),
        ("layercast://239.1.2.0:5500?name=a%2", UrlError::Escape("name")),
        ("layercast://239.1.2.0:5500?name=%ff", UrlError::Escape("name")),
        ("layercast://239.1.2.0:5500?name=", UrlError::Name),
        ("layercast://239.1.2.0:5500?name=a%1b", UrlError::Name),
        ("layercast://239.1.2.0:5500?source=home", UrlError::Source("home".into())),
        ("layercast://239.1.2.0:5500?source=239.1.2.0", UrlError::Source("239.1.2.0".into())),
        ("layercast://239.1.2.0:5500?source=2001:db8::1", UrlError::Families(v6, own)),
        ("layercast://232.1.1.1:5500", UrlError::NoSource(group)),
        ("layercast://239.1.2.0:5500?key=abc", UrlError::Key("abc".into())),
    ] {
        assert_eq!(read(text), Err(error), "{text}");
    }
    let long = format!("layercast://239.1.2.0:5500?name={}", "a".repeat(3000));
    assert_eq!(read(&long), Err(UrlError::Long(long.len())));
    let message = read("layercast://232.1.1.1:5500").unwrap_err().to_string();
    assert_eq!(message, "232.1.1.1 is a group for source-specific multicast; add `source=ADDRESS`");
}

#[test]
fn a_key_has_one_spelling() {
    // The last character holds two bits of nothing.
    let other = format!("layercast://239.1.2.0:5500?key={}p", &KEY_TEXT[..42]);
    assert!(matches!(read(&other), Err(UrlError::Key(_))));
    assert!(matches!(read(&format!("layercast://239.1.2.0:5500?key={KEY_TEXT}=")), Err(UrlError::Key(_))));
}

fn group() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    let v4 = (224u8..240, 1u8.., any::<[u8; 2]>(), 1u8..224, any::<[u8; 3]>());
    let v4 = v4.prop_map(|(a, b, [c, d], s, [t, u, v])| ([a, b, c, d].into(), [s, t, u, v].into()));
    let v6 =
        (2u16..15, any::<[u16; 7]>(), any::<[u16; 7]>()).prop_map(|(scope, [b, c, d, e, f, g, h], s)| {
            let group = IpAddr::from([0xff00 | scope, b, c, d, e, f, g, h]);
            (group, IpAddr::from([0x2001, s[0], s[1], s[2], s[3], s[4], s[5], s[6]]))
        });
    prop_oneof![v4, v6]
}

proptest! {
    #[test]
    fn what_is_printed_is_read(
        (group, source) in group(),
        port in 1u16..,
        with_source in any::<bool>(),
        key in any::<Option<[u8; 32]>>(),
        salt in any::<Option<[u8; 16]>>(),
        name in proptest::option::of("\\PC{1,60}"),
    ) {
        let url = SessionUrl { group, port, source: with_source.then_some(source), key, salt: salt.map(Salt), name };
        if url.check().is_ok() {
            prop_assert_eq!(read(&url.to_string()), Ok(url));
        } else {
            prop_assert!(read(&url.to_string()).is_err());
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", rest in "[-a-z0-9:/?&=%#.\\[\\]\\PC]{0,80}") {
        let _ = read(&text);
        if let Ok(url) = read(&format!("layercast://{rest}")) {
            prop_assert_eq!(read(&url.to_string()), Ok(url));
        }
        let _ = read(&format!("layercast://239.1.2.0:5500?{rest}"));
    }
}
