//! Links that change, as files give them.

use layercast_core::units::{Duration, Rate, Time};

use layercast_protocols::registry::Registry;

use crate::scenario::Catalogue;
use crate::scenario::testing::{SMALL, read_text, root};
use crate::scenario::{LinkChange, LinkPlan, LossModel, LossPlace, Outage, read};

/// The small scenario with one link as given, read as a file of the project's root.
fn link(keys: &str) -> Result<LinkPlan, String> {
    let text = SMALL.replace(r#"G-R2 = { rate = "6 Mbit/s" }"#, &format!("G-R2 = {{ {keys} }}"));
    assert_ne!(text, SMALL);
    let name = root().join("test.toml");
    let scenario = read(name.to_str().unwrap(), &text, &[], &Catalogue::of::<Registry>());
    scenario.map(|scenario| scenario.links[2].clone()).map_err(|errors| errors.to_string())
}

#[track_caller]
fn refused(keys: &str, why: &str) {
    let reported = link(keys).unwrap_err();
    assert!(reported.contains(why), "{reported}");
}

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

#[test]
fn changes_reach_both_directions() {
    let link = link(
        r#"changes = [{ at = "1 s", rate = "2 Mbit/s" }, { at = "2 s", delay = "5 ms", rate_backward = "1 Mbit/s" },
                      { at = "3 s", delay_backward = "7 ms" }, { at = "3 s", loss = 0.1 }],
           changes_repeat = "4 s", avoid_reordering = true"#,
    )
    .unwrap();
    let at = |s| LinkChange { at: seconds(s), ..LinkChange::default() };
    let rate = |mbps| Some(Rate::from_mbps(mbps));
    let delay = |ms| Some(Duration::from_ms(ms));
    let loss = |model| LinkChange { loss: Some((model, LossPlace::BeforeQueue)), ..at(3) };
    let forward = vec![
        LinkChange { rate: rate(2.0), ..at(1) },
        LinkChange { delay: delay(5), ..at(2) },
        loss(LossModel::Bernoulli(0.1)),
    ];
    let backward = vec![
        LinkChange { rate: rate(2.0), ..at(1) },
        LinkChange { rate: rate(1.0), delay: delay(5), ..at(2) },
        LinkChange { delay: delay(7), ..at(3) },
        loss(LossModel::None),
    ];
    for (direction, changes) in [(link.forward, forward), (link.backward, backward)] {
        let variation = direction.variation;
        assert_eq!(variation.changes, changes);
        assert_eq!((variation.repeat, variation.avoid_reordering), (Some(Duration::from_secs(4)), true));
        assert_eq!(variation.check(), Ok(()));
    }
}

