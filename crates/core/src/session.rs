//! What every endpoint of a session knows before it starts.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::layers::LayerTable;
use crate::units::Size;

/// The plan of a session: its layers and the size of its packets.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// The rates of the layers.
    pub layers: LayerTable,
    /// The size of each packet on the wire, headers included.
    pub packet_size: Size,
}

/// What a host must know of a protocol, with its options, before it opens a session. Most protocols
/// are content with the defaults.
pub trait Requirements {
    /// How many channels a session has: one for each layer, unless the protocol turns layers over
    /// channels or has channels for other ends.
    fn channels(&self, plan: &SessionPlan) -> u16 {
        plan.layers.count()
    }

    /// How many receivers a session may have; none for any number.
    fn most_receivers(&self) -> Option<usize> {
        None
    }

    /// Whether routers take part: endpoints of the protocol at nodes of the tree, and a source that tells its
    /// child links apart.
    fn has_routers(&self) -> bool {
        false
    }

    /// The names of the options on which the source and its receivers must agree. A session
    /// description carries them.
    fn agreed(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether receivers take what still arrives on channels that they have left. With dynamic layers it
    /// shows whether leaves take effect in time; for others it is only load.
    fn observes_late_packets(&self) -> bool {
        false
    }

    /// Changes defaults that suit the papers' simulations into ones that suit real networks. A host with
    /// sockets calls it before it sets the user's options.
    fn deploy(&mut self) {}

    /// Whether the protocol can carry the plan.
    ///
    /// # Errors
    /// [`PlanError`] says what does not fit and what would.
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

/// The number of a session as a receiver knows it: that of the first packet. A source that began anew
/// has another one; a single packet with another number is not believed.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionNumber {
    known: Option<u32>,
    /// Another one that was heard once.
    other: Option<u32>,
}

/// What a packet's session number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMatch {
    /// It is the first: now it is known.
    First,
    /// The packet is of the session.
    Same,
    /// It is of another one.
    Foreign,
    /// It is of another one again, which is the session from now on.
    Restarted,
}

impl SessionNumber {
    /// The number, once a packet told it.
    pub fn known(&self) -> Option<u32> {
        self.known
    }

    /// A packet has this number.
    pub fn hear(&mut self, number: u32) -> SessionMatch {
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
    fn another_number_is_believed_the_second_time_in_a_row() {
        let mut session = SessionNumber::default();
        let heard = [1, 1, 2, 1, 2, 3, 2, 2, 1].map(|number| session.hear(number));
        use SessionMatch::{First, Foreign, Restarted, Same};
        assert_eq!(heard, [First, Same, Foreign, Same, Foreign, Foreign, Foreign, Restarted, Foreign]);
        assert_eq!(session.known(), Some(2));
    }
}
