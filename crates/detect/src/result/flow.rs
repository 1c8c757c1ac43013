//! Everything said of one flow: one direction of a connection that carried data.

use super::blind::Blind;
use crate::habits::Habits;
use crate::limits::Limits;
use std::fmt;
use std::net::SocketAddr;

use super::{
    Bounds, Cause, CauseCount, Cost, Distribution, Event, Facts, Handshake, Icmp, RecoveryVerdict,
    Reordering, Retransmission, Shrunk, WhatIf,
};

/// One direction of one connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId {
    /// Sender of the data.
    pub src: SocketAddr,
    /// Receiver of the data.
    pub dst: SocketAddr,
    /// Overlay identifier (VXLAN VNI, GRE key; outside of tunnels it stands for the [`Vlan`](inorder_wire::Vlan)), 0 for
    /// none. Of a connection that was seen in several of them, the first.
    pub overlay: u32,
    /// 0 for the first connection with this 4-tuple, 1 for the next, ...
    pub reuse: u32,
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.src, self.dst)
    }
}

/// Where on the path the capture was taken, seen from the data's direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Vantage {
    /// At or next to the data's sender.
    Sender,
    /// At or next to the data's receiver.
    Receiver,
    /// In between.
    Middle,
}

/// What told the vantage point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum VantageBasis {
    /// The user said so.
    Forced,
    /// The gaps between the three packets of the handshake.
    Handshake,
    /// How soon ACKs follow data and data follow ACKs.
    Timing,
    /// An initial TTL or hop limit that no router has touched.
    Ttl,
    /// On which side of the capture point the packets were lost or late that the receiver reported as missing.
    Missing,
    /// Nothing did; this is the default.
    Unknown,
}

/// The vantage point and how it was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VantageChoice {
    /// Where.
    pub vantage: Vantage,
    /// What told it.
    pub basis: VantageBasis,
    /// Time from capture point to the receiver and back, nanoseconds; `None` if never seen.
    pub to_receiver_ns: Option<i64>,
    /// Time from capture point to the sender and back, nanoseconds; `None` if never seen.
    pub to_sender_ns: Option<i64>,
}

/// Retransmissions by what they were good for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Retransmissions {
    /// All that were captured (and, at a receiver, all that arrived).
    pub total: u64,
    /// The original never arrived, or the receiver refused it.
    pub needed: u64,
    /// The original arrived too.
    pub spurious: u64,
    /// Undecided, or not yet acknowledged at the capture's end.
    pub ambiguous: u64,
}

/// Reordered packets that follow each other closely.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Bursts {
    /// Runs of reordered arrivals with no packet in order between them.
    pub count: u64,
    /// Lengths of the runs, packets.
    pub lengths: Distribution,
}

/// Reordering at one sending rate, averaged over intervals of 250 ms.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct RateClass {
    /// Lower bound of the rate, bits/s; classes are a quarter octave wide.
    pub rate_bps: u64,
    /// Intervals seen in this class.
    pub intervals: u64,
    /// Original segments sent in them; at a receiver, which only sees them come, that came in them.
    pub packets: u64,
    /// Of these, reordered, whenever that became known (16 s of sending later at most).
    pub reordered: u64,
    /// Mean extent of these, packets.
    pub mean_extent: f64,
    /// Mean late time of these, nanoseconds.
    pub mean_late_ns: f64,
    /// These by the octave of their extent in bytes (RFC 4737 section 4.4): its lower bound and packets, ascending.
    /// Packets whose extent is not known are missing.
    pub extent_bytes: Vec<(u64, u64)>,
}

/// One recovery phase: from the first retransmission until everything sent before is acknowledged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recovery {
    /// First retransmission, nanoseconds since the epoch.
    pub start_ns: i64,
    /// Bytes from the flow's first data byte to what was retransmitted first.
    pub seq_offset: u64,
    /// Retransmissions sent in it.
    pub retransmissions: u32,
    /// True when a retransmission time-out, not duplicate ACKs, started it (as far as the
    /// capture shows: nothing newly acknowledged or SACKed for longer than an RTT).
    pub timeout: bool,
    /// Whether anything was lost.
    pub verdict: RecoveryVerdict,
    /// What the sender reacted to.
    pub cause: Cause,
    /// What `crate::cause` goes by.
    pub(crate) facts: Facts,
}

