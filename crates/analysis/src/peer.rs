//! What a second capture, taken at the other end, says of the first one's conclusions.

pub use inorder_detect::{ExtentAgreement, PeerCounts, Score};
pub use inorder_pipeline::{PeerComparison, PeerFlow, PeerTotal};
