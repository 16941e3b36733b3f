//! Relays in descriptions.

use std::net::SocketAddr;

use layercast_delivery::announce::relays::RELAYS_MAX;
use layercast_delivery::announce::sdp::Description;
use proptest::prelude::*;

fn described() -> Description {
    crate::announce::support::session(7, "News", 1)
}

#[test]
fn relays_are_named_in_their_order_and_only_hosts_are() {
    let relays = ["192.0.2.7:5600", "[2001:db8::7]:5601"].map(|relay| relay.parse().unwrap());
    let not = ["239.1.2.3:5600", "0.0.0.0:5600", "192.0.2.8:0"].map(|relay| relay.parse().unwrap());
    let mut description = described();
    assert!(description.relays().is_empty());
    description.name_relays(&[&not[..], &relays[..]].concat());
    assert_eq!(description.relays(), relays);
    let text = description.write().unwrap();
    assert!(text.contains("a=x-layercast:relays = \"192.0.2.7:5600 [2001:db8::7]:5601\"\r\n"), "{text}");
    let read = Description::read(text.as_bytes()).unwrap();
    assert_eq!((read.relays(), read.session_text().is_ok()), (relays.to_vec(), true));
    description.name_relays(&[]);
    assert_eq!(description, described());
}

proptest! {
    #[test]
    fn they_come_back(relays: Vec<SocketAddr>) {
        let mut description = described();
        description.name_relays(&relays);
        let read = Description::read(description.write().unwrap().as_bytes()).unwrap();
        prop_assert_eq!(read.relays(), description.relays());
        let usable = |relay: &&SocketAddr| !relay.ip().is_multicast() && !relay.ip().is_unspecified() && relay.port() != 0;
        prop_assert!(read.relays().len() <= relays.iter().filter(usable).count().min(RELAYS_MAX));
        // What has no zone or flow comes back as it was.
        let plain = |relay: &SocketAddr| SocketAddr::new(relay.ip(), relay.port());
        let ours: Vec<_> = description.relays().iter().map(plain).collect();
        prop_assert!(ours.iter().all(|one| relays.iter().any(|other| plain(other) == *one)));
    }

    #[test]
    fn any_line_is_no_danger(line in ".{0,600}") {
        let mut description = described();
        description.lines.push(("relays".to_owned(), line));
        prop_assert!(description.relays().len() <= RELAYS_MAX);
    }
}
