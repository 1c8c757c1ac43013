//! The columns of all outputs.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Digits, Files, columns};

use crate::join::JoinedBy;
use crate::result::{Arrivals, Document, LossRow, Report, Threshold, Trigger};

const RTTS: Digits = Digits::Fixed(3);

/// Marks an upper bound where it is not known which numbers were sent.
fn at_most(report: &Report, text: String) -> String {
    match report.arrivals.missing {
        Some(_) => text,
        None => format!("<={text}"),
    }
}

columns! {
    /// A connection from the side of one end.
    pub CONNECTION: Report, |r|
    "connection": Text, "Title of the trace, and the connection's identifier." => &r.name, shown("connection", 0);
    "vantage": Text, "The end that wrote the log." => &r.vantage, shown("end", 0);
    "sent_packets": Count, "Packets sent." => r.traffic.sent, shown("sent", 1);
    "received_packets": Count, "Packets received." => r.traffic.received;
    "sent_bytes": Count, "Bytes sent." => r.traffic.sent_bytes;
    "declared_lost": Count, "Packets declared lost." => r.declared.lost, in_group("declared lost", "packets", 0);
    "by_packet_threshold": Count, "Of these, because later ones had been acknowledged (RFC 9002 section 6.1.1)."
        => r.declared.by_packets, in_group("declared lost", "by packets", 4);
    "by_time_threshold": Count, "Because too much time had gone by (section 6.1.2)."
        => r.declared.by_time, in_group("declared lost", "by time", 4);
    "delivered": Count, "Of the packets declared lost, those that were delivered."
        => r.declared.delivered, optional(), in_group("declared lost", "delivered", 0);
    "delivered_bytes": Count, "Their bytes: repeated in vain, at most." => r.declared.delivered_bytes, optional();
    "dropped_there": Count, "Of the packets declared lost and not delivered, those that arrived so late that the other end took them for duplicates and dropped them; absent without that end's log."
        => r.declared.dropped_there, optional();
    "other_end": Flag, "True if the other end's log tells what was delivered as well; otherwise only its acknowledgements do."
        => r.declared.joined_by.is_some();
    "joined_by": Choice(JoinedBy::NAMES), "How the other end's log was found: by the connection identifier, as the only other log, or because numbers and times agree."
        => r.declared.joined_by.map(JoinedBy::name), optional();
    "thresholds_known": Count, "Of the packets declared lost and delivered, those for which both thresholds are known; of the others only the packet threshold is, or none."
        => r.sufficient.known;
    "sufficient_packets_half": Count, "The packet threshold that would have sufficed for half of the packets declared lost and delivered."
        => packets(r.sufficient.half.packets), optional();
    "sufficient_packets_half_is_bound": Flag, "True if a smaller one may have sufficed."
        => r.sufficient.half.packets.map(|needed| needed.at_most), optional();
    "sufficient_rtts_half": Number(RTTS), "The time threshold that would have sufficed for half of them, in round trips."
        => r.sufficient.half.rtts, optional();
    "sufficient_packets_95": Count, "The packet threshold that would have sufficed for 95 % of the packets declared lost and delivered."
        => packets(r.sufficient.most.packets), optional();
    "sufficient_packets_95_is_bound": Flag, "True if a smaller one may have sufficed."
        => r.sufficient.most.packets.map(|needed| needed.at_most), optional();
    "sufficient_rtts_95": Number(RTTS), "The time threshold that would have sufficed for 95 % of them, in round trips."
        => r.sufficient.most.rtts, optional();
    "sufficient_packets": Count, "The packet threshold that would have sufficed for all (RFC 9002: 3)."
        => packets(r.sufficient.all.packets), optional(), in_group("sufficient", "packets", 1), adapted(|r, text| bound(r.sufficient.all.packets, text));
    "sufficient_packets_is_bound": Flag, "True if a smaller packet threshold may have sufficed for all, because it follows from the order of arrival at the other end."
        => r.sufficient.all.packets.map(|needed| needed.at_most), optional();
    "sufficient_rtts": Number(RTTS), "The time threshold that would have sufficed for all, in round trips (RFC 9002: 1.125)."
        => r.sufficient.all.rtts, optional(), in_group("sufficient", "round trips", 1);
    "reductions": Count, "Reductions of the congestion window after losses."
        => r.reduced.reductions, in_group("reductions", "all", 2);
    "needless_reductions": Count, "Of these, those of whose losses every packet had arrived, also if the other end dropped some as duplicates because they came so late."
        => r.reduced.needless, optional(), in_group("reductions", "needless", 0);
    "cost_bytes": Number(Digits::Fixed(0)), "Bytes that could have been sent in addition in the same time without the needless reductions."
        => r.reduced.cost_bytes, optional();
    "cost_ratio": Share, "The same over these and the bytes sent." => r.cost_ratio(), optional(), shown("cost", 2);
    "cost_least_ratio": Share, "No less than this; absent where a window as large as before was reckoned with, without its growth."
        => r.reduced.lost.map(|lost| lost.least), optional();
    "bottleneck_bps": Count, "Rate of the bottleneck, bits a second, from packets that arrived one behind the other: at least this, since a sender that paces never shows more."
        => r.reduced.lost.map(|lost| lost.bottleneck_bps), optional();
    "duration_ms": Duration, "From the first to the last event." => r.traffic.lasted_ns;
    "resent_packets": Count, "Packets with stream data that had been sent before and not been declared lost since: probes, or a new path (RFC 9002 section 6.2.4); absent without frames in the log."
        => r.resent.map(|resent| resent.packets), optional(), in_group("sent again without a loss", "packets", 3);
    "resent_bytes": Count, "Bytes of this data."
        => r.resent.map(|resent| resent.bytes), optional(), in_group("sent again without a loss", "bytes", 5);
    "resent_spurious_packets": Count, "Of these packets, those all of whose such data was delivered in an earlier packet."
        => r.resent.and_then(|resent| resent.spurious_packets), optional(), in_group("sent again without a loss", "spurious", 4);
    "resent_spurious_bytes": Count, "Of these bytes, those that were delivered in an earlier packet."
        => r.resent.and_then(|resent| resent.spurious_bytes), optional();
    "unknown": Count, "Declarations about packets whose sending the log lacks." => r.declared.unknown;
    "missing": Count, "Numbers that never arrived at this end."
        => r.arrivals.missing_at_most, only(Files::None), shown("missing", 2), adapted(at_most);
    "arrivals": Object(ARRIVALS), "What arrived at this end, application data: QUIC never repeats a number, so every late packet was reordered."
        => &r.arrivals;
}

