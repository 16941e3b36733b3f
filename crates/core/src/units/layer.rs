//! Channels, layers and levels.

use core::fmt;

/// A channel of a session: a multicast group. With static layering layer i is channel i; a control group or
/// a wave is a channel too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u16);

/// An index into the cumulative structure of a session; 0 is the base layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer(pub u16);

/// The subscription level of a receiver: its highest layer, or none.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(Option<Layer>);

impl Layer {
    /// The base layer.
    pub const BASE: Layer = Layer(0);

    /// The position in a table of layers.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The channel of this layer under static layering.
    pub const fn channel(self) -> Channel {
        Channel(self.0)
    }

    /// The layer above.
    #[must_use]
    pub const fn above(self) -> Layer {
        Layer(self.0 + 1)
    }
}

impl Channel {
    /// The position in a table of channels.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Level {
    /// No layer.
    pub const NONE: Level = Level(None);

    /// Layers 0 to `layer`.
    pub const fn up_to(layer: Layer) -> Level {
        Level(Some(layer))
    }

    /// The highest layer.
    pub const fn top(self) -> Option<Layer> {
        self.0
    }

    /// The number of layers.
    pub const fn layer_count(self) -> u16 {
        match self.0 {
            Some(layer) => layer.0 + 1,
            None => 0,
        }
    }

    /// The level of `count` layers.
    pub const fn from_count(count: u16) -> Level {
        match count {
            0 => Level::NONE,
            _ => Level(Some(Layer(count - 1))),
        }
    }

    /// Whether `layer` is included in the level.
    pub const fn holds(self, layer: Layer) -> bool {
        layer.0 < self.layer_count()
    }

    /// The level as a number for averages and plots: none is -1.
    pub const fn as_number(self) -> i32 {
        self.layer_count() as i32 - 1
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(layer) => write!(f, "Level({})", layer.0),
            None => write!(f, "Level(none)"),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(layer) => write!(f, "{}", layer.0),
            None => write!(f, "none"),
        }
    }
}
