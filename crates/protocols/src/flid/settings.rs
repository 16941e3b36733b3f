//! The options of FLID's variants, and the settings that endpoints derive from them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Climb, Goal, MAX_CHANNELS, MAX_LAYERS, Model, SEPARATION, Target, climb, heuristic, separated};
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::Duration;
use layercast_kit::dynamic::{ChannelRotation, Layering, silent_slots};
use layercast_kit::response::Response;

layercast_core::choices! {
    /// How the source chooses increase signals.
    pub enum SignalRule {
        /// By a counter with its bits reversed: evenly spread (FLID-DL paper, section IV-C1).
        Deterministic = "deterministic",
        /// By a random number for each slot.
        Probabilistic = "probabilistic",
    }
}

layercast_core::choices! {
    /// How the increase probabilities of the levels are chosen: p_i of the FLID-DL paper.
    pub enum ProbabilityRule {
        /// From the loss rate at which TCP would have the level's rate (FLID-DL paper, section IV-C).
        Heuristic = "heuristic",
        /// The heuristic, improved until the mean rate as a function of the loss rate is close to TCP's
        /// (FLID-DL paper, appendix).
        HillClimbing = "hill-climbing",
        /// The option `increase_probability_list`.
        List = "list",
    }
}

layercast_core::choices! {
    /// When a receiver of dynamic layers joins for the next slot.
    pub enum JoinMode {
        /// At the first packet of that slot.
        AtBoundary = "at-boundary",
        /// The option `join_lead` before the expected start of the slot.
        Early = "early",
    }
}

/// Rules for sessions whose packets are marked instead of dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnSettings {
    /// Whether heavy loss counts in addition to marks, and losses count where no router marks.
    pub safety: bool,
}

/// The settings of endpoints, from the options of their variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The length of a slot.
    pub slot: Duration,
    /// Which TCP's rate is the target.
    pub fair_to: Response,
    /// The round-trip time for which TCP's rate is the target.
    pub nominal_rtt: Duration,
    /// How signals are chosen.
    pub signal: SignalRule,
    /// How increase probabilities are chosen.
    pub increase_probabilities: ProbabilityRule,
    /// The increase probabilities for the rule "list".
    pub increase_probability_list: Vec<f64>,
    /// The width of the signal's counter in bits.
    pub counter_bits: u32,
    /// The longest random delay of a packet.
    pub packet_jitter: Duration,
    /// By which part of its spacing a packet may leave late, where that is more.
    pub dither: f64,
    /// Upper bound of the leave latency; none for static layers.
    pub leave_bound: Option<Duration>,
    /// Whether the base layer is static where the others are dynamic.
    pub static_base: bool,
    /// When joins are sent.
    pub join_mode: JoinMode,
    /// How long before the slot early joins are sent.
    pub join_lead: Duration,
    /// How long a receiver of static layers keeps its level after it left one.
    pub deaf: Duration,
    /// The number of later packets of its channel after which a packet is lost.
    pub reorder: u32,
    /// How long after a slot's end static layers wait for its packets.
    pub loss_grace: Duration,
    /// Whether a receiver adds a layer only when its top layer has delivered a packet.
    pub wait_first_packet: bool,
    /// The rules for marks, if marks decide.
    pub ecn: Option<EcnSettings>,
}

/// A protocol of the family: options that have settings.
pub trait Variant {
    /// The settings.
    fn settings(&self) -> Settings;
}

impl Default for Settings {
    /// The defaults of the family's options, with static layers.
    fn default() -> Settings {
        Settings {
            slot: Duration::from_ms(500),
            fair_to: Response::Reno,
            nominal_rtt: Duration::from_ms(100),
            signal: SignalRule::Deterministic,
            increase_probabilities: ProbabilityRule::Heuristic,
            increase_probability_list: Vec::new(),
            counter_bits: 16,
            packet_jitter: Duration::from_ms(1),
            dither: 0.0,
            leave_bound: None,
            static_base: true,
            join_mode: JoinMode::AtBoundary,
            join_lead: Duration::ZERO,
            deaf: Duration::ZERO,
            reorder: 3,
            loss_grace: Duration::ZERO,
            wait_first_packet: false,
            ecn: None,
        }
    }
}

impl Variant for Settings {
    fn settings(&self) -> Settings {
        self.clone()
    }
}

