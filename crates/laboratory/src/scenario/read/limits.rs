//! Bounds beyond which a scenario is a mistake: it could not be run, would never end, or means nothing.

use layercast_core::option::{OptionSpec, RawValue};
use layercast_core::units::{Duration, Rate, Size};

use super::context::Context;
use super::table::TableReader;
use super::values::Read;
use crate::scenario::field::FieldKind;
use crate::scenario::plan::{DemandPlan, Scenario, Traffic};
use crate::scenario::problems::Problem;
use crate::scenario::protocols::ProtocolPlan;
use crate::scenario::tree::{Node, Value};

/// The slowest rate: below it a packet of 1000 bytes takes more than two hours.
pub(super) const SLOWEST: Rate = Rate::from_bps(1.0);
/// The fastest rate: above it packets take less than the nanosecond that time is counted in.
pub(super) const FASTEST: Rate = Rate::from_bps(1e13);
/// The longest run, above a year.
const LONGEST: Duration = Duration::from_secs(10_000 * 3600);
/// The most bins of the time series, for each flow.
const MOST_BINS: u64 = 1_000_000;
/// The most bins of all flows and replications together: they are kept until the end of the run.
const MOST_VALUES: u64 = 100_000_000;
/// The most arrivals or pauses of a table of flows in a run, on average.
const MOST_STARTS: f64 = 1e8;
/// IP and UDP headers, without options, in bytes.
const UDP_HEADERS: u32 = 28;
/// IP and TCP headers, without options, in bytes.
const TCP_HEADERS: u32 = 40;
/// The most that fits in a UDP packet, in bytes (RFC 768, RFC 791).
const LARGEST_PACKET: u32 = 65_507;

/// Reports a run that is too long.
pub(super) fn check_duration(table: &TableReader<'_>, duration: Option<Duration>, context: &mut Context<'_>) {
    if let (Some(node), Some(duration)) = (table.node("duration"), duration)
        && duration > LONGEST
    {
        let problem = Problem::of(node, format!("a run of {duration} is too long"));
        context.problems.push(problem.allowed(format!("at most {LONGEST} (10000 h)")));
    }
}

/// Reports a time series with more bins than can be kept.
pub(super) fn check_bins(table: &TableReader<'_>, scenario: &Scenario, context: &mut Context<'_>) {
    let (duration, bin) = (scenario.duration, scenario.series_bin);
    if duration.is_zero() || bin.is_zero() || duration > LONGEST {
        return;
    }
    let Some(node) = table.node("series_bin").or_else(|| table.node("duration")) else { return };
    let bins = duration.as_ns().div_ceil(bin.as_ns());
    let receivers = scenario.sessions.iter().map(|plan| plan.receivers.len());
    let flows: usize = receivers.chain(scenario.flows.iter().map(|plan| plan.to.len())).sum();
    let series = (flows.max(1) as u64).saturating_mul(u64::from(scenario.replications.max(1)));
    let most = MOST_BINS.min((MOST_VALUES / series).max(1));
    if bins <= most {
        return;
    }
    let least = Duration::from_ns(duration.as_ns().div_ceil(most));
    let message = format!("bins of {bin} are {bins} in {duration}, for each flow in each replication");
    let allowed = format!("at most {most} here: a `series_bin` of {least} or more");
    context.problems.push(Problem::of(node, message).allowed(allowed));
}

/// Reports packets that are smaller than their headers or larger than any packet. `table` is that of a session or
/// of flows.
pub(super) fn check_packet_size(table: &TableReader<'_>, is_tcp: bool, context: &mut Context<'_>) {
    let Some(node) = table.node("packet_size") else { return };
    // What cannot be read has been reported.
    let Some(Ok(size)) = node.text().map(str::parse::<Size>) else { return };
    let (least, headers) = if is_tcp { (TCP_HEADERS, "IP and TCP") } else { (UDP_HEADERS, "IP and UDP") };
    let reason = match size.as_bytes() {
        0 => return,
        bytes if bytes <= least => format!("the headers of {headers} alone have {least} bytes"),
        bytes if bytes > LARGEST_PACKET => "no packet is so large".to_owned(),
        _ => return,
    };
    let problem = Problem::of(node, format!("packets of {size} are not possible: {reason}"));
    context.problems.push(problem.allowed(format!("from {} to {LARGEST_PACKET} bytes", least + 1)));
}

