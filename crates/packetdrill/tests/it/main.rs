//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-packetdrill --test it fuzz::` runs
//! those of one file.

mod fuzz;
mod parse;
mod run;
mod scripts;
