//! Several loss measures on the same packets, to compare them without the noise of separate flows (thesis,
//! chapters 4 and 5).

use super::loss_fraction::LossFraction;
use super::virtual_packets::{Fate, ProcessedPackets};
use super::{Lap, Lip, LossConfig, LossOutcome, Packet};
use layercast_core::units::Duration;

/// What a panel is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelConfig {
    /// The options of LIP and LAP, with their virtual packets; the method is ignored.
    pub loss: LossConfig,
    /// The window of the packet loss fraction, in packets.
    pub fraction_window: u32,
}

/// LIP, LAP and the packet loss fraction.
#[derive(Clone, Debug)]
pub struct LossPanel {
    lip: Lip,
    lap: Lap,
    fraction: LossFraction,
    /// What LIP and LAP process.
    packets: ProcessedPackets,
}

impl LossPanel {
    /// Measures without packets.
    pub fn new(config: &PanelConfig) -> LossPanel {
        LossPanel {
            lip: Lip::new(&config.loss),
            lap: Lap::new(&config.loss),
            fraction: LossFraction::new(config.fraction_window),
            packets: ProcessedPackets::new(config.loss.virtual_packets),
        }
    }

    /// The round-trip time to use from the next event on.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.lip.set_rtt(rtt);
        self.lap.set_rtt(rtt);
    }

    /// A packet was received, marked or lost. The outcome is LIP's.
    pub fn on_packet(&mut self, packet: &Packet, fate: Fate) -> LossOutcome {
        self.fraction.on_packet(fate.is_loss());
        let (lip, lap) = (&mut self.lip, &mut self.lap);
        self.packets.each(packet, fate, |packet, lost| {
            if lost {
                lap.on_lost(packet);
                lip.on_lost(packet)
            } else {
                lap.on_received(packet);
                lip.on_received(packet);
                LossOutcome::Ignored
            }
        })
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
        self.packets.count()
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
        self.packets.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::{SendTime, VirtualConfig, VirtualLoss};
    use layercast_core::units::{Layer, Seq, Size};

    fn packet(seq: u64) -> Packet {
        Packet { layer: Layer::BASE, seq: Seq(seq), sent: SendTime::from_us(10_000 * seq) }
    }

    fn panel(virtual_packets: Option<VirtualConfig>) -> LossPanel {
        let initial_rtt = Duration::from_ms(100);
        let loss = LossConfig { initial_rtt, window: 1, virtual_packets, ..LossConfig::default() };
        LossPanel::new(&PanelConfig { loss, fraction_window: 100 })
    }

    #[test]
    fn two_losses_in_a_round_trip_are_one_event_and_two_losses() {
        let mut panel = panel(None);
        let size = Size::from_bytes(1000);
        for seq in 0..20 {
            match seq {
                10 => assert_eq!(panel.on_packet(&packet(seq), Fate::Lost), LossOutcome::NewEvent),
                12 => assert_eq!(panel.on_packet(&packet(seq), Fate::Marked(size)), LossOutcome::Ignored),
                _ => assert_eq!(panel.on_packet(&packet(seq), Fate::Received(size)), LossOutcome::Ignored),
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
        let mut panel = panel(VirtualConfig::of(Size::from_bytes(1000), VirtualLoss::Representative));
        for seq in 0..19 {
            panel.on_packet(&packet(seq), Fate::Received(size));
        }
        assert_eq!(panel.on_packet(&packet(19), Fate::Marked(size)), LossOutcome::NewEvent);
        assert_eq!((panel.packets(), panel.lip().open_length()), (10, 1));
        assert_eq!(panel.lip().intervals().closed().next().map(|interval| interval.length), Some(9.0));
        // The packet before the one that completes is lost: that is not a loss by this rule.
        assert_eq!(panel.on_packet(&packet(30), Fate::Lost), LossOutcome::Ignored);
        assert_eq!(panel.fraction().losses(), 2);
    }
}
