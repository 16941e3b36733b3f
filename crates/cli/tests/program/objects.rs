//! The laboratory's objects are the transport's files: the same symbols in the same number of blocks.

#![allow(clippy::unwrap_used)]

use layercast_core::units::{DataSize, Size};
use layercast_delivery::object::Oti;
use layercast_delivery::sender::symbol_size;
use layercast_laboratory::scenario::ObjectPlan;

#[test]
fn an_object_has_the_symbols_and_blocks_of_the_transports_file() {
    for packet in [200, 576, 999, 1000, 1024, 1472, 9000] {
        let packet = Size::from_bytes(packet);
        for length in [1, 911, 912, 913, 50_000, 1_000_000, 50_000_000, 1_500_000_000] {
            let object = ObjectPlan { size: DataSize::from_bytes(length), leave_when_complete: true };
            let oti = Oti::plan(length, symbol_size(packet, 28)).unwrap();
            assert_eq!(ObjectPlan::symbol_bytes(packet) as usize, oti.symbol_size(), "{packet}");
            assert_eq!(object.source_symbols(packet), oti.symbols(), "{length} bytes in {packet}");
            assert_eq!(object.blocks(packet), u64::from(oti.blocks()), "{length} bytes in {packet}");
        }
        let largest = ObjectPlan::largest(packet).as_bytes();
        // The coder's own limit is below that of the numbers where packets are large.
        assert_eq!(
            Oti::plan(largest, symbol_size(packet, 28)).is_ok(),
            largest < 942_574_504_275,
            "{packet}"
        );
        assert!(Oti::plan(largest + 1, symbol_size(packet, 28)).is_err(), "{packet}");
    }
}
