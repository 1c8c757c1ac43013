//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-pairing --test it paths::` runs
//! those of one file.

mod paths;
mod peer;
mod translated;
