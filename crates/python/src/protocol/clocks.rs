//! When a source that sends every layer at its rate sends the next packet.

use layercast_core::session::SessionPlan;
use layercast_core::units::{Level, Time};
use layercast_kit::pacing::{Dither, LayerClocks as Clocks};
use pyo3::prelude::*;

use super::base::EndpointBase;
use super::random::Random;

/// The departures of a source that sends every layer at its constant rate, each at a phase of its own: those of the
/// built-in protocols with static layers.
#[pyclass(module = "layercast", name = "LayerClocks")]
pub(crate) struct LayerClocks {
    clocks: Clocks,
    plan: SessionPlan,
    random: Py<Random>,
}

fn level(number: i32) -> Level {
    Level::from_count(u16::try_from(number.saturating_add(1)).unwrap_or(0))
}

#[pymethods]
impl LayerClocks {
    /// Clocks for the session of a source, which draw from its random numbers. Packets leave up to the part `dither`
    /// of their spacing later than planned.
    #[new]
    #[pyo3(signature = (source, dither=0.0))]
    fn new(py: Python<'_>, source: &Bound<'_, EndpointBase>, dither: f64) -> PyResult<LayerClocks> {
        let base = source.try_borrow()?;
        let (plan, random) = base.parts(py)?;
        let dither = Dither::new(dither, random.borrow(py).stream.branch("dither"));
        Ok(LayerClocks { clocks: Clocks::default().dithered(dither), plan, random })
    }

    /// Begins all layers; with `base_at_once` the base layer without a random phase.
    #[pyo3(signature = (now, base_at_once=false))]
    fn begin(&mut self, py: Python<'_>, now: u64, base_at_once: bool) {
        let random = &mut self.random.borrow_mut(py).stream;
        self.clocks.begin(Time::from_ns(now), &self.plan, random, base_at_once);
    }

    /// The next packet that is due: its layer and its number there; None if none is.
    fn take_due(&mut self, now: u64) -> Option<(u16, u32)> {
        self.clocks.take_due(Time::from_ns(now)).map(|(layer, seq)| (layer.0, seq.0))
    }

    /// Sends only layers up to this one from now on.
    fn demand(&mut self, py: Python<'_>, now: u64, level: i32) {
        let random = &mut self.random.borrow_mut(py).stream;
        self.clocks.demand(Time::from_ns(now), self::level(level), random);
    }

    /// There is nothing to send for now.
    fn pause(&mut self) {
        self.clocks.pause();
    }

    /// There is something to send again.
    fn resume(&mut self, py: Python<'_>, now: u64) {
        self.clocks.resume(Time::from_ns(now), &mut self.random.borrow_mut(py).stream);
    }

    /// Ends all layers.
    fn stop(&mut self) {
        self.clocks.stop();
    }

    /// When the next packet is due, in nanoseconds; None while nothing is sent.
    #[getter]
    fn next(&self) -> Option<u64> {
        self.clocks.next().map(Time::as_ns)
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<LayerClocks> {
        let copied = py.import("copy")?.call_method1("deepcopy", (self.random.bind(py), memo))?;
        let random = copied.cast_into::<Random>()?.unbind();
        Ok(LayerClocks { clocks: self.clocks.clone(), plan: self.plan.clone(), random })
    }
}
