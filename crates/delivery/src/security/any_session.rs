//! The check of packets whose session is not known: while one is searched, and those of other sessions afterwards.

use super::encryption::Salt;
use super::keys::GroupKey;
use super::protection::{Incoming, Rejection};
use crate::packet::View;

/// The maximum number of sessions whose packets are checked at the same time. The oldest makes room, one without an authentic
/// packet first: anyone can name sessions.
const SESSIONS_MAX: usize = 8;

/// A check for each session whose packets come.
#[derive(Debug)]
pub struct AnySession {
    key: GroupKey,
    salt: Option<Salt>,
    /// By session and salt.
    checks: Vec<((u32, Option<Salt>), Incoming)>,
}

impl AnySession {
    /// The check by a group key, and with a salt by encryption.
    pub fn new(key: GroupKey, salt: Option<Salt>) -> AnySession {
        AnySession { key, salt, checks: Vec::new() }
    }

    /// Checks and decrypts a packet by the key of the session that it names, as [`Incoming::accept`] does.
    ///
    /// # Errors
    /// Why it must be dropped.
    pub fn accept(&mut self, packet: &mut [u8]) -> Result<(), Rejection> {
        let tsi = View::new(packet).ok().and_then(|view| view.tsi()).and_then(|tsi| u32::try_from(tsi).ok());
        let tsi = tsi.ok_or(Rejection::Malformed)?;
        let place = self.checks.iter().position(|(of, _)| *of == (tsi, self.salt)).unwrap_or_else(|| {
            self.put(tsi, Incoming::of(&self.key, self.salt, tsi));
            self.checks.len() - 1
        });
        self.checks.get_mut(place).map_or(Err(Rejection::Session), |(_, check)| check.accept(packet))
    }

    /// Takes out the check of a session, for its receiver. It refuses what came before, and has counted nothing.
    pub fn take(&mut self, tsi: u32) -> Incoming {
        match self.checks.iter().position(|(of, _)| *of == (tsi, self.salt)) {
            Some(place) => self.checks.remove(place).1.uncounted(),
            None => Incoming::of(&self.key, self.salt, tsi),
        }
    }

    /// Puts the check of a session back that was left: a receiver that comes back to it takes no packet a second time.
    pub fn put(&mut self, tsi: u32, check: Incoming) {
        if self.checks.len() >= SESSIONS_MAX {
            let place = self.checks.iter().position(|(_, check)| check.highest() == 0);
            self.checks.remove(place.unwrap_or(0));
        }
        self.checks.push(((tsi, self.salt), check));
    }

    /// Packets have another salt from now on. Those by the present one still pass once only, should it come back.
    pub fn set_salt(&mut self, salt: Option<Salt>) {
        self.salt = salt;
    }

    /// Another one by the same key, which knows no session.
    pub fn fresh(&self) -> AnySession {
        AnySession::new(self.key.clone(), self.salt)
    }

    /// The group key.
    pub fn key(&self) -> &GroupKey {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::super::protection::{AUTH_BYTES, Outgoing, Scheme};
    use super::super::sequence::Sequence;
    use super::*;

    /// A packet of a session: an LCT header with a session number of 32 bits, and a payload.
    fn packet(key: &GroupKey, tsi: u32, number: u64) -> Vec<u8> {
        let mut bytes = vec![0x10, 0x80, 3, 0, 0, 0, 0, 0];
        bytes.extend(tsi.to_be_bytes());
        bytes.extend([7; 20]);
        let length = bytes.len();
        bytes.resize(length + AUTH_BYTES, 0);
        let mut sequence = Sequence::after(number - 1);
        sequence.grant(number);
        Outgoing::new(Scheme::mac(key, tsi), sequence).protect(&mut bytes, length).expect("protected");
        bytes
    }

    #[test]
    fn each_session_has_numbers_of_its_own_and_forged_ones_are_refused() {
        let (key, other) = (GroupKey::from_seed(&[1; 32]), GroupKey::from_seed(&[2; 32]));
        let mut check = AnySession::new(key.clone(), None);
        for tsi in 1..=5 {
            assert_eq!(check.accept(&mut packet(&key, tsi, 9)), Ok(()));
            assert_eq!(check.accept(&mut packet(&key, tsi, 9)), Err(Rejection::Replayed));
            assert_eq!(check.accept(&mut packet(&other, tsi, 10)), Err(Rejection::Forged));
        }
        assert_eq!(check.accept(&mut [0; 3]), Err(Rejection::Malformed));
        // However many sessions there seem to be.
        for tsi in 0..1000 {
            assert_eq!(check.accept(&mut packet(&other, tsi, 1)), Err(Rejection::Forged));
        }
        assert_eq!(check.checks.len(), SESSIONS_MAX);
        assert_eq!(check.accept(&mut packet(&key, 3, 9)), Err(Rejection::Replayed));
        assert_eq!(check.accept(&mut packet(&key, 3, 10)), Ok(()));
    }

    /// Seed 3558 of the explorer: a receiver left a session to decode, lacked packets, and came back to it.
    #[test]
    fn a_session_that_is_found_again_takes_no_packet_twice() {
        let key = GroupKey::from_seed(&[1; 32]);
        let mut check = AnySession::new(key.clone(), None);
        assert_eq!(check.accept(&mut packet(&key, 1, 7)), Ok(()));
        let mut of_session = check.take(1);
        assert_eq!(of_session.accept(&mut packet(&key, 1, 7)), Err(Rejection::Replayed));
        assert_eq!(of_session.accept(&mut packet(&key, 1, 8)), Ok(()));
        assert_eq!((of_session.counters().accepted, check.take(2).counters().accepted), (1, 0));
        check.put(1, of_session);
        assert_eq!(check.accept(&mut packet(&key, 1, 8)), Err(Rejection::Replayed));
        assert_eq!(check.accept(&mut packet(&key, 1, 9)), Ok(()));
    }
}
