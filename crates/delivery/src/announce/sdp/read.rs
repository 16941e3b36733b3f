//! The reader: ours exactly, others' with patience.
//!
//! RFC 8866 fixes the order of lines, but announcements for FLUTE in use put attributes before `b=` and `c=`; so only
//! `v=` has its place, and whether a line is before or after the first `m=`. Attributes that are not known, and media that
//! are not FLUTE, are skipped. A letter that is not in the RFC makes the description invalid, as it demands.

use std::net::IpAddr;

use super::description::{Description, Fec, Media, Origin};
use super::error::{SdpError, SdpProblem};
use super::fields::{connection, fec, flute_port, is_line, number, origin, parts, quoted, source_filter};
use super::limits::{PARTS_MAX, SDP_MAX, TSI_MAX};
use crate::address::higher;
use crate::announce::signature::PublicKey;
use crate::security::key_file::read_key_letters;
use layercast_core::cannot_be;

/// What was found so far.
#[derive(Default)]
struct Reader {
    origin: Option<Origin>,
    name: Option<String>,
    information: Option<String>,
    times: Option<(u64, u64)>,
    source: Option<IpAddr>,
    tsi: Option<u64>,
    channels: Option<u32>,
    key: Option<PublicKey>,
    fec: Vec<Fec>,
    /// `c=` and `b=` before the first `m=`.
    connection: Option<(IpAddr, Option<u8>, u16)>,
    kbps: Option<u64>,
    /// FLUTE's `m=` lines with their line numbers.
    media: Vec<(usize, Part)>,
    place: Place,
    lines: Vec<(String, String)>,
}

/// An `m=` line and what belongs to it.
#[derive(Default)]
struct Part {
    port: u16,
    connection: Option<(IpAddr, Option<u8>, u16)>,
    kbps: Option<u64>,
    fec: Vec<u32>,
}

/// Which part a line belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Session,
    Flute,
    OtherMedia,
}

/// Fills what may be there once.
fn once<T>(slot: &mut Option<T>, field: &'static str, value: T) -> Result<(), SdpProblem> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SdpProblem::Duplicate(field)),
    }
}

/// Adds to what may be there [`PARTS_MAX`] times.
fn push<T>(list: &mut Vec<T>, field: &'static str, value: T) -> Result<(), SdpProblem> {
    if list.len() == PARTS_MAX {
        return Err(SdpProblem::Many(field));
    }
    list.push(value);
    Ok(())
}

/// Text that people may be shown.
fn text(field: &'static str, value: &str) -> Result<String, SdpProblem> {
    if is_line(value) { Ok(value.to_owned()) } else { Err(SdpProblem::Text(field)) }
}

impl Description {
    /// Reads a description. Never panics, and keeps no more than a small multiple of [`SDP_MAX`] bytes.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn read(bytes: &[u8]) -> Result<Description, SdpError> {
        if bytes.len() > SDP_MAX {
            return Err(SdpError::whole(SdpProblem::Long(bytes.len())));
        }
        let all = str::from_utf8(bytes).map_err(|_| SdpError::whole(SdpProblem::Utf8))?;
        let mut reader = Reader::default();
        let mut count = 0;
        for (index, line) in all.lines().enumerate() {
            count = index + 1;
            let at = |problem| SdpError::at(index + 1, problem);
            let (letter, value) = split(line).ok_or_else(|| at(SdpProblem::Form(quoted(line))))?;
            if (index == 0) != (letter == 'v') || (letter == 'v' && value != "0") {
                return Err(at(SdpProblem::Version));
            }
            reader.line(index + 1, letter, value).map_err(at)?;
        }
        if count == 0 {
            return Err(SdpError::whole(SdpProblem::Version));
        }
        reader.finish()
    }
}

/// Letter and value of a line.
fn split(line: &str) -> Option<(char, &str)> {
    let mut chars = line.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    Some((letter, chars.as_str().strip_prefix('=')?))
}

