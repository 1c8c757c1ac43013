//! What every part of the project shares: sequence numbers that wrap, reproducible random numbers, estimates with
//! confidence intervals, a queue in one piece, numbers in few bytes, the words of findings (limits of a transfer, causes, confidence,
//! where a capture was made), and the name that was probably meant.

#![forbid(unsafe_code)]

pub mod cause;
pub mod confidence;
pub mod heap;
pub mod limit;
pub mod line;
pub mod names;
pub mod packed;
pub mod random;
pub mod sequence;
pub mod stats;
pub mod vantage;
