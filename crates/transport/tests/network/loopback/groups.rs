//! Many groups, and groups that two sessions share.

use super::*;
use layercast_core::units::{Channel, Level};
use layercast_delivery::node::ReceiverNote;

/// What `net.ipv4.igmp_max_memberships` allows a socket; the kernel's default where it cannot be read.
fn memberships_per_socket() -> u16 {
    let text = fs::read_to_string("/proc/sys/net/ipv4/igmp_max_memberships").unwrap_or_default();
    text.trim().parse().unwrap_or(20)
}

#[test]
fn a_receiver_joins_more_groups_than_a_socket_may() {
    if !works_here() {
        return;
    }
    let count = memberships_per_socket().saturating_add(5).min(500);
    let temp = TempDir::new("groups");
    let file = temp.with("file", &content(3_000));
    let mut options = SendOptions {
        layers: LayerTable::equal(Rate::from_kbps(20.0), count).unwrap(),
        ..sending(0, "fixed", Ends::default())
    };
    options.group = SocketAddrV4::new(Ipv4Addr::new(239, 254, 78, 0), group(0).port()).into();
    let first = options.group;
    let source = start(file, options);
    source.session();
    let mut receiver = receiving(0, temp.directory("into"));
    receiver.known = Known::Group(first, None);
    // A service stays when it has the file.
    receiver.keep_going = true;
    receiver.protocol_options = vec![("level".to_owned(), (count - 1).to_string())];
    let (stop, mut joined, mut failed) = (AtomicBool::new(false), Vec::new(), 0);
    let ended = receive(&receiver, &stop, &mut |event| match event {
        Event::Trace(trace) => {
            if let ReceiverNote::Joined(channel) = trace.note {
                joined.push(channel);
            }
        }
        Event::Progress(Progress::Receive(progress))
            if progress.estimates.level == Level::from_count(count) =>
        {
            failed = progress.counters.node.failed_joins;
            stop.store(true, Ordering::Relaxed);
        }
        _ => {}
    });
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    joined.sort();
    joined.dedup();
    assert_eq!((joined.len(), failed), (usize::from(count), 0));
    assert_eq!(joined.last(), Some(&Channel(count - 1)));
    source.end().unwrap();
}

#[test]
fn a_source_names_a_session_that_uses_some_of_its_groups() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("shared");
    // All layers are sent, whether or not there is a receiver.
    let announced =
        SendOptions { is_announced: true, on_demand: false, ..sending(240, "elm", Ends::default()) };
    let one = start(temp.with("one", &content(1_000)), announced);
    let first = one.session();
    // The last of three groups of the first is the first of three of the second.
    let last = SocketAddr::new(group(242).ip(), first.group.port());
    let other = SendOptions { group: last, ..sending(242, "elm", Ends::default()) };
    let other = start(temp.with("other", &content(1_000)), other);
    let heard = other.notice(|notice| matches!(notice, Notice::OtherSender { .. }));
    let expected = Notice::OtherSender { from: first.source, group: last, is_ours: true };
    assert_eq!(heard, expected);
    let shared = other.notice(|notice| matches!(notice, Notice::SharedGroups { .. }));
    let text = shared.to_string();
    let Notice::SharedGroups { name, groups, own, free, .. } = shared else { panic!("{text}") };
    assert_eq!((name.as_str(), Some(groups)), ("test 240", first.groups()));
    assert_eq!(own.first(), last);
    assert!(free.is_some_and(|free| text.contains(&format!("another --group, such as {free}"))), "{text}");
    one.end().unwrap();
    other.end().unwrap();
}

#[test]
fn groups_that_leave_their_scope_are_refused_with_the_highest_that_do_not() {
    let temp = TempDir::new("scope");
    let mut options = sending(0, "elm", Ends::default());
    options.group = SocketAddrV4::new(Ipv4Addr::new(239, 255, 255, 254), 5500).into();
    let refused = send(&[temp.with("file", &[7])], &options, &AtomicBool::new(false), &mut |_| {});
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("needs 3 groups") && text.contains("use 239.255.255.253 or a lower address"),
        "{text}"
    );
}
