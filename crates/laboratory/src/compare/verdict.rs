//! The verdict: which protocol is best, what showed it, and what each did, in words.
//!
//! Criteria are taken in turn. Under each, those remain that are not shown to be worse than the best mean: the 95 %
//! interval of their paired difference holds zero, or they are equal. The first criterion after which one is left decides.
//! Who loses more than [`MOST_LOSS`] in queues takes no part.

use serde::Serialize;

use super::completion::Completion;
use super::effects::Effect;
use super::interval::{change, clock, text};
use super::paired::{FEWEST, Shown, difference, shown};
use super::receivers::{Shows, worst_first};
use super::row::Row;
use crate::results::Statistic;
use crate::results::statistics::mean;
use crate::results::text::{NONE, Style, counted, decimal};

/// Which protocol is best.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The best, or all between which no difference is shown; the best mean first. Empty if all lose too much.
    pub best: Vec<String>,
    /// Those that lose more than 15 % of their packets in queues, and so cannot be best.
    pub lossy: Vec<String>,
    /// The criteria that were looked at, in their order; the last one decided.
    pub criteria: Vec<&'static str>,
    /// The verdict in words.
    pub text: String,
}

/// The largest share of its packets that a protocol may lose in queues and still be best. Beyond it a TCP, by its
/// throughput equation (Padhye et al. 1998), sends less than one packet a round trip: what keeps a queue there leaves
/// no room in which others can share, and most of what it adds is dropped.
pub(super) const MOST_LOSS: f64 = 0.15;

/// A criterion.
struct Criterion {
    name: &'static str,
    phrase: &'static str,
    less_is_better: bool,
    of: fn(&Row) -> Option<&Statistic>,
}

const COMPLETE: Criterion = Criterion {
    name: "completed",
    phrase: "receivers that complete",
    less_is_better: false,
    of: |row| row.completion.as_ref().map(|done| &done.completed),
};
const LAST: Criterion = Criterion {
    name: "last_s",
    phrase: "the last receiver's time",
    less_is_better: true,
    of: |row| row.completion.as_ref().map(|done| &done.last_s),
};
const CLOSENESS: Criterion = Criterion {
    name: "fair_share_closeness",
    phrase: "closeness to an equal share with TCP",
    less_is_better: false,
    of: |row| Some(&row.fair_share_closeness),
};
const THROUGHPUT: Criterion = Criterion {
    name: "throughput_kbps",
    phrase: "throughput",
    less_is_better: false,
    of: |row| Some(&row.throughput_kbps),
};
const HARM: Criterion = Criterion {
    name: "harm_percent",
    phrase: "harm to other traffic",
    less_is_better: true,
    of: |row| Some(&row.harm_percent),
};

/// The criteria of a comparison: completion where sessions have an end, else a fair share where there is TCP, else
/// throughput; then what others lose.
fn criteria(rows: &[Row]) -> Vec<&'static Criterion> {
    let mut criteria = if rows.iter().any(|row| row.completion.is_some()) {
        vec![&COMPLETE, &LAST]
    } else if rows.iter().any(|row| row.fair_share_closeness.mean.is_some()) {
        vec![&CLOSENESS]
    } else {
        vec![&THROUGHPUT]
    };
    if rows.iter().any(|row| row.harm_percent.mean.is_some()) {
        criteria.push(&HARM);
    }
    criteria
}

impl Criterion {
    fn mean(&self, row: &Row) -> Option<f64> {
        let mean = (self.of)(row)?.mean?;
        Some(if self.less_is_better { -mean } else { mean })
    }

    /// How much better the one is, in each replication.
    fn lead(&self, one: &Row, other: &Row) -> Statistic {
        let samples = |row| (self.of)(row).map(|found: &Statistic| found.samples.clone()).unwrap_or_default();
        let (one, other) = (samples(one), samples(other));
        if self.less_is_better { difference(&other, &one) } else { difference(&one, &other) }
    }

    fn value(&self, row: &Row) -> String {
        let Some(value) = (self.of)(row) else { return String::new() };
        match self.name {
            "last_s" => value.mean.map(clock).unwrap_or_default(),
            "harm_percent" => format!("{} %", change(value)),
            "completed" => amount(value),
            name => text(value, name),
        }
    }

