//! What `send` and `receive` do with keys, and what they say when keys do not fit.

use std::fs;
use std::io::BufRead;
use std::path::Path;

use super::transfer::lo::works_here;
use super::transfer::{ended, group, printed, signal, start, transfer, with_file};
use super::{run, text};

pub(super) fn new_key(directory: &Path, name: &str, more: &[&str]) -> String {
    let file = directory.join(name).display().to_string();
    let made = run(&[&["key", "new", &file], more].concat());
    assert!(made.status.success(), "{made:?}");
    file
}

/// Receives what is named into a folder; the exit status, what it printed, and its errors.
fn receive(directory: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let into = directory.join("into").display().to_string();
    let output = transfer(&[&["receive", "--into", &into, "--replace"], words].concat()).output();
    let output = output.expect("it runs");
    let (out, error) = printed(&output);
    (output.status.code(), out, error)
}

#[test]
fn an_encrypted_session_is_received_by_url_name_and_sdp_with_its_key_and_else_refused() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("encrypted", 200_000);
    let key = new_key(&directory, "members", &["--group"]);
    let other = new_key(&directory, "others", &["--group"]);
    let (group, sdp) = (group(200), directory.join("session.sdp").display().to_string());
    let name = format!("encrypted {}", std::process::id());
    let sending = ["send", &file, "--group", &group, "--to", "8 Mbit/s", "--group-key", &key, "--encrypt"];
    let (child, _, mut stdout) = start(&[&sending[..], &["--describe", &sdp, "--name", &name]].concat());
    let mut url = String::new();
    stdout.read_line(&mut url).expect("a line");
    let url = url.trim_end();
    assert!(url.contains("&salt="), "{url}");

    for session in [url, &sdp, &name] {
        let (status, out, error) = receive(&directory, &[session, "--group-key", &key]);
        assert_eq!(status, Some(0), "{session}: {out}{error}");
        assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 200_000]);
        fs::remove_file(directory.join("into/a file")).expect("the file");
    }
    let (status, _, error) = receive(&directory, &[url]);
    assert_eq!(status, Some(1));
    let expected = "the session's packets are encrypted: give the sender's group key with --group-key FILE";
    assert!(error.contains(expected), "{error}");
    let (status, _, error) =
        receive(&directory, &["--group", &group, "--group-key", &key, "--start-within", "5 s"]);
    assert_eq!(status, Some(1));
    let expected = "its group alone does not tell how: use its URL, its SDP file or the name";
    assert!(error.contains(expected), "{error}");
    let (status, _, error) = receive(&directory, &[url, "--group-key", &other, "--start-within", "5 s"]);
    assert_eq!(status, Some(1));
    assert!(error.contains("no packet of the session is authentic by the group key "), "{error}");
    signal(&child, "INT");
    let (out, error, status) = ended(child, stdout);
    assert_eq!(status, Some(0), "{out}{error}");

    let output = transfer(&["send", &file, "--group", &group, "--encrypt"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--encrypt needs --group-key"), "{output:?}");
}

#[test]
fn a_session_of_a_group_is_received_with_the_key_that_signed_its_files_alone() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("files-signed", 200_000);
    let (secret, other) = (new_key(&directory, "hall", &[]), new_key(&directory, "other", &[]));
    let (public, other) = (format!("{secret}.pub"), format!("{other}.pub"));
    let group = group(220);
    let sending = ["send", &file, "--group", &group, "--to", "8 Mbit/s", "--no-announce"];
    let (child, _, stdout) = start(&[&sending[..], &["--key", &secret]].concat());
    // No announcement is needed.
    let (status, out, error) = receive(&directory, &["--group", &group, "--key", &public, "--json"]);
    assert_eq!(status, Some(0), "{out}{error}");
    let counters = "\"packets_forged\":0,\"packets_replayed\":0,\"tables_forged\":0,\"blocks_forged\":0";
    assert!(out.contains(counters), "{out}");
    let (status, _, error) =
        receive(&directory, &["--group", &group, "--key", &other, "--start-within", "5 s"]);
    assert_eq!(status, Some(1));
    let expected =
        "the session is refused: the file delivery table: it is signed with a key that is not trusted here";
    assert!(error.contains(expected), "{error}");
    signal(&child, "INT");
    ended(child, stdout);

    let (child, _, stdout) = start(&sending);
    let (status, _, error) =
        receive(&directory, &["--group", &group, "--key", &public, "--start-within", "5 s"]);
    assert_eq!(status, Some(1));
    let expected =
        "the session is refused: the file delivery table is not signed; ask the sender for --key. Only what ";
    assert!(error.contains(expected), "{error}");
    signal(&child, "INT");
    ended(child, stdout);
}
