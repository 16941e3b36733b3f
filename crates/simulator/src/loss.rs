//! Error models: losses, or marks, that are not the queue's.

use layercast_core::choices;
use layercast_core::stream::Stream;

/// The packets that a link loses, independent of its queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossModel {
    /// Loses nothing.
    #[default]
    None,
    /// Loses each packet independently with this probability, whatever its size.
    Bernoulli(f64),
    /// Loses each byte independently with this probability, and a packet with any of its bytes.
    BernoulliPerByte(f64),
    /// Losses in bursts.
    GilbertElliott(GilbertElliott),
    /// Losses in periods of a length that is drawn.
    TwoState(TwoStateLoss),
    /// Losses at regular distances, as ns-2 has them.
    Periodic(PeriodicLoss),
    /// Loses the packets with these arrival numbers, counted from 0.
    List(Vec<u64>),
}

choices! {
    /// Where the losses of an error model happen.
    #[derive(Default)]
    pub enum LossPlace {
        /// Before the queue: a lost packet uses neither the queue nor the link. ns-2's `lossmodel`.
        #[default]
        BeforeQueue = "before-queue",
        /// At the far end: a lost packet has used the queue and the link. ns-2's `link-lossmodel`.
        AfterLink = "after-link",
    }
}

choices! {
    /// An error model without its parameters, by its name in scenario files.
    pub enum LossKind {
        /// [`LossModel::Bernoulli`].
        Bernoulli = "bernoulli",
        /// [`LossModel::BernoulliPerByte`].
        BernoulliPerByte = "bernoulli-per-byte",
        /// [`LossModel::GilbertElliott`].
        GilbertElliott = "gilbert-elliott",
        /// [`LossModel::TwoState`].
        TwoState = "two-state",
        /// [`LossModel::Periodic`].
        Periodic = "periodic",
        /// [`LossModel::List`].
        List = "list",
    }
}

/// A chain of a good and a bad state (Gilbert, 1960; Elliott, 1963). With each packet it may change its
/// state, and then draws the loss by the state it is in. It starts in a state drawn from its stationary
/// distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// The probability of going from good to bad.
    pub to_bad: f64,
    /// The probability of going from bad to good.
    pub to_good: f64,
    /// The probability that a packet is lost in the bad state.
    pub bad_loss: f64,
    /// The probability that a packet is lost in the good state.
    pub good_loss: f64,
}

impl GilbertElliott {
    /// The fraction of packets in the bad state.
    pub fn bad_share(&self) -> f64 {
        // A chain that never changes state has no stationary distribution; it stays good.
        let moves = self.to_bad + self.to_good;
        if moves > 0.0 { self.to_bad / moves } else { 0.0 }
    }

    /// The fraction of packets lost.
    pub fn loss_rate(&self) -> f64 {
        let bad = self.bad_share();
        bad * self.bad_loss + (1.0 - bad) * self.good_loss
    }

    /// The mean number of consecutive packets in the bad state.
    pub fn mean_bad_run(&self) -> f64 {
        1.0 / self.to_good
    }
}

/// Periods without losses and periods in which all is lost follow each other: the two-state error
/// model of ns-2. It begins with a good one. A packet is in the period in which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoStateLoss {
    /// What lengths are counted in. ns-2 knows time too, by which it means that of transmission: at a
    /// fixed rate that is bytes.
    pub unit: LossUnit,
    /// How lengths are drawn.
    pub distribution: LengthDistribution,
    /// The mean length of a good period; 0 counts as 1.
    pub good: u32,
    /// The mean length of a bad period; 0 counts as 1.
    pub bad: u32,
    /// Lose as ns-2 does: a packet that reaches the end of a period, or goes beyond it, is in the next one too, and is
    /// lost if any of its periods is bad. So each bad period takes a packet of the good one.
    pub ns2_compat: bool,
}

choices! {
    /// What the periods of an error model are counted in.
    pub enum LossUnit {
        /// Packets.
        Packets = "packets",
        /// Bytes on the wire.
        Bytes = "bytes",
    }
}

