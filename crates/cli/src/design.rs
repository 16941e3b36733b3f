//! `layercast design`: what a choice of a protocol's parameters is expected to do.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use layercast_laboratory::design::flid;
use layercast_protocol::layers::Scheme;
use layercast_protocol::units::{Rate, Size, Span};

use crate::commands::{Failure, prepare};
use crate::output::tell;

/// The most layers that are taken to exceed a rate (FLID-DL paper, section V-A).
const MOST: u16 = 30;

#[derive(Debug, Args)]
pub(crate) struct Design {
    #[command(subcommand)]
    protocol: Protocol,
}

#[derive(Debug, Subcommand)]
enum Protocol {
    /// FLID: in which share of the slots each level may rise, the mean rate beside TCP's, and joins
    Flid(Flid),
}

#[derive(Debug, Args)]
struct Flid {
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
    packet: Size,

    /// The length of a slot
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    slot: Span,

    /// The nominal round-trip time: the one for which TCP's rate is the target
    #[arg(long, value_name = "TIME", default_value = "100 ms")]
    rtt: Span,

    /// How the shares are chosen
    #[arg(long, value_enum, default_value_t = By::Heuristic)]
    by: By,

    /// Write design.json and design.svg to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Heuristic,
    HillClimbing,
}

pub(crate) fn design(arguments: &Design) -> Result<(), Failure> {
    match &arguments.protocol {
        Protocol::Flid(arguments) => flid(arguments),
    }
}

impl Flid {
    fn scheme(&self) -> Scheme {
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

fn flid(arguments: &Flid) -> Result<(), Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::Input(format!("error: {error}"));
    let request = flid::Request {
        layers: arguments.scheme().table().map_err(|error| wrong(&error))?,
        packet: arguments.packet,
        slot: arguments.slot,
        rtt: arguments.rtt,
        by: match arguments.by {
            By::Heuristic => flid::By::Heuristic,
            By::HillClimbing => flid::By::HillClimbing,
        },
    };
    if let Some(directory) = &arguments.out {
        prepare(directory)?;
    }
    let design = flid::design(&request).map_err(|error| wrong(&error))?;
    tell(&design.table())?;
    if let Some(directory) = &arguments.out {
        let written = design.write(directory).context("the design could not be written")?;
        tell(&format!("\nNumbers  {}\nPicture  {}\n", written.json.display(), written.svg.display()))?;
    }
    Ok(())
}
