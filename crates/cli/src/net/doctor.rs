//! `layercast doctor`: why nothing arrives.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration as StdDuration;

use clap::Args;
use layercast_core::units::{Duration, Size};
use layercast_transport::doctor::{DoctorOptions, examine};

use crate::failure::Failure;
use crate::net::arguments::group;
use crate::net::terminal::stop_flag;
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The group of the session; the session itself is not needed
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = group, default_value = "239.1.2.0")]
    pub(crate) group: SocketAddr,

    /// The interface, by name or address [default: that of the route to the group]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,

    /// The source of the session, so that the way back to it is checked
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) source: Option<IpAddr>,

    /// The size of the session's packets, including all headers
    #[arg(long, value_name = "SIZE", default_value = "1400 bytes")]
    pub(crate) packet: Size,

    /// Send test packets to the group for 10 s, which `doctor --listen` at a receiver counts
    #[arg(long, conflicts_with = "listen")]
    pub(crate) send: bool,

    /// Count the packets that arrive within this time, and look for a querier (as root)
    #[arg(long, value_name = "TIME")]
    pub(crate) listen: Option<Duration>,
}

/// Prints a line for each finding. Exit status 1 if something is wrong.
pub(crate) fn doctor(arguments: &Doctor) -> Result<(), Failure> {
    let options = DoctorOptions {
        group: arguments.group,
        interface: arguments.interface.clone(),
        source: arguments.source,
        packet: arguments.packet,
        send: arguments.send,
        listen: arguments.listen.map(StdDuration::from),
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
