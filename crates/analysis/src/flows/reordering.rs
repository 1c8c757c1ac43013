//! Order of arrival: as a whole, by sending rate, and after a sorting receiver.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Digits, Element, Files, columns};

use super::buckets;
use inorder_detect::{RateClass, Reordering};

columns! {
    /// Order of arrival: what all streams of packets have ([`METRICS`]), and what TCP adds.
    pub REORDERING: Reordering, |r|
    "counts": Part(COUNTS), "Packets received and reordered." => r;
    "metrics": Part(METRICS), "Metrics of RFC 4737 and RFC 5236." => r;
    "linux_metric": Count, "max_extent + 1: Linux's `reordering` and the aNCR draft count the late packet too."
        => r.extents.max().map(|extent| extent.saturating_add(1)), unit("packets"), optional(), only(Files::Json);
    "ambiguous": Count, "Undecided events; not counted above." => r.ambiguous;
    "extents": List(Element::Pair), "[extent, packets]; exact below 64, above with 32 buckets an octave (value = last of the bucket)."
        => buckets(&r.extents);
    "late_ns": List(Element::Pair), "[nanoseconds, packets]; buckets as of extents." => buckets(&r.late_ns);
    "extent_bytes": List(Element::Pair), "[bytes, packets] (RFC 4737 section 4.4); buckets as of extents."
        => buckets(&r.extent_bytes);
    "rd": List(Element::Pair), "[displacement, density] (RFC 5236)." => r.displacements.density().collect::<Vec<_>>();
}

columns! {
    /// Reordering of what was sent at one rate.
    pub RATE_CLASS: RateClass, |c|
    "rate_bps": Rate, "Lower bound of the sending rate." => c.rate_bps, shown("rate from", 0);
    "intervals": Count, "Intervals of 250 ms." => c.intervals, shown("intervals", 0);
    "packets": Count, "Packets sent at this rate." => c.packets, shown("packets", 0);
    "reordered": Count, "Of these, reordered." => c.reordered, in_group("reordered", "packets", 0);
    "ratio": Share, "reordered / packets."
        => (c.reordered as f64 / c.packets.max(1) as f64), only(Files::None), in_group("reordered", "%", 0);
    "mean_extent": Number(Digits::Mean), "Mean extent of late packets."
        => c.mean_extent, unit("packets"), shown("mean extent", 0);
    "mean_late_ms": Duration, "Mean late time of late packets." => c.mean_late_ns, shown("mean late", 0);
    "extent_bytes": List(Element::Pair), "[bytes, packets]: late packets by the octave of their extent in bytes (RFC 4737 section 4.4), from its lower bound."
        => c.extent_bytes.clone();
}
