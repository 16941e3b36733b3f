//! The argument `--amt` of `layercast receive`.

use std::net::IpAddr;

use crate::net::host_address::Host;

/// The port of AMT relays (RFC 7450, section 7.2).
const PORT: u16 = 2268;

/// Which AMT relay a receiver uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "transport", target_os = "linux")),
    allow(dead_code, reason = "only the transport receives")
)]
pub(crate) enum Amt {
    At(Host),
    Discover,
}

/// `discover`, or a relay by name or address, with a port or without.
pub(crate) fn amt(text: &str) -> Result<Amt, String> {
    if text == "discover" {
        return Ok(Amt::Discover);
    }
    let relay = Host::read(text, Some(PORT)).map_err(|error| format!("{error}; or `discover`"))?;
    let is_none = |address: IpAddr| address.is_multicast() || address.is_unspecified();
    if relay.port == 0 {
        return Err(format!("port 0 is none: use 1 to 65535, or none for {PORT}"));
    }
    if relay.name.parse().is_ok_and(is_none) {
        return Err(format!("`{text}` is not the address of a host"));
    }
    Ok(Amt::At(relay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relays_have_a_port_or_the_usual_one() {
        assert_eq!(amt("discover"), Ok(Amt::Discover));
        assert_eq!(amt("192.0.2.1"), Ok(Amt::At(Host { name: "192.0.2.1".to_owned(), port: PORT })));
        assert!(amt("239.1.2.3").is_err() && amt("192.0.2.1:0").is_err() && amt("::").is_err());
    }
}
