//! Error models: losses that are not the queue's.

use layercast_protocol::stream::Stream;

/// Which packets a link loses by itself. The model is asked when a packet is offered to the link,
/// before the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossModel {
    /// Loses nothing.
    #[default]
    None,
    /// Loses each packet independently with this probability, whatever its size.
    Bernoulli(f64),
    /// Loses the packets with these arrival numbers, counted from 0.
    List(Vec<u64>),
}

/// A loss model at work: its own random stream and its count of arrivals.
#[derive(Debug)]
pub(crate) struct LossProcess {
    model: LossModel,
    stream: Stream,
    arrivals: u64,
}

impl LossProcess {
    pub(crate) fn new(mut model: LossModel, stream: Stream) -> LossProcess {
        if let LossModel::List(numbers) = &mut model {
            numbers.sort_unstable();
            numbers.dedup();
        }
        LossProcess { model, stream, arrivals: 0 }
    }

    /// Whether the packet offered now is lost.
    #[inline]
    pub(crate) fn loses(&mut self) -> bool {
        match &self.model {
            LossModel::None => false,
            LossModel::Bernoulli(probability) => self.stream.chance(*probability),
            LossModel::List(numbers) => {
                let arrival = self.arrivals;
                self.arrivals += 1;
                numbers.binary_search(&arrival).is_ok()
            }
        }
    }
}
