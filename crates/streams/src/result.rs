//! Everything said of one stream of numbered packets other than TCP.

use inorder_base::named;
use inorder_metrics::{Distribution, Reordering};
use inorder_wire::StreamKey;

use inorder_whatif::WhatIf;

/// Arrival order of one stream whose packets carry numbers of their own (RTP, ESP, ...).
#[derive(Clone, PartialEq, Debug)]
pub struct StreamReport {
    /// Which stream it is.
    pub key: StreamKey,
    /// First packet, nanoseconds since the epoch.
    pub first_ns: i64,
    /// Last packet, nanoseconds since the epoch.
    pub last_ns: i64,
    /// Order of arrival.
    pub order: Reordering,
    /// Whether its numbers count its packets. If they do not, there is no order, nothing missing and no duplicate.
    pub numbering: Numbering,
    /// Numbers that were skipped.
    pub skipped: Skipped,
    /// What came more than once.
    pub twice: Twice,
    /// How often the sender of RTP began new numbers, without a new SSRC.
    pub renumbered: u64,
    /// The TCP inside, if the stream is a tunnel or a tag.
    pub inside: Option<Box<Inside>>,
    /// Echo requests, if there are three or more and no reply to any of them was seen.
    pub unanswered: u64,
    /// What the receiver reported against the stream; `None` if nothing was captured.
    pub reported: Option<Reported>,
    /// What anti-replay windows would have refused; `None` for services that have none.
    pub replay: Option<Replay>,
    /// What the subflows did to the order of the data, for Multipath TCP.
    pub multipath: Option<Subflows>,
    /// What a sorting receiver would have left, a row for each setting as of a flow; none of a stream in order. The delays of
    /// SRPIC are those from the first packet out of order on.
    pub what_if: Vec<WhatIf>,
}

impl StreamReport {
    /// A stream of which nothing but its times, nanoseconds, and its order is known.
    pub fn new(key: StreamKey, (first_ns, last_ns): (i64, i64), order: Reordering) -> Self {
        Self {
            key,
            first_ns,
            last_ns,
            order,
            numbering: Numbering::default(),
            skipped: Skipped::default(),
            twice: Twice::default(),
            renumbered: 0,
            inside: None,
            unanswered: 0,
            reported: None,
            replay: None,
            multipath: None,
            what_if: Vec::new(),
        }
    }
}

/// Numbers that the stream skipped, and what that says.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Skipped {
    /// Numbers skipped that never arrived: lost packets. Those of `absent` and `pauses` are not among them.
    pub missing: u64,
    /// Numbers skipped that are not in the capture, where that is no evidence of loss; `doubt` says why.
    pub absent: u64,
    /// What is known of the absent numbers; `None` if there are none.
    pub doubt: Option<StreamDoubt>,
    /// Places at which numbers were skipped, as far as their numbers are missing or absent.
    pub skips: u64,
    /// Silences for which the numbers ran on.
    pub pauses: Pauses,
}

impl Skipped {
    /// What these numbers answer was to trace a route.
    pub(crate) fn trace_a_route(&mut self) {
        let paused = std::mem::take(&mut self.pauses).numbers;
        self.absent = self
            .absent
            .saturating_add(self.missing)
            .saturating_add(paused);
        self.missing = 0;
        self.doubt = (self.absent > 0).then_some(StreamDoubt::RouteTraced);
    }
}

/// What came more than once.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Twice {
    /// Packets that arrived more than once.
    pub duplicates: u64,
    /// Frames that the capture holds a second time; they are no duplicates.
    pub captured_twice: u64,
    /// Packets that say themselves that they are retransmissions; they are not part of `order`.
    pub repeats: Repeats,
}

/// What the numbers of a stream are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Numbering {
    /// Whether the numbers count the packets of the stream.
    pub numbers: Numbers,
    /// The number that all packets have, the step between the numbers, or how many are used again and again; `None` of others.
    pub value: Option<u64>,
}

named! {
    /// Whether the numbers of a stream count its packets.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub enum Numbers {
        /// The numbers count the packets, as the standard of the service says.
        #[default]
        Count = "count",
        /// All packets have the same number.
        Constant = "constant",
        /// The sender writes the bytes in the wrong order.
        SwappedBytes = "swapped-bytes",
        /// Each is the same multiple of a step above the one before: the sender counts by it, or the others take other
        /// ways.
        Steps = "steps",
        /// They go back and forth without an order.
        Random = "random",
        /// The sender uses a few numbers again and again, as probes of a monitor do.
        Again = "again",
    }
}

