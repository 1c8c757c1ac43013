//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-sort --test it paper::` runs
//! those of one file.

mod paper;
mod resequence;
mod traces;
mod window;
