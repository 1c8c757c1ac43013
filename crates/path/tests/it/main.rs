//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-path --test it ahead::` runs
//! those of one file.

mod ahead;
mod harm;
mod papers;
mod processor;
mod recorded;
