//! `send --reliable` and relays that take part, as an operator sees them.

use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::relay::{Killed, free_port};
use super::transfer::{ended, group, transfer, with_file};
use super::{layercast, run, text};

fn taking_part(group: &str, listen: SocketAddr, parent: SocketAddr, metrics: SocketAddr) -> Killed {
    let [listen, parent, metrics] = [listen, parent, metrics].map(|address| address.to_string());
    let arguments = ["relay", group, "--protocol", "amca", "--listen", &listen, "--parent", &parent];
    let mut command = layercast(&[&arguments[..], &["--metrics", &metrics, "-q"]].concat());
    Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
}

/// Keys that would be ignored are the worst of them: the file would leave in the clear.
#[test]
fn what_a_reliable_session_does_not_have_is_refused_and_nothing_is_sent() {
    let (directory, file) = with_file("reliable-refused", 1000);
    let (group, into, parent) = (group(77), directory.join("into").display().to_string(), free_port());
    let parent = parent.to_string();
    let key = directory.join("no.key").display().to_string();
    let refused = |line: &[&str], more: &[&str], mode: &str| {
        let output = run(&[line, more].concat());
        let error = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(2), String::new()),
            "{more:?}: {error}"
        );
        let flags = more.iter().filter(|word| word.starts_with("--"));
        for flag in flags {
            let start = format!("error: {flag} cannot be used with `{mode} --reliable`: ");
            let line = error.lines().position(|line| line.starts_with(&start));
            let help = line.and_then(|line| error.lines().nth(line + 1));
            assert!(help.is_some_and(|help| help.starts_with("  = help: ")), "{flag}: {error}");
        }
        assert!(!error.contains("sending at") && !error.contains("cannot be read"), "{error}");
    };
    let send = ["send", &file, "--group", &group, "--serve", &parent, "--reliable"];
    let send = |more: &[&str]| refused(&send, more, "send");
    send(&["--key", &key]);
    send(&["--group-key", &key, "--encrypt"]);
    send(&["--for", "1 s", "--rounds", "1", "--until-complete", "1"]);
    send(&["--interface", "nosuch0", "--ttl", "3", "--describe", &key, "--name", "n", "--state", &key]);
    send(&["--follow", "--json", "--metrics", "127.0.0.1:0", "--serve-only", "--no-reports", "--all-layers"]);
    let receive = ["receive", "--group", &group, "--into", &into, "--relay", &parent, "--reliable"];
    let receive = |more: &[&str]| refused(&receive, more, "receive");
    receive(&["--key", &key, "--group-key", &key, "--mirror", "--trace", &key]);
    receive(&[
        "--interface",
        "nosuch0",
        "--within",
        "1 s",
        "--on-complete",
        "true",
        "--silent",
        "--relay-only",
    ]);
    assert!(!directory.join("no.key").exists());
    // A key in a URL would be ignored too.
    let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let url = format!("layercast://{group}?source=127.0.0.1&key={key}");
    let output = run(&["receive", &url, "--into", &into, "--relay", &parent, "--reliable"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("reliable sessions have none yet"), "{output:?}");
    // As many links as a router has.
    let links = run(&["relay", &group, "--protocol", "amca", "--parent", &parent, "--max-children", "65"]);
    assert_eq!(links.status.code(), Some(2), "{links:?}");
    assert!(text(&links.stderr).contains("a router has 64 links at most"), "{links:?}");
}

#[test]
fn relays_that_take_part_are_shown_as_a_tree() {
    let (directory, file) = with_file("relays-taking-part", 2_000_000);
    let (group, into) = (group(79), directory.join("into").display().to_string());
    let [top, first, second] = [(); 3].map(|()| free_port());
    let metrics = [(); 2].map(|()| free_port());
    let serve = top.to_string();
    let arguments = ["send", &file, "--group", &group, "--reliable", "--serve", &serve, "-q"];
    // Some four seconds, so that there is a tree to be seen.
    let sender = transfer(&[&arguments[..], &["--set", "rate_max=400"]].concat()).spawn();
    let mut sender = sender.expect("the program starts");
    let _first = taking_part(&group, first, top, metrics[0]);
    let _second = taking_part(&group, second, first, metrics[1]);
    let below = second.to_string();
    let receiver =
        transfer(&["receive", "--group", &group, "--into", &into, "--reliable", "--relay", &below, "-q"])
            .spawn();
    let receiver = receiver.expect("the program starts");

    let at = metrics.map(|metrics| metrics.to_string());
    // The second relay below the first as its child, the receiver below the second.
    let expected = [
        format!("relay {first}: "),
        "  a router of amca: ".to_owned(),
        format!("  {group} from {top}"),
        format!("    {second}: 1 channels, "),
        format!("      relay {second}: "),
        "        a router of amca: ".to_owned(),
        format!("        {group} from {first}"),
        "          127.0.0.1:".to_owned(),
    ];
    let begin = Instant::now();
    let tree = loop {
        let tree = text(&run(&["relay", "status", &at[1], &at[0]]).stdout);
        let lines: Vec<&str> = tree.lines().collect();
        let is_line = |(line, start): (&&str, &String)| line.starts_with(start.as_str());
        if lines.len() == expected.len() && lines.iter().zip(&expected).all(is_line) {
            break tree;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{tree}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let packets = |line: &str| !line.contains("router") || !line.contains(": 0 packets");
    assert!(tree.lines().all(packets), "{tree}");
    let json = text(&run(&["relay", "status", &at[1], "--json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["router"]["protocol"], &json["router"]["active"]),
        (&"amca".into(), &true.into()),
        "{json}"
    );

    let received = receiver.wait_with_output().expect("its end");
    assert!(received.status.success(), "{}", text(&received.stderr));
    assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 2_000_000]);
    let stdout = std::io::BufReader::new(sender.stdout.take().expect("its output"));
    let (out, error, status) = ended(sender, stdout);
    assert_eq!(status, Some(0), "{out}{error}");
}