    fn difference(&self, lead: &Statistic) -> String {
        let half = lead.ci95.unwrap_or_default();
        let mean = lead.mean.unwrap_or_default().abs();
        match self.name {
            "last_s" => format!("{} ± {}", clock(mean), clock(half)),
            "fair_share_closeness" => format!("{} ± {}", Style::Amount.bare(mean), decimal(half, 2)),
            "harm_percent" => format!("{} ± {} points", decimal(mean, 1), decimal(half, 1)),
            _ => format!("{} ± {}", Style::Amount.bare(mean), Style::Amount.bare(half)),
        }
    }
}

/// A mean without needless decimals.
fn amount(statistic: &Statistic) -> String {
    statistic
        .mean
        .map_or_else(String::new, |mean| decimal(mean, usize::from((mean - mean.round()).abs() > 0.05)))
}

/// The verdict over all rows.
pub(super) fn of(rows: &[Row], replications: usize) -> Verdict {
    let (lossy, mut left): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.queue_loss.is_some_and(|loss| loss > MOST_LOSS));
    let mut looked_at = Vec::new();
    let mut grounds = Vec::new();
    for criterion in criteria(rows) {
        left.sort_by(|one, other| {
            let mean = |row: &Row| criterion.mean(row).unwrap_or(f64::NEG_INFINITY);
            mean(other).total_cmp(&mean(one))
        });
        let Some(&leader) = left.first().filter(|_| left.len() > 1) else { break };
        looked_at.push(criterion);
        let is_worse = |row: &&&Row| {
            // Where the leader has a number, lacking one is worse.
            let lacks = criterion.mean(row).is_none() && criterion.mean(leader).is_some();
            lacks || shown(&criterion.lead(leader, row)) == Shown::More
        };
        let worse: Vec<&Row> = left.iter().filter(is_worse).copied().collect();
        if let Some(next) = worse.first() {
            grounds.push(Ground {
                criterion,
                leader,
                next,
                others: worse.get(1..).unwrap_or_default().to_vec(),
            });
        }
        left.retain(|row| worse.iter().all(|other| other.protocol != row.protocol));
    }
    let best: Vec<String> = left.iter().map(|row| row.protocol.clone()).collect();
    let text = match words(&left, &looked_at, &grounds, replications) {
        // The others are not left, but were compared.
        _ if left.len() == 1 && !lossy.is_empty() && grounds.is_empty() => {
            format!("Best: {}.", best.join(""))
        }
        text => text,
    };
    let text = format!("{text}{}", excluded(&lossy, best.is_empty()));
    let lossy = lossy.iter().map(|row| row.protocol.clone()).collect();
    Verdict { best, lossy, criteria: looked_at.iter().map(|criterion| criterion.name).collect(), text }
}

/// Who cannot be best, in words.
fn excluded(lossy: &[&Row], is_all: bool) -> String {
    let lost = |row: &&Row| {
        let percent = Style::Percent.number(row.queue_loss.unwrap_or_default());
        format!("{} loses {percent} of its packets in queues", row.protocol)
    };
    let lost: Vec<String> = lossy.iter().map(lost).collect();
    let lost = list(&lost.iter().map(String::as_str).collect::<Vec<_>>());
    let bound = format!("{} %", decimal(MOST_LOSS * 100.0, 0));
    match (lossy, is_all) {
        ([], _) => String::new(),
        (_, true) => {
            format!("None is best: {lost}, and more than {bound} is congestion that no TCP could share.")
        }
        ([_], false) => format!(" Left out: {lost}, more than the {bound} with which it could be best."),
        (_, false) => format!(" Left out: {lost}, more than the {bound} with which they could be best."),
    }
}

/// Why some were dropped.
struct Ground<'a> {
    criterion: &'static Criterion,
    leader: &'a Row,
    /// The best of those dropped.
    next: &'a Row,
    /// The others.
    others: Vec<&'a Row>,
}

impl Ground<'_> {
    fn words(&self) -> String {
        let Ground { criterion, leader, next, others } = self;
        let lead = criterion.lead(leader, next);
        let by = if lead.mean.is_some() {
            format!(", a paired difference of {}", criterion.difference(&lead))
        } else {
            String::new()
        };
        let value = |row| match criterion.value(row) {
            none if none.is_empty() || none == NONE => "none".to_owned(),
            value => value,
        };
        let others: Vec<&str> = others.iter().map(|row| row.protocol.as_str()).collect();
        let also =
            if others.is_empty() { String::new() } else { format!(" (behind them {})", list(&others)) };
        format!(
            "{}: {} {}, {} {}{by}{also}",
            criterion.phrase,
            leader.protocol,
            value(leader),
            next.protocol,
            value(next)
        )
    }
}

