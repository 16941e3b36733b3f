//! Sessions of ours in SDP, and back.

use std::net::SocketAddr;

use super::description::{Description, Fec, Media, Origin};
use super::error::{SdpError, SdpProblem};
use crate::announce::flute::FluteSession;
use crate::object::{FEC_NO_CODE, FEC_RAPTORQ};
use crate::session::Session;

/// The keys of a session description that SDP says itself, with FLUTE's attributes.
const SAID_BY_SDP: [&str; 3] = ["session", "source", "group"];

impl Description {
    /// Describes a session. `ttl` is that of its packets.
    ///
    /// # Errors
    /// What of it cannot be written in SDP.
    pub fn of_session(
        session: &Session,
        name: &str,
        origin: Origin,
        ttl: u8,
    ) -> Result<Description, SdpError> {
        let missing = |field| SdpError::whole(SdpProblem::Missing(field));
        let text = session.to_string();
        let value = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(" = "));
            lines.find(|(found, _)| *found == key).map(|(_, value)| value.trim_matches('"'))
        };
        // The addresses are taken from the text, which has them for IPv4 and IPv6 alike.
        let group: SocketAddr =
            value("group").and_then(|group| group.parse().ok()).ok_or_else(|| missing("group"))?;
        let source =
            value("source").map(|source| source.parse().map_err(|_| missing("source"))).transpose()?;
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        let top_kbps = session.layers.top_rate().as_bps() / 1000.0;
        let description = Description {
            origin,
            name: name.to_owned(),
            information: None,
            start_s: 0,
            stop_s: 0,
            source,
            tsi: session.tsi.into(),
            key: None,
            fec: vec![
                Fec { reference: 0, encoding: FEC_NO_CODE, instance: None },
                Fec { reference: 1, encoding: FEC_RAPTORQ, instance: None },
            ],
            media: vec![Media {
                port: group.port(),
                group: group.ip(),
                ttl: group.is_ipv4().then_some(ttl),
                channels: session.channels,
                kbps: Some(top_kbps.ceil() as u64),
                fec: vec![0, 1],
            }],
            lines: lines
                .filter(|(key, _)| !SAID_BY_SDP.contains(key))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        };
        description.check()?;
        Ok(description)
    }

    /// The session, if it is not one of ours: a FLUTE session of one channel.
    ///
    /// # Errors
    /// If it has several channels.
    pub fn flute_session(&self) -> Result<Option<FluteSession>, SdpError> {
        if !self.lines.is_empty() {
            return Ok(None);
        }
        match (self.group(), self.channels()) {
            (Some(group), 1) => Ok(Some(FluteSession { group, source: self.source, tsi: self.tsi })),
            (_, channels) => Err(SdpError::whole(SdpProblem::FluteChannels(channels))),
        }
    }

    /// The session description as [`crate::session`] reads it.
    ///
    /// # Errors
    /// If the session is not one of ours, or its channels are not what ours can have.
    pub fn session_text(&self) -> Result<String, SdpError> {
        let missing = |field| SdpError::whole(SdpProblem::Missing(field));
        if self.lines.is_empty() {
            return Err(missing("a=x-layercast"));
        }
        let group = self.group().ok_or_else(|| SdpError::whole(SdpProblem::Layout))?;
        let mut text = String::new();
        for (key, value) in &self.lines {
            text.extend([key, " = ", value, "\n"]);
            if key == "layercast" {
                // The order of the keys is that of a description that was never in SDP.
                text += &format!("session = {}\n", self.tsi);
            } else if key == "protocol" {
                if let Some(source) = self.source {
                    text += &format!("source = \"{source}\"\n");
                }
                text += &format!("group = \"{group}\"\n");
            }
        }
        Ok(text)
    }
}