named! {
    /// Why numbers that are absent from a capture are no evidence of loss.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum StreamDoubt {
        /// Other traffic has them: the TCP connections in the tunnel lack far less than its numbers do.
        OtherTraffic = "other-traffic",
        /// More are absent than loss leaves of traffic that goes on, or than the captured part of it can have lost: lost, or carried elsewhere, or
        /// not captured.
        LostOrElsewhere = "lost-or-elsewhere",
        /// The receiver acknowledged them: the capture lacks their frames.
        NotCaptured = "not-captured",
        /// They answer echo requests that trace a route, most of which are not to arrive.
        RouteTraced = "route-traced",
    }
}

/// Silences of at least a second for which the numbers ran on at the sender's pace: it paused, or the line was dead.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pauses {
    /// How many.
    pub pauses: u64,
    /// Numbers that passed meanwhile.
    pub numbers: u64,
    /// Sum of their durations, nanoseconds.
    pub total_ns: u64,
    /// The longest one, nanoseconds.
    pub max_ns: u64,
}

/// The TCP that a stream of tunnel packets carries.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Inside {
    /// Directions of connections, by [`inorder_wire::InnerTcp::name`], a few of them.
    pub connections: Vec<u32>,
    /// Packets with data of these.
    pub data_packets: u64,
}

inorder_base::heap!(Inside: connections);

/// Packets that say that they were sent before (Ultra Ethernet).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Repeats {
    /// All of them.
    pub packets: u64,
    /// Those whose original never came by: it was lost.
    pub needed: u64,
    /// Those whose number had come by before: the original was not lost.
    pub spurious: u64,
}

/// What the receiver of a stream reported, as SCTP's selective acknowledgements do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reported {
    /// Reports.
    pub reports: u64,
    /// Reports with a gap.
    pub with_gaps: u64,
    /// Packets that were reported missing and then arrived, and were captured once: late, not lost.
    pub late: u64,
    /// Packets that were reported missing and were captured more than once before they arrived: lost, or late and
    /// repeated in vain.
    pub repeated: u64,
    /// Packets that arrived more than once, as the receiver counts them.
    pub duplicates: u64,
}

/// The subflows of one direction of a Multipath TCP connection.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Subflows {
    /// How many carried data.
    pub subflows: u64,
    /// Late packets that were in order on their own subflow.
    pub across: u64,
    /// What the receiver's queue did.
    pub waits: Waits,
}

/// How long data waits in a receiver's queue until everything before it has come.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Waits {
    /// Bytes that could be delivered.
    pub bytes: u64,
    /// Of these, bytes that waited.
    pub waited_bytes: u64,
    /// Sum of waiting times over all bytes, nanoseconds.
    pub byte_ns: u128,
    /// Longest wait, nanoseconds.
    pub max_ns: u64,
    /// Waits of the pieces that waited, nanoseconds.
    pub pieces_ns: Distribution,
    /// Most bytes in the queue at once.
    pub most_bytes: u64,
}

impl Waits {
    /// How long a byte waited on average, those that did not wait included, nanoseconds.
    pub fn mean_ns(&self) -> u64 {
        let mean = self.byte_ns / u128::from(self.bytes.max(1));
        u64::try_from(mean).unwrap_or(u64::MAX)
    }
}

/// How far behind the highest number packets came: what an anti-replay window (RFC 4303 section 3.4.3, RFC 6479) of any
/// size would have done.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Replay {
    /// The smallest window that refuses no packet for being too old, packets; 1 if all came in order.
    pub needed: u64,
    /// What some windows would have refused, by size.
    pub windows: Vec<ReplayWindow>,
}

/// A window and what it refuses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReplayWindow {
    /// Its size, packets: a packet that is so far below the highest number, or farther, is refused.
    pub window: u64,
    /// Why it is listed: the share of the late packets that it accepts at least, `None` for a size that is in use.
    pub accepts: Option<f64>,
    /// Packets that it would have refused although they had not come before.
    pub refused: u64,
    /// All packets, to which `refused` refers.
    pub packets: u64,
}
