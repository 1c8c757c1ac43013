//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-qlog --test it both_ends::` runs
//! those of one file.

mod both_ends;
mod headline;
mod logs;
mod programs;
mod recorded;
