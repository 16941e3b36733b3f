//! A relay towards a link: what its hosts hold against a model, bounds, queries, and the link as a child.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::query::Query;
use layercast_delivery::membership::report::{Record, RecordKind, write};
use layercast_delivery::relay::channels::ChannelSet;
use layercast_delivery::relay::local::{Local, LocalLimits};
use layercast_delivery::relay::parent::Limits;
use layercast_delivery::relay::session::SessionKey;
use proptest::prelude::*;

use crate::relay::world::{World, key};

const GROUP: [u8; 4] = [239, 1, 2, 0];
/// How long a membership holds that is not reported again.
const HELD_FOR: Duration = Duration::from_secs(70);

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn group(number: u8) -> IpAddr {
    Ipv4Addr::new(GROUP[0], GROUP[1], GROUP[2], number).into()
}

fn session(source: Option<IpAddr>) -> SessionKey {
    SessionKey { group: (GROUP, 5500).into(), source }
}

fn link(source: Option<IpAddr>, limits: LocalLimits) -> Local {
    Local::new(ip("192.0.2.10"), &[session(source)], limits, Time::ZERO)
}

/// A datagram as if from another address.
fn from(mut datagram: Vec<u8>, host: Ipv4Addr) -> Vec<u8> {
    datagram[12..16].copy_from_slice(&host.octets());
    datagram[10..12].fill(0);
    let words = datagram[..24].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    datagram[10..12].copy_from_slice(&sum.to_be_bytes());
    datagram
}

fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, 100 + number)
}

fn says(link: &mut Local, now: Time, number: u8, record: Record) {
    for datagram in write(Reporting::Igmp, &[record]) {
        link.receive(now, &from(datagram, host(number)));
    }
}

fn record(kind: RecordKind, number: u8, sources: &[IpAddr]) -> Record {
    Record { kind, group: group(number), sources: sources.to_vec() }
}

/// A report of IGMPv2 (0x16) or a leave (0x17).
fn old(kind: u8, number: u8, sender: u8) -> Vec<u8> {
    let IpAddr::V4(to) = group(number) else { unreachable!() };
    let mut message = vec![kind, 0, 0, 0];
    message.extend(to.octets());
    let sum: u32 = message.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut datagram = vec![0x46, 0xc0, 0, 32, 0, 0, 0x40, 0, 1, 2, 0, 0, 0, 0, 0, 0];
    datagram.extend(to.octets());
    datagram.extend([0x94, 4, 0, 0]);
    datagram.extend(message);
    from(datagram, host(sender))
}

