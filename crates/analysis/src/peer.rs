//! How well the conclusions from one capture agree with a second capture, taken at the other end.

pub use inorder_pairing::{ExtentAgreement, PeerCounts, Score};
pub use inorder_pipeline::{PeerComparison, PeerFlow, PeerFound};
