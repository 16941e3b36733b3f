//! `layercast doctor`: why nothing arrives.

pub(crate) mod arguments;

use std::time::Duration as StdDuration;

use layercast_transport::doctor::{DoctorOptions, examine};

use crate::commands::Failure;
use crate::net::doctor::arguments::Doctor;
use crate::net::transfer::stop_flag;
use crate::output::print;

/// Prints a line for each finding. Exit status 1 if something is wrong.
pub(crate) fn doctor(arguments: &Doctor) -> Result<(), Failure> {
    let options = DoctorOptions {
        group: arguments.group,
        interface: arguments.interface.clone(),
        source: arguments.source,
        packet: arguments.packet,
        send: arguments.send,
        listen: arguments.listen.map(|time| StdDuration::from_nanos(time.as_ns())),
    };
    let stop = stop_flag()?;
    let mut printed = Ok(());
    let wrong = examine(&options, &stop, &mut |finding| {
        if printed.is_ok() {
            printed = print(&format!("{finding}\n"));
        }
    });
    printed?;
    if wrong { Err(Failure::Status(1)) } else { Ok(()) }
}
