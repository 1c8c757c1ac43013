//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-petri --test it text::` runs
//! those of one file.

mod closed_forms;
mod coloured;
mod common;
mod contest;
mod coverage;
mod draw;
mod exact;
#[path = "common/published.rs"]
mod examples;
mod foreign;
mod invariants;
mod pnml;
mod published;
mod query;
mod queues;
mod random_nets;
mod reachability;
mod simulated;
mod splitting;
mod symmetric;
mod text;
