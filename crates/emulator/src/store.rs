//! The bytes of packets in flight.

use std::net::IpAddr;

/// A packet's bytes, and what of them is needed when it leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    /// The hop limit that its sender gave it.
    pub(crate) hops: u8,
}

/// The bytes of all packets in flight, by the number of the simulation's slot.
///
/// There are no counts of references, although the copies of a multicast packet share their bytes. Bytes are
/// written here only when a packet is brought into the simulation, in the slot that it got there. The simulation
/// gives a slot away only after the last copy has arrived or was lost; what has arrived is taken out of the
/// simulation and written to the devices before the next packet is brought in. So no bytes are overwritten that
/// somebody still waits for.
///
/// Buffers are kept, so that nothing is allocated once the largest number in flight was reached.
#[derive(Debug, Default)]
pub(crate) struct Store {
    packets: Vec<Stored>,
}

impl Store {
    /// Keeps the bytes of a packet that got this slot.
    pub(crate) fn put(&mut self, slot: u32, bytes: &[u8], hops: u8) {
        let slot = slot as usize;
        if self.packets.len() <= slot {
            self.packets.resize_with(slot + 1, Stored::default);
        }
        let stored = &mut self.packets[slot];
        stored.bytes.clear();
        stored.bytes.extend_from_slice(bytes);
        stored.hops = hops;
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Stored> {
        self.packets.get_mut(slot as usize)
    }
}

/// The number of an address of ours: how IPv4 and IPv6 addresses name hosts.
pub(crate) mod address {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::IpAddr;

    /// How many hosts have addresses.
    pub(crate) const MOST_HOSTS: usize = 60_000;

    /// The first three groups of all IPv6 addresses: a prefix of RFC 4193.
    const PREFIX: [u16; 4] = [0xfd6c, 0x6179, 0x6572, 0];

    pub(crate) fn v4(host: u32) -> Ipv4Addr {
        let [_, _, high, _] = (host / 254).to_be_bytes();
        let [_, _, _, middle] = (host / 254).to_be_bytes();
        Ipv4Addr::new(10, high, middle, (host % 254) as u8 + 1)
    }

    pub(crate) fn v6(host: u32) -> Ipv6Addr {
        let [a, b, c, d] = PREFIX;
        let number = host + 1;
        Ipv6Addr::new(a, b, c, d, 0, 0, (number >> 16) as u16, number as u16)
    }

