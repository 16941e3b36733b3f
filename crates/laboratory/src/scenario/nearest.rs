//! "Did you mean ...?"

/// The name most like `name`, if any is like enough that a slip of the fingers explains it.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let wanted = name.to_lowercase();
    // A third of the letters may be wrong; of short names one letter. Text of any length may come
    // in, and the distance takes quadratic time, so very long names have no neighbours.
    let reach = (wanted.chars().count() / 3).max(1);
    if wanted.is_empty() || reach > 30 {
        return None;
    }
    let known: Vec<&str> = known.into_iter().collect();
    // `cubic` is short for `tcp-cubic`.
    let is_short = |candidate: &&&str| candidate.split_once('-').is_some_and(|(_, short)| short == wanted);
    if let Some(full) = known.iter().find(is_short) {
        return Some((*full).to_owned());
    }
    let distance = |candidate: &str| strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase());
    known
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|&(distance, _)| distance <= reach)
        // The first of equals wins, so that the answer depends on nothing but the list's order.
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_ignores_strangers() {
        let known = ["duration", "replications", "seed"];
        assert_eq!(nearest("duratoin", known).as_deref(), Some("duration"));
        assert_eq!(nearest("Duration", known).as_deref(), Some("duration"));
        assert_eq!(nearest("sed", known).as_deref(), Some("seed"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("cubic", ["tcp-reno", "tcp-cubic"]).as_deref(), Some("tcp-cubic"));
    }
}
