//! The macro that makes a family from a list of protocols.

use alloc::vec::Vec;

use crate::wire::{WireNumbers, taken};

/// Makes a [`Family`](crate::family::Family) from a list of protocols.
///
/// `Variant = "name" in module` stands for a module with `Options` (which implement
/// [`Requirements`](crate::session::Requirements)), `Header` (which implements [`Wire`](crate::wire::Wire)),
/// `Source` and `Receiver`. `on [80]` lists the types of its LCT extensions and `reports 0x12` the first byte
/// of its reports; two protocols with the same number, or one with a number of the
/// [transport](crate::wire::taken), do not compile. `with Router` is for a module with a `Router`, whose options say that
/// routers take part. In addition to the family, the macro defines `Protocol`,
/// `Header`, `HeaderError`, `Source`, `Receiver`, `Receivers` and `Router` where it is invoked.
#[macro_export]
macro_rules! family {
    (
        $(#[doc = $family_doc:literal])*
        pub $family:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $name:literal in $module:ident
                $(on [$($extension:literal),+])? $(reports $report:literal)? $(with $router:ident)?; )+
        }
    ) => {
        $(#[doc = $family_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $family;

        impl $crate::family::Family for $family {
            type Header = Header;
            type Source = Source;
            type Receiver = Receiver;
            type Receivers = Receivers;
            type Router = Router;
            type Protocol = Protocol;
        }

        // Two protocols with one number would decode each other's packets; the transport keeps what has its own.
        const _: () = assert!(
            $crate::family::numbers_differ(&[$( $crate::family!(@numbers [$($($extension),+)?] $($report)?) ),+]),
            "a wire number of the family is taken: by another protocol, or by the transport (layercast_core::wire::taken)"
        );

        /// A protocol together with its options.
        // Made once and not moved afterwards: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug, PartialEq)]
        pub enum Protocol {
            $( $(#[doc = $doc])* $variant($module::Options), )+
        }

        /// The header of any protocol.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Header {
            $( $(#[doc = $doc])* $variant($module::Header), )+
        }

        /// Why bytes from the network are not a header.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum HeaderError {
            $( #[doc = concat!("The protocol `", $name, "` rejects them.")]
                $variant(<$module::Header as $crate::wire::Wire>::Error), )+
            /// The LCT extension belongs to no protocol.
            Extension(u8),
            /// The congestion control information does not have the protocol's length.
            Cci {
                /// Its length in bytes.
                len: usize,
            },
            /// No protocol's reports begin with this byte; none if there is no byte.
            Report(Option<u8>),
        }

        impl ::core::fmt::Display for HeaderError {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $( HeaderError::$variant(error) => write!(f, concat!("not a header of ", $name, ": {}"), error), )+
                    HeaderError::Extension(kind) => write!(f, "no protocol has LCT extensions of type {kind}"),
                    HeaderError::Cci { len } => {
                        write!(f, "the protocol has no congestion control information of {len} bytes")
                    }
                    HeaderError::Report(Some(kind)) => write!(f, "no protocol has reports that begin with {kind:#04x}"),
                    HeaderError::Report(None) => write!(f, "an empty report"),
                }
            }
        }

        impl ::core::error::Error for HeaderError {}

        /// The source of any protocol.
        // Made once and not moved afterwards: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Source {
            $( $(#[doc = $doc])* $variant($module::Source), )+
        }

        /// The receiver of any protocol.
        // Made once and not moved afterwards: its size costs nothing.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Receiver {
            $( $(#[doc = $doc])* $variant($module::Receiver), )+
        }

        /// The router of any protocol with routers.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum Router {
            $( $( #[doc = concat!("Of the protocol `", $name, "`.")] $variant($module::$router), )? )+
        }

        /// The names of all protocols, as scenario files have them.
        pub const NAMES: &[&str] = &[$($name),+];

        impl $crate::family::AnyProtocol for Protocol {
            type Family = $family;

            fn names() -> $crate::alloc::vec::Vec<&'static str> {
                NAMES.to_vec()
            }

            fn named(name: &str) -> Option<Protocol> {
                match name {
                    $( $name => Some(Protocol::$variant(Default::default())), )+
                    _ => None,
                }
            }

            fn name(&self) -> &'static str {
                match self { $( Protocol::$variant(_) => $name, )+ }
            }

            fn summary(&self) -> &'static str {
                match self { $( Protocol::$variant(_) => concat!($($doc),*).trim(), )+ }
            }

            fn wire_numbers(&self) -> $crate::wire::WireNumbers {
                match self {
                    $( Protocol::$variant(_) => $crate::family!(@numbers [$($($extension),+)?] $($report)?), )+
                }
            }

            fn option_specs(&self) -> $crate::alloc::vec::Vec<$crate::option::OptionSpec> {
                match self { $( Protocol::$variant(_) => <$module::Options as $crate::option::Options>::specs(), )+ }
            }

            fn set(
                &mut self,
                name: &str,
                value: $crate::option::RawValue<'_>,
            ) -> Result<(), $crate::option::OptionError> {
                use $crate::option::Options as _;
                match self { $( Protocol::$variant(options) => options.set(name, value), )+ }
            }

            fn get(&self, name: &str) -> Option<$crate::alloc::string::String> {
                use $crate::option::Options as _;
                match self { $( Protocol::$variant(options) => options.get(name), )+ }
            }

            fn source_gauges(&self) -> &'static [$crate::contract::GaugeSpec] {
                use $crate::contract::Endpoint as _;
                match self { $( Protocol::$variant(_) => $module::Source::gauges(), )+ }
            }

            fn receiver_gauges(&self) -> &'static [$crate::contract::GaugeSpec] {
                use $crate::contract::Endpoint as _;
                match self { $( Protocol::$variant(_) => $module::Receiver::gauges(), )+ }
            }

            fn requirements(&self) -> &dyn $crate::session::Requirements {
                match self { $( Protocol::$variant(options) => options, )+ }
            }

            fn deploy(&mut self) {
                use $crate::session::Requirements as _;
                match self { $( Protocol::$variant(options) => options.deploy(), )+ }
            }

            fn span(
                &mut self,
                from: $crate::units::Rate,
                to: $crate::units::Rate,
                packet: $crate::units::Size,
            ) -> Result<$crate::layers::LayerTable, $crate::layers::LayerError> {
                use $crate::session::Requirements as _;
                match self { $( Protocol::$variant(options) => options.span(from, to, packet), )+ }
            }

            fn source(&self, plan: $crate::session::SessionPlan, stream: $crate::stream::Stream) -> Source {
                match self {
                    $( Protocol::$variant(options) =>
                        Source::$variant($module::Source::new(options, plan, stream)), )+
                }
            }

            fn receiver(&self, plan: $crate::session::SessionPlan, stream: $crate::stream::Stream) -> Receiver {
                match self {
                    $( Protocol::$variant(options) =>
                        Receiver::$variant($module::Receiver::new(options, plan, stream)), )+
                }
            }

            fn router(
                &self,
                _plan: $crate::session::SessionPlan,
                _stream: $crate::stream::Stream,
            ) -> Option<Router> {
                match self {
                    $( $( Protocol::$variant(options) =>
                        Some(Router::$variant($module::$router::new(options, _plan, _stream))), )? )+
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }

        impl $crate::contract::Header for Header {
            fn is_repair(&self) -> bool {
                match self { $( Header::$variant(header) => header.is_repair(), )+ }
            }

            fn is_held_by_routers(&self) -> bool {
                match self { $( Header::$variant(header) => header.is_held_by_routers(), )+ }
            }

            fn nth(self, index: u16) -> Self {
                match self { $( Header::$variant(header) => Header::$variant(header.nth(index)), )+ }
            }
        }

        impl $crate::family::AnyHeader for Header {
            type Error = HeaderError;

            fn to_lct(&self) -> Option<$crate::lct::LctFields> {
                match self {
                    $( Header::$variant(header) =>
                        $crate::wire::Wire::to_lct(header, &$crate::family!(@numbers [$($($extension),+)?] $($report)?)), )+
                }
            }

            fn from_lct(fields: &$crate::lct::LctFields) -> Result<Header, HeaderError> {
                use $crate::wire::{Wire, WireNumbers};
                let kind = fields.extension.kind();
                $({
                    const NUMBERS: WireNumbers = $crate::family!(@numbers [$($($extension),+)?] $($report)?);
                    if NUMBERS.extensions.contains(&kind) {
                        if !<$module::Header as Wire>::CCI.admits(fields.cci) {
                            return Err(HeaderError::Cci { len: fields.cci.bytes().len() });
                        }
                        return <$module::Header as Wire>::from_lct(fields, &NUMBERS)
                            .map(Header::$variant)
                            .map_err(HeaderError::$variant);
                    }
                })+
                Err(HeaderError::Extension(kind))
            }

            fn is_lct_extension(kind: u8) -> bool {
                false $( $( $( || kind == $extension )+ )? )+
            }

            fn layer(&self) -> Option<$crate::units::Layer> {
                match self { $( Header::$variant(header) => $crate::wire::Wire::layer(header), )+ }
            }

            fn channel(&self) -> Option<$crate::units::Channel> {
                match self { $( Header::$variant(header) => $crate::wire::Wire::channel(header), )+ }
            }

            fn encode_report(&self, bytes: &mut [u8; $crate::wire::MAX_REPORT]) -> Option<usize> {
                match self {
                    $( Header::$variant(_header) => {
                        $( return $crate::wire::Wire::encode_report(_header, $report, bytes); )?
                        #[allow(unreachable_code)]
                        None
                    } )+
                }
            }

            fn decode_report(bytes: &[u8]) -> Result<Header, HeaderError> {
                use $crate::wire::Wire;
                let kind = bytes.first().copied();
                $( $(
                    if kind == Some($report)
                        && let Some(report) = <$module::Header as Wire>::decode_report($report, bytes)
                    {
                        return report.map(Header::$variant).map_err(HeaderError::$variant);
                    }
                )? )+
                Err(HeaderError::Report(kind))
            }

            fn is_report(kind: u8) -> bool {
                false $( $( || kind == $report )? )+
            }
        }

        $crate::family!(@endpoint Source; $($variant,)+);
        $crate::family!(@endpoint Receiver; $($variant,)+);
        $crate::family!(@endpoint Router; $( $( $variant: $router, )? )+);

        /// Many receivers of one protocol; see [`Receivers`]($crate::family::Receivers).
        #[derive(Clone, Debug)]
        pub enum Receivers {
            $( $(#[doc = $doc])* $variant($crate::alloc::vec::Vec<$module::Receiver>), )+
        }

        impl $crate::family::Receivers for Receivers {
            type Header = Header;
            type Receiver = Receiver;

            fn one(receiver: Receiver) -> Receivers {
                match receiver {
                    $( Receiver::$variant(receiver) => Receivers::$variant($crate::alloc::vec![receiver]), )+
                }
            }

            fn push(&mut self, receiver: Receiver) -> bool {
                match (self, receiver) {
                    $( (Receivers::$variant(list), Receiver::$variant(receiver)) => {
                        list.push(receiver);
                        true
                    } )+
                    #[allow(unreachable_patterns)]
                    _ => false,
                }
            }

            fn len(&self) -> usize {
                match self { $( Receivers::$variant(list) => list.len(), )+ }
            }

            fn reorder(&mut self, order: &[u32]) {
                match self { $( Receivers::$variant(list) => $crate::family::reorder(list, order), )+ }
            }

            fn drive(
                &mut self,
                index: usize,
                now: $crate::units::Time,
                input: $crate::contract::Input<Header>,
                host: &mut impl $crate::contract::Host<Header>,
            ) -> Option<$crate::units::Time> {
                use $crate::contract::{Endpoint as _, drive};
                match self {
                    $( Receivers::$variant(list) => {
                        // A packet of another protocol is not for this endpoint.
                        let own = |header| match header {
                            Header::$variant(header) => Some(header),
                            #[allow(unreachable_patterns)]
                            _ => None,
                        };
                        let endpoint = &mut list[index];
                        match $crate::family::narrow(input, own) {
                            Some(input) => {
                                drive(endpoint, now, input, &mut $crate::family::Widening(host, Header::$variant))
                            }
                            None => endpoint.deadline(),
                        }
                    } )+
                }
            }

            fn deadline(&self, index: usize) -> Option<$crate::units::Time> {
                use $crate::contract::Endpoint as _;
                match self { $( Receivers::$variant(list) => list[index].deadline(), )+ }
            }

            fn estimates(&self, index: usize, now: $crate::units::Time) -> $crate::contract::Estimates {
                use $crate::contract::Endpoint as _;
                match self { $( Receivers::$variant(list) => list[index].estimates(now), )+ }
            }

            fn gauge(&self, index: usize, gauge: usize, now: $crate::units::Time) -> Option<f64> {
                use $crate::contract::Endpoint as _;
                match self { $( Receivers::$variant(list) => list[index].gauge(gauge, now), )+ }
            }
        }
    };
    (@numbers [$($extension:literal),*] $($report:literal)?) => {
        $crate::wire::WireNumbers {
            extensions: &[$($extension),*],
            report: $crate::family!(@report $($report)?),
        }
    };
    (@report) => { None };
    (@report $report:literal) => { Some($report) };
    (@endpoint $enum:ident; $($variant:ident $(: $part:ident)?,)*) => {
        impl $crate::contract::Endpoint for $enum {
            type Header = Header;

            fn handle(&mut self, _now: $crate::units::Time, _input: $crate::contract::Input<Header>) {
                match *self {
                    $( $enum::$variant(ref mut endpoint) => {
                        // A packet of another protocol is not for this endpoint.
                        let own = |header| match header {
                            Header::$variant(header) => Some(header),
                            #[allow(unreachable_patterns)]
                            _ => None,
                        };
                        if let Some(input) = $crate::family::narrow(_input, own) {
                            endpoint.handle(_now, input);
                        }
                    } )*
                }
            }

            fn poll_action(&mut self) -> Option<$crate::contract::Action<Header>> {
                match *self {
                    $( $enum::$variant(ref mut endpoint) => endpoint
                        .poll_action()
                        .map(|action| $crate::family::widen(action, Header::$variant)), )*
                }
            }

            fn deadline(&self) -> Option<$crate::units::Time> {
                match *self { $( $enum::$variant(ref endpoint) => endpoint.deadline(), )* }
            }

            fn estimates(&self, _now: $crate::units::Time) -> $crate::contract::Estimates {
                match *self { $( $enum::$variant(ref endpoint) => endpoint.estimates(_now), )* }
            }

            fn gauge(&self, _index: usize, _now: $crate::units::Time) -> Option<f64> {
                match *self { $( $enum::$variant(ref endpoint) => endpoint.gauge(_index, _now), )* }
            }

            fn session_number(&self) -> Option<u32> {
                match *self { $( $enum::$variant(ref endpoint) => endpoint.session_number(), )* }
            }
        }
    };
}

/// Moves the item at each index `i` to index `order[i]`.
pub fn reorder<T>(list: &mut Vec<T>, order: &[u32]) {
    if order.is_sorted() {
        return;
    }
    let mut placed: Vec<(u32, T)> = order.iter().copied().zip(core::mem::take(list)).collect();
    placed.sort_unstable_by_key(|&(index, _)| index);
    list.extend(placed.into_iter().map(|(_, item)| item));
}

/// Whether no two protocols share the type of an LCT extension or the first byte of reports, and none has one of
/// [the transport](taken).
pub const fn numbers_differ(protocols: &[WireNumbers]) -> bool {
    let (mut extensions, mut reports) = ([false; 256], [false; 256]);
    if !(mark(taken::EXTENSIONS, &mut extensions) && mark(taken::MESSAGES, &mut reports)) {
        return false;
    }
    let mut index = 0;
    while index < protocols.len() {
        let WireNumbers { extensions: own, report } = protocols[index];
        let is_free = match report {
            Some(report) => mark(&[report], &mut reports),
            None => true,
        };
        if !(is_free && mark(own, &mut extensions)) {
            return false;
        }
        index += 1;
    }
    true
}

/// Marks numbers as taken; false if one of them was.
const fn mark(own: &[u8], all: &mut [bool; 256]) -> bool {
    let mut at = 0;
    while at < own.len() {
        if all[own[at] as usize] {
            return false;
        }
        all[own[at] as usize] = true;
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_move_to_their_new_indices() {
        let mut list = alloc::vec!['a', 'b', 'c'];
        reorder(&mut list, &[2, 0, 1]);
        assert_eq!(list, ['b', 'c', 'a']);
    }

    #[test]
    fn a_shared_number_is_found() {
        let one = WireNumbers { extensions: &[80, 81], report: Some(1) };
        assert!(numbers_differ(&[one, WireNumbers { extensions: &[82], report: Some(2) }]));
        assert!(numbers_differ(&[one, WireNumbers { extensions: &[], report: None }]));
        assert!(!numbers_differ(&[one, WireNumbers { extensions: &[82, 81], report: None }]));
        assert!(!numbers_differ(&[one, WireNumbers { extensions: &[], report: Some(1) }]));
        assert!(!numbers_differ(&[WireNumbers { extensions: &[83, 83], report: None }]));
    }

    #[test]
    fn a_number_of_the_transport_is_taken() {
        assert!(numbers_differ(&[]), "its own numbers differ");
        for &kind in taken::EXTENSIONS {
            let extensions = std::vec![kind].leak();
            assert!(!numbers_differ(&[WireNumbers { extensions, report: None }]), "extension {kind}");
        }
        for &first in taken::MESSAGES {
            assert!(!numbers_differ(&[WireNumbers { extensions: &[], report: Some(first) }]), "{first:#04x}");
        }
    }
}
