//! The traffic library, from a file to what is said of it.

use crate::running::{Ran, run_text};
use layercast_laboratory::compare::{self, CompareRequest, Comparison};
use layercast_laboratory::results::{Statistic, report, table};
use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;

/// All four kinds on a link of so many Mbit/s and 10 ms, without competition except each other.
fn scenario(mbps: f64, more: &str) -> String {
    format!(
        "name = \"All kinds\"\nduration = \"200 s\"\nreplications = 3\nwindows = [[\"100 s\", \"end\"]]\n\
         [defaults.flow]\nprotocol = \"tcp-cubic\"\nfrom = \"S\"\nto = \"R\"\n[links]\n\
         S-R = {{ rate = \"{mbps} Mbit/s\", delay = \"10 ms\", queue = {{ kind = \"codel\", limit = \"200 packets\" }} }}\n\
         [flows]\nweb = {{ traffic = \"web\", page = \"200 kB\", reading = \"5 s\", count = 2 }}\n\
         film = {{ traffic = \"video\", ladder = \"500 kbit/s, 1 Mbit/s, 2 Mbit/s\", reservoir = \"10 s\", cushion = \"20 s\", \
         buffer = \"40 s\" }}\n\
         file = {{ traffic = \"download\", file = \"100 kB\" }}\n\
         phone = {{ traffic = \"call\" }}\n{more}"
    )
}

fn mean(statistic: &Statistic) -> f64 {
    statistic.mean.unwrap()
}

fn all_kinds() -> Ran {
    run_text("kinds.toml", &scenario(20.0, ""), &[])
}

#[test]
fn each_kind_has_its_measures_and_no_other() {
    let ran = all_kinds();
    let names = ["web-1@R", "film@R", "file@R", "phone@R"];
    let has = names.map(|name| {
        let flow = ran.flow(name);
        (flow.transfers.is_some(), flow.video.is_some(), flow.call.is_some(), flow.limited.is_some())
    });
    let expected = [
        (true, false, false, true),
        (false, true, false, true),
        (true, false, false, true),
        (false, false, true, false),
    ];
    assert_eq!(has, expected);
    // A page of 200 kB at the median waits for its round trips, and not much longer on an idle link.
    let web = ran.flow("web-1@R");
    let page_s = mean(web.completion_s.as_ref().unwrap());
    assert!((0.2..1.5).contains(&page_s), "{page_s}");
    let film = ran.flow("film@R").video.as_ref().unwrap();
    assert_eq!((mean(&film.rebuffering), mean(&film.video_kbps)), (0.0, 2000.0));
    assert!((0.04..1.0).contains(&mean(&film.startup_s)));
    // 10 ms, 0.08 ms for the packet, and what waits before it.
    let phone = ran.flow("phone@R").call.as_ref().unwrap();
    let delay_ms = mean(&phone.delay_ms);
    assert!((10.08..20.0).contains(&delay_ms) && mean(&phone.delay_p99_ms) > delay_ms, "{delay_ms}");
    assert_eq!(mean(&phone.over_150ms), 0.0);
    assert!((mean(&ran.flow("phone@R").throughput_kbps) - 80.0).abs() < 0.2);
}

#[test]
fn files_tables_and_reports_have_the_measures() {
    let ran = all_kinds();
    let json = ran.summary.to_json();
    let again = layercast_laboratory::results::Summary::from_json(&json).unwrap();
    assert_eq!(again, ran.summary);
    for key in ["rebuffering", "video_kbps", "startup_s", "delay_ms", "delay_p99_ms", "over_150ms"] {
        assert_eq!(json.matches(&format!("\"{key}\"")).count(), 1, "one flow has {key}");
    }
    let text = table::render(&ran.outcome.experiment, &ran.summary, table::WIDTH);
    for heading in ["seen by users", "2000 kbit/s, stalled 0.00 %", " ms, 99 % in ", "s each"] {
        assert!(text.contains(heading), "{heading}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= table::WIDTH), "{text}");
    let page = report::html(&ran.outcome.experiment, &ran.outcome.replications, &ran.summary).unwrap();
    for heading in [
        "Video, kbit/s",
        "Stalled",
        "Began after, s",
        "Delay, ms",
        "99 % of packets under, ms",
        "Over 150 ms",
    ] {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn many_flows_are_aggregated_with_their_measures() {
    let ran = run_text(
        "kinds.toml",
        &scenario(40.0, ""),
        &["flow.web.count=20", "flow.phone.count=5", "duration=120 s"],
    );
    let page = report::html(&ran.outcome.experiment, &ran.outcome.replications, &ran.summary).unwrap();
    for heading in ["Most stalled", "Longest delay", "Slowest, s"] {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn a_comparison_says_what_happens_to_each_kind() {
    let session = "[sessions.fixed]\nprotocol = \"fixed\"\nsource = \"S\"\nreceivers = [\"R\"]\n\
                   layers = { scheme = \"doubling\", base = \"500 kbit/s\", count = 5 }\noptions = { level = 3 }\n";
    let request = CompareRequest {
        id: "kinds.toml".to_owned(),
        text: scenario(5.0, session),
        protocols: vec!["fixed".to_owned()],
        ..CompareRequest::default()
    };
    let prepared = compare::read(&request, &Catalogue::of::<Registry>()).unwrap();
    let results = compare::run_all::<Registry>(prepared, Some(2), &|_, _| {}).unwrap();
    let comparison = Comparison::new(&results, "", None).unwrap();
    let row = &comparison.protocols[0];
    let kinds: Vec<(&str, &str, bool)> = row
        .effects
        .iter()
        .map(|effect| (effect.kind.as_str(), effect.metric, effect.is_in_points()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("web pages", "completion_s", false),
            ("video", "video_kbps", false),
            ("video", "rebuffering", true),
            ("file downloads", "completion_s", false),
            ("calls", "delay_ms", false),
            ("calls", "loss_rate", true),
        ]
    );
    // 4 of 5 Mbit/s at a constant rate: everything else is slower.
    for words in [
        "web pages",
        "% slower",
        "video",
        "lower rate",
        "file downloads",
        "calls: delay from",
        "calls: loss from",
    ] {
        assert!(row.verdict.contains(words), "{words}: {}", row.verdict);
    }
    assert!(row.harm_percent.mean.unwrap() > 0.0);
    let text = compare::table::render(&comparison, 80);
    assert!(text.contains("points"), "{text}");
}
