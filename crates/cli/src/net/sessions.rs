//! `layercast sessions`: what is announced on the network.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration as StdDuration, Instant};

use clap::Args;
use layercast_core::units::{Duration, Rate};
use layercast_delivery::announce::describing::Size;
use layercast_delivery::announce::directory::{Change, Directory, Entry, Refusal};
use layercast_delivery::security::keys::PublicKey;
use layercast_delivery::session::Session;
use layercast_transport::announcing::ntp_now_s;
use layercast_transport::finding::signed_by;
use layercast_transport::listening::Listener;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::net::failure::failure;
use crate::net::finding::trusted;
use crate::net::terminal::stop_flag;
use crate::output::{complain, in_bytes, print};

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

/// The interval of checks for an interruption by the user.
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(200);
/// The maximum number of hosts whose wrong signatures are reported.
const FORGERS_MAX: usize = 16;

/// Prints each session when it is announced first, when it changes and when it ends.
pub(crate) fn sessions(arguments: &Sessions) -> Result<(), Failure> {
    let keys = trusted(&arguments.keys)?;
    let stop = stop_flag()?;
    let mut listener = Listener::open(arguments.interface.as_deref(), &keys).map_err(failure)?;
    let (begin, within) = (Instant::now(), StdDuration::from(arguments.time));
    let mut printer = Printer { keys, json: arguments.json, forgers: BTreeSet::new(), shown: 0 };
    while begin.elapsed() < within && !stop.load(Ordering::Relaxed) {
        let mut printed = Ok(());
        let most = POLL_INTERVAL.min(within.saturating_sub(begin.elapsed()));
        listener
            .wait(most, &mut |directory, change, from| {
                if printed.is_ok() {
                    printed = printer.print(directory, change, from);
                }
            })
            .map_err(failure)?;
        printed?;
    }
    if printer.shown == 0 && !arguments.json {
        complain(&format!(
            "No session was announced in {:.0} s. Likely reasons: nothing is sent, or by `send --no-announce`; this is \
             the wrong interface; a firewall drops UDP to port 9875; or no router forwards the groups of announcements \
             here",
            begin.elapsed().as_secs_f64()
        ));
    }
    Ok(())
}

struct Printer {
    keys: Vec<PublicKey>,
    json: bool,
    forgers: BTreeSet<IpAddr>,
    shown: usize,
}

impl Printer {
    fn print(
        &mut self,
        directory: &Directory,
        change: &Result<Change, Refusal>,
        from: IpAddr,
    ) -> anyhow::Result<()> {
        let (event, entry) = match change {
            Ok(Change::New(id)) => ("new", directory.get(id)),
            Ok(Change::Changed(id)) => ("changed", directory.get(id)),
            Ok(Change::Deleted(entry)) => ("ended", Some(&**entry)),
            Err(refusal @ (Refusal::Forged | Refusal::OtherKey)) => return self.forged(refusal, from),
            Ok(Change::Repeated(_)) | Err(_) => return Ok(()),
        };
        let Some(entry) = entry else { return Ok(()) };
        self.shown += 1;
        if self.json {
            return print(&format!("{}\n", object(event, entry, &self.keys)));
        }
        match event {
            "ended" => print(&format!("{}\n  ended\n", entry.description.name)),
            _ => print(&lines(entry, &self.keys)),
        }
    }

    /// Reports once for each host that its announcements are not what they say.
    fn forged(&mut self, refusal: &Refusal, from: IpAddr) -> anyhow::Result<()> {
        if self.forgers.len() >= FORGERS_MAX || !self.forgers.insert(from) {
            return Ok(());
        }
        if self.json {
            let event = json!({ "event": "refused", "from": from, "reason": refusal.to_string() });
            return print(&format!("{event}\n"));
        }
        complain(&format!("warning: an announcement from {from} is refused: {refusal}"));
        Ok(())
    }
}

/// What the description of a session says of its packets.
struct Facts {
    protocol: Option<String>,
    layers: u32,
    top_bps: Option<f64>,
}

impl Facts {
    /// From the session description, or for sessions of other programs from SDP alone.
    fn of(entry: &Entry) -> Facts {
        let description = &entry.description;
        match description.session_text().ok().and_then(|text| text.parse::<Session>().ok()) {
            Some(session) => Facts {
                layers: session.levels().count().into(),
                top_bps: Some(session.layers.top_rate().as_bps()),
                protocol: Some(session.protocol),
            },
            None => {
                let kbps: Option<u64> = description.media.iter().map(|media| media.kbps).sum();
                let top_bps = kbps.map(|kbps| kbps as f64 * 1e3);
                Facts { protocol: None, layers: description.channels(), top_bps }
            }
        }
    }
}

/// Since when the session is on, in seconds, by the clock of its source.
fn age_s(entry: &Entry) -> Option<u64> {
    Some(entry.description.start_s)
        .filter(|&start| start > 0)
        .and_then(|start| ntp_now_s().checked_sub(start))
}

/// A session as two lines.
fn lines(entry: &Entry, keys: &[PublicKey]) -> String {
    let (description, facts) = (&entry.description, Facts::of(entry));
    let group = description.group().map_or_else(|| "several groups".to_owned(), |group| group.to_string());
    let source = description.source.map_or_else(|| "any source".to_owned(), |source| source.to_string());
    let mut parts = vec![facts.protocol.unwrap_or_else(|| "of another program".to_owned())];
    let top = facts.top_bps.map_or(String::new(), |bps| format!(" of up to {}", Rate::from_bps(bps)));
    parts.push(format!("{} {}{top}", facts.layers, if facts.layers == 1 { "layer" } else { "layers" }));
    if let Some(Size { files, bytes }) = Size::of(description) {
        parts.push(format!("{files} {}, {}", if files == 1 { "file" } else { "files" }, in_bytes(bytes)));
    }
    parts.push(signed_by(&entry.owner, keys));
    parts.extend(age_s(entry).map(|age| format!("on for {}", in_time(age))));
    format!("{}\n  {group} from {source}\n  {}\n", description.name, parts.join(", "))
}

/// A session as JSON.
fn object(event: &str, entry: &Entry, keys: &[PublicKey]) -> Value {
    let (description, facts) = (&entry.description, Facts::of(entry));
    let signer = entry.owner.key().and_then(|bytes| PublicKey::from_bytes(bytes).ok());
    let size = Size::of(description);
    json!({
        "event": event,
        "name": description.name,
        "group": description.group().map(|group| group.to_string()),
        "source": description.source.map(|source| source.to_string()),
        "announced_by": entry.announcer.to_string(),
        "protocol": facts.protocol,
        "layers": facts.layers,
        "top_bps": facts.top_bps,
        "files": size.map(|size| size.files),
        "bytes": size.map(|size| size.bytes),
        "signed_by": signer.map(|key| key.fingerprint().to_string()),
        "trusted": signer.is_some_and(|key| keys.contains(&key)),
        "age_s": age_s(entry),
        "url": entry.url().map(|url| url.to_string()),
    })
}

/// Seconds in the largest unit of which there are two.
fn in_time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::in_time;

    #[test]
    fn ages_have_a_unit_that_fits() {
        assert_eq!([0, 119, 120, 7200, 200_000].map(in_time), ["0 s", "119 s", "2 min", "2 h", "2 days"]);
    }
}
