//! The bounds of the layers' rates, and the channels of layers and counting layers.
//!
//! Layer i of a plan with cumulative rates B_0, B_1, ... has the maximum rate B_i and the minimum B_(i-1);
//! the minimum of the base layer is half its maximum (reconstruction: a layer's maximum rate is the minimum of
//! the layer above, and twice its own). Channels 0 to m - 1 are the layers; the counting layers of the boundary
//! between layers 0 and 1 come next, the slowest first, then those of the boundary above.

use alloc::format;
use alloc::vec::Vec;

use super::counting::layers_for;
use layercast_core::layers::LayerTable;
use layercast_core::session::{PlanError, SessionPlan};
use layercast_core::units::{Channel, Duration, Layer, Rate};

/// How far the bounds of a layer may deviate from a factor of two, as a fraction.
const DOUBLING_TOLERANCE: f64 = 0.01;
/// The most counting layers of a boundary: 65 535 steps.
const MAX_COUNTING: u32 = 16;
/// The most layers: a layer has 8 bits in a header.
const MAX_LAYERS: u16 = 255;

/// The counting layers of one boundary.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    first: u16,
    count: u32,
}

/// The structure of a session's layers and counting layers.
#[derive(Clone, Debug)]
pub struct Structure {
    layers: LayerTable,
    boundaries: Vec<Boundary>,
    unit: Rate,
}

impl Structure {
    /// The structure of a plan. The unit of counting layers is one packet in `counting_round_trip`.
    pub fn new(plan: &SessionPlan, counting_round_trip: Duration) -> Structure {
        let layers = plan.layers.clone();
        let per_s = plan.packet_size.as_bits().max(1) as f64 / counting_round_trip.as_secs_f64();
        let unit = Rate::from_bps(per_s.max(1.0));
        let mut first = layers.count();
        let mut boundaries = Vec::with_capacity(usize::from(layers.count().saturating_sub(1)));
        for upper in layers.layers().skip(1) {
            // From the minimum rate of the layer below up to the maximum of the layer above.
            let below = Layer(upper.0 - 1);
            let rise = layers.cumulative(upper) - low_of(&layers, below);
            let steps = layercast_core::math::ceil(rise.as_bps() / unit.as_bps()).min(f64::from(u32::MAX));
            let count = layers_for(steps as u32);
            boundaries.push(Boundary { first, count });
            first = first.saturating_add(count as u16);
        }
        Structure { layers, boundaries, unit }
    }

    /// Whether a protocol of this structure can carry the plan.
    ///
    /// # Errors
    /// Which layer does not double, or which boundary has too many steps.
    pub fn check(plan: &SessionPlan, counting_round_trip: Duration) -> Result<(), PlanError> {
        let layers = &plan.layers;
        if layers.count() > MAX_LAYERS {
            return Err(PlanError(format!("{} layers are more than {MAX_LAYERS}", layers.count())));
        }
        for upper in layers.layers().skip(1) {
            let (below, above) = (layers.cumulative(Layer(upper.0 - 1)), layers.cumulative(upper));
            if (above.as_bps() / below.as_bps() - 2.0).abs() > 2.0 * DOUBLING_TOLERANCE {
                return Err(PlanError(format!(
                    "layers go up from {below} to {above}; the rate up to layer {} must be twice that up to \
                     the layer below, {} (scheme \"doubling\")",
                    upper.0,
                    below.scaled(2.0)
                )));
            }
        }
        let structure = Structure::new(plan, counting_round_trip);
        for (boundary, counting) in structure.boundaries.iter().enumerate() {
            if counting.count > MAX_COUNTING {
                return Err(PlanError(format!(
                    "{} counting layers of {} and more between layers {boundary} and {} are more than \
                     {MAX_COUNTING}; take a shorter counting_round_trip or larger packets",
                    counting.count,
                    structure.unit,
                    boundary + 1
                )));
            }
        }
        Ok(())
    }

    /// How many layers there are.
    pub fn layer_count(&self) -> u16 {
        self.layers.count()
    }

    /// How many channels there are.
    pub fn channel_count(&self) -> u16 {
        let counting: u32 = self.boundaries.iter().map(|boundary| boundary.count).sum();
        self.layer_count().saturating_add(counting as u16)
    }

    /// The most that a source sends: all layers at their maximum, and all counting layers, which it always
    /// sends on.
    pub fn peak_rate(&self) -> Rate {
        let steps = self
            .boundaries
            .iter()
            .map(|boundary| layercast_core::math::exp2(f64::from(boundary.count)) - 1.0);
        let counting = self.unit.scaled(steps.sum());
        Rate::from_bps(self.layers.top_rate().as_bps() + counting.as_bps())
    }

    /// The minimum cumulative rate of a layer.
    pub fn low(&self, layer: Layer) -> Rate {
        low_of(&self.layers, layer)
    }

