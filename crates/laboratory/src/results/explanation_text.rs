//! An explanation in words: the same in `layercast why` and in the report.

use super::bottleneck::Limit;
use super::explanation::{Bottleneck, CauseSummary, Explanation};
use super::summary::{FlowSummary, Summary};
use super::text::{Style, decimal, window};
use super::why::{Cause, HeldBack};

/// A line of an explanation: what it is about, and the text.
pub(crate) type Line = (&'static str, String);

/// All that is known of a receiver, line by line; empty without an explanation.
pub(crate) fn lines(flow: &FlowSummary, replications: usize) -> Vec<Line> {
    let Some(why) = &flow.why else { return Vec::new() };
    let mut lines = vec![("rate", rate(flow, why))];
    let until = why.measured_until_s.as_ref();
    lines.extend(until.map(|until| {
        let until = Style::Tenths.statistic(until);
        ("measured", format!("until it had its object, {until} s into the run; links over the whole window"))
    }));
    lines.push(("path", why.path.join(", ")));
    lines.push(("bottleneck", bottleneck(why)));
    lines.extend(loss(flow, why).map(|text| ("loss", text)));
    lines.push(("round trip", round_trip(why)));
    lines.extend(slow_start(why, replications).map(|text| ("slow start", text)));
    lines.push(("held back by", held_back(why)));
    lines.push(("changes", changes(&why.causes)));
    lines
}

/// The explanation of a receiver as text for a terminal.
pub(crate) fn page(summary: &Summary, flow: &FlowSummary) -> String {
    let plural = if summary.replications == 1 { "" } else { "s" };
    let mut text = format!(
        "{} ({}) in {}, {} replication{plural}, {}\n\n",
        flow.name,
        flow.protocol,
        summary.scenario,
        summary.replications,
        window(summary.window_s),
    );
    for (about, line) in lines(flow, summary.replications) {
        text.push_str(&wrapped(about, &line));
    }
    text
}

/// The columns that a line may take.
const WIDTH: usize = 80;
/// The columns of what a line is about.
const MARGIN: usize = 14;

/// A line broken between words.
fn wrapped(about: &str, line: &str) -> String {
    let mut text = format!("{about:<MARGIN$}");
    let mut column = MARGIN;
    for (number, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(MARGIN));
            column = MARGIN;
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
    text
}

fn kbps(value: f64) -> String {
    format!("{} kbit/s", Style::Amount.number(value))
}

fn rate(flow: &FlowSummary, why: &Explanation) -> String {
    let got = &flow.measures.throughput_kbps;
    let mut text = format!("{} kbit/s", Style::Amount.statistic(got));
    let share = why.bottleneck.as_ref().and_then(|bottleneck| bottleneck.fair_share_kbps);
    if let (Some(share), Some(got)) = (share, got.mean)
        && share > 0.0
    {
        text.push_str(&format!(", {} of its fair share", decimal(got / share, 2)));
    }
    if let Some(rate) = &why.estimated_rate_kbps {
        text.push_str(&format!("; it calculates a fair rate of {} kbit/s", Style::Amount.statistic(rate)));
    }
    text
}

fn bottleneck(why: &Explanation) -> String {
    match (&why.bottleneck, &why.fullest) {
        (Some(bottleneck), _) => limiting(bottleneck),
        (None, Some((link, used))) => {
            format!(
                "none: the path has room; its fullest link, {link}, is used for {}",
                Style::Percent.number(*used)
            )
        }
        (None, None) => "unknown".to_owned(),
    }
}

fn limiting(bottleneck: &Bottleneck) -> String {
    let Bottleneck { link, by, capacity_kbps, utilisation, loss, queue_delay_ms, sharing, fair_share_kbps } =
        bottleneck;
    let (loss, used) = (Style::Percent.number(*loss), Style::Percent.number(*utilisation));
    let why = match by {
        Limit::Queue => format!("its queue drops or marks {loss} of the packets"),
        Limit::Errors => format!("it loses {loss} of the packets whatever its load"),
        Limit::Full => "it is full".to_owned(),
    };
    let mut text = format!(
        "{link} of {}: {why}; used for {used}, queue of {} ms on average",
        kbps(*capacity_kbps),
        Style::Amount.number(*queue_delay_ms),
    );
    if let Some(share) = fair_share_kbps {
        let whole = (sharing - sharing.round()).abs() < 0.05;
        let count = decimal(*sharing, usize::from(!whole));
        text.push_str(&format!("; a fair share among {count} is {}", kbps(*share)));
    }
    text
}

fn loss(flow: &FlowSummary, why: &Explanation) -> Option<String> {
    let lost = &flow.measures.loss_rate;
    lost.mean?;
    let estimated = match &why.estimated_loss {
        Some(estimated) => format!("its estimate is {}", Style::Percent.statistic(estimated)),
        None => "it makes no estimate".to_owned(),
    };
    Some(format!("{} of its packets; {estimated}", Style::Percent.statistic(lost)))
}

fn round_trip(why: &Explanation) -> String {
    let ms = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| decimal(value, 1));
    let queues = why.rtt_ms.mean.zip(why.base_rtt_ms.mean).map(|(all, base)| all - base);
    let estimated = match &why.estimated_rtt_ms {
        Some(estimated) => format!("its estimate is {} ms", ms(estimated.mean)),
        None => "it makes no estimate".to_owned(),
    };
    format!("{} ms, of which {} ms in queues; {estimated}", ms(why.rtt_ms.mean), ms(queues))
}

