//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-capture --test it pushed::` runs
//! those of one file.

mod real;
mod roundtrip;
