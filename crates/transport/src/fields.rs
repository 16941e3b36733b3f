//! How values of other crates are serialised: numbers to a millionth, and nothing of what is unknown.

use layercast_core::contract::Estimates;
use layercast_core::units::{Duration, RateEstimate};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::object::AssemblyCounters;
use layercast_delivery::relay::parent::Change;
use layercast_delivery::relay::session::SessionKey;
use layercast_delivery::session::Session;
use serde::{Serialize, Serializer};

/// Whether a number is none, or not finite.
pub(crate) fn is_unknown<N: Copy + Into<Option<f64>>>(number: &N) -> bool {
    !(*number).into().is_some_and(f64::is_finite)
}

/// A number to a millionth.
pub(crate) fn number<N: Copy + Into<Option<f64>>, S: Serializer>(
    number: &N,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (*number).into().map(to_millionth).serialize(serializer)
}

fn to_millionth(number: f64) -> f64 {
    let rounded = (number * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { number }
}

/// A duration in milliseconds.
pub(crate) fn milliseconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    number(&time.map(|time| time.as_secs_f64() * 1e3), serializer)
}

/// The fields of estimates.
pub(crate) fn estimates<S: Serializer>(estimates: &Estimates, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        level: i32,
        #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
        fair_bps: Option<f64>,
        #[serde(serialize_with = "number", skip_serializing_if = "is_unknown")]
        loss: Option<f64>,
        #[serde(serialize_with = "milliseconds", skip_serializing_if = "Option::is_none")]
        rtt_ms: Option<Duration>,
    }
    let fair_bps = match estimates.smoothed_rate {
        RateEstimate::Known(rate) => Some(rate.as_bps()),
        RateEstimate::Unbounded | RateEstimate::Unknown => None,
    };
    let Estimates { level, loss, rtt, .. } = *estimates;
    Fields { level: level.as_number(), fair_bps, loss, rtt_ms: rtt }.serialize(serializer)
}

/// The fields of a session.
pub(crate) fn session<S: Serializer>(session: &Session, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields<'a> {
        protocol: &'a str,
        source: std::net::IpAddr,
        group: std::net::SocketAddr,
        session: u32,
        packet_bytes: u64,
        layers_bps: Vec<u64>,
    }
    let levels = session.levels();
    let rate = |layer| levels.cumulative(layer).as_bps().round() as u64;
    let fields = Fields {
        protocol: &session.protocol,
        source: session.source,
        group: session.group,
        session: session.tsi,
        packet_bytes: session.packet.as_bytes().into(),
        layers_bps: levels.layers().map(rate).collect(),
    };
    fields.serialize(serializer)
}

/// Whether a session has no URL.
pub(crate) fn has_no_url(description: &Description) -> bool {
    description.url().is_none()
}

/// The URL of a session.
pub(crate) fn url<S: Serializer>(description: &Description, serializer: S) -> Result<S::Ok, S::Error> {
    description.url().map(|url| url.to_string()).serialize(serializer)
}

/// How many blocks no trusted key has signed.
pub(crate) fn forged<S: Serializer>(counters: &AssemblyCounters, serializer: S) -> Result<S::Ok, S::Error> {
    counters.forged.serialize(serializer)
}

/// The fields of a channel that a relay joins or leaves.
pub(crate) fn change<S: Serializer>(change: &Change, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        #[serde(flatten)]
        key: SessionKey,
        channel: u16,
        is_join: bool,
    }
    let Change { key, channel, is_join, .. } = *change;
    Fields { key, channel: channel.0, is_join }.serialize(serializer)
}
