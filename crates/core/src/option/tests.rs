use alloc::vec;

use super::*;
use crate::choices;
use crate::units::Duration;

choices! {
    /// A colour.
    pub enum Colour {
        /// Red.
        Red = "red",
        /// Green.
        Green = "green",
    }
}

options! {
    /// Some options.
    pub struct Sample {
        /// How heavy.
        weight: f64 = 0.9, 0.0 => 1.0;
        /// How long.
        wait: Duration = Duration::from_secs(25);
        /// Which one.
        colour: Colour = Colour::Red;
        /// Which one instead.
        other: Option<Colour> = None;
        /// How far.
        reach: Option<f64> = None, Above(0.0) => 1.0;
        /// How many.
        count: u32 = 1, 1;
    } fixed {
        /// What no key sets.
        constant: u32 = 7;
    }
}

#[test]
fn sets_by_name_and_keeps_the_old_value_on_error() {
    let mut sample = Sample::default();
    assert_eq!(sample.set("weight", RawValue::Number(0.5)), Ok(()));
    assert_eq!(sample.set("wait", RawValue::Text("250 ms")), Ok(()));
    assert_eq!(sample.set("colour", RawValue::Text("green")), Ok(()));
    assert_eq!(sample.set("height", RawValue::Integer(1)), Err(OptionError::Unknown));
    assert!(matches!(sample.set("weight", RawValue::Number(1.5)), Err(OptionError::Value(_))));
    assert!(matches!(sample.set("colour", RawValue::Text("blue")), Err(OptionError::Value(_))));
    assert_eq!(sample.set("other", RawValue::Text("red")), Ok(()));
    assert!(matches!(sample.set("other", RawValue::Text("blue")), Err(OptionError::Value(_))));
    let other = Some(Colour::Red);
    let (weight, wait) = (0.5, Duration::from_ms(250));
    let expected = Sample { weight, wait, colour: Colour::Green, other, ..Sample::default() };
    assert_eq!(sample, expected);
    assert_eq!(sample.get("wait").as_deref(), Some("250 ms"));
    assert_eq!(sample.get("colour").as_deref(), Some("green"));
    assert_eq!(sample.get("height"), None);
    assert_eq!(sample.set("other", RawValue::Text(BY_PROFILE)), Ok(()));
    assert_eq!(sample, Sample { other: None, ..expected });
}

#[test]
fn text_of_a_command_line_is_what_it_looks_like() {
    assert_eq!(RawValue::from_text("3"), RawValue::Integer(3));
    assert_eq!(RawValue::from_text("0.5"), RawValue::Number(0.5));
    assert_eq!(RawValue::from_text("false"), RawValue::Flag(false));
    assert_eq!(RawValue::from_text("25 s"), RawValue::Text("25 s"));
}

#[test]
fn specs_show_what_a_file_would_hold() {
    let specs = Sample::specs();
    assert_eq!(specs[0].bounds, Some(Bounds { low: "0".into(), is_above: false, high: Some("1".into()) }));
    assert_eq!(specs[1].default, "25 s");
    assert_eq!(specs[2].kind, Kind::Choice(&["red", "green"]));
    assert_eq!(specs[2].doc, "Which one.");
    assert_eq!(specs[3].kind.to_string(), "one of by-profile, red, green");
    assert_eq!(specs[3].default, BY_PROFILE);
    assert_eq!(specs[4].takes(), "\"automatic\" or a number above 0 and up to 1");
    assert_eq!((specs[5].takes().as_str(), specs.len()), ("a whole number of at least 1", 6));
    let own = Sample { reach: Some(0.5), ..Sample::default() };
    assert_eq!((own.option_specs()[4].default.as_str(), own.constant), ("0.5", 7));
}

#[test]
fn bounds_hold_for_what_is_given() {
    let mut sample = Sample::default();
    let set = |sample: &mut Sample, text| sample.set("reach", RawValue::from_text(text));
    assert_eq!(set(&mut sample, "1"), Ok(()));
    for wrong in ["0", "1.1", "-1"] {
        let error = OptionError::Value("must be above 0 and up to 1".into());
        assert_eq!(set(&mut sample, wrong), Err(error));
    }
    assert_eq!(sample.reach, Some(1.0));
    assert_eq!((set(&mut sample, AUTOMATIC), sample.reach), (Ok(()), None));
    // A flag that is not given is left to a profile, as a choice is.
    assert_eq!(Option::<bool>::read(RawValue::Text(BY_PROFILE)), Ok(None));
    assert_eq!((Option::<bool>::KIND, None::<bool>.show().as_str()), (Kind::Flag, BY_PROFILE));
    let error = OptionError::Value("must be at least 1".into());
    assert_eq!(sample.set("count", RawValue::Integer(0)), Err(error));
    let unitless = sample.set("wait", RawValue::Integer(3)).unwrap_err().to_string();
    assert!(unitless.ends_with("it needs a unit, in quotes"), "{unitless}");
}

#[test]
fn numbers_are_read_from_a_text_and_written_back() {
    let read = |text| Numbers::read(RawValue::from_text(text));
    assert_eq!(read("0.9, 1,0 "), Ok(Numbers(vec![0.9, 1.0, 0.0])));
    assert_eq!(read("0.25"), Ok(Numbers(vec![0.25])));
    assert_eq!(read(""), Ok(Numbers::default()));
    assert_eq!(read("0.9, 1, 0").map(|numbers| numbers.show()), Ok("0.9, 1, 0".into()));
    for wrong in ["0.9 1", "a", "1,,2", "inf", "true"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
