//! What every part of the project shares: sequence numbers that wrap, reproducible random numbers, estimates with
//! confidence intervals, a queue in one piece, the limits of a transfer, and the name that was probably meant.

#![forbid(unsafe_code)]

pub mod heap;
pub mod limit;
pub mod line;
pub mod names;
pub mod random;
pub mod sequence;
pub mod stats;
