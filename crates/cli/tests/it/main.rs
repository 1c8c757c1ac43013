//! All tests from outside in one program, so that the crate is linked once. `cargo test -p inorder --test it careless::` runs
//! those of one file.

mod careless;
mod command;
mod common;
mod compare;
mod cost;
mod documents;
mod fragments;
mod lab;
mod live;
mod many;
mod max_flows;
mod memory;
mod models;
#[path = "common/namespaces.rs"]
mod namespaces;
mod peer;
mod petri;
mod pipes;
mod quic;
mod safe;
mod schemas;
mod select;
mod services;
mod study;
mod unread;
mod wireshark;
