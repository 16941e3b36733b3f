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

/// Protocols that always have the same hue, in whatever company.
const KNOWN: [(&str, usize); 9] = [
    ("elm", 1),
    ("rlc", 2),
    ("flid-dl", 3),
    ("flid-sl", 6),
    ("rlm", 5),
    ("webrc", 4),
    ("tfmcc", 6),
    ("smcc", 4),
    ("amca", 7),
];

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
}

/// Which protocol of an experiment has which hue.
#[derive(Debug)]
pub(crate) struct Palette {
    protocols: Vec<(String, usize)>,
}

impl Palette {
    /// Known protocols get their own hue, the first TCP the grey, and the rest what is left.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let names: Vec<&str> = experiment.flows.iter().map(|flow| flow.protocol.as_str()).collect();
        Self::of_protocols(&names)
    }

    /// The hues of things that each have a protocol: the first of a protocol has its hue, others an
    /// unused one, as long as there are any. They are asked for by the thing's name.
    pub(crate) fn of_things(things: &[(&str, &str)]) -> Self {
        let protocols: Vec<&str> = things.iter().map(|(_, protocol)| *protocol).collect();
        let known = Self::of_protocols(&protocols);
        let mut worn: Vec<(String, usize)> = Vec::new();
        for (name, protocol) in things {
            if worn.iter().any(|(other, _)| other == name) {
                continue;
            }
            let own = known.hue(protocol);
            let is_worn = |hue: usize| worn.iter().any(|&(_, other)| other == hue);
            let is_needed = |hue: usize| known.protocols.iter().any(|&(_, other)| other == hue);
            let free = (1..HUES.len()).find(|&hue| !is_worn(hue) && !is_needed(hue));
            let hue = if is_worn(own) { free.unwrap_or(worn.len() % HUES.len()) } else { own };
            worn.push(((*name).to_owned(), hue));
        }
        Self { protocols: worn }
    }

    fn of_protocols(all: &[&str]) -> Self {
        let mut protocols: Vec<(String, usize)> = Vec::new();
        let names = || all.iter().copied();
        let mut fixed: Vec<&str> =
            names().filter(|name| KNOWN.iter().any(|(known, _)| known == name)).collect();
        fixed.extend(names().find(|name| name.starts_with("tcp")));
        for name in fixed {
            let hue = KNOWN.iter().find(|(known, _)| *known == name).map_or(0, |(_, hue)| *hue);
            if !protocols.iter().any(|(known, _)| known == name) {
                protocols.push((name.to_owned(), hue));
            }
        }
        for name in names() {
            if protocols.iter().any(|(known, _)| known == name) {
                continue;
            }
            let free = (1..HUES.len()).find(|hue| protocols.iter().all(|(_, taken)| taken != hue));
            protocols.push((name.to_owned(), free.unwrap_or(protocols.len() % HUES.len())));
        }
        Self { protocols }
    }

    fn hue(&self, protocol: &str) -> usize {
        self.protocols.iter().find(|(name, _)| name == protocol).map_or(0, |(_, hue)| *hue)
    }

    /// The protocol's ink in plots.
    pub(crate) fn ink(&self, protocol: &str) -> Ink {
        HUES.get(self.hue(protocol)).copied().unwrap_or(TEXT)
    }

    /// The class that gives an element of the page the protocol's colour as `--ink`.
    pub(crate) fn class(&self, protocol: &str) -> String {
        format!("hue{}", self.hue(protocol))
    }
}

/// The ink of a hue by its number, for marks that are not of a protocol; the class of the page is `hueN`.
pub(crate) fn hue_ink(hue: usize) -> Ink {
    HUES.get(hue).copied().unwrap_or(TEXT)
}

/// The rules for dashes, for dark pages, and for the protocol classes.
pub(crate) fn stylesheet() -> String {
    let mut css = String::new();
    let mut dark = String::new();
    for ink in [TEXT, MUTED, GRID, AXIS, SHADE, PAGE].iter().chain(&HUES) {
        for light in [ink.light, ink.light ^ 1] {
            // Writing to a string cannot fail.
            let _ = writeln!(dark, "  .plot [stroke=\"#{light:06X}\"] {{ stroke: #{:06X} }}", ink.dark);
            let _ = writeln!(dark, "  .plot [fill=\"#{light:06X}\"] {{ fill: #{:06X} }}", ink.dark);
        }
    }
    for (hue, ink) in HUES.iter().enumerate() {
        let _ = writeln!(css, ".plot [stroke=\"#{:06X}\"] {{ stroke-dasharray: 9 6 }}", ink.light ^ 1);
        let _ = writeln!(css, ".hue{hue} {{ --ink: #{:06X} }}", ink.light);
        let _ = writeln!(dark, "  .hue{hue} {{ --ink: #{:06X} }}", ink.dark);
    }
    // Paper is white whatever the screen was.
    let _ = writeln!(css, "@media screen and (prefers-color-scheme: dark) {{\n{dark}}}");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_protocol_have_hues_of_their_own() {
        let things =
            [("a", "elm"), ("b", "elm"), ("tcp", "tcp-sack"), ("c", "rlc"), ("d", "elm"), ("a", "elm")];
        let palette = Palette::of_things(&things);
        let hues: Vec<usize> = ["a", "b", "tcp", "c", "d"].iter().map(|name| palette.hue(name)).collect();
        assert_eq!((hues[0], hues[2], hues[3]), (1, 0, 2), "the first has the protocol's");
        let mut different = hues.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), hues.len(), "{hues:?}");
    }

    #[test]
    fn every_ink_has_values_of_its_own() {
        let inks = [TEXT, MUTED, GRID, AXIS, SHADE, PAGE];
        let mut values: Vec<u32> =
            inks.iter().chain(&HUES).flat_map(|ink| [ink.light, ink.light ^ 1]).collect();
        let all = values.len();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), all, "the stylesheet finds inks by their value");
    }
}
