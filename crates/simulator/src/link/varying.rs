//! A time-varying link: its present state and its next change.

use std::sync::Arc;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::{Link, WirePool};
use crate::event::Key;
use crate::packet::PacketCopy;
use crate::variation::{LinkChange, LinkVariation, OPPORTUNITY_BYTES, TraceCursor};

/// The next thing that happens to a link.
#[derive(Debug)]
pub(crate) enum Step {
    Change(LinkChange),
    Down,
    Up,
}

/// The state of a link's variation.
#[derive(Debug)]
pub(super) struct Varying {
    plan: Arc<LinkVariation>,
    /// The next change, and when the pass that it belongs to began.
    next_change: usize,
    pass_start: Time,
    /// The next outage, or the present one.
    next_outage: usize,
    pub(super) is_down: bool,
    /// Packets whose arrival has a lower order number were on the link when it went down.
    pub(super) lost_below: u64,
    /// How many packets, from the first of the wire, have their arrival in the event list. A packet that
    /// overtakes one of those needs its own entry.
    entered: usize,
    /// When the first packet of the wire arrives, if there is one.
    first_arrival: Key,
    last_arrival: Time,
    cursor: TraceCursor,
    /// What the link could have carried up to a time.
    capacity_bytes: f64,
    capacity_until: Time,
}

impl Varying {
    fn change_at(&self) -> Option<Time> {
        let change = self.plan.changes.get(self.next_change)?;
        Some(self.pass_start + change.at.since(Time::ZERO))
    }

    fn outage_at(&self) -> Option<Time> {
        let outage = self.plan.outages.get(self.next_outage)?;
        Some(if self.is_down { outage.end } else { outage.start })
    }

    fn next_at(&self) -> Option<Time> {
        [self.change_at(), self.outage_at()].into_iter().flatten().min()
    }

    /// The next step if it is due. At equal times a change comes before an outage.
    fn take_due(&mut self, now: Time) -> Option<Step> {
        if self.change_at().is_some_and(|at| at <= now) {
            let change = self.plan.changes.get(self.next_change).cloned();
            self.next_change += 1;
            if let Some(repeat) = self.plan.repeat
                && self.next_change == self.plan.changes.len()
            {
                (self.next_change, self.pass_start) = (0, self.pass_start + repeat);
            }
            return change.map(Step::Change);
        }
        self.outage_at().filter(|&at| at <= now)?;
        let step = if self.is_down { Step::Up } else { Step::Down };
        self.next_outage += usize::from(self.is_down);
        Some(step)
    }

    /// What the link can carry between the last account and `now`.
    fn capacity_since(&self, now: Time, ns_per_byte: f64) -> f64 {
        if self.is_down {
            return 0.0;
        }
        match &self.plan.trace {
            Some(trace) => {
                let count = trace.count_until(now) - trace.count_until(self.capacity_until);
                count as f64 * f64::from(OPPORTUNITY_BYTES)
            }
            None => now.since(self.capacity_until).as_ns() as f64 / ns_per_byte,
        }
    }
}

impl Link {
    /// Lets the link change as planned. `losses` is the stream of its error models.
    pub(crate) fn vary(&mut self, plan: Arc<LinkVariation>, losses: Stream) {
        let varying = Varying {
            plan,
            next_change: 0,
            pass_start: Time::ZERO,
            next_outage: 0,
            is_down: false,
            lost_below: 0,
            entered: 0,
            first_arrival: Key { time: Time::ZERO, order: 0 },
            last_arrival: Time::ZERO,
            cursor: TraceCursor::default(),
            capacity_bytes: 0.0,
            capacity_until: Time::ZERO,
        };
        self.rest_mut().vary(varying, losses);
        self.update_shortcuts();
    }

    /// Whether the link may change.
    #[inline]
    pub(crate) fn varies(&self) -> bool {
        self.has_extras && self.varying().is_some()
    }

