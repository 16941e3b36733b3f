//! What links carry, as a table.

use std::fmt::Write as _;

use layercast_emulator::world::Carried;

/// A table of what each link carried between two moments, of no more than `most` links: those that carried most. Links
/// that have not carried anything are left out.
pub(super) fn render(
    names: &[String],
    (before, now): (&[Carried], &[Carried]),
    seconds: f64,
    most: usize,
) -> String {
    let all = names.iter().zip(before.iter().zip(now));
    let mut used: Vec<(usize, &String, &Carried, &Carried)> = all
        .enumerate()
        .map(|(place, (name, (before, now)))| (place, name, before, now))
        .filter(|(_, _, _, now)| **now != Carried::default())
        .collect();
    let hidden = used.len().saturating_sub(most);
    used.sort_by_key(|(place, _, before, now)| (std::cmp::Reverse(now.bytes - before.bytes), *place));
    used.truncate(most);
    used.sort_by_key(|(place, ..)| *place);
    let width = used.iter().map(|(_, name, ..)| name.chars().count()).max().unwrap_or(0).max("link".len());
    let mut text = format!(
        "{:<width$}  {:>10}  {:>10}  {:>7}  {:>8}\n",
        "link", "packets/s", "kbit/s", "queue", "drops"
    );
    for (_, name, before, now) in used {
        let rate = |count: u64| count as f64 / seconds.max(1e-9);
        let _ = writeln!(
            text,
            "{name:<width$}  {:>10.0}  {:>10.1}  {:>7}  {:>8}",
            rate(now.packets - before.packets),
            rate(now.bytes - before.bytes) * 8.0 / 1e3,
            now.queue,
            now.drops,
        );
    }
    if hidden > 0 {
        let _ = writeln!(text, "and {hidden} more, which carry less");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_that_carry_most_are_shown_in_their_order() {
        let names = ["A-B", "B-A", "B-Cardiff", "Cardiff-B"].map(str::to_owned);
        let link = |packets, drops, queue| Carried { packets, bytes: packets * 1000, drops, queue };
        let before = [link(100, 0, 0), link(10, 0, 0), link(0, 0, 0), link(0, 0, 0)];
        let now = [link(300, 5, 7), link(30, 0, 0), link(150, 1, 2), link(0, 0, 0)];
        insta::assert_snapshot!(render(&names, (&before, &now), 2.0, 2), @"
        link        packets/s      kbit/s    queue     drops
        A-B               100       800.0        7         5
        B-Cardiff          75       600.0        2         1
        and 1 more, which carry less
        ");
    }
}
