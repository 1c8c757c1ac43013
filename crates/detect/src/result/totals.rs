//! Sums over flows and streams.

use super::blind::BlindFlows;
use super::{
    AllMoments, Artefacts, Cause, FastOpen, FlowReport, Numbers, Originals, Retransmissions,
    StreamDoubt, StreamReport,
};
use crate::gravity::Gravity;

/// Sums and maxima over any number of flows and streams. They do not depend on the order in which those are added.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Flows that carried data.
    pub flows: u64,
    /// Of these, with reordered packets.
    pub reordered_flows: u64,
    /// Flows with problems ([`FlowReport::has_problems`]).
    pub troubled_flows: u64,
    /// Original data segments.
    pub originals: Originals,
    /// In which order they arrived.
    pub order: OrderTotals,
    /// Data that was sent again.
    pub retransmissions: Retransmissions,
    /// Recovery phases.
    pub recoveries: RecoveryTotals,
    /// How connections were opened, and closed.
    pub openings: Openings,
    /// Packets that the network delivered twice.
    pub network_duplicates: u64,
    /// What the capture itself did.
    pub artefacts: Artefacts,
    /// Flows of which the capture does not show something.
    pub blind: BlindFlows,
    /// The measures by which captures are judged and compared.
    pub measures: AllMoments,
    /// Numbered streams of other services.
    pub streams: StreamTotals,
}

/// Sums and maxima over the arrivals of flows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OrderTotals {
    /// Originals that certainly arrived and were taken.
    pub arrived: u64,
    /// Of these, reordered.
    pub reordered: u64,
    /// Late packets, the ones included that came so late that the receiver discarded them ([`FlowReport::late`]).
    pub late: u64,
    /// Packets that arrived, whether the receiver took or discarded them.
    pub came: u64,
    /// Events that remain ambiguous.
    pub ambiguous: u64,
    /// Greatest extent, packets.
    pub max_extent: u64,
    /// Greatest late time, nanoseconds.
    pub max_late_ns: u64,
}

/// Sums over the recovery phases of flows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RecoveryTotals {
    /// All of them.
    pub total: u64,
    /// Of these, the ones during which no packet had been lost.
    pub spurious: u64,
    /// Started by a retransmission time-out.
    pub timeouts: u64,
    /// How often retransmission timers expired.
    pub expiries: u64,
    /// By cause, in the order of [`Cause::ALL`].
    pub by_cause: [u64; Cause::ALL.len()],
}

/// Sums over what opened and closed the connections.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Openings {
    /// SYNs that were sent again.
    pub syns_again: u64,
    /// Connections whose data in the SYN was not acknowledged with it.
    pub fast_open_refused: u64,
    /// SYN-ACKs that no connection followed.
    pub other_answers: u64,
    /// FINs that were sent again.
    pub fins_again: u64,
    /// Flows whose connection was reset before all data was acknowledged.
    pub cut_off: u64,
}

/// Sums over the numbered streams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamTotals {
    /// Streams.
    pub streams: u64,
    /// Of these, with a trouble ([`Gravity::of_stream`]).
    pub troubled: u64,
    /// Packets received.
    pub received: u64,
    /// Of these, late.
    pub reordered: u64,
    /// Greatest late time, nanoseconds.
    pub max_late_ns: u64,
    /// Packets that never arrived.
    pub missing: u64,
    /// Packets that arrived more than once.
    pub duplicates: u64,
    /// Frames that were captured twice and counted once.
    pub captured_twice: u64,
    /// Silences for which numbers ran on.
    pub pauses: u64,
    /// Numbers that are absent, which is no evidence of loss.
    pub absent: u64,
    /// Streams of whose numbers some are absent because other traffic has them.
    pub shared: u64,
    /// Streams whose absent numbers were lost, or carried elsewhere.
    pub doubtful: u64,
    /// Streams whose numbers do not count.
    pub uncounted: u64,
    /// Events that remain ambiguous.
    pub ambiguous: u64,
}

