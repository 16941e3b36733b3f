use layercast_core::units::{Channel, Duration, Layer};
use layercast_kit::dynamic::{ChannelRotation, Cycle, Layering, Memberships, Move, silent_slots};
use layercast_testkit::golden::{Case, numbers, vector, wholes};

use crate::golden::JOIN_LEAVE;

fn load(id: &str) -> Case {
    vector(JOIN_LEAVE, id)
}

fn wheel(case: &Case, layers: u16) -> ChannelRotation {
    ChannelRotation { layers, silent: case.whole("s") as u16 }
}

#[test]
fn dl_01_to_08_what_each_group_carries() {
    for id in ["DL-01", "DL-02", "DL-03", "DL-04", "DL-05", "DL-06", "DL-07", "DL-08"] {
        let case = load(id);
        let rates = numbers(&case.input["r"]);
        let wheel = wheel(&case, rates.len() as u16);
        let slot = case.whole("slot");
        let indices = wholes(&case.expected["static_index"]);
        let carried: Vec<f64> = (0..wheel.groups())
            .map(|group| wheel.layer_of(group, slot).map_or(0.0, |layer| rates[usize::from(layer)]))
            .collect();
        case.check_list("rates", &carried, &case.expected["rate"]);
        for (group, &index) in indices.iter().enumerate() {
            let layer = Some(index as u16).filter(|&layer| layer < wheel.layers);
            assert_eq!(wheel.layer_of(group as u16, slot), layer, "{} group {group}", case.id);
        }
    }
}

/// The joins and leaves of a receiver that holds `level` in `slot`, to hold `next` in the slot after.
fn step(layering: Layering, slot: u64, level: u16, next: u16) -> [Vec<u64>; 2] {
    let mut memberships = Memberships::new(layering.channels());
    memberships.hold(layering.channels_of(level + 1, slot), |_| ());
    let (mut joins, mut leaves) = (Vec::new(), Vec::new());
    memberships.hold(layering.channels_of(next + 1, slot + 1), |step| match step {
        Move::Join(channel) => joins.push(u64::from(channel.0)),
        Move::Leave(channel) => leaves.push(u64::from(channel.0)),
    });
    [joins, leaves]
}

fn expected(value: &serde_json::Value) -> [Vec<u64>; 2] {
    [wholes(&value[0]), wholes(&value[1])]
}

#[test]
fn dl_09_and_10_operations_at_a_boundary() {
    for id in ["DL-09", "DL-10"] {
        let case = load(id);
        let layering = Layering::Turning(wheel(&case, case.whole("l") as u16));
        let (slot, level) = (case.whole("slot"), case.whole("level") as u16);
        let held: Vec<u64> = layering.channels_of(level + 1, slot).map(|c| u64::from(c.0)).collect();
        assert_eq!(held, wholes(&case.expected["subscribed"]), "{id}");
        let steps = [("down", level - 1), ("stay", level), ("up", level + 1)];
        for (name, next) in steps.into_iter().filter(|(name, _)| !case.expected[*name].is_null()) {
            assert_eq!(step(layering, slot, level, next), expected(&case.expected[name]), "{id} {name}");
        }
    }
}

#[test]
fn dl_11_silent_slots() {
    let case = load("DL-11");
    let pairs = case.input["pairs"].as_array().unwrap();
    let silent = |pair: &serde_json::Value| {
        let seconds = numbers(pair);
        u64::from(silent_slots(Duration::from_secs_f64(seconds[1]), Duration::from_secs_f64(seconds[0])))
    };
    let silent: Vec<u64> = pairs.iter().map(silent).collect();
    assert_eq!(silent, wholes(&case.expected["s"]));
}

