//! The one list of protocols.
//!
//! From this list come the names in scenario files, the enum of all headers that simulated packets
//! carry, and the enums of all sources and receivers, so that a host dispatches without a box. A
//! protocol that is not in the list can still be hosted through the [`Endpoint`] trait.

mod on_lct;
mod widening;

use alloc::string::String;
use alloc::vec::Vec;

pub use on_lct::{LctError, MAX_FEEDBACK};
use widening::{Widening, narrow, widen};

use layercast_core::contract::{Action, Endpoint, Estimates, GaugeSpec, Host, Input, drive};
use layercast_core::option::{OptionError, OptionSpec, Options as _, RawValue};
use layercast_core::session::{Requirements, SessionPlan};
use layercast_core::stream::Stream;
use layercast_core::units::Time;

use crate::flid::{dl as flid_dl, ecn as e_flid_dl, sl as flid_sl};
use crate::{
    amca, cbr, elm, fixed, golestani_sabnani, nca, pgmcc, rla, rlc, rlm, smcc, tfmcc, tfrc, webrc, wei_zhang,
};

/// Makes the enums from the list. `Variant = "name" in module` stands for a module with `Options`
/// (which say what they [need](Requirements)), `Header`, `Source` and `Receiver`; `with Router` for one with a
/// `Router` too, whose options say that routers take part ([`Requirements::has_routers`]).
macro_rules! protocols {
    ($( $(#[doc = $doc:literal])* $variant:ident = $name:literal in $module:ident $(with $router:ident)?; )*) => {
        /// A protocol together with its options.
        // Made once and then left where it is: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug, PartialEq)]
        pub enum Protocol {
            $( $(#[doc = $doc])* $variant($module::Options), )*
        }

        /// The header of any protocol.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Header {
            $( $(#[doc = $doc])* $variant($module::Header), )*
        }

        /// The source of any protocol.
        // Made once and then left where it is: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Source {
            $( $(#[doc = $doc])* $variant($module::Source), )*
        }

        /// The receiver of any protocol.
        // Made once and then left where it is: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Receiver {
            $( $(#[doc = $doc])* $variant($module::Receiver), )*
        }

        /// The router of any protocol of which routers take part.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Router {
            $( $( #[doc = concat!("Of the protocol `", $name, "`.")] $variant($module::$router), )? )*
        }

        /// The names of all protocols, as scenario files have them.
        pub const NAMES: &[&str] = &[$($name),*];

        impl Protocol {
            /// The protocol of that name with its default options.
            pub fn named(name: &str) -> Option<Protocol> {
                match name {
                    $( $name => Some(Protocol::$variant(Default::default())), )*
                    _ => None,
                }
            }

            /// The name in scenario files.
            pub fn name(&self) -> &'static str {
                match self { $( Protocol::$variant(_) => $name, )* }
            }

            /// The options it has.
            pub fn option_specs(&self) -> Vec<OptionSpec> {
                match self { $( Protocol::$variant(_) => $module::Options::specs(), )* }
            }

            /// Sets an option.
            ///
            /// # Errors
            /// As [`layercast_core::option::Options::set`].
            pub fn set(&mut self, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
                match self { $( Protocol::$variant(options) => options.set(name, value), )* }
            }

            /// An option's value as it would be written; none if there is no such option.
            pub fn get(&self, name: &str) -> Option<String> {
                match self { $( Protocol::$variant(options) => options.get(name), )* }
            }

            /// What its sources show, for [`Endpoint::gauge`].
            pub fn source_gauges(&self) -> &'static [GaugeSpec] {
                match self { $( Protocol::$variant(_) => $module::Source::gauges(), )* }
            }

            /// What its receivers show, for [`Receivers::gauge`].
            pub fn receiver_gauges(&self) -> &'static [GaugeSpec] {
                match self { $( Protocol::$variant(_) => $module::Receiver::gauges(), )* }
            }

            /// What a host must know before it opens a session.
            pub fn requirements(&self) -> &dyn Requirements {
                match self { $( Protocol::$variant(options) => options, )* }
            }

            /// Makes the source of a session.
            pub fn source(&self, plan: SessionPlan, stream: Stream) -> Source {
                match self {
                    $( Protocol::$variant(options) =>
                        Source::$variant($module::Source::new(options, plan, stream)), )*
                }
            }

            /// Makes a receiver of a session.
            pub fn receiver(&self, plan: SessionPlan, stream: Stream) -> Receiver {
                match self {
                    $( Protocol::$variant(options) =>
                        Receiver::$variant($module::Receiver::new(options, plan, stream)), )*
                }
            }
        }

        impl Protocol {
            /// Makes a router of a session; none for a protocol of which no routers take part.
            pub fn router(&self, plan: SessionPlan, stream: Stream) -> Option<Router> {
                match self {
                    $( $( Protocol::$variant(options) =>
                        Some(Router::$variant($module::$router::new(options, plan, stream))), )? )*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }

        impl layercast_core::contract::Header for Header {
            fn is_repair(&self) -> bool {
                match self { $( Header::$variant(header) => header.is_repair(), )* }
            }

            fn is_held_by_routers(&self) -> bool {
                match self { $( Header::$variant(header) => header.is_held_by_routers(), )* }
            }

            fn nth(self, index: u16) -> Self {
                match self { $( Header::$variant(header) => Header::$variant(header.nth(index)), )* }
            }
        }

        protocols!(@endpoint Source; $($variant,)*);
        protocols!(@endpoint Receiver; $($variant,)*);
        protocols!(@endpoint Router; $( $( $variant: $router, )? )*);

        /// Many receivers of one protocol, side by side in memory, each with the room that its own
        /// protocol needs and not that of the largest one.
        #[derive(Clone, Debug)]
        pub enum Receivers {
            $( $(#[doc = $doc])* $variant(Vec<$module::Receiver>), )*
        }

        impl Receivers {
            /// A list of one.
            pub fn of(receiver: Receiver) -> Receivers {
                match receiver {
                    $( Receiver::$variant(receiver) => Receivers::$variant(alloc::vec![receiver]), )*
                }
            }

            /// Adds a receiver. Returns whether its protocol is that of the others.
            #[must_use]
            pub fn push(&mut self, receiver: Receiver) -> bool {
                match (self, receiver) {
                    $( (Receivers::$variant(list), Receiver::$variant(receiver)) => {
                        list.push(receiver);
                        true
                    } )*
                    #[allow(unreachable_patterns)]
                    _ => false,
                }
            }

            /// How many there are.
            pub fn len(&self) -> usize {
                match self { $( Receivers::$variant(list) => list.len(), )* }
            }

            /// Whether there is none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Puts the receiver at each place `i` at place `places[i]`, which are all different.
            pub fn reorder(&mut self, places: &[u32]) {
                match self { $( Receivers::$variant(list) => reorder(list, places), )* }
            }

            /// [`settle`] for the receiver at `index`. There must be one.
            pub fn drive(
                &mut self,
                index: usize,
                now: Time,
                input: Input<Header>,
                host: &mut impl Host<Header>,
            ) -> Option<Time> {
                match self {
                    $( Receivers::$variant(list) => {
                        // A packet of another protocol is not this endpoint's business.
                        let own = |header| match header {
                            Header::$variant(header) => Some(header),
                            #[allow(unreachable_patterns)]
                            _ => None,
                        };
                        let endpoint = &mut list[index];
                        match narrow(input, own) {
                            Some(input) => {
                                drive(endpoint, now, input, &mut Widening(host, Header::$variant))
                            }
                            None => endpoint.deadline(),
                        }
                    } )*
                }
            }

            /// What the receiver at `index` believes. There must be one.
            pub fn estimates(&self, index: usize, now: Time) -> Estimates {
                match self { $( Receivers::$variant(list) => list[index].estimates(now), )* }
            }

            /// A gauge of the receiver at `index`, by its place among the
            /// [gauges](Protocol::receiver_gauges) of the protocol. There must be such a receiver.
            pub fn gauge(&self, index: usize, gauge: usize, now: Time) -> Option<f64> {
                match self { $( Receivers::$variant(list) => list[index].gauge(gauge, now), )* }
            }
        }
    };
    (@endpoint $enum:ident; $($variant:ident $(: $part:ident)?,)*) => {
        impl Endpoint for $enum {
            type Header = Header;

            fn handle(&mut self, now: Time, input: Input<Header>) {
                match self {
                    $( $enum::$variant(endpoint) => {
                        // A packet of another protocol is not this endpoint's business.
                        let own = |header| match header {
                            Header::$variant(header) => Some(header),
                            #[allow(unreachable_patterns)]
                            _ => None,
                        };
                        if let Some(input) = narrow(input, own) {
                            endpoint.handle(now, input);
                        }
                    } )*
                }
            }

            fn poll_action(&mut self) -> Option<Action<Header>> {
                match self {
                    $( $enum::$variant(endpoint) =>
                        endpoint.poll_action().map(|action| widen(action, Header::$variant)), )*
                }
            }

            fn deadline(&self) -> Option<Time> {
                match self { $( $enum::$variant(endpoint) => endpoint.deadline(), )* }
            }

            fn estimates(&self, now: Time) -> Estimates {
                match self { $( $enum::$variant(endpoint) => endpoint.estimates(now), )* }
            }

            fn gauge(&self, index: usize, now: Time) -> Option<f64> {
                match self { $( $enum::$variant(endpoint) => endpoint.gauge(index, now), )* }
            }
        }
    };
}

protocols! {
    /// Equation-based layered multicast.
    Elm = "elm" in elm;
    /// Receiver-driven layered congestion control.
    Rlc = "rlc" in rlc;
    /// Receiver-driven layered multicast: announced experiments.
    Rlm = "rlm" in rlm;
    /// Synchronised join experiments for any layers.
    WeiZhang = "wei-zhang" in wei_zhang;
    /// TCP-friendly rate control: one receiver.
    Tfrc = "tfrc" in tfrc;
    /// A constant rate with TFRC's receiver: one receiver, no congestion control, several loss estimators.
    Cbr = "cbr" in cbr;
    /// TCP-friendly multicast congestion control with a single rate.
    Tfmcc = "tfmcc" in tfmcc;
    /// Smooth multirate multicast: layers that TFMCC controls each.
    Smcc = "smcc" in smcc;
    /// One rate with a representative: TCP's window with the receiver that is worst off.
    Pgmcc = "pgmcc" in pgmcc;
    /// One rate with a random ear: every receiver acknowledges, few of their losses count.
    Rla = "rla" in rla;
    /// One rate with windows at the receivers: the source sends what all of them allow.
    GolestaniSabnani = "golestani-sabnani" in golestani_sabnani;
    /// The congestion control of one nominated receiver, with repair servers at routers.
    Nca = "nca" in nca with Router;
    /// Wave and equation based rate control.
    Webrc = "webrc" in webrc;
    /// Fair layered increase/decrease with static layers.
    FlidSl = "flid-sl" in flid_sl;
    /// Fair layered increase/decrease with dynamic layers.
    FlidDl = "flid-dl" in flid_dl;
    /// The same with congestion marks in place of losses.
    EFlidDl = "e-flid-dl" in e_flid_dl;
    /// One rate for all and reliable delivery, with routers that take part.
    Amca = "amca" in amca with Router;
    /// Layers at a fixed level: no congestion control, the yardstick for the others.
    Fixed = "fixed" in fixed;
}

impl Receivers {
    /// Whether they want to hear what still arrives on channels that they have left. With dynamic layers
    /// that tells whether leaves come in time; for others it is only load.
    pub fn hear_left_channels(&self) -> bool {
        matches!(self, Receivers::FlidDl(_) | Receivers::EFlidDl(_))
    }
}

/// Puts what is at each place `i` at place `places[i]`.
fn reorder<T>(list: &mut Vec<T>, places: &[u32]) {
    if places.is_sorted() {
        return;
    }
    let mut placed: Vec<(u32, T)> = places.iter().copied().zip(core::mem::take(list)).collect();
    placed.sort_unstable_by_key(|&(place, _)| place);
    list.extend(placed.into_iter().map(|(_, item)| item));
}
