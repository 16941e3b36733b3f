//! Comparisons: each protocol gets the same network and traffic, and the rows are what its runs did.

use std::sync::LazyLock;

use layercast_laboratory::compare::against::{self, Against, Version};
use layercast_laboratory::compare::{self, Candidate, CompareRequest, Comparison, Prepared, Results};
use layercast_laboratory::results::Summary;
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scenario::catalogue;
use layercast_protocols::registry::Registry;

fn request(scenario: &str, protocols: &[&str]) -> CompareRequest {
    let source = catalogue::load(scenario).unwrap();
    CompareRequest {
        id: source.name,
        text: source.text,
        overrides: vec!["duration=60 s".to_owned()],
        protocols: protocols.iter().map(|name| (*name).to_owned()).collect(),
        replications: Some(2),
        ..CompareRequest::default()
    }
}

fn prepare(request: &CompareRequest) -> Prepared {
    compare::read(request, &Catalogue::of::<Registry>()).unwrap()
}

fn read(request: &CompareRequest) -> Vec<Candidate> {
    prepare(request).candidates
}

fn run(request: &CompareRequest) -> Results {
    compare::run_all::<Registry>(prepare(request), Some(2), &|_, _| {}).unwrap()
}

/// A scenario of so many sites behind links of 1 to 3 Mbit/s, each with a download and, at the first, short transfers.
fn sites(count: usize) -> String {
    let names: Vec<String> = (1..=count).map(|site| format!("\"SITE{site:02}\"")).collect();
    let names = names.join(", ");
    let link = |site: usize| {
        format!(
            "G-SITE{site:02} = {{ rate = \"{} Mbit/s\", delay = \"10 ms\", queue = {{ limit = \"20 packets\" }} }}\n",
            1 + site % 3
        )
    };
    let links: String = (1..=count).map(link).collect();
    format!(
        "name = \"Sites\"\nduration = \"40 s\"\nreplications = 3\nwindows = [[\"10 s\", \"end\"]]\n[links]\n\
         S-G = {{ rate = \"100 Mbit/s\", delay = \"1 ms\", queue = {{ limit = \"500 packets\" }} }}\n{links}\
         [sessions.dist]\nprotocol = \"elm\"\nsource = \"S\"\nreceivers = [{names}]\n\
         layers = {{ scheme = \"doubling\", base = \"64 kbit/s\", count = 5 }}\n\
         [flows.dl]\nprotocol = \"tcp-sack\"\nprofile = \"ns2\"\nfrom = \"S\"\nto = [{names}]\noverhead = \"2 ms\"\n\
         [flows.web]\nprotocol = \"tcp-sack\"\nprofile = \"ns2\"\nfrom = \"S\"\nto = \"SITE01\"\ncount = 3\noverhead = \"2 ms\"\n\
         size = \"20 kB\"\narrivals = {{ distribution = \"exponential\", mean = \"1 s\" }}\n"
    )
}

fn at_sites(count: usize, protocols: &[&str]) -> CompareRequest {
    CompareRequest {
        id: "sites.toml".to_owned(),
        text: sites(count),
        protocols: protocols.iter().map(|name| (*name).to_owned()).collect(),
        ..CompareRequest::default()
    }
}

/// What the table and the report show.
static MANY_SITES: LazyLock<Results> = LazyLock::new(|| run(&at_sites(25, &["elm", "rlc"])));

/// Without the processor time, the only number that differs from run to run.
fn without_cpu(mut comparison: Comparison) -> Comparison {
    for row in &mut comparison.protocols {
        row.cpu_ms_per_s = None;
    }
    comparison
}

fn message(request: &CompareRequest) -> String {
    let error = compare::read(request, &Catalogue::of::<Registry>()).unwrap_err();
    assert!(error.is_input());
    error.to_string()
}

