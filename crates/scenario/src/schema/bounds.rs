//! The valid values of a key.

use std::cmp::Ordering;

/// Bounds of a value, written as in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The smallest value.
    pub low: Option<&'static str>,
    /// The largest value.
    pub high: Option<&'static str>,
    /// Every value must be larger than this one.
    pub above: Option<&'static str>,
    /// Every value must be smaller than this one.
    pub below: Option<&'static str>,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds {
        low: None,
        high: None,
        above: None,
        below: None,
    };

    /// The valid range in words; `None` if every value is valid.
    pub fn text(&self) -> Option<String> {
        match (self.low, self.high, self.above, self.below) {
            (Some(low), Some(high), ..) => Some(format!("{low} to {high}")),
            (Some(low), ..) => Some(format!("{low} or more")),
            (_, Some(high), ..) => Some(format!("{high} or less")),
            (_, _, Some(above), Some(below)) => {
                Some(format!("more than {above} and less than {below}"))
            }
            (_, _, Some(above), None) => Some(format!("more than {above}")),
            (_, _, None, Some(below)) => Some(format!("less than {below}")),
            (None, None, None, None) => None,
        }
    }

    /// "too small" or "too large" if a value is out of bounds. `compare` compares the value with a bound.
    pub fn complaint(
        &self,
        mut compare: impl FnMut(&'static str) -> Option<Ordering>,
    ) -> Option<&'static str> {
        let mut is = |bound: Option<&'static str>, wrong: &[Ordering]| {
            bound
                .and_then(&mut compare)
                .is_some_and(|order| wrong.contains(&order))
        };
        if is(self.low, &[Ordering::Less]) || is(self.above, &[Ordering::Less, Ordering::Equal]) {
            return Some("too small");
        }
        if is(self.high, &[Ordering::Greater])
            || is(self.below, &[Ordering::Greater, Ordering::Equal])
        {
            return Some("too large");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_or_exclusive_as_declared() {
        let closed = Bounds {
            low: Some("1"),
            high: Some("3"),
            ..Bounds::NONE
        };
        let open = Bounds {
            above: Some("1"),
            below: Some("3"),
            ..Bounds::NONE
        };
        let complaint = |bounds: Bounds, value: i64| {
            bounds.complaint(|bound| bound.parse().ok().map(|bound| value.cmp(&bound)))
        };
        let all = |bounds| {
            (0..=4)
                .map(|value| complaint(bounds, value))
                .collect::<Vec<_>>()
        };
        let (small, large) = (Some("too small"), Some("too large"));
        assert_eq!(all(closed), [small, None, None, None, large]);
        assert_eq!(all(open), [small, small, None, large, large]);
        assert_eq!(closed.text().as_deref(), Some("1 to 3"));
        assert_eq!(open.text().as_deref(), Some("more than 1 and less than 3"));
        assert_eq!(Bounds::NONE.text(), None);
    }
}