choices! {
    /// How the lengths of periods are distributed.
    pub enum LengthDistribution {
        /// Exponentially.
        Exponential = "exponential",
        /// Each has the mean length.
        Constant = "constant",
    }
}

impl TwoStateLoss {
    fn length(&self, is_bad: bool, stream: &mut Stream) -> f64 {
        let mean = f64::from(if is_bad { self.bad } else { self.good }.max(1));
        match self.distribution {
            LengthDistribution::Constant => mean,
            LengthDistribution::Exponential => -mean * libm::log(1.0 - stream.uniform()),
        }
    }
}

/// A burst of packets is lost at regular intervals. Packets are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodicLoss {
    /// From the first loss of a row to the first of the next, in packets.
    pub period: u64,
    /// The first packet lost; 0 counts as 1.
    pub offset: u64,
    /// The number of consecutive losses; 0 counts as 1.
    pub burst: u64,
}

impl PeriodicLoss {
    fn loses(&self, number: u64) -> bool {
        let first = self.offset.max(1);
        number >= first && (number - first) % self.period.max(1) < self.burst.max(1)
    }
}

/// The state of a loss model: its random stream, its count of arrivals, its chain.
#[derive(Debug)]
pub(crate) struct LossProcess {
    model: LossModel,
    stream: Stream,
    arrivals: u64,
    is_bad: bool,
    /// What is left of a period, in its unit.
    left: f64,
}

impl LossProcess {
    pub(crate) fn new(model: LossModel, stream: Stream) -> LossProcess {
        let mut process =
            LossProcess { model: LossModel::None, stream, arrivals: 0, is_bad: false, left: 0.0 };
        process.set_model(model);
        process
    }

    /// Starts another model, with the numbers of the stream that come next.
    pub(crate) fn set_model(&mut self, mut model: LossModel) {
        (self.arrivals, self.is_bad, self.left) = (0, false, 0.0);
        match &mut model {
            LossModel::List(numbers) => {
                numbers.sort_unstable();
                numbers.dedup();
            }
            LossModel::GilbertElliott(chain) => self.is_bad = self.stream.chance(chain.bad_share()),
            LossModel::TwoState(periods) => self.left = periods.length(false, &mut self.stream),
            _ => {}
        }
        self.model = model;
    }

    /// Whether the next packet, of this size, is lost.
    #[inline]
    pub(crate) fn loses(&mut self, size_bytes: u32) -> bool {
        match &self.model {
            LossModel::None => false,
            LossModel::Bernoulli(probability) => self.stream.chance(*probability),
            _ => self.loses_otherwise(size_bytes),
        }
    }

    fn loses_otherwise(&mut self, size_bytes: u32) -> bool {
        let arrival = self.arrivals;
        self.arrivals += 1;
        match &self.model {
            LossModel::None => false,
            LossModel::Bernoulli(probability) => self.stream.chance(*probability),
            LossModel::BernoulliPerByte(probability) => {
                self.stream.chance(1.0 - libm::pow(1.0 - probability, f64::from(size_bytes)))
            }
            LossModel::GilbertElliott(chain) => {
                // Both numbers are drawn for each packet, so that other probabilities see the same numbers.
                let (turn, hit) = (self.stream.uniform(), self.stream.uniform());
                if turn < if self.is_bad { chain.to_good } else { chain.to_bad } {
                    self.is_bad = !self.is_bad;
                }
                hit < if self.is_bad { chain.bad_loss } else { chain.good_loss }
            }
            LossModel::TwoState(periods) => {
                let mut is_hit = self.is_bad;
                self.left -= match periods.unit {
                    LossUnit::Packets => 1.0,
                    LossUnit::Bytes => f64::from(size_bytes),
                };
                while self.left <= 0.0 {
                    self.is_bad = !self.is_bad;
                    self.left += periods.length(self.is_bad, &mut self.stream);
                    is_hit |= self.is_bad && periods.ns2_compat;
                }
                is_hit
            }
            LossModel::Periodic(periodic) => periodic.loses(arrival + 1),
            LossModel::List(numbers) => numbers.binary_search(&arrival).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests;
