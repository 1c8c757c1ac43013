//! Two captures of the same packets.
//!
//! [`peer`] matches the connections of TCP packet by packet, with sequence numbers and clocks, and scores what one capture
//! alone suggested; [`diff`] compares any traffic by its bytes. Both sort the packets by what makes them the same packet and
//! walk the two lists together (`join`).

#![forbid(unsafe_code)]

pub mod diff;
mod join;
pub mod peer;

pub use peer::{
    AGREEMENT, COUNTS, ExtentAgreement, FlowTruth, Matched, PeerCounts, PeerFlow, PeerRecorder,
    PeerReport, Score, compare,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
