//! The argument `--amt` of `layercast receive`.

use std::net::SocketAddr;

use crate::host_address::addresses_of;

/// The port of AMT relays (RFC 7450, section 7.2).
const PORT: u16 = 2268;

/// Which AMT relay a receiver uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "transport", target_os = "linux")),
    allow(dead_code, reason = "only the transport receives")
)]
pub(crate) enum Amt {
    At(SocketAddr),
    Discover,
}

/// `discover`, or a relay by name or address, with a port or without.
pub(crate) fn amt(text: &str) -> Result<Amt, String> {
    if text == "discover" {
        return Ok(Amt::Discover);
    }
    let found = addresses_of(text, PORT).map_err(|error| format!("{error}; or `discover`"))?;
    match found.into_iter().next() {
        Some(relay) if relay.port() == 0 => {
            Err(format!("port 0 is none: use 1 to 65535, or none for {PORT}"))
        }
        Some(relay) if !relay.ip().is_multicast() && !relay.ip().is_unspecified() => Ok(Amt::At(relay)),
        _ => Err(format!("`{text}` is not the address of a host")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relays_have_a_port_or_the_usual_one() {
        let at = |text: &str| text.parse().map(Amt::At).map_err(|_| String::new());
        assert_eq!(amt("discover"), Ok(Amt::Discover));
        assert_eq!(amt("192.0.2.1"), at("192.0.2.1:2268"));
        assert_eq!(amt("192.0.2.1:9000"), at("192.0.2.1:9000"));
        assert_eq!(amt("2001:db8::1"), at("[2001:db8::1]:2268"));
        assert_eq!(amt("[2001:db8::1]"), at("[2001:db8::1]:2268"));
        assert_eq!(amt("[2001:db8::1]:9000"), at("[2001:db8::1]:9000"));
        assert!(amt("239.1.2.3").is_err() && amt("192.0.2.1:0").is_err() && amt("::").is_err());
    }
}