    /// The maximum cumulative rate of a layer.
    pub fn high(&self, layer: Layer) -> Rate {
        self.layers.cumulative(layer)
    }

    /// Whether there is such a layer.
    pub fn contains(&self, layer: Layer) -> bool {
        self.layers.contains(layer)
    }

    /// The rate that each step of an attempt adds.
    pub fn unit(&self) -> Rate {
        self.unit
    }

    /// How many steps the counting layers above a layer can count.
    pub fn most_steps(&self, layer: Layer) -> u32 {
        let count = self.boundaries.get(layer.index()).map_or(0, |boundary| boundary.count);
        1u32.checked_shl(count).map_or(u32::MAX, |steps| steps - 1)
    }

    /// The most counting layers that a boundary has.
    pub fn widest_boundary(&self) -> u32 {
        self.boundaries.iter().map(|boundary| boundary.count).max().unwrap_or(0)
    }

    /// The rate of the counting layer at a position, 0 the slowest.
    pub fn counting_rate(&self, place: u32) -> Rate {
        self.unit.scaled(layercast_core::math::exp2(f64::from(place)))
    }

    /// The channel of a counting layer of the boundary above a layer; none if there is no such layer.
    pub fn counting_channel(&self, layer: Layer, place: u32) -> Option<Channel> {
        let boundary = self.boundaries.get(layer.index()).filter(|boundary| place < boundary.count)?;
        Some(Channel(boundary.first + place as u16))
    }

    /// The layer below the boundary of a counting layer's channel, and its position; none for other channels.
    pub fn counting_place(&self, channel: Channel) -> Option<(Layer, u32)> {
        let holds = |boundary: &Boundary| {
            let place = u32::from(channel.0.checked_sub(boundary.first)?);
            (place < boundary.count).then_some(place)
        };
        let mut places = self.boundaries.iter().enumerate();
        places.find_map(|(layer, boundary)| Some((Layer(layer as u16), holds(boundary)?)))
    }
}

fn low_of(layers: &LayerTable, layer: Layer) -> Rate {
    match layer.0.checked_sub(1) {
        Some(below) => layers.cumulative(Layer(below)),
        None => layers.cumulative(layer).scaled(0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Size;

    fn plan(base_kbps: f64, count: u16) -> SessionPlan {
        let layers = LayerTable::doubling(Rate::from_kbps(base_kbps), count).unwrap();
        SessionPlan { layers, packet_size: Size::from_bytes(1000) }
    }

    #[test]
    fn bounds_meet_and_channels_follow_each_other() {
        let structure = Structure::new(&plan(400.0, 4), Duration::from_ms(100));
        assert_eq!(structure.unit(), Rate::from_kbps(80.0));
        assert_eq!(structure.low(Layer(0)), Rate::from_kbps(200.0));
        for layer in 0..3 {
            assert_eq!(structure.high(Layer(layer)), structure.low(Layer(layer + 1)));
        }
        // Increases of 600, 1200 and 2400 kbit/s are 8, 15 and 30 steps: 4, 4 and 5 layers.
        assert_eq!(structure.channel_count(), 4 + 4 + 4 + 5);
        assert_eq!([0, 1, 2, 3].map(|layer| structure.most_steps(Layer(layer))), [15, 15, 31, 0]);
        let mut channels = Vec::new();
        for layer in 0..4 {
            for place in 0..20 {
                if let Some(channel) = structure.counting_channel(Layer(layer), place) {
                    assert_eq!(structure.counting_place(channel), Some((Layer(layer), place)));
                    channels.push(channel.0);
                }
            }
        }
        assert_eq!(channels, (4..17).collect::<Vec<u16>>());
        assert_eq!(structure.counting_place(Channel(3)), None);
        assert_eq!(structure.counting_place(Channel(17)), None);
        assert_eq!(structure.counting_rate(3), Rate::from_kbps(640.0));
        // 3200 kbit/s of layers, and 15 + 15 + 31 steps of counting layers.
        assert_eq!(structure.peak_rate(), Rate::from_kbps(3200.0 + 61.0 * 80.0));
    }

    #[test]
    fn what_does_not_double_is_refused_with_what_would_fit() {
        let rates = [500.0, 1000.0, 1500.0].map(Rate::from_kbps);
        let layers = LayerTable::from_cumulative(rates).unwrap();
        let error =
            Structure::check(&SessionPlan { layers, ..plan(1.0, 1) }, Duration::from_ms(100)).unwrap_err();
        assert!(error.0.contains("layer 2") && error.0.contains("2 Mbit/s"), "{error}");
        let error = Structure::check(&plan(400.0, 8), Duration::from_secs(1000)).unwrap_err();
        assert!(error.0.contains("counting_round_trip"), "{error}");
        assert_eq!(Structure::check(&plan(400.0, 8), Duration::from_ms(100)), Ok(()));
        assert_eq!(Structure::check(&plan(400.0, 1), Duration::from_ms(100)), Ok(()));
    }
}
