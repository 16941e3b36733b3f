//! The colours, each with a twin for dark pages, and which protocol has which.
//!
//! The hues are Okabe and Ito's, which people with any colour vision can distinguish. A plot is drawn in
//! the light colours; the stylesheet made here finds a colour by its value and swaps it on dark pages.
//! That is why every ink has its own value, and why a dashed line differs in colour by one step from
//! its plain one.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::results::experiment::Experiment;

/// A colour on light paper and its twin on dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ink {
    light: u32,
    dark: u32,
}

/// Text, and the marks of the paper.
pub(crate) const TEXT: Ink = Ink { light: 0x1A_1D_21, dark: 0xE8_EA_ED };
/// Numbers along the axes.
pub(crate) const MUTED: Ink = Ink { light: 0x67_6E_78, dark: 0x9A_A1_AB };
/// Lines to read a height by.
pub(crate) const GRID: Ink = Ink { light: 0xE6_E8_EC, dark: 0x2A_2F_36 };
/// The axis itself.
pub(crate) const AXIS: Ink = Ink { light: 0xB3_B9_C2, dark: 0x4A_51_5B };
/// What lies outside of the measurement window.
pub(crate) const SHADE: Ink = Ink { light: 0xF4_F5_F7, dark: 0x1C_20_25 };
/// The page, for hollow marks.
pub(crate) const PAGE: Ink = Ink { light: 0xFF_FF_FF, dark: 0x14_17_1B };

/// TCP is what others are measured against, so it is grey; the studied protocols have the hues.
const HUES: [Ink; 8] = [
    Ink { light: 0x5F_6B_7A, dark: 0x9A_A7_B7 }, // slate
    Ink { light: 0x00_72_B2, dark: 0x4F_AE_E8 }, // blue
    Ink { light: 0xD5_5E_00, dark: 0xFF_8B_3D }, // vermillion
    Ink { light: 0x00_9E_73, dark: 0x35_CB_9D }, // green
    Ink { light: 0xCC_79_A7, dark: 0xE8_A6_C9 }, // purple
    Ink { light: 0xE6_9F_00, dark: 0xFF_C2_4A }, // orange
    Ink { light: 0x56_B4_E9, dark: 0x9A_D8_FA }, // sky
    Ink { light: 0x9C_8B_00, dark: 0xF0_E4_42 }, // yellow, darkened to be seen on white
];

/// Protocols that have the same hue in whatever company, unless one before them in the list has it.
const KNOWN: [(&str, usize); 11] = [
    ("elm", 1),
    ("rlc", 2),
    ("flid-dl", 3),
    ("rlm", 5),
    ("webrc", 4),
    ("tfmcc", 6),
    ("amca", 7),
    ("flid-sl", 6),
    ("smcc", 7),
    ("pgmcc", 5),
    ("wei-zhang", 4),
];

/// How often a hue can be used again: each time with other dashes and another mark. The last bits of the colour
/// say which, as the stylesheet finds inks by their value.
const ROUNDS: usize = 4;
/// The dashes of each round, and of the dashed lines of each.
const DASHES: [[&str; 2]; ROUNDS] = [["", "9 6"], ["22 5", "5 5"], ["3 5", "3 9"], ["18 5 3 5", "9 5 3 5"]];
/// The marks of each round: a circle, a square, a diamond, a ring.
const MARKS: [&str; ROUNDS] = [
    "",
    "border-radius: 1px",
    "border-radius: 1px; transform: rotate(45deg)",
    "background: none; border: 2px solid var(--ink)",
];

/// The colours of these protocols, in the order given, for plots outside of the report: red, green and blue on light
/// paper in 24 bits, and how often the hue was used before, which asks for other dashes.
#[must_use]
pub fn of_protocols(names: &[&str]) -> Vec<(u32, usize)> {
    let palette = Palette::of_protocols(names);
    let looks = names.iter().map(|name| palette.look(name));
    looks.map(|look| (HUES[look.hue % HUES.len()].light, look.round)).collect()
}

impl Ink {
    /// The colour to draw with.
    pub(crate) fn color(self) -> RGBColor {
        let [_, red, green, blue] = self.light.to_be_bytes();
        RGBColor(red, green, blue)
    }

    /// The colour to draw a dashed line with.
    pub(crate) fn dashed(self) -> RGBColor {
        Self { light: self.light ^ 1, ..self }.color()
    }

    /// The same hue when it is used again.
    fn again(self, round: usize) -> Self {
        Self { light: self.light ^ (2 * (round % ROUNDS) as u32), ..self }
    }
}

/// What a protocol is drawn with: a hue, and how often it was used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    hue: usize,
    round: usize,
}

