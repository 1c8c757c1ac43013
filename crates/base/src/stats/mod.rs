//! Estimates with confidence intervals and distributions with quantiles, bit-identical on every machine.
//!
//! Repetitions of a simulation and batches of a long run give independent observations. [`Estimate`] is their mean,
//! or the ratio of two means, with half the width of its confidence interval by Student's t; [`difference`] compares
//! two of them. [`lag_one`] shows
//! whether batches are long enough to be independent. [`Distribution`] has the quantiles of any number of values
//! within 1/32, [`Histogram`] exact quantiles of small values.
//!
//! ```
//! use inorder_base::stats::Estimate;
//!
//! let estimate = Estimate::of_sample(&[1.0, 2.0, 3.0], 0.95);
//! assert_eq!(estimate.mean, 2.0);
//! // 4.303 is the two-sided 95 % quantile for 2 degrees of freedom.
//! assert!((estimate.half_width - 4.303 / 3f64.sqrt()).abs() < 1e-3);
//! assert!(estimate.covers(2.5));
//! ```

mod correlation;
mod difference;
mod distribution;
mod estimate;
mod histogram;

pub use correlation::lag_one;
pub use difference::{Moments, Sampled, difference};
pub use distribution::Distribution;
pub use estimate::{Estimate, t_quantile};
pub use histogram::Histogram;
