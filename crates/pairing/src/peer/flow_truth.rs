//! What happened to a flow, as captures at both of its ends show it.

use inorder_detect::{
    Blind, Bursts, Event, FlowReport, RateClass, Reordering, Retransmission, Retransmissions,
};

/// What happened to the data of one flow between two captures.
///
/// Counts are of segments as on the wire; super-segments are split.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct FlowTruth {
    /// Original transmissions: the first of their bytes.
    pub data_packets: u64,
    /// Their payload bytes.
    pub data_bytes: u64,
    /// Retransmissions; one is needed unless earlier transmissions of all its bytes arrived, at
    /// any time, and the receiver took them. `ambiguous` are those not acknowledged before the captures' end.
    pub retransmissions: Retransmissions,
    /// Spurious ones whose originals arrived, not only an earlier retransmission.
    pub spurious_original: u64,
    /// Originals that never arrived, though acknowledged in the end.
    pub losses: u64,
    /// Originals that arrived and that the receiver discarded although it lacked their bytes.
    pub refused: u64,
    /// Originals that vanished before the sender's capture point (in a queue of the sending host, say):
    /// its capture holds only their retransmissions, which carry a later timestamp or a higher IPv4
    /// identification than data above them. Not among `losses`. From and to, bytes from the flow's
    /// first data byte.
    pub before_capture: Vec<(u64, u64)>,
    /// Originals that were acknowledged although the receiver's capture holds no transmission of
    /// them: that capture is incomplete. What it lacks is neither lost nor late.
    pub not_captured: u64,
    /// Originals that did not arrive and were not acknowledged, or were sent while the other
    /// capture did not run.
    pub undecided: u64,
    /// Where these are, as in `before_capture`: what is inferred of them is neither right nor wrong.
    pub undecided_ranges: Vec<(u64, u64)>,
    /// Reordering of the originals that arrived; times are the receiver's.
    pub reordering: Reordering,
    /// Runs of reordered packets.
    pub bursts: Bursts,
    /// Reordering by arrival rate, ascending.
    pub by_rate: Vec<RateClass>,
    /// Arrivals beyond the number of transmissions: the network (or the capture) doubled them.
    pub network_duplicates: u64,
    /// Arrivals of what the sender's capture does not hold: that capture is incomplete, or something on
    /// the path made them.
    pub unmatched: u64,
    /// Sets of transmissions that agree in every field of which not all arrived: which of them
    /// did is a guess (the first).
    pub uncertain_matches: u64,
    /// Every late, lost or refused original, ordered by time. `frame` is the packet's number in the
    /// analysed capture, `proof_frame` in the other one, 0 where it was not captured; times are
    /// by the analysed capture's clock: of the arrival, or of sending when it was lost.
    pub events: Vec<Event>,
    /// Every retransmission with its verdict, frames and times likewise.
    pub retransmission_list: Vec<Retransmission>,
}

impl FlowTruth {
    /// Puts the truth in the place of what `report` inferred.
    ///
    /// What only an inference can say, or what does not concern the data (vantage, round trip,
    /// acknowledgements, artefacts, what-if, points), stays. Recovery phases stay as well, with
    /// their verdicts by the truth; they are known only if `report` kept its events.
    pub fn replace_in(&self, report: &mut FlowReport) {
        report.originals.packets = self.data_packets;
        report.originals.bytes = self.data_bytes;
        report.retransmissions = self.retransmissions;
        report.originals.lost = self.losses;
        report.originals.refused = self.refused;
        report.originals.outside_window = report.originals.outside_window.min(self.refused);
        let others = self.refused - report.originals.outside_window;
        report.originals.reneged = report.originals.reneged.min(others);
        report.originals.undecided = self.undecided;
        report.reordering = self.reordering.clone();
        report.bounds = Default::default();
        report.upstream = None;
        report.originals.lost_upstream = 0;
        report.rough = false;
        report.blind = Blind::default();
        report.originals.unfilled = 0;
        report.bursts = self.bursts.clone();
        report.by_rate = self.by_rate.clone();
        report.records.events = self.events.clone();
        report.records.retransmissions = self.retransmission_list.clone();
        report.judge_by_records();
    }
}
