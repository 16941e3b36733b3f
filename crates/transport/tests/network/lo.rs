//! Whether the loopback interface of this machine carries multicast.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::Duration;

use layercast_testkit::{Missing, skip};

/// Whether a multicast packet comes back on the loopback interface here; if not, the test is recorded as
/// skipped.
pub(crate) fn works_here() -> bool {
    let group = Ipv4Addr::new(239, 255, 77, 1);
    let tried = || {
        let listener = UdpSocket::bind((group, 0))?;
        listener.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
        listener.set_read_timeout(Some(Duration::from_secs(1)))?;
        let say = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
        say.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
        say.send_to(b"x", &SocketAddrV4::new(group, listener.local_addr()?.port()).into())?;
        listener.recv(&mut [0; 8])
    };
    let error = tried().err();
    if let Some(error) = &error {
        skip(Missing::Multicast, format!("no multicast on the loopback interface here: {error}"));
    }
    error.is_none()
}
