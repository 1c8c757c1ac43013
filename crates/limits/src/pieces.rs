//! Pieces of time with one limit each, their sums, and the stretches of an output.

use inorder_base::confidence::Confidence;

use super::{LimitSet, MAX_STRETCHES, Share, Stretch};

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

    /// All of them.
    pub(super) fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Nanoseconds before `until_ns` that exactly these limits held.
    pub(super) fn before(&self, until_ns: i64, limits: LimitSet) -> i64 {
        let own = self.list.iter().filter(|piece| piece.limits == limits);
        let ns = own.map(|piece| piece.end_ns.min(until_ns).saturating_sub(piece.start_ns));
        ns.map(|ns| ns.max(0)).fold(0, i64::saturating_add)
    }

    /// What begins before `until_ns` and is called `from` is called `to`, up to that time.
    pub(super) fn rename(self, until_ns: i64, from: LimitSet, to: LimitSet) -> Pieces {
        let mut out = Pieces::default();
        for piece in self.list {
            let Piece {
                start_ns,
                end_ns,
                limits,
                confidence,
            } = piece;
            let mut at = start_ns;
            if limits == from && start_ns < until_ns {
                at = until_ns.min(end_ns);
                out.until(at, to, confidence, start_ns);
            }
            out.until(end_ns, limits, confidence, at);
        }
        out
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
                let sum = &mut by[rank(piece.confidence)];
                *sum = sum.saturating_add(piece.ns());
            }
        }
        let share = |(limits, by): (LimitSet, [i64; 3])| {
            let most = RANKED.into_iter().max_by_key(|c| by[rank(*c)]);
            Share {
                limits,
                ns: by.into_iter().fold(0, i64::saturating_add),
                confidence: most.unwrap_or(Confidence::Likely),
            }
        };
        let mut shares: Vec<Share> = sums.into_iter().map(share).collect();
        shares.sort_by_key(|share| (-share.ns, share.limits));
        shares
    }

    /// At most [`MAX_STRETCHES`] stretches. Where there are more, the shortest are joined with their neighbours, and the joined one has the limit
    /// that held longest.
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