impl Origin {
    /// The origin from the line `o=` alone, as a deletion has it (RFC 2974, section 6).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Origin, SdpError> {
        let all = str::from_utf8(bytes).map_err(|_| SdpError::whole(SdpProblem::Utf8))?;
        let value = all.lines().next().and_then(|line| line.strip_prefix("o="));
        let value = value.ok_or_else(|| SdpError::whole(SdpProblem::Missing("o=")))?;
        origin(value).map_err(|problem| SdpError::at(1, problem))
    }
}

impl Reader {
    fn line(&mut self, line: usize, letter: char, value: &str) -> Result<(), SdpProblem> {
        match letter {
            'v' | 'u' | 'e' | 'p' | 'r' | 'z' | 'k' => Ok(()),
            'm' => match flute_port(value)? {
                Some(port) => {
                    self.place = Place::Flute;
                    push(&mut self.media, "m=", (line, Part { port, ..Part::default() }))
                }
                None => {
                    self.place = Place::OtherMedia;
                    Ok(())
                }
            },
            'o' | 's' | 'i' | 't' | 'c' | 'b' | 'a' => match self.place {
                Place::OtherMedia => Ok(()),
                Place::Session => self.session_line(letter, value),
                Place::Flute => self.media_line(letter, value),
            },
            other => Err(SdpProblem::Letter(other)),
        }
    }

    fn session_line(&mut self, letter: char, value: &str) -> Result<(), SdpProblem> {
        match letter {
            'o' => once(&mut self.origin, "o=", origin(value)?),
            's' => once(&mut self.name, "s=", text("s=", value)?),
            'i' => once(&mut self.information, "i=", text("i=", value)?),
            't' => self.times(value),
            'c' => once(&mut self.connection, "c=", connection(value)?),
            'b' => bandwidth(&mut self.kbps, value),
            _ => self.attribute(value),
        }
    }

    fn media_line(&mut self, letter: char, value: &str) -> Result<(), SdpProblem> {
        let Some((_, part)) = self.media.last_mut() else {
            cannot_be::<()>("the line follows that of its media");
            return Ok(());
        };
        match (letter, value.strip_prefix("FEC:")) {
            ('c', _) => {
                let new = connection(value)?;
                // Layers of one `m=` line may also be a `c=` line each (RFC 8866, section 5.7).
                let (group, ttl, channels) = *part.connection.get_or_insert((new.0, new.1, 0));
                if higher(group, channels) != Some(new.0) || ttl != new.1 {
                    return Err(SdpProblem::Layout);
                }
                let total = channels.checked_add(new.2).ok_or(SdpProblem::ManyChannels(u16::MAX.into()))?;
                part.connection = Some((group, ttl, total));
                Ok(())
            }
            ('b', _) => bandwidth(&mut part.kbps, value),
            ('a', Some(reference)) => {
                let reference = number("a=FEC", reference.trim(), u32::MAX.into())? as u32;
                push(&mut part.fec, "a=FEC", reference)
            }
            ('a', None) => self.attribute(value),
            ('o' | 's' | 't', _) => Err(SdpProblem::Shape("m=", "o=, s= and t= come before the first m=")),
            _ => Ok(()),
        }
    }

    /// The first start and the last end, where there are several.
    fn times(&mut self, value: &str) -> Result<(), SdpProblem> {
        let [start, stop] = parts("t=", "t=START STOP", value)?;
        let (start, stop) = (number("t=", start, u64::MAX)?, number("t=", stop, u64::MAX)?);
        self.times = Some(match self.times {
            None => (start, stop),
            Some((first, last)) => (first.min(start), if last.min(stop) == 0 { 0 } else { last.max(stop) }),
        });
        Ok(())
    }

