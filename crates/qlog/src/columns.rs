//! The columns of all outputs.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Digits, Files, Kind, List, Part};

use crate::join::JoinedBy;
use crate::result::{Arrivals, Document, LossRow, Report, Threshold, Trigger};

type Of = Column<Report>;

const RTTS: Kind = Kind::Number(Digits::Fixed(3));

/// A connection from the side of one end.
pub static CONNECTION: &[Of] = &[
    Of::new("connection", Kind::Text, "Title of the trace, and the connection's identifier.", |r| {
        (&r.name).into()
    })
    .shown("connection", 0),
    Of::new("vantage", Kind::Text, "The end that wrote the log.", |r| (&r.vantage).into())
        .shown("end", 0),
    Of::new("sent_packets", Kind::Count, "Packets sent.", |r| r.traffic.sent.into()).shown("sent", 1),
    Of::new("received_packets", Kind::Count, "Packets received.", |r| r.traffic.received.into()),
    Of::new("sent_bytes", Kind::Count, "Bytes sent.", |r| r.traffic.sent_bytes.into()),
    Of::new("declared_lost", Kind::Count, "Packets declared lost.", |r| r.declared.lost.into())
        .in_group("declared lost", "packets", 0),
    Of::new("by_packet_threshold", Kind::Count, "Of these, because later ones had been acknowledged (RFC 9002 section 6.1.1).", |r| {
        r.declared.by_packets.into()
    })
    .in_group("declared lost", "by packets", 4),
    Of::new("by_time_threshold", Kind::Count, "Because too much time had gone by (section 6.1.2).", |r| r.declared.by_time.into())
        .in_group("declared lost", "by time", 4),
    Of::new("delivered", Kind::Count, "Of the packets declared lost, those that were delivered.", |r| {
        r.declared.delivered.into()
    })
    .optional()
    .in_group("declared lost", "delivered", 0),
    Of::new("delivered_bytes", Kind::Count, "Their bytes: repeated in vain, at most.", |r| {
        r.declared.delivered_bytes.into()
    })
    .optional(),
    Of::new(
        "dropped_there",
        Kind::Count,
        "Of the packets declared lost and not delivered, those that arrived so late that the other end took them for duplicates and dropped them; absent without that end's log.",
        |r| r.declared.dropped_there.into(),
    )
    .optional(),
    Of::new(
        "other_end",
        Kind::Flag,
        "True if the other end's log tells what was delivered as well; otherwise only its acknowledgements do.",
        |r| r.declared.joined_by.is_some().into(),
    ),
    Of::new(
        "joined_by",
        Kind::Choice(JoinedBy::NAMES),
        "How the other end's log was found: by the connection identifier, as the only other log, or because numbers and times agree.",
        |r| r.declared.joined_by.map(JoinedBy::name).into(),
    )
    .optional(),
    Of::new(
        "thresholds_known",
        Kind::Count,
        "Of the packets declared lost and delivered, those for which both thresholds are known; of the others only the packet threshold is, or none.",
        |r| r.sufficient.known.into(),
    ),
    Of::new(
        "sufficient_packets_half",
        Kind::Count,
        "The packet threshold that would have sufficed for half of the packets declared lost and delivered.",
        |r| packets(r.sufficient.half.packets).into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets_half_is_bound",
        Kind::Flag,
        "True if a smaller one may have sufficed.",
        |r| r.sufficient.half.packets.map(|needed| needed.at_most).into(),
    )
    .optional(),
    Of::new(
        "sufficient_rtts_half",
        RTTS,
        "The time threshold that would have sufficed for half of them, in round trips.",
        |r| r.sufficient.half.rtts.into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets_95",
        Kind::Count,
        "The packet threshold that would have sufficed for 95 % of the packets declared lost and delivered.",
        |r| packets(r.sufficient.most.packets).into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets_95_is_bound",
        Kind::Flag,
        "True if a smaller one may have sufficed.",
        |r| r.sufficient.most.packets.map(|needed| needed.at_most).into(),
    )
    .optional(),
    Of::new(
        "sufficient_rtts_95",
        RTTS,
        "The time threshold that would have sufficed for 95 % of them, in round trips.",
        |r| r.sufficient.most.rtts.into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets",
        Kind::Count,
        "The packet threshold that would have sufficed for all (RFC 9002: 3).",
        |r| packets(r.sufficient.all.packets).into(),
    )
    .optional()
    .in_group("sufficient", "packets", 1)
    .adapted(|r, text| bound(r.sufficient.all.packets, text)),
    Of::new(
        "sufficient_packets_is_bound",
        Kind::Flag,
        "True if a smaller packet threshold may have sufficed for all, because it follows from the order of arrival at the other end.",
        |r| r.sufficient.all.packets.map(|needed| needed.at_most).into(),
    )
    .optional(),
    Of::new(
        "sufficient_rtts",
        RTTS,
        "The time threshold that would have sufficed for all, in round trips (RFC 9002: 1.125).",
        |r| r.sufficient.all.rtts.into(),
    )
    .optional()
    .in_group("sufficient", "round trips", 1),
    Of::new("reductions", Kind::Count, "Reductions of the congestion window after losses.", |r| {
        r.reduced.reductions.into()
    })
    .in_group("reductions", "all", 2),
    Of::new(
        "needless_reductions",
        Kind::Count,
        "Of these, those of whose losses every packet had arrived, also if the other end dropped some as duplicates because they came so late.",
        |r| r.reduced.needless.into(),
    )
    .optional()
    .in_group("reductions", "needless", 0),
    Of::new(
        "cost_bytes",
        Kind::Number(Digits::Fixed(0)),
        "Bytes that could have been sent in addition in the same time without the needless reductions.",
        |r| r.reduced.cost_bytes.into(),
    )
    .optional(),
    Of::new(
        "cost_ratio",
        Kind::Share,
        "The same over these and the bytes sent.",
        |r| r.cost_ratio().into(),
    )
    .optional()
    .shown("cost", 2),
    Of::new("cost_least_ratio", Kind::Share, "No less than this; absent where a window as large as before was reckoned with, without its growth.", |r| {
        r.reduced.lost.map(|lost| lost.least).into()
    })
    .optional(),
    Of::new("bottleneck_bps", Kind::Count, "Rate of the bottleneck, bits a second, from packets that arrived one behind the other: at least this, since a sender that paces never shows more.", |r| {
        r.reduced.lost.map(|lost| lost.bottleneck_bps).into()
    })
    .optional(),
    Of::new("duration_ms", Kind::Duration, "From the first to the last event.", |r| r.traffic.lasted_ns.into()),
    Of::new(
        "resent_packets",
        Kind::Count,
        "Packets with stream data that had been sent before and not been declared lost since: probes, or a new path (RFC 9002 section 6.2.4); absent without frames in the log.",
        |r| r.resent.map(|resent| resent.packets).into(),
    )
    .optional()
    .in_group("sent again without a loss", "packets", 3),
    Of::new("resent_bytes", Kind::Count, "Bytes of this data.", |r| {
        r.resent.map(|resent| resent.bytes).into()
    })
    .optional()
    .in_group("sent again without a loss", "bytes", 5),
    Of::new(
        "resent_spurious_packets",
        Kind::Count,
        "Of these packets, those all of whose such data was delivered in an earlier packet.",
        |r| r.resent.and_then(|resent| resent.spurious_packets).into(),
    )
    .optional()
    .in_group("sent again without a loss", "spurious", 4),
    Of::new(
        "resent_spurious_bytes",
        Kind::Count,
        "Of these bytes, those that were delivered in an earlier packet.",
        |r| r.resent.and_then(|resent| resent.spurious_bytes).into(),
    )
    .optional(),
    Of::new(
        "unknown",
        Kind::Count,
        "Declarations about packets whose sending the log lacks.",
        |r| r.declared.unknown.into(),
    ),
    Of::new("missing", Kind::Count, "Numbers that never arrived at this end.", |r| {
        r.arrivals.missing_at_most.into()
    })
    .only(Files::None)
    .shown("missing", 2)
    .adapted(|r, text| match r.arrivals.missing {
        Some(_) => text,
        None => format!("<={text}"),
    }),
    Of::nested(
        "arrivals",
        "What arrived at this end, application data: QUIC never repeats a number, so every late packet was reordered.",
        &inorder_report::Object {
            columns: ARRIVALS,
            of: |r: &Report| &r.arrivals,
        },
    ),
];

