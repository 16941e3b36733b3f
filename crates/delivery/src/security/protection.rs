//! Protection of packets between the host and the network: each packet gets its number and its tag on the way out, and is
//! checked on the way in, before anything else is done with it.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::encryption::{Encryption, Salt};
pub use super::extension::{AUTH_BYTES, InsertError, TAG_BYTES};
use super::extension::{FindError, Found, Place, find, insert};
use super::keys::GroupKey;
use super::mac::GroupMac;
use super::sequence::{Refused, ReplayWindow, Sequence, SequenceError};
use crate::packet::View;

/// The number of the MAC among the session's schemes (RFC 6584, section 2: the session defines it).
pub const ASID_MAC: u8 = 0;
/// The number of encryption among the session's schemes.
pub const ASID_ENCRYPTION: u8 = 1;

/// How the packets of a session are protected.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// Authenticated by the group's MAC (RFC 6584, section 5).
    Mac(GroupMac),
    /// Authenticated and encrypted.
    Encryption(Encryption),
}

impl Scheme {
    /// The group's MAC for a session.
    pub fn mac(key: &GroupKey, tsi: u32) -> Scheme {
        Scheme::Mac(GroupMac::new(key, tsi))
    }

    /// Encryption for a session.
    pub fn encryption(key: &GroupKey, salt: Salt, tsi: u32) -> Scheme {
        Scheme::Encryption(Encryption::new(key, salt, tsi))
    }

    /// How a session is protected whose description has this salt, or none.
    pub fn of(key: &GroupKey, salt: Option<Salt>, tsi: u32) -> Scheme {
        match salt {
            Some(salt) => Scheme::encryption(key, salt, tsi),
            None => Scheme::mac(key, tsi),
        }
    }

    fn asid(&self) -> u8 {
        match self {
            Scheme::Mac(_) => ASID_MAC,
            Scheme::Encryption(_) => ASID_ENCRYPTION,
        }
    }
}

/// Why a packet cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtectError {
    /// There is no packet number for it.
    #[error(transparent)]
    Number(#[from] SequenceError),
    /// It has no space for the extension.
    #[error(transparent)]
    Packet(#[from] InsertError),
}

/// The protection of a sender's packets.
#[derive(Debug)]
pub struct Outgoing {
    scheme: Scheme,
    /// The packet numbers, for the host to grant more.
    pub sequence: Sequence,
}

impl Outgoing {
    /// The protection of a session; its packet numbers go on where they were stored. Whoever clones the state of a
    /// sender would use numbers twice, so it cannot be cloned.
    pub fn new(scheme: Scheme, sequence: Sequence) -> Outgoing {
        Outgoing { scheme, sequence }
    }

    /// Protects the packet that is the first `length` bytes of `room`, which needs [`AUTH_BYTES`] more. Returns its new
    /// length. Allocates nothing.
    ///
    /// # Errors
    /// Why the packet must not be sent.
    pub fn protect(&mut self, room: &mut [u8], length: usize) -> Result<usize, ProtectError> {
        let number = self.sequence.next_number()?;
        let place = insert(room, length, self.scheme.asid(), number)?;
        match &mut self.scheme {
            Scheme::Mac(mac) => {
                let tag = mac.tag(room, place);
                place.put(room, &tag);
            }
            Scheme::Encryption(encryption) => encryption.seal(room, place, number)?,
        }
        Ok(place.end)
    }
}

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// It is not an LCT packet, or cut short.
    Malformed,
    /// It is of another session.
    Session,
    /// It is not protected.
    Unprotected,
    /// It is protected in another way than the session's packets are.
    Scheme,
    /// Its number is below the window: it was held back for long, or is replayed.
    Old,
    /// It came before.
    Replayed,
    /// Its tag is wrong: it was forged or changed, or the group keys differ.
    Forged,
}

impl Rejection {
    /// All of them.
    pub const ALL: [Rejection; 7] = [
        Rejection::Malformed,
        Rejection::Session,
        Rejection::Unprotected,
        Rejection::Scheme,
        Rejection::Old,
        Rejection::Replayed,
        Rejection::Forged,
    ];

    /// A word for counters.
    pub fn name(self) -> &'static str {
        match self {
            Rejection::Malformed => "malformed",
            Rejection::Session => "other-session",
            Rejection::Unprotected => "unprotected",
            Rejection::Scheme => "other-scheme",
            Rejection::Old => "old",
            Rejection::Replayed => "replayed",
            Rejection::Forged => "forged",
        }
    }
}

/// How many packets were accepted, and how many rejected for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionCounters {
    /// Authentic packets, each for the first time.
    pub accepted: u64,
    rejected: [u64; Rejection::ALL.len()],
}

