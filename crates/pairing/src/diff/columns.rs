//! The columns of all outputs.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Document, Files, Kind, List, Part};

use crate::diff::fingerprint::Keep;
use crate::diff::result::{Basis, Difference, Fate, Matched, PacketRow};

type Of = Column<Matched>;

/// A direction or a flow.
pub static FLOW: &[Of] = &[
    Of::new(
        "flow",
        Kind::Text,
        "Protocol and ends of the flow; `A to B` or `B to A` for all flows of a direction.",
        |m| (&m.name).into(),
    )
    .shown("flow", 0),
    Of::new(
        "flow_b",
        Kind::Text,
        "The same in B, if addresses or ports are translated between the captures.",
        |m| m.in_b.as_deref().into(),
    )
    .optional()
    .shown("in B", 2),
    Of::new(
        "first",
        Kind::Choice(&["A", "B"]),
        "The capture that the packets pass first.",
        |m| if m.a_first { "A" } else { "B" }.into(),
    )
    .shown("from", 1),
    Of::new(
        "basis",
        Kind::Choice(Basis::NAMES),
        "What tells so: the time to live falls from one capture to the other, the times of both directions, or nothing (A is assumed).",
        |m| m.basis.name().into(),
    ),
    Of::new(
        "sent",
        Kind::Count,
        "Packets in the first capture while the other one was running.",
        |m| m.sent.into(),
    )
    .shown("packets", 0),
    Of::new(
        "lost",
        Kind::Count,
        "Of these, packets that the other capture lacks.",
        |m| m.lost.into(),
    )
    .in_group("lost", "packets", 0),
    Of::new(
        "lost_ratio",
        Kind::Share,
        "The same over the packets sent.",
        |m| (m.lost as f64 / m.sent.max(1) as f64).into(),
    )
    .in_group("lost", "%", 2),
    Of::new(
        "late",
        Kind::Count,
        "Packets that arrived late at the other capture.",
        |m| m.order.reordered.into(),
    )
    .only(Files::None)
    .in_group("late", "packets", 0),
    Of::new(
        "duplicated",
        Kind::Count,
        "Further copies in the other capture of packets that both have.",
        |m| m.duplicated.into(),
    )
    .shown("copies", 3),
    Of::new(
        "appeared",
        Kind::Count,
        "Packets that only the other capture has.",
        |m| m.appeared.into(),
    ),
    Of::new(
        "outside",
        Kind::Count,
        "Packets of the first capture before the first or behind the last that both have; they are not lost.",
        |m| m.outside.into(),
    ),
    Of::new(
        "least_difference_ms",
        Kind::Duration,
        "Least time between the captures: the delay, if their clocks agree.",
        |m| (m.order.received > 0).then_some(m.least_ns).into(),
    )
    .optional()
    .in_group("delay", "least", 4),
    Of::new(
        "p50_longer_ms",
        Kind::Duration,
        "How much more than that the packets took, median; at most 1/32 too high.",
        |m| m.longer_ns.quantile(0.5).into(),
    )
    .optional()
    .in_group("delay", "+ median", 3),
    Of::new(
        "p99_longer_ms",
        Kind::Duration,
        "The same, not exceeded by 99 %.",
        |m| m.longer_ns.quantile(0.99).into(),
    )
    .optional()
    .in_group("delay", "+ p99", 3),
    Of::new(
        "max_longer_ms",
        Kind::Duration,
        "The same, greatest.",
        |m| m.longer_ns.max().into(),
    )
    .optional()
    .in_group("delay", "+ max", 2),
    Of::nested(
        "counts",
        "Packets in both captures, and those of them that were late.",
        &Part {
            columns: COUNTS,
            of: |m: &Matched| &m.order,
        },
    ),
    Of::nested(
        "metrics",
        "Metrics of RFC 4737 and RFC 5236, in the order of the first capture.",
        &Part {
            columns: METRICS,
            of: |m: &Matched| &m.order,
        },
    ),
];

type OfPacket = Column<PacketRow>;

/// A packet.
pub static PACKET: &[OfPacket] = &[
    OfPacket::new("flow", Kind::Text, "Protocol and ends.", |p| (&*p.name).into()).shown("flow", 0),
    OfPacket::new(
        "fate",
        Kind::Choice(Fate::NAMES),
        "What became of it: in-order, late, lost (only in the first capture), duplicated (a further copy in the other), appeared (only in the other), outside (the other was not running).",
        |p| p.fate.name().into(),
    )
    .shown("fate", 0),
    OfPacket::new("frame_a", Kind::Count, "Number of its frame in A.", |p| p.frame_a.into())
        .optional()
        .shown("frame in A", 0),
    OfPacket::new("frame_b", Kind::Count, "Number of its frame in B.", |p| p.frame_b.into())
        .optional()
        .shown("in B", 0),
    OfPacket::new("a_ns", Kind::Instant, "Time in A.", |p| p.a_ns.into()).optional(),
    OfPacket::new("b_ns", Kind::Instant, "Time in B.", |p| p.b_ns.into()).optional(),
    OfPacket::new("bytes", Kind::Small, "Bytes without the link header.", |p| p.bytes.into()),
    OfPacket::new(
        "extent",
        Kind::Count,
        "Extent of a late packet among all of its direction, RFC 4737 section 4.2.",
        |p| p.extent.into(),
    )
    .unit("packets")
    .optional()
    .shown("extent", 1),
    OfPacket::new(
        "late_ms",
        Kind::Duration,
        "Late time of a late packet, RFC 4737 section 4.3.",
        |p| p.late_ns.into(),
    )
    .optional()
    .shown("late", 1),
];

type OfDocument = Column<Difference>;

/// The result.
pub static DOCUMENT: &[OfDocument] = &[
    OfDocument::format(&["inorder-diff/1"]),
    OfDocument::new("a", Kind::Text, "Capture A.", |d| (&d.a).into()),
    OfDocument::new("b", Kind::Text, "Capture B.", |d| (&d.b).into()),
    OfDocument::new(
        "headline",
        Kind::Text,
        "The result in a sentence for each direction; absent if the captures have no packet in common.",
        |d| d.headline().into(),
    )
    .optional(),
    OfDocument::new(
        "matched",
        Kind::Choice(Keep::NAMES),
        "What a packet has in common in both captures: its bytes except for what every path changes, the same without addresses and ports, or the payload.",
        |d| d.matched.into(),
    ),
    OfDocument::new(
        "cut",
        Kind::Count,
        "Packets that were cut because the other capture has them in other parts: super-packets and fragmented datagrams.",
        |d| d.cut.into(),
    ),
    OfDocument::texts("warnings", "What limits the result.", |d| &d.warnings),
    OfDocument::nested(
        "directions",
        "All packets from A to B, and from B to A.",
        &List {
            columns: FLOW,
            of: |d: &Difference| &d.directions,
        },
    ),
    OfDocument::nested(
        "flows",
        "The same for each flow, the most severe first.",
        &List {
            columns: FLOW,
            of: |d: &Difference| &d.flows,
        },
    ),
    OfDocument::nested(
        "packets",
        "Every packet (--packets).",
        &List {
            columns: PACKET,
            of: |d: &Difference| &d.packets,
        },
    ),
];

/// What `inorder diff --json` prints.
pub static RESULT: Document<Difference> = Document {
    verb: "diff",
    columns: DOCUMENT,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_columns_is_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(FLOW), none);
        assert_eq!(inorder_report::problems(PACKET), none);
    }
}
