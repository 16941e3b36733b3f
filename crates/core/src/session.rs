//! What every endpoint of a session knows before it starts.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::layers::{LayerError, LayerTable};
use crate::units::{Level, Rate, Size};

/// The plan of a session: its layers and its packet size.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// The rates of the layers.
    pub layers: LayerTable,
    /// The size of each packet on the wire, headers included.
    pub packet_size: Size,
}

/// Who decides on a receiver's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rates {
    /// Each receiver, by the layers that it joins.
    #[default]
    Layers,
    /// The source: one rate for all receivers, which it adapts.
    One,
    /// Nobody: one rate that does not change.
    Constant,
}

/// What a protocol is like. Lists, pages and warnings use it; no code decides by it what an
/// endpoint does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Character {
    /// Who decides on a receiver's rate.
    pub rates: Rates,
    /// Whether congestion marks (ECN) count.
    pub ecn: bool,
    /// How the rate of a new receiver or session rises, in a few words; empty if that is not stated.
    pub start: &'static str,
}

/// What a protocol, with its options, requires of a session before a host opens it. For most protocols
/// the defaults suffice.
pub trait Requirements {
    /// How many channels a session has: one for each layer, unless the protocol rotates layers over
    /// channels or uses channels for other purposes.
    fn channels(&self, plan: &SessionPlan) -> u16 {
        plan.layers.count()
    }

    /// The most that the source sends over all channels: the rate of all layers, unless the protocol has
    /// channels besides its layers that it always sends on.
    fn peak_rate(&self, plan: &SessionPlan) -> Rate {
        plan.layers.top_rate()
    }

    /// Whether channel i carries layer i and nothing else, for as long as the session lasts. Dynamic layers turn, and the
    /// rates of waves fall.
    fn has_static_layers(&self) -> bool {
        true
    }

    /// Whether each layer has a clock of its own, so that a plan may say when it begins
    /// ([`Phases`](crate::layers::Phases)). Waves have one plan for all, and a single rate has one clock.
    fn has_phases(&self) -> bool {
        false
    }

    /// How many levels a receiver may have, besides that of none: one for each layer, unless the protocol makes layers of
    /// its own out of the rates of the plan.
    fn levels(&self, plan: &SessionPlan) -> u16 {
        plan.layers.count()
    }

    /// The rate that a receiver at this level is sent, on average.
    fn level_rate(&self, plan: &SessionPlan, level: Level) -> Rate {
        plan.layers.rate_of(level)
    }

    /// Sets the options that depend on the lowest and the highest rate of a receiver, and returns the layers of a plan
    /// that has both: [`LayerTable::spanning`], or [`LayerTable::doubling_to`] if the protocol takes no other; the highest
    /// rate alone where the source decides on one rate for all; and what the protocol needs where it makes layers of its
    /// own.
    ///
    /// # Errors
    /// If the rates are not positive or not in order.
    fn span(&mut self, from: Rate, to: Rate, packet: Size) -> Result<LayerTable, LayerError> {
        match self.character().rates {
            Rates::One | Rates::Constant => LayerTable::between(to, to),
            Rates::Layers => {
                let plan = SessionPlan { layers: LayerTable::spanning(from, to)?, packet_size: packet };
                match self.check(&plan) {
                    Ok(()) => Ok(plan.layers),
                    Err(_) => LayerTable::doubling_to(from, to),
                }
            }
        }
    }

    /// How many receivers a session may have; none for any number.
    fn most_receivers(&self) -> Option<usize> {
        None
    }

    /// Whether receivers deliver all data in order ([`Action::Deliver`](crate::contract::Action::Deliver)), and the
    /// source repairs what they miss. Other sessions rely on an erasure code, or on nothing.
    fn is_reliable(&self) -> bool {
        false
    }

    /// Whether routers take part: endpoints of the protocol at nodes of the tree, and a source that
    /// distinguishes its child links.
    fn has_routers(&self) -> bool {
        false
    }

    /// The names of the options on which the source and its receivers must agree. A session
    /// description carries them.
    fn agreed(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether receivers process packets that still arrive on channels that they have left. With dynamic
    /// layers these show whether leaves take effect in time; for other protocols they are only load.
    fn observes_late_packets(&self) -> bool {
        false
    }

    /// Whether receivers respond to the fraction of marks, as RFC 9331 requires of packets that carry ECT(1). Only a
    /// simulation sends such packets.
    fn is_scalable(&self) -> bool {
        false
    }

    /// Replaces defaults that suit the papers' simulations by ones that suit real networks. A host with
    /// sockets calls it before it sets the user's options.
    fn deploy(&mut self) {}

    /// What the protocol is like.
    fn character(&self) -> Character {
        Character::default()
    }

    /// Whether the protocol can carry the plan.
    ///
    /// # Errors
    /// [`PlanError`] says what does not fit, and what would.
    fn check(&self, _plan: &SessionPlan) -> Result<(), PlanError> {
        Ok(())
    }
}

/// Why a protocol cannot carry a plan: a sentence that names what does not fit, and what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(pub String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for PlanError {}

/// Rejects plans with more layers than `most`, which is what `limit` can number.
///
/// # Errors
/// [`PlanError`] with both numbers.
pub fn check_layers(plan: &SessionPlan, most: u16, limit: &str) -> Result<(), PlanError> {
    let count = plan.layers.count();
    if count > most {
        return Err(PlanError(format!("{count} layers: {limit} can number {most}; use fewer layers")));
    }
    Ok(())
}

/// The session number as a receiver knows it: that of the first packet. A source that restarted has
/// another one; a single packet with another number does not change it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionNumber {
    known: Option<u32>,
    /// Another number, seen once.
    other: Option<u32>,
}

/// How a packet's session number compares with the known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMatch {
    /// The first number: it is now known.
    First,
    /// The packet belongs to the session.
    Same,
    /// The packet belongs to another session.
    Foreign,
    /// Another number for the second time in a row: it is the session from now on.
    Restarted,
}

impl SessionNumber {
    /// The number, once a packet has arrived.
    pub fn known(&self) -> Option<u32> {
        self.known
    }

    /// Compares the number of a packet that arrived.
    pub fn observe(&mut self, number: u32) -> SessionMatch {
        match self.known {
            Some(known) if known == number => {
                self.other = None;
                SessionMatch::Same
            }
            Some(_) if self.other == Some(number) => {
                self.known = Some(number);
                SessionMatch::Restarted
            }
            Some(_) => {
                self.other = Some(number);
                SessionMatch::Foreign
            }
            None => {
                self.known = Some(number);
                SessionMatch::First
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_is_accepted_the_second_time_in_a_row() {
        let mut session = SessionNumber::default();
        let matches = [1, 1, 2, 1, 2, 3, 2, 2, 1].map(|number| session.observe(number));
        use SessionMatch::{First, Foreign, Restarted, Same};
        assert_eq!(matches, [First, Same, Foreign, Same, Foreign, Foreign, Foreign, Restarted, Foreign]);
        assert_eq!(session.known(), Some(2));
    }
}
