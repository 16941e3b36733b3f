//! Why an emulation cannot be made or run.

use std::io;

use layercast_simulator::NetworkError;

/// Why an emulation cannot be made or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rights of root are missing.
    #[error(
        "no network namespace can be made here ({source}); run as root, or allow user namespaces \
         (sysctl kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 where these exist) \
         and start with `unshare --user --map-root-user --net`"
    )]
    Rights {
        /// What the system said.
        source: io::Error,
    },
    /// There is no TUN device.
    #[error(
        "no TUN device can be opened ({source}); load the module with `modprobe tun`, and allow /dev/net/tun to be read and written"
    )]
    Tun {
        /// What the system said.
        source: io::Error,
    },
    /// A host cannot be set up.
    #[error("host {host}: {what} failed: {source}")]
    Host {
        /// Its name.
        host: String,
        /// What failed.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A call of the system failed.
    #[error("{what} failed: {source}")]
    System {
        /// What failed.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The network does not connect what a flow or session needs.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// There are more hosts than addresses.
    #[error("{hosts} hosts, but at most {most} can be emulated; leave some out")]
    TooManyHosts {
        /// How many there are.
        hosts: usize,
        /// How many there can be.
        most: usize,
    },
    /// A flow whose ends are at one node.
    #[error(
        "{from} and {to} are at the same node, where no link lies between them; put them at different nodes"
    )]
    SameNode {
        /// One host.
        from: String,
        /// The other.
        to: String,
    },
}

impl Error {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::System { what, source }
    }
}
