//! The reader's errors and the engine's verdicts.

#![allow(clippy::unwrap_used)]

use super::book::{Book, Kind, Relation};
use super::evidence::{Evidence, LEVEL, Verdict, verdict};
use super::judge::{JudgeError, Supplies, judge};
use super::read;
use crate::samples::Samples;
use layercast_core::stream::Stream;

/// A file with one claim of this test.
fn file(test: &str) -> String {
    format!(
        "[[claim]]\nid = \"one\"\nfigure = \"Figure 1\"\nplace = \"2\"\nkind = \"paper\"\nsays = \"So it is.\"\n\
         reason = \"as printed\"\n[[claim.test]]\n{test}\n"
    )
}

fn book(test: &str) -> Book {
    read("file", &file(test)).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    read("x.toml", text).unwrap_err().to_string()
}

#[test]
fn a_claim_is_read() {
    let book = book("quantity = \"rate\"\nover = \"TCP's\"\nat = [\"here\"]\nwithin = [0.5, 2]");
    let claim = &book.claims[0];
    assert_eq!(
        (claim.kind, claim.place.as_str(), book.reason(claim)),
        (Kind::Paper, "2", Some("as printed"))
    );
    let test = &claim.tests[0];
    assert_eq!((&test.quantities[..], test.over.as_deref()), (&["rate".to_owned()][..], Some("TCP's")));
    assert_eq!(test.relation, Some(Relation::Within(0.5, 2.0)));
}

#[test]
fn errors_name_the_file_the_claim_and_the_remedy() {
    let rate = "quantity = \"rate\"";
    for (text, wanted) in [
        ("x = [".to_owned(), "x.toml is not TOML"),
        (
            "claims = 1".to_owned(),
            "x.toml, the file: `claims` is not known: use one of reasons, claim, left_out",
        ),
        ("[[claim]]\nid = \"one\"".to_owned(), "x.toml, claim one: `kind` is missing: add it"),
        ("[[claim]]\nkind = \"paper\"".to_owned(), "x.toml, claim 1: `id` is missing: add it"),
        (
            file(rate),
            "x.toml, claim one: a test needs exactly one of above, below, within, trend and order, this one has 0",
        ),
        (file(&format!("{rate}\nabove = 0\nbelow = 1")), "this one has 2"),
        (file(&format!("{rate}\nabove = \"x\"")), "claim one: `above` must be a number"),
        (
            file(&format!("{rate}\nwithin = [2, 1]")),
            "`within` goes from 2 to 1: put the smaller number first",
        ),
        (file(&format!("{rate}\ntrend = \"up\"")), "the trend `up` is not known: use rises or falls"),
        (file("order = [\"a\"]"), "`order` needs two quantities or more"),
        (file(&format!("{rate}\nabove = 0\nat = \"x\"")), "`at` must be a list of texts"),
        (file(&format!("{rate}\nabove = 0\nchange = [\"x\"]")), "`change` must be a list of two places"),
        (file(&format!("{rate}\nabove = 0")).replace("paper", "ours"), "the kind `ours` is not known"),
        (file(&format!("{rate}\nabove = 2")).replace("reason = \"as printed\"\n", ""), "needs a `reason`"),
        (file("").replace("[[claim.test]]\n", ""), "there is no [[claim.test]]: add one"),
        (file(&format!("{rate}\nabove = 0")).repeat(2), "claim one: another claim has this id"),
        ("[[left_out]]\nplace = \"1\"".to_owned(), "x.toml, left_out 1: `says` is missing"),
    ] {
        let found = error(&text);
        assert!(found.contains(wanted), "{found}: not {wanted}");
    }
}

/// A place and the values there.
type At<'v> = (&'v str, &'v [f64]);

