//! The layers of a session, from the rates that the operator gives.

use layercast_core::family::AnyProtocol;
use layercast_core::layers::{LayerTable, Scheme};
use layercast_core::session::Requirements;
use layercast_core::units::{Channel, Layer, Level, Size};
use layercast_delivery::layering::{FACTOR, FROM, Layering as Made, StreamRates};
use layercast_delivery::session::Session;
use layercast_transport::send::modes::{ONE_INPUT, ONE_LAYER};

use crate::failure::Failure;
use crate::net::send::arguments::Layering;
use crate::net::view::rounded;
use crate::output::complain;

/// What is used where layers are given one by one, and the operator gives nothing.
const LAYERS: u16 = 7;

/// The layers. Options of the protocol that depend on the rates are set.
///
/// # Errors
/// What is wrong with the rates.
pub(crate) fn table<P: AnyProtocol>(
    given: &Layering,
    protocol: &mut P,
    packet: Size,
) -> Result<LayerTable, Failure> {
    let is_explicit = given.base.is_some() || given.factor.is_some() || given.layers.is_some();
    let made = if !given.rates.is_empty() {
        Made::Scheme(Scheme::Explicit { rates: given.rates.clone() })
    } else if is_explicit {
        let (base, factor) = (given.base.unwrap_or(FROM), given.factor.unwrap_or(FACTOR));
        Made::Scheme(Scheme::Multiplicative { base, factor, count: given.layers.unwrap_or(LAYERS) })
    } else {
        Made::Between { from: given.from, to: given.to }
    };
    if made.has_idle_lowest(protocol, packet) {
        let name = protocol.name();
        complain(&format!(
            "warning: --from has no effect: {name} has one rate for all receivers, at most --to"
        ));
    }
    made.table(protocol, packet).map_err(|error| Failure::Input(format!("error: {error}")))
}

/// The layers of a stream, one for each input: by default each cumulative rate is twice the one below.
///
/// # Errors
/// What is wrong with the rates.
pub(crate) fn stream_table(given: &Layering, inputs: usize) -> Result<LayerTable, Failure> {
    if inputs == 1 {
        if given.factor.is_some() {
            return Err(unused("--factor", "leave it out"));
        }
        if given.from.is_some() && given.to.is_some() {
            return Err(unused("--from", "give its rate by --to alone"));
        }
    }
    let table = match given.rates.is_empty() {
        false => Scheme::Explicit { rates: given.rates.clone() }.table(),
        true => {
            let base = given.base.or(given.from);
            StreamRates { base, to: given.to, factor: given.factor }.table(inputs)
        }
    };
    table.map_err(|error| Failure::Input(format!("error: {error}")))
}

/// The error of a flag that would change nothing.
fn unused(flag: &str, instead: &str) -> Failure {
    Failure::Input(format!("error: {flag} cannot be used with {ONE_INPUT}: {ONE_LAYER}\n  = help: {instead}"))
}

/// The protocol, its rates and its groups in words.
pub(crate) fn summary(session: &Session, needs: &dyn Requirements) -> String {
    let (layers, plan) = (&session.layers, session.plan());
    let (top, peak) = (layers.top_rate(), needs.peak_rate(&plan));
    let low = match layers.count() {
        1 => rounded(needs.level_rate(&plan, Level::from_count(1)).as_bps()),
        _ => layers.rate(Layer::BASE),
    };
    let rates = match needs.levels(&plan) {
        1 => format!("up to {top}"),
        levels => format!("{low} to {top} in {levels} levels"),
    };
    let last = session.address(Channel(session.channels.saturating_sub(1)));
    let groups = last.filter(|last| *last != session.group).map_or(String::new(), |last| {
        format!(" on {} groups, the last of them {}", session.channels, last.ip())
    });
    let all = match peak.as_bps() > top.as_bps() * 1.01 {
        true => format!(", {} with all channels", rounded(peak.as_bps())),
        false => String::new(),
    };
    format!("{}, {rates}{groups}{all}", session.protocol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Rate;
    use layercast_delivery::protocols::deployed;
    use layercast_protocols::registry::Protocol;

    fn layers(given: &Layering, control: &str) -> LayerTable {
        let mut protocol: Protocol = deployed(control).expect("a protocol");
        table(given, &mut protocol, Size::from_bytes(1000)).unwrap_or_else(|_| panic!("layers of {control}"))
    }

    fn ends(given: &Layering, control: &str) -> (u16, f64, f64) {
        let table = layers(given, control);
        (table.count(), table.rate(Layer::BASE).as_kbps(), table.top_rate().as_kbps())
    }

    #[test]
    fn a_stream_has_a_layer_for_each_input() {
        let of = |given: &Layering, inputs| {
            let table = stream_table(given, inputs).unwrap_or_else(|_| panic!("layers of a stream"));
            (table.count(), table.rate(Layer::BASE).as_kbps(), table.top_rate().as_kbps().round())
        };
        assert_eq!(of(&Layering::default(), 3), (3, 128.0, 512.0));
        let both = Layering {
            from: Some(Rate::from_kbps(200.0)),
            to: Some(Rate::from_kbps(1800.0)),
            ..Layering::default()
        };
        assert_eq!(of(&both, 3), (3, 200.0, 1800.0));
        assert!(stream_table(&both, 1).is_err(), "one layer has one rate");
        let to = Layering { from: None, ..both };
        assert_eq!(of(&to, 1), (1, 1800.0, 1800.0));
        let factor = Layering { factor: Some(3.0), ..Layering::default() };
        assert!(stream_table(&factor, 1).is_err(), "one layer has no ratio");
    }

    #[test]
    fn rates_span_the_session_and_explicit_layers_stay() {
        let to = Layering { to: Some(Rate::from_kbps(64.0)), ..Layering::default() };
        assert_eq!(ends(&to, "tide"), (1, 64.0, 64.0));
        let base = Layering { base: Some(Rate::from_mbps(1.0)), ..Layering::default() };
        assert_eq!(ends(&base, "elm"), (7, 1000.0, 64_000.0));
    }
}
