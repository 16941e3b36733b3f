//! `trace SEED` prints the plan of a seed and what happens in its run.

use layercast_explorer::{Plan, explore};

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or_default();
    let plan = Plan::of(seed);
    println!("{} {:?} x {}, packets of {}", plan.protocol, plan.base, plan.layers, plan.packet);
    for receiver in &plan.receivers {
        println!("{receiver:?}");
    }
    for change in &plan.changes {
        let files: Vec<_> = change.files.iter().map(|(path, bytes)| (path, bytes.len())).collect();
        println!("{}: {files:?}, without {:?}", change.at, change.removed);
    }
    let outcome = explore(seed, &mut |step| println!("{} {}", step.at, step.what));
    println!("{outcome:?}");
}
