//! What a mistyped name may have meant.

/// The name of `known` nearest to `given`, if at most a third of its letters differ: a name further
/// away was not meant.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (given.chars().count() / 3).max(1);
    let distances = known
        .into_iter()
        .map(|name| (strsim::levenshtein(name, given), name));
    distances
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_name_is_suggested() {
        let known = ["its", "strided", "global"];
        assert_eq!(nearest("stridet", known), Some("strided"));
        assert_eq!(nearest("it", known), Some("its"));
        assert_eq!(nearest("foo", known), None);
        assert_eq!(nearest("", known), None);
    }
}