    /// Whether the link is down.
    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        self.varying().is_some_and(|varying| varying.is_down)
    }

    /// Whether waiting packets are lost when the link goes down.
    pub(crate) fn flushes_queue(&self) -> bool {
        self.varying().is_some_and(|varying| varying.plan.flushes_queue)
    }

    /// When the next step is.
    pub(crate) fn next_step_at(&self) -> Option<Time> {
        self.varying()?.next_at()
    }

    /// The next step if it is due.
    pub(crate) fn take_step(&mut self, now: Time) -> Option<Step> {
        self.account_capacity(now);
        self.varying_mut()?.take_due(now)
    }

    /// Changes what the link is like.
    pub(crate) fn change(&mut self, change: LinkChange) {
        if let Some(rate) = change.rate {
            self.ns_per_byte = super::ns_per_byte(rate);
            self.forget_transmission();
        }
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if let (Some((model, place)), Some(extras)) = (change.loss, self.extras_mut()) {
            extras.set_losses(model, place);
        }
    }

    /// The link goes down. All packets sent so far have lower order numbers than this.
    pub(crate) fn go_down(&mut self, order: u64) {
        if let Some(varying) = self.varying_mut() {
            (varying.is_down, varying.lost_below) = (true, order);
        }
    }

    /// The link is up again.
    pub(crate) fn come_up(&mut self) {
        if let Some(varying) = self.varying_mut() {
            varying.is_down = false;
        }
    }

    /// The transmission time of a packet, and the time until its last bit arrives, both from now.
    pub(crate) fn varying_delays(&mut self, current: Key, size_bytes: u32) -> (Duration, Duration) {
        let goes_on = current == self.free_at;
        let delay = self.delay;
        let (plain, _) = self.delays(size_bytes);
        let now = current.time;
        let Some(varying) = self.varying_mut() else { return (plain, plain + delay) };
        let transmission = match &varying.plan.trace {
            Some(trace) => varying.cursor.deliver(trace, now, goes_on, size_bytes).since(now),
            None => plain,
        };
        let mut arrival = now + transmission + delay;
        if varying.plan.avoid_reordering {
            arrival = arrival.max(varying.last_arrival);
        }
        varying.last_arrival = arrival;
        (transmission, arrival.since(now))
    }

    /// As [`Link::launch`], on a link where packets may overtake. Returns whether the arrival has to
    /// be entered in the event list.
    pub(crate) fn propagate_varying(
        &mut self,
        pool: &mut WirePool,
        copy: PacketCopy,
        arrival: Key,
        free_at: Key,
    ) -> bool {
        self.count_transmission(copy, free_at);
        let Some(first_arrival) = self.varying().map(|varying| varying.first_arrival) else {
            return self.push_on_wire(pool, arrival, copy);
        };
        let index = self.insert_on_wire(pool, arrival, copy, first_arrival);
        self.varying_mut().is_some_and(|varying| {
            if index == 0 {
                varying.first_arrival = arrival;
            }
            let enters = index < varying.entered || varying.entered == 0;
            varying.entered += usize::from(enters);
            enters
        })
    }

    /// The arrival to enter after one was served: that of the packet now first on the wire.
    pub(super) fn next_to_enter(&mut self, next: Option<Key>) -> Option<Key> {
        let Some(varying) = self.varying_mut() else { return next };
        varying.first_arrival = next.unwrap_or(varying.first_arrival);
        varying.entered -= 1;
        if varying.entered > 0 {
            return None;
        }
        varying.entered = usize::from(next.is_some());
        next
    }

    /// What the link could have carried so far, in bytes, while it was up. None if it never changes.
    pub(crate) fn capacity_bytes(&self, now: Time) -> Option<f64> {
        let varying = self.varying()?;
        Some(varying.capacity_bytes + varying.capacity_since(now, self.ns_per_byte))
    }

    fn account_capacity(&mut self, now: Time) {
        if let Some(capacity) = self.capacity_bytes(now)
            && let Some(varying) = self.varying_mut()
        {
            (varying.capacity_bytes, varying.capacity_until) = (capacity, now);
        }
    }

    fn varying(&self) -> Option<&Varying> {
        self.extras()?.varying.as_ref()
    }

    fn varying_mut(&mut self) -> Option<&mut Varying> {
        self.extras_mut()?.varying.as_mut()
    }
}