impl Settings {
    /// The number of layers of the session that are used.
    pub fn layers(&self, plan: &SessionPlan) -> u16 {
        plan.layers.count().min(MAX_LAYERS)
    }

    /// The mapping of a session's layers to channels.
    pub fn layering(&self, plan: &SessionPlan) -> Layering {
        let layers = self.layers(plan);
        let Some(leave_bound) = self.leave_bound else { return Layering::Static(layers) };
        let silent = silent_slots(self.slot, leave_bound).min(u16::MAX / 2);
        if self.static_base {
            Layering::TurningAboveBase(ChannelRotation { layers: layers.saturating_sub(1), silent })
        } else {
            Layering::Turning(ChannelRotation { layers, silent })
        }
    }

    /// Packets of the base in a slot.
    fn base_packets(&self, plan: &SessionPlan) -> f64 {
        let rate = plan.layers.rate(layercast_core::units::Layer::BASE);
        rate.as_bps() * self.slot.as_secs_f64() / plan.packet_size.as_bits().max(1) as f64
    }

    /// Whether a session of this plan can be held.
    ///
    /// # Errors
    /// Says what does not fit, and what would.
    pub fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
        let (layers, channels) = (plan.layers.count(), self.layering(plan).channels());
        let refuse = |text: String| Err(PlanError(text));
        if layers > MAX_LAYERS {
            return refuse(format!(
                "{layers} layers are more than the {MAX_LAYERS} that its signal can name"
            ));
        }
        if channels > MAX_CHANNELS {
            return refuse(format!(
                "{layers} layers with a leave latency of up to {} take {channels} channels, more than the \
                 {MAX_CHANNELS} that its header can number: use longer slots (`slot`), a lower `leave_bound` \
                 or fewer layers",
                self.leave_bound.unwrap_or_default()
            ));
        }
        let per_slot = self.base_packets(plan);
        // A rate may be a rounded quotient of just one packet.
        if per_slot < 1.0 - 1e-9 {
            return refuse(format!(
                "the base layer has {per_slot:.2} packets in a slot of {}, but its first packet starts every \
                 slot: use a faster base layer, smaller packets or longer slots (`slot`)",
                self.slot
            ));
        }
        if self.increase_probabilities == ProbabilityRule::List {
            self.check_list(layers)?;
        }
        Ok(())
    }

    fn check_list(&self, layers: u16) -> Result<(), PlanError> {
        let (given, needed) = (self.increase_probability_list.len(), usize::from(layers.saturating_sub(1)));
        // The top level never increases; a list may say so.
        let fits =
            given == needed || (given == needed + 1 && self.increase_probability_list.last() == Some(&0.0));
        let is_share = |rise: &f64| (0.0..=1.0).contains(rise);
        let falls = self.increase_probability_list.is_sorted_by(|lower, upper| lower >= upper);
        if fits && falls && self.increase_probability_list.iter().all(is_share) {
            return Ok(());
        }
        let needs = needed.to_string();
        Err(PlanError(format!(
            "`increase_probability_list` has {given} numbers; with {layers} layers it must have {needs}, from 0 to 1, that do \
             not grow"
        )))
    }

    /// The increase probability of each level; 0 for the top.
    pub fn level_probabilities(&self, plan: &SessionPlan) -> Vec<f64> {
        let target = Target::of(self.fair_to, self.nominal_rtt);
        let mut model = Model::new(&plan.layers, plan.packet_size, self.slot);
        model.packets_per_s.truncate(usize::from(self.layers(plan)));
        let start = || heuristic(&model, &target);
        match self.increase_probabilities {
            ProbabilityRule::Heuristic => start(),
            ProbabilityRule::HillClimbing => {
                let goal = Goal::from_paper(&target);
                climb(&model, &goal, &separated(&start(), SEPARATION), &Climb::default())
                    .increase_probabilities
            }
            ProbabilityRule::List => {
                let mut increase_probabilities = self.increase_probability_list.clone();
                increase_probabilities.resize(model.levels(), 0.0);
                if let Some(top) = increase_probabilities.last_mut() {
                    *top = 0.0;
                }
                increase_probabilities
            }
        }
    }
}

