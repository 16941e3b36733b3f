//! What a receiver does with what a session brings.

use core::convert::Infallible;
use core::fmt::{Debug, Display};

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Time};

use super::error::ReceiveError;
use crate::accept::Incoming;
use crate::disk::Disk;
use crate::part::Part;
use crate::reception::{DiskError, Reception, ReceptionProgress};
use crate::search::FoundSession;
use crate::session::Session;

/// A datagram as its host took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When it arrived.
    pub at: Time,
    /// How it came.
    pub incoming: Incoming,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// Datagrams that came together, in the order of their arrival.
pub trait Datagrams {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them and its bytes, which are decrypted in their place.
    fn get_mut(&mut self, number: usize) -> Option<(Datagram, &mut [u8])>;

    /// The bytes of one of them.
    fn bytes(&self, number: usize) -> Option<&[u8]>;
}

/// A datagram that came on its own, and its bytes.
#[derive(Debug)]
pub struct Single<'a>(pub Datagram, pub &'a mut [u8]);

impl Datagrams for Single<'_> {
    fn count(&self) -> usize {
        1
    }

    fn get_mut(&mut self, _: usize) -> Option<(Datagram, &mut [u8])> {
        Some((self.0, self.1))
    }

    fn bytes(&self, _: usize) -> Option<&[u8]> {
        Some(self.1)
    }
}

/// The payload of a packet that passed all checks.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// When it arrived.
    pub at: Time,
    /// What it is a part of.
    pub part: Part,
    /// What follows the LCT header.
    pub payload: &'a [u8],
}

/// What takes the payload of a session's packets.
pub trait Sink {
    /// Why it can take no more.
    type Error: Debug + Display;

    /// Whether a table must come before anything else is of use.
    fn needs_table(&self) -> bool {
        true
    }

    /// Whether a session has what this is for.
    ///
    /// # Errors
    /// What it has in place of that.
    fn check(&self, session: &Session) -> Result<(), ReceiveError>;

    /// Begins with a session, perhaps after another one.
    ///
    /// # Errors
    /// Why it can take nothing.
    fn follow(&mut self, found: &FoundSession) -> Result<(), Self::Error>;

    /// The session has ended, and the next one may use the same numbers for other things.
    fn restart(&mut self) {}

    /// The source has announced the end of the session.
    fn end_session(&mut self) {}

    /// Takes packets that came together; `packet` gives one by its number.
    ///
    /// # Errors
    /// Why it can take no more. The packets are taken as far as that is possible.
    fn packets<'a>(
        &mut self,
        count: usize,
        packet: &dyn Fn(usize) -> Option<Packet<'a>>,
    ) -> Result<(), Self::Error>;

    /// A channel was left.
    fn left(&mut self, _now: Time, _channel: Channel) {}

    /// Works a part on what was taken. Whether there is more to do at once.
    ///
    /// # Errors
    /// Why it can take no more.
    fn work(&mut self, now: Time) -> Result<bool, Self::Error>;

    /// When [`Sink::work`] is to be called, if nothing comes.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Whether work goes on elsewhere, whose results [`Sink::work`] takes.
    fn is_waiting(&self) -> bool {
        false
    }

    /// Whether packets are still of use.
    fn needs_packets(&mut self) -> bool;

    /// Whether it has all that it will get.
    fn is_complete(&self) -> bool;

    /// Whether it has all that is known of, and may rest until there is more.
    fn is_up_to_date(&self) -> bool {
        false
    }

    /// Stores what waits for that; called about twice a second.
    fn flush(&mut self) {}

    /// What failed may be tried again, if that can succeed by now.
    fn try_again(&mut self) {}

    /// How far it is, and how many symbols it has taken.
    fn progress(&self) -> (ReceptionProgress, u64);

    /// Whether the source is to hear that it is complete.
    fn wants_completions(&self) -> bool {
        false
    }

    /// Nothing follows.
    fn finish(&mut self) {}

    /// Whether an error may pass without a change of the arguments.
    fn may_pass(error: &Self::Error) -> bool;
}

impl<D: Disk> Sink for Reception<D> {
    type Error = DiskError;

    fn check(&self, session: &Session) -> Result<(), ReceiveError> {
        if session.stream.is_some() { Err(ReceiveError::IsStream) } else { Ok(()) }
    }

    fn follow(&mut self, found: &FoundSession) -> Result<(), DiskError> {
        Reception::follow(self);
        self.begin(found.number, &found.instance)
    }

    fn restart(&mut self) {
        Reception::follow(self);
    }

    fn packets<'a>(
        &mut self,
        count: usize,
        packet: &dyn Fn(usize) -> Option<Packet<'a>>,
    ) -> Result<(), DiskError> {
        self.packets(count, |number| packet(number).map(|packet| (packet.part, packet.payload)))
    }

    fn work(&mut self, _: Time) -> Result<bool, DiskError> {
        self.work()
    }

    fn is_waiting(&self) -> bool {
        self.is_decoding()
    }

    fn needs_packets(&mut self) -> bool {
        // A mirror learns from the table what the session no longer has.
        Reception::needs_packets(self) || (Reception::is_complete(self) && !self.is_in_step())
    }

    fn is_complete(&self) -> bool {
        self.is_in_step()
    }

    fn is_up_to_date(&self) -> bool {
        Reception::is_up_to_date(self)
    }

    fn flush(&mut self) {
        Reception::flush(self);
    }

    fn try_again(&mut self) {
        Reception::try_again(self);
    }

    fn progress(&self) -> (ReceptionProgress, u64) {
        (Reception::progress(self), self.counters().useful)
    }

    fn wants_completions(&self) -> bool {
        Reception::wants_completions(self) && Reception::progress(self).failed == 0
    }

    fn finish(&mut self) {
        Reception::flush(self);
        self.tidy();
    }

    fn may_pass(error: &DiskError) -> bool {
        use std::io::ErrorKind;
        !matches!(error.source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    }
}

/// A sink that keeps nothing: what counts is the congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discard {
    /// Packets with a payload.
    pub packets: u64,
}

impl Sink for Discard {
    type Error = Infallible;

    fn needs_table(&self) -> bool {
        false
    }

    fn check(&self, _: &Session) -> Result<(), ReceiveError> {
        Ok(())
    }

    fn follow(&mut self, _: &FoundSession) -> Result<(), Infallible> {
        Ok(())
    }

    fn packets<'a>(
        &mut self,
        count: usize,
        packet: &dyn Fn(usize) -> Option<Packet<'a>>,
    ) -> Result<(), Infallible> {
        let full = (0..count).filter_map(packet).filter(|packet| !packet.payload.is_empty());
        self.packets += full.count() as u64;
        Ok(())
    }

    fn work(&mut self, _: Time) -> Result<bool, Infallible> {
        Ok(false)
    }

    fn needs_packets(&mut self) -> bool {
        true
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn progress(&self) -> (ReceptionProgress, u64) {
        (ReceptionProgress::default(), self.packets)
    }

    fn may_pass(error: &Infallible) -> bool {
        match *error {}
    }
}
