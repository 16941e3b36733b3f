//! The options of Tide.

use layercast_core::options;
use layercast_core::units::{Duration, Size};
use layercast_kit::response::Response;

layercast_core::choices! {
    /// What marks are.
    pub enum Marks {
        /// Events, as losses are (RFC 3168).
        Events = "events",
        /// A fraction that counts, as in L4S (RFC 9331): only in simulations.
        Fraction = "fraction",
    }
}

options! {
    /// The options of Tide.
    pub struct Options {
        /// Whose rate is fair: that of Reno or of CUBIC.
        fair_to: Response = Response::Reno;
        /// What ECN marks are: events like losses, or a fraction as in L4S, which is for simulations only.
        marks: Marks = Marks::Events;
        /// The length of a time slot.
        slot: Duration = Duration::from_ms(2500), Duration::from_ms(100) => Duration::from_secs(600);
        /// Minimum silence of a wave's channel; it must outlast any leave.
        quiet: Duration = Duration::from_secs(15), Duration::ZERO => Duration::from_secs(3600);
        /// Factor by which a wave's rate falls in a slot.
        fall: f64 = 0.75, 0.3 => 0.95;
        /// By which part of its spacing a packet may leave later than planned, at random.
        dither: f64 = 0.5, 0.0 => 1.0;
        /// How many decision points there are in a slot.
        decision_points: u32 = 10, 1 => 1000;
        /// How many congestion events of the emulated TCP the estimate remembers.
        memory: f64 = 8.0, 1.0 => 100.0;
        /// Whether the emulated TCP is that of the fair rate; otherwise losses count by the packet.
        emulated: bool = true;
        /// How much above its peak at the fair rate the held rate may be before the newest wave is left.
        excess: f64 = 1.5, 1.0 => 100.0;
        /// By which factor the rate grows in a step of the start.
        start_factor: f64 = 2.0, 1.0 => 16.0;
        /// Packets a round-trip time to which the first step of the start may go (RFC 6928).
        initial_window: u32 = 10, 1 => 1000;
        /// Waves left at most because the losses of an event do not end while the queue is full.
        overload_leaves: u32 = 3, 0 => 100;
        /// How long a leave may take: losses of a queue that stays full so long after one are of the same event.
        leave_bound: Duration = Duration::from_secs(4), Duration::ZERO => Duration::from_secs(60);
        /// The queueing delay at which the start ends.
        start_delay: Duration = Duration::from_ms(15), Duration::ZERO => Duration::from_secs(10);
        /// Whether a rise of the queueing delay ends the start.
        delay_start: bool = true;
        /// The largest delay of an empty queue: while it is empty for long, the receiver tries whether there is more.
        idle_delay: Duration = Duration::from_ms(3), Duration::ZERO => Duration::from_secs(10);
        /// Whether the session takes one flow's share where each flow has a queue of its own; otherwise one a channel.
        one_share: bool = true;
        /// The loss rate up to which losses count that come while the queue is empty, so that no queue made them.
        random_loss: f64 = 0.02, 1e-6 => 1.0;
        /// Time without packets after which a receiver starts again.
        silence: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Number of later packets of its channel after which a packet is lost.
        reorder: u32 = 3, 1 => 100;
        /// Age of a later packet of its channel after which a packet is lost.
        late_limit: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(60);
        /// The round-trip time that is assumed at least while none was echoed.
        assumed_rtt: Duration = Duration::from_ms(100), Duration::from_ms(1) => Duration::from_secs(60);
        /// Whether the round-trip time is at least that of a TCP just after a cut, which keeps a queue longer than its path.
        kept_queue: bool = false;
        /// Whether receivers report, which gives them their round-trip times.
        reports: bool = true;
        /// Size of a report on the wire.
        report_size: Size = Size::from_bytes(64), Size::from_bytes(24) => Size::from_bytes(1500);
        /// Number of packets that announce the end of the session; a receiver accepts the second.
        end_packets: u32 = 3, 0 => 100;
    }
}
