//! Several loss measures on the same packets, to compare them without the noise of separate flows (thesis,
//! chapters 4 and 5).

use super::loss_fraction::LossFraction;
use super::virtual_packets::{Completed, VirtualPackets};
use super::{Lap, Lip, LossConfig, LossOutcome, Packet, VirtualLoss};
use layercast_core::units::{Duration, Seq, Size};

/// What a panel is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelConfig {
    /// The options of LIP and LAP; the method is ignored.
    pub loss: LossConfig,
    /// The window of the packet loss fraction, in packets.
    pub fraction_window: u32,
    /// Virtual packets for LIP and LAP, if used instead of real ones.
    pub virtual_packets: Option<(Size, VirtualLoss)>,
}

/// LIP, LAP and the packet loss fraction.
#[derive(Clone, Debug)]
pub struct LossPanel {
    lip: Lip,
    lap: Lap,
    fraction: LossFraction,
    virtual_packets: Option<VirtualPackets>,
    /// The number of packets that LIP and LAP have processed.
    packets: u64,
}

impl LossPanel {
    /// Measures without packets.
    pub fn new(config: &PanelConfig) -> LossPanel {
        LossPanel {
            lip: Lip::new(&config.loss),
            lap: Lap::new(&config.loss),
            fraction: LossFraction::new(config.fraction_window),
            virtual_packets: config.virtual_packets.map(|(size, rule)| VirtualPackets::new(size, rule)),
            packets: 0,
        }
    }

    /// The round-trip time to use from the next event on.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.lip.set_rtt(rtt);
        self.lap.set_rtt(rtt);
    }

    /// A packet of this size was received.
    pub fn on_received(&mut self, packet: &Packet, size: Size) {
        self.fraction.on_packet(false);
        let completed =
            self.virtual_packets.as_mut().map(|virtual_packets| virtual_packets.on_received(size));
        self.add(packet, completed, false);
    }

    /// A packet was lost. The outcome is LIP's.
    pub fn on_lost(&mut self, packet: &Packet) -> LossOutcome {
        self.fraction.on_packet(true);
        let completed = self.virtual_packets.as_mut().map(VirtualPackets::on_lost);
        self.add(packet, completed, true)
    }

    /// A packet of this size was received with a congestion mark. The outcome is LIP's.
    pub fn on_marked(&mut self, packet: &Packet, size: Size) -> LossOutcome {
        self.fraction.on_packet(true);
        let completed = self.virtual_packets.as_mut().map(|virtual_packets| {
            let completed = virtual_packets.on_received(size);
            Completed { first_lost: true, others_lost: true, ..completed }
        });
        self.add(packet, completed, true)
    }

    /// The packet itself, or the virtual ones that it completes.
    fn add(&mut self, packet: &Packet, completed: Option<Completed>, lost: bool) -> LossOutcome {
        let Some(completed) = completed else { return self.add_one(packet, lost) };
        let mut outcome = LossOutcome::Ignored;
        for index in 0..completed.count {
            let lost = if index == 0 { completed.first_lost } else { completed.others_lost };
            let packet = Packet { seq: Seq(self.packets), ..*packet };
            if self.add_one(&packet, lost) == LossOutcome::NewEvent {
                outcome = LossOutcome::NewEvent;
            }
        }
        outcome
    }

    fn add_one(&mut self, packet: &Packet, lost: bool) -> LossOutcome {
        self.packets += 1;
        if lost {
            self.lap.on_lost(packet);
            self.lip.on_lost(packet)
        } else {
            self.lap.on_received(packet);
            self.lip.on_received(packet);
            LossOutcome::Ignored
        }
    }

    /// The loss insensitive period.
    pub fn lip(&self) -> &Lip {
        &self.lip
    }

    /// The loss aggregation period.
    pub fn lap(&self) -> &Lap {
        &self.lap
    }

    /// The packet loss fraction, of real packets always.
    pub fn fraction(&self) -> &LossFraction {
        &self.fraction
    }

    /// The number of packets that LIP and LAP have processed, virtual ones where they are in use.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The sender's clock has restarted: times before and after do not compare.
    pub fn forget_times(&mut self) {
        self.lip.forget_times();
        self.lap.forget_times();
    }

    /// Forgets everything but the round-trip time.
    pub fn reset(&mut self) {
        self.lip.reset();
        self.lap.reset();
        self.fraction.reset();
        if let Some(virtual_packets) = &mut self.virtual_packets {
            virtual_packets.reset();
        }
        self.packets = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::SendTime;
    use layercast_core::units::Layer;

    fn packet(seq: u64) -> Packet {
        Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us(10_000 * seq) }
    }

    fn panel(virtual_packets: Option<(Size, VirtualLoss)>) -> LossPanel {
        let initial_rtt = Duration::from_ms(100);
        let loss = LossConfig { initial_rtt, window: 1, ..LossConfig::default() };
        LossPanel::new(&PanelConfig { loss, fraction_window: 100, virtual_packets })
    }

    #[test]
    fn two_losses_in_a_round_trip_are_one_event_and_two_losses() {
        let mut panel = panel(None);
        let size = Size::from_bytes(1000);
        for seq in 0..20 {
            match seq {
                10 => assert_eq!(panel.on_lost(&packet(seq)), LossOutcome::NewEvent),
                12 => assert_eq!(panel.on_marked(&packet(seq), size), LossOutcome::Ignored),
                _ => panel.on_received(&packet(seq), size),
            }
        }
        assert_eq!((panel.packets(), panel.lip().events(), panel.lap().counted()), (20, 1, 2));
        assert_eq!(panel.fraction().fraction(), 0.1);
        panel.reset();
        assert_eq!((panel.packets(), panel.lip().events(), panel.lap().counted()), (0, 0, 0));
        assert_eq!(panel.fraction().fraction(), 0.0);
    }

    #[test]
    fn a_mark_is_a_loss_of_the_virtual_packets_that_it_completes() {
        let size = Size::from_bytes(500);
        let mut panel = panel(Some((Size::from_bytes(1000), VirtualLoss::Representative)));
        for seq in 0..19 {
            panel.on_received(&packet(seq), size);
        }
        assert_eq!(panel.on_marked(&packet(19), size), LossOutcome::NewEvent);
        assert_eq!((panel.packets(), panel.lip().open_length()), (10, 1));
        assert_eq!(panel.lip().intervals().closed().next().map(|interval| interval.length), Some(9.0));
        // The packet before the one that completes is lost: that is not a loss by this rule.
        assert_eq!(panel.on_lost(&packet(30)), LossOutcome::Ignored);
        assert_eq!(panel.fraction().losses(), 2);
    }
}
