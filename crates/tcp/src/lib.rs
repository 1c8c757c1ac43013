//! TCP endpoints without I/O: congestion controls, loss detection and tolerance of reordering.

pub mod congestion;
