//! The state of senders over time.

use inorder_report::columns;
use inorder_tcp::CaState;

/// The state of a flow's sender at one time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sample {
    /// Time, nanoseconds.
    pub time_ns: i64,
    /// Index in [`RunResult::flows`](crate::RunResult::flows).
    pub flow: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; `u32::MAX` if there is none.
    pub ssthresh: u32,
    /// Duplicate-ACK threshold, segments.
    pub dupthresh: u32,
    /// Segments in flight.
    pub pipe: u32,
    /// Smoothed round-trip time, nanoseconds.
    pub srtt_ns: i64,
    /// State.
    pub state: CaState,
    /// Bytes delivered in order since the start.
    pub delivered_bytes: u64,
    /// Bytes that have arrived since the start, each counted once, including those behind a gap. Unlike
    /// `delivered_bytes`, this number never grows faster than the path carries data.
    pub arrived_bytes: u64,
    /// Segments retransmitted since the start.
    pub retransmissions: u64,
    /// The longest that the receiver's card would now hold a packet of the flow, nanoseconds; 0 without a sorter that
    /// holds anything past the end of a batch.
    pub hold_ns: i64,
    /// Packets that the receiver's card holds, of all flows.
    pub held: u32,
}

columns! {
    /// The columns of a sample.
    pub SAMPLES: Sample, |s|
    "time_ns": Count, "Time since the start of the run." => s.time_ns, unit("ns");
    "flow": Small, "Number of the flow in the run." => s.flow;
    "cwnd": Small, "Congestion window." => s.cwnd, unit("segments");
    "ssthresh": Small, "Slow-start threshold; 4294967295 if there is none." => s.ssthresh, unit("segments");
    "dupthresh": Small, "Duplicate-ACK threshold." => s.dupthresh, unit("segments");
    "pipe": Small, "Segments in flight." => s.pipe, unit("segments");
    "srtt_ns": Count, "Smoothed round-trip time." => s.srtt_ns, unit("ns");
    "state": Text, "State of the sender." => format!("{:?}", s.state);
    "delivered_bytes": Bytes, "Bytes delivered in order since the start." => s.delivered_bytes;
    "arrived_bytes": Bytes, "Bytes that have arrived since the start, in order or not, each counted once."
        => s.arrived_bytes;
    "retransmissions": Count, "Segments retransmitted since the start." => s.retransmissions;
    "hold_ns": Count, "Longest hold of a packet of the flow in the receiver's card, as the sorter has it now; 0 without such a sorter."
        => s.hold_ns, unit("ns");
    "held": Small, "Packets that the sorter of the receiver's card holds, of all flows." => s.held;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(SAMPLES), Vec::<String>::new());
    }
}
