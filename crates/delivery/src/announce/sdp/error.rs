//! What can be wrong with a description.

use core::fmt;
use std::net::IpAddr;

use super::limits::{PARTS_MAX, SDP_MAX, TSI_MAX};
use crate::session::MAX_CHANNELS;

/// Why a text is not the description of a session, or a description cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdpError {
    /// The line, counted from 1; none if it is about the whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: SdpProblem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SdpProblem {
    /// It is longer than [`SDP_MAX`].
    #[error("it has {0} bytes; at most {SDP_MAX} are accepted")]
    Long(usize),
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    Utf8,
    /// A line that is not a letter, `=` and a value.
    #[error("`{0}` is not of the form `LETTER=VALUE`")]
    Form(String),
    /// A letter that RFC 8866 does not define.
    #[error("`{0}=` is not a line of SDP (RFC 8866, section 5)")]
    Letter(char),
    /// The first line is another one, or the version.
    #[error("it must begin with `v=0`")]
    Version,
    /// Something that every description must have.
    #[error("there is no `{0}`, which the description of a FLUTE session must have")]
    Missing(&'static str),
    /// Something that is there twice.
    #[error("`{0}` is there twice")]
    Duplicate(&'static str),
    /// A number that is none, or too large.
    #[error("`{text}` is not a valid number for `{field}`")]
    Number {
        /// Where.
        field: &'static str,
        /// What is there.
        text: String,
    },
    /// A line that does not have the parts that it should.
    #[error("the line `{0}` is not of the form `{1}`")]
    Shape(&'static str, &'static str),
    /// Text that has control characters, or is empty, or has spaces where it may not.
    #[error("the text of `{0}` is empty or has characters that it must not have")]
    Text(&'static str),
    /// An address that cannot be read, or is not of the family before it.
    #[error("`{0}` is not an address of the family that the line gives")]
    Address(String),
    /// A group that is not multicast, or not for sessions, or whose last channel is not.
    #[error("{0} and the channels after it are not multicast groups for a session")]
    Group(IpAddr),
    /// The TTL is missing for IPv4 or given for IPv6.
    #[error("`c=` has a TTL for IPv4, as in `239.1.2.0/16`, and none for IPv6")]
    Ttl,
    /// A filter for sources that FLUTE does not allow.
    #[error("a FLUTE session has one source: `a=source-filter: incl IN IP4 * ADDRESS`")]
    Filter,
    /// Two session numbers.
    #[error("it describes the sessions {0} and {1}; give each its own description")]
    Sessions(u64, u64),
    /// The session number is too large.
    #[error("the session number is {0}; the largest is {TSI_MAX}")]
    Tsi(u64),
    /// `flute-ch` and the lines with addresses disagree.
    #[error("`a=flute-ch` gives {given} channels, and the `c=` lines give {found}")]
    Channels {
        /// By the attribute.
        given: u32,
        /// By the addresses.
        found: u32,
    },
    /// Too many channels.
    #[error("{0} channels; at most {MAX_CHANNELS} are possible")]
    ManyChannels(u32),
    /// Too many of something.
    #[error("more than {PARTS_MAX} `{0}`")]
    Many(&'static str),
    /// A FEC scheme that is referred to and not declared.
    #[error("`a=FEC:{0}` refers to no `a=FEC-declaration`")]
    Fec(u32),
    /// It describes something, but no FLUTE session.
    #[error("it has no line `m=application PORT FLUTE/UDP *`; it is not the description of a FLUTE session")]
    NoFlute,
    /// The channels are not consecutive addresses with one port, which a session of ours has.
    #[error("the channels are not consecutive groups with one port, as those of Layercast are")]
    Layout,
    /// A session without our description that has several channels.
    #[error(
        "a FLUTE session of {0} channels, and no `a=x-layercast`: how its receivers should share them is not known"
    )]
    FluteChannels(u32),
}

impl SdpError {
    /// About a line.
    pub(super) fn at(line: usize, problem: SdpProblem) -> SdpError {
        SdpError { line: Some(line), problem }
    }

    /// About the whole.
    pub(super) fn whole(problem: SdpProblem) -> SdpError {
        SdpError { line: None, problem }
    }
}

impl fmt::Display for SdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "SDP, line {line}: {}", self.problem),
            None => write!(f, "SDP: {}", self.problem),
        }
    }
}

impl core::error::Error for SdpError {}
