//! Which of several causes each of several unexplained ACKs had: a bounded assignment.
//!
//! Radar tracking calls it data association (Reid 1979, "An algorithm for tracking multiple
//! targets"): each plot is one target's or clutter, each target gave one plot or was missed, and
//! the weight of a hypothesis is the product of its likelihood ratios. Here the plots are ACKs, and
//! the targets are originals that may have come to be refused. Hypotheses are grown ACK by ACK and
//! the best [`MAX_HYPOTHESES`] kept, so the work is bounded; what is asked for is not the best hypothesis but
//! how much of all weight agrees on a pair.

use std::collections::BTreeMap;

/// Hypotheses kept after each ACK.
const MAX_HYPOTHESES: usize = 96;
/// Targets of one assignment at most: a bit each.
const MAX_TARGETS: usize = 64;
/// Causes of one ACK that are weighed.
const MAX_CAUSES_PER_ACK: usize = 12;
/// Candidate causes below this likelihood ratio to chance are dropped.
const MIN_RATIO_TO_CHANCE: f64 = 0.005;

/// An ACK and a target that may have caused it, with the ratio of the likelihoods: that the target
/// did, to that it did not and the ACK is clutter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) ack: usize,
    pub(super) target: usize,
    pub(super) ratio: f64,
}

/// How likely each candidate pair is, and how heavy all hypotheses are together.
#[derive(Clone, Debug, Default)]
pub(super) struct Posterior {
    /// Posterior probability of each candidate, in their order.
    pub(super) pairs: Vec<f64>,
    /// Sum of the weights, as a natural logarithm: the evidence for what the ratios assume.
    pub(super) evidence: f64,
}

/// One more ACK: which hypotheses led to which, by which candidate.
struct Step {
    from: usize,
    to: usize,
    weight: f64,
    candidate: Option<usize>,
}

/// Weighs all assignments of `acks` ACKs to targets by `candidates`, which are sorted by ACK.
fn assign(acks: usize, candidates: &[Candidate]) -> Posterior {
    let mut layers: Vec<Vec<Step>> = Vec::with_capacity(acks);
    let mut forward: Vec<Vec<f64>> = vec![vec![1.0]];
    let mut used: Vec<u64> = vec![0];
    let (mut evidence, mut next) = (0.0, 0);
    for ack in 0..acks {
        let first = next;
        while candidates.get(next).is_some_and(|c| c.ack == ack) {
            next += 1;
        }
        let before = forward.last().map_or(&[][..], Vec::as_slice);
        let (states, steps) = grow(&used, before, candidates, first..next);
        let (kept, mut weights, steps) = prune(&states, steps, before);
        // Kept near one, so that no long run of ACKs overflows.
        let sum: f64 = weights.iter().sum();
        evidence += libm::log(sum);
        weights.iter_mut().for_each(|w| *w /= sum);
        (used, _) = (kept, forward.push(weights));
        layers.push(steps);
    }
    Posterior {
        pairs: smooth(&layers, &forward, candidates.len()),
        evidence,
    }
}

/// All continuations of the hypotheses in `used`, which weigh `before`, by one ACK.
fn grow(
    used: &[u64],
    before: &[f64],
    candidates: &[Candidate],
    of_ack: std::ops::Range<usize>,
) -> (Vec<(u64, f64)>, Vec<Step>) {
    let mut index: BTreeMap<u64, usize> = BTreeMap::new();
    let mut states: Vec<(u64, f64)> = Vec::new();
    let mut steps = Vec::new();
    for (from, (&taken, &weight)) in used.iter().zip(before).enumerate() {
        let clutter = std::iter::once((taken, 1.0, None));
        let pairs = of_ack.clone().filter_map(|c| {
            let bit = 1u64 << (candidates[c].target % MAX_TARGETS);
            (taken & bit == 0).then_some((taken | bit, candidates[c].ratio, Some(c)))
        });
        for (state, ratio, candidate) in clutter.chain(pairs) {
            let to = *index.entry(state).or_insert_with(|| {
                states.push((state, 0.0));
                states.len() - 1
            });
            states[to].1 += weight * ratio;
            steps.push(Step {
                from,
                to,
                weight: ratio,
                candidate,
            });
        }
    }
    (states, steps)
}