#[test]
fn dl_12_and_13_a_base_that_stands_still() {
    let case = load("DL-12");
    let layers = case.whole("l") as u16;
    let layering = Layering::TurningAboveBase(wheel(&case, layers - 1));
    let slot = case.whole("slot");
    for (level, groups) in case.expected["groups"].as_array().unwrap().iter().enumerate() {
        let held: Vec<u64> = layering.channels_of(level as u16 + 1, slot).map(|c| u64::from(c.0)).collect();
        // Groups are numbered without the base, whose channel comes first.
        let groups: Vec<u64> = wholes(groups).into_iter().map(|group| group + 1).collect();
        assert_eq!(held[0], 0);
        assert_eq!(held[1..], groups, "level {level}");
    }

    let case = load("DL-13");
    for (name, level, next) in [
        ("from0_stay", 0, 0),
        ("from0_up", 0, 1),
        ("from1_down", 1, 0),
        ("from1_stay", 1, 1),
        ("from1_up", 1, 2),
    ] {
        let mut actual = step(layering, slot, level, next)
            .map(|list| -> Vec<u64> { list.into_iter().map(|channel| channel - 1).collect() });
        actual[0].sort_unstable();
        assert_eq!(actual, expected(&case.expected[name]), "{name}");
    }
}

#[test]
fn dl_14_layers_that_are_not_cumulative() {
    let case = load("DL-14");
    let cycle = Cycle { layers: case.whole("l") as u16, groups_each: case.whole("s") as u16 };
    let layering = Layering::Cycling(cycle);
    let slots = wholes(&case.input["slots"]);
    for (slot, active) in slots.into_iter().zip(case.expected["active"].as_array().unwrap()) {
        let carrying = |&channel: &u16| layering.layer_of(Channel(channel), slot).is_some();
        let actual: Vec<u64> = (0..layering.channels()).filter(carrying).map(u64::from).collect();
        assert_eq!(actual, wholes(active), "slot {slot}");
    }
    // Any subset can be held: what is dropped is left, what is kept is joined again.
    let mut memberships = Memberships::new(layering.channels());
    let of = |layers: &[u16], slot| {
        let channels = layers.iter().filter_map(|&layer| layering.channel_of(Layer(layer), slot));
        channels.collect::<Vec<_>>().into_iter()
    };
    memberships.hold(of(&[0, 2], 5), |_| ());
    let mut steps = Vec::new();
    memberships.hold(of(&[2], 6), |step| steps.push(step));
    assert_eq!(steps, [Move::Leave(Channel(1)), Move::Leave(Channel(9)), Move::Join(Channel(10))]);
}

#[test]
fn dl_15_groups_needed() {
    let case = load("DL-15");
    let slot = Duration::from_secs_f64(case.number("T"));
    let groups = |leave: f64| {
        let silent = silent_slots(slot, Duration::from_secs_f64(leave));
        let layers = case.whole("layers") as u16 - 1;
        u64::from(Layering::TurningAboveBase(ChannelRotation { layers, silent }).channels())
    };
    let actual: Vec<u64> = numbers(&case.input["L"]).into_iter().map(groups).collect();
    assert_eq!(actual, wholes(&case.expected["total_groups"]));
}

#[test]
fn dl_16_a_wrapped_index_is_another_slot() {
    let case = load("DL-16");
    let groups = case.whole("l_plus_s") as u16;
    let wheel = ChannelRotation { layers: 4, silent: groups - 4 };
    // Group l + s - 1 carries layer (l - 1 - k) mod (l + s) in slot k.
    let turned = |slot: u64| {
        let layer = (0..groups).find(|&group| wheel.layer_of(group, slot) == Some(0));
        (u64::from(layer.unwrap()) + 4) % u64::from(groups)
    };
    let slots = wholes(&case.input["slots"]);
    let actual: Vec<u64> = slots.iter().map(|&slot| turned(slot)).collect();
    assert_eq!(actual, wholes(&case.expected["mod_true"]));
    let wrapped: Vec<u64> = slots.iter().map(|&slot| turned(slot % (1 << 16))).collect();
    assert_eq!(wrapped, wholes(&case.expected["mod_after_16bit_wrap"]));
}
