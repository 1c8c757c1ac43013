//! What a TCP capture says about reordering, loss and needless retransmission.
//!
//! Pure: segments in, [`FlowReport`]s out. Time is what the capture says.

pub mod result;

pub use result::*;
