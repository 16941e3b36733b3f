//! The strip beneath a plot of levels: a tick for each change, coloured by its cause.

use maud::{Markup, html};

use super::canvas::{Drawn, Plane, Sheet, line};
use super::palette::{Ink, hue_ink};
use crate::results::why::{Cause, LevelMark};

/// A kind of causes: its name, and its number among the hues.
struct Kind {
    name: &'static str,
    hue: usize,
    has: fn(Cause) -> bool,
}

/// The kinds in the order of the legend. The last has all that the others have not.
const KINDS: [Kind; 6] = [
    Kind { name: "slow start", hue: 6, has: |cause| matches!(cause, Cause::Start | Cause::SlowStart) },
    Kind { name: "fair rate", hue: 1, has: |cause| matches!(cause, Cause::RateAbove | Cause::RateBelow) },
    Kind {
        name: "scheduled join",
        hue: 3,
        has: |cause| matches!(cause, Cause::SynchronisationPoint | Cause::Experiment | Cause::IncreaseSignal),
    },
    Kind { name: "loss", hue: 2, has: |cause| cause == Cause::Loss },
    Kind { name: "congestion mark", hue: 5, has: |cause| cause == Cause::CongestionMark },
    Kind { name: "other", hue: 4, has: |_| true },
];

/// The height of the strip.
const HEIGHT: f64 = 14.0;
/// The space that it takes beneath the plot of levels.
pub(super) const SPACE: f64 = HEIGHT + 8.0;

fn kind(cause: Cause) -> usize {
    KINDS.iter().position(|kind| (kind.has)(cause)).unwrap_or(KINDS.len() - 1)
}

/// Draws the changes into the strip below `foot`: joins in its upper half, leaves in the lower.
pub(super) fn strip(
    sheet: &Sheet<'_>,
    levels: &Plane<'_>,
    across: &std::ops::Range<f64>,
    foot: f64,
    changes: &[&LevelMark],
    titles: bool,
) -> Drawn {
    let plane = sheet.plane(across.clone(), foot + 8.0..foot + SPACE, levels.x.clone(), 0.0..2.0);
    // Ticks of one kind that fall on the same pixel are drawn once.
    let mut drawn = std::collections::BTreeSet::new();
    for change in changes {
        let (x, y) = plane.pixel((change.at_s, 1.0));
        let (kind, up) = (kind(change.cause), change.to > change.from);
        if !drawn.insert((x as i64, kind, up)) {
            continue;
        }
        let ends = if up { (1.05, 2.0) } else { (0.0, 0.95) };
        let ink: Ink = hue_ink(KINDS[kind].hue);
        plane.line([(change.at_s, ends.0), (change.at_s, ends.1)], line(ink.color(), 1.0, 2.0))?;
        if titles {
            let text =
                format!("{:.1} s: level {} to {}, {}", change.at_s, change.from, change.to, change.cause);
            sheet.title(x - 2.0..x + 2.0, if up { foot + 8.0..y } else { y..foot + SPACE }, &text);
        }
    }
    Ok(())
}

/// The meaning of the colours.
pub(super) fn legend() -> Markup {
    html! {
        ul.strands.legend { @for kind in &KINDS { li { i.dot.(format!("hue{}", kind.hue)) {} (kind.name) } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_kind_and_every_kind_a_hue_of_its_own() {
        let name = |cause| KINDS[kind(cause)].name;
        assert_eq!(name(Cause::SlowStart), "slow start");
        assert_eq!(name(Cause::RateBelow), "fair rate");
        assert_eq!(name(Cause::IncreaseSignal), "scheduled join");
        assert_eq!(name(Cause::Loss), "loss");
        assert_eq!(name(Cause::WaveEnded), "other");
        let mut hues: Vec<usize> = KINDS.iter().map(|kind| kind.hue).collect();
        hues.sort_unstable();
        hues.dedup();
        assert_eq!(hues.len(), KINDS.len());
    }
}
