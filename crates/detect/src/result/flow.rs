//! Everything said of one flow: one direction of a connection that carried data.

use inorder_base::named;
use std::fmt;
use std::net::SocketAddr;

use inorder_limits::Limits;

use super::blind::Blind;
use crate::habits::Habits;

use super::{
    Avoidance, Bounds, CauseCount, Closing, Cost, Distribution, Event, Handshake, Icmp, RateClass,
    Recoveries, Reordering, Retransmission, Shrunk, Swallowed, VantageChoice, WhatIf,
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

impl Retransmissions {
    /// Parts of one retransmission can fill several holes and meet different fates; it counts once, as needed if any of
    /// it was.
    pub(crate) fn split(total: u64, needed: u64, spurious: u64) -> Self {
        let needed = needed.min(total);
        let spurious = spurious.min(total - needed);
        Retransmissions {
            total,
            needed,
            spurious,
            ambiguous: total - needed - spurious,
        }
    }
}

/// Reordered packets that follow each other closely.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Bursts {
    /// Runs of reordered arrivals with no packet in order between them.
    pub count: u64,
    /// Lengths of the runs, packets.
    pub lengths: Distribution,
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
    /// Timestamps that leapt forward, over time that did not pass for the hosts.
    pub time_leaps: u64,
    /// Packets in the name of one of the hosts that it has not sent, and that count nowhere: they came another way than its SYN, and lack the timestamps
    /// on which both hosts had agreed (RFC 7323 section 3.2), or are a few acknowledgements that all others of the host differ from.
    pub foreign_packets: u64,
}

named! {
    /// What a point of the time-sequence diagram shows.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum PointKind {
        /// First transmission of data.
        Data = "data",
        /// Retransmission.
        Retransmission = "retransmission",
        /// Cumulative acknowledgement.
        Ack = "ack",
    }
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

/// What the two ends of a connection use, as far as the capture shows.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Endpoints {
    /// The SYN was seen: `seq_offset` counts from ISN + 1.
    pub syn_seen: bool,
    /// How the connection was opened.
    pub handshake: Handshake,
    /// How its sender closed it.
    pub closing: Closing,
    /// SACK was negotiated or seen.
    pub sack: bool,
    /// Timestamps were negotiated or seen.
    pub timestamps: bool,
    /// Payload of a full segment, bytes, as seen on the wire (super-segments are split at it).
    pub mss: u32,
    /// What they do that others do otherwise.
    pub habits: Habits,
}

/// Original data segments (super-segments split at [`Endpoints::mss`]), without retransmissions, and what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Originals {
    /// All of them.
    pub packets: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// Lost; ambiguous ones not counted.
    pub lost: u64,
    /// Of these, those between the sender and a capture point in the middle: only their retransmissions came by.
    pub lost_upstream: u64,
    /// Arrived, and discarded by the receiver although it lacked their bytes ([`Kind::Refused`](super::Kind::Refused));
    /// ambiguous ones not counted.
    pub refused: u64,
    /// Discarded ones that lay outside the receiver's window.
    pub outside_window: u64,
    /// Discarded ones that it had reported before (RFC 2018 section 8): they are among those received, too.
    pub reneged: u64,
    /// Neither acknowledged nor known to be lost when the capture ended.
    pub undecided: u64,
    /// Of these, the ones below segments that had arrived: they are lost, late or not captured.
    pub unfilled: u64,
}

impl Originals {
    /// Discarded ones that were so late that their timestamp was too old (RFC 7323 section 5).
    pub fn too_old(&self) -> u64 {
        let others = self.outside_window.saturating_add(self.reneged);
        self.refused.saturating_sub(others)
    }
}

/// What the path did with packets, beside losing and delaying them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathFindings {
    /// Of the lost ones, those that ICMP explains.
    pub icmp: Icmp,
    /// Full segments arrive only when the sender cuts them; `None` where nothing shows that.
    pub shrunk: Option<Shrunk>,
    /// What was sent again to the end and never acknowledged is longer than all that was; `None` where nothing shows that.
    pub swallowed: Option<Swallowed>,
    /// Packets that came twice because the network duplicated them, as the receiver reports (RFC 2883 section 4) of what was not sent
    /// again; not known next to the sender.
    pub network_duplicates: u64,
}

