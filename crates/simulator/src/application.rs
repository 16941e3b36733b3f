//! How much applications send and when: distributions of random numbers, and the quantities drawn from
//! them.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};

/// The distribution of a non-negative random number: a size in bytes or a time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Constant.
    Fixed(f64),
    /// Uniform from `low` to `high`.
    Uniform {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// The times between independent arrivals (a Poisson process).
    Exponential {
        /// Its mean.
        mean: f64,
    },
    /// Many small ones and few huge ones: the tail falls as x to the power of -`shape`.
    Pareto {
        /// Its mean.
        mean: f64,
        /// Above 1; up to 2 the variance is infinite.
        shape: f64,
    },
    /// The logarithm is normally distributed.
    LogNormal {
        /// Its mean, not that of the logarithm.
        mean: f64,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// A shape below 1 has a heavier tail than the exponential, a shape above 1 a lighter one.
    Weibull {
        /// Its mean.
        mean: f64,
        /// Above 0.
        shape: f64,
    },
}

impl Distribution {
    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Fixed(value) => value,
            Distribution::Uniform { low, high } => f64::midpoint(low, high),
            Distribution::Exponential { mean }
            | Distribution::Pareto { mean, .. }
            | Distribution::LogNormal { mean, .. }
            | Distribution::Weibull { mean, .. } => mean,
        }
    }

    /// Draws a number.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Distribution::Fixed(value) => value,
            Distribution::Uniform { low, high } => stream.uniform_in(low, high),
            Distribution::Exponential { mean } => -mean * ln_of_rest(stream),
            Distribution::Pareto { mean, shape } => {
                mean * (shape - 1.0) / shape * libm::exp(-ln_of_rest(stream) / shape)
            }
            Distribution::LogNormal { mean, sigma } => {
                // Box and Muller 1958, one of the pair.
                let radius = libm::sqrt(-2.0 * ln_of_rest(stream));
                let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
                mean * libm::exp(sigma * normal - sigma * sigma / 2.0)
            }
            Distribution::Weibull { mean, shape } => {
                mean / libm::tgamma(1.0 + 1.0 / shape) * libm::pow(-ln_of_rest(stream), 1.0 / shape)
            }
        }
    }

    /// Draws a time.
    pub(crate) fn draw_duration(&self, stream: &mut Stream) -> Duration {
        Duration::from_secs_f64(self.draw(stream))
    }
}

/// The logarithm of a number from above 0 to 1.
fn ln_of_rest(stream: &mut Stream) -> f64 {
    libm::log(1.0 - stream.uniform())
}

/// What the application of a TCP connection has to send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Demand {
    /// Unlimited data.
    #[default]
    Endless,
    /// One transfer after another, each on a new connection.
    Transfers {
        /// The size of each in bytes on the wire, rounded up to whole packets.
        bytes: Distribution,
        /// The time from the end of one to the start of the next. `None` leaves the starts to
        /// [`Simulation::add_arrivals`](crate::Simulation::add_arrivals).
        gap_s: Option<Distribution>,
    },
    /// On and off periods over one connection: unlimited data, then none. After a pause longer than the
    /// retransmission timeout the window is no larger than the initial one (RFC 5681).
    OnOff {
        /// How long there is data, in seconds.
        on_s: Distribution,
        /// How long there is none, in seconds.
        off_s: Distribution,
    },
}

/// The running application of one TCP connection.
#[derive(Debug)]
pub(crate) struct Application {
    demand: Demand,
    stream: Stream,
    /// Its next timer.
    pub(crate) next: Option<Time>,
    /// When its transfer began, if one is in progress.
    pub(crate) began: Option<Time>,
    /// When it fell silent, while it is.
    pub(crate) silent_since: Option<Time>,
}

/// What an application does next on its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NextStep {
    /// A new connection with this many bytes.
    Transfer(f64),
    /// No more data for now.
    Silence,
    /// Data again.
    Data,
}

impl Application {
    /// None for unlimited data, which needs no scheduling.
    pub(crate) fn new(demand: Demand, stream: Stream) -> Option<Box<Application>> {
        let application = Application { demand, stream, next: None, began: None, silent_since: None };
        (demand != Demand::Endless).then(|| Box::new(application))
    }

    /// The flow starts. True if it has data at once.
    pub(crate) fn start(&mut self, now: Time) -> bool {
        match self.demand {
            Demand::Endless => true,
            Demand::Transfers { gap_s, .. } => {
                self.next = gap_s.map(|_| now);
                false
            }
            Demand::OnOff { on_s, .. } => {
                self.next = Some(now + on_s.draw_duration(&mut self.stream));
                true
            }
        }
    }

