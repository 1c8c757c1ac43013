//! By which factor measured numbers differ from printed ones.

use crate::claim::Comparison;

/// Factors up to which a number counts as close and as near.
const CLOSE: f64 = 1.25;
const NEAR: f64 = 2.0;

/// How many printed cells of an item are how close to ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Magnitudes {
    /// Table or figure: `table-4`.
    pub item: String,
    /// Printed cells within a factor of 1.25.
    pub close: usize,
    /// Others within a factor of 2.
    pub near: usize,
    /// The rest, and those where one of the two is 0 or of another sign.
    pub far: usize,
}

impl Magnitudes {
    /// Those of an item; `None` if the paper prints none of its cells.
    pub(crate) fn of(item: &str, comparisons: &[Comparison]) -> Option<Self> {
        let mut all = Self {
            item: item.to_owned(),
            ..Self::default()
        };
        for comparison in comparisons {
            let Some(printed) = comparison.printed else {
                continue;
            };
            match apart(comparison.ours, printed) {
                factor if factor <= CLOSE => all.close += 1,
                factor if factor <= NEAR => all.near += 1,
                _ => all.far += 1,
            }
        }
        (all.cells() > 0).then_some(all)
    }

    /// "of 24 printed cells 10 are within a factor of 1.25, 6 more within 2, 8 beyond".
    pub fn in_words(&self) -> String {
        format!(
            "of {} printed cells {} are within a factor of {CLOSE}, {} more within {NEAR}, {} beyond",
            self.cells(),
            self.close,
            self.near,
            self.far
        )
    }

    /// Number of printed cells.
    pub fn cells(&self) -> usize {
        self.close + self.near + self.far
    }
}

/// The factor between two numbers, 1 or more; infinite if there is none.
pub(crate) fn apart(ours: f64, printed: f64) -> f64 {
    let ratio = ours / printed;
    if ours == printed {
        1.0
    } else if ratio > 0.0 {
        ratio.max(1.0 / ratio)
    } else {
        // Also what could not be measured.
        f64::INFINITY
    }
}

/// True if a number is so far from the printed one that only ratios of such numbers can be right.
pub(crate) fn is_far(ours: f64, printed: f64) -> bool {
    apart(ours, printed) > NEAR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_no_direction() {
        assert_eq!((apart(5.0, 10.0), apart(10.0, 5.0)), (2.0, 2.0));
        assert_eq!((apart(0.0, 0.0), apart(0.0, 1.0)), (1.0, f64::INFINITY));
        assert!(is_far(2.1, 1.0) && !is_far(2.0, 1.0) && is_far(f64::NAN, 1.0));
    }

    #[test]
    fn cells_without_a_printed_number_are_not_counted() {
        let cell = |ours: f64, printed: Option<f64>| Comparison {
            item: "table-1".into(),
            cell: "a".into(),
            measure: "b".into(),
            printed,
            printed_half_width: None,
            ours,
            interval: None,
        };
        let cells = [
            cell(1.2, Some(1.0)),
            cell(1.9, Some(1.0)),
            cell(9.0, Some(1.0)),
            cell(1.0, None),
        ];
        let all = Magnitudes::of("table-1", &cells).expect("printed");
        assert_eq!((all.close, all.near, all.far), (1, 1, 1));
        assert_eq!(Magnitudes::of("table-1", &cells[3..]), None);
    }
}
