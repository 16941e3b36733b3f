//! The rates of a video.

use layercast_core::option::{Kind, OptionType, RawValue};
use layercast_core::units::Rate;

/// Rates that rise, written as one text.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Ladder(pub Vec<Rate>);

/// The rates of Apple's HLS Authoring Specification for H.264, table "video average bit rate", in kbit/s.
const HLS_KBPS: [f64; 9] = [145.0, 365.0, 730.0, 1100.0, 2000.0, 3000.0, 4500.0, 6000.0, 7800.0];
/// The lowest rate that there may be.
const LOWEST: Rate = Rate::from_kbps(1.0);
/// The highest.
const HIGHEST: Rate = Rate::from_mbps(1000.0);
/// The most rates.
const MOST: usize = 64;

impl Default for Ladder {
    fn default() -> Ladder {
        Ladder(HLS_KBPS.map(Rate::from_kbps).to_vec())
    }
}

impl OptionType for Ladder {
    const KIND: Kind = Kind::Format {
        words: "rising rates from 1 kbit/s to 1 Gbit/s in a text, such as \"145 kbit/s, 365 kbit/s, 1.1 Mbit/s\"",
        pattern: "[0-9][0-9_]*([.][0-9]+)? *[kMG]?bit/s( *, *[0-9][0-9_]*([.][0-9]+)? *[kMG]?bit/s)*",
    };
    type Bound = Ladder;

    fn bounded(&self) -> Option<&Ladder> {
        Some(self)
    }

    fn read(value: RawValue<'_>) -> Result<Ladder, String> {
        let RawValue::Text(text) = value else { return Err(format!("expected {}", Self::KIND)) };
        let mut rates: Vec<Rate> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let rate = part.parse::<Rate>().map_err(|error| format!("`{part}` is no rate: {error}"))?;
            if !(LOWEST..=HIGHEST).contains(&rate) {
                return Err(format!("{rate} is not from {LOWEST} to {HIGHEST}"));
            }
            if let Some(last) = rates.last().filter(|last| **last >= rate) {
                return Err(format!("{rate} does not rise above {last}"));
            }
            rates.push(rate);
        }
        if rates.len() > MOST {
            return Err(format!("there are {} rates, and at most {MOST} are possible", rates.len()));
        }
        Ok(Ladder(rates))
    }

    fn show(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(Rate::to_string).collect();
        texts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_rise_and_are_possible() {
        let read = |text: &str| Ladder::read(RawValue::Text(text));
        assert_eq!(read("1 Mbit/s").unwrap().0, [Rate::from_mbps(1.0)]);
        assert_eq!(read(" 500 kbit/s,1 Mbit/s ").unwrap().show(), "500 kbit/s, 1 Mbit/s");
        for (text, why) in [
            ("", "is no rate"),
            ("1, 2", "is no rate"),
            ("1 Mbit/s,", "is no rate"),
            ("1 Mbit/s, 1 Mbit/s", "does not rise above 1 Mbit/s"),
            ("2 Mbit/s, 1 Mbit/s", "does not rise"),
            ("0 bit/s", "is not from 1 kbit/s to 1 Gbit/s"),
            ("2 Gbit/s", "is not from"),
        ] {
            let reason = read(text).unwrap_err();
            assert!(reason.contains(why), "{text}: {reason}");
        }
        let many: Vec<String> = (1..=65).map(|mbps| format!("{mbps} Mbit/s")).collect();
        assert!(read(&many.join(", ")).unwrap_err().contains("at most 64"));
        assert!(Ladder::read(RawValue::Integer(5)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_the_same(kbps in prop::collection::btree_set(1_u32..=1_000_000, 1..=64)) {
            let ladder = Ladder(kbps.into_iter().map(|kbps| Rate::from_kbps(f64::from(kbps))).collect());
            let again = Ladder::read(RawValue::Text(&ladder.show())).unwrap();
            prop_assert_eq!(again.0.len(), ladder.0.len());
            for (one, other) in again.0.iter().zip(&ladder.0) {
                prop_assert!((one.as_bps() / other.as_bps() - 1.0).abs() < 1e-6);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9kMGbit/s., ]{0,40}") {
            let _ = Ladder::read(RawValue::Text(&text));
        }
    }
}
