//! The columns of the metrics in JSON and CSV.

use inorder_report::{Digits, Element, Value, columns};

use super::SeriesReport;
use crate::{COUNTS, METRICS};

const REAL: Digits = Digits::Fixed(4);
columns! {
    /// All columns in their order: [`METRICS`], and the values that are lists.
    pub SERIES: SeriesReport, |r|
    "complete": Flag, "True if no malformed line ended the input." => r.complete;
    "counts": Part(COUNTS), "Packets received and reordered." => &r.summary.order;
    "scalars": Part(METRICS), "The metrics that are single numbers." => &r.summary.order;
    "duplicates": Count, "Copies of packets that had arrived before." => r.summary.counts.duplicates;
    "missing": Count, "Numbers that never arrived." => r.summary.counts.missing;
    "unclassified": Count, "Packets that arrived in a gap that had been forgotten." => r.summary.counts.unclassified;
    "holes_given_up": Count, "Gaps forgotten because of --max-holes." => r.summary.counts.holes_given_up;
    "sequence_discontinuities": Count, "Packets that skipped a number: at least one sent earlier had not arrived (RFC 4737 section 3.4)."
        => r.summary.counts.sequence_discontinuities;
    "extents": List(Element::Number), "Extent of each reordered packet (RFC 4737 section 4.2)."
        => r.lists.extents.clone(), unit("packets");
    "late_ms": List(Element::Number), "Late time of each reordered packet (RFC 4737 section 4.3)."
        => {
            let late_ns = if r.lists.timed {
                r.lists.late_ns.as_slice()
            } else {
                &[]
            };
            milliseconds(late_ns)
        }, unit("ms");
    "byte_offsets": List(Element::Number), "Byte offset of each reordered packet (RFC 4737 section 4.4)."
        => r.lists.byte_offsets.clone(), unit("bytes");
    "discontinuities": Count, "Reordering discontinuities (RFC 4737 section 4.5)." => r.lists.discontinuities.len();
    "gaps": List(Element::Number), "Packets between successive discontinuities (RFC 4737 section 4.5)."
        => r.lists.gaps().0, unit("packets");
    "gaps_ms": List(Element::Number), "Time between successive discontinuities."
        => {
            let gaps_ns = if r.lists.timed {
                r.lists.gaps().1
            } else {
                Vec::new()
            };
            milliseconds(&gaps_ns)
        }, unit("ms");
    "runs": List(Element::Number), "Packets in order before each reordered one (RFC 4737 section 4.6)."
        => r.lists.runs.clone(), unit("packets");
    "run_mean_bytes": Number(REAL), "Mean length of the runs in bytes."
        => r.if_sized(r.summary.order.runs.mean_bytes()), unit("bytes"), optional();
    "run_variation_bytes": Number(REAL), "Variation of the runs in bytes."
        => r.if_sized(r.summary.order.runs.variation_bytes()), optional();
    "n_reordering": Map(Element::Number), "Packets that are n-reordered, by n (RFC 4737 section 5)."
        => by_n(&r.summary.order.n_reordering.cumulative()), unit("packets");
    "n_reordering_largest": Map(Element::Number), "Packets by the largest n to which they are n-reordered."
        => by_n(r.summary.order.n_reordering.largest()), unit("packets");
    "n_reordering_truncated": Count, "Packets with an n beyond --n-max." => r.summary.order.n_reordering.truncated();
    "dt": Small, "Displacement threshold (RFC 5236)." => u32::from(r.dt), unit("packets");
    "rd_packets": Count, "Packets counted in the reorder density." => r.summary.order.displacements.total();
    "rd": Map(Element::Number), "Reorder density: share by displacement."
        => named(r.summary.order.displacements.density());
    "rd_beyond_early": Count, "Packets early by more than the threshold." => r.summary.order.displacements.beyond().0;
    "rd_beyond_late": Count, "Packets late by more than the threshold." => r.summary.order.displacements.beyond().1;
    "bt": Small, "Threshold of the buffer occupancy (RFC 5236)." => u32::from(r.bt), unit("packets");
    "rbd_packets": Count, "Packets counted in the buffer-occupancy density." => r.summary.occupancy.total();
    "rbd": Map(Element::Number), "Reorder buffer-occupancy density: share by packets held."
        => named(r.summary.occupancy.density());
    "rbd_mean": Number(REAL), "Mean number of packets held."
        => r.summary.occupancy.mean(), unit("packets"), optional();
    "rbd_given_up": Count, "Packets the buffer no longer waited for." => r.summary.occupancy.given_up();
}

impl SeriesReport {
    /// A value that is known only if the input has lengths in bytes.
    fn if_sized(&self, value: Option<f64>) -> Value<'static> {
        value.filter(|_| self.lists.sized).into()
    }
}

/// Nanoseconds as milliseconds: exact below 2^53 ns, 104 days.
fn milliseconds(ns: &[i64]) -> Value<'static> {
    let ms = ns.iter().map(|&ns| ns as f64 / 1e6);
    ms.collect::<Vec<f64>>().into()
}

fn named<'a, K: Into<Value<'a>>>(density: impl Iterator<Item = (K, f64)>) -> Value<'a> {
    density.collect::<Vec<_>>().into()
}

/// Non-zero counts, keyed by n = 1, 2, ...
fn by_n(counts: &[u64]) -> Value<'static> {
    let counted = (1u64..).zip(counts.iter().copied());
    let some = counted.filter(|(_, count)| *count > 0);
    some.collect::<Vec<(u64, u64)>>().into()
}
