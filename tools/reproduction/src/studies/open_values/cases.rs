//! The experiments with TCP and the values that are tried in them.

use super::{Competition, Variant};
use crate::studies::experiment::Case;

/// What the papers leave open about their TCPs, by the table of flows.
const TCPS: [(&str, &[&str]); 5] = [
    ("TCP of 2000, window 20", &["profile=ns2-2000", "window=20"]),
    ("TCP of 2000, SACK, window 20", &["profile=ns2-2000", "window=20", "protocol=tcp-sack"]),
    ("TCP of 2004", &["profile=ns2-2004"]),
    ("window 20", &["window=20"]),
    ("SACK", &["protocol=tcp-sack"]),
];

/// Those that are run.
pub(super) fn competitions() -> anyhow::Result<Vec<Competition>> {
    Ok(vec![
        flid("FLID-DL V-E, n = 4, 7n packets", 4, 2)?,
        flid("FLID-DL V-E, n = 16, 7n packets", 16, 1)?,
        wei_zhang()?,
    ])
}

fn with_tcps(base: &Case, table: &str) -> Vec<Variant> {
    let scenario = Variant { name: "as the scenario", case: base.clone(), base: 0 };
    let changed = |(name, keys): &(&'static str, &[&str])| {
        let set = keys.iter().map(|key| format!("{table}.{key}"));
        Variant { name, case: base.with(set), base: 0 }
    };
    [scenario].into_iter().chain(TCPS.iter().map(changed)).collect()
}

/// Section V-E of the FLID-DL paper, figure 9 (a).
pub(in crate::studies) fn flid(
    name: &'static str,
    pairs: u32,
    replications: u32,
) -> anyhow::Result<Competition> {
    let mut set = vec![
        format!("flow.tcp.count={pairs}"),
        format!("link.A-B.rate={} kbit/s", 500 * pairs),
        format!("link.A-B.queue.limit={} packets", 7 * pairs),
    ];
    for number in 2..=pairs {
        set.push(format!("session.f{number}.start={{ uniform = [\"0 s\", \"5 s\"] }}"));
        set.push(format!("session.f{number}.stop=100 s"));
    }
    let base = Case::new("flid/beside-tcp")?.with(set);
    let mut variants = with_tcps(&base, "flow.tcp");
    let apart = variants.len();
    variants.push(Variant { name: "TCP on links of its own", case: flid_apart(&base, false)?, base: apart });
    variants.push(Variant { name: "and grafts without delay", case: flid_apart(&base, true)?, base: apart });
    let is_session = move |name: &str| {
        let number = name.strip_prefix('f').and_then(|rest| rest.split('@').next());
        number.and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number <= pairs)
    };
    Ok(Competition { name, is_session: Box::new(is_session), replications, variants })
}

/// The TCPs have access links of their own, so that the way back of the sessions, on which only grafts and prunes
/// travel, can be made one without delay while acknowledgements take as long as before.
fn flid_apart(base: &Case, at_once: bool) -> anyhow::Result<Case> {
    let (last, middle, tcp) = if at_once { (0, 0, 40) } else { (10, 30, 10) };
    base.replacing(&[
        (
            "S-A = {}",
            &format!("S-A = {{ delay_backward = \"{last} ms\" }}\nT-A = {{ delay_backward = \"{tcp} ms\" }}"),
        ),
        ("delay = \"30 ms\", queue", &format!("delay = \"30 ms\", delay_backward = \"{middle} ms\", queue")),
        ("B-R = {}", &format!("B-R = {{ delay_backward = \"{last} ms\" }}\nB-Q = {{}}")),
        ("from = \"S\"\nto = \"R\"", "from = \"T\"\nto = \"Q\""),
    ])
}

/// Section IV-A of Wei and Zhang, four sessions and four TCP.
pub(in crate::studies) fn wei_zhang() -> anyhow::Result<Competition> {
    let base = Case::new("wei-zhang/four-flows")?;
    let mut variants = with_tcps(&base, "defaults.flow");
    for (name, origin) in [("points from the join", "join"), ("points from the last event", "event")] {
        let set = format!("defaults.session.options.points_from={origin}");
        variants.push(Variant { name, case: base.with([set]), base: 0 });
    }
    let apart = variants.len();
    for (name, at_once) in [("TCP on links of its own", false), ("and grafts without delay", true)] {
        variants.push(Variant { name, case: wei_zhang_apart(&base, at_once)?, base: apart });
    }
    let is_session = Box::new(|name: &str| name.starts_with('m') && name.contains('@'));
    Ok(Competition { name: "Wei and Zhang IV-A", is_session, replications: 2, variants })
}

/// As [`flid_apart`]. The slow TCPs of the other direction get the delay that their way loses.
fn wei_zhang_apart(base: &Case, at_once: bool) -> anyhow::Result<Case> {
    let (first, middle, tcp, slow) = if at_once { (0, 0, 21, 20) } else { (1, 20, 1, 0) };
    let mut changed = base.replacing(&[
        (
            "S-RL = { delay = \"1 ms\" }",
            &format!(
                "S-RL = {{ delay = \"1 ms\", delay_backward = \"{first} ms\" }}\n\
                 T-RL = {{ delay = \"1 ms\", delay_backward = \"{tcp} ms\" }}\n\
                 RL-LB = {{ delay = \"{slow} ms\", delay_backward = \"0 ms\" }}"
            ),
        ),
        ("delay = \"20 ms\", queue", &format!("delay = \"20 ms\", delay_backward = \"{middle} ms\", queue")),
        ("from = \"S\"", "from = \"T\""),
        ("to = \"RL\"", "to = \"LB\""),
    ])?;
    for (number, delay) in [(1, "1.333 ms"), (2, "1.667 ms"), (3, "2 ms"), (4, "2.333 ms")] {
        let back = if at_once { "0 ms" } else { delay };
        let link = format!("RR-R{number} = {{ delay = \"{delay}\" }}");
        let both = format!(
            "RR-R{number} = {{ delay = \"{delay}\", delay_backward = \"{back}\" }}\n\
             RR-Q{number} = {{ delay = \"{delay}\" }}"
        );
        let ends = [format!("to = \"R{number}\""), format!("to = \"Q{number}\"")];
        let names = [format!("\"t{number}@R{number}\""), format!("\"t{number}@Q{number}\"")];
        changed = changed.replacing(&[(&link, &both), (&ends[0], &ends[1]), (&names[0], &names[1])])?;
    }
    Ok(changed)
}
