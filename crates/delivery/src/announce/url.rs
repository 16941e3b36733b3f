//! The one line that names a session.
//!
//! ```text
//! layercast://239.1.2.0:5500?source=192.0.2.1&key=11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo&name=News%20of%20today
//! layercast://[ff3e::8000:1]:5500?source=2001:db8::1
//! ```
//!
//! The group is that of the base layer. `source` is the address that packets come from, `key` the source's Ed25519
//! public key in base64url without padding, `salt` that of an encrypted session in hexadecimal digits, `name` what people
//! call the session. All may be left out.
//! Parameters of other names are ignored, so that a later version can add some.

use core::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::signature::PublicKey;
use crate::address::{is_source_specific, is_unicast, is_usable_group};
use crate::percent;
use crate::security::encryption::{Salt, SaltError};
use crate::security::key_file::{key_letters, read_key_letters};

/// The longest line in bytes.
pub const URL_MAX: usize = 2048;
/// The longest name of a session in bytes.
pub const NAME_MAX: usize = 255;

const SCHEME: &str = "layercast://";

/// A session, by the line that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUrl {
    /// The group of the base layer.
    pub group: IpAddr,
    /// The port of all groups.
    pub port: u16,
    /// Where packets come from; none if any source will do.
    pub source: Option<IpAddr>,
    /// Whose signatures count.
    pub key: Option<PublicKey>,
    /// The salt with which packets are encrypted.
    pub salt: Option<Salt>,
    /// What people call the session.
    pub name: Option<String>,
}

/// Why a line does not name a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It has another scheme, or none.
    #[error("it must begin with `layercast://`")]
    Scheme,
    /// It has more than [`URL_MAX`] bytes.
    #[error("it has {0} bytes; use at most {URL_MAX}")]
    Long(usize),
    /// The group's address cannot be read.
    #[error(
        "`{0}` is not an IP address; write `239.1.2.0`, or `[ff15::1]` in brackets, without an interface"
    )]
    Group(String),
    /// An IPv6 address without brackets.
    #[error("the IPv6 address `{0}` needs brackets: `[{0}]:PORT`")]
    Brackets(String),
    /// The group is not multicast, or not for sessions.
    #[error(
        "{0} is not a multicast group for a session; use one from 224.0.1.0 to 239.255.255.255, or ff03:: to fffe::"
    )]
    NotMulticast(IpAddr),
    /// The port is missing or invalid.
    #[error("`{0}` has no valid port; add one from 1 to 65535, as in `239.1.2.0:5500`")]
    Port(String),
    /// There is a path or a fragment.
    #[error("unexpected `{0}`; after the port, only `?` and parameters may follow")]
    Unexpected(String),
    /// A parameter that is given twice.
    #[error("`{0}` is given twice; keep one")]
    Duplicate(&'static str),
    /// A wrong escape in the value of a parameter.
    #[error("`{0}` has a wrong escape; write `%` and two hexadecimal digits, and UTF-8")]
    Escape(&'static str),
    /// The source's address cannot be read.
    #[error("the source `{0}` is not the IP address of a host")]
    Source(String),
    /// The source is of IPv4 and the group of IPv6, or the other way round.
    #[error("the source {0} and the group {1} must both be IPv4, or both IPv6")]
    Families(IpAddr, IpAddr),
    /// A group of source-specific multicast without a source.
    #[error("{0} is a group for source-specific multicast; add `source=ADDRESS`")]
    NoSource(IpAddr),
    /// The key is not one.
    #[error("the key `{0}` is not an Ed25519 public key; it has 43 letters, digits, `-` and `_`")]
    Key(String),
    /// The salt is not one.
    #[error("`salt`: {0}")]
    Salt(#[from] SaltError),
    /// The name is empty, too long or has control characters.
    #[error("the name is empty, has control characters, or more than {NAME_MAX} bytes")]
    Name,
}

/// What of a wrong line an error quotes.
fn quoted(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Whether people can be shown this name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && !name.chars().any(char::is_control)
}

/// Fills a parameter that may be given once.
fn set<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), UrlError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(UrlError::Duplicate(name)),
    }
}

