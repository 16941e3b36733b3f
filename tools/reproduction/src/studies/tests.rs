//! The studies' cases can be read, and the page has a place for each of them.

use super::page::{Placed, Side, with_table};
use super::*;
use crate::samples::Samples;

#[test]
fn the_page_has_a_place_for_each_study() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/studies.md");
    let page = std::fs::read_to_string(path).expect("the page");
    for (name, _) in STUDIES {
        assert!(with_table(&page, name, "| a |\n").is_some(), "{name}");
    }
    assert_eq!(with_table(&page, "another", "| a |\n"), None);
}

#[test]
fn what_lies_on_one_side_is_decided_and_equal_values_are_observed() {
    let placed = |values: &[f64]| Placed::of(&Samples::of(values.iter().copied()), 1.0);
    assert_eq!(placed(&[1.19, 1.2, 1.21]), Placed { side: Side::Above, is_observed: false });
    assert_eq!(placed(&[0.79, 0.8, 0.81]).name(1.0), "below 1.00");
    assert_eq!(placed(&[0.9, 1.1]).side, Side::Open);
    assert_eq!(placed(&[2.0, 2.0]).name(1.0), "above 1.00 (observed)");
    assert_eq!(placed(&[2.0]), Placed { side: Side::Above, is_observed: true });
    assert_eq!(placed(&[]).side, Side::Open);
    assert_eq!(placed(&[2.0]).against(placed(&[1.19, 1.2, 1.21])), "stays");
    assert_eq!(placed(&[0.5]).against(placed(&[2.0])), "**changes**");
}

#[test]
fn every_case_can_be_read() {
    open_values::check().expect("the cases of the open values");
    draws::check().expect("the cases of the draws");
    late_start::check().expect("the cases of late starters");
}
