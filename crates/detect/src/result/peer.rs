//! What two captures of the same traffic, one at each end, say together.

use crate::cause::{Flow, Mark, RttTrace};
use crate::result::Blind;

use super::{
    Avoidance, Bursts, Cause, Event, FlowId, FlowReport, RateClass, RecoveryVerdict, Reordering,
    Retransmission, Retransmissions, Vantage, Verdict,
};

/// Truth from both ends, and how the inference from one end compares with it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PeerReport {
    /// Flows found in both captures, in the order in which their connections began.
    pub flows: Vec<PeerFlow>,
    /// Flows that only the analysed capture holds.
    pub only_here: Vec<FlowId>,
    /// Flows that only the other capture holds.
    pub only_there: Vec<FlowId>,
    /// Flows of `only_here` that match several flows of the other capture equally well.
    pub ambiguous: Vec<FlowId>,
    /// How far the clocks of the captures are apart; `None` when packets of one direction only
    /// were found in both.
    pub clock: Option<ClockOffset>,
}

/// The other capture's clock minus the analysed one's.
///
/// A packet from here to there cannot have taken less than no time, nor one on the way back: the
/// smallest difference either way bounds the offset. The estimate is the middle, exact when the
/// fastest packets take equally long both ways (as NTP assumes, RFC 5905 section 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockOffset {
    /// Estimate, nanoseconds.
    pub offset_ns: i64,
    /// The truth is within this of the estimate, nanoseconds: half the smallest round trip.
    pub error_ns: i64,
    /// The bounds contradict each other: the clocks drift by more than the round trip.
    pub drifting: bool,
}

/// On what evidence a connection of one capture is one of the other's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Matched {
    /// Addresses and ports, and no sequence number that speaks against it.
    Addresses,
    /// Addresses or ports differ; packets agree in sequence and acknowledgement numbers,
    /// timestamps and SACK blocks.
    Numbers,
    /// Addresses or ports differ; both initial sequence numbers agree.
    InitialNumbers,
    /// Something on the path numbers anew; packets agree in their distances from the initial
    /// sequence numbers, and in timestamps or, without those, IPv4 identifications.
    Distances,
}

/// One flow seen at both ends.
#[derive(Clone, PartialEq, Debug)]
pub struct PeerFlow {
    /// Which flow, named as in the analysed capture.
    pub flow: FlowId,
    /// Its name in the other capture, the same unless something on the path translates.
    pub there: FlowId,
    /// Why the two are taken for one.
    pub matched: Matched,
    /// Which end the analysed capture turned out to be.
    pub here: Vantage,
    /// What happened between the two captures.
    pub truth: FlowTruth,
    /// What the analysed capture alone made of it; `None` without a [`FlowReport`] of the flow.
    pub inferred: Option<PeerCounts>,
    /// Reordered packets, one by one; inferred ones that are ambiguous count as not inferred.
    pub reordered: Score,
    /// Lost packets, likewise.
    pub lost: Score,
    /// Packets that the receiver refused, likewise.
    pub refused: Score,
    /// Spurious retransmissions, one by one.
    pub spurious: Score,
    /// Reordered packets, ambiguous ones counted as inferred.
    pub reordered_with_ambiguous: Score,
    /// Lost packets, ambiguous ones counted as inferred.
    pub lost_with_ambiguous: Score,
    /// Refused packets, ambiguous ones counted as inferred.
    pub refused_with_ambiguous: Score,
    /// Extents of the packets both call reordered, ambiguous ones included.
    pub extents: ExtentAgreement,
    /// The same, of the events marked certain alone.
    pub extents_certain: ExtentAgreement,
    /// Spurious retransmissions, only those whose verdict is certain.
    pub spurious_certain: Score,
    /// Smallest time from one capture point to the other, nanoseconds, by the clock offset
    /// estimated; `None` without one, or when nothing arrived.
    pub one_way_ns: Option<i64>,
}

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
    /// The counts to set beside the inferred ones.
    pub fn counts(&self) -> PeerCounts {
        PeerCounts {
            originals: self.data_packets,
            reordered: self.reordering.reordered,
            lost: self.losses,
            refused: self.refused,
            spurious: self.retransmissions.spurious,
        }
    }

    /// Puts the truth in the place of what `report` inferred.
    ///
    /// What only an inference can say, or what does not concern the data (vantage, round trip,
    /// acknowledgements, artefacts, what-if, points), stays. Recovery phases stay as well, with
    /// their verdicts by the truth; they are known only if `report` kept its events.
    pub fn replace_in(&self, report: &mut FlowReport) {
        report.data_packets = self.data_packets;
        report.data_bytes = self.data_bytes;
        report.retransmissions = self.retransmissions;
        report.losses = self.losses;
        report.refused = self.refused;
        report.outside_window = report.outside_window.min(self.refused);
        report.undecided = self.undecided;
        report.reordering = self.reordering.clone();
        report.bounds = Default::default();
        report.upstream = None;
        report.rough = false;
        report.blind = Blind::default();
        report.unfilled = 0;
        report.bursts = self.bursts.clone();
        report.by_rate = self.by_rate.clone();
        report.events = self.events.clone();
        report.retransmission_list = self.retransmission_list.clone();
        self.judge_recoveries(report);
        let order = &self.reordering;
        report.avoidance = Avoidance::of(&report.recoveries, &order.extents, &order.late_ns);
    }

    fn judge_recoveries(&self, report: &mut FlowReport) {
        let recoveries = &mut report.recoveries;
        if recoveries.list.len() as u64 != recoveries.total {
            return;
        }
        let starts: Vec<i64> = recoveries.list.iter().map(|r| r.start_ns).collect();
        for (i, recovery) in recoveries.list.iter_mut().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(i64::MAX);
            let inside = self
                .retransmission_list
                .iter()
                .filter(|r| (recovery.start_ns..end).contains(&r.at_ns));
            recovery.verdict = verdict_of(inside);
        }
        let mut marks: Vec<Mark> = self.events.iter().map(Mark::of).collect();
        marks.sort_unstable();
        let rtts = RttTrace::default();
        let facts = Flow {
            marks: &marks,
            rtts: &rtts,
            mss: report.mss,
            acks_overtaken: report.ack_path.reordered > 0,
        };
        let inferred: Vec<Cause> = recoveries.list.iter().map(|r| r.cause).collect();
        facts.assign(recoveries, &mut report.retransmission_list);
        // How full the queue was only the inference has seen.
        for (recovery, before) in recoveries.list.iter_mut().zip(inferred) {
            if recovery.cause == Cause::Loss && before.is_loss() {
                recovery.cause = before;
            }
        }
        recoveries.count_causes();
        let count = |v| recoveries.list.iter().filter(|r| r.verdict == v).count() as u64;
        recoveries.spurious = count(RecoveryVerdict::Spurious);
        recoveries.ambiguous = count(RecoveryVerdict::Ambiguous);
    }
}

