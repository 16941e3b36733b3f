//! Why a reception ends early.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::accept::AcceptCounters;
use crate::protocols::ProtocolError;
use crate::search::SearchError;
use crate::security::keys::Fingerprint;
use crate::signed_table::Untrusted;

/// Why a reception ends early, in words for the operator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReceiveError {
    /// The address is not a usable multicast group.
    #[error(
        "{address} is not a multicast group for a session: use one from 224.0.1.0 to 239.255.255.255, or ff03:: to fffe::"
    )]
    WrongGroup {
        /// The address.
        address: IpAddr,
    },
    /// No valid packet arrived for too long.
    #[error("no valid packet from {group} for {} s. {reasons}. `layercast doctor --group {group}` looks for the cause", waited.as_secs())]
    Silent {
        /// The base group.
        group: SocketAddr,
        /// The length of the silence.
        waited: Duration,
        /// Possible reasons.
        reasons: String,
    },
    /// The session's packets are authenticated, and there is no key or another one.
    #[error("the session is authenticated by the group key {fingerprint}: {reason}")]
    GroupKey {
        /// The fingerprint of the session's key.
        fingerprint: String,
        /// What is wrong.
        reason: String,
    },
    /// The receiver demands authentication, and the session has none.
    #[error(
        "the session's packets are not authenticated, and a group key was given here: remove it, or ask the sender for --group-key"
    )]
    NotAuthenticated,
    /// No packet is authentic.
    #[error(
        "no packet of the session is authentic by the group key {given}: ask the sender for the file of its key, and for the URL of this session"
    )]
    WrongGroupKey {
        /// The key that was given.
        given: Fingerprint,
    },
    /// The session is encrypted, and there is no key.
    #[error("the session's packets are encrypted: give the sender's group key with --group-key FILE")]
    Encrypted,
    /// The session is encrypted, and there is no salt.
    #[error(
        "the session's packets are encrypted, and its group alone does not tell how: use its URL, its SDP file or the name by which it is announced"
    )]
    NoSalt,
    /// The session should be encrypted, and is not.
    #[error(
        "the session's packets are not encrypted, and by the description that was given here they should be: ask the sender"
    )]
    NotEncrypted,
    /// The session's table is not signed by a key that is trusted.
    #[error("the session is refused: {reason}. Only what {} has signed is received", keys.join(" or "))]
    NotSigned {
        /// The fingerprints of the keys that are trusted.
        keys: Vec<String>,
        /// What is wrong.
        reason: Untrusted,
    },
    /// The session has live data, and files were asked for.
    #[error("the session is a stream of live data, not of files: receive it with --stream")]
    IsStream,
    /// The session has files, and live data was asked for.
    #[error("the session has files, not a stream of live data: receive it without --stream")]
    NotStream,
    /// The session goes over relays that take part, and none is known.
    #[error(
        "the session's protocol {protocol} needs relays that take part, or its source: name one with --relay"
    )]
    NoParents {
        /// The protocol.
        protocol: String,
    },
    /// The endpoint has left a session whose routers take part.
    #[error("the receiver left the session: too much was lost, or nothing came any more")]
    Left,
    /// The session could not be found by its table.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The session's protocol, or an option of it, does not fit.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The session has as many receivers as its protocol serves.
    #[error(
        "the source turned this receiver away: {protocol} serves at most {most} at a time and is full. Try again later, or ask the sender for a protocol that serves many, such as tide"
    )]
    Full {
        /// The protocol.
        protocol: String,
        /// How many receivers it serves.
        most: usize,
    },
    /// The source ended the session before the file was complete.
    #[error("the source ended the session after {held} of {needed} symbols")]
    SessionEnded {
        /// Symbols received.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// The time limit is over.
    #[error("not complete after {} s: {held} of {needed} symbols received", after.as_secs())]
    TimeOver {
        /// The time limit.
        after: Duration,
        /// Symbols received.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl ReceiveError {
    /// Its name for programs, which does not change.
    pub fn name(&self) -> &'static str {
        match self {
            ReceiveError::WrongGroup { .. } => "wrong_group",
            ReceiveError::Silent { .. } => "silent",
            ReceiveError::GroupKey { .. } => "group_key",
            ReceiveError::NotAuthenticated => "not_authenticated",
            ReceiveError::WrongGroupKey { .. } => "wrong_group_key",
            ReceiveError::Encrypted => "encrypted",
            ReceiveError::NoSalt => "no_salt",
            ReceiveError::NotEncrypted => "not_encrypted",
            ReceiveError::NotSigned { .. } => "not_signed",
            ReceiveError::IsStream | ReceiveError::NotStream => "other_content",
            ReceiveError::NoParents { .. } => "no_relay",
            ReceiveError::Left => "left",
            ReceiveError::Search(_) => "session_not_found",
            ReceiveError::Protocol(error) => error.name(),
            ReceiveError::Full { .. } => "full",
            ReceiveError::SessionEnded { .. } => "session_ended",
            ReceiveError::TimeOver { .. } => "time_over",
            ReceiveError::Interrupted => "interrupted",
        }
    }

    /// Whether it may pass without a change of the arguments.
    pub fn may_pass(&self) -> bool {
        !matches!(
            self,
            ReceiveError::Interrupted
                | ReceiveError::TimeOver { .. }
                | ReceiveError::WrongGroup { .. }
                | ReceiveError::NoParents { .. }
                | ReceiveError::Protocol(ProtocolError::Agreed { .. } | ProtocolError::Option { .. })
                | ReceiveError::Protocol(ProtocolError::SimulatedOnly { .. })
        )
    }

    /// Whether no packet came that the keys fit. Then the session may be elsewhere.
    pub(super) fn is_absence(&self) -> bool {
        matches!(
            self,
            ReceiveError::Silent { .. }
                | ReceiveError::NotAuthenticated
                | ReceiveError::WrongGroupKey { .. }
                | ReceiveError::NoSalt
                | ReceiveError::NotEncrypted
                | ReceiveError::NotSigned { .. }
        )
    }
}

/// Why no valid packet arrived, from the packets that did.
pub(super) fn reasons(counters: &AcceptCounters, forged: u64, began: bool) -> String {
    let mut seen = Vec::new();
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            seen.push(format!("{count} {what}"));
        }
    };
    say(forged, "packets that the group key does not authenticate (has the sender another one, or none?)");
    say(counters.other_session, "packets of another session (was the source restarted?)");
    say(counters.other_source, "packets from another source");
    say(counters.malformed, "packets of another format (does another program use this group and port?)");
    say(counters.misplaced, "packets on the wrong group");
    if !began {
        say(counters.packets, "packets of a session without a usable file delivery table");
    }
    if !seen.is_empty() {
        return format!("There were {}", seen.join(", "));
    }
    if began {
        return "The source may have stopped without announcing it, the path to it may be broken, or it may have another \
                address now, which a receiver that was given the old one (--source, a URL) does not follow"
            .to_owned();
    }
    "Likely reasons: the source is not sending, or to another group or port; this is the wrong interface; \
     a firewall drops UDP; or no router forwards the group here (on a snooping switch without a querier \
     a group also stays silent)"
        .to_owned()
}
