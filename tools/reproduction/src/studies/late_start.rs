//! AMCA that starts late, and AMCA after others have left.
//!
//! Our reading of the report's unacknowledged packets (errata E7) compares what is outstanding with what an empty path
//! holds, and takes the smallest round-trip time reported for that of the empty path. A source that starts into others'
//! queue never sees the empty path. And after others leave, the report's rules add 5 % at each report. Both are measured
//! with random starts, under the rules as they are printed, under ours, and under what the rules leave open.

mod trace;

use super::experiment::{Case, Runner};
use super::page::Report;
use crate::frame::time_series::TimeSeries;
use crate::samples::{Samples, format_samples};
use trace::{Trace, traces};

const REPLICATIONS: u32 = 20;
/// The bottleneck, kbit/s.
const LINK_KBPS: f64 = 900.0;
/// From here on, in seconds, shares are taken: the last flow has started by 40 s.
const TOGETHER_S: f64 = 80.0;
/// When the others leave.
const GOES_S: f64 = 100.0;
const END_S: f64 = 200.0;
/// The other flows' part of the run, and a late start.
const EARLY: &str = "{ uniform = [\"0 s\", \"1 s\"] }";
const LATE: &str = "{ uniform = [\"20 s\", \"40 s\"] }";

/// Rules: their name and the options of the session.
const RULES: [(&str, &[&str]); 9] = [
    ("`backlog`, the default", &[]),
    ("`literal`, as printed", &["profile=literal"]),
    ("`count`", &["profile=count"]),
    ("no `drain`", &["drain=false"]),
    ("N = 16", &["report_every=16"]),
    ("increase of 1.1", &["increase=1.1"]),
    ("beta of 2", &["beta=2"]),
    ("`drain_every` 10 s", &["drain_every=10 s"]),
    ("empty path known", &["known_base=BASE"]),
];

/// Who is there, and when.
struct Situation {
    name: &'static str,
    case: Case,
    /// The other flows.
    others: &'static [&'static str],
    /// Whether the others leave.
    leaves: bool,
}

pub(super) fn run(runner: &Runner) -> anyhow::Result<Report> {
    let mut report = Report::new();
    let alone = probed(&Case::new("amca/convergence")?);
    let alone = runner.series("AMCA alone", &alone, REPLICATIONS)?;
    let base_ms = Samples(traces(&alone).iter().map(|trace| trace.base_ms(END_S)).collect());
    report.page.say(&format!(
        "The round-trip time that AMCA alone takes for the empty path: {} ms.",
        format_samples(&base_ms)
    ));
    report.page.say("");
    report.keep("alone", "backlog", "base, ms", &base_ms);
    let situations = situations()?;
    let shown = situations.iter().map(|situation| match situation.leaves {
        false => format!("{}: share:", situation.name),
        true => format!("{}: s:", situation.name),
    });
    let heading: Vec<String> =
        ["rules".to_owned(), "base error after two Vegas, ms:".to_owned()].into_iter().chain(shown).collect();
    report.page.heading(&heading.iter().map(String::as_str).collect::<Vec<_>>());
    report.more.heading(&[
        "rules",
        "situation",
        "share, 80 to 200 s:",
        "dropped, 80 to 200 s:",
        "base error at 100 s, ms:",
        "at 200 s:",
        "recovery, s:",
    ]);
    for (rules, options) in RULES {
        let mut errors = Vec::new();
        let mut cells = Vec::new();
        for situation in &situations {
            let set = options.iter().map(|option| {
                let option = option.replace("BASE", &format!("{:.3} ms", base_ms.mean()));
                sessions(situation).map(|session| format!("session.{session}.{option}")).collect::<Vec<_>>()
            });
            let case = situation.case.with(set.flatten());
            let series = runner.series(&format!("{}: {rules}", situation.name), &case, REPLICATIONS)?;
            let measures = Measures::of(&series, situation, &base_ms);
            measures.keep(&mut report, situation, rules);
            let shown = if situation.leaves { &measures.recovery_s } else { &measures.share };
            cells.push(format_samples(shown));
            errors.push(format_samples(&measures.error_ms));
        }
        let of_two_vegas = situations.iter().position(|situation| situation.name == AFTER_TWO_VEGAS);
        let error = of_two_vegas.and_then(|position| errors.get(position).cloned());
        let row = [rules.to_owned(), error.unwrap_or_default()].into_iter().chain(cells);
        report.page.row(&row.collect::<Vec<_>>());
    }
    Ok(report)
}

/// Reads all cases.
#[cfg(test)]
pub(super) fn check() -> anyhow::Result<()> {
    for situation in situations()? {
        situation.case.read()?;
    }
    Ok(())
}

/// What one set of rules gives in one situation.
struct Measures {
    share: Samples,
    drops: Samples,
    /// At 100 s, before others leave.
    error_ms: Samples,
    later_error_ms: Samples,
    recovery_s: Samples,
}