/// Reports `packets` of a protocol whose receivers do not complete what the source has.
pub(super) fn check_packets(
    table: &TableReader<'_>,
    protocol: Option<&ProtocolPlan>,
    context: &mut Context<'_>,
) {
    let Some(protocol) = protocol.filter(|protocol| !protocol.requirements().is_reliable()) else { return };
    let Some(node) = table.node("packets") else { return };
    let message =
        format!("\"{}\" does not repair losses, so no receiver would complete `packets`", protocol.name());
    let named = context.catalogue.names_where(|requirements| requirements.is_reliable());
    let allowed = format!("no `packets` (`stop` ends the session), or a reliable protocol: {named}");
    context.problems.push(Problem::of(node, message).allowed(allowed));
}

/// Reports packets that may be marked instead of dropped, of a protocol that would not notice: all that share a queue
/// with it would give way to it.
pub(super) fn check_marks(table: &TableReader<'_>, protocol: &ProtocolPlan, context: &mut Context<'_>) {
    let Some(node) = table.node("ecn").filter(|_| !protocol.reacts_to_marks()) else { return };
    let name = protocol.name();
    let reacts_with = |option: &OptionSpec| {
        let mut other = protocol.clone();
        other.set(option.name, RawValue::Flag(true)).is_ok() && other.reacts_to_marks()
    };
    let option = protocol.option_specs().into_iter().find(reacts_with);
    let option = option.map_or(String::new(), |option| format!("the option `{} = true`, ", option.name));
    let named = context.catalogue.names_where(|requirements| requirements.character().ecn);
    let message = format!(
        "receivers of \"{name}\" do not react to marks, so packets that are marked instead of dropped would take all from others"
    );
    let allowed = format!("no `ecn`, {option}or a protocol that reacts to marks: {named}");
    context.problems.push(Problem::of(node, message).allowed(allowed));
}

/// Reports transfers and pauses that follow each other so fast that the run would hardly end.
pub(super) fn check_starts(
    table: &TableReader<'_>,
    traffic: Option<&Traffic>,
    duration: Option<Duration>,
    context: &mut Context<'_>,
) {
    let (key, what, mean_s) = match traffic {
        Some(Traffic::Tcp { demand: DemandPlan::Arrivals { gap, .. }, .. }) => {
            ("arrivals", "arrivals", gap.mean())
        }
        Some(
            Traffic::Tcp { demand: DemandPlan::OnOff { on, off }, .. }
            | Traffic::Udp { pauses: Some((on, off)), .. },
        ) => ("on", "pauses", on.mean() + off.mean()),
        _ => return,
    };
    let (Some(node), Some(duration)) = (table.node(key), duration) else { return };
    let count = duration.as_secs_f64() / mean_s;
    if count > MOST_STARTS {
        let least = Duration::from_secs_f64(duration.as_secs_f64() / MOST_STARTS);
        let message = format!("there would be {count:.0} {what} in {duration}");
        let allowed =
            format!("at most {MOST_STARTS:.0}: one every {} or more", least.max(Duration::from_ns(1)));
        context.problems.push(Problem::of(node, message).allowed(allowed));
    }
}

/// Reports changes of links that a run does not live to see, as those of starts are.
pub(super) fn check_changes(root: &Node, duration: Option<Duration>, context: &mut Context<'_>) {
    let Some(duration) = duration else { return };
    let links = root.get("links").map(Node::entries).unwrap_or_default().iter().map(|entry| &entry.node);
    let usual = root.get("defaults").and_then(|defaults| defaults.get("link"));
    for changes in links.chain(usual).filter_map(|link| link.get("changes")) {
        let Value::List(items) = &changes.value else { continue };
        for node in items.iter().filter_map(|item| item.get("at")) {
            let at = node.text().and_then(|text| text.parse::<Duration>().ok());
            if let Some(at) = at.filter(|at| *at > duration) {
                let message = format!("the change is at {at}, but the run ends at {duration}");
                context.problems.push(Problem::of(node, message).allowed("a time before the end of the run"));
            }
        }
    }
}

/// A rate that a link, layer or stream can have.
impl Read for Rate {
    fn read(node: &Node, kind: &FieldKind, context: &mut Context<'_>) -> Option<Rate> {
        let rate = super::values::parsed(node, kind, context, |rate: &Rate| !rate.is_zero())?;
        let reason = if rate < SLOWEST {
            format!("it is below {SLOWEST}")
        } else if rate > FASTEST {
            format!("it is above {FASTEST}")
        } else {
            return Some(rate);
        };
        context.wrong(node, kind, Some(reason));
        None
    }
}
