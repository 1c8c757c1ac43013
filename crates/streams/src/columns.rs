//! Streams of numbered packets other than TCP.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Files, Kind, List, Maybe, Part};
use inorder_wire::{Endpoint, Service};

use inorder_report::Name;
use inorder_whatif::WHAT_IF;

use crate::{Numbers, Repeats, ReplayWindow, Reported, StreamDoubt, StreamReport, Subflows};

type Of = Column<StreamReport>;

/// `rtp 10.0.0.1:4000->10.0.0.2:4000 id 0x1234`; no port where the protocol has none.
pub fn stream_name(stream: &StreamReport) -> String {
    let end = |end: Endpoint| match (end.as_mac(), end.port) {
        (None, 0) => end.socket_addr().ip().to_string(),
        _ => end.to_string(),
    };
    let service = stream.key.service.name();
    let (src, dst) = (end(stream.key.src), end(stream.key.dst));
    // Above the identifier of an echo is a bit that tells replies from requests.
    let (id, replies) = match stream.key.service {
        Service::IcmpEcho if stream.key.id > 0xffff => (stream.key.id & 0xffff, " (replies)"),
        _ => (stream.key.id, ""),
    };
    format!("{service} {src}->{dst} id {id:#x}{replies}")
}

/// Columns that name the stream to which a row belongs.
pub static STREAM_NAME: &[Column<StreamReport>] = &[Of::new(
    "stream",
    Kind::Text,
    "Service, ends and identifier.",
    |s| stream_name(s).into(),
)];

