//! Network namespaces: made on a thread that enters a new one, and kept by a descriptor alone, so that nothing
//! remains of them when the last process and descriptor are gone.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::device::{Device, NAME};
use crate::error::Error;
use crate::netlink::Netlink;
use crate::store::address;

/// The interface of every namespace that comes first.
const LOOPBACK: u32 = 1;

/// What is written below /proc/sys/net before there is a device, and why. What a kernel lacks is left out.
const SETTINGS: &[(&str, &str)] = &[
    // Addresses can be used at once, and no router is looked for.
    ("ipv6/conf/all/accept_dad", "0"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
    // Multicast comes from sources that the routing table may not have.
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    // A connection does not begin with what another one has learnt.
    ("ipv4/tcp_no_metrics_save", "1"),
    // A receiver may join all groups of a session, each from its source.
    ("ipv4/igmp_max_memberships", "4096"),
    ("ipv4/igmp_max_msf", "4096"),
    ("ipv6/mld_max_msf", "4096"),
    // Everyone may ping.
    ("ipv4/ping_group_range", "0 2147483647"),
];

/// What a namespace is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) mtu: u16,
    pub(crate) queue: u32,
}

/// A namespace and what of it is kept.
pub(crate) struct Made {
    pub(crate) namespace: OwnedFd,
    pub(crate) device: Device,
    /// What its devices have carried: a file that shows those of this namespace, whoever reads it.
    pub(crate) statistics: File,
}

/// Makes a namespace with one device, which has the addresses of host `number`.
pub(crate) fn make(number: u32, name: &str, setup: Setup) -> Result<Made, Error> {
    let failed = |what: &str| {
        let (host, what) = (name.to_owned(), what.to_owned());
        move |source: io::Error| Error::Host { host, what, source }
    };
    let made = thread::scope(|scope| {
        scope
            .spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET).map_err(|error| Error::Rights { source: error.into() })?;
                let namespace =
                    File::open("/proc/thread-self/ns/net").map_err(failed("opening its namespace"))?;
                let netlink = Netlink::open().map_err(failed("opening rtnetlink"))?;
                for (setting, value) in SETTINGS {
                    let _ = fs::write(format!("/proc/sys/net/{setting}"), value);
                }
                let device = Device::open(setup.mtu).map_err(|source| Error::Tun { source })?;
                netlink.set_up(LOOPBACK, 1000).map_err(failed("starting its loopback"))?;
                let interface = nix::net::if_::if_nametoindex(NAME)
                    .map_err(|error| failed("finding its device")(error.into()))?;
                netlink.set_up(interface, setup.queue).map_err(failed("starting its device"))?;
                let addresses: [(IpAddr, u8, IpAddr); 2] = [
                    (address::v4(number).into(), 8, IpAddr::from([0; 4])),
                    (address::v6(number).into(), 64, IpAddr::from([0u16; 8])),
                ];
                for (address, prefix, anything) in addresses {
                    // A kernel without IPv6 has hosts without it.
                    if address.is_ipv6() && !fs::exists("/proc/sys/net/ipv6").unwrap_or(false) {
                        continue;
                    }
                    netlink.add_address(interface, address, prefix).map_err(failed("adding an address"))?;
                    netlink.add_route(interface, anything, 0).map_err(failed("adding a route"))?;
                }
                let statistics =
                    File::open("/proc/thread-self/net/dev").map_err(failed("opening its statistics"))?;
                Ok(Made { namespace: namespace.into(), device, statistics })
            })
            .join()
    });
    made.unwrap_or_else(|_| Err(failed("its thread")(io::Error::other("it panicked"))))
}

/// Enters a namespace with the calling thread.
pub(crate) fn enter(namespace: &OwnedFd) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?)
}

/// How many packets a kernel has dropped because nobody took them from its device.
pub(crate) fn overruns(mut statistics: &File) -> Option<u64> {
    statistics.seek(io::SeekFrom::Start(0)).ok()?;
    let mut text = String::new();
    statistics.read_to_string(&mut text).ok()?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(NAME)?.strip_prefix(':'))?;
    // Eight counters of reception, then bytes, packets, errors and drops of transmission.
    line.split_ascii_whitespace().nth(11)?.parse().ok()
}
