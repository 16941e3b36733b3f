//! Hosts as their users see them.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;

use layercast_simulator::NodeId;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::children::Starter;
use crate::namespace;
use crate::store::address;

pub use layercast_simulator::outside::HostId;

/// A host: a network namespace with one device. Copies may be used from any thread, also while the emulation runs.
#[derive(Clone, Debug)]
pub struct Host {
    id: HostId,
    node: NodeId,
    name: Arc<str>,
    namespace: Arc<OwnedFd>,
    starter: Starter,
}

impl Host {
    pub(crate) fn new(id: HostId, node: NodeId, name: &str, namespace: OwnedFd, starter: Starter) -> Host {
        Host { id, node, name: name.into(), namespace: Arc::new(namespace), starter }
    }

    /// Its number.
    pub fn id(&self) -> HostId {
        self.id
    }

    /// Its node in the network.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its IPv4 address.
    pub fn ipv4(&self) -> Ipv4Addr {
        address::v4(self.id.0)
    }

    /// Its IPv6 address.
    pub fn ipv6(&self) -> Ipv6Addr {
        address::v6(self.id.0)
    }

    /// The name of its device.
    pub fn interface(&self) -> &'static str {
        crate::device::NAME
    }

    /// A path by which other programs can enter it as long as this process lives: `nsenter --net=PATH`.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.namespace.as_raw_fd()).into()
    }

    /// Does something in it, on a thread of its own: a socket that is made there stays there.
    ///
    /// # Errors
    /// That of the system if the namespace cannot be entered.
    pub fn run<T: Send>(&self, act: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let entered = scope.spawn(|| namespace::enter(&self.namespace).map(|()| act()));
            entered.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Starts a command in it. The process and all that it starts are killed when the emulation ends.
    ///
    /// # Errors
    /// Those of [`Command::spawn`].
    pub fn spawn(&self, command: Command) -> io::Result<Child> {
        self.starter.spawn(&self.namespace, command)
    }
}

/// Asks a process to end: SIGTERM. One that has ended already is no error.
///
/// # Errors
/// That of the system if it cannot be asked.
pub fn ask_to_end(child: &Child) -> io::Result<()> {
    let Ok(id) = i32::try_from(child.id()) else { return Ok(()) };
    match kill(Pid::from_raw(id), Signal::SIGTERM) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }
}
