//! Sessions of other FLUTE senders (RFC 6726): one channel, without congestion control and without a description of ours.

use core::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::announce::url::{SessionUrl, UrlError};

/// What a receiver must know of such a session (RFC 6726, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FluteSession {
    /// Its group and port.
    pub group: SocketAddr,
    /// Where its packets come from; none if any source will do.
    pub source: Option<IpAddr>,
    /// Its number (TSI), of up to 48 bits.
    pub tsi: u64,
}

/// The largest session number (RFC 5651, section 5.1: 48 bits).
const TSI_MAX: u64 = (1 << 48) - 1;

/// The scheme of the line that names a session.
pub const FLUTE_SCHEME: &str = "flute://";

/// Why a line does not name a FLUTE session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FluteUrlError {
    /// It has another scheme, or none.
    #[error("it must begin with `{FLUTE_SCHEME}`")]
    Scheme,
    /// Group, port or source are invalid.
    #[error(transparent)]
    Place(#[from] UrlError),
    /// The session number is missing or invalid.
    #[error(
        "it needs the number of the session, once, as in `{FLUTE_SCHEME}239.1.2.0:5500?tsi=7`; the largest is {TSI_MAX}"
    )]
    Tsi,
}

impl FromStr for FluteSession {
    type Err = FluteUrlError;

    /// Reads `flute://GROUP:PORT?tsi=NUMBER&source=ADDRESS`.
    fn from_str(text: &str) -> Result<FluteSession, FluteUrlError> {
        let rest = text.strip_prefix(FLUTE_SCHEME).ok_or(FluteUrlError::Scheme)?;
        // But for the number it is as one of ours, which ignores unknown parameters.
        let url: SessionUrl = format!("layercast://{rest}").parse()?;
        let (_, query) = rest.split_once('?').unwrap_or_default();
        let mut numbers = query.split('&').filter_map(|parameter| parameter.strip_prefix("tsi="));
        let number = numbers.next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let tsi = number.and_then(|number| number.parse().ok()).filter(|&tsi| tsi <= TSI_MAX);
        match (tsi, numbers.next()) {
            (Some(tsi), None) => {
                Ok(FluteSession { group: SocketAddr::new(url.group, url.port), source: url.source, tsi })
            }
            _ => Err(FluteUrlError::Tsi),
        }
    }
}

impl fmt::Display for FluteSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FLUTE_SCHEME}{}?tsi={}", self.group, self.tsi)?;
        self.source.map_or(Ok(()), |source| write!(f, "&source={source}"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_session_and_comes_back() {
        for line in
            ["flute://239.1.2.0:5500?tsi=7", "flute://[ff35::79:2]:5500?tsi=281474976710655&source=fd00::1"]
        {
            assert_eq!(line.parse::<FluteSession>().unwrap().to_string(), line);
        }
        let session: FluteSession = "flute://232.1.2.0:5500?source=192.0.2.1&x=1&tsi=0".parse().unwrap();
        assert_eq!((session.tsi, session.source), (0, Some("192.0.2.1".parse().unwrap())));
    }

    #[test]
    fn other_lines_are_refused() {
        let refused = |line: &str| line.parse::<FluteSession>().unwrap_err();
        for query in ["", "?tsi=", "?tsi=x", "?tsi=-1", "?tsi=+1", "?tsi=281474976710656", "?tsi=1&tsi=1"] {
            assert_eq!(refused(&format!("flute://239.1.2.0:5500{query}")), FluteUrlError::Tsi, "{query}");
        }
        assert_eq!(refused("http://239.1.2.0:5500?tsi=1"), FluteUrlError::Scheme);
        assert!(matches!(refused("flute://239.1.2.0?tsi=1"), FluteUrlError::Place(UrlError::Port(_))));
        assert!(matches!(
            refused("flute://232.1.2.0:5500?tsi=1"),
            FluteUrlError::Place(UrlError::NoSource(_))
        ));
    }
}
