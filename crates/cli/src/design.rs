//! `layercast design`: what a choice of a protocol's parameters is expected to do.

use anyhow::Context;
use layercast_laboratory::design::flid;

use crate::commands::{Failure, prepare};
use crate::design_arguments::{By, Design, Flid, Protocol};
use crate::output::tell;

pub(crate) fn design(arguments: &Design) -> Result<(), Failure> {
    match &arguments.protocol {
        Protocol::Flid(arguments) => flid(arguments),
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
