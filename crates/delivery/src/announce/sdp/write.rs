//! The writer, and what a description must fulfil to be written.

use core::fmt::Write as _;
use std::net::IpAddr;

use super::description::{Description, Origin};
use super::error::{SdpError, SdpProblem};
use super::fields::{is_line, is_word};
use super::limits::{PARTS_MAX, SDP_MAX, TSI_MAX};
use crate::address::{higher, is_unicast, is_usable_group};
use crate::security::key_file::key_letters;
use crate::session::MAX_CHANNELS;
use layercast_core::Always as _;

/// `IP4` or `IP6`.
fn family(is_v6: bool) -> &'static str {
    if is_v6 { "IP6" } else { "IP4" }
}

impl Origin {
    /// The line `o=`, which is also what a deletion carries (RFC 2974, section 6).
    pub fn line(&self) -> String {
        let Origin { username, id, version, is_v6, address } = self;
        format!("o={username} {id} {version} IN {} {address}\r\n", family(*is_v6))
    }
}

impl Description {
    /// Checks the description.
    ///
    /// # Errors
    /// What could not be written, or is no session that can be joined.
    pub fn check(&self) -> Result<(), SdpError> {
        self.find_problem().map_or(Ok(()), |problem| Err(SdpError::whole(problem)))
    }

    fn find_problem(&self) -> Option<SdpProblem> {
        if !is_word(&self.origin.username) || !is_word(&self.origin.address) {
            return Some(SdpProblem::Text("o="));
        }
        if !is_line(&self.name) {
            return Some(SdpProblem::Text("s="));
        }
        if self.information.as_deref().is_some_and(|text| !is_line(text)) {
            return Some(SdpProblem::Text("i="));
        }
        if self.tsi > TSI_MAX {
            return Some(SdpProblem::Tsi(self.tsi));
        }
        if self.source.is_some_and(|source| !is_unicast(source)) {
            return Some(SdpProblem::Filter);
        }
        for (key, value) in &self.lines {
            let is_trimmed = key.trim() == key && value.trim() == value && !key.contains('=');
            if !is_line(key) || !is_line(value) || !is_trimmed {
                return Some(SdpProblem::Text("a=x-layercast"));
            }
        }
        for (list, length) in [
            ("a=FEC-declaration", self.fec.len()),
            ("m=", self.media.len()),
            ("a=x-layercast", self.lines.len()),
        ] {
            if length > PARTS_MAX {
                return Some(SdpProblem::Many(list));
            }
        }
        if self.media.is_empty() {
            return Some(SdpProblem::NoFlute);
        }
        if self.channels() > u32::from(MAX_CHANNELS) {
            return Some(SdpProblem::ManyChannels(self.channels()));
        }
        self.media.iter().find_map(|media| {
            let is_declared = |&reference: &u32| self.fec.iter().any(|fec| fec.reference == reference);
            let last = media.channels.checked_sub(1).and_then(|count| higher(media.group, count));
            if !is_usable_group(media.group) || !last.is_some_and(is_usable_group) {
                Some(SdpProblem::Group(media.group))
            } else if self.source.is_some_and(|source| source.is_ipv4() != media.group.is_ipv4()) {
                Some(SdpProblem::Address(media.group.to_string()))
            } else if media.ttl.is_some() != media.group.is_ipv4() {
                Some(SdpProblem::Ttl)
            } else if media.port == 0 {
                Some(SdpProblem::Number { field: "m=", text: "0".into() })
            } else {
                media.fec.iter().find(|reference| !is_declared(reference)).copied().map(SdpProblem::Fec)
            }
        })
    }

    /// The description as text.
    ///
    /// # Errors
    /// What could not be written, or is no session that can be joined.
    pub fn write(&self) -> Result<String, SdpError> {
        self.check()?;
        let mut out = String::from("v=0\r\n");
        out += &self.origin.line();
        // Writing to a string cannot fail.
        let _ = write!(out, "s={}\r\n", self.name);
        if let Some(information) = &self.information {
            let _ = write!(out, "i={information}\r\n");
        }
        let _ = write!(out, "t={} {}\r\n", self.start_s, self.stop_s);
        if let Some(source) = self.source {
            let _ = write!(out, "a=source-filter: incl IN {} * {source}\r\n", family(source.is_ipv6()));
        }
        let _ = write!(out, "a=flute-tsi:{}\r\na=flute-ch:{}\r\n", self.tsi, self.channels());
        for fec in &self.fec {
            let _ = write!(out, "a=FEC-declaration:{} encoding-id={}", fec.reference, fec.encoding);
            if let Some(instance) = fec.instance {
                let _ = write!(out, "; instance-id={instance}");
            }
            out += "\r\n";
        }
        if let Some(key) = &self.key {
            let _ = write!(out, "a=x-layercast-key:{}\r\n", *key_letters(key));
        }
        for (key, value) in &self.lines {
            let _ = write!(out, "a=x-layercast:{key} = {value}\r\n");
        }
        for media in &self.media {
            let _ = write!(out, "m=application {} FLUTE/UDP *\r\n", media.port);
            match (media.group, media.ttl) {
                (IpAddr::V4(group), ttl) => {
                    let _ = write!(
                        out,
                        "c=IN IP4 {group}/{}",
                        ttl.always("it was checked that a group of IPv4 has one")
                    );
                }
                (IpAddr::V6(group), _) => {
                    let _ = write!(out, "c=IN IP6 {group}");
                }
            }
            if media.channels > 1 {
                let _ = write!(out, "/{}", media.channels);
            }
            out += "\r\n";
            if let Some(kbps) = media.kbps {
                let _ = write!(out, "b=AS:{kbps}\r\n");
            }
            for reference in &media.fec {
                let _ = write!(out, "a=FEC:{reference}\r\n");
            }
        }
        if out.len() > SDP_MAX {
            return Err(SdpError::whole(SdpProblem::Long(out.len())));
        }
        Ok(out)
    }
}
