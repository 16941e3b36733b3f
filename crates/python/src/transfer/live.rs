//! What transfers of live data say of themselves and what comes of them, as Python sees it. Names are those of the command's `--json`.

use layercast::{StreamReceives, StreamSends};
use pyo3::prelude::*;

use super::said::Seen;

/// What a layer of live data has sent.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamLayerSent {
    /// Units that came.
    units: u64,
    /// Their bytes.
    bytes: u64,
    /// Units that waited longer than the deadline, and were not sent.
    units_expired: u64,
}

/// How far a transmission of live data is.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamSendProgress {
    /// Seconds since the start.
    elapsed_s: f64,
    /// Packets sent.
    packets: u64,
    /// Their bytes with all headers.
    bytes: u64,
    /// Each layer, from the base up.
    layers: Vec<Py<StreamLayerSent>>,
}

/// The live data that was sent.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamSent {
    /// Why it ended: `inputs`, `time` or `interrupted`.
    reason: &'static str,
    /// The progress at the end.
    progress: Py<StreamSendProgress>,
}

/// What became of a layer of live data.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamLayerReceived {
    /// Units that were delivered.
    units: u64,
    /// Their bytes.
    bytes: u64,
    /// Units that never came.
    units_lost: u64,
    /// Units that came too late.
    units_late: u64,
    /// Units that were sent while the layer was not held.
    units_absent: u64,
    /// Units that were delivered, and that the output did not take.
    units_unwritten: u64,
    /// The mean delay in milliseconds; None before the first unit.
    delay_ms: Option<f64>,
    /// The longest.
    delay_max_ms: f64,
}

/// How far a reception of live data is.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamReceiveProgress {
    /// Seconds since the start.
    elapsed_s: f64,
    /// The level of the receiver: of 0 it holds the base layer alone; -1 before.
    level: i32,
    /// The share of packets that were lost over the last seconds; None before the first packet.
    packets_lost: Option<f64>,
    /// Each layer, from the base up.
    layers: Vec<Py<StreamLayerReceived>>,
}

/// The live data that was received.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct StreamReceived {
    /// Why it ended: `session_ended`, `time`, `interrupted` or `outputs`, which nobody reads any more.
    reason: &'static str,
    /// The progress at the end.
    progress: Py<StreamReceiveProgress>,
}

fn sent(py: Python<'_>, progress: &layercast::StreamSendProgress) -> PyResult<Py<StreamSendProgress>> {
    let layers = progress.layers.iter().map(|layer| {
        let (input, units_expired) = (&layer.input, layer.input.expired);
        Py::new(py, StreamLayerSent { units: input.units, bytes: input.bytes, units_expired })
    });
    let progress = StreamSendProgress {
        elapsed_s: progress.elapsed.as_secs_f64(),
        packets: progress.counters.packets,
        bytes: progress.counters.bytes,
        layers: layers.collect::<PyResult<_>>()?,
    };
    Py::new(py, progress)
}

fn received(
    py: Python<'_>,
    progress: &layercast::StreamReceiveProgress,
) -> PyResult<Py<StreamReceiveProgress>> {
    let layers = progress.layers.iter().map(|layer| {
        let counters = &layer.counters;
        let layer = StreamLayerReceived {
            units: counters.units,
            bytes: counters.bytes,
            units_lost: counters.lost,
            units_late: counters.late,
            units_absent: counters.absent,
            units_unwritten: layer.unwritten,
            delay_ms: counters.mean_delay_ms(),
            delay_max_ms: counters.delay_max_us as f64 / 1e3,
        };
        Py::new(py, layer)
    });
    let progress = StreamReceiveProgress {
        elapsed_s: progress.elapsed.as_secs_f64(),
        level: progress.estimates.level.as_number(),
        packets_lost: progress.packets_lost,
        layers: layers.collect::<PyResult<_>>()?,
    };
    Py::new(py, progress)
}

impl Seen for StreamSends {
    fn shown(py: Python<'_>, progress: &layercast::StreamSendProgress) -> PyResult<Py<PyAny>> {
        Ok(sent(py, progress)?.into_any())
    }

    fn ended(py: Python<'_>, outcome: layercast::StreamSent) -> PyResult<Py<PyAny>> {
        let progress = sent(py, &outcome.progress)?;
        Ok(Py::new(py, StreamSent { reason: outcome.stopped.name(), progress })?.into_any())
    }
}

impl Seen for StreamReceives {
    fn shown(py: Python<'_>, progress: &layercast::StreamReceiveProgress) -> PyResult<Py<PyAny>> {
        Ok(received(py, progress)?.into_any())
    }

    fn ended(py: Python<'_>, outcome: layercast::StreamReceived) -> PyResult<Py<PyAny>> {
        let progress = received(py, &outcome.progress)?;
        Ok(Py::new(py, StreamReceived { reason: outcome.ended.name(), progress })?.into_any())
    }
}
