//! The experiments at drop-tail queues: of the thesis, FLID-DL, E-FLID-DL, Wei and Zhang, and our own.

use super::experiment::Experiment;

/// All, in the order of the table.
pub(crate) fn all() -> Vec<Experiment> {
    let papers = [competition(), shared_link(), flid(), e_flid(), wei_zhang()].concat();
    [papers, compare(), transport(), open_values()].concat()
}

fn owned(set: &[&str]) -> Vec<String> {
    set.iter().map(|&set| set.to_owned()).collect()
}

/// The names of flows 1 to `count`.
fn numbered(count: u32, name: impl Fn(u32) -> String) -> String {
    (1..=count).map(name).collect::<Vec<_>>().join(" ")
}

/// Simulations 3 and 5 of the thesis: a row for each receiver.
fn competition() -> Vec<Experiment> {
    let scenario = |name: &'static str, session: &str| {
        ["R1", "R2", "R3"].into_iter().fold(Experiment::new(name), |experiment, node| {
            experiment.row(node, &format!("{session}@{node}"), Some(&format!("tcp-*@{node}")))
        })
    };
    let mut all = vec![
        scenario("thesis/simulation-3-elm", "elm"),
        scenario("thesis/simulation-3-rlc", "rlc"),
        scenario("thesis/simulation-5-elm", "elm"),
        scenario("thesis/simulation-5-rlc", "rlc"),
        both(),
    ];
    // Delays by which the places that a train of layers leaves come after another train, as in tools/validation.
    let longer = ["G2-R1", "G2-R2", "G3-R3"]
        .map(|link| [format!("link.{link}.delay=25 ms"), format!("link.{link}.delay_backward=10 ms")])
        .concat();
    let of = |name, session: &str| scenario(name, session).with("15 ms longer", longer.clone()).off_page();
    all.extend([of("thesis/simulation-3-elm", "elm"), of("thesis/simulation-3-rlc", "rlc")]);
    // In place of ELM, as for the advice which protocol to choose.
    let other = |protocol: &str| {
        let mut set = owned(&[&format!("session.elm.protocol={protocol}")]);
        if protocol == "webrc" {
            set.push("session.elm.layers={ scheme = \"explicit\", rates = [\"8192 kbit/s\"] }".to_owned());
        }
        scenario("thesis/simulation-3-elm", "elm").with(protocol, set)
    };
    all.extend(["rlm", "wei-zhang", "flid-sl", "flid-dl", "smcc", "webrc", "tide"].map(other));
    // In place of ELM a constant rate, 0.85 of an equal share.
    let fixed = |level: u32, node: &str| {
        let set =
            owned(&["session.elm.protocol=fixed", &format!("session.elm.options={{ level = {level} }}")]);
        let name = format!("constant at {node}");
        let experiment = Experiment::new("thesis/simulation-3-elm").with(&name, set);
        experiment.row(node, &format!("elm@{node}"), Some(&format!("tcp-*@{node}")))
    };
    all.extend([fixed(2, "R1"), fixed(3, "R2"), fixed(4, "R3")].map(Experiment::off_page));
    all
}

/// Simulation 5 with ELM and RLC at once, as the thesis states it: what each gets, and Jain's index at R1 of each with the
/// four TCP that last, or with the four of the burst too, which are measured while they last.
fn both() -> Experiment {
    let protocols = ["elm", "rlc"];
    let pairs = ["R1", "R2", "R3"].map(|node| protocols.map(|protocol| (node, protocol))).concat();
    let rates =
        pairs.into_iter().fold(Experiment::new("thesis/simulation-5"), |experiment, (node, protocol)| {
            let label = format!("{protocol} at {node}");
            experiment.row(&label, &format!("{protocol}@{node}"), Some(&format!("tcp-*@{node}")))
        });
    // The scenario's window 2 is that of the burst.
    let indices = protocols.into_iter().fold(rates, |experiment, protocol| {
        let (own, tcps) = (format!("{protocol}@R1"), "tcp-*@R1");
        let five = [(own.as_str(), 0), (tcps, 0)];
        let nine = [five[0], five[1], ("burst-r1-*", 2)];
        let label = |count| format!("{protocol} at R1, index of {count}");
        experiment.index(&label(5), &five).index(&label(9), &nine)
    });
    indices.off_page()
}

