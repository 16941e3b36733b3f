//! Hosts in arguments: by name or address, with a port or with a usual one.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// A host and a port. A name is looked up when the host is needed: at the start of a machine no name server may answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) port: u16,
}

impl Host {
    /// Reads a host; without a usual port it must name its own.
    pub(crate) fn read(text: &str, usual_port: Option<u16>) -> Result<Host, String> {
        let (name, port) = match text.rsplit_once(':') {
            // More colons without brackets are those of an address.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
            _ => (text, None),
        };
        let port = match port {
            Some(port) => Some(port.parse().map_err(|_| format!("`{port}` is no port: use 0 to 65535"))?),
            None => usual_port,
        };
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_of_names = |char: char| char.is_ascii_alphanumeric() || "-._:%".contains(char);
        if name.is_empty() || !name.chars().all(is_of_names) {
            return Err(format!("`{name}` is no name or address of a host"));
        }
        let port = port.ok_or("a port is missing: HOST:PORT")?;
        Ok(Host { name: name.to_owned(), port })
    }

    /// All its addresses, at least one.
    #[cfg_attr(
        not(all(feature = "transport", target_os = "linux")),
        allow(dead_code, reason = "only the transport needs them")
    )]
    pub(crate) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<SocketAddr> = (self.name.as_str(), self.port).to_socket_addrs()?.collect();
        if found.is_empty() { Err(io::Error::other("it has no address")) } else { Ok(found) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { name, port } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_a_port_or_the_usual_one() {
        let read = |text: &str| Host::read(text, Some(7)).map(|host| (host.name, host.port));
        let is = |name: &str, port| Ok((name.to_owned(), port));
        assert_eq!(read("hq.example"), is("hq.example", 7));
        assert_eq!(read("hq.example:9"), is("hq.example", 9));
        assert_eq!(read("2001:db8::1"), is("2001:db8::1", 7));
        assert_eq!(read("[2001:db8::1]"), is("2001:db8::1", 7));
        assert_eq!(read("[fe80::1%eth0]:9"), is("fe80::1%eth0", 9));
        assert_eq!(Host::read("[::1]:9", None).unwrap().to_string(), "[::1]:9");
        for wrong in ["", ":9", "hq:99999", "hq:x", "two words", "a/b"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(Host::read("hq.example", None).is_err());
    }
}
