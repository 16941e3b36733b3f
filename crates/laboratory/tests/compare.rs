//! Comparisons: each protocol gets the same network and traffic, and the rows are what its runs did.

#![allow(clippy::unwrap_used)]

use layercast_laboratory::compare::against::{self, Against, Version};
use layercast_laboratory::compare::{self, CompareRequest, Comparison, Contender};
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

fn read(request: &CompareRequest) -> Vec<Contender> {
    compare::read(request, &Catalogue::of::<Registry>()).unwrap()
}

fn message(request: &CompareRequest) -> String {
    let error = compare::read(request, &Catalogue::of::<Registry>()).unwrap_err();
    assert!(error.is_input());
    error.to_string()
}

#[test]
fn rows_are_what_the_runs_did() {
    let contenders = read(&request("thesis/simulation-3-elm", &["elm", "rlc", "fixed"]));
    let ran: Vec<_> =
        contenders.into_iter().map(|one| compare::run::<Registry>(one, Some(2), &|_| {}).unwrap()).collect();
    let comparison = Comparison::new(&ran, "layercast compare").unwrap();
    assert_eq!(comparison.bottlenecks, ["G2-R1", "G2-R2", "G3-R3"]);
    for (row, ran) in comparison.protocols.iter().zip(&ran) {
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
    let text = compare::table::render(&comparison);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");

    let directory = std::env::temp_dir().join(format!("layercast-compare-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let written = compare::write_all(&directory, &ran, &comparison).unwrap();
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
    let contenders = read(&request);
    let session = |index: usize| &contenders[index].plan.sessions[0];
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
        let contenders = read(request);
        assert!(contenders.iter().all(|one| one.plan.flows.iter().all(|flow| flow.protocol() == *tcp)));
        let ran: Vec<_> = contenders
            .into_iter()
            .map(|one| compare::run::<Registry>(one, Some(2), &|_| {}).unwrap())
            .collect();
        Version { tcp: tcp.clone(), comparison: Comparison::new(&ran, "").unwrap() }
    });
    let against = Against::new(compared.collect(), "layercast compare");
    let share = |version: usize, protocol: usize| {
        against.versions[version].comparison.protocols[protocol].share_of_tcp.mean.unwrap()
    };
    // Without congestion Vegas takes what Reno takes and more, since single losses cost it less.
    assert!(share(0, 1) > share(1, 1), "{} against Reno, {} against Vegas", share(0, 1), share(1, 1));
    let text = against::render(&against);
    let line = text.lines().find(|line| line.starts_with("fixed")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    // A mean follows a name or another column, half an interval a sign.
    let means = words.windows(2).filter(|pair| pair[0] != "±").filter_map(|pair| pair[1].parse::<f64>().ok());
    let reported: Vec<f64> = means.collect();
    assert!((reported[0] - share(0, 1)).abs() < 0.01 && (reported[1] - share(1, 1)).abs() < 0.01, "{text}");

    let directory = std::env::temp_dir().join(format!("layercast-against-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (report, numbers) = against::write(&directory, &against).unwrap();
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(numbers).unwrap()).unwrap();
    assert_eq!(json["versions"][1]["comparison"]["protocols"][1]["protocol"], "fixed");
    assert!(std::fs::read_to_string(report).unwrap().contains("href=\"tcp-vegas/report.html\""));
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
