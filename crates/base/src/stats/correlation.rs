//! Whether successive observations are independent.

/// Correlation of each value with the next one; 0 if all are equal. For `n` independent values it is about 0 with a
/// standard deviation of `1 / sqrt(n)`.
///
/// ```
/// use inorder_base::stats::lag_one;
///
/// assert_eq!(lag_one([1.0, 1.0, 1.0].into_iter()), 0.0);
/// assert!(lag_one([1.0, -1.0, 1.0, -1.0].into_iter()) < 0.0);
/// assert!(lag_one((0..20).map(f64::from)) > 0.5);
/// ```
pub fn lag_one(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance: f64 = values.clone().map(|x| (x - mean) * (x - mean)).sum();
    let pairs = values.clone().zip(values.skip(1));
    let covariance: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
    if variance > 0.0 {
        covariance / variance
    } else {
        0.0
    }
}
