//! Reads flows of the traffic library.

use layercast_core::option::OptionSet as _;
use layercast_core::units::Duration;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};

use super::context::Context;
use super::options::set_options;
use super::table::TableReader;
use crate::results::TrafficKind;
use crate::scenario::field::quoted;
use crate::scenario::library::{LibraryOptions, VideoOptions};
use crate::scenario::plan::{DemandPlan, Traffic};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::UDP;
use crate::scenario::renamed::is_renamed;
use crate::scenario::tables::FLOW;
use crate::scenario::tree::Node;

/// The keys that all kinds have.
const SHARED: [&str; 7] = ["traffic", "protocol", "from", "to", "count", "start", "stop"];
/// The keys that decide what a flow sends where `traffic` does not.
const RIVALS: [&str; 6] = ["size", "gap", "arrivals", "on", "off", "rate"];

/// Whether the flows are of the library. `entries` are what the file gives for them alone: a default that does not
/// suit them does not hold for them.
pub(super) fn is_of_library(table: &TableReader<'_>, entries: &Node) -> bool {
    if entries.get("traffic").is_some() {
        return true;
    }
    let Some(usual) = table.node("traffic").and_then(Node::text) else { return false };
    let is_udp = entries.get("protocol").and_then(Node::text).map(|protocol| protocol == UDP);
    let suits = is_udp.is_none_or(|is_udp| is_udp == (usual == TrafficKind::Call.name()));
    suits && RIVALS.iter().all(|key| entries.get(key).is_none())
}

/// What flows of the library send. `tcp` reads the TCP of the table.
pub(super) fn read(
    table: &TableReader<'_>,
    entries: &Node,
    tcp: impl FnOnce(&mut Context<'_>) -> Option<TcpOptions>,
    context: &mut Context<'_>,
) -> Option<(TrafficKind, Traffic)> {
    let kind: TrafficKind = table.choice("traffic", context)?;
    let mut options = LibraryOptions::new(kind);
    let specs = options.option_specs();
    let own: Vec<&'static str> = specs.iter().map(|spec| spec.name).collect();
    check_keys(kind, &own, entries, context);
    let is_udp = |node: Option<&Node>| node.and_then(Node::text) == Some(UDP);
    if kind != TrafficKind::Call && is_udp(table.node("protocol")) && entries.get("protocol").is_none() {
        // A default that it cannot use counts for nothing.
        table.missing("protocol", context);
        return None;
    }
    let fit = set_options(table.own(), &specs, |name, value| options.set_option(name, value), context);
    let traffic = match options {
        LibraryOptions::Web(web) => demand(DemandPlan::Pages(web.config()), tcp, context),
        LibraryOptions::Video(video) => {
            check_buffer(table, &video, context);
            demand(DemandPlan::Player(video.config()), tcp, context)
        }
        LibraryOptions::Download(download) => {
            let (size, gap) = download.transfers();
            demand(DemandPlan::Transfers { size, gap }, tcp, context)
        }
        LibraryOptions::Call(call) => {
            let protocol = entries.get("protocol").filter(|node| node.text() != Some(UDP));
            if let Some(node) = protocol {
                let message = format!("a call is sent by `{UDP}`, not by {}", context.problems.written(node));
                let allowed = format!("`protocol = \"{UDP}\"`, or no `protocol`");
                context.problems.push(Problem::of(node, message).allowed(allowed));
                return None;
            }
            let (rate, packet_size, pauses) = (call.rate(), call.packet_size(), call.pauses());
            Some(Traffic::Udp { rate, packet_size, pauses })
        }
    };
    traffic.filter(|_| fit).map(|traffic| (kind, traffic))
}

fn demand(
    demand: DemandPlan,
    tcp: impl FnOnce(&mut Context<'_>) -> Option<TcpOptions>,
    context: &mut Context<'_>,
) -> Option<Traffic> {
    Some(Traffic::Tcp { options: tcp(context)?, demand })
}

/// Reports keys that a kind has no use for: a key without effect misleads.
fn check_keys(kind: TrafficKind, own: &[&'static str], entries: &Node, context: &mut Context<'_>) {
    let tcp = TcpOptions::new(TcpVariant::Cubic, TcpProfile::Linux).option_specs();
    let runs_on_tcp = kind != TrafficKind::Call;
    let is_used = |key: &str| {
        let of_tcp = runs_on_tcp && tcp.iter().any(|spec| spec.name == key);
        SHARED.contains(&key) || own.contains(&key) || of_tcp || is_renamed(key)
    };
    // Keys that no flow has were reported when the table was opened.
    let foreign =
        entries.entries().iter().filter(|entry| FLOW.field(&entry.key).is_some() && !is_used(&entry.key));
    for entry in foreign {
        let (name, key) = (kind.name(), &entry.key);
        let message = if RIVALS.contains(&key.as_str()) {
            format!("`{key}` has no place here: `traffic = \"{name}\"` decides what the flows send")
        } else {
            format!("`{name}` does not use `{key}`")
        };
        let and = if runs_on_tcp { ", and the options of a TCP" } else { "" };
        let allowed = format!("{}{and}", quoted(SHARED.into_iter().chain(own.iter().copied())));
        context.problems.push(Problem::at(entry.key_at, &entry.node.path, message).allowed(allowed));
    }
    let protocol = entries.get("protocol").filter(|node| runs_on_tcp && node.text() == Some(UDP));
    if let Some(node) = protocol {
        let message = format!("`{}` runs over a TCP, not over `{UDP}`", kind.name());
        let problem = Problem::of(node, message).allowed(quoted(TcpVariant::NAMES.into_iter()));
        context.problems.push(problem);
    }
}

/// Reports parts of a buffer that are larger than the buffer.
fn check_buffer(table: &TableReader<'_>, video: &VideoOptions, context: &mut Context<'_>) {
    let mut check = |key: &str, what: &str, needed: Duration| {
        if needed <= video.buffer {
            return;
        }
        let at = table.node(key).or(table.node("buffer")).unwrap_or(table.own());
        let message = format!("{what} {needed}, but the buffer holds {}", video.buffer);
        context.problems.push(Problem::of(at, message).allowed(format!("a `buffer` of {needed} or more")));
    };
    check("segment", "a segment has", video.segment);
    check("startup", "playing begins with", video.startup);
    check("cushion", "reservoir and cushion need", video.reservoir + video.cushion);
}

/// Reports options of the library in a table of flows that are not of the library.
pub(super) fn check_outside(entries: &Node, context: &mut Context<'_>) {
    for entry in entries.entries() {
        let has = |kind: &TrafficKind| {
            LibraryOptions::new(*kind).option_specs().iter().any(|spec| spec.name == entry.key)
        };
        let kinds: Vec<String> = TrafficKind::ALL
            .iter()
            .filter(|kind| has(kind))
            .map(|kind| format!("`traffic = \"{}\"`", kind.name()))
            .collect();
        if !kinds.is_empty() {
            let message = format!("`{}` is an option of {}", entry.key, kinds.join(" and "));
            let allowed = format!("it with {}", kinds.join(" or "));
            context.problems.push(Problem::at(entry.key_at, &entry.node.path, message).allowed(allowed));
        }
    }
}
