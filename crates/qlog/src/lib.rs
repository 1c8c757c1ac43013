//! What qlog files say of QUIC's loss detection (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events).
//!
//! The sender of the log declares packets lost by RFC 9002 section 6.1, or by rules of its own. A packet that is
//! acknowledged afterwards was delivered: the declaration was wrong, what it repeated was spurious, and a reduction of the
//! window that only such packets caused was needless. With the log of the other end as well, what arrived there is known
//! without acknowledgements ([`join`]).
//!
//! Memory grows with the packets of a connection, some hundred bytes for each with its report. [`Room`] bounds it.

#![forbid(unsafe_code)]

mod ack;
mod arrivals;
mod columns;
mod connection;
mod cost;
mod event;
mod headline;
mod join;
mod line;
mod lost;
mod order;
mod read;
mod readable;
mod repeated;
mod report;
mod resent;
mod result;
mod room;
mod space;
mod trigger;
mod trips;
mod value;
mod window;

pub use columns::{CONNECTION, DOCUMENT, LOSS, RESULT};
pub use connection::Connection;
pub use event::Event;
pub use join::{JoinedBy, join};
pub use lost::Lost;
pub use read::{ReadError, read, read_within};
pub use repeated::remove_repeated;
pub use result::{
    Arrivals, Declared, Document, LossRow, Reduced, Report, Resent, Sufficient, Threshold,
    Thresholds, Traffic, Trigger,
};
pub use room::Room;

/// For fuzzers: reads the bytes as a log and reports on all connections.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let connections = match read(input) {
        Ok(connections) => connections,
        Err(error) => error.connections,
    };
    for connection in &connections {
        let report = connection.report();
        assert!(report.declared.delivered.unwrap_or(0) <= report.declared.lost);
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
