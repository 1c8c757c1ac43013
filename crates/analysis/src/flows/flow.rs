//! One flow.

use inorder_limits::columns::LIMITS;
use inorder_report::{Element, Files, Value, columns};

use super::COST;
use super::WHAT_IF;
use super::buckets;
use super::event::{EventsOfFlow, RETRANSMISSION};
use super::reordering::{RATE_CLASS, REORDERING};
use super::repair::{CAUSE_COUNT, RECOVERY};
use inorder_detect::{
    AfterTimeout, Blind, Duplicates, Echo, FastOpen, FlowReport, Host, Identification, Repeats,
    TooOld, Vantage, VantageBasis,
};

/// `~` before a count that is approximate.
fn rough(flow: &FlowReport, count: String) -> String {
    if flow.rough {
        format!("~{count}")
    } else {
        count
    }
}

/// What is not known, by name.
fn not_seen(blind: Blind) -> Value<'static> {
    Value::List(blind.iter().map(|what| what.name().into()).collect())
}

columns! {
    /// Everything said of a flow, after its name.
    pub FLOW: FlowReport, |f|
    "vantage": Choice(Vantage::NAMES), "Where the capture was made, seen from the sender of the data."
        => f.vantage.vantage.name(), shown("vantage", 5);
    "vantage_basis": Choice(VantageBasis::NAMES), "What told the vantage." => f.vantage.basis.name();
    "to_receiver_ms": Duration, "From the capture point to the receiver and back."
        => f.vantage.to_receiver_ns, optional(), only(Files::Json);
    "to_sender_ms": Duration, "From the capture point to the sender and back."
        => f.vantage.to_sender_ns, optional(), only(Files::Json);
    "first_ns": Instant, "First packet." => f.first_ns;
    "last_ns": Instant, "Last packet." => f.last_ns;
    "syn_seen": Flag, "The capture has the connection's SYN." => f.endpoints.syn_seen;
    "icmp_too_large": Count, "Of the losses, packets that were too large for a link of the path, as ICMP says."
        => f.path.icmp.too_large;
    "icmp_mtu": Small, "Size of IP packets that the path can carry, as ICMP says." => f.path.icmp.mtu, optional();
    "icmp_unreachable": Count, "Of the losses, packets that could not be delivered, as ICMP says."
        => f.path.icmp.unreachable;
    "icmp_time_exceeded": Count, "Of the losses, packets that routers passed on in a loop, as ICMP says (time exceeded)."
        => f.path.icmp.time_exceeded;
    "payload_too_large": Small, "Payload of full segments that were lost whole every time, and arrived only cut, without a word of ICMP (RFC 2923), bytes."
        => f.path.shrunk.map(|sizes| sizes.whole), optional();
    "payload_passed": Small, "Payload of what arrived in their place, bytes."
        => f.path.shrunk.map(|sizes| sizes.cut), optional();
    "syns_again": Small, "How often the SYN was sent again. Of the two flows of a connection, one has this."
        => f.endpoints.handshake.syns_again;
    "handshake_wait_ms": Duration, "From the first SYN to the last: the time that its repetition cost."
        => f.endpoints.handshake.waited_ns;
    "fins_again": Small, "How often the FIN of the data's sender was sent again, without data."
        => f.endpoints.closing.fins_again;
    "syn_answered_ms": Duration, "From the last SYN to its answer, as captured."
        => f.endpoints.handshake.answered_ns, optional();
    "fin_wait_ms": Duration, "From the first FIN to the last." => f.endpoints.closing.waited_ns;
    "keep_alives_unanswered": Small, "The last keep-alives of a host, if there are two or more and nothing answered them."
        => f.endpoints.closing.silence.map_or(0, |silence| silence.keep_alives);
    "silence_ms": Duration, "From the first of them to the last."
        => f.endpoints.closing.silence.map_or(0, |silence| silence.ns);
    "again_behind_reset": Count, "Packets that repeat what had been sent came by behind the receiver's reset. They are not among the retransmissions."
        => f.endpoints.closing.again_behind_reset;
    "reset_by": Choice(Host::NAMES), "Which host reset the connection before the data's sender had sent a FIN."
        => f.endpoints.closing.reset_by.map(Host::name), optional();
    "reset_ttl": Small, "Time to live of that reset, where it is far from that of the host's SYN: something on the way sent it."
        => f.endpoints.closing.reset_ttls.map(|(reset, _)| u32::from(reset)), optional();
    "fast_open": Choice(FastOpen::NAMES), "Whether data in the SYN was acknowledged with it (RFC 7413); what was refused comes again and is no loss."
        => f.endpoints.handshake.fast_open.map(FastOpen::name), optional();
    "sack": Flag, "Selective acknowledgements are used." => f.endpoints.sack;
    "timestamps": Flag, "TCP timestamps are used." => f.endpoints.timestamps;
    "sender_identification": Choice(Identification::NAMES), "How the data's sender numbers its IPv4 packets: a counter of its own for the connection, one of the host's, always zero, at random, or kept when a packet is sent again."
        => f.endpoints.habits.sender_identification.name(), only(Files::Json);
    "sender_repeats": Choice(Repeats::NAMES), "Which identification a packet bears that the sender sends again: a new one, its old one, or one of them where some data was late or came again with its old one."
        => f.endpoints.habits.sender_repeats.name(), only(Files::Json);
    "sender_tick_ms": Duration, "The sender's timestamp clock ticks no sooner than this."
        => f.endpoints.habits.sender_tick_ns, optional(), only(Files::Json);
    "sender_after_timeout": Choice(AfterTimeout::NAMES), "What the sender repeats after a time-out: everything means also what had been reported."
        => f.endpoints.habits.after_timeout.name(), only(Files::Json);
    "receiver_identification": Choice(Identification::NAMES), "How the data's receiver numbers its IPv4 packets."
        => f.endpoints.habits.receiver_identification.name(), only(Files::Json);
    "receiver_duplicates": Choice(Duplicates::NAMES), "Whether the receiver reports duplicates (RFC 2883)."
        => f.endpoints.habits.duplicates.name(), only(Files::Json);
    "receiver_too_old": Choice(TooOld::NAMES), "What the receiver does with data whose timestamp is too old (RFC 7323 section 5): it reports it as a duplicate, or takes it."
        => f.endpoints.habits.too_old.name(), only(Files::Json);
    "receiver_echo": Choice(Echo::NAMES), "Which timestamp the receiver echoes for data above a hole: that of the left edge (RFC 7323 section 4.3), or the newest."
        => f.endpoints.habits.echo.name(), only(Files::Json);
    "receiver_reneges": Flag, "The receiver has discarded data that it had reported (RFC 2018 section 8)."
        => f.endpoints.habits.reneges, only(Files::Json);
    "mss": Small, "Payload bytes of a full segment." => f.endpoints.mss;
    "min_rtt_ms": Duration, "Smallest round-trip time, from the capture point." => f.min_rtt_ns, optional();
    "data_packets": Count, "Original data segments." => f.originals.packets, shown("packets", 0);
    "data_bytes": Bytes, "Payload bytes of original segments." => f.originals.bytes, shown("data", 4);
    // Files have both times.
    "duration_ms": Duration, "From the first to the last packet."
        => f.last_ns.saturating_sub(f.first_ns), only(Files::None), shown("lasted", 4);
    "rate_bps": Rate, "Payload of original segments over the time from the first to the last packet."
        => f.rate_bps(), optional();
    // Files have it as `cost.goodput_bps`.
    "goodput": Rate, "Payload that arrived over the time that took."
        => f.goodput_bps(), optional(), only(Files::None), shown("goodput", 0);
    "late": Count, "Late packets: reordering.reordered, and those that came so late that the receiver discarded them."
        => f.late(), in_group("late", "packets", 0), adapted(rough);
    // Files have both numbers.
    "late_ratio": Share, "Late packets, of those that arrived."
        => (f.late() as f64 / f.came().max(1) as f64), only(Files::None), in_group("late", "%", 1);
    "reordering": Object(REORDERING), "Order of arrival at the receiver, or at the capture point where it is there."
        => &f.reordering;
    "losses": Count, "Original transmissions lost; ambiguous ones not counted."
        => f.originals.lost, shown("lost", 0), adapted(rough);
    "lost_upstream": Count, "Of the losses, those before a capture point in the middle: only their retransmissions came by."
        => f.originals.lost_upstream;
    "refused": Count, "Arrived, and discarded by the receiver although it lacked the bytes (PAWS, window, reneging); ambiguous ones not counted."
        => f.originals.refused, shown("refused", 5), adapted(rough);
    "outside_window": Count, "Of the refused, those outside the receiver's window."
        => f.originals.outside_window;
    "reneged": Count, "Of the refused, those that the receiver had reported and then discarded (RFC 2018 section 8). Those that are neither were late: their timestamp was too old."
        => f.originals.reneged;
    "extents_at_most": Count, "Late packets whose extent and late time are upper bounds: one acknowledgement reported several arrivals."
        => f.bounds.at_most;
    "extents_at_least": Count, "Late packets whose extent is a lower bound: packets may have arrived that no acknowledgement showed."
        => f.bounds.at_least;
    "undecided": Count, "Neither acknowledged nor known lost at the capture's end." => f.originals.undecided;
    "unfilled": Count, "Of these, below segments that had arrived: lost, late or not captured." => f.originals.unfilled;
    "rough": Flag, "Counts are approximate: no SACK, or the capture does not show enough." => f.rough;
    "not_seen": List(Element::Text), "What the capture does not show: vantage, sack-options, the receiver's packets (one-way), the order of the packets (order), whether SACK is in use (sack); or more ranges were missing at once than are remembered (holes). Nothing that rests on it is more than ambiguous."
        => not_seen(f.blind), only(Files::Json);
    "retransmissions": Count, "Segments sent again." => f.retransmissions.total, at("retransmissions.total");
    "needed": Count, "The original never arrived."
        => f.retransmissions.needed, at("retransmissions.needed"), in_group("retransmissions", "needed", 6);
    "spurious": Count, "The original arrived too."
        => f.retransmissions.spurious, at("retransmissions.spurious"), in_group("retransmissions", "spurious", 1);
    "retransmissions_ambiguous": Count, "Retransmissions for which it is undecided whether the original arrived."
        => f.retransmissions.ambiguous, at("retransmissions.ambiguous"), in_group("retransmissions", "unclear", 6);
    "upstream": Maybe(REORDERING), "Order of arrival at a capture point in the middle." => f.upstream.as_deref();
    "bursts": Count, "Runs of late packets." => f.bursts.count, at("bursts.count"), only(Files::Json);
    "burst_lengths": List(Element::Pair), "[packets, runs]." => buckets(&f.bursts.lengths), at("bursts.lengths");
    "by_rate": Rows(RATE_CLASS), "Reordering by sending rate." => &f.by_rate;
    "recoveries": Count, "Recovery phases."
        => f.recoveries.total, at("recoveries.total"), in_group("recoveries", "all", 4);
    "recoveries_spurious": Count, "Nothing retransmitted in them had been lost."
        => f.recoveries.spurious, at("recoveries.spurious"), in_group("recoveries", "spurious", 2);
    "recoveries_ambiguous": Count, "Recoveries with undecided cause: whether anything was lost is not known."
        => f.recoveries.ambiguous, at("recoveries.ambiguous");
    "recoveries_by_cause": Rows(CAUSE_COUNT), "Recoveries by what the sender reacted to."
        => &f.recoveries.by_cause, at("recoveries.by_cause");
    "recovery_list": Rows(RECOVERY), "Only with --events."
        => &f.recoveries.list, at("recoveries.list"), only(Files::JsonDetails);
    "dupthresh": Small, "Duplicate-ACK threshold that 95 of 100 late packets stay below, if reordering caused recoveries."
        => f.avoidance.dupthresh, at("avoidance.dupthresh"), optional();
    "window_ms": Duration, "Time after the first duplicate ACK or SACK above a hole that 95 of 100 late packets stay within."
        => f.avoidance.window_ns, at("avoidance.window_ms"), optional();
    "cost": Object(COST), "Throughput, and what unnecessary reductions of the window cost." => &f.cost;
    "ecn_reductions": Count, "Reductions of the window for congestion marks, as the sender says (CWR, RFC 3168)."
        => f.ecn_reductions;
    "limits": Object(LIMITS), "What limited the transfer, instant by instant." => &f.limits;
    "acks": Count, "ACKs captured." => f.ack_path.acks, at("ack_path.acks");
    "acks_reordered": Count, "ACKs that were overtaken." => f.ack_path.reordered, at("ack_path.reordered");
    "acks_missing": Count, "ACKs known to be missing." => f.ack_path.missing, at("ack_path.missing");
    "network_duplicates": Count, "Packets that the network delivered twice, as the receiver reports; not known next to the sender."
        => f.path.network_duplicates;
    "duplicated_frames": Count, "Frames captured twice."
        => f.artefacts.duplicated_frames, at("artefacts.duplicated_frames");
    "swapped_frames": Count, "Frames swapped by the capturing host."
        => f.artefacts.swapped_frames, at("artefacts.swapped_frames");
    "missing_segments": Count, "Acknowledged segments not captured."
        => f.artefacts.missing_segments, at("artefacts.missing_segments");
    "time_reversals": Count, "Timestamps that ran backwards."
        => f.artefacts.time_reversals, at("artefacts.time_reversals");
    "time_leaps": Count, "Timestamps that leapt forward, over time that did not pass for the hosts and counts nowhere."
        => f.artefacts.time_leaps, at("artefacts.time_leaps");
    "foreign_packets": Count, "Packets in the name of one of the hosts that it has not sent, and that count nowhere: their time to live is not that of its SYN, and they lack the timestamps on which both had agreed (RFC 7323 section 3.2), or are a few acknowledgements."
        => f.artefacts.foreign_packets, at("artefacts.foreign_packets");
    "what_if": Rows(WHAT_IF), "What a sorting receiver would have left." => &f.what_if;
    "events": Nested(EventsOfFlow), "Only with --events." => f, only(Files::JsonDetails);
    "retransmission_list": Rows(RETRANSMISSION), "Only with --events."
        => &f.records.retransmissions, only(Files::JsonDetails);
}