fn slow_start(why: &Explanation, replications: usize) -> Option<String> {
    let lasted = why.slow_start_s.as_ref()?;
    let mut text = format!("{} s", Style::Tenths.statistic(lasted));
    if why.still_in_slow_start > 0 {
        let of = if replications > 1 {
            format!(" in {} of {replications} replications", why.still_in_slow_start)
        } else {
            String::new()
        };
        text.push_str(&format!(", and not over then{of}"));
    }
    Some(text)
}

fn held_back(why: &Explanation) -> String {
    let parts: Vec<String> = why
        .held_back
        .iter()
        .filter(|held| held.share >= 0.005)
        .map(|held| {
            format!("{} ({} % of the time)", words(held.by, &why.causes), decimal(held.share * 100.0, 0))
        })
        .collect();
    if parts.is_empty() { "nothing that is known".to_owned() } else { parts.join("; ") }
}

/// What held a receiver back. What it waits for is what its joins follow.
fn words(by: HeldBack, causes: &[CauseSummary]) -> &'static str {
    let joins_at = |cause: Cause| {
        let name = cause.to_string();
        causes.iter().any(|one| one.joins > 0.0 && one.cause == name)
    };
    match by {
        HeldBack::Waiting if joins_at(Cause::IncreaseSignal) => "waiting for the next increase signal",
        HeldBack::Waiting if joins_at(Cause::SynchronisationPoint) => {
            "waiting for the next synchronisation point"
        }
        by => by.words(),
    }
}

/// `13 joins: 10 slow start, 3 rate above next layer; 11 leaves: 9 loss, 2 silence`.
pub(crate) fn changes(causes: &[CauseSummary]) -> String {
    let side = |of: fn(&CauseSummary) -> f64, one: &str, many: &str| {
        let total: f64 = causes.iter().map(of).sum();
        let name = if (total - 1.0).abs() < 1e-9 { one } else { many };
        let mut parts: Vec<(f64, String)> = causes
            .iter()
            .filter(|cause| of(cause) > 0.0)
            .map(|cause| (of(cause), format!("{} {}", count(of(cause)), cause.cause)))
            .collect();
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let parts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        let list = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        format!("{} {name}{list}", count(total))
    };
    format!(
        "{}; {}",
        side(|cause| cause.joins, "join", "joins"),
        side(|cause| cause.leaves, "leave", "leaves")
    )
}

/// A mean count: whole, or with one decimal.
fn count(value: f64) -> String {
    decimal(value, usize::from((value - value.round()).abs() >= 0.05))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(cause: &str, joins: f64, leaves: f64) -> CauseSummary {
        CauseSummary { cause: cause.to_owned(), joins, leaves }
    }

    #[test]
    fn causes_are_one_line_the_most_frequent_first() {
        let causes = [
            cause("loss", 0.0, 9.0),
            cause("rate above next layer", 3.0, 0.0),
            cause("slow start", 10.0, 0.0),
            cause("silence", 0.0, 2.0),
        ];
        assert_eq!(
            changes(&causes),
            "13 joins: 10 slow start, 3 rate above next layer; 11 leaves: 9 loss, 2 silence"
        );
        assert_eq!(changes(&[cause("start", 1.0, 0.0)]), "1 join: 1 start; 0 leaves");
        assert_eq!(changes(&[cause("loss", 0.0, 2.5)]), "0 joins; 2.5 leaves: 2.5 loss");
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let line = "seven words that are long enough to be wrapped ".repeat(8);
        let text = wrapped("held back by", line.trim_end());
        assert!(text.lines().count() > 3);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let again: Vec<&str> = text.split_whitespace().skip(3).collect();
        assert_eq!(again.join(" "), line.trim_end());
    }
}