/// A stream.
pub static STREAM: &[Column<StreamReport>] = &[
    STREAM_NAME[0]
        .only(Files::None)
        .shown("other numbered streams", 0),
    Of::new(
        "service",
        Kind::Text,
        "The service: rtp, esp, wireguard, rocev2, ...",
        |s| s.key.service.name().into(),
    ),
    Of::new(
        "src",
        Kind::Text,
        "Address and port, port 0 where there is none or where it varies; of services below IP the network card's address.",
        |s| s.key.src.to_string().into(),
    ),
    Of::new(
        "dst",
        Kind::Text,
        "The same of the receiver; * if the numbers do not depend on it.",
        |s| s.key.dst.to_string().into(),
    ),
    Of::new(
        "id",
        Kind::Small,
        "What distinguishes streams between the same ends: SSRC, SPI, receiver index, queue pair, ...",
        |s| s.key.id.into(),
    ),
    Of::new("first_ns", Kind::Instant, "First packet.", |s| {
        s.first_ns.into()
    }),
    Of::new("last_ns", Kind::Instant, "Last packet.", |s| {
        s.last_ns.into()
    }),
    // The table has these two between its other columns; files have them among the counts.
    Of::new("packets", Kind::Count, "Packets received.", |s| {
        s.order.received.into()
    })
    .only(Files::None)
    .shown("packets", 0),
    Of::new(
        "numbers",
        Kind::Choice(Numbers::NAMES),
        "Whether the numbers count the packets. If not, nothing is known of their order, loss and duplicates, which are 0: all have the same number (constant), a counter has its bytes in the wrong order (swapped-bytes), each number is a multiple of a step above the one before (steps), they have no order (random), or the sender uses a few of them again and again (again).",
        |s| s.numbering.numbers.name().into(),
    ),
    Of::new(
        "numbers_value",
        Kind::Count,
        "The number that all packets have, the step, or how many numbers there are; none of others.",
        |s| s.numbering.value.into(),
    )
    .optional(),
    Of::new(
        "missing",
        Kind::Count,
        "Numbers skipped that never arrived: lost packets. Those of absent and pause_numbers are not among them.",
        |s| s.skipped.missing.into(),
    )
    .shown("missing", 0),
    Of::new(
        "absent",
        Kind::Count,
        "Numbers skipped that are not in the capture, where that is no evidence of loss.",
        |s| s.skipped.absent.into(),
    ),
    Of::new(
        "doubt",
        Kind::Choice(StreamDoubt::NAMES),
        "Why absent numbers are no evidence of loss: other traffic shares the tunnel, since the TCP in it lacks far less (other-traffic); or more are absent than loss leaves of traffic that goes on, so they were lost, or carried elsewhere, or not captured (lost-or-elsewhere); or the receiver acknowledged them, so the capture lacks their frames (not-captured).",
        |s| s.skipped.doubt.map(|doubt| doubt.name()).into(),
    )
    .optional(),
    Of::new(
        "duplicates",
        Kind::Count,
        "Packets that arrived more than once.",
        |s| s.twice.duplicates.into(),
    )
    .shown("duplicates", 2),
    Of::new(
        "captured_twice",
        Kind::Count,
        "Frames that the capture holds a second time; they are no duplicates.",
        |s| s.twice.captured_twice.into(),
    ),
    Of::new(
        "pauses",
        Kind::Count,
        "Silences of a second or more for which the numbers ran on: the sender paused, or the line was dead.",
        |s| s.skipped.pauses.pauses.into(),
    ),
    Of::new(
        "pause_numbers",
        Kind::Count,
        "Numbers that passed during these.",
        |s| s.skipped.pauses.numbers.into(),
    ),
    Of::new(
        "max_pause_ms",
        Kind::Duration,
        "The longest of these.",
        |s| s.skipped.pauses.max_ns.into(),
    ),
    Of::new(
        "renumbered",
        Kind::Count,
        "How often the sender began new numbers: of RTP without a new SSRC, of a counter at 0 or 1 again.",
        |s| s.renumbered.into(),
    ),
    Of::new("late", Kind::Count, "Reordered packets.", |s| {
        s.order.reordered.into()
    })
    .only(Files::None)
    .in_group("reordered", "packets", 0),
    Of::nested(
        "counts",
        "Packets received and reordered.",
        &Part {
            columns: COUNTS,
            of: |s: &StreamReport| &s.order,
        },
    ),
    Of::nested(
        "metrics",
        "Metrics of RFC 4737 and RFC 5236.",
        &Part {
            columns: METRICS,
            of: |s: &StreamReport| &s.order,
        },
    ),
    Of::new(
        "window_needed",
        Kind::Count,
        "Of services with an anti-replay window: the smallest that refuses no packet for being too old.",
        |s| s.replay.as_ref().map(|r| r.needed).into(),
    )
    .optional()
    .unit("packets")
    .shown("window needed", 5),
    Of::nested(
        "replay_windows",
        "Of services with an anti-replay window: what windows of several sizes would have refused.",
        &List {
            columns: REPLAY_WINDOW,
            of: |s: &StreamReport| s.replay.as_ref().map_or(&[][..], |r| &r.windows),
        },
    ),
    Of::nested(
        "repeats",
        "Packets that say themselves that they are retransmissions (Ultra Ethernet).",
        &Part {
            columns: REPEATS,
            of: |s: &StreamReport| &s.twice.repeats,
        },
    ),
    Of::nested(
        "reported",
        "What the receiver reported (SCTP), if that was captured.",
        &Maybe {
            columns: REPORTED,
            of: |s: &StreamReport| s.reported.as_ref(),
        },
    ),
    Of::nested(
        "multipath",
        "Of Multipath TCP: its subflows, and how long data waited at the receiver for data of other subflows.",
        &Maybe {
            columns: SUBFLOWS,
            of: |s: &StreamReport| s.multipath.as_ref(),
        },
    ),
    Of::nested(
        "what_if",
        "What a sorting receiver would have left, if the stream is out of order.",
        &List {
            columns: WHAT_IF,
            of: |s: &StreamReport| &s.what_if,
        },
    ),
];

