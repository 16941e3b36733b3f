//! Old names of keys and options are answered with the new ones, once and at their places.

use crate::scenario::ScenarioError;
use crate::scenario::testing::{SMALL, read_text};

/// The only error of a text and its overrides.
fn only(text: &str, overrides: &[&str]) -> ScenarioError {
    let mut errors = read_text(text, overrides).unwrap_err();
    assert_eq!(errors.0.len(), 1, "{errors}");
    errors.0.remove(0)
}

fn flid(options: &str) -> String {
    SMALL.replace("protocol = \"elm\"", &format!("protocol = \"flid-sl\"{options}"))
}

#[test]
fn a_renamed_key_is_answered_in_a_file() {
    let text =
        format!("{SMALL}size = {{ law = \"pareto\", mean = \"20 kB\", shape = 1.3 }}\ngap = \"1 s\"\n");
    let error = only(&text, &[]);
    assert_eq!(error.message, "`law` is now `distribution`");
    assert_eq!((error.line, error.column), (text.lines().count() - 1, 10));
    let model = "{ model = \"two-state\", good_length = 900, bad_length = 7, law = \"constant\" }";
    let error = only(&SMALL.replace("loss = 0.01", &format!("loss = {{ forward = {model} }}")), &[]);
    assert_eq!(error.message, "`law` is now `distribution`");
}

#[test]
fn a_renamed_option_is_answered_in_a_file() {
    let text = flid("\noptions = { rises = \"list\", deaf = \"1 s\" }");
    let error = only(&text, &[]);
    assert_eq!(error.message, "`rises` is now `increase_probabilities`");
    assert_eq!((error.path.as_str(), error.column), ("sessions.elm.options.rises", 13));
    let error = only(&flid("\noptions = { rise_list = \"0.5, 0\" }"), &[]);
    assert_eq!(error.message, "`rise_list` is now `increase_probability_list`");
}

#[test]
fn a_renamed_name_is_answered_in_an_override() {
    for (set, column) in [("session.elm.rises=\"list\"", 13), ("session.elm.options.rises=\"list\"", 1)] {
        let error = only(&flid(""), &[set]);
        assert_eq!(error.message, "`rises` is now `increase_probabilities`");
        assert_eq!((error.origin.as_str(), error.line, error.column), ("--set", 1, column));
    }
    let error = only(SMALL, &["flow.tcp.size.law=\"pareto\""]);
    assert_eq!((error.message.as_str(), error.column), ("`law` is now `distribution`", 15));
    // Where nothing has the new name, the old one is as unknown as any other.
    assert!(only(SMALL, &["session.elm.law=1"]).message.contains("has a key `law`"));
}
