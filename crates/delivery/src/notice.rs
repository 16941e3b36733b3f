//! What an operator should know while a transfer runs.

use core::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use layercast_core::units::Rate;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::announce::flute::FluteSession;
use crate::groups::GroupRange;
use crate::relay::child::ParentEvent;

/// Something that does not end a transfer, in words for the operator. Each is given once, not for every packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A source hears another sender on its group.
    OtherSender {
        /// Where its packets come from.
        from: IpAddr,
        /// The group.
        group: SocketAddr,
        /// Whether they are packets of this transport.
        is_ours: bool,
    },
    /// Another session uses some of a source's groups.
    SharedGroups {
        /// Its name, where it was announced.
        name: String,
        /// Who announced it.
        from: IpAddr,
        /// Its groups.
        groups: GroupRange,
        /// The groups of the source's own session.
        own: GroupRange,
        /// A group from which on there is space.
        free: Option<SocketAddr>,
    },
    /// The source sends only the layers that are in demand, and does not know of this receiver.
    NotHeard,
    /// No receiver has been heard for a while: the source only announces the session.
    NobodyListens {
        /// It sends one packet each so long.
        every: Duration,
    },
    /// The source's own uplink takes less than is sent.
    UplinkFull {
        /// What it carries.
        carried: Rate,
        /// The rate of the base layer, if that is more.
        base: Option<Rate>,
        /// Whether the kernel refused packets; otherwise all receivers lose much of the base.
        is_seen: bool,
    },
    /// A receiver, or a relay, has news of the relay above it.
    Relay {
        /// It.
        news: ParentEvent,
    },
    /// No multicast comes, or no longer: a receiver tries the relays that it was given.
    NoMulticast {
        /// The base layer's group.
        group: SocketAddr,
        /// For how long nothing came.
        waited: Duration,
    },
    /// Multicast comes again, and the relay is left.
    MulticastBack {
        /// The base layer's group.
        group: SocketAddr,
    },
    /// Packets of groups that a receiver has left do not stop.
    LeavesWithoutEffect,
    /// A receiver sees packets of another session on one of its groups.
    OtherSession {
        /// Where they come from.
        from: IpAddr,
        /// The base layer's group.
        group: SocketAddr,
        /// The source of the session that is received.
        source: IpAddr,
    },
    /// The session has as many receivers as its protocol serves.
    TurnedAway {
        /// The receiver that came too late.
        receiver: SocketAddr,
        /// The protocol.
        protocol: &'static str,
        /// How many receivers it serves.
        most: usize,
    },
    /// A receiver of a session that sends everything once came when it had begun.
    CameLate,
    /// The network does not take packets.
    UplinkDown {
        /// The system's reason.
        reason: String,
        /// For how long it tries on; none without an end.
        patience: Option<Duration>,
    },
    /// The network takes packets again.
    UplinkBack {
        /// The length of the outage.
        after: Duration,
    },
    /// This host has another address, from which the source goes on.
    Moved {
        /// The address that it had.
        from: IpAddr,
        /// The address that it has.
        to: IpAddr,
    },
    /// This machine does not keep the session's rates.
    Late {
        /// How late packets are on average.
        mean: Duration,
    },
    /// The base layer is faster than the path, and there is no lower level.
    BaseTooFast {
        /// The rate of the base layer.
        base: Rate,
        /// The rate at which its packets arrive.
        arriving: Rate,
        /// The share of its packets that were lost.
        lost: f64,
    },
    /// A file delivery table cannot be used.
    TableRejected {
        /// Where it came from.
        from: IpAddr,
        /// Why.
        reason: String,
    },
    /// A session is there that the keys that are given do not fit, and another one is waited for.
    PassedOver {
        /// The base layer's group.
        group: SocketAddr,
        /// What is wrong with it.
        reason: String,
    },
    /// A session of another FLUTE sender was found.
    FluteSession {
        /// The session, with its source.
        session: FluteSession,
    },
    /// Nothing that can be received comes from where the session of a name was announced, so announcements are listened to again.
    Listening {
        /// The name.
        name: String,
        /// The base layer's group.
        group: SocketAddr,
    },
    /// The session is silent, and another one is there: a source that was restarted, as a rule.
    Following,
    /// The path loses most of the base layer: the receiver leaves for a while.
    Overloaded {
        /// For how long.
        pause: Duration,
    },
    /// A file that is being sent changed or vanished.
    Withdrawn {
        /// The file.
        path: PathBuf,
        /// Whether it vanished.
        vanished: bool,
    },
    /// The session cannot be announced.
    NotAnnounced {
        /// Why.
        reason: String,
    },
    /// A receiver has news of its AMT relay.
    Amt {
        /// It.
        news: AmtNews,
    },
    /// Nothing more can be written to the output of a layer of a stream.
    OutputClosed {
        /// The output.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Something in a folder is not sent.
    LeftOut {
        /// What.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A service waits for the next session.
    Waiting {
        /// Whether the source ended the last one; otherwise there is silence.
        ended: bool,
    },
    /// A service tries again after an error.
    Retrying {
        /// The error.
        reason: String,
        /// In so long.
        pause: Duration,
    },
    /// Files changed while they were followed.
    Changed {
        /// How many are new or have another content.
        added: usize,
        /// How many are gone.
        removed: usize,
    },
    /// Changes cannot be followed now.
    NotFollowed {
        /// Why.
        reason: String,
    },
    /// The state of the sender cannot be written.
    StateNotWritten {
        /// Its file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// What a receiver says of its AMT relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmtNews {
    /// Packets come through this one.
    Served(SocketAddr),
    /// This one, or the address of discovery, does not answer.
    Silent(SocketAddr),
    /// This one takes no more tunnels.
    Full(SocketAddr),
    /// This one answers, and sends nothing.
    NoData(SocketAddr),
}

impl Notice {
    /// Its name for programs, which does not change.
    pub fn name(&self) -> &'static str {
        match self {
            Notice::OtherSender { .. } => "other_sender",
            Notice::SharedGroups { .. } => "shared_groups",
            Notice::NotHeard => "not_heard",
            Notice::NobodyListens { .. } => "nobody_listens",
            Notice::UplinkFull { .. } => "uplink_full",
            Notice::Relay { .. } => "relay",
            Notice::NoMulticast { .. } => "no_multicast",
            Notice::MulticastBack { .. } => "multicast_back",
            Notice::LeavesWithoutEffect => "leaves_without_effect",
            Notice::OtherSession { .. } => "other_session",
            Notice::TurnedAway { .. } => "turned_away",
            Notice::CameLate => "came_late",
            Notice::UplinkDown { .. } => "uplink_down",
            Notice::UplinkBack { .. } => "uplink_back",
            Notice::Moved { .. } => "moved",
            Notice::Late { .. } => "late",
            Notice::BaseTooFast { .. } => "base_too_fast",
            Notice::TableRejected { .. } => "table_rejected",
            Notice::PassedOver { .. } => "passed_over",
            Notice::FluteSession { .. } => "flute_session",
            Notice::Listening { .. } => "listening",
            Notice::Following => "following",
            Notice::Overloaded { .. } => "overloaded",
            Notice::Withdrawn { .. } => "withdrawn",
            Notice::LeftOut { .. } => "left_out",
            Notice::NotAnnounced { .. } => "not_announced",
            Notice::Amt { .. } => "amt",
            Notice::OutputClosed { .. } => "output_closed",
            Notice::Waiting { .. } => "waiting",
            Notice::Retrying { .. } => "retrying",
            Notice::Changed { .. } => "changed",
            Notice::NotFollowed { .. } => "not_followed",
            Notice::StateNotWritten { .. } => "state_not_written",
        }
    }

    /// Whether something is wrong.
    pub fn is_warning(&self) -> bool {
        !matches!(
            self,
            Notice::UplinkBack { .. }
                | Notice::NobodyListens { .. }
                | Notice::Amt { news: AmtNews::Served(_) }
                | Notice::Relay { news: ParentEvent::Served(_) }
                | Notice::NoMulticast { .. }
                | Notice::MulticastBack { .. }
                | Notice::Following
                | Notice::FluteSession { .. }
                | Notice::Changed { .. }
                | Notice::Waiting { ended: true }
        )
    }
}

impl Serialize for Notice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Notice", 3)?;
        fields.serialize_field("name", self.name())?;
        fields.serialize_field("warning", &self.is_warning())?;
        fields.serialize_field("text", &self.to_string())?;
        fields.end()
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::OtherSender { from, group, is_ours: true } => write!(
                f,
                "another sender, {from}, uses the group {group} too: receivers take whichever they find first; stop \
                 one, or give it another --group"
            ),
            Notice::OtherSender { from, group, is_ours: false } => write!(
                f,
                "another program, at {from}, sends to the group {group}: use another --group, so that receivers need \
                 not carry its packets"
            ),
            Notice::SharedGroups { name, from, groups, own, free } => {
                write!(
                    f,
                    "the session `{name}` of {from} is announced on {groups}, and this one is sent to {own}: receivers of \
                     one get packets of both; give one of them another --group"
                )?;
                free.map_or(Ok(()), |free| write!(f, ", such as {free}"))
            }
            Notice::NotHeard => write!(
                f,
                "the source sends only the layers that receivers ask for, and does not hear this one: let UDP pass to it \
                 (`send --feedback-port`), or use `send --all-layers`"
            ),
            Notice::NobodyListens { every } => write!(
                f,
                "no receiver is heard: one packet is sent each {} s until one is; for receivers that cannot answer use \
                 --all-layers",
                every.as_secs()
            ),
            Notice::UplinkFull { carried, base, is_seen } => {
                let why = if *is_seen {
                    "the kernel refuses packets"
                } else {
                    "all receivers lose much of the base"
                };
                write!(f, "the uplink of this host is full ({why}): it carries about {carried}, ")?;
                match base {
                    None => write!(f, "and layers above that are left out; use a lower --to"),
                    Some(base) => write!(
                        f,
                        "less than the base layer ({base}), which is sent more slowly; use a lower --from and a lower --to"
                    ),
                }
            }
            Notice::Relay { news: ParentEvent::Served(relay) } => {
                write!(f, "packets come through the relay {relay}")
            }
            Notice::Relay { news: ParentEvent::Silent(relay) } => write!(
                f,
                "the relay {relay} does not answer: it does not run, or UDP does not pass to it and back"
            ),
            Notice::Relay { news: ParentEvent::Lost(relay) } => {
                write!(f, "the relay {relay} is gone: trying the next")
            }
            Notice::Relay { news: ParentEvent::Refused(relay, reason) } => {
                write!(f, "the relay {relay} does not serve this host: {reason}")
            }
            Notice::NoMulticast { group, waited } => write!(
                f,
                "no multicast of {group} arrives ({:.0} s): trying the relays",
                waited.as_secs_f64()
            ),
            Notice::MulticastBack { group } => {
                write!(f, "multicast of {group} arrives: the relay is left")
            }
            Notice::LeavesWithoutEffect => write!(
                f,
                "packets of groups that were left still arrive after ten seconds: no switch or router takes leaves (IGMP \
                 snooping with a querier), or another receiver behind the same link holds them; layers that are left go \
                 on to take capacity"
            ),
            Notice::OtherSession { from, group, source } if from == source => write!(
                f,
                "packets of another session of {from} arrive: the source was restarted, or sends twice to {group} \
                 and the groups after it"
            ),
            Notice::OtherSession { from, group, source } => write!(
                f,
                "packets of another sender, {from}, arrive on the groups of this session ({group} and those after \
                 it, from {source}): they take capacity; one of the two needs another --group, or use --source \
                 {source} here"
            ),
            Notice::TurnedAway { receiver, protocol, most } => write!(
                f,
                "turned away a receiver, {receiver}: {protocol} serves {most} at a time; use a protocol for many, \
                 such as tide"
            ),
            Notice::CameLate => write!(
                f,
                "this receiver came late, and what has passed is not repeated: what comes is kept, and the next session into the \
                 same folder completes it"
            ),
            Notice::UplinkDown { reason, patience } => {
                write!(f, "the network does not take packets ({reason}): trying on")?;
                patience.map_or(Ok(()), |patience| write!(f, " for up to {} s", patience.as_secs()))
            }
            Notice::UplinkBack { after } => {
                write!(f, "the network takes packets again, after {:.1} s", after.as_secs_f64())
            }
            Notice::Moved { from, to } => write!(
                f,
                "this host no longer has the address {from}: the session goes on from {to}, and receivers follow it; those that were \
                 given {from}, by --source, a URL or a description, need {to}"
            ),
            Notice::Late { mean } => write!(
                f,
                "this machine does not keep the session's rates: packets are {} ms late, and all layers are slower \
                 than receivers expect, the base layer too; use lower rates or fewer layers",
                mean.as_millis()
            ),
            Notice::BaseTooFast { base, arriving, lost } => write!(
                f,
                "the base layer, {base}, is faster than this path: {:.0} % of its packets are lost, {arriving} \
                 arrive; ask the sender for a lower --from, or for a lower --to if all receivers lose as much",
                lost * 100.0
            ),
            Notice::TableRejected { from, reason } => {
                write!(f, "a file delivery table from {from} is not used: {reason}")
            }
            Notice::PassedOver { group, reason } => write!(
                f,
                "what is sent to {group} is passed over, and a session that fits the key is waited for: {reason}"
            ),
            Notice::FluteSession { session } => {
                write!(f, "receiving {session}, without congestion control: its sender provides none")
            }
            Notice::Listening { name, group } => write!(
                f,
                "nothing of a session comes from {group}, where `{name}` was announced: listening to announcements again"
            ),
            Notice::Following => {
                write!(
                    f,
                    "the session is silent and another one is there: switching to it; received data is kept"
                )
            }
            Notice::Overloaded { pause } => write!(
                f,
                "the path loses most of the base layer, to which there is no lower level: leaving the session for {} \
                 s, to make room for others (a circuit breaker); ask the sender for a lower --from, or for a lower --to if all \
                 receivers lose as much",
                pause.as_secs()
            ),
            Notice::Withdrawn { path, vanished } => write!(
                f,
                "{} {} while it was being sent, and is no longer",
                path.display(),
                if *vanished { "vanished" } else { "changed" }
            ),
            Notice::NotAnnounced { reason } => {
                write!(f, "the session is not announced: {reason}; receivers need its URL or its group")
            }
            Notice::Amt { news: AmtNews::Served(relay) } => {
                write!(f, "packets come through the AMT relay {relay}")
            }
            Notice::Amt { news: AmtNews::Silent(relay) } => write!(
                f,
                "no AMT relay answers at {relay}: none is there, or UDP does not pass to it and back; trying on"
            ),
            Notice::Amt { news: AmtNews::Full(relay) } => {
                write!(f, "the AMT relay {relay} takes no more receivers; trying on")
            }
            Notice::Amt { news: AmtNews::NoData(relay) } => write!(
                f,
                "the AMT relay {relay} answers, but sends no packets of the session: the source is silent, or its packets do \
                 not reach the relay"
            ),
            Notice::OutputClosed { path, reason } => {
                write!(f, "nothing more is written to {}: {reason}", path.display())
            }
            Notice::LeftOut { path, reason } => write!(f, "{path:?} is left out: {reason}"),
            Notice::Waiting { ended: true } => write!(f, "the session has ended: waiting for the next one"),
            Notice::Waiting { ended: false } => write!(
                f,
                "no packet of a session arrives: waiting for one (`layercast doctor` looks for the cause)"
            ),
            Notice::Retrying { reason, pause } => {
                write!(f, "{reason}: trying again in {} s", pause.as_secs())
            }
            Notice::Changed { added, removed } => {
                write!(f, "{added} files are new or changed, {removed} are gone")
            }
            Notice::NotFollowed { reason } => {
                write!(f, "{reason}: until this passes, changes are not followed and nothing is removed")
            }
            Notice::StateNotWritten { path, reason } => write!(
                f,
                "the state cannot be written to {}: {reason}; a sender that is started again would repeat symbols",
                path.display()
            ),
        }
    }
}