/// Supplies of figure 1: by name, samples at each place.
fn supplies(all: &[(&str, &[At<'_>])]) -> Supplies {
    let mut supplies = Supplies::default();
    for (name, places) in all {
        let places =
            places.iter().map(|(place, values)| ((*place).to_owned(), Samples::of(values.iter().copied())));
        supplies.add("Figure 1", name, places.collect());
    }
    supplies
}

fn judged(test: &str, supplies: &Supplies) -> Verdict {
    judge(&book(test), supplies).unwrap_or_else(|error| panic!("{error}"))[0].verdict
}

#[test]
fn bounds_are_tested() {
    // The mean 10 and half of the interval 12.7.
    let wide = supplies(&[("x", &[("here", &[9.0, 11.0])])]);
    let verdict = |bound: &str| judged(&format!("quantity = \"x\"\n{bound}"), &wide);
    assert_eq!(verdict("above = 0"), Verdict::Undecided);
    assert_eq!(verdict("above = -3"), Verdict::Held);
    assert_eq!(verdict("above = 23"), Verdict::Failed);
    assert_eq!(verdict("below = 23"), Verdict::Held);
    assert_eq!(verdict("below = -3"), Verdict::Failed);
    assert_eq!(verdict("within = [-3, 23]"), Verdict::Held);
    assert_eq!(verdict("within = [9, 11]"), Verdict::Undecided);
    assert_eq!(verdict("within = [30, 40]"), Verdict::Failed);
    assert_eq!(
        judged("quantity = \"x\"\nabove = 0", &supplies(&[("x", &[("here", &[])])])),
        Verdict::Undecided
    );
}

#[test]
fn a_deterministic_run_is_never_certain() {
    let one = supplies(&[("x", &[("here", &[3.0])]), ("y", &[("here", &[3.0, 3.0])])]);
    for name in ["x", "y"] {
        assert_eq!(judged(&format!("quantity = \"{name}\"\nabove = 1"), &one), Verdict::Observed);
        assert_eq!(judged(&format!("quantity = \"{name}\"\nbelow = 1"), &one), Verdict::Contrary);
    }
    let mut computed = supplies(&[("x", &[("here", &[3.0])])]);
    computed.mark_exact("Figure 1");
    assert_eq!(judged("quantity = \"x\"\nabove = 1", &computed), Verdict::Held);
    assert_eq!(judged("quantity = \"x\"\nbelow = 1", &computed), Verdict::Failed);
    let course = supplies(&[("x", &[("a", &[1.0]), ("b", &[2.0]), ("c", &[1.5])])]);
    assert_eq!(judged("quantity = \"x\"\ntrend = \"rises\"", &course), Verdict::Observed);
    assert_eq!(judged("quantity = \"x\"\ntrend = \"falls\"", &course), Verdict::Contrary);
}

#[test]
fn a_plain_trend_survives_one_exception() {
    let noise = |at: f64| (0..8).map(|run| at + f64::from(run % 3) / 10.0).collect::<Vec<f64>>();
    let levels = [1.0, 2.0, 3.0, 2.9, 5.0].map(noise);
    let names = ["a", "b", "c", "d", "e"];
    let places: Vec<(&str, &[f64])> = names.into_iter().zip(levels.iter().map(Vec::as_slice)).collect();
    let all = supplies(&[("x", &places)]);
    assert_eq!(judged("quantity = \"x\"\ntrend = \"rises\"", &all), Verdict::Held);
    assert_eq!(judged("quantity = \"x\"\ntrend = \"falls\"", &all), Verdict::Failed);
    assert_eq!(judged("quantity = \"x\"\nat = [\"c\", \"d\"]\ntrend = \"rises\"", &all), Verdict::Failed);
}

#[test]
fn orders_ratios_and_changes_go_replication_by_replication() {
    // The spread between replications is large, that of their differences small.
    let all = supplies(&[
        ("low", &[("a", &[1.0, 5.0, 9.0]), ("b", &[2.0, 10.0, 18.1])]),
        ("high", &[("a", &[2.0, 6.1, 10.0]), ("b", &[3.0, 11.1, 19.0])]),
    ]);
    assert_eq!(judged("order = [\"low\", \"high\"]", &all), Verdict::Held);
    assert_eq!(judged("order = [\"high\", \"low\"]", &all), Verdict::Failed);
    assert_eq!(judged("order = [\"low\", \"high\"]\nunpaired = true", &all), Verdict::Undecided);
    assert_eq!(
        judged("quantity = \"low\"\nchange = [\"a\", \"b\"]\nwithin = [1.9, 2.1]", &all),
        Verdict::Held
    );
    assert_eq!(judged("quantity = \"low\"\nover = \"high\"\nbelow = 1.5", &all), Verdict::Held);
    let missing = judge(&book("quantity = \"low\"\nat = [\"c\"]\nabove = 0"), &all);
    assert!(matches!(missing, Err(JudgeError::Place { .. })));
    let missing = judge(&book("quantity = \"lowest\"\nabove = 0"), &all).unwrap_err().to_string();
    assert_eq!(
        missing,
        "claim one: Figure 1 supplies no \"lowest\": use one of \"high\", \"low\", or supply it"
    );
}

#[test]
fn many_places_are_corrected_for_failing_only() {
    let place = |if_untrue, if_true| Evidence::Tested { if_untrue, if_true };
    assert_eq!(verdict(&[place(0.99, 0.01)]), Verdict::Failed);
    let mut many = vec![place(0.001, 0.999); 47];
    assert_eq!(verdict(&many), Verdict::Held);
    many.push(place(0.99, 0.01));
    assert_eq!(verdict(&many), Verdict::Undecided);
    many.push(place(0.9999, 0.0001));
    assert_eq!(verdict(&many), Verdict::Failed);
    assert_eq!(verdict(&[]), Verdict::Undecided);
    assert_eq!(verdict(&[Evidence::Single(true), Evidence::Exact(true)]), Verdict::Observed);
}

/// Samples of a normal distribution.
fn normal(stream: &mut Stream, mean: f64, count: usize) -> Vec<f64> {
    let sum = |stream: &mut Stream| (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0;
    (0..count).map(|_| mean + sum(stream)).collect()
}

#[test]
fn errors_are_as_rare_as_the_level_says() {
    // At the bound itself either verdict is an error: each must come in about one case of forty.
    let mut stream = Stream::new(1, "claims/errors");
    let (mut held, mut failed, mut rising) = (0, 0, 0);
    const RUNS: u32 = 2000;
    for _ in 0..RUNS {
        let values = normal(&mut stream, 1.0, 8);
        match judged("quantity = \"x\"\nabove = 1", &supplies(&[("x", &[("here", &values)])])) {
            Verdict::Held => held += 1,
            Verdict::Failed => failed += 1,
            _ => {}
        }
        let flat = ["a", "b", "c", "d"].map(|place| (place, normal(&mut stream, 0.0, 8)));
        let flat: Vec<(&str, &[f64])> =
            flat.iter().map(|(place, values)| (*place, values.as_slice())).collect();
        rising += u32::from(
            judged("quantity = \"x\"\ntrend = \"rises\"", &supplies(&[("x", &flat)])) == Verdict::Held,
        );
    }
    let most = (1.5 * LEVEL * f64::from(RUNS)) as u32;
    assert!(held < most && failed < most && rising < most, "{held}, {failed}, {rising} of {RUNS}");
    assert!(held > 15 && failed > 15 && rising > 15, "{held}, {failed}, {rising} of {RUNS}");
}

#[test]
fn a_claim_and_its_opposite_never_both_hold() {
    let mut stream = Stream::new(1, "claims/opposites");
    for _ in 0..500 {
        let mean = 4.0 * stream.uniform() - 2.0;
        let values = normal(&mut stream, mean, 5);
        let all = supplies(&[("x", &[("here", &values)])]);
        let above = judged("quantity = \"x\"\nabove = 0", &all);
        let below = judged("quantity = \"x\"\nbelow = 0", &all);
        let mirrored = match above {
            Verdict::Held => Verdict::Failed,
            Verdict::Failed => Verdict::Held,
            other => other,
        };
        assert_eq!(below, mirrored, "{values:?}");
        // A narrower band never holds where a wider one does not.
        let narrow = judged("quantity = \"x\"\nwithin = [-1, 1]", &all);
        let wide = judged("quantity = \"x\"\nwithin = [-2, 2]", &all);
        assert!(narrow != Verdict::Held || wide == Verdict::Held, "{values:?}");
    }
}
