//! The native part of the Python package `layercast`: scenarios in, tables in Arrow's memory format out; and transfers, on Linux.
//!
//! It has no opinion of its own: what a scenario means, what is measured and every word of an error come from the
//! laboratory, or the transport. The package's Python files, in `python/layercast`, make of it what a user sees.

// Cargo builds a library as a test too where tests of libraries are asked for. This one has none.
#![cfg(not(test))]

mod catalogue;
mod columns;
mod compared;
mod errors;
mod measured;
mod protocol;
mod ran;
mod swept;
mod table;
#[cfg(target_os = "linux")]
mod transfer;
mod waiting;

use pyo3::prelude::*;

/// What distinguishes this build from others: the version, and a digest of the sources that decide results.
pub(crate) const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("LAYERCAST_SOURCES"));

/// The native part of the package `layercast`.
#[pymodule]
mod _layercast {
    #[pymodule_export]
    use crate::catalogue::{
        OptionInfo, ProtocolInfo, check, colours, expand, half_interval, load, options, protocols, scenarios,
    };
    #[pymodule_export]
    use crate::compared::{Compared, compare_protocols};
    #[pymodule_export]
    use crate::errors::Mistake;
    #[pymodule_export]
    use crate::protocol::{
        EndpointBase, LayerClocks, Packet, Random, check_protocol, defined, register, unregister,
    };
    #[pymodule_export]
    use crate::ran::{Ran, run_scenario};
    #[pymodule_export]
    use crate::swept::{Axis, Sweep, Swept, run_task};
    #[pymodule_export]
    use crate::table::Table;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::transfer::{
        ReceiveProgress, Received, Running, SendProgress, Sent, StreamLayerReceived, StreamLayerSent,
        StreamReceiveProgress, StreamReceived, StreamSendProgress, StreamSent, TransferEvent, Wakes,
        start_receive, start_send, start_stream_receive, start_stream_send,
    };

    /// The version.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    /// What distinguishes this build from others.
    #[pymodule_export]
    const BUILD: &str = crate::BUILD;
}