/// An anti-replay window laid over a stream.
pub static REPLAY_WINDOW: &[Column<ReplayWindow>] = &[
    Column::new(
        "window",
        Kind::Count,
        "Size of the window: a packet so far below the highest number is refused.",
        |w: &ReplayWindow| w.window.into(),
    )
    .unit("packets")
    .shown("window", 0),
    Column::new(
        "accepts",
        Kind::Share,
        "The window is the smallest that accepts this share of the late packets; none for a size that is in use.",
        |w: &ReplayWindow| w.accepts.into(),
    )
    .optional()
    .shown("accepts of late", 0),
    Column::new(
        "refused",
        Kind::Count,
        "Packets that it would have refused although they had not come before.",
        |w: &ReplayWindow| w.refused.into(),
    )
    .shown("refused", 0),
    Column::new(
        "refused_ratio",
        Kind::Share,
        "The same over all packets.",
        |w: &ReplayWindow| (w.refused as f64 / w.packets.max(1) as f64).into(),
    )
    .shown("of all", 0),
];

/// The subflows of a direction of Multipath TCP.
pub(crate) static SUBFLOWS: &[Column<Subflows>] = &[
    Column::new(
        "subflows",
        Kind::Count,
        "Subflows that carried data.",
        |s: &Subflows| s.subflows.into(),
    ),
    Column::new(
        "late_across_subflows",
        Kind::Count,
        "Late packets that were in order on their own subflow.",
        |s: &Subflows| s.across.into(),
    ),
    Column::new(
        "waited_bytes",
        Kind::Count,
        "Bytes that waited at the receiver until everything before them had come.",
        |s: &Subflows| s.waits.waited_bytes.into(),
    ),
    Column::new(
        "mean_wait_ms",
        Kind::Duration,
        "How long a byte waited on average, those that did not wait included.",
        |s: &Subflows| s.waits.mean_ns().into(),
    ),
    Column::new(
        "p99_wait_ms",
        Kind::Duration,
        "Wait that 99 % of the pieces that waited do not exceed; at most 1/32 too high.",
        |s: &Subflows| s.waits.pieces_ns.quantile(0.99).into(),
    )
    .optional(),
    Column::new(
        "max_wait_ms",
        Kind::Duration,
        "Longest wait.",
        |s: &Subflows| s.waits.max_ns.into(),
    ),
    Column::new(
        "max_queue_bytes",
        Kind::Count,
        "Most bytes that waited at once.",
        |s: &Subflows| s.waits.most_bytes.into(),
    ),
];

/// Retransmissions that are marked as such.
pub static REPEATS: &[Column<Repeats>] = &[
    Column::new(
        "retransmissions",
        Kind::Count,
        "All of them.",
        |r: &Repeats| r.packets.into(),
    ),
    Column::new(
        "needed",
        Kind::Count,
        "Those whose original did not come by: it was lost.",
        |r: &Repeats| r.needed.into(),
    ),
    Column::new(
        "spurious",
        Kind::Count,
        "Those whose number had come by before.",
        |r: &Repeats| r.spurious.into(),
    ),
];

/// What the receiver of a stream reported.
pub(crate) static REPORTED: &[Column<Reported>] = &[
    Column::new(
        "reports",
        Kind::Count,
        "Acknowledgements.",
        |r: &Reported| r.reports.into(),
    ),
    Column::new(
        "with_gaps",
        Kind::Count,
        "Those that report a gap.",
        |r: &Reported| r.with_gaps.into(),
    ),
    Column::new(
        "late",
        Kind::Count,
        "Packets reported missing that arrived later and were captured once: late, not lost.",
        |r: &Reported| r.late.into(),
    ),
    Column::new(
        "repeated",
        Kind::Count,
        "Packets reported missing that were captured again before they arrived: lost, or late and repeated in vain.",
        |r: &Reported| r.repeated.into(),
    ),
    Column::new(
        "duplicates",
        Kind::Count,
        "Packets that arrived more than once, as the receiver counts them.",
        |r: &Reported| r.duplicates.into(),
    ),
];
