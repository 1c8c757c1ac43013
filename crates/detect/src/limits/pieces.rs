//! Pieces of time with one limit each, their sums, and the stretches of an output.

use super::{Limit, LimitSet, MAX_STRETCHES, Share, Stretch};
use crate::result::Confidence;

/// The other limits that a piece may have had held the flow for less than one part of so many of the most frequent one's time.
const OTHERS_AT_MOST: i64 = 10;

/// A piece of time with one limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) limits: LimitSet,
    pub(super) confidence: Confidence,
}

impl Piece {
    fn ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// Pieces in their order, without gaps.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    list: Vec<Piece>,
}

impl Pieces {
    /// The time until `end_ns` is limited so; nothing if that is over.
    pub(super) fn until(
        &mut self,
        end_ns: i64,
        limits: LimitSet,
        confidence: Confidence,
        start_ns: i64,
    ) {
        if end_ns <= start_ns {
            return;
        }
        match self.list.last_mut() {
            Some(last) if last.limits == limits && last.confidence == confidence => {
                last.end_ns = end_ns;
            }
            _ => self.list.push(Piece {
                start_ns,
                end_ns,
                limits,
                confidence,
            }),
        }
    }

    /// Names pieces of which the capture alone does not tell the limit by the rest of the life: if of the limits that a piece may
    /// have had only one held the flow at other times, for as long as such pieces altogether, it is that one.
    pub(super) fn settle(&mut self, among: LimitSet) {
        let own = |limit: Limit| -> i64 {
            let named = self
                .list
                .iter()
                .filter(|piece| piece.limits == limit.into());
            named.map(Piece::ns).sum()
        };
        let times: Vec<(Limit, i64)> = among.iter().map(|limit| (limit, own(limit))).collect();
        let undecided =
            |set: LimitSet| set.only().is_none() && set.iter().all(|l| among.contains(l));
        let open = self.list.iter().filter(|piece| undecided(piece.limits));
        let open: i64 = open.map(Piece::ns).sum();
        let most = times.iter().max_by_key(|time| time.1);
        let Some(&(most, ns)) = most.filter(|most| most.1 > 0) else {
            return;
        };
        let others: i64 = times.iter().map(|time| time.1).sum::<i64>() - ns;
        if ns < open || others.saturating_mul(OTHERS_AT_MOST) > ns {
            return;
        }
        for piece in &mut self.list {
            if undecided(piece.limits) && piece.limits.contains(most) {
                piece.limits = most.into();
            }
        }
    }

    /// All of them.
    pub(super) fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Each limit with its time, the longest first. Of several confidences the one of most of the time counts.
    pub(super) fn shares(&self) -> Vec<Share> {
        let mut sums: Vec<(LimitSet, [i64; 3])> = Vec::new();
        for piece in &self.list {
            let at = sums.iter().position(|sum| sum.0 == piece.limits);
            let at = at.unwrap_or_else(|| {
                sums.push((piece.limits, [0; 3]));
                sums.len() - 1
            });
            if let Some((_, by)) = sums.get_mut(at) {
                by[rank(piece.confidence)] += piece.ns();
            }
        }
        let share = |(limits, by): (LimitSet, [i64; 3])| {
            let most = RANKED.into_iter().max_by_key(|c| by[rank(*c)]);
            Share {
                limits,
                ns: by.iter().sum(),
                confidence: most.unwrap_or(Confidence::Likely),
            }
        };
        let mut shares: Vec<Share> = sums.into_iter().map(share).collect();
        shares.sort_by_key(|share| (-share.ns, share.limits));
        shares
    }

    /// At most [`MAX_STRETCHES`] stretches: of neighbours the shortest ones are joined, and named by what held longest.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let mut list: Vec<Stretch> = self.list.iter().map(stretch).collect();
        join_equal(&mut list);
        let mut least = 1;
        while list.len() > MAX_STRETCHES {
            let mut lengths: Vec<i64> = list.iter().map(length).collect();
            // As many of the shortest as there are too many, at most half of all at once.
            let many = (list.len() - MAX_STRETCHES).min(list.len() / 2).max(1);
            lengths.sort_unstable();
            least = lengths.get(many - 1).map_or(least, |ns| least.max(*ns));
            swallow(&mut list, least, many);
            join_equal(&mut list);
        }
        list
    }
}

const RANKED: [Confidence; 3] = [
    Confidence::Ambiguous,
    Confidence::Likely,
    Confidence::Certain,
];

fn rank(confidence: Confidence) -> usize {
    match confidence {
        Confidence::Ambiguous => 0,
        Confidence::Likely => 1,
        Confidence::Certain => 2,
    }
}

fn stretch(piece: &Piece) -> Stretch {
    Stretch {
        start_ns: piece.start_ns,
        end_ns: piece.end_ns,
        limits: piece.limits,
    }
}

fn length(stretch: &Stretch) -> i64 {
    stretch.end_ns.saturating_sub(stretch.start_ns)
}

/// Up to `many` that are no longer than `least` become part of the longer neighbour.
fn swallow(list: &mut Vec<Stretch>, least: i64, many: usize) {
    let (mut out, mut left): (Vec<Stretch>, usize) = (Vec::with_capacity(list.len()), many);
    for stretch in list.drain(..) {
        match out.last_mut() {
            Some(last) if left > 0 && length(&stretch).min(length(last)) <= least => {
                if length(&stretch) > length(last) {
                    last.limits = stretch.limits;
                }
                last.end_ns = stretch.end_ns;
                left -= 1;
            }
            _ => out.push(stretch),
        }
    }
    *list = out;
}

fn join_equal(list: &mut Vec<Stretch>) {
    list.dedup_by(|next, kept| {
        let equal = next.limits == kept.limits;
        if equal {
            kept.end_ns = next.end_ns;
        }
        equal
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const EITHER: LimitSet = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);

    /// Shares of the pieces with these limits and times, after those that may have been either were settled.
    fn settled(pieces: &[(LimitSet, i64)]) -> Vec<(String, i64)> {
        let (mut list, mut at) = (Pieces::default(), 0);
        for &(limits, ns) in pieces {
            list.until(at + ns, limits, Confidence::Likely, at);
            at += ns;
        }
        list.settle(EITHER);
        let shares = list.shares().into_iter();
        shares
            .map(|share| (share.limits.to_string(), share.ns))
            .collect()
    }

    #[test]
    fn what_may_have_been_either_is_the_one_that_held_the_flow_at_other_times() {
        let (application, line) = (Limit::Application.into(), Limit::Line.into());
        let held = settled(&[(application, 60), (EITHER, 40), (line, 10)]);
        assert_eq!(
            held,
            [("application".to_owned(), 100), ("line".to_owned(), 10)]
        );
        // Too little of it, or both of them: it stays open.
        let seldom = settled(&[(application, 30), (EITHER, 40)]);
        assert_eq!(seldom[0], ("application+send-buffer".to_owned(), 40));
        let both = settled(&[
            (application, 60),
            (EITHER, 40),
            (Limit::SendBuffer.into(), 50),
        ]);
        assert_eq!(both[2], ("application+send-buffer".to_owned(), 40));
    }
}
