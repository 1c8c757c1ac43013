//! The state of senders over time.

use inorder_report::{Column, Kind};
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

type Of = Column<Sample>;

/// The columns of a sample.
pub static SAMPLES: &[Of] = &[
    Of::new(
        "time_ns",
        Kind::Count,
        "Time since the start of the run.",
        |s| s.time_ns.into(),
    )
    .unit("ns"),
    Of::new("flow", Kind::Small, "Number of the flow in the run.", |s| {
        s.flow.into()
    }),
    Of::new("cwnd", Kind::Small, "Congestion window.", |s| s.cwnd.into()).unit("segments"),
    Of::new(
        "ssthresh",
        Kind::Small,
        "Slow-start threshold; 4294967295 if there is none.",
        |s| s.ssthresh.into(),
    )
    .unit("segments"),
    Of::new("dupthresh", Kind::Small, "Duplicate-ACK threshold.", |s| {
        s.dupthresh.into()
    })
    .unit("segments"),
    Of::new("pipe", Kind::Small, "Segments in flight.", |s| {
        s.pipe.into()
    })
    .unit("segments"),
    Of::new("srtt_ns", Kind::Count, "Smoothed round-trip time.", |s| {
        s.srtt_ns.into()
    })
    .unit("ns"),
    Of::new("state", Kind::Text, "State of the sender.", |s| {
        format!("{:?}", s.state).into()
    }),
    Of::new(
        "delivered_bytes",
        Kind::Bytes,
        "Bytes delivered in order since the start.",
        |s| s.delivered_bytes.into(),
    ),
    Of::new(
        "arrived_bytes",
        Kind::Bytes,
        "Bytes that have arrived since the start, in order or not, each counted once.",
        |s| s.arrived_bytes.into(),
    ),
    Of::new(
        "retransmissions",
        Kind::Count,
        "Segments retransmitted since the start.",
        |s| s.retransmissions.into(),
    ),
    Of::new(
        "hold_ns",
        Kind::Count,
        "Longest hold of a packet of the flow in the receiver's card, as the sorter has it now; 0 without such a sorter.",
        |s| s.hold_ns.into(),
    )
    .unit("ns"),
    Of::new(
        "held",
        Kind::Small,
        "Packets that the sorter of the receiver's card holds, of all flows.",
        |s| s.held.into(),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(SAMPLES), Vec::<String>::new());
    }
}
