//! Reads the object of a session.

use layercast_core::units::{DataSize, Size};

use super::context::Context;
use super::table::TableReader;
use crate::scenario::object::{ObjectPlan, SMALLEST_PACKET};
use crate::scenario::problems::Problem;

/// The object of a session with packets of this size, if it has one.
pub(super) fn read(
    table: &TableReader<'_>,
    packet_size: Option<Size>,
    context: &mut Context<'_>,
) -> Option<ObjectPlan> {
    let Some(node) = table.node("object") else {
        if let Some(node) = table.node("leave_when_complete") {
            let message = "`leave_when_complete` is about an object, and the session has none";
            context.problems.push(Problem::of(node, message).allowed("only with `object`"));
        }
        return None;
    };
    let size: Option<DataSize> = table.get("object", context);
    let leave_when_complete = table.get("leave_when_complete", context).unwrap_or(true);
    if table.node("packets").is_some() {
        let message = "`object` and `packets` both say how much data the session has";
        context.problems.push(Problem::of(node, message).allowed("one of the two"));
    }
    let (size, packet) = (size?, packet_size?);
    if packet.as_bytes() < SMALLEST_PACKET {
        let message = format!("packets of {packet} have no room for an object behind their headers");
        let allowed = format!("a `packet_size` of at least {SMALLEST_PACKET} bytes");
        context.problems.push(Problem::of(node, message).allowed(allowed));
    } else if size > ObjectPlan::largest(packet) {
        let message = format!("an object of {size} has more symbols than RaptorQ can number");
        let largest = ObjectPlan::largest(packet);
        let allowed = format!("at most {largest} with a `packet_size` of {packet}");
        context.problems.push(Problem::of(node, message).allowed(allowed));
    }
    Some(ObjectPlan { size, leave_when_complete })
}