    /// Its timer has fired, or an arrival requests a transfer.
    pub(crate) fn next_step(&mut self, now: Time) -> NextStep {
        match self.demand {
            Demand::Transfers { bytes, .. } => {
                self.next = None;
                self.began = Some(now);
                NextStep::Transfer(bytes.draw(&mut self.stream))
            }
            Demand::OnOff { on_s, off_s } => {
                let distribution = if self.silent_since.is_some() { on_s } else { off_s };
                self.next = Some(now + distribution.draw_duration(&mut self.stream));
                if self.silent_since.take().is_some() {
                    return NextStep::Data;
                }
                self.silent_since = Some(now);
                NextStep::Silence
            }
            Demand::Endless => NextStep::Data,
        }
    }

    /// The connection has delivered all data. Returns the duration of the transfer, if one was in progress.
    pub(crate) fn finish(&mut self, now: Time) -> Option<Duration> {
        let took = now.since(self.began.take()?);
        if let Demand::Transfers { gap_s: Some(gap_s), .. } = self.demand {
            self.next = Some(now + gap_s.draw_duration(&mut self.stream));
        }
        Some(took)
    }

    /// Whether it waits for an arrival.
    pub(crate) fn is_free(&self) -> bool {
        self.began.is_none() && self.next.is_none()
    }
}

/// Starts transfers on flows that are free.
#[derive(Debug)]
pub(crate) struct Arrivals {
    gap_s: Distribution,
    stream: Stream,
    /// The senders.
    pub(crate) agents: Vec<u32>,
    /// Arrivals that found no flow free. They wait for the next one that is.
    pub(crate) waiting: u64,
}

impl Arrivals {
    pub(crate) fn new(gap_s: Distribution, stream: Stream, agents: Vec<u32>) -> Arrivals {
        Arrivals { gap_s, stream, agents, waiting: 0 }
    }

    pub(crate) fn next(&mut self, now: Time) -> Time {
        now + self.gap_s.draw_duration(&mut self.stream)
    }
}

/// Sends packets of one size at a constant rate, continuously or with pauses, without feedback.
#[derive(Debug)]
pub(crate) struct UdpSource {
    pub(crate) size: Size,
    interval: Duration,
    /// How long it sends and how long it pauses.
    pauses: Option<(Distribution, Distribution)>,
    stream: Stream,
    pause_at: Time,
}

impl UdpSource {
    pub(crate) fn new(
        rate: Rate,
        size: Size,
        pauses: Option<(Distribution, Distribution)>,
        stream: Stream,
    ) -> UdpSource {
        let interval = Duration::from_secs_f64(f64::from(size.as_bytes()) / rate.as_bytes_per_s());
        // Time must pass between two packets.
        let interval = interval.max(Duration::from_ns(1));
        UdpSource { size, interval, pauses, stream, pause_at: Time::MAX }
    }

    pub(crate) fn start(&mut self, now: Time) {
        if let Some((on_s, _)) = self.pauses {
            self.pause_at = now + on_s.draw_duration(&mut self.stream);
        }
    }

    /// When the packet after the one sent now is due.
    pub(crate) fn next(&mut self, now: Time) -> Time {
        let mut next = now + self.interval;
        if let Some((on_s, off_s)) = self.pauses
            && next >= self.pause_at
        {
            next = next.max(self.pause_at + off_s.draw_duration(&mut self.stream));
            self.pause_at = next + on_s.draw_duration(&mut self.stream);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::math;

    use super::*;

    /// Mean and share above the mean of 200 000 draws.
    fn drawn(distribution: Distribution) -> (f64, f64) {
        let mut stream = Stream::new(1, "law");
        let draws: Vec<f64> = (0..200_000).map(|_| distribution.draw(&mut stream)).collect();
        assert!(draws.iter().all(|&draw| draw >= 0.0 && draw.is_finite()), "{distribution:?}");
        let above = draws.iter().filter(|&&draw| draw > 3.0).count();
        (draws.iter().sum::<f64>() / draws.len() as f64, above as f64 / draws.len() as f64)
    }

    /// The shares above the mean follow from the distribution functions.
    #[test]
    fn distributions_have_their_mean_and_their_shape() {
        let cases = [
            (Distribution::Fixed(3.0), 0.0),
            (Distribution::Uniform { low: 1.0, high: 5.0 }, 0.5),
            (Distribution::Exponential { mean: 3.0 }, math::exp(-1.0)),
            (Distribution::Pareto { mean: 3.0, shape: 2.5 }, math::pow(1.5 / 2.5, 2.5)),
            // The normal distribution above sigma/2.
            (Distribution::LogNormal { mean: 3.0, sigma: 1.0 }, 0.308_54),
            (Distribution::Weibull { mean: 3.0, shape: 2.0 }, math::exp(-std::f64::consts::FRAC_PI_4)),
        ];
        for (distribution, share) in cases {
            let (mean, above) = drawn(distribution);
            assert!((mean / 3.0 - 1.0).abs() < 0.02, "{distribution:?}: {mean}");
            assert!((above - share).abs() < 0.005, "{distribution:?}: {above} not {share}");
        }
    }
}
