//! The median of a few measurements and their range.

/// The median, the smallest and the largest of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The one in the middle, or the mean of the two there.
    pub(crate) median: f64,
    /// The smallest.
    pub(crate) least: f64,
    /// The largest.
    pub(crate) most: f64,
}

impl Spread {
    /// That of `values`; none if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let (&least, &most) = values.first().zip(values.last())?;
        let median = match values.len() % 2 {
            0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        Some(Spread { median, least, most })
    }

    /// `13.4 (12.9 to 14.0)`, or the median alone if all are the same.
    pub(crate) fn text(self, digits: usize) -> String {
        let Spread { median, least, most } = self;
        if least == most {
            return format!("{median:.digits$}");
        }
        format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_range() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 8.0]), Some(Spread { median: 3.0, least: 1.0, most: 8.0 }));
    }

    #[test]
    fn the_text_has_a_range_if_there_is_one() {
        assert_eq!(Spread::of([12.94, 14.0, 13.4]).unwrap().text(1), "13.4 (12.9 to 14.0)");
        assert_eq!(Spread::of([5.0]).unwrap().text(2), "5.00");
    }
}
