//! What a sender knows of its receivers.

use std::net::SocketAddr;

use layercast_core::units::Time;
use layercast_delivery::reporting::{KnownReceiver, Summary};
use serde::{Serialize, Serializer};

use crate::fields::{is_unknown, number};

/// How many receivers are serialised.
const SLOWEST: usize = 20;

/// What reception reports say of the receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Reception {
    /// By the source's clock, when this was known.
    pub at: Time,
    /// How many there are, how far they are, and the slowest.
    pub summary: Summary,
}

#[derive(Serialize)]
struct Fields {
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    receivers: f64,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    receivers_low: f64,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    receivers_high: f64,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    receivers_complete_estimate: f64,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    median: Option<f64>,
    slowest: Vec<Receiver>,
}

#[derive(Serialize)]
struct Receiver {
    address: SocketAddr,
    receiver: String,
    #[serde(serialize_with = "number")]
    progress: f64,
    level: i32,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    packets_lost: Option<f64>,
    #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
    left_s: Option<f64>,
    objects_complete: u32,
    objects_failed: u32,
    disk_fails: bool,
    left: bool,
    #[serde(serialize_with = "number")]
    silent_s: f64,
}

impl Receiver {
    fn new(known: &KnownReceiver, now: Time) -> Receiver {
        let report = &known.report;
        Receiver {
            address: known.from,
            receiver: format!("{:016x}", report.receiver),
            progress: known.share(),
            level: report.level.as_number(),
            packets_lost: report.lost.map(|lost| f64::from(lost) / 1000.0),
            left_s: report.left_s.map(f64::from),
            objects_complete: report.objects,
            objects_failed: report.failed,
            disk_fails: report.disk_fails,
            left: report.is_leaving,
            silent_s: known.silent_s(now),
        }
    }
}

impl Serialize for Reception {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Summary { receivers, complete, median, ref slowest, .. } = self.summary;
        let slowest = slowest.iter().take(SLOWEST).map(|known| Receiver::new(known, self.at));
        let fields = Fields {
            receivers: receivers.mean,
            receivers_low: receivers.low,
            receivers_high: receivers.high,
            receivers_complete_estimate: complete,
            median,
            slowest: slowest.collect(),
        };
        fields.serialize(serializer)
    }
}
