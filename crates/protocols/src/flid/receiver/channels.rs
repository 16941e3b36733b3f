//! The channels of a receiver: which are held, and their packet numbers.

use alloc::vec;
use alloc::vec::Vec;

use super::numbers::{Lost, Numbers, Rules};
use crate::flid::{Header, Settings};
use layercast_core::contract::{ActionQueue, TraceEvent};
use layercast_core::session::SessionPlan;
use layercast_core::units::{Channel, Duration, Layer, Level, Time};
use layercast_kit::dynamic::{Layering, Memberships, Move};

/// Gaps up to this length are accepted even on slow layers, and no longer ones even on fast ones.
const GAPS: (i64, i64) = (64, 1000);

/// One channel.
#[derive(Clone, Debug, Default)]
struct Reception {
    numbers: Numbers,
    /// The slot from which on the channel is held; packets of earlier slots are ignored.
    since: u64,
    /// When it was left last, and in which slot.
    left: Option<(Time, u64)>,
    /// Whether its late packets have been traced.
    is_traced: bool,
}

/// All channels of a receiver.
#[derive(Clone, Debug)]
pub(super) struct Channels {
    layering: Layering,
    rules: Rules,
    /// For how long a channel that was left in time is silent.
    silence: Option<(Duration, u64)>,
    memberships: Memberships,
    receptions: Vec<Reception>,
}

impl Channels {
    pub(super) fn new(layering: Layering, settings: &Settings, plan: &SessionPlan) -> Channels {
        let fastest = plan.layers.layers().map(|layer| plan.layers.rate(layer).as_bps()).fold(0.0, f64::max);
        let per_slot = fastest * settings.slot.as_secs_f64() / plan.packet_size.as_bits().max(1) as f64;
        let count = layering.channels();
        let silent = match layering {
            Layering::Turning(wheel) | Layering::TurningAboveBase(wheel) => Some(u64::from(wheel.silent)),
            Layering::Static(_) | Layering::Cycling(_) => None,
        };
        Channels {
            layering,
            rules: Rules {
                reorder: settings.reorder,
                max_gap: ((2.0 * per_slot) as i64).clamp(GAPS.0, GAPS.1),
            },
            silence: silent.map(|slots| (settings.slot * slots, slots)),
            memberships: Memberships::new(count),
            receptions: vec![Reception::default(); usize::from(count)],
        }
    }

    pub(super) fn holds(&self, channel: Channel) -> bool {
        self.memberships.holds(channel)
    }

    /// The session restarted in `slot`: the state of the numbers of channels held is void.
    pub(super) fn restart(&mut self, slot: u64) {
        for channel in self.memberships.held() {
            begin(&mut self.receptions, channel, slot);
        }
    }

    /// A packet of `slot` on a channel that is held. Returns whether it is new.
    pub(super) fn on_packet(
        &mut self,
        header: &Header,
        slot: u64,
        charged: u64,
        on_lost: impl FnMut(Lost),
    ) -> bool {
        let rules = self.rules;
        let reception = self.receptions.get_mut(header.channel().index());
        reception.is_some_and(|reception| {
            slot >= reception.since && reception.numbers.on_packet(header.seq, charged, &rules, on_lost)
        })
    }

    /// The missing packets of `slot` and before are lost. Returns the layer of a channel with losses.
    pub(super) fn finalise(&mut self, slot: u64, mut on_lost: impl FnMut(Lost)) -> Option<Layer> {
        let mut layer = None;
        for channel in self.memberships.held() {
            self.receptions[channel.index()].numbers.finalise(slot, |lost| {
                layer = layer.or_else(|| self.layering.layer_of(channel, lost.slot));
                on_lost(lost);
            });
        }
        layer
    }

    /// Whether the channel that carries `layer` in `slot` has delivered a packet since it was joined.
    pub(super) fn has_delivered(&self, layer: Layer, slot: u64) -> bool {
        let channel = self.layering.channel_of(layer, slot);
        let reception = channel.and_then(|channel| self.receptions.get(channel.index()));
        reception.is_some_and(|reception| reception.numbers.has_begun())
    }

    /// Holds the channels of `level` in `slot`, and no others.
    pub(super) fn hold<H>(&mut self, now: Time, level: Level, slot: u64, actions: &mut ActionQueue<H>) {
        let wanted = self.layering.channels_of(level.layer_count(), slot);
        let receptions = &mut self.receptions;
        self.memberships.hold(wanted, |step| match step {
            Move::Join(channel) => {
                actions.join(channel);
                begin(receptions, channel, slot);
            }
            Move::Leave(channel) => {
                actions.leave(channel);
                let reception = &mut receptions[channel.index()];
                reception.numbers.reset();
                (reception.left, reception.is_traced) = (Some((now, slot)), false);
            }
        });
    }

    /// Joins the channels of `level` in a `slot` that is still to come.
    pub(super) fn join<H>(&mut self, level: Level, slot: u64, actions: &mut ActionQueue<H>) {
        let wanted = self.layering.channels_of(level.layer_count(), slot);
        let receptions = &mut self.receptions;
        self.memberships.join(wanted, |channel| {
            actions.join(channel);
            begin(receptions, channel, slot);
        });
    }

    /// The channel is no longer held, without a leave. Returns whether it was.
    pub(super) fn forget(&mut self, channel: Channel) -> bool {
        self.memberships.forget(channel)
    }

    /// A packet of `slot` on a channel that is not held. That is normal until the leave takes effect; after
    /// the channel's silence the leave was too slow, or was lost: this is traced, and the leave is repeated
    /// when the same time has passed again.
    pub(super) fn on_late_packet<H>(
        &mut self,
        now: Time,
        channel: Channel,
        slot: u64,
        actions: &mut ActionQueue<H>,
    ) {
        let reception = self.receptions.get_mut(channel.index());
        let (Some(reception), Some((silence, silent_slots))) = (reception, self.silence) else { return };
        let Some((left_at, left_in)) = reception.left else { return };
        let since_leave = now.since(left_at);
        if slot < left_in.saturating_add(silent_slots) || since_leave < silence {
            return;
        }
        if !core::mem::replace(&mut reception.is_traced, true) {
            actions.trace(TraceEvent::LateLeave { channel, since_leave });
        }
        if since_leave >= silence * 2 {
            // A channel that is not held cannot be left, so it is joined first.
            actions.join(channel);
            actions.leave(channel);
            reception.left = Some((now, slot));
        }
    }
}

fn begin(receptions: &mut [Reception], channel: Channel, slot: u64) {
    let reception = &mut receptions[channel.index()];
    reception.numbers.reset();
    (reception.since, reception.left) = (slot, None);
}
