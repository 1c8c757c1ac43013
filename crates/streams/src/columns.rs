//! Streams of numbered packets other than TCP.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Files, columns};
use inorder_whatif::WHAT_IF;
use inorder_wire::Endpoint;

use crate::{Numbers, Repeats, ReplayWindow, Reported, StreamDoubt, StreamReport, Subflows};

/// `rtp 10.0.0.1:4000->10.0.0.2:4000 id 0x1234`; no port where the protocol has none.
pub fn stream_name(stream: &StreamReport) -> String {
    let end = |end: Endpoint| match (end.as_mac(), end.port) {
        (None, 0) => end.socket_addr().ip().to_string(),
        _ => end.to_string(),
    };
    let service = stream.key.service.name();
    let (src, dst) = (end(stream.key.src), end(stream.key.dst));
    let (id, replies) = match stream.key.asker() {
        Some(asker) if stream.key.is_reply() => (asker.id.into(), " (replies)"),
        _ => (stream.key.id, ""),
    };
    format!("{service} {src}->{dst} id {id:#x}{replies}")
}

columns! {
    /// Columns that name the stream to which a row belongs.
    pub STREAM_NAME: StreamReport, |s|
    "stream": Text, "Service, ends and identifier." => stream_name(s);
}

columns! {
    /// A stream. The table has how many packets came and how many of them late between its other columns; files have these among
    /// the counts.
    pub STREAM: StreamReport, |s|
    "stream": Text, "Service, ends and identifier."
        => stream_name(s), only(Files::None), shown("other numbered streams", 0);
    "service": Text, "The service: rtp, esp, wireguard, rocev2, ..." => s.key.service.name();
    "src": Text, "Address and port, port 0 where there is none or where it varies; of services below IP the network card's address."
        => s.key.src.to_string();
    "dst": Text, "The same of the receiver; * if the numbers do not depend on it." => s.key.dst.to_string();
    "id": Small, "What distinguishes streams between the same ends: SSRC, SPI, receiver index, queue pair, ..."
        => s.key.id;
    "first_ns": Instant, "First packet." => s.first_ns;
    "last_ns": Instant, "Last packet." => s.last_ns;
    "packets": Count, "Packets received." => s.order.received, only(Files::None), shown("packets", 0);
    "numbers": Choice(Numbers::NAMES), "Whether the numbers count the packets. If not, nothing is known of their order, loss and duplicates, which are 0: all have the same number (constant), a counter has its bytes in the wrong order (swapped-bytes), each number is a multiple of a step above the one before (steps), they have no order (random), or the sender uses a few of them again and again (again)."
        => s.numbering.numbers.name();
    "numbers_value": Count, "The number that all packets have, the step, or how many numbers there are; none of others."
        => s.numbering.value, optional();
    "missing": Count, "Numbers skipped that never arrived: lost packets. Those of absent and pause_numbers are not among them."
        => s.skipped.missing, shown("missing", 0);
    "absent": Count, "Numbers skipped that are not in the capture, where that is no evidence of loss."
        => s.skipped.absent;
    "doubt": Choice(StreamDoubt::NAMES), "Why absent numbers are no evidence of loss: other traffic shares the tunnel, since the TCP in it lacks far less (other-traffic); or more are absent than loss leaves of traffic that goes on, so they were lost, or carried elsewhere, or not captured (lost-or-elsewhere); or the receiver acknowledged them, so the capture lacks their frames (not-captured); or they answer echo requests that trace a route (route-traced)."
        => s.skipped.doubt.map(StreamDoubt::name), optional();
    "duplicates": Count, "Packets that arrived more than once." => s.twice.duplicates, shown("duplicates", 2);
    "captured_twice": Count, "Frames that the capture holds a second time; they are no duplicates."
        => s.twice.captured_twice;
    "pauses": Count, "Silences of a second or more for which the numbers ran on: the sender paused, or the line was dead."
        => s.skipped.pauses.pauses;
    "pause_numbers": Count, "Numbers that passed during these." => s.skipped.pauses.numbers;
    "max_pause_ms": Duration, "The longest of these." => s.skipped.pauses.max_ns;
    "unanswered": Count, "Echo requests, if there are three or more and no reply to any of them was seen."
        => s.unanswered;
    "renumbered": Count, "How often the sender began new numbers: of RTP without a new SSRC, of a counter at 0 or 1 again."
        => s.renumbered;
    "late": Count, "Reordered packets." => s.order.reordered, only(Files::None), in_group("reordered", "packets", 0);
    "counts": Part(COUNTS), "Packets received and reordered." => &s.order;
    "metrics": Part(METRICS), "Metrics of RFC 4737 and RFC 5236." => &s.order;
    "window_needed": Count, "Of services with an anti-replay window: the smallest that refuses no packet for being too old."
        => s.replay.as_ref().map(|r| r.needed), optional(), unit("packets"), shown("window needed", 5);
    "replay_windows": Rows(REPLAY_WINDOW), "Of services with an anti-replay window: what windows of several sizes would have refused."
        => s.replay.as_ref().map_or(&[][..], |r| &r.windows);
    "repeats": Part(REPEATS), "Packets that say themselves that they are retransmissions (Ultra Ethernet)."
        => &s.twice.repeats;
    "reported": Maybe(REPORTED), "What the receiver reported (SCTP), if that was captured." => s.reported.as_ref();
    "multipath": Maybe(SUBFLOWS), "Of Multipath TCP: its subflows, and how long data waited at the receiver for data of other subflows."
        => s.multipath.as_ref();
    "what_if": Rows(WHAT_IF), "What a sorting receiver would have left, if the stream is out of order." => &s.what_if;
}

