//! How well the conclusions from one capture agree with a second capture, taken at the other end.

use inorder_detect::FlowId;
use inorder_pairing::{ExtentAgreement, Matched, PeerCounts, PeerReport, Score};

/// Compares what both captures show together with what the first one alone suggested.
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
    /// Of those in `only_here`, the flows that match several flows of the other capture.
    pub ambiguous: Vec<FlowId>,
}

/// One flow seen at both ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PeerFlow {
    /// Which flow.
    pub flow: FlowId,
    /// Its name in the other capture.
    pub there: FlowId,
    /// How the two were matched.
    pub matched: Matched,
    /// What both captures show of it.
    pub found: PeerFound,
}

/// What both captures show together of a flow, or of all flows of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PeerFound {
    /// Counts that use both captures.
    pub truth: PeerCounts,
    /// Counts inferred from the first capture alone.
    pub inferred: PeerCounts,
    /// Reordered packets, packet by packet.
    pub reordered: Score,
    /// Lost packets, packet by packet.
    pub lost: Score,
    /// Packets that the receiver refused, one by one.
    pub refused: Score,
    /// Spurious retransmissions, one by one.
    pub spurious: Score,
    /// How well the extents agree.
    pub extents: ExtentAgreement,
}

impl PeerComparison {
    /// Adds the flows of another part of the comparison.
    pub fn extend(&mut self, part: &PeerReport) {
        self.flows.extend(part.flows.iter().map(|flow| PeerFlow {
            flow: flow.flow,
            there: flow.there,
            matched: flow.matched,
            found: PeerFound {
                truth: (&flow.truth).into(),
                inferred: flow.inferred.unwrap_or_default(),
                reordered: flow.reordered,
                lost: flow.lost,
                refused: flow.refused,
                spurious: flow.spurious,
                extents: flow.extents,
            },
        }));
        self.only_here.extend(&part.only_here);
        self.only_there.extend(&part.only_there);
        self.ambiguous.extend(&part.ambiguous);
    }

    /// All flows together.
    pub fn total(&self) -> PeerFound {
        let mut total = PeerFound::default();
        for PeerFlow { found, .. } in &self.flows {
            add_counts(&mut total.truth, &found.truth);
            add_counts(&mut total.inferred, &found.inferred);
            add_score(&mut total.reordered, &found.reordered);
            add_score(&mut total.lost, &found.lost);
            add_score(&mut total.refused, &found.refused);
            add_score(&mut total.spurious, &found.spurious);
            total.extents.compared += found.extents.compared;
            total.extents.exact += found.extents.exact;
            total.extents.within_one += found.extents.within_one;
        }
        total
    }
}

fn add_score(sum: &mut Score, one: &Score) {
    sum.true_positives += one.true_positives;
    sum.false_positives += one.false_positives;
    sum.false_negatives += one.false_negatives;
}

fn add_counts(sum: &mut PeerCounts, one: &PeerCounts) {
    sum.originals += one.originals;
    sum.reordered += one.reordered;
    sum.lost += one.lost;
    sum.refused += one.refused;
    sum.spurious += one.spurious;
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