impl Recovery {
    /// One that began at `start_ns`, nanoseconds since the epoch, with the byte `seq_offset`.
    pub fn new(start_ns: i64, seq_offset: u64, verdict: RecoveryVerdict) -> Self {
        Recovery {
            start_ns,
            seq_offset,
            retransmissions: 1,
            timeout: false,
            verdict,
            cause: Cause::Unknown,
            facts: Facts::default(),
        }
    }
}

/// Recovery phases, when the sender cut its rate.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Recoveries {
    /// All.
    pub total: u64,
    /// Nothing retransmitted in them had been lost.
    pub spurious: u64,
    /// Undecided.
    pub ambiguous: u64,
    /// The same by cause, those that occurred, in the order of [`Cause`].
    pub by_cause: Vec<CauseCount>,
    /// Each one, when events are kept.
    pub list: Vec<Recovery>,
}

heap!(Recoveries: by_cause, list);

/// What would have kept the sender from mistaking late for lost, most of the time.
///
/// Only where reordering was the cause of a recovery, and from the late packets that are certain: the
/// value that 95 of 100 of them stay within. `None` where they are fewer than ten.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Avoidance {
    /// Duplicate-ACK threshold, packets (extent + 1; RFC 5681 section 3.2 has 3).
    pub dupthresh: Option<u32>,
    /// Time to wait after the first duplicate ACK or SACK above a hole, nanoseconds (RACK's reordering
    /// window, RFC 8985 section 6.2).
    pub window_ns: Option<i64>,
}

impl Recoveries {
    /// Counts the causes of those listed; others are unknown.
    pub(crate) fn count_causes(&mut self) {
        if self.total == 0 && self.list.is_empty() {
            return self.by_cause.clear(); // As most flows have none, all else is left out.
        }
        let mut counts = Cause::ALL.map(CauseCount::new);
        for phase in &self.list {
            let count = &mut counts[phase.cause as usize];
            count.recoveries += 1;
            count.timeouts += u64::from(phase.timeout);
            count.retransmissions += u64::from(phase.retransmissions);
        }
        let unlisted = self.total.saturating_sub(self.list.len() as u64);
        counts[Cause::Unknown as usize].recoveries += unlisted;
        self.by_cause = counts.into_iter().filter(|c| c.recoveries > 0).collect();
    }

    /// None of the verdicts holds.
    pub(crate) fn doubt(&mut self) {
        (self.spurious, self.ambiguous) = (0, self.total);
        for one in &mut self.list {
            (one.verdict, one.cause) = (RecoveryVerdict::Ambiguous, Cause::Unknown);
        }
        let mut unknown = CauseCount::new(Cause::Unknown);
        for count in self.by_cause.drain(..) {
            unknown.recoveries += count.recoveries;
            unknown.timeouts += count.timeouts;
            unknown.retransmissions += count.retransmissions;
        }
        self.by_cause
            .extend(Some(unknown).filter(|c| c.recoveries > 0));
    }
}

impl Avoidance {
    /// From the certain late packets of a flow whose recoveries have their causes.
    pub(crate) fn of(
        recoveries: &Recoveries,
        extents: &Distribution,
        late_ns: &Distribution,
    ) -> Self {
        const MIN_LATE_PACKETS: u64 = 10;
        const SHARE_AVOIDED: f64 = 0.95;
        let caused = |c: &CauseCount| c.cause == Cause::Reordering && c.recoveries > 0;
        if extents.count() < MIN_LATE_PACKETS || !recoveries.by_cause.iter().any(caused) {
            return Avoidance::default();
        }
        let extent = extents.quantile(SHARE_AVOIDED).unwrap_or(0);
        Avoidance {
            dupthresh: u32::try_from(extent + 1).ok(),
            window_ns: late_ns
                .quantile(SHARE_AVOIDED)
                .and_then(|ns| i64::try_from(ns).ok()),
        }
    }
}