    fn attribute(&mut self, value: &str) -> Result<(), SdpProblem> {
        let (name, value) = value.split_once(':').unwrap_or((value, ""));
        match name {
            "source-filter" => {
                let source = source_filter(value)?;
                if self.source.is_some_and(|known| known != source) {
                    return Err(SdpProblem::Filter);
                }
                self.source = Some(source);
            }
            "flute-tsi" => {
                let tsi = number("a=flute-tsi", value.trim(), TSI_MAX)?;
                if let Some(known) = self.tsi.filter(|&known| known != tsi) {
                    return Err(SdpProblem::Sessions(known, tsi));
                }
                self.tsi = Some(tsi);
            }
            "flute-ch" => {
                let channels = number("a=flute-ch", value.trim(), u32::MAX.into())? as u32;
                once(&mut self.channels, "a=flute-ch", channels)?;
            }
            "FEC-declaration" => {
                let fec = fec(value)?;
                if self.fec.iter().any(|known| known.reference == fec.reference) {
                    return Err(SdpProblem::Duplicate("a=FEC-declaration"));
                }
                push(&mut self.fec, "a=FEC-declaration", fec)?;
            }
            "x-layercast-key" => {
                let key = *read_key_letters(value).map_err(|_| SdpProblem::Text("a=x-layercast-key"))?;
                once(&mut self.key, "a=x-layercast-key", key)?;
            }
            "x-layercast" => {
                const FIELD: &str = "a=x-layercast";
                let form = SdpProblem::Shape(FIELD, "a=x-layercast:KEY = VALUE");
                let (key, value) = value.split_once('=').ok_or(form)?;
                let (key, value) = (text(FIELD, key.trim())?, text(FIELD, value.trim())?);
                if self.lines.iter().any(|(known, _)| *known == key) {
                    return Err(SdpProblem::Duplicate(FIELD));
                }
                push(&mut self.lines, FIELD, (key, value))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Description, SdpError> {
        let missing = |field| SdpError::whole(SdpProblem::Missing(field));
        if self.media.is_empty() {
            return Err(SdpError::whole(SdpProblem::NoFlute));
        }
        let (start_s, stop_s) = self.times.ok_or_else(|| missing("t="))?;
        let mut media = Vec::with_capacity(self.media.len());
        // That of the session is the sum over its media.
        let session_kbps = self.kbps.filter(|_| self.media.len() == 1);
        for (line, part) in self.media {
            let at = |problem| SdpError::at(line, problem);
            let connection = part.connection.or(self.connection);
            let (group, ttl, channels) = connection.ok_or_else(|| at(SdpProblem::Missing("c=")))?;
            let undeclared =
                part.fec.iter().find(|&&reference| self.fec.iter().all(|fec| fec.reference != reference));
            if let Some(&reference) = undeclared {
                return Err(at(SdpProblem::Fec(reference)));
            }
            let kbps = part.kbps.or(session_kbps);
            media.push(Media { port: part.port, group, ttl, channels, kbps, fec: part.fec });
        }
        let description = Description {
            origin: self.origin.ok_or_else(|| missing("o="))?,
            name: self.name.ok_or_else(|| missing("s="))?,
            information: self.information,
            start_s,
            stop_s,
            source: self.source,
            tsi: self.tsi.ok_or_else(|| missing("a=flute-tsi"))?,
            key: self.key,
            fec: self.fec,
            media,
            lines: self.lines,
        };
        let found = description.channels();
        if let Some(given) = self.channels.filter(|&given| given != found) {
            return Err(SdpError::whole(SdpProblem::Channels { given, found }));
        }
        description.check()?;
        Ok(description)
    }
}

/// `b=AS:KBPS`; other kinds of bandwidth are not needed here (RFC 8866, section 5.8).
fn bandwidth(slot: &mut Option<u64>, value: &str) -> Result<(), SdpProblem> {
    match value.strip_prefix("AS:") {
        Some(kbps) => once(slot, "b=AS", number("b=AS", kbps.trim(), u64::MAX)?),
        None => Ok(()),
    }
}
