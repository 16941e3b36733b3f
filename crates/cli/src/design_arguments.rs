//! What `layercast design` can be told.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use layercast_core::layers::Scheme;
use layercast_core::units::{Duration, Rate, Size};

/// The most layers that are taken to exceed a rate (FLID-DL paper, section V-A).
const MOST: u16 = 30;

#[derive(Debug, Args)]
pub(crate) struct Design {
    #[command(subcommand)]
    pub(crate) protocol: Protocol,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Protocol {
    /// FLID: in which share of the slots each level may rise, the mean rate beside TCP's, and joins
    Flid(Flid),
    /// Wei and Zhang: the tau_0 and the base rate for a round-trip time, and the mean rate beside TCP's
    WeiZhang(WeiZhang),
}

#[derive(Debug, Args)]
pub(crate) struct Flid {
    /// The rate of the base layer
    #[arg(long, value_name = "RATE", default_value = "24 kbit/s")]
    base: Rate,

    /// What each cumulative rate is times the one below
    #[arg(long, value_name = "FACTOR", default_value_t = 1.3)]
    factor: f64,

    /// How many layers there are; with --above, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    layers: Option<u16>,

    /// As few layers as it takes to exceed this rate
    #[arg(long, value_name = "RATE")]
    above: Option<Rate>,

    /// The cumulative rates of all layers, in place of base, factor and number
    #[arg(long, value_name = "R0,R1,...", value_delimiter = ',', conflicts_with_all = ["layers", "above"])]
    rates: Vec<Rate>,

    /// The size of packets with all headers
    #[arg(long, value_name = "SIZE", default_value = "1000 bytes")]
    pub(crate) packet: Size,

    /// The length of a slot
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    pub(crate) slot: Duration,

    /// The nominal round-trip time: the one for which TCP's rate is the target
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) rtt: Duration,

    /// How the shares are chosen
    #[arg(long, value_enum, default_value_t = By::Heuristic)]
    pub(crate) by: By,

    /// What hill climbing makes least over the loss rates [default: relative-squares]
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
    /// The sum of squared relative errors, as the FLID-DL paper has it
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

    /// The round-trip time of the TCP that receivers are to be as fast as
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) rtt: Duration,

    /// The rate that a receiver is expected to get
    #[arg(long, value_name = "RATE")]
    pub(crate) share: Rate,

    /// The highest rate that any receiver may get [default: the expected rate]
    #[arg(long, value_name = "RATE")]
    pub(crate) fastest: Option<Rate>,

    /// Packets of the base layer in each tau_0 [default: the least that suits]
    #[arg(long, value_name = "M")]
    pub(crate) packets: Option<u32>,

    /// The share of time that a receiver spends on the upper of its two levels
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub(crate) upper_share: f64,

    /// The TCP constant c: 1.2247 with an acknowledgement for each packet, about 0.93 with delayed ones
    #[arg(long, value_name = "C", default_value_t = 1.224_744_871_391_589)]
    pub(crate) tcp_constant: f64,

    /// The size of packets with all headers
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
    /// The layers that were asked for.
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
