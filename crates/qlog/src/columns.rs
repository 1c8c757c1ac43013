//! The columns of all outputs.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Digits, Kind, List, Part};

use crate::result::{Arrivals, Document, LossRow, Report, Trigger};

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
    Of::new("sent_packets", Kind::Count, "Packets sent.", |r| r.sent.into()).shown("sent", 1),
    Of::new("received_packets", Kind::Count, "Packets received.", |r| r.received.into()),
    Of::new("sent_bytes", Kind::Count, "Bytes sent.", |r| r.sent_bytes.into()),
    Of::new("declared_lost", Kind::Count, "Packets declared lost.", |r| r.declared_lost.into())
        .in_group("declared lost", "packets", 0),
    Of::new("by_packet_threshold", Kind::Count, "Of these, because later ones had been acknowledged (RFC 9002 section 6.1.1).", |r| {
        r.by_packets.into()
    })
    .in_group("declared lost", "by packets", 4),
    Of::new("by_time_threshold", Kind::Count, "Because too much time had gone by (section 6.1.2).", |r| r.by_time.into())
        .in_group("declared lost", "by time", 4),
    Of::new("delivered", Kind::Count, "Of the packets declared lost, those that were delivered.", |r| {
        r.delivered.into()
    })
    .optional()
    .in_group("declared lost", "delivered", 0),
    Of::new("delivered_bytes", Kind::Count, "Their bytes: repeated in vain, at most.", |r| {
        r.delivered_bytes.into()
    })
    .optional(),
    Of::new(
        "other_end",
        Kind::Flag,
        "True if the other end's log tells what was delivered as well; otherwise only its acknowledgements do.",
        |r| r.other_end.into(),
    ),
    Of::new(
        "sufficient_packets_half",
        Kind::Count,
        "The packet threshold that would have sufficed for half of the packets declared lost and delivered.",
        |r| r.half.packets.into(),
    )
    .optional(),
    Of::new(
        "sufficient_rtts_half",
        RTTS,
        "The time threshold that would have sufficed for half of them, in round trips.",
        |r| r.half.rtts.into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets_95",
        Kind::Count,
        "The packet threshold that would have sufficed for 95 % of the packets declared lost and delivered.",
        |r| r.most.packets.into(),
    )
    .optional(),
    Of::new(
        "sufficient_rtts_95",
        RTTS,
        "The time threshold that would have sufficed for 95 % of them, in round trips.",
        |r| r.most.rtts.into(),
    )
    .optional(),
    Of::new(
        "sufficient_packets",
        Kind::Count,
        "The packet threshold that would have sufficed for all (RFC 9002: 3).",
        |r| r.all.packets.into(),
    )
    .optional()
    .in_group("sufficient", "packets", 1),
    Of::new(
        "sufficient_rtts",
        RTTS,
        "The time threshold that would have sufficed for all, in round trips (RFC 9002: 1.125).",
        |r| r.all.rtts.into(),
    )
    .optional()
    .in_group("sufficient", "round trips", 1),
    Of::new("reductions", Kind::Count, "Reductions of the congestion window after losses.", |r| {
        r.reductions.into()
    })
    .in_group("reductions", "all", 2),
    Of::new(
        "needless_reductions",
        Kind::Count,
        "Of these, those of whose losses every packet was delivered.",
        |r| r.needless.into(),
    )
    .optional()
    .in_group("reductions", "needless", 0),
    Of::new(
        "cost_bytes",
        Kind::Number(Digits::Fixed(0)),
        "Bytes that could have been sent in addition in the same time without the needless reductions.",
        |r| r.cost_bytes.into(),
    )
    .optional(),
    Of::new(
        "cost_ratio",
        Kind::Share,
        "The same over these and the bytes sent.",
        |r| {
            let all = |cost: f64| cost + r.sent_bytes as f64;
            r.cost_bytes.filter(|cost| all(*cost) > 0.0).map(|cost| cost / all(cost)).into()
        },
    )
    .optional()
    .shown("cost", 2),
    Of::new("cost_least_ratio", Kind::Share, "No less than this; absent where a window as large as before was reckoned with, without its growth.", |r| {
        r.lost.map(|lost| lost.least).into()
    })
    .optional(),
    Of::new("bottleneck_bps", Kind::Count, "Rate of the bottleneck, bits a second, from packets that arrived one behind the other: at least this, since a sender that paces never shows more.", |r| {
        r.lost.map(|lost| lost.bottleneck_bps).into()
    })
    .optional(),
    Of::new("duration_ms", Kind::Duration, "From the first to the last event.", |r| r.lasted_ns.into()),
    Of::new(
        "unknown",
        Kind::Count,
        "Declarations about packets whose sending the log lacks.",
        |r| r.unknown.into(),
    ),
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
        "Numbers skipped that never arrived.",
        |a: &Arrivals| a.missing.into(),
    ),
    Column::new(
        "duplicates",
        Kind::Count,
        "Packets that arrived more than once.",
        |a: &Arrivals| a.duplicates.into(),
    ),
    Column::nested(
        "counts",
        "Packets received and reordered.",
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

type OfLoss = Column<LossRow>;

/// A packet that was declared lost.
pub static LOSS: &[OfLoss] = &[
    OfLoss::new("connection", Kind::Text, "The connection.", |l| (&*l.connection).into()),
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
    OfLoss::new("trigger", Kind::Choice(Trigger::NAMES), "Why, as the log says.", |l| {
        l.trigger.name().into()
    })
    .shown("by", 1),
    OfLoss::new("delivered", Kind::Flag, "True if it was delivered.", |l| l.delivered.into())
        .optional()
        .shown("delivered", 0),
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
        "The smallest packet threshold that does not declare it lost; by the order of arrival if its acknowledgement is not known.",
        |l| l.needed_packets.into(),
    )
    .optional()
    .shown("needed packets", 1),
    OfLoss::new(
        "needed_rtts",
        RTTS,
        "The time threshold that does not declare it lost, in the greater of smoothed and latest round trip.",
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
