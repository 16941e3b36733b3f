//! NCA in the simulator: what a scenario says of routers has an effect, and a session with an end reports when it is
//! complete.

use crate::running::{built_in, read, run_text};
use layercast_laboratory::run::{self, RunRequest};
use layercast_protocols::registry::Registry;

const NAME: &str = "nca/one-bottleneck";

/// The completion time at each receiver, with less data.
fn times(more: &[&str]) -> Vec<f64> {
    let few =
        ["replications=2", "session.nca.packets=4000", "duration=120 s", "windows=[[\"0 s\", \"end\"]]"];
    let ran = run_text(NAME, built_in(NAME), &[&few, more].concat());
    let times = ["nca@R1", "nca@R2", "nca@R3"].map(|flow| {
        let flow = ran.flow(flow);
        let transfers = flow.transfers.as_ref().unwrap();
        assert!(transfers.samples.iter().all(|done| *done == Some(1.0)), "{transfers:?}");
        flow.completion_s.as_ref().unwrap().mean.unwrap()
    });
    times.to_vec()
}

#[test]
fn a_session_is_complete_at_all_with_and_without_repair_servers() {
    for routers in
        ["routers={ active = \"all\" }", "routers={ active = \"none\" }", "routers={ fail = \"20 s\" }"]
    {
        let times = times(&[&format!("session.nca.{routers}")]);
        assert!(times.iter().all(|&time| (8.0..119.0).contains(&time)), "{routers}: {times:?}");
    }
}

/// NewReno on the acknowledgements of the worst receiver, against TCP that goes the same way. Measured over ten
/// replications: 0.99 to 1.11 of TCP's mean.
#[test]
fn it_takes_as_much_as_a_tcp_to_the_worst_receiver() {
    let ran = run_text(NAME, built_in(NAME), &["replications=3"]);
    let tcp = (1..=4).map(|n| ran.kbps(&format!("tcp-{n}@R3"))).sum::<f64>() / 4.0;
    let share = ran.kbps("nca@R3") / tcp;
    assert!((0.6..=1.5).contains(&share), "{share}");
    assert!(ran.flow("nca@R3").transfers.is_none(), "without an end there is no transfer");
}

#[test]
fn a_router_at_a_host_is_refused() {
    let text = built_in(NAME).replace("start = \"1 s\"", "start = \"1 s\"\nrouters = { active = [\"R1\"] }");
    let plan = read(NAME, &text, &["replications=1"]).unwrap();
    let (id, command) = (NAME.to_owned(), String::new());
    let request = RunRequest { id, text, command, jobs: Some(1), ..RunRequest::default() };
    let error = run::run::<Registry>(&plan, &request, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("no router can be at R1"), "{error}");
}
