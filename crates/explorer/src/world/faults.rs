//! What goes wrong.

use std::net::SocketAddr;

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Duration};

use super::{Passing, Step, World, say, source_at};
use crate::disk::State;
use crate::fault::{Fault, Forgery};
use crate::forgery;
use crate::plan::FAULTS_UNTIL;
use crate::state;

impl World {
    /// Lets faults happen.
    pub(super) fn break_things(&mut self, watch: &mut dyn FnMut(&Step)) {
        while let Some(fault) = self.plan.faults.get(self.next_fault).filter(|fault| fault.at <= self.now) {
            let fault = fault.fault;
            self.next_fault += 1;
            self.outcome.faults += 1;
            say(watch, self.now, || format!("fault: {fault:?}"));
            self.break_one(fault, watch);
        }
    }

    fn break_one(&mut self, fault: Fault, watch: &mut dyn FnMut(&Step)) {
        match fault {
            Fault::KillReceiver { receiver, down, power } => {
                let place = &mut self.receivers[receiver];
                if place.program.take().is_some() || place.listener.take().is_some() {
                    if power {
                        self.receivers[receiver].disk.lose_power();
                    }
                    // What is wrong then is found at the end as well.
                    let _ = self.stop_receiver(receiver, down, "killed", watch);
                }
            }
            Fault::KillAtOperation { receiver, after, down, power } => {
                let place = &mut self.receivers[receiver];
                if !place.done {
                    place.after_kill = (down, power);
                    place.disk.set(|disk| disk.killed_after = Some(after));
                }
            }
            Fault::KillSource { down, power } => {
                self.kill_source(0, power);
                if let Some(source) = self.sources.first_mut() {
                    source.starts_at = Some(self.now + down);
                }
            }
            Fault::DamageState => {
                if let Some(source) = self.sources.first_mut() {
                    source.damaged = state::damage(&source.disk, &mut self.chaos);
                }
            }
            Fault::FailingState { share, lasts } => self.break_state(lasts, |disk| disk.failing = share),
            Fault::FullState { lasts } => self.break_state(lasts, |disk| disk.space = Some(0)),
            Fault::Partition { receiver, lasts } => {
                for (number, place) in self.receivers.iter_mut().enumerate() {
                    if receiver.is_none_or(|receiver| receiver == number) {
                        place.partitioned_until = place.partitioned_until.max(self.now + lasts);
                    }
                }
            }
            Fault::DiskFull { receiver, left, lasts } => {
                let place = &mut self.receivers[receiver];
                let space = place.disk.used() + left;
                place.disk.set(|disk| disk.space = Some(space));
                place.disk_until = self.now + lasts;
            }
            Fault::FailingDisk { receiver, share, lasts } => {
                let place = &mut self.receivers[receiver];
                place.disk.set(|disk| disk.failing = share);
                place.disk_until = self.now + lasts;
            }
            Fault::LoseMulticast { receiver, lasts } => {
                let place = &mut self.receivers[receiver];
                place.without_multicast_until = place.without_multicast_until.max(self.now + lasts);
            }
            Fault::KillRelay { relay, down } => self.kill_relay(relay, down),
            Fault::ClockJump { receiver, by } => self.receivers[receiver].ahead += by,
            Fault::Forge { receiver, count, kind } => self.forge(receiver, count, kind),
            Fault::ForgeAnnouncements { receiver, count, kind } => {
                self.forge_announcements(receiver, count, kind);
            }
            Fault::KillAmtRelay { down } => self.kill_amt(down),
            Fault::ForgeAmt { count, kind } => self.forge_tunnelled(count, kind),
            Fault::SecondSource { lasts } => {
                if let Some(other) = self.sources.get_mut(1) {
                    other.starts_at = Some(self.now);
                    other.ends_at = Some(self.now + lasts);
                }
            }
        }
        debug_assert!(self.now <= FAULTS_UNTIL, "faults end");
    }

    /// Something is wrong with the source's disk for a while.
    fn break_state(&mut self, lasts: Duration, how: impl FnOnce(&mut State)) {
        if let Some(source) = self.sources.first_mut() {
            source.disk.set(how);
            source.disk_until = self.now + lasts;
        }
    }

    fn forge(&mut self, number: usize, count: u32, kind: Forgery) {
        for _ in 0..count {
            let heard = self.receivers[number].heard.pick(&mut self.chaos);
            let (from, channel, mut bytes) =
                heard.unwrap_or((SocketAddr::new(source_at(0), 9000), Channel(0), vec![0; 40]));
            let genuine = bytes.clone();
            match kind {
                Forgery::Random => bytes.iter_mut().for_each(|byte| *byte = self.chaos.bits() as u8),
                // Whoever knows the format can do better.
                Forgery::Mutated if self.plan.protection.is_some() => {
                    bytes = forgery::protected(bytes, self.plan.protection, &mut self.chaos);
                }
                Forgery::Mutated if self.plan.is_signed => {
                    bytes = forgery::of(&bytes, &mut self.chaos).unwrap_or(bytes);
                }
                Forgery::Mutated => forgery::flip(&mut bytes, &mut self.chaos),
                Forgery::Replayed => {}
                // The session's number is in the third word (RFC 5651, section 5.1).
                Forgery::OtherSession => bytes.iter_mut().skip(8).take(4).for_each(|byte| *byte ^= 0x5a),
            }
            let (ecn, is_forged) = (Ecn::NotCapable, bytes != genuine);
            self.delay(Passing { receiver: number, from, channel, ecn, bytes, is_forged });
        }
    }
}
