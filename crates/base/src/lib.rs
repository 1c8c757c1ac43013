//! What every part of the project shares: sequence numbers that wrap, reproducible random numbers, estimates with
//! confidence intervals, the limits of a transfer, and the name that was probably meant.

#![forbid(unsafe_code)]

pub mod heap;
pub mod limit;
pub mod names;
pub mod random;
pub mod sequence;
pub mod stats;