/// Reordering of pure acknowledgements on the way back.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AckPath {
    /// Acknowledgements seen.
    pub acks: u64,
    /// Of these, overtaken by one emitted later.
    pub reordered: u64,
    /// Acknowledgements known to be missing (gaps in the receiver's IP ID), 0 if not knowable.
    pub missing: u64,
}

/// What the capture itself did, kept apart from the network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Artefacts {
    /// Frames captured twice (same IP ID, sequence and acknowledgement number).
    pub duplicated_frames: u64,
    /// Data frames out of order at their own sender: the capturing host swapped them.
    pub swapped_frames: u64,
    /// Acknowledged segments that the capture never saw.
    pub missing_segments: u64,
    /// Timestamps that ran backwards.
    pub time_reversals: u64,
}

/// What a point of the time-sequence diagram shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PointKind {
    /// First transmission of data.
    Data,
    /// Retransmission.
    Retransmission,
    /// Cumulative acknowledgement.
    Ack,
}

/// One point of the time-sequence diagram (thinned evenly when there are too many, except in the stretch with the most
/// retransmissions, late data and duplicate ACKs).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// Bytes from the flow's first data byte.
    pub seq_offset: u64,
    /// What it is.
    pub kind: PointKind,
}

/// What is said of one flow.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct FlowReport {
    /// Which flow.
    pub flow: FlowId,
    /// Where the capture was taken.
    pub vantage: VantageChoice,
    /// First and last packet, nanoseconds since the epoch.
    pub first_ns: i64,
    /// Last packet of the connection.
    pub last_ns: i64,
    /// The SYN was seen: `seq_offset` counts from ISN + 1.
    pub syn_seen: bool,
    /// What the two hosts do that others do otherwise.
    pub habits: Habits,
    /// How the connection was opened.
    pub handshake: Handshake,
    /// SACK was negotiated or seen.
    pub sack: bool,
    /// Timestamps were negotiated or seen.
    pub timestamps: bool,
    /// Payload of a full segment, bytes, as seen on the wire (super-segments are split at it).
    pub mss: u32,
    /// Smallest round trip seen from the capture point, nanoseconds.
    pub min_rtt_ns: Option<i64>,
    /// Original data segments (super-segments split at `mss`), without retransmissions.
    pub data_packets: u64,
    /// Their payload bytes.
    pub data_bytes: u64,
    /// Retransmissions.
    pub retransmissions: Retransmissions,
    /// Original transmissions lost; ambiguous ones not counted.
    pub losses: u64,
    /// Of these, the ones that ICMP explains.
    pub icmp: Icmp,
    /// Full segments arrive only when the sender cuts them; `None` where nothing shows that.
    pub shrunk: Option<Shrunk>,
    /// Original transmissions that arrived and that the receiver discarded although it lacked their
    /// bytes ([`Kind::Refused`](super::Kind::Refused)); ambiguous ones not counted.
    pub refused: u64,
    /// Discarded ones that lay outside the receiver's window. The others were so late that their timestamp was too old.
    pub outside_window: u64,
    /// Original segments neither acknowledged nor known lost when the capture ended.
    pub undecided: u64,
    /// Those below segments that had arrived: they are lost or late, which the capture no longer shows.
    pub unfilled: u64,
    /// Reordering of the originals; packet numbers are estimates from their sizes.
    pub reordering: Reordering,
    /// How many of the extents are bounds.
    pub bounds: Bounds,
    /// From a middle capture: reordering between sender and capture point only.
    pub upstream: Option<Box<Reordering>>,
    /// Counts are approximate: the connection has no SACK (sender side), or the capture does not show enough.
    pub rough: bool,
    /// What the capture does not show.
    pub blind: Blind,
    /// Runs of reordered packets.
    pub bursts: Bursts,
    /// Reordering by sending rate, ascending.
    pub by_rate: Vec<RateClass>,
    /// Recovery phases.
    pub recoveries: Recoveries,
    /// What would have avoided the spurious ones.
    pub avoidance: Avoidance,
    /// Throughput, and what the spurious ones cost.
    pub cost: Cost,
    /// What it waited for, over its life.
    pub limits: Limits,
    /// Reordering of acknowledgements.
    pub ack_path: AckPath,
    /// The capture's own doing.
    pub artefacts: Artefacts,
    /// What sorting would have left (receiver-side captures).
    pub what_if: Vec<WhatIf>,
    /// Every event, when asked for; ordered by `at_ns`.
    pub events: Vec<Event>,
    /// Every retransmission with its verdict, when events are kept.
    pub retransmission_list: Vec<Retransmission>,
    /// Points of the time-sequence diagram, when asked for.
    pub points: Vec<Point>,
    /// The time between which all points are kept, nanoseconds since the epoch: the stretch with the most trouble.
    pub stretch_ns: Option<(i64, i64)>,
}