fn verdict_of<'a>(retransmissions: impl Iterator<Item = &'a Retransmission>) -> RecoveryVerdict {
    let mut verdict = RecoveryVerdict::Ambiguous;
    let mut open = false;
    for r in retransmissions {
        match r.verdict {
            Verdict::Needed => return RecoveryVerdict::Loss,
            Verdict::Spurious => verdict = RecoveryVerdict::Spurious,
            Verdict::Ambiguous => open = true,
        }
    }
    if open {
        RecoveryVerdict::Ambiguous
    } else {
        verdict
    }
}

/// What one side knows of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PeerCounts {
    /// Original transmissions.
    pub originals: u64,
    /// Of these, reordered (ambiguous ones not counted).
    pub reordered: u64,
    /// Of these, lost (ambiguous ones not counted).
    pub lost: u64,
    /// Of these, arrived and refused by the receiver (ambiguous ones not counted).
    pub refused: u64,
    /// Retransmissions whose original arrived.
    pub spurious: u64,
}

/// Agreement of inference and truth over single packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Score {
    /// Inferred and true.
    pub true_positives: u64,
    /// Inferred, not true.
    pub false_positives: u64,
    /// True, not inferred.
    pub false_negatives: u64,
}

impl Score {
    /// Share of the inferred that is true; `None` when nothing was inferred.
    pub fn precision(&self) -> Option<f64> {
        share(
            self.true_positives,
            self.true_positives + self.false_positives,
        )
    }

    /// Share of the true that was inferred; `None` when nothing is true.
    pub fn recall(&self) -> Option<f64> {
        share(
            self.true_positives,
            self.true_positives + self.false_negatives,
        )
    }

    /// Harmonic mean of precision and recall; `None` when there is nothing on either side.
    pub fn f1(&self) -> Option<f64> {
        let both = 2 * self.true_positives;
        share(both, both + self.false_positives + self.false_negatives)
    }
}

/// How inferred extents compare with true ones.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ExtentAgreement {
    /// Packets compared; an extent that is not known agrees with none.
    pub compared: u64,
    /// Those with the same extent in both.
    pub exact: u64,
    /// Of these, at most one packet apart (the exact ones included).
    pub within_one: u64,
}

impl ExtentAgreement {
    /// Share of exact extents; `None` when nothing was compared.
    pub fn exact_share(&self) -> Option<f64> {
        share(self.exact, self.compared)
    }

    /// Share of extents at most one packet apart; `None` when nothing was compared.
    pub fn within_one_share(&self) -> Option<f64> {
        share(self.within_one, self.compared)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_none() {
        let nothing = Score::default();
        assert_eq!(
            (nothing.precision(), nothing.recall(), nothing.f1()),
            (None, None, None)
        );
        assert_eq!(ExtentAgreement::default().exact_share(), None);
        let half = Score {
            true_positives: 2,
            false_positives: 2,
            false_negatives: 2,
        };
        assert_eq!(
            (half.precision(), half.recall(), half.f1()),
            (Some(0.5), Some(0.5), Some(0.5))
        );
    }
}