/// Which protocol of an experiment has which look. No two have the same, as long as there are looks.
#[derive(Debug)]
pub(crate) struct Palette {
    looks: Vec<(String, Look)>,
}

impl Palette {
    /// Known protocols get their own hue, the first TCP the grey, and the rest what is left.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let names: Vec<&str> = experiment.flows.iter().map(|flow| flow.protocol.as_str()).collect();
        Self::of_protocols(&names)
    }

    /// The looks of things that each have a protocol: the first of a protocol has its look, others an
    /// unused one. They are asked for by the thing's name.
    pub(crate) fn of_things(things: &[(&str, &str)]) -> Self {
        let protocols: Vec<&str> = things.iter().map(|(_, protocol)| *protocol).collect();
        let known = Self::of_protocols(&protocols);
        let mut worn = Self { looks: Vec::new() };
        // Which of the protocols already lent its look.
        let mut lent: Vec<&str> = Vec::new();
        for (name, protocol) in things {
            if worn.has(name) {
                continue;
            }
            let look = if lent.contains(protocol) {
                let is_free = |look: Look| worn.is_free(look) && known.is_free(look);
                first_free(is_free)
            } else {
                lent.push(protocol);
                known.look(protocol)
            };
            worn.looks.push(((*name).to_owned(), look));
        }
        worn
    }

    fn of_protocols(all: &[&str]) -> Self {
        let mut palette = Self { looks: Vec::new() };
        let tcp = all.iter().copied().find(|name| name.starts_with("tcp"));
        palette.looks.extend(tcp.map(|name| (name.to_owned(), Look { hue: 0, round: 0 })));
        for &(name, hue) in KNOWN.iter().filter(|(known, _)| all.contains(known)) {
            let look = Look { hue, round: 0 };
            if palette.is_free(look) {
                palette.looks.push((name.to_owned(), look));
            }
        }
        for name in all {
            if !palette.has(name) {
                let look = first_free(|look| palette.is_free(look));
                palette.looks.push(((*name).to_owned(), look));
            }
        }
        palette
    }

    fn has(&self, name: &str) -> bool {
        self.looks.iter().any(|(other, _)| other == name)
    }

    fn is_free(&self, look: Look) -> bool {
        self.looks.iter().all(|&(_, taken)| taken != look)
    }

    fn look(&self, protocol: &str) -> Look {
        let found = self.looks.iter().find(|(name, _)| name == protocol);
        found.map_or(Look { hue: 0, round: 0 }, |&(_, look)| look)
    }

    /// The protocol's ink in plots. Inks of one hue differ in their dashes.
    pub(crate) fn ink(&self, protocol: &str) -> Ink {
        let look = self.look(protocol);
        HUES.get(look.hue).copied().unwrap_or(TEXT).again(look.round)
    }

    /// The classes that give an element of the page the protocol's colour as `--ink`, and a `.dot` its mark.
    pub(crate) fn class(&self, protocol: &str) -> String {
        let Look { hue, round } = self.look(protocol);
        if round == 0 { format!("hue{hue}") } else { format!("hue{hue} round{round}") }
    }
}

/// The first look that is free: each hue once before any is used again, and the grey last.
fn first_free(is_free: impl Fn(Look) -> bool) -> Look {
    let rounds = (0..ROUNDS).flat_map(|round| (1..=HUES.len()).map(move |hue| (hue % HUES.len(), round)));
    let mut looks = rounds.map(|(hue, round)| Look { hue, round });
    looks.find(|&look| is_free(look)).unwrap_or(Look { hue: 0, round: ROUNDS - 1 })
}

/// The ink of a hue by its number, for marks that are not of a protocol; the class of the page is `hueN`.
pub(crate) fn hue_ink(hue: usize) -> Ink {
    HUES.get(hue).copied().unwrap_or(TEXT)
}

