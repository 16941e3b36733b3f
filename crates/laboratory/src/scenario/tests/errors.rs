//! Messages about wrong files.

use proptest::prelude::*;

use layercast_protocols::registry::Registry;

use crate::scenario::Catalogue;
use crate::scenario::catalogue::BUILT_IN;
use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{ScenarioErrors, read};

/// The messages of a small scenario in which `from` is replaced by `to`.
fn errors(from: &str, to: &str) -> ScenarioErrors {
    assert!(SMALL.contains(from), "the small scenario has {from}");
    read_text(&SMALL.replace(from, to), &[]).unwrap_err()
}

/// The only error's path, message and suggestion.
fn only(from: &str, to: &str) -> (String, String, Option<String>) {
    let mut errors = errors(from, to);
    assert_eq!(errors.0.len(), 1, "{errors}");
    let error = errors.0.remove(0);
    (error.path, error.message, error.nearest)
}

#[test]
fn five_mistakes_give_five_messages() {
    let text = r#"name = "wrong"
duration = 60
replicatons = 3

[links]
S-G = { rate = "10 Mbps", delay = "10 ms" }
G-R1 = { rate = "10 Mbit/s", delay = "10 ms", loss = 1.5 }

[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R1"]
layers = { scheme = "doubling", base = "128 kbit/s", count = 7 }
options = { strategy = "nave" }

[groups]
"R1" = ["elm@R2"]
"#;
    let errors = read_text(text, &[]).unwrap_err();
    let again = read_text(text, &[]).unwrap_err();
    assert_eq!(errors, again);
    insta::assert_snapshot!(errors);
}

#[test]
fn text_that_is_no_toml_is_reported_with_its_place() {
    insta::assert_snapshot!(read_text("name = \"x\"\nduration = \"1 s\n", &[]).unwrap_err());
}

#[test]
fn what_is_missing_is_reported_where_it_should_be() {
    insta::assert_snapshot!(read_text("[links]\nS-G = {}\n[sessions.elm]\n", &[]).unwrap_err());
}

#[test]
fn a_mistake_in_the_defaults_is_reported_once() {
    let (path, message, _) = only("rate = \"100 Mbit/s\"", "rate = \"100 Mbps\"");
    assert_eq!(path, "defaults.link.rate");
    assert!(message.contains("the unit must be"), "{message}");
}

#[test]
fn unknown_names_are_reported_with_the_nearest() {
    let known = |from, to| only(from, to).2;
    assert_eq!(known("protocol = \"elm\"", "protocol = \"elmo\"").as_deref(), Some("elm"));
    assert_eq!(known("tcp-sack", "tcp-sac").as_deref(), Some("tcp-sack"));
    assert_eq!(known("source = \"S\"", "source = \"s\"").as_deref(), Some("S"));
    assert_eq!(known("count = 2", "cuont = 2").as_deref(), Some("count"));
    assert_eq!(known("[flows.tcp]", "[flow.tcp]").as_deref(), Some("flows"));
}

#[test]
fn a_file_without_flows_measures_nothing() {
    let text = SMALL.split("[sessions.elm]").next().unwrap_or_default();
    let errors = read_text(text, &[]).unwrap_err();
    assert!(errors.to_string().contains("nothing to measure"), "{errors}");
}

#[test]
fn topology_is_checked() {
    let message = |from, to| only(from, to).1;
    let apart = errors("G-R2 = {", "R3-R2 = {");
    assert_eq!(apart.0.len(), 2, "one for the session and one for the flow: {apart}");
    assert!(apart.0.iter().all(|error| error.message.contains("no links lead here")), "{apart}");
    let doubled = message("G-R1 = {}", "G-R1 = {}\nR1-G = {}");
    assert!(doubled.contains("there is a link between `R1` and `G` already: `G-R1`"), "{doubled}");
    assert!(message("G-R1 = {}", "G-R1 = {}\nG-G = {}").contains("from one node to another"));
    assert!(message("from = \"S\"", "from = \"R1\"").contains("both ends"));
    // The nodes of a link whose name is wrong are not reported as unknown too.
    assert!(message("G-R2 =", "GR2 =").contains("not the name of a link"));
}

#[test]
fn times_are_checked() {
    let message = |from, to| only(from, to).1;
    assert!(message("start = \"10 s\"", "start = \"60 s\"").contains("the run ends at 60 s"));
    assert!(message("start = \"10 s\"", "start = \"10 s\"\nstop = \"10 s\"").contains("stops at 10 s"));
    assert!(message("\"0 s\", \"20 s\"", "\"21 s\", \"20 s\"").contains("ends before it begins"));
    let window = |text: &str| only("duration =", &format!("windows = {text}\nduration =")).1;
    assert!(window("[[\"30 s\", \"70 s\"]]").contains("the window ends at 70 s"));
    assert!(window("[[\"60 s\", \"end\"]]").contains("the window starts at 60 s"));
    assert!(window("[[\"30 s\"]]").contains("a start and an end"));
    assert!(window("[]").contains("is not allowed"));
}

#[test]
fn layers_are_checked() {
    let message = |to| only("{ scheme = \"doubling\", base = \"128 kbit/s\", count = 7 }", to).1;
    assert!(message("{ scheme = \"doubling\", base = \"1 kbit/s\" }").contains("`count` is missing"));
    assert!(message("{ scheme = \"equal\", base = \"1 kbit/s\", count = 0 }").contains("0 is not allowed"));
    let unused = "{ scheme = \"equal\", base = \"1 kbit/s\", count = 1, factor = 2 }";
    assert!(message(unused).contains("does not use `factor`"));
    assert!(message("{ scheme = \"doubling\", base = \"1 kbit/s\", count = 99 }").contains("the highest"));
    assert!(message("{ scheme = \"equal\", base = \"1 kbit/s\", count = 1025 }").contains("1025 is not"));
    let endless = message("{ scheme = \"doubling\", base = \"128 kbit/s\", count = 1024 }");
    assert_eq!(endless, "the rate with layer 1008 exceeds the largest number, 1.8e308 bit/s");
    let above = message("{ scheme = \"equal\", base = \"1 kbit/s\", count = 3, above = \"1 Mbit/s\" }");
    assert!(above.contains("does not use `above`"), "{above}");
    let phases = message("{ scheme = \"equal\", base = \"1 kbit/s\", count = 3, phases = \"apart\" }");
    assert_eq!(phases, "\"apart\" is not known");
    let same =
        "{ scheme = \"fractions\", capacities = [\"1 kbit/s\", \"2 kbit/s\"], fractions = [0.5, 1.0] }";
    assert!(message(same).contains("the cumulative rate of layer 2 must be above"));
    let zero = "{ scheme = \"fractions\", capacities = [\"1 kbit/s\"], fractions = [0] }";
    assert!(message(zero).contains("0 is not allowed"));
    let falling = "{ scheme = \"explicit\", rates = [\"2 kbit/s\", \"1 kbit/s\"] }";
    assert!(message(falling).contains("not above the rate before it"));
}

/// A session that may be marked and does not react would take all from those that do.
#[test]
fn a_protocol_that_ignores_marks_is_not_marked() {
    let with = |protocol: &str, keys: &str| {
        let text =
            SMALL.replace("protocol = \"elm\"", &format!("protocol = \"{protocol}\"\necn = true\n{keys}"));
        read_text(&text.replace("[\"R1\", \"R2\", \"R1\"]", "[\"R1\"]"), &[])
    };
    for known in Catalogue::of::<Registry>().names() {
        let plan = Catalogue::of::<Registry>().named(known).cloned().unwrap();
        let Err(errors) = with(known, "") else {
            assert!(plan.reacts_to_marks(), "{known}");
            continue;
        };
        let of_marks: Vec<_> = errors.0.iter().filter(|error| error.path == "sessions.elm.ecn").collect();
        assert_eq!(of_marks.len(), usize::from(!plan.reacts_to_marks()), "{known}: {errors}");
        for error in of_marks {
            assert_eq!((error.line, error.column), (20, 7), "{error}");
            assert!(error.message.contains(&format!("\"{known}\" do not react to marks")), "{error}");
            let remedy = error.allowed.clone().unwrap_or_default();
            assert!(
                remedy.starts_with("no `ecn`, ") && remedy.contains("\"elm\"") && !remedy.contains("\"rlc\"")
            );
            assert_eq!(remedy.contains("the option `ce_counts = true`"), known == "amca", "{remedy}");
        }
    }
    assert!(with("amca", "options = { ce_counts = true }").is_ok());
    // One that is taken out disturbs nobody.
    assert!(with("rlc", "count = 0").is_ok());
    let defaults = SMALL.replace("[defaults.session]", "[defaults.session]\necn = true\nprotocol = \"rlc\"");
    let errors = read_text(&defaults.replace("protocol = \"elm\"\n", ""), &[]).unwrap_err();
    assert_eq!((errors.0.len(), errors.0[0].path.as_str()), (1, "defaults.session.ecn"), "{errors}");
}

#[test]
fn names_are_checked() {
    let clash = errors("[flows.tcp]", "[flows.elm]");
    assert!(clash.to_string().contains("the same name as one of `elm`"), "{clash}");
    assert!(only("[flows.tcp]", "[flows.\"t@p\"]").1.contains("cannot be used"));
    let more = |text: &str| only("[flows.tcp]", &format!("{text}\n[flows.tcp]")).1;
    assert!(more("[groups]\na = [\"elm@R2\", \"elm@R2\"]").contains("in the group already"));
    assert!(more("[groups]\na = [\"udp-*@R2\"]").contains("no flow is called"));
    assert!(more("[paper.\"tcp-1@R1\"]\nlevel_changes = 3").contains("only a receiver of a session"));
    assert!(more("[paper.\"elm@R2\"]\njain_index = 1").contains("only a group"));
    assert!(more("[paper.\"elm@R2\"]\nthroughput_kbps = \"some\"").contains("is not allowed"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), set in any::<String>()) {
        if let Err(errors) = read("any", &text, &[set], &Catalogue::of::<Registry>()) {
            prop_assert!(!errors.0.is_empty());
            prop_assert!(!errors.to_string().is_empty());
        }
    }

    /// Correct files with a piece put elsewhere reach far more of the reader than noise does.
    #[test]
    fn spoilt_files_never_panic(
        which in 0..BUILT_IN.len(),
        from in any::<prop::sample::Index>(),
        length in 0..30_usize,
        to in any::<prop::sample::Index>(),
        piece in prop_oneof![
            Just(None),
            prop::sample::select(vec!["3", "\"", "{}", "[]", "= ", "\n", "[", "\"1 s\"", "µ", "-1e400", "."])
                .prop_map(Some),
        ],
        set in "(link|session|flow|defaults|paper|duration|group)(\\.[a-zA-Z0-9_-]{0,6}){0,3}=[ -~]{0,9}",
    ) {
        let text = BUILT_IN[which].text;
        let start = from.index(text.len());
        let end = (start + length).min(text.len());
        let moved = piece.unwrap_or(&text[start..end]);
        let mut spoilt = format!("{}{}", &text[..start], &text[end..]);
        spoilt.insert_str(to.index(spoilt.len() + 1), moved);
        if let Err(errors) = read("spoilt", &spoilt, &[set], &Catalogue::of::<Registry>()) {
            prop_assert!(!errors.0.is_empty());
            for error in &errors.0 {
                prop_assert!(error.line >= 1 && error.column >= 1 && error.width >= 1);
            }
        }
    }
}
