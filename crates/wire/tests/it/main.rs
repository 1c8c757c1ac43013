//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder-wire --test it gate::` runs
//! those of one file.

mod build;
mod gate;
mod icmp;
mod layers;
mod numbered;
mod services;
mod tcp;
mod twin;
