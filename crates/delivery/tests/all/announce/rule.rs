//! Rules for sessions.

use layercast_delivery::announce::rule::{Rule, RuleError};
use proptest::prelude::*;

const KEY: [u8; 32] = [0; 32];
const KEY_TEXT: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn is_match(rule: &str, name: &str) -> bool {
    rule.parse::<Rule>().unwrap().matches(name, None)
}

#[test]
fn names_match_globs() {
    for (rule, name, wanted) in [
        ("*", "anything", true),
        ("news", "news", true),
        ("news", "newsroom", false),
        ("news*", "newsroom", true),
        ("*room", "newsroom", true),
        ("n*o*m", "newsroom", true),
        ("n*o*x", "newsroom", false),
        ("?ews", "news", true),
        ("?ews", "ews", false),
        ("*é?", "café!", true),
        ("a\\*b", "a*b", true),
        ("a\\*b", "axb", false),
        ("**", "", true),
        ("name=a*", "ab", true),
    ] {
        assert_eq!(is_match(rule, name), wanted, "{rule} on {name}");
    }
}

#[test]
fn a_key_must_have_signed() {
    let rule: Rule = format!("key={KEY_TEXT},name=news*").parse().unwrap();
    assert!(rule.matches("newsroom", Some(&KEY)));
    assert!(!rule.matches("newsroom", None));
    assert!(!rule.matches("newsroom", Some(&[1; 32])));
    assert!(!rule.matches("sports", Some(&KEY)));
    let rule: Rule = format!("key={KEY_TEXT}").parse().unwrap();
    assert!(rule.matches("sports", Some(&KEY)));
}

#[test]
fn wrong_rules_are_named() {
    assert_eq!("".parse::<Rule>(), Err(RuleError::Empty));
    assert_eq!("key=abc".parse::<Rule>(), Err(RuleError::Key("abc".into())));
    assert_eq!(format!("key={KEY_TEXT},").parse::<Rule>(), Err(RuleError::Empty));
    assert_eq!("a\\".parse::<Rule>(), Err(RuleError::Escape));
    assert_eq!("a".repeat(256).parse::<Rule>(), Err(RuleError::Long));
}

/// The definition, in exponential time.
fn by_definition(glob: &[char], text: &[char]) -> bool {
    match (glob, text) {
        ([], text) => text.is_empty(),
        (['*', glob @ ..], text) => (0..=text.len()).any(|skip| by_definition(glob, &text[skip..])),
        (['?', glob @ ..], [_, text @ ..]) => by_definition(glob, text),
        ([c, glob @ ..], [d, text @ ..]) => c == d && by_definition(glob, text),
        (_, []) => false,
    }
}

proptest! {
    #[test]
    fn globs_match_as_defined(glob in "[ab*?]{1,8}", text in "[ab]{0,10}") {
        let (pattern, chars): (Vec<_>, Vec<_>) = (glob.chars().collect(), text.chars().collect());
        prop_assert_eq!(is_match(&glob, &text), by_definition(&pattern, &chars));
    }

    #[test]
    fn what_is_printed_is_read(text in "\\PC{0,40}", key in any::<bool>()) {
        let text = if key { format!("key={KEY_TEXT},{text}") } else { text };
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string().parse(), Ok(rule));
        }
    }
}
