//! Which link of a path limits a receiver, and what its fair share there is.
//!
//! The rule, in this order:
//!
//! 1. the link that loses or marks the largest share of the packets offered to it, if that is at least
//!    [`NOTABLE_LOSS`]: losses and marks are what congestion control reacts to;
//! 2. the link with the highest utilisation, if that is at least [`FULL`];
//! 3. none: the path has room.
//!
//! The fair share is an equal share: what the link can carry, without the constant-rate flows that take no part in
//! sharing, divided by the sessions and TCP connections that cross it. A session counts once, however many of its
//! receivers are behind the link; a connection that makes transfers counts for the share of the time in which it
//! had one. It is no max-min share: flows that another link limits leave more than an equal share to others.

/// A share of lost or marked packets that is worth naming.
pub const NOTABLE_LOSS: f64 = 0.001;
/// A link that is used this much is full.
pub const FULL: f64 = 0.9;

/// The state of a link over a window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LinkLoad {
    /// What was carried of what could be, 0 to 1.
    pub(crate) utilisation: f64,
    /// The share of the packets offered that its queue dropped.
    pub(crate) queue_loss: f64,
    /// The share that its error model lost.
    pub(crate) error_loss: f64,
    /// The share that it marked.
    pub(crate) marked: f64,
}

/// Why a link limits a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Its queue drops packets, or marks them.
    Queue,
    /// It loses packets whatever its load.
    Errors,
    /// It is full, without losses.
    Full,
}

impl LinkLoad {
    fn harm(self) -> f64 {
        self.queue_loss + self.error_loss + self.marked
    }
}

/// The place on the path of the link that limits, and why; none if the path has room. Of equals it is the first.
pub(crate) fn bottleneck(path: &[LinkLoad]) -> Option<(usize, Limit)> {
    let most = |of: fn(&LinkLoad) -> f64| {
        let known = path.iter().map(of).enumerate().filter(|(_, value)| value.is_finite());
        known.reduce(|best, next| if next.1 > best.1 { next } else { best })
    };
    if let Some((place, harm)) = most(|load| load.harm())
        && harm >= NOTABLE_LOSS
    {
        let load = path[place];
        let why = if load.error_loss > load.queue_loss + load.marked { Limit::Errors } else { Limit::Queue };
        return Some((place, why));
    }
    let (place, utilisation) = most(|load| load.utilisation)?;
    (utilisation >= FULL).then_some((place, Limit::Full))
}

/// What crosses a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Crossing {
    /// Sessions, and connections by the share of the time in which they had data.
    pub(crate) sharing: f64,
    /// What constant-rate flows take, in kbit/s.
    pub(crate) constant_kbps: f64,
}

impl Crossing {
    /// The equal share of a link that can carry this much; none if nobody shares it.
    pub(crate) fn share_kbps(self, capacity_kbps: f64) -> Option<f64> {
        let left = (capacity_kbps - self.constant_kbps).max(0.0);
        // A single connection that rarely has data may use the whole link while it has.
        (self.sharing > 0.0 && left.is_finite()).then(|| left / self.sharing.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: LinkLoad = LinkLoad { utilisation: 0.1, queue_loss: 0.0, error_loss: 0.0, marked: 0.0 };

    #[test]
    fn the_link_that_loses_most_limits() {
        let busy = LinkLoad { utilisation: 0.99, queue_loss: 0.004, ..IDLE };
        let lossy = LinkLoad { error_loss: 0.02, ..IDLE };
        assert_eq!(bottleneck(&[IDLE, busy, IDLE]), Some((1, Limit::Queue)));
        assert_eq!(bottleneck(&[IDLE, busy, lossy]), Some((2, Limit::Errors)));
        let marking = LinkLoad { marked: 0.05, error_loss: 0.01, ..IDLE };
        assert_eq!(bottleneck(&[marking, lossy]), Some((0, Limit::Queue)));
    }

    #[test]
    fn without_losses_the_fullest_link_limits_if_it_is_full() {
        let full = |utilisation| LinkLoad { utilisation, queue_loss: 0.0009, ..IDLE };
        assert_eq!(bottleneck(&[full(0.95), full(0.97), IDLE]), Some((1, Limit::Full)));
        assert_eq!(bottleneck(&[full(0.89), IDLE]), None, "the path has room");
        assert_eq!(bottleneck(&[]), None);
        assert_eq!(bottleneck(&[LinkLoad { utilisation: f64::NAN, ..IDLE }]), None);
    }

    #[test]
    fn a_share_is_equal_among_those_that_share() {
        // 3000 kbit/s, of which a constant-rate flow takes 600, for a session, a TCP, and two connections that have
        // data half of the time.
        let crossing = Crossing { sharing: 3.0, constant_kbps: 600.0 };
        assert_eq!(crossing.share_kbps(3000.0), Some(800.0));
        let alone = Crossing { sharing: 0.2, constant_kbps: 0.0 };
        assert_eq!(alone.share_kbps(3000.0), Some(3000.0), "one that is rarely there gets all while it is");
        assert_eq!(Crossing { constant_kbps: 4000.0, sharing: 1.0 }.share_kbps(3000.0), Some(0.0));
        assert_eq!(Crossing::default().share_kbps(3000.0), None);
        assert_eq!(crossing.share_kbps(f64::INFINITY), None, "a link without a rate has no shares");
    }
}