    /// The host that has this address.
    pub(crate) fn host(address: IpAddr) -> Option<u32> {
        let host = match address {
            IpAddr::V4(address) => {
                let [ten, high, middle, low] = address.octets();
                let low = u32::from(low.checked_sub(1)?);
                (ten == 10 && low < 254).then(|| u32::from(u16::from_be_bytes([high, middle])) * 254 + low)
            }
            IpAddr::V6(address) => {
                let groups = address.segments();
                let number = u32::from(groups[6]) << 16 | u32::from(groups[7]);
                (groups[..4] == PREFIX && groups[4] == 0 && groups[5] == 0).then(|| number.checked_sub(1))?
            }
        };
        host.filter(|&host| (host as usize) < MOST_HOSTS)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn an_address_names_its_host() {
            for number in (0..1000).chain([65_535 / 2, MOST_HOSTS as u32 - 1]) {
                assert_eq!(host(v4(number).into()), Some(number));
                assert_eq!(host(v6(number).into()), Some(number));
                assert!(!v4(number).octets().ends_with(&[255]));
            }
            for other in
                ["10.0.0.0", "10.0.0.255", "10.255.255.254", "11.0.0.1", "fd6c:6179:6572::", "fd00::1"]
            {
                assert_eq!(host(other.parse().unwrap()), None, "{other}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::{Channel, Duration, Rate, Size, Time};
    use layercast_simulator::{
        EcnField, ForeignPacket, Latency, LinkConfig, LossModel, LossPlace, Network, QueueConfig, QueueLimit,
        ReceiverConfig, SessionConfig, Simulation,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::host::HostId;
    use layercast_simulator::outside::{Foreign, ForeignReceiver, Handle, Outsider};

    #[test]
    fn a_slot_holds_what_was_put_last() {
        let mut store = Store::default();
        store.put(3, &[1, 2, 3], 64);
        store.put(0, &[9], 1);
        store.put(3, &[4, 5], 8);
        let stored = store.get_mut(3).unwrap();
        assert_eq!((stored.bytes.as_slice(), stored.hops), ([4, 5].as_slice(), 8));
        assert!(store.get_mut(1).unwrap().bytes.is_empty());
        assert!(store.get_mut(4).is_none());
    }

    /// A packet of the test: when it is sent after the one before, to whom, and how large it is.
    #[derive(Clone, Copy, Debug)]
    struct Sent {
        after_us: u64,
        /// 0 and 1: to a receiver alone; 2: to both.
        to: u8,
        size: u32,
        /// Whether the first receiver changes its membership then.
        changes: bool,
    }

    fn sent() -> impl Strategy<Value = Vec<Sent>> {
        let one =
            (0u64..3000, 0u8..3, 40u32..1500, any::<bool>()).prop_map(|(after_us, to, size, changes)| Sent {
                after_us,
                to,
                size,
                changes: changes && to == 2,
            });
        prop::collection::vec(one, 1..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        /// What arrives has the bytes that were sent, whatever is lost, copied, pruned and sent in between.
        #[test]
        fn what_arrives_has_its_own_bytes(packets in sent()) {
            let mut network = Network::new();
            let [source, router, first, second] = ["s", "r", "a", "b"].map(|name| network.add_node(name));
            let link = LinkConfig {
                rate: Rate::from_mbps(8.0),
                delay: Duration::from_ms(2),
                queue: QueueConfig::drop_tail(QueueLimit::Packets(4)),
                loss: LossModel::Bernoulli(0.1),
                loss_place: LossPlace::AfterLink,
                loss_marks: false,
            };
            for (from, to) in [(source, router), (router, first), (router, second)] {
                network.add_link(from, to, link.clone(), link.clone()).unwrap();
            }
            let mut simulation = Simulation::<Foreign>::new(network, 1);
            let receiver = |(number, node)| ReceiverConfig {
                node,
                receiver: ForeignReceiver::new(HostId(number)),
                start: Time::ZERO,
                stop: None,
                join_latency: Latency::NONE,
                leave_latency: Duration::from_ms(1).into(),
            };
            let ids = simulation.add_session(SessionConfig {
                source_node: source,
                source: Outsider,
                channels: 1,
                ecn: EcnField::NotCapable,
                observes_late_packets: true,
                name: "session".to_owned(),
                start: Time::ZERO,
                stop: None,
                receivers: [(0, first), (1, second)].into_iter().map(receiver).collect(),
                packets: None,
                routers: None,
            }).unwrap();
            let paths = [first, second].map(|node| simulation.open_path(source, node).unwrap());
            ids.iter().for_each(|id| simulation.join(*id, Channel(0)));
            let (mut store, mut now, mut has_joined, mut arrived) = (Store::default(), Time::ZERO, true, 0);
            // The last word of each packet is its number; it arrives once at each of those that it is for.
            let mut awaited = std::collections::BTreeSet::new();
            let check = |store: &mut Store, awaited: &mut std::collections::BTreeSet<(u32, u32)>, slot: u32, at: u32| {
                let stored = store.get_mut(slot).unwrap();
                let number = u32::from_be_bytes(*stored.bytes.last_chunk::<4>().unwrap());
                awaited.remove(&(number, at))
            };
            for (number, packet) in packets.iter().enumerate() {
                now += Duration::from_us(packet.after_us);
                simulation.serve_until(now);
                let mut slots = Vec::new();
                simulation.drain_foreign(&mut |arrival| slots.push((arrival.header.0, u32::from(arrival.path == paths[1]))));
                if let Some(receivers) = simulation.receivers_mut(ids[0].session()) {
                    let hosts: Vec<_> = receivers.drain().collect();
                    for arrival in hosts {
                        let host = receivers.get_mut(arrival.receiver as usize).unwrap().host.0;
                        slots.push((arrival.header.0, host));
                    }
                }
                arrived += slots.len();
                for (slot, at) in slots {
                    prop_assert!(check(&mut store, &mut awaited, slot, at));
                }
                if packet.changes {
                    if has_joined { simulation.leave(ids[0], Channel(0)) } else { simulation.join(ids[0], Channel(0)) }
                    has_joined = !has_joined;
                }
                let foreign =
                    ForeignPacket { size: Size::from_bytes(packet.size), ecn: 0, label: 0, counts: true };
                let slot = match paths.get(usize::from(packet.to)) {
                    Some(&path) => simulation.send_foreign(path, foreign, Handle),
                    None => simulation.multicast_foreign(ids[0].session(), Channel(0), foreign, Handle),
                };
                if let Some(slot) = slot {
                    store.put(slot, &(number as u32).to_be_bytes(), 64);
                    let to = if packet.to == 2 { 0..2 } else { u32::from(packet.to)..u32::from(packet.to) + 1 };
                    awaited.extend(to.map(|host| (number as u32, host)));
                }
            }
            simulation.run_until(now + Duration::from_secs(1));
            prop_assert!(arrived > 0 || packets.len() < 50);
            prop_assert_eq!(simulation.packets_in_flight(), 0);
        }
    }
}