static ARRIVALS: &[Column<Arrivals>] = &[
    Column::new(
        "missing",
        Kind::Count,
        "Numbers below others that never arrived although they were sent; absent if it is not known which ones were sent, because senders skip numbers on purpose (RFC 9000 section 21.4).",
        |a: &Arrivals| a.missing.into(),
    )
    .optional(),
    Column::new(
        "missing_at_most",
        Kind::Count,
        "The same with those that the sender may have skipped.",
        |a: &Arrivals| a.missing_at_most.into(),
    ),
    Column::new(
        "skipped",
        Kind::Count,
        "Numbers between those that arrived which the sender did not use; absent without its log.",
        |a: &Arrivals| a.skipped.into(),
    )
    .optional(),
    Column::new(
        "duplicates",
        Kind::Count,
        "Packets that arrived more than once.",
        |a: &Arrivals| a.duplicates.into(),
    ),
    Column::nested(
        "counts",
        "Packets received and reordered, those included that this end took for duplicates because they came so late.",
        &Part {
            columns: COUNTS,
            of: |a: &Arrivals| &a.order,
        },
    ),
    Column::nested(
        "metrics",
        "Metrics of RFC 4737 and RFC 5236.",
        &Part {
            columns: METRICS,
            of: |a: &Arrivals| &a.order,
        },
    ),
];

