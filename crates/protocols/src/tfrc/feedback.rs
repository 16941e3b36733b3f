//! What a report of the receiver means to the rate of the source.

/// A report, once the round-trip time is updated with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// The newest sample of the round-trip time, in seconds.
    pub sample_s: f64,
    /// The smoothed round-trip time, in seconds.
    pub rtt_s: f64,
    /// The retransmission timeout for the equation, in seconds.
    pub rto_s: f64,
    /// The loss event rate, 0 to 1.
    pub loss: f64,
    /// The receive rate, in byte/s.
    pub receive_rate: f64,
    /// Whether the source was short of data over the whole round trip that the report covers.
    pub data_limited: bool,
}
