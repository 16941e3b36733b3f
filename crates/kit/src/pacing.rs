//! Sources that send every layer at its constant rate.

use alloc::vec::Vec;

use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Pacer, Time, WireSeq};

/// After a stall longer than this, missed packets are skipped rather than sent in a burst.
const LONGEST_LAG: Duration = Duration::from_secs(1);

/// When the next packet of each layer departs, and its number.
#[derive(Clone, Debug, Default)]
pub struct LayerClocks {
    layers: Vec<(Pacer, WireSeq)>,
    /// When the next packet of any layer is due; none while nothing is sent.
    next: Option<Time>,
}

impl LayerClocks {
    /// Begins all layers, each at its own phase, drawn from `stream`; with `base_at_once` the base layer
    /// begins at `now`.
    pub fn begin(&mut self, now: Time, plan: &SessionPlan, stream: &mut Stream, base_at_once: bool) {
        for layer in plan.layers.layers() {
            let (size, rate) = (plan.packet_size, plan.layers.rate(layer));
            let spacing = Pacer::new(now, size, rate).spacing();
            let at_once = base_at_once && layer == Layer::BASE;
            let phase = if at_once { Duration::ZERO } else { stream.uniform_duration(spacing) };
            self.layers.push((Pacer::new(now + phase, size, rate), WireSeq(0)));
        }
        self.look_ahead();
    }

    /// Sends the packets that are due, layer by layer.
    pub fn send_due(&mut self, now: Time, mut send: impl FnMut(Layer, WireSeq)) {
        if self.next.is_none_or(|next| next > now) {
            return;
        }
        for (index, (pacer, seq)) in self.layers.iter_mut().enumerate() {
            while pacer.next() <= now {
                if now.since(pacer.next()) > LONGEST_LAG {
                    pacer.reschedule(now);
                }
                send(Layer(index as u16), *seq);
                *seq = seq.next();
                pacer.advance();
            }
        }
        self.look_ahead();
    }

    /// The application has no data at present.
    pub fn pause(&mut self) {
        self.next = None;
    }

    /// The application has data again: paused layers continue at new phases.
    pub fn resume(&mut self, now: Time, stream: &mut Stream) {
        if self.next.is_some() {
            return;
        }
        for (pacer, _) in &mut self.layers {
            let phase = stream.uniform_duration(pacer.spacing());
            pacer.reschedule(now + phase);
        }
        self.look_ahead();
    }

    /// Ends all layers.
    pub fn stop(&mut self) {
        self.layers.clear();
        self.next = None;
    }

    /// When the next packet is due.
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    fn look_ahead(&mut self) {
        self.next = self.layers.iter().map(|(pacer, _)| pacer.next()).min();
    }
}
