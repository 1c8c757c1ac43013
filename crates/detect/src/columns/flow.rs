//! One flow.

use inorder_report::{Column, Element, Files, Kind, List, Maybe, Object, Value};

use super::COST;
use super::WHAT_IF;
use super::buckets;
use super::event::{EventsOfFlow, RETRANSMISSION};
use super::limits::LIMITS;
use super::reordering::{RATE_CLASS, REORDERING};
use super::repair::{CAUSE_COUNT, RECOVERY};
use crate::{
    AfterTimeout, Blind, Duplicates, Echo, FastOpen, FlowReport, Host, Identification, TooOld,
    Vantage, VantageBasis,
};
use inorder_report::Name;

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

type Of = Column<FlowReport>;

/// Everything said of a flow, after its name.
pub static FLOW: &[Column<FlowReport>] = &[
    Of::new(
        "vantage",
        Kind::Choice(Vantage::NAMES),
        "Where the capture was made, seen from the sender of the data.",
        |f| f.vantage.vantage.name().into(),
    )
    .shown("vantage", 5),
    Of::new(
        "vantage_basis",
        Kind::Choice(VantageBasis::NAMES),
        "What told the vantage.",
        |f| f.vantage.basis.name().into(),
    ),
    Of::new(
        "to_receiver_ms",
        Kind::Duration,
        "From the capture point to the receiver and back.",
        |f| f.vantage.to_receiver_ns.into(),
    )
    .optional()
    .only(Files::Json),
    Of::new(
        "to_sender_ms",
        Kind::Duration,
        "From the capture point to the sender and back.",
        |f| f.vantage.to_sender_ns.into(),
    )
    .optional()
    .only(Files::Json),
    Of::new("first_ns", Kind::Instant, "First packet.", |f| {
        f.first_ns.into()
    }),
    Of::new("last_ns", Kind::Instant, "Last packet.", |f| {
        f.last_ns.into()
    }),
    Of::new(
        "syn_seen",
        Kind::Flag,
        "The capture has the connection's SYN.",
        |f| f.endpoints.syn_seen.into(),
    ),
    Of::new(
        "icmp_too_large",
        Kind::Count,
        "Of the losses, packets that were too large for a link of the path, as ICMP says.",
        |f| f.icmp.too_large.into(),
    ),
    Of::new(
        "icmp_mtu",
        Kind::Small,
        "Size of IP packets that the path can carry, as ICMP says.",
        |f| f.icmp.mtu.into(),
    )
    .optional(),
    Of::new(
        "icmp_unreachable",
        Kind::Count,
        "Of the losses, packets that could not be delivered, as ICMP says.",
        |f| f.icmp.unreachable.into(),
    ),
    Of::new(
        "icmp_time_exceeded",
        Kind::Count,
        "Of the losses, packets that routers passed on in a loop, as ICMP says (time exceeded).",
        |f| f.icmp.time_exceeded.into(),
    ),
    Of::new(
        "payload_too_large",
        Kind::Small,
        "Payload of full segments that were lost whole every time, and arrived only cut, without a word of ICMP (RFC 2923), bytes.",
        |f| f.shrunk.map(|sizes| sizes.whole).into(),
    )
    .optional(),
    Of::new(
        "payload_passed",
        Kind::Small,
        "Payload of what arrived in their place, bytes.",
        |f| f.shrunk.map(|sizes| sizes.cut).into(),
    )
    .optional(),
    Of::new(
        "syns_again",
        Kind::Small,
        "How often the SYN was sent again. Of the two flows of a connection, one has this.",
        |f| f.endpoints.handshake.syns_again.into(),
    ),
    Of::new(
        "handshake_wait_ms",
        Kind::Duration,
        "From the first SYN to the last: the time that its repetition cost.",
        |f| f.endpoints.handshake.waited_ns.into(),
    ),
    Of::new(
        "fins_again",
        Kind::Small,
        "How often the FIN of the data's sender was sent again, without data.",
        |f| f.endpoints.closing.fins_again.into(),
    ),
    Of::new(
        "fin_wait_ms",
        Kind::Duration,
        "From the first FIN to the last.",
        |f| f.endpoints.closing.waited_ns.into(),
    ),
    Of::new(
        "reset_by",
        Kind::Choice(Host::NAMES),
        "Which host reset the connection before the data's sender had sent a FIN.",
        |f| f.endpoints.closing.reset_by.map(|host| host.name()).into(),
    )
    .optional(),
    Of::new(
        "fast_open",
        Kind::Choice(FastOpen::NAMES),
        "Whether data in the SYN was acknowledged with it (RFC 7413); what was refused comes again and is no loss.",
        |f| f.endpoints.handshake.fast_open.map(|of| of.name()).into(),
    )
    .optional(),
    Of::new(
        "sack",
        Kind::Flag,
        "Selective acknowledgements are used.",
        |f| f.endpoints.sack.into(),
    ),
    Of::new("timestamps", Kind::Flag, "TCP timestamps are used.", |f| {
        f.endpoints.timestamps.into()
    }),
    Of::new(
        "sender_identification",
        Kind::Choice(Identification::NAMES),
        "How the data's sender numbers its IPv4 packets: a counter of its own for the connection, one of the host's, always zero, at random, or kept when a packet is sent again.",
        |f| f.endpoints.habits.sender_identification.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "sender_tick_ms",
        Kind::Duration,
        "The sender's timestamp clock ticks no sooner than this.",
        |f| f.endpoints.habits.sender_tick_ns.into(),
    )
    .optional()
    .only(Files::Json),
    Of::new(
        "sender_after_timeout",
        Kind::Choice(AfterTimeout::NAMES),
        "What the sender repeats after a time-out: everything means also what had been reported.",
        |f| f.endpoints.habits.after_timeout.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "receiver_identification",
        Kind::Choice(Identification::NAMES),
        "How the data's receiver numbers its IPv4 packets.",
        |f| f.endpoints.habits.receiver_identification.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "receiver_duplicates",
        Kind::Choice(Duplicates::NAMES),
        "Whether the receiver reports duplicates (RFC 2883).",
        |f| f.endpoints.habits.duplicates.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "receiver_too_old",
        Kind::Choice(TooOld::NAMES),
        "What the receiver does with data whose timestamp is too old (RFC 7323 section 5): it reports it as a duplicate, or takes it.",
        |f| f.endpoints.habits.too_old.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "receiver_echo",
        Kind::Choice(Echo::NAMES),
        "Which timestamp the receiver echoes for data above a hole: that of the left edge (RFC 7323 section 4.3), or the newest.",
        |f| f.endpoints.habits.echo.name().into(),
    )
    .only(Files::Json),
    Of::new(
        "mss",
        Kind::Small,
        "Payload bytes of a full segment.",
        |f| f.endpoints.mss.into(),
    ),
    Of::new(
        "min_rtt_ms",
        Kind::Duration,
        "Smallest round-trip time, from the capture point.",
        |f| f.min_rtt_ns.into(),
    )
    .optional(),
    Of::new(
        "data_packets",
        Kind::Count,
        "Original data segments.",
        |f| f.originals.packets.into(),
    )
    .shown("packets", 0),
    Of::new(
        "data_bytes",
        Kind::Bytes,
        "Payload bytes of original segments.",
        |f| f.originals.bytes.into(),
    )
    .shown("data", 4),
    // Files have both times.
    Of::new(
        "duration_ms",
        Kind::Duration,
        "From the first to the last packet.",
        |f| f.last_ns.saturating_sub(f.first_ns).into(),
    )
    .only(Files::None)
    .shown("lasted", 4),
    Of::new(
        "rate_bps",
        Kind::Rate,
        "Payload of original segments over the time from the first to the last packet.",
        |f| f.rate_bps().into(),
    )
    .optional(),
    // Files have it as `cost.goodput_bps`.
    Of::new(
        "goodput",
        Kind::Rate,
        "Payload that arrived over the time that took.",
        |f| f.goodput_bps().into(),
    )
    .optional()
    .only(Files::None)
    .shown("goodput", 0),
    Of::new(
        "late",
        Kind::Count,
        "Late packets: reordering.reordered, and those that came so late that the receiver discarded them.",
        |f| f.late().into(),
    )
    .in_group("late", "packets", 0)
    .adapted(rough),
    // Files have both numbers.
    Of::new(
        "late_ratio",
        Kind::Share,
        "Late packets, of those that arrived.",
        |f| (f.late() as f64 / f.came().max(1) as f64).into(),
    )
    .only(Files::None)
    .in_group("late", "%", 1),
    Of::nested(
        "reordering",
        "Order of arrival at the receiver, or at the capture point where it is there.",
        &Object {
            columns: REORDERING,
            of: |f: &FlowReport| &f.reordering,
        },
    ),
    Of::new(
        "losses",
        Kind::Count,
        "Original transmissions lost; ambiguous ones not counted.",
        |f| f.originals.lost.into(),
    )
    .shown("lost", 0)
    .adapted(rough),
    Of::new(
        "lost_upstream",
        Kind::Count,
        "Of the losses, those before a capture point in the middle: only their retransmissions came by.",
        |f| f.originals.lost_upstream.into(),
    ),
    Of::new(
        "refused",
        Kind::Count,
        "Arrived, and discarded by the receiver although it lacked the bytes (PAWS, window); ambiguous ones \
         not counted.",
        |f| f.originals.refused.into(),
    )
    .shown("refused", 5)
    .adapted(rough),
    Of::new(
        "outside_window",
        Kind::Count,
        "Of the refused, those outside the receiver's window. The others were late: their timestamp was too old.",
        |f| f.originals.outside_window.into(),
    ),
    Of::new(
        "extents_at_most",
        Kind::Count,
        "Late packets whose extent and late time are upper bounds: one acknowledgement reported several arrivals.",
        |f| f.bounds.at_most.into(),
    ),
    Of::new(
        "extents_at_least",
        Kind::Count,
        "Late packets whose extent is a lower bound: packets may have arrived that no acknowledgement showed.",
        |f| f.bounds.at_least.into(),
    ),
    Of::new(
        "undecided",
        Kind::Count,
        "Neither acknowledged nor known lost at the capture's end.",
        |f| f.originals.undecided.into(),
    ),
    Of::new(
        "unfilled",
        Kind::Count,
        "Of these, below segments that had arrived: lost, late or not captured.",
        |f| f.originals.unfilled.into(),
    ),
    Of::new(
        "rough",
        Kind::Flag,
        "Counts are approximate: no SACK, or the capture does not show enough.",
        |f| f.rough.into(),
    ),
    Of::new(
        "not_seen",
        Kind::List(Element::Text),
        "What the capture does not show: vantage, sack-options, the receiver's packets (one-way), the order of the \
         packets (order), whether SACK is in use (sack); or more ranges were missing at once than are remembered \
         (holes). Nothing that rests on it is more than ambiguous.",
        |f| not_seen(f.blind),
    )
    .only(Files::Json),
    Of::new(
        "retransmissions",
        Kind::Count,
        "Segments sent again.",
        |f| f.retransmissions.total.into(),
    )
    .at("retransmissions.total"),
    Of::new("needed", Kind::Count, "The original never arrived.", |f| {
        f.retransmissions.needed.into()
    })
    .at("retransmissions.needed")
    .in_group("retransmissions", "needed", 6),
    Of::new("spurious", Kind::Count, "The original arrived too.", |f| {
        f.retransmissions.spurious.into()
    })
    .at("retransmissions.spurious")
    .in_group("retransmissions", "spurious", 1),
    Of::new(
        "retransmissions_ambiguous",
        Kind::Count,
        "Retransmissions for which it is undecided whether the original arrived.",
        |f| f.retransmissions.ambiguous.into(),
    )
    .at("retransmissions.ambiguous")
    .in_group("retransmissions", "unclear", 6),
    Of::nested(
        "upstream",
        "Order of arrival at a capture point in the middle.",
        &Maybe {
            columns: REORDERING,
            of: |f: &FlowReport| f.upstream.as_deref(),
        },
    ),
    Of::new("bursts", Kind::Count, "Runs of late packets.", |f| {
        f.bursts.count.into()
    })
    .at("bursts.count")
    .only(Files::Json),
    Of::new(
        "burst_lengths",
        Kind::List(Element::Pair),
        "[packets, runs].",
        |f| buckets(&f.bursts.lengths),
    )
    .at("bursts.lengths"),
    Of::nested(
        "by_rate",
        "Reordering by sending rate.",
        &List {
            columns: RATE_CLASS,
            of: |f: &FlowReport| &f.by_rate,
        },
    ),
    Of::new("recoveries", Kind::Count, "Recovery phases.", |f| {
        f.recoveries.total.into()
    })
    .at("recoveries.total")
    .in_group("recoveries", "all", 4),
    Of::new(
        "recoveries_spurious",
        Kind::Count,
        "Nothing retransmitted in them had been lost.",
        |f| f.recoveries.spurious.into(),
    )
    .at("recoveries.spurious")
    .in_group("recoveries", "spurious", 2),
    Of::new(
        "recoveries_ambiguous",
        Kind::Count,
        "Recoveries with undecided cause: whether anything was lost is not known.",
        |f| f.recoveries.ambiguous.into(),
    )
    .at("recoveries.ambiguous"),
    Of::nested(
        "recoveries_by_cause",
        "Recoveries by what the sender reacted to.",
        &List {
            columns: CAUSE_COUNT,
            of: |f: &FlowReport| &f.recoveries.by_cause,
        },
    )
    .at("recoveries.by_cause"),
    Of::nested(
        "recovery_list",
        "Only with --events.",
        &List {
            columns: RECOVERY,
            of: |f: &FlowReport| &f.recoveries.list,
        },
    )
    .at("recoveries.list")
    .only(Files::JsonDetails),
    Of::new(
        "dupthresh",
        Kind::Small,
        "Duplicate-ACK threshold that 95 of 100 late packets stay below, if reordering caused recoveries.",
        |f| f.avoidance.dupthresh.into(),
    )
    .at("avoidance.dupthresh")
    .optional(),
    Of::new(
        "window_ms",
        Kind::Duration,
        "Time after the first duplicate ACK or SACK above a hole that 95 of 100 late packets stay within.",
        |f| f.avoidance.window_ns.into(),
    )
    .at("avoidance.window_ms")
    .optional(),
    Of::nested(
        "cost",
        "Throughput, and what unnecessary reductions of the window cost.",
        &Object {
            columns: COST,
            of: |f: &FlowReport| &f.cost,
        },
    ),
    Of::new(
        "ecn_reductions",
        Kind::Count,
        "Reductions of the window for congestion marks, as the sender says (CWR, RFC 3168).",
        |f| f.ecn_reductions.into(),
    ),
    Of::nested(
        "limits",
        "What limited the transfer, instant by instant.",
        &Object {
            columns: LIMITS,
            of: |f: &FlowReport| &f.limits,
        },
    ),
    Of::new("acks", Kind::Count, "ACKs captured.", |f| {
        f.ack_path.acks.into()
    })
    .at("ack_path.acks"),
    Of::new(
        "acks_reordered",
        Kind::Count,
        "ACKs that were overtaken.",
        |f| f.ack_path.reordered.into(),
    )
    .at("ack_path.reordered"),
    Of::new(
        "acks_missing",
        Kind::Count,
        "ACKs known to be missing.",
        |f| f.ack_path.missing.into(),
    )
    .at("ack_path.missing"),
    Of::new(
        "network_duplicates",
        Kind::Count,
        "Packets that the network delivered twice, as the receiver reports; not known next to the sender.",
        |f| f.network_duplicates.into(),
    ),
    Of::new(
        "duplicated_frames",
        Kind::Count,
        "Frames captured twice.",
        |f| f.artefacts.duplicated_frames.into(),
    )
    .at("artefacts.duplicated_frames"),
    Of::new(
        "swapped_frames",
        Kind::Count,
        "Frames swapped by the capturing host.",
        |f| f.artefacts.swapped_frames.into(),
    )
    .at("artefacts.swapped_frames"),
    Of::new(
        "missing_segments",
        Kind::Count,
        "Acknowledged segments not captured.",
        |f| f.artefacts.missing_segments.into(),
    )
    .at("artefacts.missing_segments"),
    Of::new(
        "time_reversals",
        Kind::Count,
        "Timestamps that ran backwards.",
        |f| f.artefacts.time_reversals.into(),
    )
    .at("artefacts.time_reversals"),
    Of::nested(
        "what_if",
        "What a sorting receiver would have left.",
        &List {
            columns: WHAT_IF,
            of: |f: &FlowReport| &f.what_if,
        },
    ),
    Of::nested("events", "Only with --events.", &EventsOfFlow).only(Files::JsonDetails),
    Of::nested(
        "retransmission_list",
        "Only with --events.",
        &List {
            columns: RETRANSMISSION,
            of: |f: &FlowReport| &f.records.retransmissions,
        },
    )
    .only(Files::JsonDetails),
];
