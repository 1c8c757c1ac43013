//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-nets --test it language::` runs
//! those of one file.

mod language;
mod live;
mod states;
