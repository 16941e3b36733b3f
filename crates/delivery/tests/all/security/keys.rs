//! Key files, fingerprints and keys in URLs.

use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{GroupKey, KEY_FILE_MAX, KeyError, KeyKind, PublicKey, SecretKey};
use proptest::prelude::*;

fn secret() -> KeyFile {
    KeyFile::secret(SecretKey::from_seed(&[7; 32]), "hall-3").unwrap()
}

fn public() -> KeyFile {
    secret().public_half().unwrap()
}

fn group() -> KeyFile {
    KeyFile::group(GroupKey::from_seed(&[7; 32]), "hall-3").unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> KeyError {
    KeyFile::parse(text.as_ref()).unwrap_err()
}

#[test]
fn a_file_is_one_line_that_describes_itself() {
    let text = public().to_text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let fingerprint = public().fingerprint().to_string();
    assert_eq!(words, ["layercast-public-key-1", words[1], &fingerprint, "hall-3"]);
    assert_eq!(fingerprint.len(), 24);
    assert!(fingerprint.split('-').all(|group| group.len() == 4), "{fingerprint}");
    assert_eq!(text.lines().count(), 1);
    let commented = format!("# the hall's sender\r\n\n  {}  \n# end", text.trim());
    assert_eq!(KeyFile::parse(commented.as_bytes()).unwrap().to_text(), text);
}

#[test]
fn secret_and_public_key_share_a_fingerprint_and_others_do_not() {
    assert_eq!(secret().fingerprint(), public().fingerprint());
    assert_ne!(
        secret().fingerprint(),
        group().fingerprint(),
        "the same random bytes are another kind of key"
    );
    let other = SecretKey::from_seed(&[8; 32]).public();
    assert_ne!(public().fingerprint(), other.fingerprint());
    assert_ne!(public().into_public().unwrap().id(), other.id());
}

#[test]
fn secrets_are_not_printed() {
    let file = secret();
    let line = file.to_text();
    let key = line.split(' ').nth(1).unwrap();
    assert!(!format!("{file:?}").contains(key));
    assert!(!format!("{:?}", group()).contains(group().to_text().split(' ').nth(1).unwrap()));
}

#[test]
fn the_wrong_kind_of_key_is_named_with_the_remedy() {
    let is = |error: KeyError, expected: &str| assert_eq!(error.to_string(), expected);
    is(
        secret().into_public().unwrap_err(),
        "this is a secret key, where a public one is needed; `layercast key show FILE` prints the public key that belongs to it",
    );
    is(
        public().into_secret().unwrap_err(),
        "this is a public key, where a secret one is needed; the file that ends in .pub is public, the one without it is secret",
    );
    is(
        public().into_group().unwrap_err(),
        "this is a public key, where a group one is needed; make one with `layercast key new FILE --group`",
    );
    is(
        group().into_secret().unwrap_err(),
        "this is a group key, where a secret one is needed; make one with `layercast key new FILE`",
    );
    assert!(secret().into_secret().is_ok() && public().into_public().is_ok() && group().into_group().is_ok());
    assert!(group().public_half().is_none());
}

#[test]
fn another_group_key_than_the_described_one_is_an_error() {
    let (ours, other) = (GroupKey::from_seed(&[7; 32]), GroupKey::from_seed(&[8; 32]));
    let described = ours.fingerprint().to_string();
    assert_eq!(ours.check(&described), Ok(()));
    let error = other.check(&described).unwrap_err().to_string();
    let expected =
        format!("the session uses the group key {described}, and this one is {}", other.fingerprint());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn each_damage_of_a_file_has_its_message() {
    let text = public().to_text().to_string();
    assert_eq!(refused(""), KeyError::Empty);
    assert_eq!(refused("# nothing\n\n"), KeyError::Empty);
    assert_eq!(refused(format!("{text}{text}")), KeyError::Several);
    assert_eq!(refused([0xff, 0xfe]), KeyError::NotText);
    assert_eq!(refused("-----BEGIN PRIVATE KEY-----"), KeyError::Start);
    assert_eq!(refused(vec![b' '; KEY_FILE_MAX + 1]), KeyError::Long(KEY_FILE_MAX + 1));
    assert_eq!(refused(text.replace("key-1", "key-2")), KeyError::Version("2".to_owned()));
    assert_eq!(refused(text.replace(" hall-3", "")), KeyError::Words(3));
    assert_eq!(refused(text.replace("hall-3", "hall 3")), KeyError::Words(5));
    let long = "x".repeat(65);
    assert!(matches!(refused(text.replace("hall-3", &long)), KeyError::Name(_)));
    assert!(matches!(KeyFile::public(public().into_public().unwrap(), "hall 3"), Err(KeyError::Name(_))));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(refused(text.replace(words[1], &words[1][1..])), KeyError::Encoding);
    assert!(matches!(refused(text.replace(words[2], "aaaa")), KeyError::Fingerprint { .. }));
    // A secret key that is called public is noticed, since its fingerprint is another.
    let renamed = secret().to_text().replace("secret", "public");
    assert!(matches!(refused(renamed), KeyError::Fingerprint { .. } | KeyError::Point));
    // The identity and other points of small order verify what nobody signed.
    assert_eq!(PublicKey::from_bytes(&[0; 32]).unwrap_err(), KeyError::Point);
    let mut identity = [0; 32];
    identity[0] = 1;
    assert_eq!(PublicKey::from_bytes(&identity).unwrap_err(), KeyError::Point);
}

fn any_file() -> impl Strategy<Value = KeyFile> {
    (any::<[u8; 32]>(), "[!-~]{1,64}", 0..3u8).prop_map(|(seed, name, kind)| match kind {
        0 => KeyFile::secret(SecretKey::from_seed(&seed), &name).unwrap(),
        1 => KeyFile::public(SecretKey::from_seed(&seed).public(), &name).unwrap(),
        _ => KeyFile::group(GroupKey::from_seed(&seed), &name).unwrap(),
    })
}

proptest! {
    #[test]
    fn files_are_read_as_written(file in any_file()) {
        let again = KeyFile::parse(file.to_text().as_bytes()).unwrap();
        prop_assert_eq!(again.to_text(), file.to_text());
        prop_assert_eq!(again.kind(), file.kind());
        prop_assert_eq!(again.name(), file.name());
        prop_assert_eq!(again.fingerprint(), file.fingerprint());
    }

    #[test]
    fn one_changed_letter_of_the_key_is_noticed(file in any_file(), at in 0..43usize, letter in "[A-Za-z0-9_-]") {
        let text = file.to_text();
        let start = text.find(' ').unwrap() + 1 + at;
        let mut changed = text.to_string();
        changed.replace_range(start..=start, &letter);
        let read = KeyFile::parse(changed.as_bytes());
        prop_assert_eq!(read.is_ok(), changed == *text);
    }

    #[test]
    fn keys_in_urls_are_read_as_written(seed: [u8; 32]) {
        let public = SecretKey::from_seed(&seed).public();
        let url = public.to_url();
        prop_assert_eq!(url.len(), 43);
        prop_assert!(url.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        prop_assert_eq!(PublicKey::from_url(&url).unwrap(), public);
        let group = GroupKey::from_seed(&seed);
        prop_assert_eq!(GroupKey::from_url(&group.to_url()).unwrap().fingerprint(), group.fingerprint());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, text: String, kind in 0..3usize) {
        let _ = KeyFile::parse(&bytes);
        let _ = KeyFile::parse(text.as_bytes());
        let _ = KeyFile::parse(format!("layercast-{}-key-1 {text}", KeyKind::ALL[kind]).as_bytes());
        let _ = PublicKey::from_url(&text);
        let _ = GroupKey::from_url(&text);
    }
}