fn words(left: &[&Row], looked_at: &[&Criterion], grounds: &[Ground<'_>], replications: usize) -> String {
    let names: Vec<&str> = left.iter().map(|row| row.protocol.as_str()).collect();
    let phrases: Vec<&str> = looked_at.iter().map(|criterion| criterion.phrase).collect();
    let because = grounds.iter().map(Ground::words).collect::<Vec<String>>().join("; then by ");
    let because = (!because.is_empty()).then_some(because);
    match (names.as_slice(), because) {
        ([], _) => String::new(),
        ([one], None) => format!("Only {one} was compared."),
        ([one], Some(because)) => format!("Best: {one}, by {because}."),
        (_, None) if replications < FEWEST => format!(
            "Nothing is shown: {} cannot tell protocols apart, and at least {FEWEST} are needed (--replications). By \
             the means alone {} comes first.",
            counted(replications, "replication"),
            names.first().copied().unwrap_or_default()
        ),
        (all, None) => format!(
            "No difference is shown between {}: paired intervals over {} hold zero, for {}.",
            list(all),
            counted(replications, "replication"),
            list(&phrases)
        ),
        (all, Some(because)) => format!(
            "Best: {}, between which no difference is shown. They lead the others by {because}.",
            list(all)
        ),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What a protocol did, in words.
pub(super) fn sentence(row: &Row) -> String {
    let mut parts = Vec::new();
    if let Some(done) = &row.completion {
        parts.push(completed(done));
    } else {
        parts.extend(shared(row));
    }
    parts.extend(row.effects.iter().map(affected));
    if let Some(done) = &row.completion {
        if !done.never.is_empty() {
            parts.push(format!("never: {}", some(&done.never)));
        }
        if !done.not_always.is_empty() {
            parts.push(format!("not in all replications: {}", some(&done.not_always)));
        }
    }
    format!("{}: {}", row.protocol, parts.join("; "))
}

/// The first few names, and how many more there are.
fn some(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<&str>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

fn completed(done: &Completion) -> String {
    let Some(last) = done.last_s.mean else {
        return format!("none of {} complete", counted(done.receivers, "receiver"));
    };
    let who = if done.all_complete && done.receivers == 1 {
        "the receiver complete".to_owned()
    } else if done.all_complete {
        format!("all {} receivers complete", done.receivers)
    } else {
        format!("{} of {} complete", amount(&done.completed), counted(done.receivers, "receiver"))
    };
    let median =
        done.median_s.mean.map_or_else(String::new, |median| format!(", the median after {}", clock(median)));
    format!("{who} within {}{median}", clock(last))
}

fn shared(row: &Row) -> Option<String> {
    let shows = if row.share_of_tcp.mean.is_some() { Shows::ShareOfTcp } else { Shows::Throughput };
    let sorted = worst_first(&row.receivers, shows);
    let means: Vec<f64> = sorted.iter().filter_map(|row| shows.of(row).mean).collect();
    let unit = if shows == Shows::ShareOfTcp { "of TCP's share" } else { "kbit/s" };
    let number = |value: f64| Style::of(shows.metric()).number(value);
    let (first, worst) = (means.first()?, sorted.iter().find(|row| shows.of(row).mean.is_some())?);
    if means.len() == 1 {
        return Some(format!("{} {unit}", text(shows.of(worst), shows.metric())));
    }
    let middle = mean(&[*means.get((means.len() - 1) / 2)?, *means.get(means.len() / 2)?])?;
    Some(format!("median receiver {} {unit}, worst {} at {}", number(middle), number(*first), worst.label))
}

fn affected(effect: &Effect) -> String {
    let (kind, change_percent) = (&effect.kind, &effect.change_percent);
    let Some(mean) = change_percent.mean else { return format!("{kind}: no change can be computed") };
    // A share may be zero without multicast, and a delay means something in milliseconds only: both ends are given.
    match effect.metric {
        "rebuffering" => return from_to(effect, "time stalled", ""),
        "loss_rate" => return from_to(effect, "loss", ""),
        "delay_ms" => return from_to(effect, "delay", " ms"),
        _ => {}
    }
    let places = usize::from(mean.abs() < 9.95);
    let size = decimal(mean.abs(), places);
    let word = match (effect.metric, effect.is_cost(), mean > 0.0) {
        ("video_kbps", _, true) => "higher rate",
        ("video_kbps", _, false) => "lower rate",
        (_, true, true) => "slower",
        (_, true, false) => "faster",
        (_, false, true) => "more",
        (_, false, false) => "less",
    };
    match shown(change_percent) {
        Shown::More | Shown::Less => {
            let half = decimal(change_percent.ci95.unwrap_or_default(), places);
            format!("{kind} {size} ± {half} % {word}")
        }
        Shown::Nothing => {
            let of = if effect.metric == "video_kbps" { "no change of rate" } else { "no change" };
            format!("{kind}: {of} shown ({} %)", change(change_percent))
        }
        Shown::TooFew => format!("{kind} {size} % {word}"),
    }
}

/// The means without multicast and with the protocol, and the change.
fn from_to(effect: &Effect, what: &str, unit: &str) -> String {
    let style = Style::of(effect.metric);
    let number = |statistic: &Statistic| {
        statistic.mean.map_or_else(|| NONE.to_owned(), |mean| format!("{}{unit}", style.number(mean)))
    };
    let (kind, base, with) = (&effect.kind, number(&effect.baseline), number(&effect.with));
    let change = effect.words(&effect.change_percent);
    match shown(&effect.change_percent) {
        Shown::Nothing => format!("{kind}: no change of {what} shown ({base}; {change})"),
        _ => format!("{kind}: {what} from {base} to {with} ({change})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(kind: &str, metric: &'static str, base: [f64; 3], with: [f64; 3], change: [f64; 3]) -> Effect {
        let of = |samples: [f64; 3]| Statistic::new(samples.map(Some));
        Effect {
            kind: kind.to_owned(),
            metric,
            nodes: 1,
            baseline: of(base),
            with: of(with),
            change_percent: of(change),
            worst: None,
        }
    }

    #[test]
    fn the_bound_of_loss_is_where_a_tcp_has_less_than_a_packet_a_round_trip() {
        let path = layercast_kit::equation::Path {
            packet_bytes: 1500.0,
            rtt_s: 0.1,
            rto_s: 0.4,
            packets_per_ack: 1.0,
            window_packets: f64::INFINITY,
        };
        let packets = |loss| {
            layercast_kit::equation::Formula::PftkSimplified.bytes_per_s(&path, loss) * path.rtt_s
                / path.packet_bytes
        };
        assert!(packets(MOST_LOSS) < 1.0 && packets(MOST_LOSS - 0.01) > 1.0);
    }

    /// Changes of 3, 4 and 5 have an interval of 4 ± 2.5 (Student's t with two degrees of freedom).
    #[test]
    fn each_kind_of_traffic_has_its_words() {
        let words = |kind: &str, metric: &'static str, base: f64, with: f64, change: [f64; 3]| {
            affected(&effect(kind, metric, [base; 3], [with; 3], change))
        };
        let up = [3.0, 4.0, 5.0];
        let down = [-3.0, -4.0, -5.0];
        assert_eq!(words("web pages", "completion_s", 2.0, 2.1, up), "web pages 4.0 ± 2.5 % slower");
        assert_eq!(
            words("file downloads", "completion_s", 2.0, 1.9, down),
            "file downloads 4.0 ± 2.5 % faster"
        );
        assert_eq!(words("video", "video_kbps", 4000.0, 3800.0, down), "video 4.0 ± 2.5 % lower rate");
        assert_eq!(
            words("video", "rebuffering", 0.0, 0.04, up),
            "video: time stalled from 0.00 % to 4.00 % (+4.00 ± 2.48 points)"
        );
        assert_eq!(
            words("video", "rebuffering", 0.0, 0.0, [0.0; 3]),
            "video: no change of time stalled shown (0.00 %; 0.00 ± 0.00 points)"
        );
        assert_eq!(
            words("calls", "delay_ms", 20.0, 20.8, up),
            "calls: delay from 20.0 ms to 20.8 ms (+4.0 ± 2.5 %)"
        );
        assert_eq!(
            words("calls", "loss_rate", 0.0, 0.04, up),
            "calls: loss from 0.00 % to 4.00 % (+4.00 ± 2.48 points)"
        );
        assert_eq!(
            words("tcp-cubic downloads", "throughput_kbps", 9.0, 8.6, down),
            "tcp-cubic downloads 4.0 ± 2.5 % less"
        );
    }
}
