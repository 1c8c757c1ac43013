//! The columns of all outputs.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Document, Files, columns};

use crate::diff::fingerprint::Keep;
use crate::diff::result::{Basis, Difference, Fate, Matched, PacketRow};

columns! {
    /// A direction or a flow.
    pub FLOW: Matched, |m|
    "flow": Text, "Protocol and ends of the flow; `A to B` or `B to A` for all flows of a direction."
        => &m.name, shown("flow", 0);
    "flow_b": Text, "The same in B, if addresses or ports are translated between the captures."
        => m.in_b.as_deref(), optional(), shown("in B", 2);
    "first": Choice(&["A", "B"]), "The capture that the packets pass first."
        => if m.a_first { "A" } else { "B" }, shown("from", 1);
    "basis": Choice(Basis::NAMES), "What tells so: the time to live falls from one capture to the other, the times of both directions, or nothing (A is assumed)."
        => m.basis.name();
    "sent": Count, "Packets in the first capture while the other one was running." => m.sent, shown("packets", 0);
    "lost": Count, "Of these, packets that the other capture lacks." => m.lost, in_group("lost", "packets", 0);
    "lost_ratio": Share, "The same over the packets sent."
        => m.lost as f64 / m.sent.max(1) as f64, in_group("lost", "%", 2);
    "late": Count, "Packets that arrived late at the other capture."
        => m.order.reordered, only(Files::None), in_group("late", "packets", 0);
    "duplicated": Count, "Further copies in the other capture of packets that both have."
        => m.duplicated, shown("copies", 3);
    "appeared": Count, "Packets that only the other capture has." => m.appeared;
    "outside": Count, "Packets of the first capture before the first or behind the last that both have; they are not lost."
        => m.outside;
    "least_difference_ms": Duration, "Least time between the captures: the delay, if their clocks agree."
        => (m.order.received > 0).then_some(m.least_ns), optional(), in_group("delay", "least", 4);
    "p50_longer_ms": Duration, "How much more than that the packets took, median; at most 1/32 too high."
        => m.longer_ns.quantile(0.5), optional(), in_group("delay", "+ median", 3);
    "p99_longer_ms": Duration, "The same, not exceeded by 99 %."
        => m.longer_ns.quantile(0.99), optional(), in_group("delay", "+ p99", 3);
    "max_longer_ms": Duration, "The same, greatest." => m.longer_ns.max(), optional(), in_group("delay", "+ max", 2);
    "counts": Part(COUNTS), "Packets in both captures, and those of them that were late." => &m.order;
    "metrics": Part(METRICS), "Metrics of RFC 4737 and RFC 5236, in the order of the first capture." => &m.order;
}

columns! {
    /// A packet.
    pub PACKET: PacketRow, |p|
    "flow": Text, "Protocol and ends." => &*p.name, shown("flow", 0);
    "fate": Choice(Fate::NAMES), "What became of it: in-order, late, lost (only in the first capture), duplicated (a further copy in the other), appeared (only in the other), outside (the other was not running)."
        => p.fate.name(), shown("fate", 0);
    "frame_a": Count, "Number of its frame in A." => p.frame_a, optional(), shown("frame in A", 0);
    "frame_b": Count, "Number of its frame in B." => p.frame_b, optional(), shown("in B", 0);
    "a_ns": Instant, "Time in A." => p.a_ns, optional();
    "b_ns": Instant, "Time in B." => p.b_ns, optional();
    "bytes": Small, "Bytes without the link header." => p.bytes;
    "extent": Count, "Extent of a late packet among all of its direction, RFC 4737 section 4.2."
        => p.extent, unit("packets"), optional(), shown("extent", 1);
    "late_ms": Duration, "Late time of a late packet, RFC 4737 section 4.3."
        => p.late_ns, optional(), shown("late", 1);
}

columns! {
    /// The result.
    pub DOCUMENT: Difference, |d|
    format &["inorder-diff/1"];
    "a": Text, "Capture A." => &d.a;
    "b": Text, "Capture B." => &d.b;
    "headline": Text, "The result in a sentence for each direction; absent if the captures have no packet in common."
        => d.headline(), optional();
    "matched": Choice(Keep::NAMES), "What a packet has in common in both captures: its bytes except for what every path changes, the same without addresses and ports, or the payload."
        => d.matched;
    "cut": Count, "Packets that were cut because the other capture has them in other parts: super-packets and fragmented datagrams."
        => d.cut;
    "captured_twice": Count, "Frames of either capture in which a packet was captured once more, as by two mirror ports; they do not count."
        => d.captured_twice;
    "tunnels_a": Texts, "Tunnels of A in which the packets were that were compared: `VXLAN VNI 42`. Empty where packets were compared as they are."
        => &d.tunnels[0];
    "tunnels_b": Texts, "The same of B." => &d.tunnels[1];
    "warnings": Texts, "What limits the result." => &d.warnings;
    "directions": Rows(FLOW), "All packets from A to B, and from B to A." => &d.directions;
    "flows": Rows(FLOW), "The same for each flow, the most severe first." => &d.flows;
    "packets": Rows(PACKET), "Every packet (--packets)." => &d.packets;
}

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