/// The heaviest states, their weights, and the steps that lead to them.
fn prune(
    states: &[(u64, f64)],
    steps: Vec<Step>,
    before: &[f64],
) -> (Vec<u64>, Vec<f64>, Vec<Step>) {
    let mut order: Vec<usize> = (0..states.len()).collect();
    order.sort_by(|&a, &b| states[b].1.total_cmp(&states[a].1).then(a.cmp(&b)));
    order.truncate(MAX_HYPOTHESES);
    let mut place = vec![usize::MAX; states.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let mut kept = Vec::with_capacity(steps.len());
    for mut step in steps {
        step.to = place[step.to];
        if step.to != usize::MAX && step.from < before.len() {
            kept.push(step);
        }
    }
    let (used, weights) = order.iter().map(|&i| states[i]).unzip();
    (used, weights, kept)
}

/// From the last ACK back: the share of all weight that goes through each candidate.
fn smooth(layers: &[Vec<Step>], forward: &[Vec<f64>], candidates: usize) -> Vec<f64> {
    let mut pairs = vec![0.0; candidates];
    let mut backward = vec![1.0; forward.last().map_or(0, Vec::len)];
    for (steps, before) in layers.iter().zip(forward).rev() {
        let mut earlier = vec![0.0; before.len()];
        let mut through = 0.0;
        for s in steps {
            let weight = s.weight * backward[s.to];
            earlier[s.from] += weight;
            through += before[s.from] * weight;
        }
        for s in steps {
            if let Some(c) = s.candidate {
                pairs[c] += before[s.from] * s.weight * backward[s.to] / through;
            }
        }
        let most = earlier.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        earlier.iter_mut().for_each(|w| *w /= most);
        backward = earlier;
    }
    pairs
}

/// As [`assign`], with the best candidates alone; the others are not likely at all.
pub(super) fn assign_best(acks: usize, candidates: &[Candidate]) -> Posterior {
    let kept = best_of(candidates);
    let few: Vec<Candidate> = kept.iter().map(|&(_, c)| c).collect();
    let told = assign(acks, &few);
    let mut pairs = vec![0.0; candidates.len()];
    for (&(i, _), p) in kept.iter().zip(&told.pairs) {
        pairs[i] = *p;
    }
    Posterior { pairs, ..told }
}

/// The best causes of each ACK, limited to the number of targets that fit into one assignment.
fn best_of(candidates: &[Candidate]) -> Vec<(usize, Candidate)> {
    let mut kept: Vec<(usize, Candidate)> = Vec::new();
    let likely = candidates.iter().copied().enumerate();
    let likely = likely.filter(|(_, c)| c.ratio >= MIN_RATIO_TO_CHANCE);
    let mut of_ack: Vec<(usize, Candidate)> = Vec::new();
    let mut take = |of_ack: &mut Vec<(usize, Candidate)>| {
        of_ack.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio).then(a.0.cmp(&b.0)));
        kept.extend(of_ack.drain(..).take(MAX_CAUSES_PER_ACK));
    };
    for c in likely {
        if of_ack.last().is_some_and(|l| l.1.ack != c.1.ack) {
            take(&mut of_ack);
        }
        of_ack.push(c);
    }
    take(&mut of_ack);
    // Targets by the order in which they are met, so that they fit.
    let mut met: Vec<usize> = Vec::new();
    kept.retain_mut(|(_, c)| {
        let place = met.iter().position(|&t| t == c.target).or_else(|| {
            met.push(c.target);
            (met.len() <= MAX_TARGETS).then_some(met.len() - 1)
        });
        c.target = place.unwrap_or(0);
        place.is_some()
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All assignments, one after another.
    fn by_hand(acks: usize, candidates: &[Candidate]) -> (Vec<f64>, f64) {
        fn go(
            ack: usize,
            acks: usize,
            candidates: &[Candidate],
            chosen: &mut Vec<usize>,
            weight: f64,
            out: &mut (Vec<f64>, f64),
        ) {
            if ack == acks {
                out.1 += weight;
                chosen.iter().for_each(|&c| out.0[c] += weight);
                return;
            }
            go(ack + 1, acks, candidates, chosen, weight, out);
            for (i, c) in candidates.iter().enumerate().filter(|(_, c)| c.ack == ack) {
                if chosen.iter().all(|&o| candidates[o].target != c.target) {
                    chosen.push(i);
                    go(ack + 1, acks, candidates, chosen, weight * c.ratio, out);
                    chosen.pop();
                }
            }
        }
        let mut out = (vec![0.0; candidates.len()], 0.0);
        go(0, acks, candidates, &mut Vec::new(), 1.0, &mut out);
        out.0.iter_mut().for_each(|p| *p /= out.1);
        out
    }

    proptest! {
        #[test]
        fn few_are_weighed_as_if_each_assignment_were_written_down(
            ratios in proptest::collection::vec(0.0f64..20.0, 16),
        ) {
            let all = ratios.iter().enumerate();
            let candidates: Vec<Candidate> = all
                .filter(|(_, r)| **r > 4.0)
                .map(|(i, &ratio)| Candidate { ack: i / 4, target: i % 4, ratio: ratio - 4.0 })
                .collect();
            let told = assign(4, &candidates);
            let (pairs, sum) = by_hand(4, &candidates);
            prop_assert!((told.evidence - sum.ln()).abs() < 1e-9);
            for (a, b) in told.pairs.iter().zip(&pairs) {
                prop_assert!((a - b).abs() < 1e-9, "{:?} {:?}", told.pairs, pairs);
            }
        }
    }

    #[test]
    fn two_acks_and_two_targets_that_fit_alike_are_all_refused_and_no_pair_is_told() {
        let pair = |ack, target| Candidate {
            ack,
            target,
            ratio: 1e6,
        };
        let told = assign(2, &[pair(0, 0), pair(0, 1), pair(1, 0), pair(1, 1)]);
        told.pairs
            .iter()
            .for_each(|p| assert!((p - 0.5).abs() < 1e-5, "{p}"));
    }
}