/// The rules for dashes, for dark pages, and for the protocol classes.
pub(crate) fn stylesheet() -> String {
    let mut css = String::new();
    let mut dark = String::new();
    let mut swap = |light: u32, ink: Ink| {
        // Writing to a string cannot fail.
        let _ = writeln!(dark, "  .plot [stroke=\"#{light:06X}\"] {{ stroke: #{:06X} }}", ink.dark);
        let _ = writeln!(dark, "  .plot [fill=\"#{light:06X}\"] {{ fill: #{:06X} }}", ink.dark);
    };
    for ink in [TEXT, MUTED, GRID, AXIS, SHADE, PAGE] {
        swap(ink.light, ink);
        swap(ink.light ^ 1, ink);
        let _ = writeln!(css, ".plot [stroke=\"#{:06X}\"] {{ stroke-dasharray: 9 6 }}", ink.light ^ 1);
    }
    for (ink, round) in HUES.iter().flat_map(|ink| (0..ROUNDS).map(move |round| (*ink, round))) {
        let light = ink.again(round).light;
        swap(light, ink);
        swap(light ^ 1, ink);
        for (light, dashes) in [light, light ^ 1].iter().zip(DASHES[round]) {
            if !dashes.is_empty() {
                let _ = writeln!(css, ".plot [stroke=\"#{light:06X}\"] {{ stroke-dasharray: {dashes} }}");
            }
        }
    }
    for (hue, ink) in HUES.iter().enumerate() {
        let _ = writeln!(css, ".hue{hue} {{ --ink: #{:06X} }}", ink.light);
        let _ = writeln!(dark, "  .hue{hue} {{ --ink: #{:06X} }}", ink.dark);
    }
    for (round, mark) in MARKS.iter().enumerate().skip(1) {
        let _ = writeln!(css, ".dot.round{round} {{ {mark} }}");
    }
    // Paper is white whatever the screen was.
    let _ = writeln!(css, "@media screen and (prefers-color-scheme: dark) {{\n{dark}}}");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(palette: &Palette, names: &[&str]) {
        for (index, one) in names.iter().enumerate() {
            for other in &names[..index] {
                assert_ne!(palette.ink(one), palette.ink(other), "{one} and {other} of {names:?}");
                assert_ne!(palette.class(one), palette.class(other), "{one} and {other} of {names:?}");
            }
        }
    }

    #[test]
    fn no_two_protocols_look_alike() {
        let known = KNOWN.map(|(name, _)| name);
        let rest =
            ["tcp-cubic", "tcp-bbr", "rla", "udp", "tfrc", "fixed", "cbr", "nca", "golestani", "e-flid-dl"];
        let all: Vec<&str> = known.iter().chain(&rest).copied().collect();
        distinct(&Palette::of_protocols(&all), &all);
        for one in &all {
            for other in all.iter().filter(|other| *other != one) {
                let pair = [*one, *other];
                let palette = Palette::of_protocols(&pair);
                distinct(&palette, &pair);
                assert_eq!(palette.look(one).round, 0, "hues are used again only when all are taken");
            }
        }
        // The page of the review on which three pairs looked alike.
        let many = [
            "elm",
            "rlc",
            "rlm",
            "flid-dl",
            "smcc",
            "pgmcc",
            "tfmcc",
            "rla",
            "wei-zhang",
            "tcp-cubic",
            "tcp-bbr",
        ];
        distinct(&Palette::of_protocols(&many), &many);
    }

    #[test]
    fn a_hue_that_is_used_again_has_other_dashes_and_another_mark() {
        let names: Vec<String> = (0..9).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let palette = Palette::of_protocols(&names);
        assert!(names[..8].iter().all(|name| palette.look(name).round == 0), "eight have hues of their own");
        assert_eq!(palette.class(names[8]), "hue1 round1");
        let [_, red, green, blue] = palette.ink(names[8]).light.to_be_bytes();
        let rule = format!(".plot [stroke=\"#{red:02X}{green:02X}{blue:02X}\"] {{ stroke-dasharray: 22 5 }}");
        assert!(stylesheet().contains(&rule) && stylesheet().contains(".dot.round1 {"), "{rule}");
    }

    #[test]
    fn known_protocols_and_tcp_keep_their_hue_in_company() {
        for company in [vec!["elm", "tcp-sack"], vec!["xyz", "tcp-sack", "abc", "elm"]] {
            let palette = Palette::of_protocols(&company);
            assert_eq!((palette.look("elm").hue, palette.look("tcp-sack").hue), (1, 0), "{company:?}");
        }
    }

    #[test]
    fn things_of_one_protocol_have_hues_of_their_own() {
        let things =
            [("a", "elm"), ("b", "elm"), ("tcp", "tcp-sack"), ("c", "rlc"), ("d", "elm"), ("a", "elm")];
        let palette = Palette::of_things(&things);
        let hue = |name: &str| palette.look(name).hue;
        assert_eq!((hue("a"), hue("tcp"), hue("c")), (1, 0, 2), "the first has the protocol's");
        distinct(&palette, &["a", "b", "tcp", "c", "d"]);
    }

    #[test]
    fn every_ink_has_values_of_its_own() {
        let inks = [TEXT, MUTED, GRID, AXIS, SHADE, PAGE].into_iter();
        let again = HUES.iter().flat_map(|ink| (0..ROUNDS).map(|round| ink.again(round)));
        let mut values: Vec<u32> = inks.chain(again).flat_map(|ink| [ink.light, ink.light ^ 1]).collect();
        let all = values.len();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), all, "the stylesheet finds inks by their value");
    }
}