#[test]
fn rows_are_what_the_runs_did() {
    let results = run(&request("thesis/simulation-3-elm", &["elm", "rlc", "fixed"]));
    let ran = &results.ran;
    let comparison = Comparison::new(&results, "layercast compare", None).unwrap();
    assert_eq!(comparison.bottlenecks, ["G2-R1", "G2-R2", "G3-R3"]);
    for (row, ran) in comparison.protocols.iter().zip(ran) {
        let flow = |name: &str| ran.summary.flows.iter().find(|flow| flow.name == name).unwrap();
        let at = |node: &str| flow(&format!("elm@{node}")).measures.throughput_kbps.mean.unwrap();
        let mean = (at("R1") + at("R2") + at("R3")) / 3.0;
        assert!((row.throughput_kbps.mean.unwrap() - mean).abs() < 1e-6 * mean, "{}", row.protocol);
        let tcp: Vec<f64> = (1..=4)
            .map(|number| flow(&format!("tcp-{number}@R1")).measures.throughput_kbps.samples[0].unwrap())
            .collect();
        let own = flow("elm@R1").measures.throughput_kbps.samples[0].unwrap();
        let share = row.receivers[0].share_of_tcp.samples[0].unwrap();
        assert!((share - own * 4.0 / tcp.iter().sum::<f64>()).abs() < 1e-9, "{}", row.protocol);
        assert!(row.utilisation.mean.unwrap() > 0.9, "TCP fills the bottlenecks: {}", row.protocol);
    }
    let [elm, rlc, fixed] = &comparison.protocols[..] else { panic!("three rows") };
    let changes = |row: &compare::Row| row.level_changes_per_min.mean.unwrap();
    assert!(changes(rlc) > 10.0 * changes(elm).max(1.0), "{} and {}", changes(rlc), changes(elm));
    assert!(rlc.channel_joins_per_s.mean.unwrap() > 0.1);
    assert!(rlc.own_lost_per_event.mean.unwrap() >= 0.0 && rlc.others_lost_per_event.mean.unwrap() >= 0.0);
    assert_eq!((changes(fixed), fixed.own_lost_per_event.mean), (0.0, None), "it causes nothing");
    for width in [80, 120] {
        let text = compare::table::render(&comparison, width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }

    let directory = std::env::temp_dir().join(format!("layercast-compare-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let written = compare::write_all(&directory, &results, &comparison).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(written.comparison).unwrap()).unwrap();
    assert_eq!((&json["schema"], &json["protocols"][1]["protocol"]), (&1.into(), &"rlc".into()));
    let alone = std::fs::read_to_string(directory.join("rlc/summary.json")).unwrap();
    assert_eq!(Summary::from_json(&alone).unwrap().flows, ran[1].summary.flows);
    assert!(std::fs::read_to_string(written.report).unwrap().contains("href=\"rlc/report.html\""));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn options_belong_to_their_own_protocol() {
    let mut request = request("thesis/simulation-1-naive", &["elm", "rlc", "webrc"]);
    request.with = vec![
        "rlc.sp_spacing='320 ms'".to_owned(),
        "webrc.layers={ scheme = \"explicit\", rates = [\"2 Mbit/s\"] }".to_owned(),
    ];
    let candidates = read(&request);
    let session = |index: usize| &candidates[index].plan.sessions[0];
    let base =
        layercast_laboratory::scenario::read(&request.id, &request.text, &[], &Catalogue::of::<Registry>());
    assert_eq!(session(0).protocol, base.unwrap().sessions[0].protocol, "its own protocol keeps its options");
    assert_eq!(session(1).protocol.name(), "rlc");
    assert_eq!(session(1).protocol.get_option("sp_spacing").as_deref(), Some("320 ms"));
    assert_eq!(session(2).layers.count(), 1);
    assert_eq!(session(1).layers, session(0).layers);
}

#[test]
fn mistakes_are_named() {
    let wrong = |change: fn(&mut CompareRequest)| {
        let mut request = request("thesis/simulation-2", &["elm", "rlc"]);
        change(&mut request);
        message(&request)
    };
    assert!(wrong(|request| request.protocols.push("abc".to_owned())).contains("no protocol `abc`"));
    assert!(wrong(|request| request.protocols.push("elm".to_owned())).contains("`elm` is asked for twice"));
    let session = wrong(|request| request.sessions.push("abc".to_owned()));
    assert!(session.contains("no session `abc`") && session.contains("elm"), "{session}");
    assert!(wrong(|request| request.with.push("tfrc.q=1".to_owned())).contains("PROTOCOL.OPTION=VALUE"));
    let option = wrong(|request| request.with.push("rlc.abc=1".to_owned()));
    assert!(option.contains("no option `abc`") && option.contains("with \"rlc\""), "{option}");
    let receivers = wrong(|request| request.protocols.push("tfrc".to_owned()));
    assert!(receivers.contains("cannot have 3 receivers"), "{receivers}");
}

#[test]
fn each_version_of_tcp_stands_beside_each_protocol() {
    let mut request = request("thesis/simulation-4-elm", &["elm", "fixed"]);
    request.with = vec!["fixed.level=2".to_owned()];
    let versions = ["tcp-reno".to_owned(), "tcp-vegas".to_owned()];
    let requests = against::requests(&request, &versions, &Catalogue::of::<Registry>()).unwrap();
    let compared = versions.iter().zip(&requests).map(|(tcp, request)| {
        let candidates = read(request);
        assert!(candidates.iter().all(|one| one.plan.flows.iter().all(|flow| flow.protocol() == *tcp)));
        Version { tcp: tcp.clone(), comparison: Comparison::new(&run(request), "", None).unwrap() }
    });
    let against = Against::new(compared.collect(), "layercast compare");
    let share = |version: usize, protocol: usize| {
        against.versions[version].comparison.protocols[protocol].share_of_tcp.mean.unwrap()
    };
    // Without congestion Vegas takes what Reno takes and more, since single losses cost it less.
    assert!(share(0, 1) > share(1, 1), "{} against Reno, {} against Vegas", share(0, 1), share(1, 1));
    let text = against::render(&against, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let line = text.lines().find(|line| line.starts_with("fixed")).unwrap();
    // Two replications have no interval: each cell is their range, with the mean in the middle.
    let reported: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse::<f64>().ok()).collect();
    assert!((reported[0] + reported[1] - 2.0 * share(0, 1)).abs() < 0.02, "{text}");
    assert!((reported[2] + reported[3] - 2.0 * share(1, 1)).abs() < 0.02, "{text}");

    let directory = std::env::temp_dir().join(format!("layercast-against-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (report, numbers) = against::write(&directory, &against).unwrap();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(numbers).unwrap()).unwrap();
    assert_eq!(json["versions"][1]["comparison"]["protocols"][1]["protocol"], "fixed");
    let page = std::fs::read_to_string(report).unwrap();
    for part in [
        "href=\"tcp-vegas/report.html\"",
        "<dt>Seed</dt>",
        "<dt>Replications of each</dt><dd>2</dd>",
        "<dt>Measured over</dt>",
        "class=\"bars\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn mistakes_in_versions_of_tcp_are_named() {
    let wrong = |scenario: &str, versions: &[&str]| {
        let versions: Vec<String> = versions.iter().map(|version| (*version).to_owned()).collect();
        let error = against::requests(&request(scenario, &["elm"]), &versions, &Catalogue::of::<Registry>());
        let error = error.unwrap_err();
        assert!(error.is_input());
        error.to_string()
    };
    let unknown = wrong("thesis/simulation-2", &["tcp-abc"]);
    assert!(unknown.contains("no version of TCP `tcp-abc`") && unknown.contains("tcp-cubic"), "{unknown}");
    assert!(wrong("thesis/simulation-2", &["udp"]).contains("`udp`"));
    assert!(wrong("thesis/simulation-2", &["tcp-bbr", "tcp-bbr"]).contains("asked for twice"));
    assert!(wrong("flid/many-receivers", &["tcp-bbr"]).contains("has no TCP"));
}

#[test]
fn the_effect_on_other_traffic_is_the_change_from_a_run_without_multicast() {
    let results = run(&at_sites(3, &["elm"]));
    let comparison = Comparison::new(&results, "", None).unwrap();
    let baseline = &results.baseline.as_ref().unwrap().summary;
    assert!(baseline.flows.iter().all(|flow| flow.session.is_none()), "no receiver is left");
    let [downloads, transfers] = &comparison.protocols[0].effects[..] else { panic!("two kinds") };
    assert_eq!(
        (downloads.kind.as_str(), downloads.metric, downloads.nodes),
        ("tcp-sack downloads", "throughput_kbps", 3)
    );
    assert_eq!(
        (transfers.kind.as_str(), transfers.metric, transfers.nodes),
        ("tcp-sack transfers", "completion_s", 1)
    );
    let of = |summary: &Summary, name: &str| {
        let flow = summary.flows.iter().find(|flow| flow.name == name).unwrap();
        flow.measures.throughput_kbps.samples[1].unwrap()
    };
    let change = |site: &str| {
        let (with, without) = (of(&results.ran[0].summary, site), of(baseline, site));
        (with - without) / without * 100.0
    };
    let expected = (change("dl@SITE01") + change("dl@SITE02") + change("dl@SITE03")) / 3.0;
    assert!((downloads.change_percent.samples[1].unwrap() - expected).abs() < 1e-9);
    assert_eq!(
        compare::shown(&downloads.change_percent),
        compare::Shown::Less,
        "ELM takes a share of each link"
    );
}

#[test]
fn where_nothing_else_is_sent_there_is_no_baseline() {
    assert!(prepare(&request("flid/many-receivers", &["flid-dl"])).baseline.is_none());
}

#[test]
fn every_built_in_scenario_can_be_run_without_its_sessions() {
    for scenario in catalogue::BUILT_IN.iter().map(|built_in| built_in.name) {
        let source = catalogue::load(scenario).unwrap();
        let catalogue = Catalogue::of::<Registry>();
        let plan = layercast_laboratory::scenario::read(&source.name, &source.text, &[], &catalogue).unwrap();
        let Some(session) = plan.sessions.first() else { continue };
        let request = CompareRequest {
            id: source.name,
            text: source.text,
            protocols: vec![session.protocol.name().to_owned()],
            sessions: vec![session.name.clone()],
            ..CompareRequest::default()
        };
        let prepared = prepare(&request);
        assert!(prepared.refused.is_empty(), "{scenario}: {:?}", prepared.refused);
        assert_eq!(prepared.baseline.is_some(), plan.flows.len() + plan.sessions.len() > 1, "{scenario}");
    }
}

#[test]
fn the_table_is_sorted_and_states_what_it_folds() {
    let comparison = without_cpu(Comparison::new(&MANY_SITES, "", None).unwrap());
    let text = compare::table::render(&comparison, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    let more: Vec<&str> = text.lines().filter(|line| line.starts_with("5 more")).collect();
    let number = |line: &str| line.split_whitespace().nth(3).unwrap().parse::<f64>().unwrap();
    let mut means: Vec<f64> =
        comparison.protocols[0].receivers.iter().map(|row| row.share_of_tcp.mean.unwrap()).collect();
    means.sort_by(f64::total_cmp);
    assert!(number(more[0]) <= number(more[1]) && number(more[1]) <= means[24] + 0.01, "{text}");
}

#[test]
fn the_report_shows_every_receiver_of_every_protocol() {
    let comparison = Comparison::new(&MANY_SITES, "", None).unwrap();
    let directory = std::env::temp_dir().join(format!("layercast-sites-{}", std::process::id()));
    let written = compare::write_all(&directory, &MANY_SITES, &comparison).unwrap();
    let page = std::fs::read_to_string(written.report).unwrap();
    for site in 1..=25 {
        let bars = page.matches(&format!("<span>SITE{site:02}</span>")).count();
        assert_eq!(bars, 2, "SITE{site:02} has a bar of each protocol");
    }
    assert!(page.contains("<summary>13 more, all between "), "what is folded is stated");
    assert!(!page.contains("dist@SITE01"), "receivers are not named after the session");
    assert!(directory.join("without-multicast/summary.json").exists());
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_verdict_says_what_showed_it() {
    // A receiver at a fixed rate of half the link leaves little to four TCP flows.
    let mut request = at_sites(1, &["elm", "fixed"]);
    request.with = vec!["fixed.level=4".to_owned()];
    let comparison = Comparison::new(&run(&request), "", Some("fixed")).unwrap();
    let verdict = &comparison.verdict;
    assert_eq!(verdict.best, ["elm"], "{}", verdict.text);
    assert!(
        verdict.text.starts_with("Best: elm, by closeness to an equal share with TCP: "),
        "{}",
        verdict.text
    );
    assert!(verdict.text.contains("a paired difference of"), "{}", verdict.text);
    let elm = &comparison.protocols[0];
    assert!(elm.verdict.contains("tcp-sack downloads") && elm.verdict.contains("% less"), "{}", elm.verdict);
    assert_eq!(comparison.reference, "fixed");
    let closer = elm.differences.iter().find(|one| one.metric == "fair_share_closeness").unwrap();
    assert_eq!(closer.shown, Some(true));
    assert!(comparison.protocols[1].differences.is_empty(), "the reference differs from nothing");

    request.replications = Some(2);
    let verdict = Comparison::new(&run(&request), "", None).unwrap().verdict;
    assert!(
        verdict.best.len() == 2 && verdict.text.starts_with("Nothing is shown: 2 replications"),
        "{verdict:?}"
    );
}

/// Four times what the link carries gets all of it and loses three quarters. Losses of the link itself are not counted.
#[test]
fn who_loses_too_much_is_not_best() {
    let alone = |rate: &str, loss: &str, protocols: &[&str], with: &[&str]| {
        let text = sites(1)
            .split("[flows.dl]")
            .next()
            .unwrap()
            .replace("rate = \"2 Mbit/s\"", &format!("rate = \"{rate}\", loss = {loss}"));
        let with = with.iter().map(|set| (*set).to_owned()).collect();
        let request = CompareRequest { text, with, ..at_sites(1, protocols) };
        Comparison::new(&run(&request), "", None).unwrap()
    };
    let top = ["fixed.level=4"];
    let comparison = alone("250 kbit/s", "0", &["fixed", "cbr"], &top);
    let loss = comparison.protocols[0].loss_rate.mean.unwrap();
    assert!(
        loss > 0.7
            && comparison.protocols[0].throughput_kbps.mean > comparison.protocols[1].throughput_kbps.mean
    );
    let verdict = &comparison.verdict;
    assert_eq!(
        (verdict.best.as_slice(), verdict.lossy.as_slice()),
        (&["cbr".to_owned()][..], &["fixed".to_owned()][..]),
        "{}",
        verdict.text
    );
    assert!(verdict.text.starts_with("Best: cbr. Left out: fixed loses 7"), "{}", verdict.text);
    let none = alone("250 kbit/s", "0", &["fixed"], &top);
    assert!(none.verdict.best.is_empty() && none.reference == "fixed");
    assert!(none.verdict.text.starts_with("None is best: fixed loses 7"), "{}", none.verdict.text);
    for place in ["before-queue", "after-link"] {
        let random =
            format!("{{ forward = {{ model = \"bernoulli\", probability = 0.5, place = \"{place}\" }} }}");
        let random = alone("2 Mbit/s", &random, &["fixed"], &top);
        assert!(random.protocols[0].loss_rate.mean.unwrap() > 0.45);
        assert!(random.protocols[0].queue_loss.unwrap() < 0.01, "{:?}", random.protocols[0].queue_loss);
        assert_eq!(random.verdict.best, ["fixed"]);
    }
}

/// The first link is hardly used, and says nothing of how busy the bottleneck was.
#[test]
fn only_links_that_limit_count_as_used() {
    let request = at_sites(1, &["elm", "rlc"]);
    let comparison = Comparison::new(&run(&request), "", None).unwrap();
    assert_eq!(comparison.bottlenecks, ["G-SITE01"]);
    for row in &comparison.protocols {
        assert!(row.utilisation.mean.unwrap() > 0.9, "{}: {:?}", row.protocol, row.utilisation);
    }
    // A path with room is judged by its fullest link.
    let room =
        sites(1).split("[flows.dl]").next().unwrap().replace("rate = \"2 Mbit/s\"", "rate = \"50 Mbit/s\"");
    let comparison =
        Comparison::new(&run(&CompareRequest { text: room, ..at_sites(1, &["fixed"]) }), "", None).unwrap();
    assert_eq!(comparison.bottlenecks, ["G-SITE01"]);
}

#[test]
fn what_does_the_same_shows_no_difference() {
    // Both send the base layer and nothing else, whatever happens.
    let request = at_sites(1, &["fixed", "cbr"]);
    let comparison = Comparison::new(&run(&request), "", None).unwrap();
    assert!(comparison.refused.is_empty(), "{:?}", comparison.refused);
    assert!(
        comparison.verdict.text.starts_with("No difference is shown between"),
        "{}",
        comparison.verdict.text
    );
}

#[test]
fn all_that_refuse_are_named_at_once() {
    let request = at_sites(3, &["elm", "webrc", "tfrc", "rlc", "cbr"]);
    let text = message(&request);
    insta::assert_snapshot!(text);
    for refused in ["\"webrc\"", "\"tfrc\"", "\"cbr\"", "3 of 5 protocols"] {
        assert!(text.contains(refused), "{text}");
    }

    let prepared = prepare(&CompareRequest { skip_refused: true, ..request });
    let names: Vec<&str> = prepared.candidates.iter().map(|one| one.protocol.as_str()).collect();
    assert_eq!(names, ["elm", "rlc"]);
    let refused: Vec<&str> = prepared.refused.iter().map(|one| one.protocol.as_str()).collect();
    assert_eq!(refused, ["webrc", "tfrc", "cbr"]);
    assert!(
        prepared
            .refused
            .iter()
            .all(|one| !one.reasons.is_empty() && one.reasons.iter().all(|why| why.len() > 20))
    );
}

/// Of an ECN-capable session only the protocols that react to marks are compared, whichever the file names, and the
/// others are listed with the reason.
#[test]
fn protocols_that_ignore_marks_are_left_out_of_an_ecn_capable_session() {
    let request = at_sites(1, &["rlc", "elm", "flid-dl"]);
    for own in ["elm", "rlc"] {
        let text = request.text.replace("protocol = \"elm\"", &format!("protocol = \"{own}\"\necn = true"));
        let prepared = prepare(&CompareRequest { text, ..request.clone() });
        let names: Vec<&str> = prepared.candidates.iter().map(|one| one.protocol.as_str()).collect();
        assert_eq!((names, prepared.baseline.is_some()), (vec!["elm"], true));
        let refused: Vec<&str> = prepared.refused.iter().map(|one| one.protocol.as_str()).collect();
        assert_eq!(refused, ["rlc", "flid-dl"]);
        let reason = &prepared.refused[0].reasons;
        assert!(reason.len() == 1 && reason[0].contains("do not react to marks"), "{reason:?}");
    }
    let set = CompareRequest { overrides: vec!["session.dist.ecn=true".to_owned()], ..request };
    assert_eq!(prepare(&set).refused.len(), 2);
    let own = CompareRequest { with: vec!["rlc.ecn=false".to_owned()], ..set.clone() };
    assert_eq!(prepare(&own).refused.len(), 1, "a setting of its own takes it in");
    // Other refusals still stop the comparison, and so does one of all.
    let with_other =
        CompareRequest { protocols: vec!["elm".to_owned(), "rlc".to_owned(), "tfrc".to_owned()], ..set };
    let text = with_other.text.replace("\"SITE01\"]", "\"SITE01\", \"SITE01\"]");
    assert!(message(&CompareRequest { text, ..with_other.clone() }).contains("\"tfrc\""));
    let none = CompareRequest { protocols: vec!["rlc".to_owned()], ..with_other };
    assert!(message(&none).contains("1 of 1 protocols"));
}

#[test]
fn a_mistake_in_an_option_is_no_refusal() {
    let mut request = at_sites(3, &["elm", "rlc", "abc"]);
    request.with = vec!["rlc.abc=1".to_owned(), "tfrc.q=1".to_owned()];
    request.skip_refused = true;
    let text = message(&request);
    for part in ["no option `abc`", "no protocol `abc`", "`tfrc.q=1` is not an option"] {
        assert!(text.contains(part), "{text}");
    }
    request.with.clear();
    request.protocols = vec!["tfrc".to_owned()];
    assert!(message(&request).contains("1 of 1 protocols"), "nothing is left to compare");
    request.protocols = vec!["elm".to_owned()];
    request.reference = Some("rlc".to_owned());
    assert!(message(&request).contains("the reference `rlc`"));
}
