//! What every endpoint of a session knows before it starts.

use crate::layers::LayerTable;
use crate::units::Size;

/// The plan of a session: its layers and the size of its packets.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// The rates of the layers.
    pub layers: LayerTable,
    /// The size of each packet on the wire, headers included.
    pub packet_size: Size,
}