impl Measures {
    fn of(series: &TimeSeries, situation: &Situation, base_ms: &Samples) -> Measures {
        let (all, base_ms) = (traces(series), base_ms.mean());
        let each = |value: &dyn Fn(&Trace<'_>) -> Option<f64>| Samples(all.iter().map(value).collect());
        Measures {
            share: each(&|trace| trace.share(situation.others, TOGETHER_S, END_S)),
            drops: each(&|trace| trace.drops(TOGETHER_S, END_S)),
            error_ms: each(&|trace| trace.base_ms(GOES_S).map(|base| base - base_ms)),
            later_error_ms: each(&|trace| trace.base_ms(END_S).map(|base| base - base_ms)),
            recovery_s: each(&|trace| trace.reached_s(0.9 * LINK_KBPS, GOES_S, END_S)),
        }
    }

    fn keep(&self, report: &mut Report, situation: &Situation, rules: &str) {
        let all = [
            ("share", &self.share),
            ("drops", &self.drops),
            ("base error at 100 s, ms", &self.error_ms),
            ("base error at 200 s, ms", &self.later_error_ms),
            ("recovery, s", &self.recovery_s),
        ];
        for (quantity, samples) in all {
            report.keep(situation.name, rules, quantity, samples);
        }
        let cells = all.map(|(_, samples)| format_samples(samples));
        let names = [rules.to_owned(), situation.name.to_owned()];
        report.more.row(&names.into_iter().chain(cells).collect::<Vec<_>>());
    }
}

/// The situation whose error the page shows.
const AFTER_TWO_VEGAS: &str = "after two Vegas";

/// The sessions of a situation.
fn sessions(situation: &Situation) -> impl Iterator<Item = &'static str> {
    let has_two = situation.others.contains(&SECOND);
    ["amca"].into_iter().chain(has_two.then_some("other"))
}

/// The receiver of another session of AMCA that is measured.
const SECOND: &str = "other@R3";
const TWO_TCP: &[&str] = &["tcp-1@R3", "tcp-2@R4"];
const ONE_TCP: &[&str] = &["tcp@R3"];

fn situations() -> anyhow::Result<Vec<Situation>> {
    let two = probed(&Case::new("amca/two-tcp")?);
    let one = probed(&Case::new("amca/one-tcp")?).with(["duration=200 s", "windows=[[\"50 s\", \"end\"]]"]);
    let starts = |case: &Case, amca: &str, flows: &[&str], tcp: &str| {
        let of_tcp = flows.iter().map(|flow| format!("flow.{flow}.start={tcp}"));
        case.with([format!("session.amca.start={amca}")].into_iter().chain(of_tcp))
    };
    let both = ["tcp-1", "tcp-2"];
    let goes = both.map(|flow| format!("flow.{flow}.stop={GOES_S} s"));
    let late_two = starts(&two, LATE, &both, EARLY);
    let mut second = probed(&Case::new("amca/convergence")?)
        .with([format!("session.amca.start={LATE}"), "windows=[[\"50 s\", \"end\"]]".to_owned()]);
    second.text.push_str(&format!(
        "\n[sessions.other]\nprotocol = \"amca\"\nsource = \"S1\"\nreceivers = [\"R3\", \"R4\"]\n\
         start = {EARLY}\nlayers = {{ scheme = \"explicit\", rates = [\"81.92 Mbit/s\"] }}\n\
         packet_size = \"1024 bytes\"\nleave_latency = \"0 s\"\n"
    ));
    Ok(vec![
        Situation {
            name: "before two Vegas",
            case: starts(&two, EARLY, &both, LATE),
            others: TWO_TCP,
            leaves: false,
        },
        Situation { name: AFTER_TWO_VEGAS, case: late_two.clone(), others: TWO_TCP, leaves: false },
        Situation {
            name: "after one Vegas",
            case: starts(&one, LATE, &["tcp"], EARLY).with([format!("flow.tcp.stop={END_S} s")]),
            others: ONE_TCP,
            leaves: false,
        },
        Situation { name: "after AMCA", case: second, others: &[SECOND], leaves: false },
        Situation {
            name: "first, one Vegas leaves",
            case: starts(&one, EARLY, &["tcp"], LATE),
            others: ONE_TCP,
            leaves: true,
        },
        Situation { name: "late, two Vegas leave", case: late_two.with(goes), others: TWO_TCP, leaves: true },
    ])
}

/// The case with what is looked at each second.
fn probed(case: &Case) -> Case {
    let mut probed = case.with(["series_bin=1 s"]);
    probed.text.push_str(
        "\n[probes.base]\nof = \"flow amca@R1\"\nwhat = [\"source_base_rtt_ms\"]\nevery = \"1 s\"\n\
         \n[probes.bottleneck]\nof = \"link A-B\"\nwhat = [\"drops\"]\nevery = \"1 s\"\n",
    );
    probed
}