columns! {
    /// An anti-replay window laid over a stream.
    pub REPLAY_WINDOW: ReplayWindow, |w|
    "window": Count, "Size of the window: a packet so far below the highest number is refused."
        => w.window, unit("packets"), shown("window", 0);
    "accepts": Share, "The window is the smallest that accepts this share of the late packets; none for a size that is in use."
        => w.accepts, optional(), shown("accepts of late", 0);
    "refused": Count, "Packets that it would have refused although they had not come before."
        => w.refused, shown("refused", 0);
    "refused_ratio": Share, "The same over all packets."
        => w.refused as f64 / w.packets.max(1) as f64, shown("of all", 0);
}

columns! {
    /// The subflows of a direction of Multipath TCP.
    pub(crate) SUBFLOWS: Subflows, |s|
    "subflows": Count, "Subflows that carried data." => s.subflows;
    "late_across_subflows": Count, "Late packets that were in order on their own subflow." => s.across;
    "waited_bytes": Count, "Bytes that waited at the receiver until everything before them had come."
        => s.waits.waited_bytes;
    "mean_wait_ms": Duration, "How long a byte waited on average, those that did not wait included."
        => s.waits.mean_ns();
    "p99_wait_ms": Duration, "Wait that 99 % of the pieces that waited do not exceed; at most 1/32 too high."
        => s.waits.pieces_ns.quantile(0.99), optional();
    "max_wait_ms": Duration, "Longest wait." => s.waits.max_ns;
    "max_queue_bytes": Count, "Most bytes that waited at once." => s.waits.most_bytes;
}

columns! {
    /// Retransmissions that are marked as such.
    pub REPEATS: Repeats, |r|
    "retransmissions": Count, "All of them." => r.packets;
    "needed": Count, "Those whose original did not come by: it was lost." => r.needed;
    "spurious": Count, "Those whose number had come by before." => r.spurious;
}

columns! {
    /// What the receiver of a stream reported.
    pub(crate) REPORTED: Reported, |r|
    "reports": Count, "Acknowledgements." => r.reports;
    "with_gaps": Count, "Those that report a gap." => r.with_gaps;
    "late": Count, "Packets reported missing that arrived later and were captured once: late, not lost." => r.late;
    "repeated": Count, "Packets reported missing that were captured again before they arrived: lost, or late and repeated in vain."
        => r.repeated;
    "duplicates": Count, "Packets that arrived more than once, as the receiver counts them." => r.duplicates;
}
