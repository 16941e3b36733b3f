//! Seeds without a broken invariant, and the same run for the same seed.

use layercast_explorer::{Plan, Step, explore};
use layercast_testkit::cases;

#[test]
fn no_invariant_breaks() {
    for seed in 0..u64::from(cases(800)) {
        if let Err(broken) = explore(seed, &mut |_| {}) {
            panic!("seed {seed}: {broken}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut steps: Vec<Step> = Vec::new();
        let outcome = explore(seed, &mut |step| steps.push(step.clone()));
        (outcome, steps)
    };
    for seed in 1000..1000 + u64::from(cases(40)) {
        let first = run(seed);
        assert!(!first.1.is_empty());
        assert_eq!(first, run(seed), "seed {seed}");
    }
}

/// A seed that decided the same for all would explore nothing.
#[test]
fn seeds_differ() {
    let plans: Vec<Plan> = (0..200).map(Plan::of).collect();
    let protocols: std::collections::BTreeSet<_> = plans.iter().map(|plan| plan.protocol).collect();
    assert_eq!(protocols.len(), 6);
    assert!(
        plans.iter().any(|plan| plan.changes.len() > 1) && plans.iter().any(|plan| plan.changes.len() == 1)
    );
    assert!((30..80).contains(&plans.iter().filter(|plan| plan.is_signed).count()));
    let protected: Vec<_> = plans.iter().filter_map(|plan| plan.protection).collect();
    let encrypted = protected.iter().filter(|protection| protection.salt.is_some()).count();
    assert!((40..100).contains(&protected.len()) && (15..55).contains(&encrypted), "{encrypted}");
    assert!((30..80).contains(&plans.iter().filter(|plan| plan.is_mirror).count()));
    assert!((100..170).contains(&plans.iter().filter(|plan| plan.packs).count()));
    assert!((20..50).contains(&plans.iter().filter(|plan| plan.relays.len() > 1).count()));
    assert!((20..65).contains(&plans.iter().filter(|plan| plan.is_announced).count()));
    assert!((15..60).contains(&plans.iter().filter(|plan| plan.amt.is_some()).count()));
    assert!(plans.iter().map(|plan| plan.faults.len()).sum::<usize>() > 400);
    assert!(plans.iter().any(|plan| plan.last_files().iter().any(|(_, bytes)| bytes.len() > 100_000)));
}
