//! What a receiver observes of the departing packets: duplicate ACKs, retransmissions by several definitions, and the
//! metrics of RFC 4737 and RFC 5236.
//!
//! The paper's "reordering" is [`Readings::dupacks`]. The paper does not define which of the others its
//! "retransmission" is (section 3.5: "retransmission packets where 3 or more duplicate ACKs cause a retransmission").

pub use inorder_metrics::{Lanes, Readings, Receivers};

use crate::job::Job;

/// Counts a departing packet.
pub(crate) fn receive(receivers: &mut Receivers, job: &Job) {
    receivers.receive(usize::from(job.lane), job.flow, job.seq);
}

/// Counts a departing packet, `time_ns` after the start.
pub(crate) fn update(lanes: &mut Lanes, job: &Job, time_ns: i64) {
    lanes.receive(job.lane.into(), job.turn.into(), time_ns, job.bytes.into());
}
