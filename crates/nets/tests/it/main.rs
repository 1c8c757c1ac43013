//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-nets --test it language::` runs
//! those of one file.

#[path = "../../../petri/tests/it/common/cases.rs"]
mod cases;
mod language;
mod live;
mod states;
