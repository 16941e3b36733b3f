//! The layers of a session, from the rates that its operator gives.

use layercast_core::family::AnyProtocol;
use layercast_core::layers::{LayerError, LayerTable, Scheme};
use layercast_core::math;
use layercast_core::units::{Rate, Size};

/// The lowest rate of a session, if nothing else is given (CHOICE).
pub const FROM: Rate = Rate::from_kbps(128.0);
/// The highest rate of a session, if nothing else is given (CHOICE).
pub const TO: Rate = Rate::from_mbps(100.0);

/// The ratio of each cumulative rate to the one below where layers are given one by one, if nothing else is given (CHOICE).
pub const FACTOR: f64 = 2.0;

/// How the layers of a session are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Layering {
    /// As the protocol needs them between two rates. One that is not given is [`FROM`] or [`TO`], moved by the other if it must.
    Between {
        /// The rate below which no receiver falls.
        from: Option<Rate>,
        /// The rate that no receiver exceeds.
        to: Option<Rate>,
    },
    /// One by one.
    Scheme(Scheme),
}

impl Default for Layering {
    fn default() -> Layering {
        Layering::Between { from: None, to: None }
    }
}

impl Layering {
    /// The layers of a session with packets of this size. Options of the protocol that depend on the rates are set.
    ///
    /// # Errors
    /// What is wrong with the rates.
    pub fn table(&self, protocol: &mut impl AnyProtocol, packet: Size) -> Result<LayerTable, LayerError> {
        match self {
            Layering::Between { from, to } => {
                let (from, to) = between(*from, *to);
                protocol.span(from, to, packet)
            }
            Layering::Scheme(scheme) => scheme.table(),
        }
    }

    /// Whether the lowest rate was given and has no effect, as the protocol has one rate for all receivers.
    pub fn has_idle_lowest(&self, protocol: &impl AnyProtocol, packet: Size) -> bool {
        match self {
            Layering::Between { from: Some(from), to } => {
                let (from, to) = between(Some(*from), *to);
                !uses_lowest(protocol, from, to, packet)
            }
            _ => false,
        }
    }
}

/// The rates of live data, which has a layer for each input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamRates {
    /// The rate of the base layer; [`FROM`] if none, moved by the highest if it must.
    pub base: Option<Rate>,
    /// The highest rate; if none it follows from the factor.
    pub to: Option<Rate>,
    /// The ratio of each cumulative rate to the one below, if there is no highest rate; 2 if none.
    pub factor: Option<f64>,
}

impl StreamRates {
    /// The layers of so many inputs. One input has the highest rate alone.
    ///
    /// # Errors
    /// What is wrong with the rates.
    pub fn table(&self, inputs: usize) -> Result<LayerTable, LayerError> {
        let count = u16::try_from(inputs).unwrap_or(u16::MAX);
        let base = self.base.unwrap_or_else(|| lowest(self.to));
        let factor = match self.to {
            Some(to) if count == 1 => return LayerTable::between(to, to),
            Some(to) => math::pow(to.as_bps() / base.as_bps(), 1.0 / f64::from(count.saturating_sub(1))),
            None => self.factor.unwrap_or(FACTOR),
        };
        Scheme::Multiplicative { base, factor, count }.table()
    }
}

/// The lowest rate of a session whose highest rate may be given.
fn lowest(to: Option<Rate>) -> Rate {
    to.filter(|&to| to < FROM).unwrap_or(FROM)
}

fn between(from: Option<Rate>, to: Option<Rate>) -> (Rate, Rate) {
    let from = from.unwrap_or_else(|| lowest(to));
    (from, to.unwrap_or(if from > TO { from } else { TO }))
}

/// Whether a protocol makes something of the lowest rate.
fn uses_lowest(protocol: &impl AnyProtocol, from: Rate, to: Rate, packet: Size) -> bool {
    let (mut with, mut without) = (protocol.clone(), protocol.clone());
    from >= to || with.span(from, to, packet) != without.span(to, to, packet) || with != without
}

#[cfg(test)]
mod tests {
    use layercast_core::session::SessionPlan;
    use layercast_core::units::{Layer, Level};
    use layercast_protocols::registry::{NAMES, Protocol};

    use super::*;
    use crate::protocols::deployed;

    const PACKET: Size = Size::from_bytes(1000);

    fn given(from: Option<f64>, to: Option<f64>) -> Layering {
        Layering::Between { from: from.map(Rate::from_kbps), to: to.map(Rate::from_kbps) }
    }

    fn ends(layering: &Layering, control: &str) -> (u16, f64, f64) {
        let mut protocol: Protocol = deployed(control).expect("a protocol");
        let table = layering.table(&mut protocol, PACKET).expect("layers");
        (table.count(), table.rate(Layer::BASE).as_kbps(), table.top_rate().as_kbps())
    }

    #[test]
    fn two_rates_make_the_layers_that_a_protocol_needs() {
        let both = given(Some(256.0), Some(1e6));
        assert_eq!(ends(&both, "tide"), (2, 256.0, 1e6));
        assert_eq!(ends(&both, "webrc"), (1, 1e6, 1e6));
        assert_eq!(ends(&both, "flid-dl"), (19, 256.0, 1e6));
        assert_eq!(ends(&both, "tfmcc"), (1, 1e6, 1e6));
        let is_idle = |name: &str| {
            let protocol: Protocol = deployed(name).expect("a protocol");
            both.has_idle_lowest(&protocol, PACKET)
        };
        assert!(!is_idle("tide") && !is_idle("webrc") && !is_idle("flid-dl") && is_idle("tfmcc"));
        let mut webrc: Protocol = deployed("webrc").expect("a protocol");
        both.table(&mut webrc, PACKET).expect("layers");
        assert_eq!(webrc.get("base_rate").as_deref(), Some("32"));
    }

    #[test]
    fn every_protocol_for_multicast_takes_the_layers_of_the_defaults() {
        for name in NAMES {
            let mut protocol: Protocol = deployed(name).expect("a protocol");
            let layers = Layering::default().table(&mut protocol, PACKET).expect("layers");
            assert_eq!(layers.top_rate(), TO, "{name}");
            let plan = SessionPlan { layers, packet_size: PACKET };
            assert_eq!(protocol.requirements().check(&plan), Ok(()), "{name}");
            let needs = protocol.requirements();
            let rate = |count| needs.level_rate(&plan, Level::from_count(count)).as_bps();
            assert!((1..needs.levels(&plan)).all(|count| rate(count) < rate(count + 1)), "{name}");
        }
    }

    #[test]
    fn one_rate_moves_the_other() {
        assert_eq!(ends(&given(Some(4e5), None), "tide"), (1, 4e5, 4e5));
        assert_eq!(ends(&given(None, Some(64.0)), "tide"), (1, 64.0, 64.0));
        assert_eq!(ends(&Layering::default(), "tide"), (2, 128.0, 100_000.0));
    }
}
