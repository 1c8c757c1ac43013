//! Where on the path between two hosts a TCP capture was made, from how soon each host answers, from times to live, and from where packets are
//! missing.
//!
//! ```
//! use inorder_base::vantage::Vantage;
//! use inorder_vantage::{Position, VantageBasis};
//! use inorder_wire::{Dir, Segment, TcpFlags};
//!
//! let packet = |us: i64, seq, ack, flags| Segment {
//!     ts_ns: us * 1_000,
//!     seq,
//!     ack,
//!     flags: TcpFlags(flags),
//!     ttl: 64,
//!     ..Segment::default()
//! };
//! let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
//! let mut position = Position::default();
//! // The answer to the SYN comes after 20 ms, the acknowledgement of that after 30 microseconds.
//! position.observe(Dir::LowToHigh, &packet(0, 99, 0, syn));
//! position.observe(Dir::HighToLow, &packet(20_000, 499, 100, syn | ack));
//! position.observe(Dir::LowToHigh, &packet(20_030, 100, 500, ack));
//!
//! let choice = position.choose(Dir::LowToHigh, None, true);
//! assert_eq!((choice.vantage, choice.basis), (Vantage::Sender, VantageBasis::Handshake));
//! ```

#![forbid(unsafe_code)]

mod batches;
mod choice;
mod host;
mod position;

pub use batches::are_batches;
pub use choice::{VantageBasis, VantageChoice};
pub use host::{MAX_ANSWER_NS, MIN_SYN_TIMEOUT_NS};
pub use position::{Clock, Measured, Position};

/// Least retransmission time-out: 200 ms in Linux and 300 ms in Windows, where RFC 6298 section 2 step (2.4) has a second;
/// nanoseconds, less what timers are early.
pub const MIN_TIMEOUT_NS: i64 = 180_000_000;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
