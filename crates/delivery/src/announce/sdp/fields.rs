//! The values of single lines.

use std::net::IpAddr;

use super::description::{Fec, Origin};
use super::error::SdpProblem;
use layercast_core::Always as _;

/// What of a wrong line an error quotes.
pub(super) fn quoted(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// A number of digits alone, no more than `max`.
pub(super) fn number(field: &'static str, text: &str, max: u64) -> Result<u64, SdpProblem> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|&value: &u64| digits && value <= max);
    value.ok_or_else(|| SdpProblem::Number { field, text: quoted(text) })
}

/// The parts of a line that are separated by single spaces, `N` of them.
pub(super) fn parts<'a, const N: usize>(
    field: &'static str,
    form: &'static str,
    value: &'a str,
) -> Result<[&'a str; N], SdpProblem> {
    let mut parts = value.split_ascii_whitespace();
    let mut found = [""; N];
    for slot in &mut found {
        *slot = parts.next().ok_or(SdpProblem::Shape(field, form))?;
    }
    if parts.next().is_some() { Err(SdpProblem::Shape(field, form)) } else { Ok(found) }
}

/// Whether the text may stand in a line.
pub(super) fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

/// Whether the text is one word of a line.
pub(super) fn is_word(text: &str) -> bool {
    is_line(text) && !text.contains(char::is_whitespace)
}

/// Whether `IP4` or `IP6` stands for IPv6.
pub(super) fn family(text: &str) -> Result<bool, SdpProblem> {
    match text {
        "IP4" => Ok(false),
        "IP6" => Ok(true),
        _ => Err(SdpProblem::Address(quoted(text))),
    }
}

/// An address of a family.
pub(super) fn address(is_v6: bool, text: &str) -> Result<IpAddr, SdpProblem> {
    let address: Option<IpAddr> = text.parse().ok();
    address.filter(|address| address.is_ipv6() == is_v6).ok_or_else(|| SdpProblem::Address(quoted(text)))
}

/// The value of `o=` (RFC 8866, section 5.2).
pub(super) fn origin(value: &str) -> Result<Origin, SdpProblem> {
    const FORM: &str = "o=USER SESSION VERSION IN IP4 ADDRESS";
    let [username, id, version, net, kind, host] = parts("o=", FORM, value)?;
    if net != "IN" {
        return Err(SdpProblem::Shape("o=", FORM));
    }
    if !is_word(username) || !is_word(host) {
        return Err(SdpProblem::Text("o="));
    }
    Ok(Origin {
        username: username.to_owned(),
        id: number("o=", id, u64::MAX)?,
        version: number("o=", version, u64::MAX)?,
        is_v6: family(kind)?,
        address: host.to_owned(),
    })
}

/// A group, its TTL and the number of channels from the value of `c=` (RFC 8866, section 5.7).
pub(super) fn connection(value: &str) -> Result<(IpAddr, Option<u8>, u16), SdpProblem> {
    const FORM: &str = "c=IN IP4 GROUP/TTL/CHANNELS";
    let [net, kind, place] = parts("c=", FORM, value)?;
    if net != "IN" {
        return Err(SdpProblem::Shape("c=", FORM));
    }
    let is_v6 = family(kind)?;
    let mut numbers = place.split('/');
    let group = address(is_v6, numbers.next().always("a split has a first part"))?;
    let ttl = match numbers.next() {
        Some(ttl) if !is_v6 => Some(number("c=", ttl, 255)? as u8),
        Some(count) => {
            let channels = number("c=", count, u16::MAX.into())? as u16;
            return if numbers.next().is_some() { Err(SdpProblem::Ttl) } else { Ok((group, None, channels)) };
        }
        None if is_v6 => None,
        None => return Err(SdpProblem::Ttl),
    };
    let channels = numbers.next().map_or(Ok(1), |count| number("c=", count, u16::MAX.into()))? as u16;
    if numbers.next().is_some() {
        return Err(SdpProblem::Shape("c=", FORM));
    }
    Ok((group, ttl, channels))
}

/// The port of an `m=` line for FLUTE; none for other media, which are not ours to read.
pub(super) fn flute_port(value: &str) -> Result<Option<u16>, SdpProblem> {
    let mut words = value.split_ascii_whitespace();
    let (_, port, protocol) = (words.next(), words.next(), words.next());
    match (port, protocol) {
        (Some(port), Some(protocol)) if protocol.eq_ignore_ascii_case("FLUTE/UDP") => {
            let port = number("m=", port, u16::MAX.into())? as u16;
            let zero = || SdpProblem::Number { field: "m=", text: "0".into() };
            if port == 0 { Err(zero()) } else { Ok(Some(port)) }
        }
        (Some(_), Some(_)) => Ok(None),
        _ => Err(SdpProblem::Shape("m=", "m=application PORT FLUTE/UDP *")),
    }
}

/// The source of `a=source-filter` (RFC 4570, section 3): one, to be included. The destination must be what the session
/// uses anyway.
pub(super) fn source_filter(value: &str) -> Result<IpAddr, SdpProblem> {
    let form = |_| SdpProblem::Filter;
    let [mode, net, kind, _, source] = parts("a=source-filter", "", value).map_err(form)?;
    if mode != "incl" || net != "IN" {
        return Err(SdpProblem::Filter);
    }
    match kind {
        // The form for domain names (RFC 4570, section 3); an address has its family in its form.
        "*" => source.parse().map_err(|_| SdpProblem::Address(quoted(source))),
        kind => address(family(kind)?, source),
    }
}

/// The value of `a=FEC-declaration`.
pub(super) fn fec(value: &str) -> Result<Fec, SdpProblem> {
    const FIELD: &str = "a=FEC-declaration";
    const SHAPE: SdpProblem = SdpProblem::Shape(FIELD, "a=FEC-declaration:NUMBER encoding-id=NUMBER");
    let (reference, rest) = value.trim().split_once(' ').ok_or(SHAPE)?;
    let mut settings = rest.split(';').map(str::trim);
    let encoding = settings.next().and_then(|text| text.strip_prefix("encoding-id=")).ok_or(SHAPE)?;
    let instance = settings.find_map(|text| text.strip_prefix("instance-id="));
    Ok(Fec {
        reference: number(FIELD, reference, u32::MAX.into())? as u32,
        encoding: number(FIELD, encoding, u8::MAX.into())? as u8,
        instance: instance.map(|text| number(FIELD, text, u16::MAX.into())).transpose()?.map(|id| id as u16),
    })
}