/// The shared link of chapters 4 and 5, with 1 to 32 TCP.
fn shared_link() -> Vec<Experiment> {
    let of_tcps = |tcps: u32| {
        let names: Vec<String> = (1..=tcps).map(|tcp| format!("\"T{tcp}\"")).collect();
        let set = vec![
            format!("link.G1-G2.rate={} kbit/s", 1280 * (tcps + 2)),
            format!("link.G1-G2.queue.limit={} bytes", 24_000 * (tcps + 2)),
            format!("flow.tcp.to=[{}]", names.join(", ")),
            "duration=300 s".to_owned(),
        ];
        Experiment::new("thesis/shared-link")
            .with(&format!("N = {tcps}"), set)
            .row("TFRC", "tfrc@R", Some("tcp*@T*"))
            .row("constant", "cbr@R", Some("tcp*@T*"))
    };
    let bias = Experiment::new("thesis/bias-shared").row("TFRC", "tfrc@R", Some("tcp*@T*")).row(
        "constant",
        "cbr@R",
        Some("tcp*@T*"),
    );
    [1, 4, 8, 16].map(of_tcps).into_iter().chain([bias]).collect()
}

/// Sections V-A to V-E of the FLID-DL paper; V-D has random loss and no queue.
fn flid() -> Vec<Experiment> {
    // Without TCP there is no rhythm, and the reading changes little.
    let alone = Experiment::new("flid/one-bottleneck").row("FLID-DL", "flid@R", None).off_page();
    let four = Experiment::new("flid/four-sessions").row("mean of 4", "f*", None).off_page();
    let four_static = Experiment::new("flid/four-sessions")
        .with("static", owned(&["defaults.session.protocol=flid-sl", "defaults.session.options={}"]))
        .row("mean of 4", "f*", None)
        .off_page();
    let hosts = Experiment::new("flid/coordination").row("mean of 100", "flid@R*", None).off_page();
    let beside_tcp = |pairs: u32, each: u32| {
        let mut set = vec![
            format!("flow.tcp.count={pairs}"),
            format!("link.A-B.rate={} kbit/s", 500 * pairs),
            format!("link.A-B.queue.limit={} packets", each * pairs),
        ];
        let session = |number| {
            let start = format!("session.f{number}.start={{ uniform = [\"0 s\", \"5 s\"] }}");
            [start, format!("session.f{number}.stop=100 s")]
        };
        set.extend((2..=pairs).flat_map(session));
        // The sessions above n end at once.
        Experiment::new("flid/beside-tcp").with(&format!("n = {pairs}, {each}n packets"), set).row(
            "mean of n",
            &numbered(pairs, |number| format!("f{number}@R")),
            Some("tcp*@R"),
        )
    };
    vec![alone, four, four_static, hosts, beside_tcp(4, 7), beside_tcp(16, 7), beside_tcp(16, 25)]
}

/// The first experiment of the E-FLID-DL paper, without marks: that with marks has RED.
fn e_flid() -> Vec<Experiment> {
    let of_count = |count: u32| {
        let mut set = vec![
            format!("flow.tcp.count={count}"),
            format!("link.G1-G2.rate={} Mbit/s", 2 * count),
            format!("link.G1-G2.queue.limit={} packets", 5 * count),
        ];
        for number in count + 1..=16 {
            set.extend([format!("session.m{number}.start=0 s"), format!("session.m{number}.stop=1 ms")]);
        }
        Experiment::new("e-flid/fairness-flid").with(&format!("n = {count}"), set).row(
            "mean of n",
            &numbered(count, |number| format!("m{number}@H")),
            Some("tcp*@R"),
        )
    };
    vec![of_count(4), of_count(16)]
}

