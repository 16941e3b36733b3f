//! Objects of sessions, as files give them.

use layercast_core::units::DataSize;

use crate::scenario::ObjectPlan;
use crate::scenario::testing::{SMALL, read_text};

/// The small scenario with more keys of its session; its object, or what is wrong.
fn object(keys: &str) -> Result<Option<ObjectPlan>, String> {
    let text = SMALL.replace(r#"protocol = "elm""#, &format!("protocol = \"elm\"\n{keys}"));
    assert_ne!(text, SMALL);
    read_text(&text, &[]).map(|scenario| scenario.sessions[0].object).map_err(|errors| errors.to_string())
}

#[track_caller]
fn refused(keys: &str, why: &str, remedy: &str) {
    let reported = object(keys).unwrap_err();
    assert!(reported.contains(why), "{reported}");
    assert!(reported.contains(remedy), "{reported}");
}

#[test]
fn an_object_has_a_size_and_receivers_leave_with_it() {
    let gigabytes = |count: u64, leave_when_complete: bool| {
        Some(ObjectPlan { size: DataSize::from_bytes(count * 1_000_000_000), leave_when_complete })
    };
    assert_eq!(object("object = \"2 GB\""), Ok(gigabytes(2, true)));
    assert_eq!(object("object = \"2 GB\"\nleave_when_complete = false"), Ok(gigabytes(2, false)));
    assert_eq!(object("ecn = false"), Ok(None));
}

#[test]
fn objects_that_make_no_sense_are_refused() {
    refused(
        "object = \"0 MB\"",
        "\"0 MB\" is not allowed",
        "a size above zero, such as \"700 MB\" or \"2 GB\"",
    );
    refused("object = 5", "it needs a unit, in quotes", "2 GB");
    refused("object = \"2 GiB\"", "the unit must be bytes, B, kB, MB, GB or TB", "2 GB");
    refused("object = \"1.5 bytes\"", "there are only whole bytes", "2 GB");
    refused("object = \"-1 GB\"", "finite and not negative", "2 GB");
    refused("object = \"1e9 TB\"", "the most is 9000 TB", "2 GB");
    // 255 blocks of 56 403 symbols of 912 bytes.
    refused("object = \"14 TB\"", "more symbols than RaptorQ can number", "at most 13.11");
    refused("object = \"1 MB\"\npackets = 10", "both say how much data", "one of the two");
    refused("leave_when_complete = true", "the session has none", "only with `object`");
    refused("object = \"1 MB\"\npacket_size = \"80 bytes\"", "no room for an object", "at least 92 bytes");
}

/// Transfers of flows have a `size`.
#[test]
fn flows_have_no_object() {
    let text = SMALL.replace("to = [\"R1\", \"R2\"]", "to = [\"R1\", \"R2\"]\nobject = \"1 MB\"");
    let reported = read_text(&text, &[]).unwrap_err().to_string();
    assert!(reported.contains("a flow has no key `object`"), "{reported}");
}
