//! Sums over the flows and streams of one analysis.

use inorder_detect::{Cause, FlowReport, StreamReport};

use crate::model::Analysis;

/// Sums over the flows and streams of one analysis.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Flows that carried data.
    pub flows: u64,
    /// Of these, with reordered packets.
    pub reordered_flows: u64,
    /// Original data segments.
    pub packets: u64,
    /// Original transmissions (not retransmissions) that certainly arrived.
    pub arrived: u64,
    /// Reordered packets.
    pub reordered: u64,
    /// Greatest extent, packets.
    pub max_extent: u64,
    /// Greatest late time, nanoseconds.
    pub max_late_ns: u64,
    /// Events that remain ambiguous.
    pub ambiguous: u64,
    /// Packets lost.
    pub losses: u64,
    /// Packets that arrived and that the receiver discarded although it lacked them.
    pub refused: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Of these, spurious.
    pub spurious: u64,
    /// Of these, undecided.
    pub unclear: u64,
    /// Recovery phases.
    pub recoveries: u64,
    /// Of these, the ones during which no packet had been lost.
    pub spurious_recoveries: u64,
    /// Of all, those started by a retransmission time-out.
    pub timeouts: u64,
    /// Recoveries by cause, in the order of [`Cause::ALL`].
    pub by_cause: [u64; Cause::ALL.len()],
    /// Numbered streams of other services.
    pub streams: StreamTotals,
}

/// Sums over the numbered streams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamTotals {
    /// Streams.
    pub streams: u64,
    /// Of these, with late, missing or repeated packets.
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
    /// Events that remain ambiguous.
    pub ambiguous: u64,
}

impl Totals {
    /// Sums over flows and streams.
    pub fn of(analysis: &Analysis) -> Totals {
        let mut totals = Totals::default();
        analysis.flows.iter().for_each(|flow| totals.add(flow));
        let streams = &mut totals.streams;
        analysis.streams.iter().for_each(|one| streams.add(one));
        totals
    }

    pub(crate) fn add(&mut self, flow: &FlowReport) {
        let order = &flow.reordering;
        self.flows += 1;
        self.reordered_flows += u64::from(order.reordered > 0);
        self.packets += flow.data_packets;
        self.arrived += order.received;
        self.reordered += order.reordered;
        self.ambiguous += order.ambiguous;
        self.max_extent = self.max_extent.max(order.extents.max().unwrap_or(0));
        self.max_late_ns = self.max_late_ns.max(order.late_ns.max().unwrap_or(0));
        self.losses += flow.losses;
        self.refused += flow.refused;
        self.retransmissions += flow.retransmissions.total;
        self.spurious += flow.retransmissions.spurious;
        self.unclear += flow.retransmissions.ambiguous;
        self.recoveries += flow.recoveries.total;
        self.spurious_recoveries += flow.recoveries.spurious;
        for of in &flow.recoveries.by_cause {
            self.by_cause[of.cause as usize] += of.recoveries;
        }
        self.timeouts += timeouts(flow);
    }
}

impl StreamTotals {
    pub(crate) fn add(&mut self, stream: &StreamReport) {
        let order = &stream.order;
        let troubles = order.reordered + order.ambiguous + stream.missing + stream.duplicates;
        self.streams += 1;
        self.troubled += u64::from(troubles > 0);
        self.received += order.received;
        self.reordered += order.reordered;
        self.max_late_ns = self.max_late_ns.max(order.late_ns.max().unwrap_or(0));
        self.missing += stream.missing;
        self.duplicates += stream.duplicates;
        self.ambiguous += order.ambiguous;
    }
}

/// Retransmission time-outs of a flow; tail loss probes are none, although they wait as long.
pub(crate) fn timeouts(flow: &FlowReport) -> u64 {
    let causes = flow.recoveries.by_cause.iter();
    let real = causes.filter(|c| c.cause != Cause::TailProbe);
    real.map(|c| c.timeouts).sum()
}