/// Declares the options of a variant: those of the family, and its own. `$settings` sets what the
/// family's options do not.
macro_rules! variant_options {
    (
        $(#[doc = $struct_doc:literal])*
        options { $($own:tt)* }
        settings |$options:ident, $settings:ident| $set:block
        agreed $agreed:expr
    ) => {
        layercast_core::options! {
            $(#[doc = $struct_doc])*
            pub struct Options {
                /// Length of a slot: T. A few round-trip times, longer than a join takes (FLID-DL
                /// paper, section V-A: 500 ms).
                slot: Duration = Settings::default().slot, Duration::from_ms(10) => Duration::from_secs(60);
                /// Whose rate is the target of the increase probabilities: that of Reno (FLID-DL paper, eq. 1), or of
                /// another TCP by its response function.
                fair_to: Response = Settings::default().fair_to;
                /// Nominal round-trip time: the one for which TCP's rate is the target (FLID-DL paper,
                /// section V-A: 100 ms).
                rtt: Duration = Settings::default().nominal_rtt, Duration::from_ms(1) => Duration::from_secs(60);
                /// How the source chooses the increase signals.
                signal: SignalRule = Settings::default().signal;
                /// How the increase probabilities are chosen.
                increase_probabilities: ProbabilityRule = Settings::default().increase_probabilities;
                /// Increase probabilities from the base layer up, for the rule "list"; the top level never increases.
                increase_probability_list: Numbers = Numbers::default();
                /// Width of the signal's counter in bits; one step must be less than the distance
                /// between two increase probabilities (this project's choice: 16).
                counter_bits: u32 = Settings::default().counter_bits, 1 => 32;
                /// Maximum random jitter per packet, to avoid synchronisation, at most a tenth of the packet
                /// spacing; the base layer's first packet of a slot has none (FLID-DL paper, section V-A,
                /// without a number).
                packet_jitter: Duration = Settings::default().packet_jitter, Duration::ZERO => Duration::from_secs(1);
                /// By which part of its spacing a packet may leave later than planned, at random, where
                /// that is more than `packet_jitter` (the papers have none); packets stay in their slot.
                dither: f64 = Settings::default().dither, 0.0 => 1.0;
                /// Number of later packets of its channel after which a packet is lost; it is also lost when
                /// its slot has ended (RFC 5348, section 5.1: 3).
                reorder: u32 = Settings::default().reorder, 1 => 100;
                /// Whether a receiver adds a layer only when its top layer has delivered a packet (the paper
                /// has no such rule).
                wait_first_packet: bool = Settings::default().wait_first_packet;
                $($own)*
            }
        }

        impl crate::flid::Variant for Options {
            fn settings(&self) -> Settings {
                let mut $settings = Settings {
                    slot: self.slot,
                    fair_to: self.fair_to,
                    nominal_rtt: self.rtt,
                    signal: self.signal,
                    increase_probabilities: self.increase_probabilities,
                    increase_probability_list: self.increase_probability_list.0.clone(),
                    counter_bits: self.counter_bits,
                    packet_jitter: self.packet_jitter,
                    dither: self.dither,
                    reorder: self.reorder,
                    wait_first_packet: self.wait_first_packet,
                    ..Settings::default()
                };
                let $options = self;
                $set
                $settings
            }
        }

        impl layercast_core::session::Requirements for Options {
            fn channels(&self, plan: &SessionPlan) -> u16 {
                self.settings().layering(plan).channels()
            }

            fn has_static_layers(&self) -> bool {
                self.settings().leave_bound.is_none()
            }

            fn has_phases(&self) -> bool {
                true
            }

            fn agreed(&self) -> &'static [&'static str] {
                $agreed
            }

            fn deploy(&mut self) {
                self.fair_to = Response::Cubic;
                self.dither = layercast_kit::pacing::DEPLOYED_DITHER;
            }

            fn character(&self) -> layercast_core::session::Character {
                layercast_core::session::Character {
                    ecn: self.settings().ecn.is_some(),
                    start: "a layer at an increase signal, one each slot",
                    ..Default::default()
                }
            }

            fn observes_late_packets(&self) -> bool {
                self.settings().leave_bound.is_some()
            }

            fn check(&self, plan: &SessionPlan) -> Result<(), PlanError> {
                self.settings().check(plan)
            }
        }
    };
}

pub(crate) use variant_options;
