//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-sim --test it captures::` runs
//! those of one file.

mod captures;
mod defects;
mod examples;
mod limits;
mod network;
mod older_ns3;
mod output;
mod queues;
mod runs;