fn wei_zhang() -> Vec<Experiment> {
    let four = Experiment::new("wei-zhang/four-flows").row("mean of 4", "m*@R*", Some("t*@R*"));
    let alone = Experiment::new("wei-zhang/one-receiver").row("alone", "*@R", None).off_page();
    let of_layers = |base: u32, count: u32| {
        let set = vec![
            format!(
                "defaults.session.layers={{ scheme = \"equal\", base = \"{base} kbit/s\", count = {count} }}"
            ),
            "defaults.session.options.base_interval=160 ms".to_owned(),
        ];
        Experiment::new("wei-zhang/four-flows").with(&format!("160 ms, {base} kbit/s"), set).row(
            "mean of 4",
            "m*@R*",
            Some("t*@R*"),
        )
    };
    vec![four, of_layers(500, 30), of_layers(200, 75), alone]
}

/// Our own comparison, with each layered protocol and TFRC.
fn compare() -> Vec<Experiment> {
    let of_protocol = |protocol: &str| {
        let mut set = owned(&[&format!("session.session.protocol={protocol}")]);
        // As in docs/findings.md: one rate for WEBRC, which makes its own waves of it, and layers that double for three.
        let layers = match protocol {
            "webrc" => "{ scheme = \"explicit\", rates = [\"8192 kbit/s\"] }",
            "smcc" | "rlc" | "rlm" => "{ scheme = \"doubling\", base = \"128 kbit/s\", count = 7 }",
            _ => "{ scheme = \"multiplicative\", base = \"128 kbit/s\", factor = 1.3, count = 16 }",
        };
        set.push(format!("session.session.layers={layers}"));
        Experiment::new("compare/beside-tcp").with(protocol, set).row(protocol, "session@R", Some("tcp-*@R"))
    };
    ["elm", "rlc", "rlm", "wei-zhang", "webrc", "flid-sl", "flid-dl", "smcc", "tide", "tfrc"]
        .map(of_protocol)
        .to_vec()
}

/// What the papers leave open about their TCPs, in the experiments that depend on it.
fn open_values() -> Vec<Experiment> {
    let flid = || flid().into_iter().find(|experiment| experiment.name.ends_with("n = 16, 7n packets"));
    let wei_zhang = || wei_zhang().into_iter().next();
    let tcps: [(&str, &[&str]); 4] = [
        ("TCP of 2000", &["profile=ns2-2000", "window=20"]),
        ("TCP of 2004", &["profile=ns2-2004"]),
        ("window 20", &["window=20"]),
        ("SACK", &["protocol=tcp-sack"]),
    ];
    let changed = |(name, keys): (&str, &[&str])| {
        let set = |table: &str| keys.iter().map(|key| format!("{table}.{key}")).collect::<Vec<_>>();
        let flid = flid().map(|experiment| experiment.with(name, set("flow.tcp")));
        let wei_zhang = wei_zhang().map(|experiment| experiment.with(name, set("defaults.flow")));
        flid.into_iter().chain(wei_zhang).collect::<Vec<_>>()
    };
    let rates = ["1 Mbit/s", "2 Mbit/s", "5 Mbit/s"].map(|rate| {
        // The queue of the paper's 10 Mbit/s, in proportion, which is a tenth of a second; layers up to the rate.
        let mbps = rate.split(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(1.0);
        let above = format!("session.flid.layers.above={} kbit/s", mbps * 1010.0);
        let queue = format!("link.A-B.queue.limit={} packets", (mbps * 12.8).round());
        Experiment::new("flid/one-bottleneck")
            .with(rate, [format!("link.A-B.rate={rate}"), above, queue])
            .row("FLID-DL", "flid@R", None)
    });
    let at_once = Experiment::new("flid/one-bottleneck")
        .with("joins at the boundary", owned(&["session.flid.join_mode=at-boundary"]))
        .row("FLID-DL", "flid@R", None);
    tcps.into_iter().flat_map(changed).chain(rates).chain([at_once]).map(Experiment::off_page).collect()
}

fn transport() -> Vec<Experiment> {
    let rows = |name: &'static str| {
        ["R1", "R2", "R3"].into_iter().fold(Experiment::new(name), |experiment, node| {
            experiment.row(node, &format!("elm@{node}"), None)
        })
    };
    vec![rows("transport/three-links").off_page(), rows("transport/file").off_page()]
}
