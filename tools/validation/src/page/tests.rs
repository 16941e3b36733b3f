use super::*;
use crate::exact::{self, Case, Parting, Trouble};
use crate::{constant, random_loss, shared};
use layercast_simulator::tcp::TcpVariant;

fn result(parting: Option<Parting>) -> exact::Result {
    let case = Case {
        tcp: TcpVariant::Vegas,
        delayed_ack: true,
        window: 8,
        trouble: Trouble::Limit(3),
        seconds: 10,
    };
    exact::Result { case, states: 100, drops: 2, parting }
}

fn constant_outcome(loss: f64) -> constant::Outcome {
    let equal = || Comparison::new(vec![1.0, 1.1], vec![1.0, 1.1], 0.0);
    let plan = constant::Plan::quick();
    let row = |rhythm: &constant::Rhythm| constant::Row {
        rhythm: *rhythm,
        site: constant::SITES[0],
        constant_loss: Comparison::new(vec![loss, loss + 0.01], vec![loss, loss + 0.01], 0.0),
        tcp_loss: equal(),
        share: equal(),
    };
    let rows = plan.rhythms.iter().map(row).collect();
    constant::Outcome { plan, rows }
}

fn page(queue: Comparison, exact: Vec<exact::Result>) -> String {
    let equal = || Comparison::new(vec![1.0, 1.1], vec![1.0, 1.1], 0.0);
    let loss = random_loss::Outcome { plan: random_loss::Plan::quick(), rows: vec![], alone: vec![] };
    let plan = shared::Plan::quick();
    let row = shared::Row { case: plan.cases[1], throughput: equal(), loss: equal(), queue, spread: equal() };
    write(&Results {
        random_loss: loss,
        shared: shared::Outcome { plan, rows: vec![row] },
        constant: constant_outcome(0.04),
        exact,
    })
}

#[test]
fn a_difference_is_counted_and_described() {
    let parting = Parting::Drop { place: 1, ours: None, ns: Some(7) };
    let queue = Comparison::new(vec![12.0, 12.1], vec![10.0, 10.1], 0.1);
    let page = page(queue, vec![result(None), result(Some(parting))]);
    let has = |line: &str| assert!(page.lines().any(|one| one == line), "no line {line:?} in\n{page}");
    has("| packet by packet | 2 | 1 |  | 1 |");
    has("| shared bottleneck: mean queue | 1 | 0 | 0 | 1 |");
    has("| Vegas | 2 | 1 | 200 | 4 |");
    has("- Vegas, delayed ACK, window 8, queue limit 3: drop 1 is packet none in ours and 7 in ns-2");
    has("| constant rate, one flow: its loss | 2 | 2 | 0 | 0 |");
    has("| constant rate, layers: its loss | 6 | 6 | 0 | 0 |");
    has("| one flow, at once | 4.50/4.50 (4.50–4.50/4.50–4.50) | - | - | 105.00/105.00 | - | - |");
    has(
        "| layers together, waits, 15 ms longer | 4.50/4.50 (4.50–4.50/4.50–4.50) | - | - | 105.00/105.00 | - | - |",
    );
    assert!(page.contains(" | **12.05/10.05 (+19.9±8.9)** |\n"), "{page}");
}

#[test]
fn identical_cases_are_reported_as_identical() {
    let page = page(Comparison::new(vec![1.0, 1.0], vec![1.0, 1.0], 0.0), vec![result(None)]);
    assert!(page.contains("\nAll are identical: 100 states and 2 drops in 1 cases.\n"));
    assert!(!page.contains(")** |"));
}

#[test]
fn one_section_is_exchanged_and_the_rest_stays() {
    let whole = page(Comparison::new(vec![1.0, 1.0], vec![1.0, 1.0], 0.0), vec![result(None)]);
    assert_eq!(with_constant(&whole, &constant_outcome(0.04)).as_deref(), Some(whole.as_str()));
    let other = with_constant(&whole, &constant_outcome(0.06)).expect("a page");
    assert_eq!(other.lines().count(), whole.lines().count());
    assert!(other.contains(" | 6.50/") && !other.contains(" | 4.50/"));
    // A page from before there was such a section.
    let heading = whole.find("\n## Constant rates").expect("the section");
    let end = whole.find("\n## Not compared").expect("the end");
    let old = format!("{}{}", &whole[..heading], &whole[end..]);
    let old: Vec<&str> = old.lines().filter(|line| !line.starts_with("| constant rate")).collect();
    assert_eq!(with_constant(&(old.join("\n") + "\n"), &constant_outcome(0.04)), Some(whole));
    assert_eq!(with_constant("# Another page\n", &constant_outcome(0.04)), None);
}
