//! Sums over flows.

use inorder_report::{Column, Digits, Kind, List};

use crate::{Moments, Totals};

type Of = Column<Totals>;

/// Sums over flows.
pub static TOTALS: &[Column<Totals>] = &[
    Of::new("tcp_flows", Kind::Count, "Flows that carried data.", |t| {
        t.flows.into()
    }),
    Of::new(
        "reordered_flows",
        Kind::Count,
        "Of these, with reordered packets.",
        |t| t.reordered_flows.into(),
    ),
    Of::new(
        "troubled_flows",
        Kind::Count,
        "Of all flows, with late, lost, refused, repeated or undecided packets.",
        |t| t.troubled_flows.into(),
    ),
    Of::new(
        "data_packets",
        Kind::Count,
        "Original data segments.",
        |t| t.originals.packets.into(),
    ),
    Of::new("data_bytes", Kind::Bytes, "Their payload.", |t| {
        t.originals.bytes.into()
    }),
    Of::new(
        "received",
        Kind::Count,
        "Original transmissions that certainly arrived.",
        |t| t.order.arrived.into(),
    ),
    Of::new("reordered", Kind::Count, "Of these, reordered.", |t| {
        t.order.reordered.into()
    }),
    Of::new(
        "late",
        Kind::Count,
        "Late packets: the reordered ones, and those that came so late that the receiver discarded them.",
        |t| t.order.late.into(),
    ),
    Of::new("max_extent", Kind::Count, "Greatest extent.", |t| {
        t.order.max_extent.into()
    })
    .unit("packets"),
    Of::new("max_late_ms", Kind::Duration, "Greatest late time.", |t| {
        t.order.max_late_ns.into()
    }),
    Of::new("ambiguous", Kind::Count, "Ambiguous events.", |t| {
        t.order.ambiguous.into()
    }),
    Of::new("losses", Kind::Count, "Packets lost.", |t| {
        t.originals.lost.into()
    }),
    Of::new(
        "refused",
        Kind::Count,
        "Packets that arrived and that the receiver discarded although it lacked them.",
        |t| t.originals.refused.into(),
    ),
    Of::new("retransmissions", Kind::Count, "Retransmissions.", |t| {
        t.retransmissions.total.into()
    }),
    Of::new(
        "spurious_retransmissions",
        Kind::Count,
        "Of these, spurious.",
        |t| t.retransmissions.spurious.into(),
    ),
    Of::new("recoveries", Kind::Count, "Recovery phases.", |t| {
        t.recoveries.total.into()
    }),
    Of::new(
        "spurious_recoveries",
        Kind::Count,
        "Of these, the ones during which no packet had been lost.",
        |t| t.recoveries.spurious.into(),
    ),
    Of::new(
        "timeouts",
        Kind::Count,
        "Of all recovery phases, started by a retransmission time-out.",
        |t| t.recoveries.timeouts.into(),
    ),
    Of::new(
        "expiries",
        Kind::Count,
        "How often retransmission timers expired: at the start of a recovery phase, and again where what was sent then was lost, too.",
        |t| t.recoveries.expiries.into(),
    ),
    Of::new(
        "syns_again",
        Kind::Count,
        "SYNs of these connections that were sent again.",
        |t| t.openings.syns_again.into(),
    ),
    Of::new(
        "fast_open_refused",
        Kind::Count,
        "Connections whose data in the SYN was not acknowledged with it and came again (RFC 7413).",
        |t| t.openings.fast_open_refused.into(),
    ),
    Of::nested(
        "measures",
        "The numbers by which captures are judged and compared.",
        &List {
            columns: MOMENTS,
            of: |t: &Totals| t.measures.all(),
        },
    ),
];

type One = Column<Moments>;

/// The sums of a measure over flows.
static MOMENTS: &[Column<Moments>] = &[
    One::new("measure", Kind::Text, "Name of the measure.", |m| {
        m.measure.into()
    }),
    One::new("flows", Kind::Count, "Flows that have the number.", |m| {
        m.flows.into()
    }),
    One::new("of", SUM, "Sum of the numerators.", |m| m.of().into()),
    One::new("per", SUM, "Sum of the denominators.", |m| m.per().into()),
    One::new("of_of", SUM, "Sum of the squared numerators.", |m| {
        m.of_of().into()
    }),
    One::new(
        "of_per",
        SUM,
        "Sum of the products of numerator and denominator.",
        |m| m.of_per().into(),
    ),
    One::new("per_per", SUM, "Sum of the squared denominators.", |m| {
        m.per_per().into()
    }),
];

const SUM: Kind = Kind::Number(Digits::Short);
