//! Segmentation offload: many packets as one buffer, which the kernel cuts (`UDP_SEGMENT`, udp(7)).

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

use nix::libc::{EINVAL, EIO, EMSGSIZE, ENOPROTOOPT, EOPNOTSUPP, SOL_UDP, UDP_SEGMENT};
use socket2::{MsgHdr, SockRef};

/// The maximum number of packets of a run: what all kernels take.
pub(crate) const RUN_PACKETS: usize = 64;
/// The maximum length of a run in bytes: that of a datagram of IPv6, which also has the least room.
pub(crate) const RUN_BYTES: usize = 65_487;

/// The words of a control message (cmsg(3)): its length, level and type, and two bytes of data.
const WORD: usize = size_of::<usize>();
const HEADER: usize = WORD + 8;
const CONTROL: usize = HEADER + WORD;

/// Whether the kernel cuts runs into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segmentation {
    is_on: bool,
}

impl Default for Segmentation {
    fn default() -> Segmentation {
        Segmentation { is_on: true }
    }
}

impl Segmentation {
    /// Whether runs may be sent.
    pub(super) fn is_on(self) -> bool {
        self.is_on
    }

    /// Sends a run: packets of the length of the first, of which the last may be shorter. None if the kernel or the
    /// interface cannot cut runs, of which none is sent from then on.
    pub(super) fn send(
        &mut self,
        socket: &UdpSocket,
        to: SocketAddr,
        packets: &[IoSlice<'_>],
    ) -> Option<io::Result<()>> {
        let length = packets.first().and_then(|first| u16::try_from(first.len()).ok())?;
        let (to, control) = (to.into(), control(length));
        let message = MsgHdr::new().with_addr(&to).with_buffers(packets).with_control(&control);
        match SockRef::from(socket).sendmsg(&message, 0) {
            Ok(_) => Some(Ok(())),
            // An interface without checksum offload says EIO; one whose packets are smaller, EINVAL or EMSGSIZE: then each
            // packet gets its own error.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(EIO | EINVAL | EMSGSIZE | ENOPROTOOPT | EOPNOTSUPP)
                ) =>
            {
                tracing::debug!(%error, "UDP GSO unavailable; sending packets individually");
                self.is_on = false;
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// The control message that names the length of packets, as the kernel reads it.
fn control(length: u16) -> [u8; CONTROL] {
    let mut bytes = [0; CONTROL];
    let fields: [&[u8]; 4] = [
        &(HEADER + size_of::<u16>()).to_ne_bytes(),
        &SOL_UDP.to_ne_bytes(),
        &UDP_SEGMENT.to_ne_bytes(),
        &length.to_ne_bytes(),
    ];
    bytes.iter_mut().zip(fields.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    fn pair() -> (UdpSocket, UdpSocket, SocketAddr) {
        let open = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let (from, to) = (open(), open());
        to.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let address = to.local_addr().expect("an address");
        (from, to, address)
    }

    #[test]
    fn a_run_arrives_as_its_packets() {
        let (from, to, address) = pair();
        let packets = [[1; 1000], [2; 1000], [3; 1000]];
        let mut parts = packets.map(|_| IoSlice::new(&[]));
        parts.iter_mut().zip(&packets).for_each(|(part, packet)| *part = IoSlice::new(packet));
        let short = [4; 10];
        let parts = [parts[0], parts[1], parts[2], IoSlice::new(&short)];
        let mut segmentation = Segmentation::default();
        segmentation.send(&from, address, &parts).expect("this kernel has it").expect("sent");
        let mut room = [0; 2000];
        for (byte, length) in [(1, 1000), (2, 1000), (3, 1000), (4, 10)] {
            assert_eq!(to.recv(&mut room).expect("a packet"), length);
            assert!(room[..length].iter().all(|&one| one == byte));
        }
        assert!(segmentation.is_on());
    }

    #[test]
    fn runs_that_the_kernel_refuses_are_not_tried_again() {
        let (from, _to, address) = pair();
        // A run of two packets of which each is longer than the interface carries.
        let long = vec![0; 32_000];
        // The loopback interface carries 65,536 bytes, so the run itself is too long.
        let parts = [IoSlice::new(&long), IoSlice::new(&long), IoSlice::new(&long)];
        let mut segmentation = Segmentation::default();
        assert!(segmentation.send(&from, address, &parts).is_none());
        assert!(!segmentation.is_on());
    }
}
