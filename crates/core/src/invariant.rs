//! Branches that our own rules exclude.

/// Stands for a value that cannot be missing; `why` states the rule of our own code that makes it so.
///
/// With debug assertions it panics and names the place. Without them it is the type's default, since a program that
/// users run must not end by a rule that was wrong. It is not for what a packet, a file, a host or a user can cause:
/// such a branch is an ordinary one.
///
/// ```
/// # use layercast_core::cannot_be;
/// fn mean(sum: f64, count: Option<u32>) -> f64 {
///     let Some(count) = count else { return cannot_be("a mean is asked for after the first sample") };
///     sum / f64::from(count)
/// }
/// # assert_eq!(mean(3.0, Some(2)), 1.5);
/// ```
#[cold]
#[track_caller]
pub fn cannot_be<T: Default>(why: &str) -> T {
    debug_assert!(false, "this cannot be: {why}");
    T::default()
}

/// Values that cannot be missing.
pub trait Always<T> {
    /// The value; [`cannot_be`] if it is missing.
    ///
    /// ```
    /// # use layercast_core::Always as _;
    /// let words = [1, 2, 3];
    /// assert_eq!(words.get(1..).always("there are three"), [2, 3]);
    /// ```
    fn always(self, why: &str) -> T;
}

impl<T: Default> Always<T> for Option<T> {
    #[track_caller]
    fn always(self, why: &str) -> T {
        match self {
            Some(value) => value,
            None => cannot_be(why),
        }
    }
}

impl<T: Default, E> Always<T> for Result<T, E> {
    #[track_caller]
    fn always(self, why: &str) -> T {
        self.ok().always(why)
    }
}

#[cfg(test)]
mod tests {
    use super::cannot_be;

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "this cannot be: two is even"))]
    fn a_broken_rule_shows_in_tests_and_costs_a_default_elsewhere() {
        let default: u32 = cannot_be("two is even");
        assert_eq!(default, 0);
    }
}
