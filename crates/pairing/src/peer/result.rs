//! What two captures of the same traffic, one at each end, say together.

use super::flow_truth::FlowTruth;
use inorder_base::named;
use inorder_detect::{FlowId, Vantage};

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

named! {
    /// On what evidence a connection of one capture is one of the other's.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Matched {
        /// Addresses and ports, and no sequence number that speaks against it.
        Addresses = "addresses",
        /// Addresses or ports differ; packets agree in sequence and acknowledgement numbers,
        /// timestamps and SACK blocks.
        Numbers = "numbers",
        /// Addresses or ports differ; both initial sequence numbers agree.
        InitialNumbers = "initial-numbers",
        /// Something on the path numbers anew; packets agree in their distances from the initial
        /// sequence numbers, and in timestamps or, without those, IPv4 identifications.
        Distances = "distances",
    }
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
    /// What the analysed capture alone made of it; `None` without a [`FlowReport`](inorder_detect::FlowReport) of the flow.
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
    /// Extents of the packets both call reordered, of the events marked certain alone.
    pub extents_certain: ExtentAgreement,
    /// Spurious retransmissions, only those whose verdict is certain.
    pub spurious_certain: Score,
    /// Smallest time from one capture point to the other, nanoseconds, by the clock offset
    /// estimated; `None` without one, or when nothing arrived.
    pub one_way_ns: Option<i64>,
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

impl From<&FlowTruth> for PeerCounts {
    /// The counts to set beside the inferred ones.
    fn from(truth: &FlowTruth) -> Self {
        PeerCounts {
            originals: truth.data_packets,
            reordered: truth.reordering.reordered,
            lost: truth.losses,
            refused: truth.refused,
            spurious: truth.retransmissions.spurious,
        }
    }
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
    /// Those compared whose extents differ by at most one packet (the exact ones included).
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
