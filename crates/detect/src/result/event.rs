//! Events: one late, lost or refused segment each, with what it rests on.

use super::{Cause, Confidence};
use inorder_base::named;

named! {
    /// What happened to an original transmission. The kinds exclude each other.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Kind {
        /// It arrived after data sent later (RFC 4737 section 3), and the receiver took it.
        Reordered = "reordered",
        /// It never arrived; a retransmission filled its place.
        Lost = "lost",
        /// It arrived while the receiver lacked its bytes, and the receiver discarded it all the same: its
        /// timestamp was too old (PAWS, RFC 7323 section 5), or it lay outside the window (RFC 9293
        /// section 3.10.7.4). Or it had reported the packet, and then discarded it (RFC 2018 section 8). The bytes had to be sent again.
        Refused = "refused",
    }
}

named! {
    /// What an event rests on.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Evidence {
        /// A hole below SACKed data filled without any retransmission (RFC 2018 section 4).
        Sack = "sack",
        /// A duplicate SACK showed that both copies arrived (RFC 2883 section 5).
        Dsack = "dsack",
        /// The echoed timestamp names the copy that arrived (RFC 7323 section 4.3, RFC 3522 section 3.1).
        Timestamps = "timestamps",
        /// Timestamps named the retransmission, a DSACK later the original: later than one RTT.
        TimestampsDsack = "timestamps-dsack",
        /// The report came sooner than the retransmission could have caused it.
        Timing = "timing",
        /// PAWS discarded an old original (RFC 7323 section 5): seen from the sender, a duplicate
        /// acknowledgement without new information; at the receiver, an arrival with a timestamp older than the one it
        /// echoes, which it went on asking for.
        Paws = "paws",
        /// The receiver discarded what lay beyond the window it had offered (RFC 9293 section 3.10.7.4).
        Window = "window",
        /// The receiver acknowledged what lay below the packet, and not the packet, which it had reported (RFC 2018 section 8).
        Reneging = "reneging",
        /// Duplicate acknowledgements and a cumulative jump, no SACK: approximate.
        CumulativeAck = "cumulative-ack",
        /// It was sent again until the end, and no acknowledgement ever covered it.
        Silence = "silence",
        /// Arrival order at the receiver; originals recognised by the IPv4 identification.
        ArrivalIpId = "arrival-ip-id",
        /// Arrival order at the receiver; originals recognised by timestamps.
        ArrivalTimestamps = "arrival-timestamps",
        /// Arrival order at the receiver; originals recognised by what the sender can have known.
        ArrivalTiming = "arrival-timing",
        /// Seen at both ends.
        Peer = "peer",
        /// An ICMP message about it (RFC 792, RFC 4443).
        Icmp = "icmp",
    }
}

named! {
    /// Why an event is not certain.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Reason {
        /// One acknowledgement reported several arrivals; their order is a guess.
        AckCompression = "ack-compression",
        /// Acknowledgements are missing before the one that reports it.
        AcksMissing = "acks-missing",
        /// More was SACKed than three or four blocks can name: the report may come long after the
        /// arrival.
        BlockLimit = "block-limit",
        /// Which of several transmissions arrived first is undecided.
        WhichCopy = "which-copy",
        /// The connection has no SACK: only fills of the left edge are visible.
        NoSack = "no-sack",
        /// Neither timestamps nor IP identification distinguish original and retransmission.
        LoneCopy = "lone-copy",
        /// Timestamps tick slower than the round trip.
        CoarseClock = "coarse-clock",
        /// The capture lacks what would tell: options cut off, one direction, no vantage point.
        NotSeen = "not-seen",
        /// Nothing acknowledged it by the end of the capture.
        Unanswered = "unanswered",
    }
}

