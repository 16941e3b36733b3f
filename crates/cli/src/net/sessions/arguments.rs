//! Arguments of `layercast sessions`.

use std::path::PathBuf;

use clap::Args;
use layercast_core::units::Duration;

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// How long to listen: a session is announced every 40 s at least, less often where there are very many
    #[arg(long = "for", value_name = "TIME", default_value = "45 s")]
    pub(crate) time: Duration,

    /// Print a JSON object for each event, one on a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Mark the sessions that this public key has signed as trusted; may be repeated
    #[arg(long = "key", value_name = "FILE")]
    pub(crate) keys: Vec<PathBuf>,

    /// The interface to listen on, by name or address [default: that of the routes to the groups of announcements]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
}