impl Totals {
    /// Sums over `flows`.
    pub fn of<'a>(flows: impl IntoIterator<Item = &'a FlowReport>) -> Totals {
        let mut totals = Totals::default();
        flows.into_iter().for_each(|flow| totals.add(flow));
        totals
    }

    /// Adds a flow.
    pub fn add(&mut self, flow: &FlowReport) {
        self.flows += 1;
        self.reordered_flows += u64::from(flow.reordering.reordered > 0);
        self.troubled_flows += u64::from(flow.has_problems());
        self.originals.merge(&flow.originals);
        self.order.merge(&OrderTotals::of(flow));
        self.retransmissions.merge(&flow.retransmissions);
        self.recoveries.merge(&RecoveryTotals::of(flow));
        self.openings.merge(&Openings::of(flow));
        self.network_duplicates += flow.path.network_duplicates;
        self.artefacts.merge(&flow.artefacts);
        self.measures.add(flow);
        self.blind.add(flow.blind, flow.rough);
    }

    /// Adds what was summed elsewhere.
    pub fn merge(&mut self, other: &Totals) {
        self.flows += other.flows;
        self.reordered_flows += other.reordered_flows;
        self.troubled_flows += other.troubled_flows;
        self.originals.merge(&other.originals);
        self.order.merge(&other.order);
        self.retransmissions.merge(&other.retransmissions);
        self.recoveries.merge(&other.recoveries);
        self.openings.merge(&other.openings);
        self.network_duplicates += other.network_duplicates;
        self.artefacts.merge(&other.artefacts);
        self.measures.merge(&other.measures);
        self.blind.merge(&other.blind);
        self.streams.merge(&other.streams);
    }
}

impl OrderTotals {
    fn of(flow: &FlowReport) -> Self {
        let order = &flow.reordering;
        OrderTotals {
            arrived: order.received,
            reordered: order.reordered,
            late: flow.late(),
            came: flow.came(),
            ambiguous: order.ambiguous,
            max_extent: order.extents.max().unwrap_or(0),
            max_late_ns: order.late_ns.max().unwrap_or(0),
        }
    }
}

sums!(OrderTotals: arrived, reordered, late, came, ambiguous; max max_extent, max_late_ns);

impl RecoveryTotals {
    fn of(flow: &FlowReport) -> Self {
        let mut by_cause = [0; Cause::ALL.len()];
        for of in &flow.recoveries.by_cause {
            by_cause[of.cause as usize] += of.recoveries;
        }
        RecoveryTotals {
            total: flow.recoveries.total,
            spurious: flow.recoveries.spurious,
            timeouts: flow.timeouts(),
            expiries: flow.expiries(),
            by_cause,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.total += other.total;
        self.spurious += other.spurious;
        self.timeouts += other.timeouts;
        self.expiries += other.expiries;
        for (sum, more) in self.by_cause.iter_mut().zip(other.by_cause) {
            *sum += more;
        }
    }
}

impl Openings {
    fn of(flow: &FlowReport) -> Self {
        let handshake = &flow.endpoints.handshake;
        Openings {
            syns_again: handshake.syns_again,
            fast_open_refused: u64::from(handshake.fast_open == Some(FastOpen::Refused)),
            other_answers: handshake.other_answers,
            fins_again: flow.endpoints.closing.fins_again,
            cut_off: u64::from(flow.was_cut_off()),
        }
    }
}

sums!(Openings: syns_again, fast_open_refused, other_answers, fins_again, cut_off);
sums!(Originals: packets, bytes, lost, lost_upstream, refused, outside_window, reneged, undecided, unfilled);
sums!(Retransmissions: total, needed, spurious, ambiguous);
sums!(Artefacts: duplicated_frames, swapped_frames, missing_segments, time_reversals, time_leaps, foreign_packets);
sums!(StreamTotals: streams, troubled, received, reordered, missing, duplicates, captured_twice, pauses, absent, shared, doubtful,
    uncounted, ambiguous; max max_late_ns);

impl StreamTotals {
    /// Adds a stream.
    pub fn add(&mut self, stream: &StreamReport) {
        let order = &stream.order;
        self.streams += 1;
        self.troubled += u64::from(Gravity::of_stream(stream).worst().is_some());
        self.received += order.received;
        self.reordered += order.reordered;
        self.max_late_ns = self.max_late_ns.max(order.late_ns.max().unwrap_or(0));
        self.missing += stream.skipped.missing;
        self.duplicates += stream.twice.duplicates;
        self.captured_twice += stream.twice.captured_twice;
        self.pauses += stream.skipped.pauses.pauses;
        self.absent = self.absent.saturating_add(stream.skipped.absent);
        let is = |doubt| u64::from(stream.skipped.doubt == Some(doubt));
        self.shared += is(StreamDoubt::OtherTraffic);
        self.doubtful += is(StreamDoubt::LostOrElsewhere);
        self.uncounted += u64::from(stream.numbering.numbers != Numbers::Count);
        self.ambiguous += order.ambiguous;
    }
}
