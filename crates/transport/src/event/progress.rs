//! How far a program is.

use std::time::Duration;

use layercast_core::contract::{Cause, Estimates};
use layercast_core::units::Level;
use layercast_delivery::node::SourceCounters;
use layercast_delivery::object::AssemblyCounters;
use layercast_delivery::reception::ReceptionProgress;
use layercast_delivery::security::protection::ProtectionCounters;
use layercast_delivery::stream::{InputCounters, LayerCounters, SourceCounters as LayerSent};
use serde::{Serialize, Serializer};

use super::relay::RelayStatus;
use crate::fields;
use crate::host::ReceiverCounters;

/// How far a program is.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Progress {
    /// A sender of files.
    Send(Box<SendProgress>),
    /// A receiver of files.
    Receive(Box<ReceiveProgress>),
    /// A sender of a stream.
    StreamSend(Box<StreamSendProgress>),
    /// A receiver of a stream.
    StreamReceive(Box<StreamReceiveProgress>),
    /// A relay.
    Relay(Box<RelayStatus>),
}

macro_rules! progress {
    ($($kind:ident($type:ty)),*) => {
        $(impl From<$type> for Progress {
            fn from(progress: $type) -> Progress {
                Progress::$kind(Box::new(progress))
            }
        })*
    };
}

progress!(
    Send(SendProgress),
    Receive(ReceiveProgress),
    StreamSend(StreamSendProgress),
    StreamReceive(StreamReceiveProgress),
    Relay(RelayStatus)
);

/// The progress of a transmission.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SendProgress {
    /// Time since the start.
    #[serde(skip)]
    pub elapsed: Duration,
    /// The counters of the host.
    #[serde(flatten)]
    pub counters: SourceCounters,
    /// Symbols sent for each that the files have.
    #[serde(serialize_with = "fields::number", skip_serializing_if = "fields::is_unknown")]
    pub rounds: f64,
    /// How many receivers are complete.
    #[serde(rename = "receivers_complete")]
    pub completions: usize,
    /// The source's estimates: the number of layers, their rate, the round-trip time.
    #[serde(flatten, serialize_with = "fields::estimates")]
    pub estimates: Estimates,
}

/// The progress of a reception.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiveProgress {
    /// Time since the start.
    #[serde(skip)]
    pub elapsed: Duration,
    /// The path of the only object, if there is one.
    #[serde(skip)]
    pub name: Option<String>,
    /// Objects, symbols and bytes.
    #[serde(flatten)]
    pub objects: ReceptionProgress,
    /// Bits of the objects per second over the last interval.
    #[serde(serialize_with = "fields::number", skip_serializing_if = "fields::is_unknown")]
    pub goodput_bps: f64,
    /// The receiver's estimates: level, fair rate, round-trip time, and the loss rate that its congestion control
    /// computes with, for most protocols the loss event rate.
    #[serde(flatten, serialize_with = "fields::estimates")]
    pub estimates: Estimates,
    /// The share of packets that were lost over the last seconds; none before the first packet.
    #[serde(serialize_with = "fields::number", skip_serializing_if = "fields::is_unknown")]
    pub packets_lost: Option<f64>,
    /// The last change of level, and its cause.
    #[serde(skip)]
    pub last_change: Option<(Level, Cause)>,
    /// The counters of the host.
    #[serde(flatten)]
    pub counters: ReceiverCounters,
    /// Packets that were checked for authenticity; zeros without a group key.
    #[serde(flatten)]
    pub protection: ProtectionCounters,
    /// Instances of the table that no trusted key has signed.
    #[serde(rename = "tables_forged")]
    pub untrusted_tables: u64,
    /// The counters of the reassembly.
    #[serde(rename = "blocks_forged", serialize_with = "fields::forged")]
    pub assembly: AssemblyCounters,
}

/// What a layer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamLayerSent {
    /// Units that came.
    #[serde(flatten)]
    pub input: InputCounters,
    /// Symbols that were sent.
    #[serde(flatten)]
    pub sent: LayerSent,
}

/// The progress of a transmission of live data.
#[derive(Clone, Debug, Serialize)]
pub struct StreamSendProgress {
    /// Time since the start.
    #[serde(skip)]
    pub elapsed: Duration,
    /// The counters of the host.
    #[serde(flatten)]
    pub counters: SourceCounters,
    /// The source's estimates.
    #[serde(flatten, serialize_with = "fields::estimates")]
    pub estimates: Estimates,
    /// Each layer, from the base up.
    pub layers: Vec<StreamLayerSent>,
}

/// What became of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamLayerReceived {
    /// Its units.
    pub counters: LayerCounters,
    /// Units that were delivered in time, and that the output did not take: a pipe without a reader, or with a slow one.
    pub unwritten: u64,
}

impl Serialize for StreamLayerReceived {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            units: u64,
            bytes: u64,
            units_lost: u64,
            units_late: u64,
            units_absent: u64,
            units_unwritten: u64,
            blocks_repaired: u64,
            #[serde(serialize_with = "fields::number", skip_serializing_if = "fields::is_unknown")]
            delay_ms: Option<f64>,
            #[serde(serialize_with = "fields::number")]
            delay_max_ms: f64,
        }
        let StreamLayerReceived { counters, unwritten } = *self;
        let fields = Fields {
            units: counters.units,
            bytes: counters.bytes,
            units_lost: counters.lost,
            units_late: counters.late,
            units_absent: counters.absent,
            units_unwritten: unwritten,
            blocks_repaired: counters.repaired,
            delay_ms: counters.mean_delay_ms(),
            delay_max_ms: counters.delay_max_us as f64 / 1e3,
        };
        fields.serialize(serializer)
    }
}

/// The progress of a reception of live data.
#[derive(Clone, Debug, Serialize)]
pub struct StreamReceiveProgress {
    /// Time since the start.
    #[serde(skip)]
    pub elapsed: Duration,
    /// The receiver's estimates.
    #[serde(flatten, serialize_with = "fields::estimates")]
    pub estimates: Estimates,
    /// The share of packets that were lost over the last seconds; none before the first packet.
    #[serde(serialize_with = "fields::number", skip_serializing_if = "fields::is_unknown")]
    pub packets_lost: Option<f64>,
    /// The last change of level, and its cause.
    #[serde(skip)]
    pub last_change: Option<(Level, Cause)>,
    /// The counters of the host.
    #[serde(flatten)]
    pub counters: ReceiverCounters,
    /// Packets that were checked for authenticity; zeros without a group key.
    #[serde(flatten)]
    pub protection: ProtectionCounters,
    /// Each layer of the session, from the base up.
    pub layers: Vec<StreamLayerReceived>,
}