#[test]
fn outages_hold_for_both_directions() {
    let link = link(r#"down = [["1 s", "2 s"], ["5 s", "9 s"]], down_queue = "flush""#).unwrap();
    let outage = |start, end| Outage { start: seconds(start), end: seconds(end) };
    for direction in [link.forward, link.backward] {
        assert_eq!(direction.variation.outages, [outage(1, 2), outage(5, 9)]);
        assert!(direction.variation.flushes_queue);
    }
    assert!(read_text(SMALL, &[]).unwrap().links.iter().all(|link| link.forward.variation.is_nothing()));
}

#[test]
fn a_trace_is_found_next_to_the_file_and_stands_for_the_rate() {
    let both = r#"trace = "fixtures/traces/small.down", trace_backward = "fixtures/traces/small.down""#;
    let link = link(both).unwrap();
    // Five opportunities in 10 ms.
    for direction in [link.forward, link.backward] {
        let trace = direction.variation.trace.unwrap();
        assert_eq!(trace.times_ms(), [1, 2, 2, 7, 10]);
        assert_eq!(direction.rate, trace.mean_rate());
        assert!((direction.rate.as_bps() - 6e6).abs() < 1e-3);
    }
}

#[test]
fn a_rate_is_needed_where_no_trace_says_when() {
    let without_rate =
        SMALL.replace("rate = \"100 Mbit/s\"\n", "").replace("S-G = {", "S-G = { rate = \"1 Mbit/s\",");
    let reported = |keys: &str| {
        let text = without_rate
            .replace("G-R1 = {}", "G-R1 = { rate = \"1 Mbit/s\" }")
            .replace(r#"G-R2 = { rate = "6 Mbit/s" }"#, &format!("G-R2 = {{ {keys} }}"));
        let name = root().join("test.toml");
        read(name.to_str().unwrap(), &text, &[], &Catalogue::of::<Registry>())
            .map_err(|errors| errors.to_string())
    };
    let trace = r#"trace = "fixtures/traces/small.down""#;
    let refused = reported(trace).unwrap_err();
    assert!(
        refused.contains("`rate_backward` is missing") && refused.contains("`trace_backward`"),
        "{refused}"
    );
    let backward = |reported: crate::scenario::Scenario| reported.links[2].backward.rate;
    assert_eq!(
        backward(reported(&format!("{trace}, rate_backward = \"2 Mbit/s\"")).unwrap()),
        Rate::from_mbps(2.0)
    );
    assert_eq!(backward(reported(&format!("{trace}, rate = \"3 Mbit/s\"")).unwrap()), Rate::from_mbps(3.0));
}

#[test]
fn wrong_changes_are_refused() {
    refused(r#"changes = [{ rate = "2 Mbit/s" }]"#, "`at` is missing");
    refused(r#"changes = [{ at = "2 s" }]"#, "this changes nothing");
    refused(r#"changes = [{ at = "2 s", rate = "0 Mbit/s" }]"#, "a rate above zero");
    refused(r#"changes = [{ at = "2 s", rate_backwards = "1 Mbit/s" }]"#, "did you mean `rate_backward`?");
    refused(r#"changes = []"#, "a list such as [{ at =");
    refused(
        r#"changes = [{ at = "2 s", delay = "1 ms" }, { at = "1 s", delay = "2 ms" }]"#,
        "the change at 1 s comes after that at 2 s",
    );
    let once = r#"changes = [{ at = "2 s", delay = "1 ms" }]"#;
    refused(&format!("{once}, changes_repeat = \"2 s\""), "repeat after 2 s, but the last is at 2 s");
    refused(r#"changes_repeat = "2 s""#, "there is nothing to repeat");
}

#[test]
fn wrong_outages_are_refused() {
    refused(r#"down = [["2 s", "2 s"]]"#, "it ends when it begins");
    refused(r#"down = [["2 s", "1 s"]]"#, "the range ends before it begins");
    refused(r#"down = [["1 s", "3 s"], ["3 s", "4 s"]]"#, "after the end of the one before");
    refused(r#"down = ["1 s", "3 s"]"#, "two times");
    refused(r#"down_queue = "flush""#, "the link is never down");
}

#[test]
fn wrong_traces_are_refused() {
    refused(r#"trace = "fixtures/traces/absent""#, "the trace `fixtures/traces/absent` cannot be used");
    refused(r#"trace = "fixtures/traces/falling.down""#, "line 3 is earlier than the line before");
    refused(
        r#"trace = "fixtures/traces/small.down", changes = [{ at = "1 s", rate = "1 Mbit/s" }]"#,
        "the link has no `rate`, since `trace` says when it delivers",
    );
}

#[test]
fn a_file_of_rates_adds_to_the_changes() {
    let link = link(
        r#"rates = "fixtures/traces/rates", changes = [{ at = "2 s", delay = "1 ms" }], changes_repeat = "5 s""#,
    )
    .unwrap();
    for direction in [link.forward, link.backward] {
        let changes = &direction.variation.changes;
        let at: Vec<(Time, Option<Rate>)> = changes.iter().map(|change| (change.at, change.rate)).collect();
        let rate = |mbps| Some(Rate::from_mbps(mbps));
        assert_eq!(at, [(seconds(1), rate(2.0)), (seconds(2), None), (seconds(3), rate(4.0))]);
        assert_eq!(direction.variation.repeat, Some(Duration::from_secs(5)));
    }
    refused(r#"rates = "fixtures/traces/rates", changes_repeat = "3 s""#, "but the last is at 3 s");
    refused(r#"rates = "fixtures/traces/small.down""#, "line 1 is not a time and a rate");
    let traced = r#"trace = "fixtures/traces/small.down""#;
    refused(&format!(r#"{traced}, rates = "fixtures/traces/rates""#), "the link has no rate to change");
}
