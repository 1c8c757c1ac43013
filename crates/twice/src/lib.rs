//! Which frames a TCP capture holds more than once: captured on several interfaces of one host, or on both sides of a mirrored port; or delivered twice by
//! the network. Nearly all of them come twice where the capture does that, one soon behind the other.

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;
#[cfg(test)]
#[macro_use]
extern crate inorder_wire;

mod merged;
mod prints;
mod requests;
mod twins;

pub use merged::Merged;
pub use prints::Recent;
pub use requests::Requests;
pub use twins::{Copies, MAX_FRAMES_COMPARED, Twins, among};

/// Maximum time between a frame and its duplicate frame, nanoseconds: a capture point on another interface or behind a queue is
/// milliseconds away. Keep-alives and probes of a closed window, which are equal frames, too, have longer intervals, and a later packet
/// with the same identification is a retransmission of a host that keeps identifications.
pub const MAX_APART_NS: i64 = 100_000_000;

/// Minimum number of pairs, because fewer may be an accident: a path that delivers a SYN twice has it answered twice, and the answer acknowledged twice.
/// A pair of which one frame has passed more routers than the other counts twice: what a host sends again takes the same way.
pub const MIN_PAIRS: usize = 4;

/// Number of pairs for each frame that was captured only once, beyond the first such frame: a mirrored port may lose some.
const PAIRS_PER_LONE_FRAME: usize = 3;

/// Frames were captured twice only if nearly all were: true if the frames that came only once (`lone`) are too many beside the `pairs`.
pub fn are_too_many(lone: usize, pairs: usize) -> bool {
    // One may be alone in the few frames of a beginning, where a share says nothing.
    lone > 1 + pairs / PAIRS_PER_LONE_FRAME
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
