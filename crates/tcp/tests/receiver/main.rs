//! The receiver and the connection, told by hand what arrives.

mod acks;
mod connection;
mod order;
mod peer;