impl ProtectionCounters {
    /// How many packets were rejected for a reason.
    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.rejected[reason as usize]
    }

    /// How many packets were rejected as not authentic, whatever it is that they lack; those of other sessions are none.
    pub fn forged(&self) -> u64 {
        [Rejection::Unprotected, Rejection::Scheme, Rejection::Forged]
            .map(|reason| self.rejected(reason))
            .iter()
            .sum()
    }

    /// Whether packets come and none is authentic: the receiver has another group key than the sender, rather than an
    /// attacker, who could not keep the sender's packets from being accepted too.
    pub fn suggests_wrong_key(&self) -> bool {
        self.accepted == 0 && self.rejected(Rejection::Forged) >= 16
    }
}

impl Serialize for ProtectionCounters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ProtectionCounters", 2)?;
        fields.serialize_field("packets_forged", &self.forged())?;
        fields.serialize_field("packets_replayed", &self.rejected(Rejection::Replayed))?;
        fields.end()
    }
}

/// Whether a packet says that it is encrypted, which anyone can write.
pub fn seems_encrypted(packet: &[u8]) -> bool {
    let found = View::new(packet).ok().and_then(|view| find(packet, &view).ok());
    found.is_some_and(|found| found.asid == ASID_ENCRYPTION)
}

/// The check of a receiver's packets.
#[derive(Clone, Debug)]
pub struct Incoming {
    scheme: Scheme,
    tsi: u32,
    window: ReplayWindow,
    counters: ProtectionCounters,
}

impl Incoming {
    /// The check of a session's packets.
    pub fn new(scheme: Scheme, tsi: u32, window: ReplayWindow) -> Incoming {
        Incoming { scheme, tsi, window, counters: ProtectionCounters::default() }
    }

    /// The check of a session whose description has this salt, or none, for a receiver that has stored no packet number
    /// of it.
    pub fn of(key: &GroupKey, salt: Option<Salt>, tsi: u32) -> Incoming {
        Incoming::new(Scheme::of(key, salt, tsi), tsi, ReplayWindow::above(0))
    }

    /// Whether a packet is authentic and comes for the first time. If so, its payload is decrypted. Otherwise its bytes
    /// must not be used. Allocates nothing, never panics.
    ///
    /// # Errors
    /// Why it must be dropped; it is counted.
    pub fn accept(&mut self, packet: &mut [u8]) -> Result<(), Rejection> {
        let accepted = self.check(packet);
        self.count(accepted)
    }

    /// As [`Incoming::accept`], for packets that are repeated as they are: whether they came before does not count.
    ///
    /// # Errors
    /// As [`Incoming::accept`].
    pub fn accept_repeated(&mut self, packet: &mut [u8]) -> Result<(), Rejection> {
        let accepted = self.open(packet);
        self.count(accepted)
    }

    fn count(&mut self, accepted: Result<(), Rejection>) -> Result<(), Rejection> {
        match accepted {
            Ok(()) => self.counters.accepted += 1,
            Err(reason) => self.counters.rejected[reason as usize] += 1,
        }
        accepted
    }

    /// Decrypts an authentic packet, whether it came before or not.
    ///
    /// # Errors
    /// Why it must be dropped; it is not counted.
    pub fn open(&mut self, packet: &mut [u8]) -> Result<(), Rejection> {
        let Found { place, asid, number } = self.examine(packet)?;
        if asid != self.scheme.asid() {
            return Err(Rejection::Scheme);
        }
        if self.is_authentic(packet, place, number) { Ok(()) } else { Err(Rejection::Forged) }
    }

    fn check(&mut self, packet: &mut [u8]) -> Result<(), Rejection> {
        let Found { place, asid, number } = self.examine(packet)?;
        if asid != self.scheme.asid() {
            return Err(Rejection::Scheme);
        }
        // First, as it costs nothing (RFC 6584, section 3.3.2).
        self.window.check(number).map_err(|refused| match refused {
            Refused::Old => Rejection::Old,
            Refused::Again => Rejection::Replayed,
        })?;
        if !self.is_authentic(packet, place, number) {
            return Err(Rejection::Forged);
        }
        self.window.note(number);
        Ok(())
    }

    fn examine(&self, packet: &[u8]) -> Result<Found, Rejection> {
        let view = View::new(packet).map_err(|_| Rejection::Malformed)?;
        if view.tsi() != Some(u64::from(self.tsi)) {
            return Err(Rejection::Session);
        }
        find(packet, &view).map_err(|error| match error {
            FindError::Missing => Rejection::Unprotected,
            FindError::Form => Rejection::Scheme,
        })
    }

    fn is_authentic(&mut self, packet: &mut [u8], place: Place, number: u64) -> bool {
        match &mut self.scheme {
            Scheme::Mac(mac) => mac.verify(packet, place),
            Scheme::Encryption(encryption) => encryption.open(packet, place, number),
        }
    }

    /// The highest packet number that was accepted: what a receiver stores for [`ReplayWindow::above`].
    pub fn highest(&self) -> u64 {
        self.window.highest()
    }

    /// The same check, which has counted nothing.
    pub(super) fn uncounted(self) -> Incoming {
        Incoming { counters: ProtectionCounters::default(), ..self }
    }

    /// The counters.
    pub fn counters(&self) -> &ProtectionCounters {
        &self.counters
    }
}