fn packets(threshold: Option<Threshold>) -> Option<u64> {
    threshold.map(|threshold| threshold.packets)
}

/// The text of a threshold: `<=7` where a smaller one may have sufficed.
fn bound(threshold: Option<Threshold>, text: String) -> String {
    match threshold {
        Some(Threshold { at_most: true, .. }) => format!("<={text}"),
        _ => text,
    }
}

type OfLoss = Column<LossRow>;

/// A packet that was declared lost.
pub static LOSS: &[OfLoss] = &[
    OfLoss::new("connection", Kind::Text, "The connection.", |l| (&*l.connection).into())
        .shown("connection", 0),
    OfLoss::new("vantage", Kind::Text, "The end that declared it lost.", |l| (&*l.vantage).into())
        .shown("end", 0),
    OfLoss::new("space", Kind::Choice(&["initial", "handshake", "application"]), "Packet number space.", |l| {
        l.space.into()
    })
    .shown("space", 2),
    OfLoss::new("number", Kind::Count, "Packet number.", |l| l.number.into()).shown("number", 0),
    OfLoss::new("bytes", Kind::Count, "Bytes; 0 if the log does not say.", |l| l.bytes.into()),
    OfLoss::new("sent_ms", Kind::Duration, "When it was sent, after the first event of the log.", |l| l.sent_ns.into()),
    OfLoss::new("declared_after_ms", Kind::Duration, "How long after that it was declared lost.", |l| {
        l.declared_after_ns.into()
    })
    .shown("declared after", 0),
    OfLoss::new("trigger", Kind::Choice(Trigger::NAMES), "Why: as the log says, or by numbers and times where a program writes the same reason always.", |l| {
        l.trigger.name().into()
    })
    .shown("by", 1),
    OfLoss::new("delivered", Kind::Flag, "True if it was delivered.", |l| l.delivered.into())
        .optional()
        .shown("delivered", 0),
    OfLoss::new(
        "dropped",
        Kind::Flag,
        "True if it arrived so late that the other end took it for a duplicate and dropped it; absent without that end's log.",
        |l| l.dropped.into(),
    )
    .optional(),
    OfLoss::new(
        "acked_after_ms",
        Kind::Duration,
        "How long after its sending an acknowledgement of it came.",
        |l| l.acked_after_ns.into(),
    )
    .optional()
    .shown("acked after", 0),
    OfLoss::new(
        "needed_packets",
        Kind::Count,
        "The smallest packet threshold that does not declare it lost before its acknowledgement came; by the order of arrival if that is not known.",
        |l| packets(l.needed_packets).into(),
    )
    .optional()
    .shown("needed packets", 1)
    .adapted(|l, text| bound(l.needed_packets, text)),
    OfLoss::new(
        "needed_packets_is_bound",
        Kind::Flag,
        "True if a smaller one may have sufficed, because it follows from the order of arrival.",
        |l| l.needed_packets.map(|needed| needed.at_most).into(),
    )
    .optional(),
    OfLoss::new(
        "needed_rtts",
        RTTS,
        "The smallest time threshold that does not declare it lost before its acknowledgement came, in the greater of smoothed and latest round trip at each time; absent if that is not known.",
        |l| l.needed_rtts.into(),
    )
    .optional()
    .shown("needed round trips", 1),
];

type OfDocument = Column<Document>;

/// The result.
pub static DOCUMENT: &[OfDocument] = &[
    OfDocument::format(&["inorder-qlog/1"]),
    OfDocument::texts("files", "The logs.", |d| &d.files),
    OfDocument::new(
        "headline",
        Kind::Text,
        "The result in a few sentences; absent without a packet of a connection.",
        |d| d.headline().into(),
    )
    .optional(),
    OfDocument::texts("warnings", "What limits the result.", |d| &d.warnings),
    OfDocument::nested(
        "connections",
        "Each end of a connection that was logged.",
        &List {
            columns: CONNECTION,
            of: |d: &Document| &d.connections,
        },
    ),
];

/// What `inorder qlog --json` prints.
pub static RESULT: inorder_report::Document<Document> = inorder_report::Document {
    verb: "qlog",
    columns: DOCUMENT,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_columns_is_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(CONNECTION), none);
        assert_eq!(inorder_report::problems(LOSS), none);
    }
}
