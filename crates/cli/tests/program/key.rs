//! `layercast key`: files that are made, shown, used and refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use super::{run, scratch, text};

fn at(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
    text(&output.stdout)
}

fn refused(output: &Output, status: i32) -> String {
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(status), String::new()), "{output:?}");
    text(&output.stderr)
}

/// A folder with the key pair `hall` and the group key `members`.
fn with_keys(name: &str) -> (PathBuf, String, String, String) {
    let directory = scratch(&format!("key-{name}"));
    let (secret, members) = (at(&directory, "hall"), at(&directory, "members"));
    done(&["key", "new", &secret]);
    done(&["key", "new", "--group", &members]);
    let public = format!("{secret}.pub");
    (directory, secret, public, members)
}

fn value<'t>(shown: &'t str, name: &str) -> &'t str {
    shown.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {shown}")).trim()
}

#[test]
fn secret_files_are_their_owners_and_public_ones_everyones() {
    let (_, secret, public, members) = with_keys("modes");
    let mode = |path: &str| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&secret), mode(&members)), (0o600, 0o600));
    assert_eq!(mode(&public) & 0o444, 0o444);
    let line = fs::read_to_string(&public).expect("a text");
    assert!(line.starts_with("layercast-public-key-1 ") && line.ends_with(" hall\n"), "{line}");
}

#[test]
fn a_key_is_shown_without_its_secret() {
    let (_, secret, public, members) = with_keys("show");
    let word =
        |path: &str| fs::read_to_string(path).expect("a text").split(' ').nth(1).expect("the key").to_owned();
    let shown = done(&["key", "show", &secret]);
    assert!(!shown.contains(&word(&secret)), "{shown}");
    assert_eq!(value(&shown, "secret key"), "hall");
    assert_eq!(value(&shown, "in a URL"), word(&public));
    assert_eq!(value(&shown, "public key"), fs::read_to_string(&public).expect("a text").trim_end());
    let of_public = done(&["key", "show", &public]);
    assert_eq!(value(&of_public, "fingerprint"), value(&shown, "fingerprint"));
    assert_eq!(value(&of_public, "public key"), "hall");
    let of_group = done(&["key", "show", &members]);
    assert_eq!(value(&of_group, "group key"), "members");
    assert!(!of_group.contains(&word(&members)), "{of_group}");
}

#[test]
fn keys_differ_and_are_never_overwritten() {
    let (directory, secret, public, _) = with_keys("overwritten");
    let before = fs::read(&secret).expect("it is there");
    let error = refused(&run(&["key", "new", &secret]), 2);
    assert!(error.contains("hall: the file exists, and keys are never overwritten"), "{error}");
    assert_eq!(fs::read(&secret).expect("it is there"), before);
    fs::remove_file(&secret).expect("it was there");
    let error = refused(&run(&["key", "new", &secret]), 2);
    assert!(error.contains("hall.pub: the file exists"), "{error}");
    assert!(!Path::new(&secret).exists());
    // A link that leads nowhere is not followed.
    fs::remove_file(&public).expect("it was there");
    symlink(directory.join("elsewhere"), &secret).expect("a link");
    refused(&run(&["key", "new", &secret]), 2);
    assert!(!directory.join("elsewhere").exists());
    fs::remove_file(&secret).expect("it was there");
    done(&["key", "new", &secret]);
    assert_ne!(fs::read(&secret).expect("it is there"), before);
}

#[test]
fn what_cannot_be_a_key_is_refused() {
    let (directory, secret, _, _) = with_keys("refused");
    let spaced = at(&directory, "the hall");
    let error = refused(&run(&["key", "new", &spaced]), 2);
    assert!(error.contains("`the hall` is not a name for a key") && error.contains("--name NAME"), "{error}");
    done(&["key", "new", &spaced, "--name", "the-hall"]);
    let missing = at(&directory, "missing/key");
    assert!(refused(&run(&["key", "new", &missing]), 1).contains("cannot be created: No such file"));
    assert!(refused(&run(&["key", "show", &missing]), 1).contains("cannot be read: No such file"));
    let damaged = fs::read_to_string(&secret).expect("a text").replace("secret", "public");
    let file = at(&directory, "damaged");
    fs::write(&file, damaged).expect("a file");
    let error = refused(&run(&["key", "show", &file]), 2);
    assert!(error.contains("damaged: ") && error.contains("copy it again"), "{error}");
    let device = refused(&run(&["key", "show", "/dev/zero"]), 2);
    assert!(device.contains("a key file has at most 4096"), "{device}");
}

#[test]
fn a_secret_that_others_can_read_is_warned_of() {
    let (_, secret, _, _) = with_keys("readable");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).expect("its mode");
    let output = run(&["key", "show", &secret]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stderr).contains("warning: others can read this secret key: `chmod 600 "),
        "{output:?}"
    );
}

#[test]
fn a_description_is_signed_and_verified() {
    let (directory, secret, public, members) = with_keys("sign");
    let description = at(&directory, "session.toml");
    fs::write(&description, "layercast = 1\n").expect("a file");
    let signed = done(&["key", "sign", &secret, &description]);
    assert!(signed.ends_with("session.toml.sig\n"), "{signed}");
    let fingerprint = value(&done(&["key", "show", &public]), "fingerprint").to_owned();
    assert_eq!(done(&["key", "verify", &public, &description]), format!("signed by {fingerprint}\n"));

    let swapped = refused(&run(&["key", "sign", &public, &description]), 2);
    assert!(swapped.contains("this is a public key, where a secret one is needed"), "{swapped}");
    let swapped = refused(&run(&["key", "verify", &secret, &description]), 2);
    assert!(swapped.contains("this is a secret key, where a public one is needed"), "{swapped}");
    let group = refused(&run(&["key", "verify", &members, &description]), 2);
    assert!(group.contains("this is a group key, where a public one is needed"), "{group}");

    let other = at(&directory, "other");
    done(&["key", "new", &other]);
    let untrusted = refused(&run(&["key", "verify", &format!("{other}.pub"), &description]), 1);
    assert!(
        untrusted.contains("session.toml: it is signed with a key that is not trusted here"),
        "{untrusted}"
    );
    fs::write(&description, "layercast = 2\n").expect("a file");
    let changed = refused(&run(&["key", "verify", &public, &description]), 1);
    assert!(changed.contains("the signature is wrong: what it signs was changed"), "{changed}");
    fs::write(format!("{description}.sig"), "no signature").expect("a file");
    let form = refused(&run(&["key", "verify", &public, &description]), 2);
    assert!(form.contains("session.toml.sig: this is not a signature"), "{form}");
}
