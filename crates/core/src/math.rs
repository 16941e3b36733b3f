//! Elementary functions from a portable library.
//!
//! Logarithms, exponentials and powers of a system's library differ in the last bit between
//! machines, and a last bit can decide an event. These give the same bits everywhere.

/// Square root.
pub fn sqrt(x: f64) -> f64 {
    libm::sqrt(x)
}

/// `x` to the power `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Exponential.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// The natural logarithm of 1 + `x`, exact for small `x`.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// The exponential of `x` less 1, exact for small `x`.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// The largest integer not above `x`.
pub fn floor(x: f64) -> f64 {
    libm::floor(x)
}

/// The smallest integer not below `x`.
pub fn ceil(x: f64) -> f64 {
    libm::ceil(x)
}

/// The logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// The absolute value.
pub fn abs(x: f64) -> f64 {
    libm::fabs(x)
}

/// 2 to the power `x`.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}
