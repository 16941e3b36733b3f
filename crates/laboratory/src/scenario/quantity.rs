//! "Did you mean `2 Mbit/s`?": quantities as other programs write them.

/// Units of ours, each with names that others give it, in small letters.
const UNITS: [(&str, &[&str]); 11] = [
    ("ns", &["nsec", "nsecs", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "usecs", "μs", "microsecond", "microseconds"]),
    ("ms", &["msec", "msecs", "millis", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("bytes", &["b", "byte", "octets"]),
    ("kB", &["k", "kb", "kbyte", "kbytes"]),
    ("MB", &["mb", "mbyte", "mbytes"]),
    ("GB", &["gb", "gbyte", "gbytes"]),
    ("packets", &["p", "pkt", "pkts"]),
];

/// What a text probably means, among what `fits`.
pub(super) fn meant(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    // Three digits behind a comma are as often thousands.
    let is_decimal = digits.split_once(',').is_none_or(|(_, behind)| behind.len() != 3);
    let number: f64 = digits.replace(',', ".").parse().ok().filter(|_| is_decimal)?;
    let (unit, small) = (unit.trim(), unit.trim().to_lowercase());
    if unit == "%" {
        return Some(plain(number / 100.0)).filter(|share| fits(share));
    }
    let ours = UNITS.iter().filter(|(_, names)| names.contains(&small.as_str())).map(|(ours, _)| *ours);
    let same = std::iter::once(unit).chain(ours).map(|unit| format!("{} {unit}", plain(number)));
    let rate = rate(number, unit, &small);
    same.chain(rate).map(|text| text.trim_end().to_owned()).find(|candidate| fits(candidate))
}

/// A rate in bit/s or byte/s, as in `Mbps` and `kB/s`.
fn rate(number: f64, unit: &str, small: &str) -> Option<String> {
    let prefixes = [("k", "k"), ("m", "M"), ("g", "G"), ("", "")];
    let (prefix, rest) =
        prefixes.iter().find_map(|(given, ours)| Some((*ours, small.strip_prefix(given)?)))?;
    let per_second = ["ps", "/s", "/sec", "/second"].iter().find_map(|end| rest.strip_suffix(end))?;
    let is_bytes = match per_second {
        "bit" | "bits" => false,
        "byte" | "bytes" => true,
        "b" => unit.contains('B'),
        _ => return None,
    };
    Some(format!("{} {prefix}bit/s", plain(if is_bytes { number * 8.0 } else { number })))
}

/// A number without the rounding of binary fractions.
fn plain(number: f64) -> String {
    let text = format!("{number:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::meant;
    use layercast_core::units::{DataSize, Duration, Rate};

    #[test]
    fn the_units_of_other_programs_are_understood() {
        let rate = |text| meant(text, |text| text.parse::<Rate>().is_ok());
        for (text, ours) in [
            ("2 Mbps", "2 Mbit/s"),
            ("2Mb/s", "2 Mbit/s"),
            ("2 MBit/s", "2 Mbit/s"),
            ("2 MB/s", "16 Mbit/s"),
            ("2,5 Mbit/s", "2.5 Mbit/s"),
            ("64 kbps", "64 kbit/s"),
            ("9600 bits/sec", "9600 bit/s"),
        ] {
            assert_eq!(rate(text).as_deref(), Some(ours), "{text}");
        }
        for text in ["fast", "2 apples", "1,000 Mbit/s", "", "ps", "2 xbps"] {
            assert_eq!(rate(text), None, "{text}");
        }
        let time = |text| meant(text, |text| text.parse::<Duration>().is_ok());
        assert_eq!(time("20 msec").as_deref(), Some("20 ms"));
        assert_eq!(time("1.5 Seconds").as_deref(), Some("1.5 s"));
        assert_eq!(time("20"), None, "a number alone may be anything");
        let share = |text| meant(text, |text| text.parse::<f64>().is_ok_and(|share| share < 1.0));
        assert_eq!(share("5%").as_deref(), Some("0.05"));
        assert_eq!(share("1.1 %").as_deref(), Some("0.011"));
        assert_eq!(share("500 %"), None);
        assert_eq!(meant("20KB", |text| text.parse::<DataSize>().is_ok()).as_deref(), Some("20 kB"));
    }
}