fn channels(link: &Local) -> Vec<u16> {
    link.held()[0].1.iter().map(|channel| channel.0).collect()
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

#[test]
fn the_last_of_several_hosts_ends_a_channel_at_once() {
    let mut link = link(None, LocalLimits::default());
    let all = |kind, number| record(kind, number, &[]);
    says(&mut link, at(0), 1, all(RecordKind::ToExclude, 0));
    says(&mut link, at(1), 2, all(RecordKind::ToExclude, 0));
    says(&mut link, at(2), 2, all(RecordKind::ToExclude, 3));
    assert!(link.take_changed() && channels(&link) == [0, 3] && link.hosts() == 2);
    says(&mut link, at(3), 1, all(RecordKind::ToInclude, 0));
    assert!(!link.take_changed() && channels(&link) == [0, 3] && link.hosts() == 1);
    says(&mut link, at(4), 2, all(RecordKind::ToInclude, 0));
    assert!(link.take_changed() && channels(&link) == [3]);
    // Other groups, below the session and above all that it can have, are none of its business.
    for far in ["239.1.1.255", "239.1.6.0", "224.0.0.251"] {
        let record = Record { kind: RecordKind::ToExclude, group: ip(far), sources: Vec::new() };
        says(&mut link, at(5), 2, record);
    }
    assert!(!link.take_changed());
    link.expire(at(4) + HELD_FOR);
    assert!(link.take_changed() && channels(&link).is_empty() && link.hosts() == 0);
}

#[test]
fn sources_count_where_the_session_has_one() {
    let (ours, other) = (ip("198.51.100.1"), ip("198.51.100.2"));
    let mut link = link(Some(ours), LocalLimits::default());
    says(&mut link, at(0), 1, record(RecordKind::Allow, 1, &[other]));
    assert!(channels(&link).is_empty());
    assert!(link.wants(group(1), other) && !link.wants(group(1), ours));
    says(&mut link, at(0), 1, record(RecordKind::Allow, 1, &[ours]));
    says(&mut link, at(0), 2, record(RecordKind::ToExclude, 2, &[]));
    assert_eq!(channels(&link), [1, 2]);
    assert!(link.wants(group(2), other) && link.wants(group(1), ours));
    says(&mut link, at(0), 1, record(RecordKind::Block, 1, &[ours]));
    assert_eq!(channels(&link), [2]);
}

#[test]
fn hosts_of_older_versions_leave_by_time() {
    let mut link = link(None, LocalLimits::default());
    while link.poll(at(0)).is_some() {}
    link.receive(at(0), &old(0x16, 4, 1));
    assert_eq!((channels(&link), link.hosts()), (vec![4], 0));
    // A leave may be that of one of several: they are asked.
    link.receive(at(100), &old(0x17, 4, 1));
    assert_eq!(channels(&link), [4]);
    let query = link.poll(at(100)).expect("a query of the group");
    assert_eq!(query[16..20], [239, 1, 2, 4]);
    link.receive(at(300), &old(0x16, 4, 2));
    link.expire(at(20_000));
    assert_eq!(channels(&link), [4], "another one has answered");
    link.receive(at(20_000), &old(0x17, 4, 2));
    link.expire(at(22_000));
    assert!(channels(&link).is_empty());
}

#[test]
fn one_router_queries_and_a_leave_is_followed_by_two_queries() {
    let mut link = link(None, LocalLimits::default());
    let queries = |link: &mut Local, from: u64, to: u64| -> usize {
        (from..to).step_by(100).map(|ms| std::iter::from_fn(|| link.poll(at(ms))).count()).sum()
    };
    // At the start two, then one each 30 s.
    assert_eq!(queries(&mut link, 0, 60_000), 3);
    says(&mut link, at(60_000), 1, record(RecordKind::ToExclude, 0, &[]));
    says(&mut link, at(60_000), 1, record(RecordKind::ToInclude, 0, &[]));
    assert_eq!(queries(&mut link, 60_000, 65_000), 2);
    let general = Query::general(Reporting::Igmp, 2, Duration::from_secs(20));
    // One without an address, and one with a higher one, change nothing.
    link.receive(at(65_000), &general.to_bytes());
    link.receive(at(65_000), &from(general.to_bytes(), Ipv4Addr::new(192, 0, 2, 11)));
    assert_eq!(link.other_querier(), None);
    link.receive(at(65_000), &from(general.to_bytes(), Ipv4Addr::new(192, 0, 2, 9)));
    assert_eq!(link.other_querier(), Some(ip("192.0.2.9")));
    assert_eq!(queries(&mut link, 65_000, 105_000), 0);
    assert!(queries(&mut link, 105_000, 106_000) > 0, "the other one is gone");
}

#[test]
fn what_does_not_fit_is_held_without_its_host() {
    let limits = LocalLimits { hosts: 2, subscriptions_of_host: 2, subscriptions: 3 };
    let mut link = link(None, limits);
    for number in 0..4 {
        for channel in 0..4 {
            says(&mut link, at(0), number, record(RecordKind::ToExclude, 4 * number + channel, &[]));
        }
    }
    assert_eq!(link.hosts(), 2);
    assert_eq!(link.counters().untracked, 16 - 3);
    assert_eq!(channels(&link).len(), 6, "as many again, and no more");
    link.expire(at(0) + HELD_FOR);
    assert!(channels(&link).is_empty());
}

#[test]
fn a_link_is_a_child_that_never_falls_silent() {
    let mut world = World::new(7, 1, 1, Limits { children: 1, ..Limits::default() });
    world.run(Duration::from_secs(2));
    let mut set = ChannelSet::default();
    set.insert(Channel(0));
    set.insert(Channel(5));
    let now = world.now;
    world.children[0].join(now, Channel(5));
    world.parents[0].hold_link(now, key(0), set);
    world.run(Duration::from_secs(30));
    assert_eq!((world.parents[0].count(), world.parents[0].children().count()), (1, 2));
    assert_eq!(world.joined[0], BTreeSet::from([Channel(0), Channel(5)]));
    let now = world.now;
    world.parents[0].hold_link(now, key(0), ChannelSet::default());
    world.run(Duration::from_secs(1));
    assert_eq!(world.joined[0], BTreeSet::from([Channel(5)]));
    assert_eq!((world.parents[0].children().count(), world.parents[0].counters().lost), (1, 0));
}

const SOURCES: [&str; 3] = ["198.51.100.1", "198.51.100.2", "198.51.100.3"];

#[derive(Clone, Debug)]
struct Step {
    wait_s: u8,
    host: u8,
    kind: u8,
    group: u8,
    sources: Vec<u8>,
}

fn step() -> impl Strategy<Value = Step> {
    let sources = proptest::collection::vec(0u8..3, 0..3);
    (0u8..30, 0u8..4, 0u8..6, 0u8..3, sources).prop_map(|(wait_s, host, kind, group, sources)| Step {
        wait_s,
        host,
        kind,
        group,
        sources,
    })
}

proptest! {
    /// Against a list of what each host holds until when, by RFC 3376, section 6.4, with all but some sources as all.
    #[test]
    fn what_is_wanted_is_what_some_host_holds(steps in proptest::collection::vec(step(), 0..60)) {
        let mut link = link(None, LocalLimits::default());
        let mut model: BTreeMap<(u8, u8, Option<IpAddr>), Time> = BTreeMap::new();
        let mut now = Time::ZERO;
        for step in steps {
            now += Duration::from_secs(step.wait_s.into());
            let sources: Vec<IpAddr> = step.sources.iter().map(|one| ip(SOURCES[usize::from(*one)])).collect();
            let kinds = [RecordKind::IsInclude, RecordKind::IsExclude, RecordKind::ToInclude, RecordKind::ToExclude,
                RecordKind::Allow, RecordKind::Block];
            let kind = kinds[usize::from(step.kind)];
            says(&mut link, now, step.host, record(kind, step.group, &sources));
            let at = |source| (step.host, step.group, source);
            let until = now + HELD_FOR;
            match kind {
                RecordKind::IsExclude | RecordKind::ToExclude => {
                    model.insert(at(None), until);
                }
                RecordKind::Block => sources.iter().for_each(|one| {
                    model.remove(&at(Some(*one)));
                }),
                _ => {
                    if kind != RecordKind::Allow {
                        model.remove(&at(None));
                    }
                    if kind == RecordKind::ToInclude {
                        model.retain(|&(host, group, _), _| (host, group) != (step.host, step.group));
                    }
                    sources.iter().for_each(|one| {
                        model.insert(at(Some(*one)), until);
                    });
                }
            }
            link.expire(now);
            model.retain(|_, until| *until > now);
            for number in 0..3 {
                for source in SOURCES.map(ip) {
                    let wanted = model.keys().any(|&(_, group, one)| {
                        group == number && one.is_none_or(|one| one == source)
                    });
                    prop_assert_eq!(link.wants(group(number), source), wanted);
                }
            }
            let held: BTreeSet<u16> = model.keys().map(|&(_, group, _)| group.into()).collect();
            prop_assert_eq!(channels(&link).into_iter().collect::<BTreeSet<_>>(), held);
            prop_assert_eq!(link.hosts(), model.keys().map(|(host, ..)| *host).collect::<BTreeSet<_>>().len());
        }
    }

    #[test]
    fn any_bytes_are_no_danger(datagrams: Vec<Vec<u8>>, place: usize, value: u8) {
        let mut link = link(None, LocalLimits::default());
        for datagram in &datagrams {
            link.receive(Time::ZERO, datagram);
        }
        let mut report = from(write(Reporting::Igmp, &[record(RecordKind::Allow, 1, &[ip(SOURCES[0])])]).remove(0), host(1));
        let place = place % report.len();
        report[place] = value;
        link.receive(Time::ZERO, &report);
        prop_assert!(link.hosts() <= 1);
    }
}
