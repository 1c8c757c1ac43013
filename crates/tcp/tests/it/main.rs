//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-tcp --test it accurate_ecn::` runs
//! those of one file.

mod accurate_ecn;
mod arbitrary;
mod congestion;
mod congestion_transfer;
mod dialects;
mod receiver;
mod sender;
mod tolerance;
mod transfer;
