//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-metrics --test it examples::` runs
//! those of one file.

mod examples;
mod naive;
mod tally;
mod twins;
