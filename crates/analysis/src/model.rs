//! What this crate formats.

pub use inorder_detect::StreamReport;
pub use inorder_pipeline::Analysis;
