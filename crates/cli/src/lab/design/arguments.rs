//! Arguments of `layercast design`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use layercast_core::layers::Scheme;
use layercast_core::units::{Duration, Rate, Size};

/// The maximum number of layers used to exceed a rate (FLID-DL paper, section V-A).
const MOST: u16 = 30;

#[derive(Debug, Args)]
pub(crate) struct Design {
    #[command(subcommand)]
    pub(crate) protocol: Protocol,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Protocol {
    /// FLID: increase probability of each level, mean rate relative to TCP, and join frequency
    Flid(Flid),
    /// Wei and Zhang: tau_0 and base rate for a round-trip time, and mean rate relative to TCP
    WeiZhang(WeiZhang),
}

#[derive(Debug, Args)]
pub(crate) struct Flid {
    /// The rate of the base layer
    #[arg(long, value_name = "RATE", default_value = "24 kbit/s")]
    base: Rate,

    /// Ratio of each cumulative rate to the one below
    #[arg(long, value_name = "FACTOR", default_value_t = 1.3)]
    factor: f64,

    /// Number of layers; with --above, the maximum
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    layers: Option<u16>,

    /// Use the fewest layers whose cumulative rate exceeds this rate
    #[arg(long, value_name = "RATE")]
    above: Option<Rate>,

    /// The cumulative rates of all layers, instead of base rate, factor and number
    #[arg(long, value_name = "R0,R1,...", value_delimiter = ',', conflicts_with_all = ["layers", "above"])]
    rates: Vec<Rate>,

    /// Packet size, including all headers
    #[arg(long, value_name = "SIZE", default_value = "1000 bytes")]
    pub(crate) packet: Size,

    /// Slot duration
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    pub(crate) slot: Duration,

    /// The nominal round-trip time: the one for which TCP's rate is the target
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) rtt: Duration,

    /// Method that chooses the increase probabilities
    #[arg(long, value_enum, default_value_t = By::Heuristic)]
    pub(crate) by: By,

    /// Objective that hill climbing minimises over the loss rates [default: relative-squares]
    #[arg(long, value_enum)]
    pub(crate) objective: Option<Objective>,

    /// Write design.json and design.svg to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum By {
    Heuristic,
    HillClimbing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Objective {
    /// The sum of squared relative errors, as in the FLID-DL paper
    RelativeSquares,
    /// The sum of squared errors: high rates weigh most
    Squares,
    /// The sum of absolute errors
    Absolute,
}

#[derive(Debug, Args)]
pub(crate) struct WeiZhang {
    /// The structure of the layers
    #[arg(long, value_enum, default_value_t = Structure::Linear)]
    pub(crate) structure: Structure,

    /// Round-trip time of the TCP flow whose rate receivers should match
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) rtt: Duration,

    /// The rate that a receiver is expected to get
    #[arg(long, value_name = "RATE")]
    pub(crate) share: Rate,

    /// The highest rate that any receiver may get [default: the expected rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) fastest: Option<Rate>,

    /// Packets of the base layer in each tau_0 [default: the fewest that suffice]
    #[arg(long, value_name = "M")]
    pub(crate) packets: Option<u32>,

    /// Fraction of time that a receiver spends on the upper of its two levels
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub(crate) upper_share: f64,

    /// The TCP constant c: 1.2247 with an acknowledgement for each packet, about 0.93 with delayed ones
    #[arg(long, value_name = "C", default_value_t = 1.224_744_871_391_589)]
    pub(crate) tcp_constant: f64,

    /// Packet size, including all headers
    #[arg(long, value_name = "SIZE", default_value = "1000 bytes")]
    pub(crate) packet: Size,

    /// The deaf period of receivers
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) deaf: Duration,

    /// Write design.json and design.svg to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Structure {
    /// Each layer has the rate of the base
    Linear,
    /// Each cumulative rate doubles the one below
    Exponential,
}

impl Flid {
    /// The requested layers.
    pub(crate) fn scheme(&self) -> Scheme {
        let (base, factor) = (self.base, self.factor);
        match self.above {
            _ if !self.rates.is_empty() => Scheme::Explicit { rates: self.rates.clone() },
            Some(above) => {
                let most = self.layers.unwrap_or(MOST);
                Scheme::MultiplicativeAbove { base, factor, above, most }
            }
            None => Scheme::Multiplicative { base, factor, count: self.layers.unwrap_or(MOST) },
        }
    }
}
