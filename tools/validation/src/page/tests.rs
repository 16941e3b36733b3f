use super::*;
use crate::exact::{Case, Parting, Trouble};
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

fn page(queue: Comparison, results: &[exact::Result]) -> String {
    let equal = || Comparison::new(vec![1.0, 1.1], vec![1.0, 1.1], 0.0);
    let loss = random_loss::Outcome { plan: random_loss::Plan::quick(), rows: vec![], alone: vec![] };
    let plan = shared::Plan::quick();
    let row = shared::Row { case: plan.cases[1], throughput: equal(), loss: equal(), queue, spread: equal() };
    write(&loss, &shared::Outcome { plan, rows: vec![row] }, results)
}

#[test]
fn a_difference_is_counted_and_described() {
    let parting = Parting::Drop { place: 1, ours: None, ns: Some(7) };
    let queue = Comparison::new(vec![12.0, 12.1], vec![10.0, 10.1], 0.1);
    let page = page(queue, &[result(None), result(Some(parting))]);
    let has = |line: &str| assert!(page.lines().any(|one| one == line), "no line {line:?} in\n{page}");
    has("| packet by packet | 2 | 1 |  | 1 |");
    has("| shared bottleneck: mean queue | 1 | 0 | 0 | 1 |");
    has("| Vegas | 2 | 1 | 200 | 4 |");
    has("- Vegas, delayed ACK, window 8, queue limit 3: drop 1 is packet none in ours and 7 in ns-2");
    has("| Sack1 | 4 | mean queue, packets | 12.05 ± 0.64 | 10.05 ± 0.64 | +19.9 ± 8.9 % | **differs** |");
}

#[test]
fn identical_cases_are_reported_as_identical() {
    let page = page(Comparison::new(vec![1.0, 1.0], vec![1.0, 1.0], 0.0), &[result(None)]);
    assert!(page.contains("\nAll are identical.\n"));
    assert!(!page.contains("differs** |"));
}
