//! The random stream of an endpoint.

use layercast_core::math;
use layercast_core::stream::Stream;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The random numbers of one endpoint: the same for the same seed and the same name of the component, on every
/// machine and in every version of Python.
#[pyclass(module = "layercast", name = "Random")]
pub(crate) struct Random {
    pub(super) stream: Stream,
}

impl Random {
    /// Uniform in [0, bound), without bias.
    fn below(&mut self, bound: u64) -> u64 {
        let zone = u64::MAX - u64::MAX % bound;
        loop {
            let bits = self.stream.bits();
            if bits < zone {
                return bits % bound;
            }
        }
    }
}

#[pymethods]
impl Random {
    /// A stream of its own, for tests of code that takes one.
    #[new]
    #[pyo3(signature = (seed, name="random"))]
    fn new(seed: u64, name: &str) -> Random {
        Random { stream: Stream::new(seed, name) }
    }

    /// Uniform in [0, 1).
    fn random(&mut self) -> f64 {
        self.stream.uniform()
    }

    /// Uniform in [low, high).
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.stream.uniform_in(low, high)
    }

    /// A whole number, uniform from `low` to `high - 1`.
    fn integers(&mut self, low: i64, high: i64) -> PyResult<i64> {
        match u64::try_from(i128::from(high) - i128::from(low)) {
            Ok(span) if span > 0 => Ok(low.wrapping_add_unsigned(self.below(span))),
            _ => Err(PyValueError::new_err("low must lie below high")),
        }
    }

    /// True with this probability.
    fn chance(&mut self, probability: f64) -> bool {
        self.stream.chance(probability)
    }

    /// Exponentially distributed with this mean.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln_1p(-self.stream.uniform())
    }

    /// Normally distributed (Marsaglia's polar method).
    #[pyo3(signature = (mean=0.0, deviation=1.0))]
    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let (x, y) = (self.stream.uniform_in(-1.0, 1.0), self.stream.uniform_in(-1.0, 1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return mean + deviation * x * math::sqrt(-2.0 * math::ln(square) / square);
            }
        }
    }

    /// One of the items.
    fn choice<'py>(&mut self, items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match items.len()? {
            0 => Err(PyIndexError::new_err("there is nothing to choose from")),
            count => items.get_item(self.below(count as u64) as usize),
        }
    }

    /// Puts the items of a list in random order.
    #[pyo3(signature = (items: "list[Any]") -> "None")]
    fn shuffle(&mut self, items: &Bound<'_, PyList>) -> PyResult<()> {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            let (one, two) = (items.get_item(last)?, items.get_item(other)?);
            items.set_item(last, two)?;
            items.set_item(other, one)?;
        }
        Ok(())
    }

    /// 64 random bits.
    fn bits(&mut self) -> u64 {
        self.stream.bits()
    }

    /// A stream for a part, which follows from the state of this one and leaves it as it is.
    fn branch(&self, name: &str) -> Random {
        Random { stream: self.stream.branch(name) }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Random {
        Random { stream: self.stream.clone() }
    }
}
