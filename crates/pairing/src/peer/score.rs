//! What one end inferred, against the truth from both.

use std::collections::BTreeMap;

use super::flow_truth::FlowTruth;
use super::ranges::Ranges;
use super::result::{ExtentAgreement, PeerCounts, PeerFlow, Score};
use inorder_detect::{Confidence, Event, FlowReport, Half, Kind, Verdict};

/// Fills in what `flow` says of `report`.
pub(crate) fn score(flow: &mut PeerFlow, report: &FlowReport) {
    flow.inferred = Some(PeerCounts {
        originals: report.originals.packets,
        reordered: report.reordering.reordered,
        lost: report.originals.lost,
        refused: report.originals.refused,
        spurious: report.retransmissions.spurious,
    });
    let truth = &flow.truth;
    let late = Both::of(truth, report, Kind::Reordered);
    let lost = Both::of(truth, report, Kind::Lost);
    let refused = Both::of(truth, report, Kind::Refused);
    flow.reordered = late.score(false);
    flow.lost = lost.score(false);
    flow.refused = refused.score(false);
    flow.reordered_with_ambiguous = late.score(true);
    flow.lost_with_ambiguous = lost.score(true);
    flow.refused_with_ambiguous = refused.score(true);
    flow.extents = late.extents(|_| true);
    flow.extents_certain = late.extents(|e| e.confidence == Confidence::Certain);
    flow.spurious = spurious(truth, report, |_| true);
    flow.spurious_certain = spurious(truth, report, |c| c == Confidence::Certain);
}

/// Events of one kind, by where the segment begins.
struct Both<'a> {
    truth: BTreeMap<u64, &'a Event>,
    inferred: BTreeMap<u64, &'a Event>,
}

impl<'a> Both<'a> {
    fn of(truth: &'a FlowTruth, report: &'a FlowReport, kind: Kind) -> Self {
        let wanted = |e: &&Event| e.kind == kind && e.half == Half::EndToEnd;
        let by_offset = |e: &'a Event| (e.seq_offset, e);
        // What vanished before the sender's capture point is no event between the captures, and of what the end of
        // the captures leaves open nothing can be right or wrong.
        let mut apart = Ranges::default();
        for &(from, to) in truth.before_capture.iter().chain(&truth.undecided_ranges) {
            apart.add(from as i64, to as i64);
        }
        let judged = |e: &&Event| {
            let at = i64::try_from(e.seq_offset).unwrap_or(i64::MAX - 1);
            !apart.holds(at, at + 1)
        };
        let inferred = report.records.events.iter().filter(wanted).filter(judged);
        Both {
            truth: truth.events.iter().filter(wanted).map(by_offset).collect(),
            inferred: inferred.map(by_offset).collect(),
        }
    }

    fn score(&self, with_ambiguous: bool) -> Score {
        let named = |e: &Event| with_ambiguous || e.confidence != Confidence::Ambiguous;
        let inferred = self.inferred.values().filter(|e| named(e)).count() as u64;
        let hits = self.hits().filter(|(_, e)| named(e)).count() as u64;
        from_counts(self.truth.len() as u64, inferred, hits)
    }

    /// The truth and the inference on each segment that has both.
    fn hits(&self) -> impl Iterator<Item = (&Event, &Event)> {
        let both = |(at, &inferred): (&u64, &&'a Event)| Some((*self.truth.get(at)?, inferred));
        self.inferred.iter().filter_map(both)
    }

    fn extents(&self, of: impl Fn(&Event) -> bool) -> ExtentAgreement {
        let mut agreement = ExtentAgreement::default();
        for (truth, inferred) in self.hits().filter(|(_, e)| of(e)) {
            agreement.compared += 1;
            if let (Some(a), Some(b)) = (truth.extent, inferred.extent) {
                agreement.exact += u64::from(a == b);
                agreement.within_one += u64::from(a.abs_diff(b) <= 1);
            }
        }
        agreement
    }
}

fn from_counts(truth: u64, inferred: u64, hits: u64) -> Score {
    Score {
        true_positives: hits,
        false_positives: inferred.saturating_sub(hits),
        false_negatives: truth.saturating_sub(hits),
    }
}

/// Spurious retransmissions, identified by frame and offset; by their number alone when the
/// report kept no list.
fn spurious(truth: &FlowTruth, report: &FlowReport, of: impl Fn(Confidence) -> bool) -> Score {
    if report.records.retransmissions.is_empty() {
        let (real, inferred) = (
            truth.retransmissions.spurious,
            report.retransmissions.spurious,
        );
        return from_counts(real, inferred, real.min(inferred));
    }
    let mut real: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for r in &truth.retransmission_list {
        if r.verdict == Verdict::Spurious {
            *real.entry((r.frame, r.seq_offset)).or_default() += 1;
        }
    }
    let (mut inferred, mut hits) = (0, 0);
    for r in &report.records.retransmissions {
        if r.verdict != Verdict::Spurious || !of(r.confidence) {
            continue;
        }
        inferred += 1;
        if let Some(left) = real
            .get_mut(&(r.frame, r.seq_offset))
            .filter(|left| **left > 0)
        {
            *left -= 1;
            hits += 1;
        }
    }
    from_counts(truth.retransmissions.spurious, inferred, hits)
}
