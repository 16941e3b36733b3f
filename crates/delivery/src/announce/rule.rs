//! Which sessions a listener wants.
//!
//! A rule is written `name=GLOB`, `key=BASE64URL`, both with a comma between them (the key first), or just a glob for names.
//! In a glob `*` stands for any characters, `?` for one, and `\` takes the next one as it is.

use core::fmt;
use std::str::FromStr;

use super::signature::PublicKey;
use super::url::NAME_MAX;
use crate::security::key_file::{key_letters, read_key_letters};

/// Selects sessions by name and by the key that signed their announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The names that match, as a glob; none for all.
    name: Option<String>,
    /// Whose sessions; none for all, signed or not.
    key: Option<PublicKey>,
}

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// There is nothing in it.
    #[error("the rule is empty; `*` matches all sessions")]
    Empty,
    /// The glob is longer than any name.
    #[error("the glob has more than {NAME_MAX} bytes, and no name has")]
    Long,
    /// A backslash at the end.
    #[error("the glob ends with `\\`; double it for a backslash")]
    Escape,
    /// The key is not one.
    #[error("`{0}` is not an Ed25519 public key; it has 43 letters, digits, `-` and `_`")]
    Key(String),
}

impl Rule {
    /// Whether a session of this name, signed with this key, is wanted.
    pub fn matches(&self, name: &str, signer: Option<&PublicKey>) -> bool {
        self.name.as_deref().is_none_or(|glob| is_match(glob, name))
            && self.key.as_ref().is_none_or(|key| signer == Some(key))
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Rule, RuleError> {
        let (key, name) = match text.strip_prefix("key=") {
            None => (None, Some(text)),
            Some(rest) => match rest.split_once(',') {
                Some((key, name)) => (Some(key), Some(name)),
                None => (Some(rest), None),
            },
        };
        let no_key = |key: &str| RuleError::Key(key.chars().take(60).collect());
        let key =
            key.map(|key| read_key_letters(key).map(|key| *key).map_err(|_| no_key(key))).transpose()?;
        let name = name.map(|name| name.strip_prefix("name=").unwrap_or(name).to_owned());
        match name.as_deref() {
            Some("") => return Err(RuleError::Empty),
            Some(glob) if glob.len() > NAME_MAX => return Err(RuleError::Long),
            Some(glob) if glob.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1 => {
                return Err(RuleError::Escape);
            }
            _ => {}
        }
        Ok(Rule { name, key })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            write!(f, "key={}", *key_letters(key))?;
        }
        let comma = if self.key.is_some() { "," } else { "" };
        self.name.as_ref().map_or(Ok(()), |name| write!(f, "{comma}name={name}"))
    }
}

/// Whether a glob matches the whole of a text. Only the last `*` is tried again, which is enough, so the
/// time is at most the product of the lengths.
fn is_match(glob: &str, text: &str) -> bool {
    let (mut glob, mut text) = (glob, text);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let (mut pattern, mut chars) = (glob.chars(), text.chars());
        let matched = match pattern.next() {
            Some('*') => {
                glob = pattern.as_str();
                retry = Some((glob, text));
                continue;
            }
            None if text.is_empty() => return true,
            None => false,
            Some('?') => chars.next().is_some(),
            Some('\\') => chars.next().is_some_and(|c| Some(c) == pattern.next()),
            Some(literal) => chars.next() == Some(literal),
        };
        if matched {
            (glob, text) = (pattern.as_str(), chars.as_str());
            continue;
        }
        let Some((after_star, from)) = retry else { return false };
        let mut rest = from.chars();
        if rest.next().is_none() {
            return false;
        }
        retry = Some((after_star, rest.as_str()));
        (glob, text) = (after_star, rest.as_str());
    }
}
