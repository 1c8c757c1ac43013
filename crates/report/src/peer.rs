//! What a second capture, taken at the other end, says of the first one's conclusions.

use inorder_detect::FlowId;

/// Truth from the other end against what this end inferred.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PeerComparison {
    /// Name of the other capture.
    pub file: String,
    /// Flows found in both captures.
    pub flows: Vec<PeerFlow>,
    /// Flows that only this capture holds.
    pub only_here: Vec<FlowId>,
    /// Flows that only the other capture holds.
    pub only_there: Vec<FlowId>,
}

/// One flow seen at both ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PeerFlow {
    /// Which flow.
    pub flow: FlowId,
    /// Counts with both captures in hand.
    pub truth: PeerCounts,
    /// Counts as inferred from this capture alone.
    pub inferred: PeerCounts,
    /// Reordered packets, packet by packet.
    pub reordered: Score,
    /// Lost packets, packet by packet.
    pub lost: Score,
    /// Spurious retransmissions, one by one.
    pub spurious: Score,
    /// How well the extents agree.
    pub extents: ExtentAgreement,
}

/// What one side knows of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PeerCounts {
    /// Original transmissions.
    pub originals: u64,
    /// Of these, reordered.
    pub reordered: u64,
    /// Of these, lost.
    pub lost: u64,
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
        share(self.true_positives, self.false_positives)
    }

    /// Share of the true that was inferred; `None` when nothing is true.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.false_negatives)
    }

    /// Harmonic mean of precision and recall; `None` when there is nothing on either side.
    pub fn f1(&self) -> Option<f64> {
        share(
            self.true_positives.saturating_mul(2),
            self.false_positives.saturating_add(self.false_negatives),
        )
    }

    fn add(&mut self, other: &Score) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

/// How inferred extents compare with true ones, over the packets both call reordered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ExtentAgreement {
    /// Packets compared.
    pub compared: u64,
    /// Of these, with the same extent.
    pub exact: u64,
    /// Of these, at most one packet apart (the exact ones included).
    pub within_one: u64,
}

impl ExtentAgreement {
    /// Share of exact extents; `None` when nothing was compared.
    pub fn exact_share(&self) -> Option<f64> {
        share(self.exact, self.compared.saturating_sub(self.exact))
    }

    /// Share of extents at most one packet apart; `None` when nothing was compared.
    pub fn within_one_share(&self) -> Option<f64> {
        share(
            self.within_one,
            self.compared.saturating_sub(self.within_one),
        )
    }
}

/// The sum over all flows of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PeerTotal {
    /// Counts with both captures in hand.
    pub truth: PeerCounts,
    /// Counts as inferred.
    pub inferred: PeerCounts,
    /// Reordered packets.
    pub reordered: Score,
    /// Lost packets.
    pub lost: Score,
    /// Spurious retransmissions.
    pub spurious: Score,
    /// Extents.
    pub extents: ExtentAgreement,
}

impl PeerComparison {
    /// All flows together.
    pub fn total(&self) -> PeerTotal {
        let mut total = PeerTotal::default();
        for flow in &self.flows {
            add_counts(&mut total.truth, &flow.truth);
            add_counts(&mut total.inferred, &flow.inferred);
            total.reordered.add(&flow.reordered);
            total.lost.add(&flow.lost);
            total.spurious.add(&flow.spurious);
            total.extents.compared += flow.extents.compared;
            total.extents.exact += flow.extents.exact;
            total.extents.within_one += flow.extents.within_one;
        }
        total
    }
}

fn add_counts(sum: &mut PeerCounts, one: &PeerCounts) {
    sum.originals += one.originals;
    sum.reordered += one.reordered;
    sum.lost += one.lost;
    sum.spurious += one.spurious;
}

/// `part / (part + rest)`, `None` for 0/0.
fn share(part: u64, rest: u64) -> Option<f64> {
    let whole = part as f64 + rest as f64;
    (whole > 0.0).then(|| part as f64 / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_perfect_an_empty_and_a_mixed_comparison() {
        let score = |tp, fp, fn_| Score {
            true_positives: tp,
            false_positives: fp,
            false_negatives: fn_,
        };
        assert_eq!(score(7, 0, 0).f1(), Some(1.0));
        assert_eq!(score(0, 0, 0).f1(), None);
        assert_eq!(score(0, 0, 3).precision(), None);
        assert_eq!(score(0, 0, 3).recall(), Some(0.0));
        let mixed = score(6, 2, 6);
        assert_eq!(mixed.precision(), Some(0.75));
        assert_eq!(mixed.recall(), Some(0.5));
        assert_eq!(mixed.f1(), Some(0.6));
    }
}
