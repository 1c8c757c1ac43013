//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-detect --test it truth::`
//! runs those of one file.

mod clocks;
mod counts;
mod explanations;
mod forward;
mod honest;
mod hostile;
mod lab;
mod limits;
mod snap;
mod trace;
mod truth;
mod unshown;
mod vantage;
