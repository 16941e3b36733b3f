//! Texts that users write, or get from others.

use std::sync::OnceLock;

use layercast_delivery::session::Session;
use layercast_laboratory::BuiltIn;
use layercast_laboratory::scenario::{self as reading, Catalogue};
use layercast_laboratory::sweep::{Axis, Grid, SweepRequest};

/// A session description.
///
/// # Panics
/// If a description that was read does not come back from its text.
pub fn session(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match text.parse::<Session>() {
        Ok(session) => assert_eq!(session.to_string().parse().as_ref(), Ok(&session)),
        Err(error) => drop(error.to_string()),
    }
}

/// A scenario file, and the errors about it as users see them.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Err(errors) = reading::read("fuzzed.toml", text, &[], catalogue()) {
        drop(errors.to_string());
    }
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(Catalogue::of::<BuiltIn>)
}

/// The scenario that [`sweep_axis`] varies.
pub const SWEPT: &str = r#"name = "Swept"
duration = "20 s"

[links]
S-R = { rate = "500 kbit/s", delay = "20 ms", queue = { kind = "drop-tail", limit = "20 packets" } }

[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R"]
layers = { scheme = "explicit", rates = ["64 kbit/s", "128 kbit/s", "256 kbit/s"] }
packet_size = "1000 bytes"
"#;

/// More cells take too long to check for each input.
const MOST_VALUES: usize = 4;

/// The values of a key in a sweep; of few values also the cells that they make.
pub fn sweep_axis(bytes: &[u8]) {
    let Ok(flag) = str::from_utf8(bytes) else { return };
    let few = match Axis::read(flag) {
        Ok(axis) => axis.values.len() <= MOST_VALUES,
        Err(errors) => {
            errors.iter().for_each(|error| drop(error.to_string()));
            false
        }
    };
    if !few {
        return;
    }
    let request = SweepRequest {
        id: "fuzzed.toml".to_owned(),
        text: SWEPT.to_owned(),
        vary: vec![flag.to_owned()],
        ..SweepRequest::default()
    };
    if let Err(error) = Grid::read::<BuiltIn>(&request) {
        drop(error.to_string());
    }
}
