//! The options of PLM.

use layercast_core::session::Requirements;
use layercast_core::units::Duration;

layercast_core::choices! {
    /// Which packets make up the bandwidth that a pair shows.
    pub enum Counted {
        /// The second packet of the pair (ns-2).
        Pair = "pair",
        /// All packets of the session that arrived after the first packet of the pair, up to the second.
        Session = "session",
    }
}

layercast_core::options! {
    /// The options of PLM. Defaults are those of ns-2, but for `counted`.
    pub struct Options {
        /// The check value C: how long estimates are collected before layers are joined (ns-2 examples: 1 s).
        check_period: Duration = Duration::from_secs(1), Duration::from_ms(1) => Duration::from_secs(600);
        /// The fewest estimates by which layers are joined (ns-2: 3).
        least_estimates: u32 = 3, 1 => 10_000;
        /// Which packets make up the bandwidth that a pair shows (ns-2: pair; this project's choice: session,
        /// which is the same where a fair queue takes the session as one flow).
        counted: Counted = Counted::Session;
        /// The share of lost packets above which the highest layer is left (ns-2: 10 %).
        loss_threshold: f64 = 0.1, 0.0 => 1.0;
        /// Packets that must have arrived before that share is judged (ns-2: 10).
        loss_packets: u32 = 10, 1 => 100_000;
        /// After what time the share of lost packets is measured from the next loss on (ns-2: 5 s).
        loss_window: Duration = Duration::from_secs(5), Duration::from_ms(1) => Duration::from_secs(600);
        /// The blind period: how long losses count for nothing after one cost a layer (ns-2: 500 ms).
        blind_period: Duration = Duration::from_ms(500), Duration::ZERO => Duration::from_secs(600);
        /// After what time a receiver that holds no layer joins the base layer (ns-2: 30 s).
        rejoin_after: Duration = Duration::from_secs(30), Duration::from_ms(1) => Duration::from_secs(3600);
        /// Whether the base layer is kept at any estimate and any loss (ns-2: it is not).
        keep_base: bool = false;
        /// The share of the distance between two pairs of a layer within which a pair leaves late, drawn for
        /// each pair (ns-2 draws the distances themselves, up to one half off).
        jitter: f64 = 0.5, 0.0 => 1.0;
    }
}

impl Requirements for Options {}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use layercast_core::option::{Options as _, RawValue};

    use super::*;

    #[test]
    fn options_are_set_by_name_within_bounds() {
        let mut options = Options::default();
        assert_eq!(options.get("check_period"), Some(String::from("1 s")));
        assert_eq!(options.set("counted", RawValue::Text("pair")), Ok(()));
        assert_eq!(options.counted, Counted::Pair);
        assert!(options.set("loss_threshold", RawValue::Number(1.5)).is_err());
        assert!(options.set("least_estimates", RawValue::Integer(0)).is_err());
        assert!(options.set("blind", RawValue::Text("1 s")).is_err());
    }
}
