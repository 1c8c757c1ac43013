//! The columns of connections that were ended early.

use inorder_report::{Column, Kind};

use crate::result::EndedEarly;

type Early = Column<EndedEarly>;

/// What was ended early because the memory was used up.
pub static ENDED_EARLY: &[Early] = &[
    Early::new(
        "connections",
        Kind::Count,
        "Connections that were ended before their last packet, because connections had reached the memory that --memory allows.",
        |e| e.connections.into(),
    ),
    Early::new(
        "flows_only_summed",
        Kind::Count,
        "Flows of these connections in which nothing had happened so far. They are among the sums and are not reported.",
        |e| e.flows.into(),
    ),
    Early::new(
        "packets_only_summed",
        Kind::Count,
        "Data packets of these flows until then.",
        |e| e.packets.into(),
    ),
    Early::new(
        "later_packets",
        Kind::Count,
        "Packets that came after their connection was ended. They are counted here and nowhere else.",
        |e| e.later_packets.into(),
    ),
];