columns! {
    ARRIVALS: Arrivals, |a|
    "missing": Count, "Numbers below others that never arrived although they were sent; absent if it is not known which ones were sent, because senders skip numbers on purpose (RFC 9000 section 21.4)."
        => a.missing, optional();
    "missing_at_most": Count, "The same with those that the sender may have skipped." => a.missing_at_most;
    "skipped": Count, "Numbers between those that arrived which the sender did not use; absent without its log."
        => a.skipped, optional();
    "duplicates": Count, "Packets that arrived more than once." => a.duplicates;
    "counts": Part(COUNTS), "Packets received and reordered, those included that this end took for duplicates because they came so late."
        => &a.order;
    "metrics": Part(METRICS), "Metrics of RFC 4737 and RFC 5236." => &a.order;
}

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

columns! {
    /// A packet that was declared lost.
    pub LOSS: LossRow, |l|
    "connection": Text, "The connection." => &*l.connection, shown("connection", 0);
    "vantage": Text, "The end that declared it lost." => &*l.vantage, shown("end", 0);
    "space": Choice(&["initial", "handshake", "application"]), "Packet number space." => l.space, shown("space", 2);
    "number": Count, "Packet number." => l.number, shown("number", 0);
    "bytes": Count, "Bytes; 0 if the log does not say." => l.bytes;
    "sent_ms": Duration, "When it was sent, after the first event of the log." => l.sent_ns;
    "declared_after_ms": Duration, "How long after that it was declared lost."
        => l.declared_after_ns, shown("declared after", 0);
    "trigger": Choice(Trigger::NAMES), "Why: as the log says, or by numbers and times where a program writes the same reason always."
        => l.trigger.name(), shown("by", 1);
    "delivered": Flag, "True if it was delivered." => l.delivered, optional(), shown("delivered", 0);
    "dropped": Flag, "True if it arrived so late that the other end took it for a duplicate and dropped it; absent without that end's log."
        => l.dropped, optional();
    "acked_after_ms": Duration, "How long after its sending an acknowledgement of it came."
        => l.acked_after_ns, optional(), shown("acked after", 0);
    "needed_packets": Count, "The smallest packet threshold that does not declare it lost before its acknowledgement came; by the order of arrival if that is not known."
        => packets(l.needed_packets), optional(), shown("needed packets", 1), adapted(|l, text| bound(l.needed_packets, text));
    "needed_packets_is_bound": Flag, "True if a smaller one may have sufficed, because it follows from the order of arrival."
        => l.needed_packets.map(|needed| needed.at_most), optional();
    "needed_rtts": Number(RTTS), "The smallest time threshold that does not declare it lost before its acknowledgement came, in the greater of smoothed and latest round trip at each time; absent if that is not known."
        => l.needed_rtts, optional(), shown("needed round trips", 1);
}

columns! {
    /// The result.
    pub DOCUMENT: Document, |d|
    format &["inorder-qlog/1"];
    "files": Texts, "The logs." => &d.files;
    "headline": Text, "The result in a few sentences; absent without a packet of a connection."
        => d.headline(), optional();
    "warnings": Texts, "What limits the result." => &d.warnings;
    "connections": Rows(CONNECTION), "Each end of a connection that was logged." => &d.connections;
}

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
