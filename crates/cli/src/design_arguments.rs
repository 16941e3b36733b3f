//! What `layercast design` can be told.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use layercast_protocol::layers::Scheme;
use layercast_protocol::units::{Rate, Size, Span};

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
    pub(crate) slot: Span,

    /// The nominal round-trip time: the one for which TCP's rate is the target
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    pub(crate) rtt: Span,

    /// How the shares are chosen
    #[arg(long, value_enum, default_value_t = By::Heuristic)]
    pub(crate) by: By,

    /// Write design.json and design.svg to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum By {
    Heuristic,
    HillClimbing,
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