/// Group and port from `GROUP:PORT`.
fn read_place(place: &str) -> Result<(IpAddr, u16), UrlError> {
    let no_port = || UrlError::Port(quoted(place));
    let (group, port) = if let Some(rest) = place.strip_prefix('[') {
        let (group, port) = rest.split_once(']').ok_or_else(|| UrlError::Group(quoted(place)))?;
        let address = group.parse::<Ipv6Addr>().map_err(|_| UrlError::Group(quoted(group)))?;
        (IpAddr::V6(address), port.strip_prefix(':').ok_or_else(no_port)?)
    } else if place.matches(':').count() > 1 {
        return Err(UrlError::Brackets(quoted(place)));
    } else {
        let (group, port) = place.split_once(':').unwrap_or((place, ""));
        let address = group.parse::<Ipv4Addr>().map_err(|_| UrlError::Group(quoted(group)))?;
        (IpAddr::V4(address), port)
    };
    // `parse` would accept a plus sign.
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse::<u16>().ok().filter(|&port| is_number && port > 0).ok_or_else(no_port)?;
    Ok((group, port))
}

impl SessionUrl {
    /// Checks what the fields must fulfil together.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), UrlError> {
        if !is_usable_group(self.group) {
            return Err(UrlError::NotMulticast(self.group));
        }
        if self.port == 0 {
            return Err(UrlError::Port(self.group.to_string()));
        }
        if let Some(source) = self.source {
            if !is_unicast(source) {
                return Err(UrlError::Source(source.to_string()));
            }
            if source.is_ipv4() != self.group.is_ipv4() {
                return Err(UrlError::Families(source, self.group));
            }
        } else if is_source_specific(self.group) {
            return Err(UrlError::NoSource(self.group));
        }
        if self.name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(UrlError::Name);
        }
        Ok(())
    }
}

impl FromStr for SessionUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<SessionUrl, UrlError> {
        if text.len() > URL_MAX {
            return Err(UrlError::Long(text.len()));
        }
        let (scheme, rest) = text.split_at_checked(SCHEME.len()).ok_or(UrlError::Scheme)?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return Err(UrlError::Scheme);
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let place = place.strip_suffix('/').unwrap_or(place);
        if let Some(at) = rest.find('#').or_else(|| place.find('/')) {
            return Err(UrlError::Unexpected(quoted(&rest[at..])));
        }
        let (group, port) = read_place(place)?;
        let mut url = SessionUrl { group, port, source: None, key: None, salt: None, name: None };
        for parameter in query.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let Some(name) = ["source", "key", "salt", "name"].into_iter().find(|&known| known == name)
            else {
                continue;
            };
            let value = percent::decode(value).ok_or(UrlError::Escape(name))?;
            match name {
                "source" => {
                    let source = value.parse().map_err(|_| UrlError::Source(quoted(&value)))?;
                    set(&mut url.source, name, source)?;
                }
                "key" => {
                    let key = *read_key_letters(&value).map_err(|_| UrlError::Key(quoted(&value)))?;
                    set(&mut url.key, name, key)?;
                }
                "salt" => set(&mut url.salt, name, value.parse()?)?,
                _ => set(&mut url.name, name, value)?,
            }
        }
        url.check()?;
        Ok(url)
    }
}

impl fmt::Display for SessionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            IpAddr::V4(group) => write!(f, "{SCHEME}{group}:{}", self.port)?,
            IpAddr::V6(group) => write!(f, "{SCHEME}[{group}]:{}", self.port)?,
        }
        let mut before = '?';
        let mut parameter = |f: &mut fmt::Formatter<'_>, name: &str, value: &str| -> fmt::Result {
            write!(f, "{before}{name}={value}")?;
            before = '&';
            Ok(())
        };
        if let Some(source) = self.source {
            // A colon may stand in a query as it is (RFC 3986, section 3.4).
            parameter(f, "source", &source.to_string())?;
        }
        if let Some(key) = &self.key {
            parameter(f, "key", &key_letters(key))?;
        }
        if let Some(salt) = self.salt {
            parameter(f, "salt", &salt.to_string())?;
        }
        if let Some(name) = &self.name {
            parameter(f, "name", &percent::encode(name))?;
        }
        Ok(())
    }
}
