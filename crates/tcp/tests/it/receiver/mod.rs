//! The receiver and the connection, with arrivals chosen by the tests.

mod acks;
mod connection;
mod habits;
mod marks;
mod order;
mod peer;