/// What is kept one by one, when asked for.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Records {
    /// Every event, ordered by `at_ns`.
    pub events: Vec<Event>,
    /// Every retransmission with its verdict; kept with the events.
    pub retransmissions: Vec<Retransmission>,
    /// Points of the time-sequence diagram.
    pub points: Vec<Point>,
    /// The time between which all points are kept, nanoseconds since the epoch: the stretch with the most trouble.
    pub stretch_ns: Option<(i64, i64)>,
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
    /// The two ends.
    pub endpoints: Endpoints,
    /// Smallest round trip seen from the capture point, nanoseconds.
    pub min_rtt_ns: Option<i64>,
    /// What was sent first.
    pub originals: Originals,
    /// What the path did with packets, beside losing and delaying them.
    pub path: PathFindings,
    /// What was sent again.
    pub retransmissions: Retransmissions,
    /// Reordering of the originals; packet numbers are estimates from their sizes.
    pub reordering: Reordering,
    /// How many of the extents are bounds.
    pub bounds: Bounds,
    /// From a middle capture: reordering between sender and capture point only.
    pub upstream: Option<Box<Reordering>>,
    /// Runs of reordered packets.
    pub bursts: Bursts,
    /// Reordering by sending rate, ascending.
    pub by_rate: Vec<RateClass>,
    /// Counts are approximate: the connection has no SACK (sender side), or the capture does not show enough.
    pub rough: bool,
    /// What the capture does not show.
    pub blind: Blind,
    /// Recovery phases.
    pub recoveries: Recoveries,
    /// What would have avoided the spurious ones.
    pub avoidance: Avoidance,
    /// Throughput, and what the spurious ones cost.
    pub cost: Cost,
    /// Reductions of the window for congestion marks, as the sender says (CWR, RFC 3168); no packet need be lost for them.
    pub ecn_reductions: u64,
    /// What it waited for, over its life.
    pub limits: Limits,
    /// Reordering of acknowledgements.
    pub ack_path: AckPath,
    /// The capture's own doing.
    pub artefacts: Artefacts,
    /// What sorting would have left (receiver-side captures).
    pub what_if: Vec<WhatIf>,
    /// What is kept one by one.
    pub records: Records,
}

impl FlowReport {
    /// A report on a flow without packets, to be filled in.
    pub fn new(flow: FlowId, vantage: VantageChoice) -> Self {
        FlowReport {
            flow,
            vantage,
            first_ns: 0,
            last_ns: 0,
            endpoints: Endpoints::default(),
            min_rtt_ns: None,
            originals: Originals::default(),
            path: PathFindings::default(),
            retransmissions: Retransmissions::default(),
            reordering: Reordering::default(),
            bounds: Bounds::default(),
            upstream: None,
            bursts: Bursts::default(),
            by_rate: Vec::new(),
            rough: false,
            blind: Blind::default(),
            recoveries: Recoveries::default(),
            avoidance: Avoidance::default(),
            cost: Cost::default(),
            ecn_reductions: 0,
            limits: Limits::default(),
            ack_path: AckPath::default(),
            artefacts: Artefacts::default(),
            what_if: Vec::new(),
            records: Records::default(),
        }
    }

    /// What people call the flow's speed, bits per second: the goodput where arrivals are known and the flow is long
    /// enough to have one, otherwise the rate over the whole connection.
    pub fn goodput_bps(&self) -> Option<u64> {
        /// Minimum number of packets of a flow whose rate is reported: fewer may come in one burst at the rate of the line.
        const MIN_PACKETS: u64 = 100;
        let goodput = self.cost.goodput_bps;
        let long = goodput.filter(|_| self.originals.packets >= MIN_PACKETS);
        long.or_else(|| self.rate_bps())
    }

    /// Late originals: the reordered ones that the receiver took, and those that came so late that it discarded them.
    pub fn late(&self) -> u64 {
        let too_old = self.originals.too_old();
        self.reordering.reordered.saturating_add(too_old)
    }

    /// Originals that arrived, whether the receiver took or discarded them: what [`late`](Self::late) is a share of.
    pub fn came(&self) -> u64 {
        let refused = self.originals.refused;
        let refused = refused.saturating_sub(self.originals.reneged);
        self.reordering.received.saturating_add(refused)
    }

    /// Recoveries that a retransmission time-out started; tail loss probes are none, although they wait as long.
    pub fn timeouts(&self) -> u64 {
        self.of_reductions().map(|c| c.timeouts).sum()
    }

    /// How often the retransmission timer expired: more often than recoveries were started by it, where what it sent again was lost,
    /// too.
    pub fn expiries(&self) -> u64 {
        self.of_reductions().map(|c| c.expiries).sum()
    }

    fn of_reductions(&self) -> impl Iterator<Item = &CauseCount> {
        let causes = self.recoveries.by_cause.iter();
        causes.filter(|c| c.cause.reduces())
    }

    /// Payload of original segments, bits per second from the first to the last packet; `None`
    /// for a flow that lasted no time.
    pub fn rate_bps(&self) -> Option<u64> {
        let ns = u128::try_from(self.last_ns.saturating_sub(self.first_ns)).ok()?;
        let bits = u128::from(self.originals.bytes) * 8 * 1_000_000_000;
        u64::try_from(bits.checked_div(ns)?).ok()
    }
}
