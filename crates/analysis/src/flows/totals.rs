//! Sums over flows.

use inorder_report::{Digits, columns};

use inorder_detect::{Moments, Totals};

columns! {
    /// Sums over flows.
    pub TOTALS: Totals, |t|
    "tcp_flows": Count, "Flows that carried data." => t.flows;
    "reordered_flows": Count, "Of these, with reordered packets." => t.reordered_flows;
    "troubled_flows": Count, "Of all flows, with late, lost, refused, repeated or undecided packets."
        => t.troubled_flows;
    "data_packets": Count, "Original data segments." => t.originals.packets;
    "data_bytes": Bytes, "Their payload." => t.originals.bytes;
    "received": Count, "Original transmissions that certainly arrived." => t.order.arrived;
    "reordered": Count, "Of these, reordered." => t.order.reordered;
    "late": Count, "Late packets: the reordered ones, and those that came so late that the receiver discarded them."
        => t.order.late;
    "max_extent": Count, "Greatest extent." => t.order.max_extent, unit("packets");
    "max_late_ms": Duration, "Greatest late time." => t.order.max_late_ns;
    "ambiguous": Count, "Ambiguous events." => t.order.ambiguous;
    "losses": Count, "Packets lost." => t.originals.lost;
    "refused": Count, "Packets that arrived and that the receiver discarded although it lacked them."
        => t.originals.refused;
    "retransmissions": Count, "Retransmissions." => t.retransmissions.total;
    "spurious_retransmissions": Count, "Of these, spurious." => t.retransmissions.spurious;
    "recoveries": Count, "Recovery phases." => t.recoveries.total;
    "spurious_recoveries": Count, "Of these, the ones during which no packet had been lost." => t.recoveries.spurious;
    "timeouts": Count, "Of all recovery phases, started by a retransmission time-out." => t.recoveries.timeouts;
    "expiries": Count, "How often retransmission timers expired: at the start of a recovery phase, and again where what was sent then was lost, too."
        => t.recoveries.expiries;
    "syns_again": Count, "SYNs of these connections that were sent again." => t.openings.syns_again;
    "fast_open_refused": Count, "Connections whose data in the SYN was not acknowledged with it and came again (RFC 7413)."
        => t.openings.fast_open_refused;
    "measures": Rows(MOMENTS), "The numbers by which captures are judged and compared." => t.measures.all();
}

columns! {
    /// The sums of a measure over flows.
    MOMENTS: Moments, |m|
    "measure": Text, "Name of the measure." => m.measure;
    "flows": Count, "Flows that have the number." => m.flows;
    "of": Number(Digits::Short), "Sum of the numerators." => m.of();
    "per": Number(Digits::Short), "Sum of the denominators." => m.per();
    "of_of": Number(Digits::Short), "Sum of the squared numerators." => m.of_of();
    "of_per": Number(Digits::Short), "Sum of the products of numerator and denominator." => m.of_per();
    "per_per": Number(Digits::Short), "Sum of the squared denominators." => m.per_per();
}