impl FlowReport {
    /// A report on a flow without packets, to be filled in.
    pub fn new(flow: FlowId, vantage: VantageChoice) -> Self {
        FlowReport {
            flow,
            vantage,
            first_ns: 0,
            last_ns: 0,
            syn_seen: false,
            habits: Habits::default(),
            handshake: Handshake::default(),
            sack: false,
            timestamps: false,
            mss: 0,
            min_rtt_ns: None,
            data_packets: 0,
            data_bytes: 0,
            retransmissions: Retransmissions::default(),
            losses: 0,
            icmp: Icmp::default(),
            shrunk: None,
            refused: 0,
            outside_window: 0,
            undecided: 0,
            unfilled: 0,
            reordering: Reordering::default(),
            bounds: Bounds::default(),
            upstream: None,
            rough: false,
            blind: Blind::default(),
            bursts: Bursts::default(),
            by_rate: Vec::new(),
            recoveries: Recoveries::default(),
            avoidance: Avoidance::default(),
            cost: Cost::default(),
            limits: Limits::default(),
            ack_path: AckPath::default(),
            artefacts: Artefacts::default(),
            what_if: Vec::new(),
            events: Vec::new(),
            retransmission_list: Vec::new(),
            points: Vec::new(),
            stretch_ns: None,
        }
    }

    /// What people call the flow's speed, bits per second: the goodput where arrivals are known and the flow is long
    /// enough to have one, otherwise the rate over the whole connection.
    pub fn goodput_bps(&self) -> Option<u64> {
        /// Minimum number of packets of a flow whose rate is reported: fewer may come in one burst at the rate of the line.
        const MIN_PACKETS: u64 = 100;
        let goodput = self.cost.goodput_bps;
        let long = goodput.filter(|_| self.data_packets >= MIN_PACKETS);
        long.or_else(|| self.rate_bps())
    }

    /// Late originals: the reordered ones that the receiver took, and those that came so late that it discarded them.
    pub fn late(&self) -> u64 {
        let too_late = self.refused.saturating_sub(self.outside_window);
        self.reordering.reordered.saturating_add(too_late)
    }

    /// Originals that arrived, whether the receiver took or discarded them: what [`late`](Self::late) is a share of.
    pub fn came(&self) -> u64 {
        self.reordering.received.saturating_add(self.refused)
    }

    /// Retransmission time-outs; tail loss probes are none, although they wait as long.
    pub fn timeouts(&self) -> u64 {
        let causes = self.recoveries.by_cause.iter();
        let real = causes.filter(|c| c.cause.reduces());
        real.map(|c| c.timeouts).sum()
    }

    /// Payload of original segments, bits per second from the first to the last packet; `None`
    /// for a flow that lasted no time.
    pub fn rate_bps(&self) -> Option<u64> {
        let ns = u128::try_from(self.last_ns.saturating_sub(self.first_ns)).ok()?;
        let bits = u128::from(self.data_bytes) * 8 * 1_000_000_000;
        u64::try_from(bits.checked_div(ns)?).ok()
    }
}
