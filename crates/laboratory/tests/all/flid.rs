//! The FLID family in the simulator: the set-up of the FLID-DL paper's choice of layers, receivers that
//! come to one level, marks in place of losses, and leaves that come too late.

use std::path::Path;

use crate::running::{Ran, built_in, run_observed, run_text, runs_long};
use layercast_laboratory::results::summary::LinkSummary;
use layercast_laboratory::run::Observation;

fn bottleneck(ran: &Ran) -> &LinkSummary {
    ran.summary.links.iter().find(|link| link.name == "A-B").unwrap()
}

/// The share of the bottleneck that is used, and the packets that it dropped, over 50 s.
fn at_factor(factor: f64) -> (f64, f64) {
    let name = "flid/one-bottleneck";
    let set = format!("session.flid.layers.factor={factor}");
    let ran = run_text(name, built_in(name), &["replications=5", &set]);
    (bottleneck(&ran).utilisation.mean.unwrap(), bottleneck(&ran).drops.mean.unwrap())
}

/// The paper has 85 % and 59 % of the link, and 2.5 times the lost packets for factor 2.0. Measured here: 88
/// and 58 %, and 1.55 times.
#[test]
fn small_steps_between_layers_use_more_and_lose_less() {
    if !runs_long() {
        return;
    }
    let (fine_use, fine_lost) = at_factor(1.3);
    let (coarse_use, coarse_lost) = at_factor(2.0);
    assert!((0.8..0.9).contains(&fine_use), "{fine_use}");
    assert!((0.5..0.68).contains(&coarse_use), "{coarse_use}");
    assert!(coarse_lost > 1.3 * fine_lost, "{fine_lost} and {coarse_lost} packets");
}

/// All hear the same signals and lose at the same queue.
#[test]
fn receivers_behind_one_bottleneck_come_to_one_level() {
    let name = "flid/many-receivers";
    let ran = run_text(name, built_in(name), &["session.flid.count=40"]);
    let levels: Vec<f64> = (1..=40)
        .map(|n| ran.flow(&format!("flid-{n}@R")).mean_level.as_ref().unwrap().mean.unwrap())
        .collect();
    assert!(levels.windows(2).all(|pair| pair[0] == pair[1]), "{levels:?}");
    assert!(levels[0] > 14.0, "{}", levels[0]);
    let used = bottleneck(&ran).utilisation.mean.unwrap();
    assert!((0.75..1.0).contains(&used), "{used}");
}

/// A session that is marked uses the link as well as one that loses.
#[test]
fn marks_take_the_place_of_losses() {
    let name = "flid/one-bottleneck";
    let queue = "link.A-B.queue={ kind = \"red\", limit = \"256 packets\", min_threshold = 32, \
                 max_threshold = 80, ecn = true }";
    let run = |more: &[&str]| run_text(name, built_in(name), &[&["replications=3", queue], more].concat());
    let marked = run(&["session.flid.protocol=e-flid-dl", "session.flid.ecn=true"]);
    let lost = run(&[]);
    let [marked, lost] = [&marked, &lost].map(bottleneck);
    assert!(marked.marks.mean.unwrap() > 50.0 && lost.marks.mean.unwrap() == 0.0);
    let (marked, lost) = (marked.utilisation.mean.unwrap(), lost.utilisation.mean.unwrap());
    assert!(marked > 0.9 * lost, "{marked} and {lost}");
}

/// Leaves that take longer than the session allows for let channels return at the rate of the top layer.
#[test]
fn leaves_that_are_later_than_the_bound_load_the_link() {
    let name = "flid/one-bottleneck";
    let late = |leave: &str| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flid-leave-{leave}"));
        std::fs::create_dir_all(&directory).unwrap();
        let observation = Observation {
            directory: directory.clone(),
            captures: Vec::new(),
            capture_replication: 1,
            notes: true,
        };
        let set = format!("session.flid.leave_latency=\"{leave}\"");
        let ran = run_observed(name, built_in(name), &["replications=1", &set], 1, Some(observation));
        let notes = std::fs::read_to_string(directory.join("notes.jsonl")).unwrap();
        let reported = notes.matches("late_leave").count();
        (ran.flow("flid@R").late_kbps.as_ref().unwrap().mean.unwrap(), ran.kbps("flid@R"), reported)
    };
    let (in_time, good, silent) = late("4 s");
    let (too_late, bad, reported) = late("9 s");
    assert!(silent == 0 && reported > 5, "{silent} and {reported} notes");
    assert!(in_time < 1.0 && too_late > 500.0, "{in_time} and {too_late} kbit/s");
    assert!(bad < 0.7 * good, "{bad} of {good} kbit/s");
}

/// The mean level of the 16 sessions of a scenario of the E-FLID-DL paper.
fn mean_level(name: &str, sets: &[&str]) -> f64 {
    let ran = run_text(name, built_in(name), &[&["replications=2"], sets].concat());
    let levels = (1..=16).map(|n| ran.flow(&format!("m{n}@H")).mean_level.as_ref().unwrap().mean.unwrap());
    levels.sum::<f64>() / 16.0
}

/// The E-FLID-DL paper's second experiment. With 10 % link loss its level is the same within a tenth, and
/// FLID-DL's falls from 16.6 to 3.8.
#[test]
fn link_loss_moves_the_level_of_flid_dl_and_not_that_of_e_flid_dl() {
    if !runs_long() {
        return;
    }
    let change = |name| {
        let [without, with] = ["0", "0.1"]
            .map(|loss| mean_level(name, &[&format!("link.G1-G2.loss.forward.probability={loss}")]));
        with / without
    };
    let (marked, lost) = (change("e-flid/lossy-bottleneck"), change("e-flid/lossy-bottleneck-flid"));
    assert!((0.9..1.1).contains(&marked), "{marked}");
    assert!(lost < 0.3, "{lost}");
}

/// Beside TCP too, where lossy links lead to the receivers (its third experiment).
#[test]
fn lossy_links_to_receivers_leave_e_flid_dl_beside_tcp() {
    if !runs_long() {
        return;
    }
    let name = "e-flid/lossy-leaves";
    let [without, with] =
        ["0", "0.1"].map(|loss| mean_level(name, &[&format!("link.G2-H.loss.forward.probability={loss}")]));
    assert!((with / without - 1.0).abs() < 0.1, "{without} and {with}");
}