named! {
    /// What an extent says of the true one.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Bound {
        /// It is the true one.
        Exact = "exact",
        /// The true one is no larger, nor was the packet later than said: one acknowledgement reported several arrivals, and this one may
        /// have come before others of them.
        AtMost = "at-most",
        /// The true one is no smaller: meanwhile something may have arrived that no acknowledgement showed.
        AtLeast = "at-least",
        /// It may be off either way.
        About = "about",
    }
}

/// How many late packets are known by a bound of their extent alone.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// [`Bound::AtMost`].
    pub at_most: u64,
    /// [`Bound::AtLeast`].
    pub at_least: u64,
}

named! {
    /// Which part of the path an event belongs to.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Half {
        /// Between sender and receiver.
        EndToEnd = "end-to-end",
        /// Between sender and capture point (receiver-side or middle captures).
        Upstream = "upstream",
    }
}

/// One late or lost original transmission.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Event {
    /// What happened.
    pub kind: Kind,
    /// How sure.
    pub confidence: Confidence,
    /// What it rests on.
    pub evidence: Evidence,
    /// Why it is not certain; `None` when it is.
    pub reason: Option<Reason>,
    /// Which part of the path.
    pub half: Half,
    /// When the capture point learned of the arrival or loss, nanoseconds since the epoch.
    pub at_ns: i64,
    /// Frame number of the original transmission; 0 if it was not captured, or if it is not known
    /// which one it was.
    pub frame: u64,
    /// Frame number of the packet that proves it (the late packet itself, or an ACK).
    pub proof_frame: u64,
    /// Bytes from the flow's first data byte (ISN + 1 when the SYN was seen).
    pub seq_offset: u64,
    /// Payload bytes of the segment.
    pub len: u32,
    /// Reordering extent in packets, RFC 4737 section 4.2; `None` for losses and when unknown. What was
    /// refused has one, too, where its place among the arrivals is known. [`Event::extent_is`] says what it bounds.
    pub extent: Option<u32>,
    /// Byte offset, RFC 4737 section 4.4.
    pub extent_bytes: Option<u64>,
    /// Late time offset in nanoseconds, RFC 4737 section 4.3; from a sender-side capture, the
    /// time between the ACKs that report the first larger segment and this one.
    pub late_ns: Option<i64>,
    /// What the extent and the late time bound; those of an event that is certain are exact where this says nothing else.
    pub bound: Bound,
}

impl Event {
    /// What its extent says of the true one; `None` if there is none.
    pub fn extent_is(&self) -> Option<Bound> {
        self.extent.map(|_| match (self.confidence, self.bound) {
            (Confidence::Certain, Bound::About) => Bound::Exact,
            (_, bound) => bound,
        })
    }

    /// An event of the whole path at frame and time 0, to be filled in.
    pub fn new(kind: Kind, confidence: Confidence, evidence: Evidence) -> Self {
        Event {
            kind,
            confidence,
            evidence,
            reason: None,
            half: Half::EndToEnd,
            at_ns: 0,
            frame: 0,
            proof_frame: 0,
            seq_offset: 0,
            len: 0,
            extent: None,
            extent_bytes: None,
            late_ns: None,
            bound: Bound::About,
        }
    }
}

named! {
    /// What a retransmission was good for.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Verdict {
        /// Its original never arrived, or the receiver refused it.
        Needed = "needed",
        /// Its original arrived too, and the receiver took it.
        Spurious = "spurious",
        /// Undecided.
        Ambiguous = "ambiguous",
    }
}

/// One captured retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retransmission {
    /// Frame number of the retransmission.
    pub frame: u64,
    /// When it was captured, nanoseconds since the epoch.
    pub at_ns: i64,
    /// Bytes from the flow's first data byte.
    pub seq_offset: u64,
    /// Payload bytes.
    pub len: u32,
    /// Needed, spurious or ambiguous.
    pub verdict: Verdict,
    /// How sure the verdict is: of a spurious one, that an earlier transmission had arrived; of one that was needed, as
    /// sure as that its original was lost or refused.
    pub confidence: Confidence,
    /// Why it was sent.
    pub cause: Cause,
}
