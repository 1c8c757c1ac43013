//! Means over repetitions and their intervals.

/// Mean over the runs of a cell, and half the width of its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// The interval is from mean - half to mean + half; `None` for fewer than two numbers.
    pub half: Option<f64>,
    /// Number of values.
    pub n: usize,
}

/// Student's t interval of the mean at this confidence (0 to 1); `None` without values.
pub fn estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let estimate = inorder_base::stats::Estimate::of_sample(values, confidence);
    (!values.is_empty()).then_some(Estimate {
        mean: estimate.mean,
        half: estimate.half(),
        n: values.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_no_interval() {
        assert_eq!(estimate(&[], 0.95), None);
        assert_eq!(estimate(&[5.0], 0.95).unwrap().half, None);
        assert_eq!(estimate(&[5.0, 5.0], 0.95).unwrap().half, Some(0.0));
    }
}
