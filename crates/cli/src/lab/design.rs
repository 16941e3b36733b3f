//! `layercast design`: the expected behaviour of a choice of protocol parameters.

pub(crate) mod arguments;

use std::fmt::Display;
use std::path::Path;

use anyhow::Context;
use layercast_laboratory::design::{Written, flid, wei_zhang};
use layercast_laboratory::results::ResultsError;
use layercast_protocols::flid::Objective as Measure;
use layercast_protocols::wei_zhang::theory::{Aim, Structure as Layers};

use crate::commands::{Failure, prepare};
use crate::lab::design::arguments::{By, Design, Flid, Objective, Protocol, Structure, WeiZhang};
use crate::output::print;

pub(crate) fn design(arguments: &Design) -> Result<(), Failure> {
    match &arguments.protocol {
        Protocol::Flid(arguments) => flid(arguments),
        Protocol::WeiZhang(arguments) => wei_zhang(arguments),
    }
}

fn wrong(error: impl Display) -> Failure {
    Failure::Input(format!("error: {error}"))
}

fn flid(arguments: &Flid) -> Result<(), Failure> {
    let request = flid::Request {
        layers: arguments.scheme().table().map_err(wrong)?,
        packet: arguments.packet,
        slot: arguments.slot,
        rtt: arguments.rtt,
        by: match (arguments.by, arguments.objective) {
            (By::Heuristic, None) => flid::By::Heuristic,
            (By::Heuristic, Some(_)) => {
                return Err(wrong("--objective applies to hill climbing only: add --by hill-climbing"));
            }
            (By::HillClimbing, objective) => flid::By::HillClimbing(match objective {
                None | Some(Objective::RelativeSquares) => Measure::RelativeSquares,
                Some(Objective::Squares) => Measure::Squares,
                Some(Objective::Absolute) => Measure::Absolute,
            }),
        },
    };
    let out = arguments.out.as_deref();
    prepared(out)?;
    let design = flid::design(&request).map_err(wrong)?;
    finish(out, &design.table(), |directory| design.write(directory))
}

fn wei_zhang(arguments: &WeiZhang) -> Result<(), Failure> {
    let request = wei_zhang::Request {
        aim: Aim {
            structure: match arguments.structure {
                Structure::Linear => Layers::Linear,
                Structure::Exponential => Layers::Exponential,
            },
            rtt: arguments.rtt,
            tcp_constant: arguments.tcp_constant,
            packet_size: arguments.packet,
            share: arguments.share,
            fastest: arguments.fastest.unwrap_or(arguments.share),
            upper_share: arguments.upper_share,
        },
        packets: arguments.packets,
        deaf: arguments.deaf,
    };
    let out = arguments.out.as_deref();
    prepared(out)?;
    let design = wei_zhang::design(&request).map_err(wrong)?;
    finish(out, &design.table(), |directory| design.write(directory))
}

/// Checks the directory before the computation starts.
fn prepared(out: Option<&Path>) -> Result<(), Failure> {
    out.map_or(Ok(()), prepare)
}

/// Prints a design and writes its files.
fn finish(
    out: Option<&Path>,
    table: &str,
    write: impl Fn(&Path) -> Result<Written, ResultsError>,
) -> Result<(), Failure> {
    print(table)?;
    if let Some(directory) = out {
        let written = write(directory).context("the design could not be written")?;
        print(&format!("\nNumbers  {}\nPicture  {}\n", written.json.display(), written.svg.display()))?;
    }
    Ok(())
}
