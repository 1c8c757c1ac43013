//! How late the late originals of a young flow are, by agreement.
//!
//! Before any late original has been seen to arrive, nothing says which ACK without cause belongs
//! to which hole. But one lateness makes several pairs agree at once, and others one at most.

use super::CLOCK_NS;
use super::ring::apart;

/// ACKs that something known may have caused make us believe a lateness if chance does no more
/// often than this.
pub(super) const RARELY: f64 = 0.02;
/// Those that something unseen must have caused agree by more than chance.
pub(super) const ALWAYS: f64 = f64::INFINITY;
/// Holes and ACKs looked at.
const MOST: usize = 48;

/// A hole that a retransmission has filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    /// When its ACK was due, had the original come in its turn, nanoseconds.
    pub(super) due_ns: i64,
    /// The latest its ACK may come, nanoseconds.
    pub(super) until_ns: i64,
    pub(super) tsval: u32,
}

/// What holes and ACKs agree on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Agreed {
    /// How late the originals came, nanoseconds.
    pub(super) late_ns: i64,
    /// So many holes.
    pub(super) holes: u32,
}

/// An ACK without cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unexplained {
    pub(super) at_ns: i64,
    pub(super) recent: u32,
}

/// How well a lateness explains holes and ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Vote {
    /// By how much less than the tolerance they differ from it, together.
    weight: i64,
    holes: u32,
}

/// The lateness about which most holes find an ACK, each its own, the nearer within `tolerance_ns`
/// the better: of two that are a segment apart both may explain them all, but one sharply. `None`
/// when it explains fewer than two, another lateness explains as many, or chance would make one
/// up with a probability of more than `most_chance`.
pub(super) fn common_lateness(
    holes: &[Hole],
    acks: &[Unexplained],
    possible: impl Fn(&Hole, &Unexplained) -> bool,
    tolerance_ns: i64,
    most_chance: f64,
) -> Option<Agreed> {
    let holes = &holes[..holes.len().min(MOST)];
    let acks = &acks[..acks.len().min(MOST)];
    let matched = |late: i64| {
        let off = |h: &Hole, a: &Unexplained| apart(a.at_ns.saturating_sub(h.due_ns), late);
        let mut taken = [false; MOST];
        let mut vote = Vote {
            weight: 0,
            holes: 0,
        };
        for hole in holes {
            let free = acks.iter().enumerate().filter(|a| !taken[a.0]);
            let offs = free
                .filter(|(_, a)| possible(hole, a))
                .map(|(i, a)| (off(hole, a), i));
            if let Some((off, i)) = offs.filter(|o| o.0 <= tolerance_ns).min() {
                taken[i] = true;
                vote.holes += 1;
                vote.weight += tolerance_ns - off + 1;
            }
        }
        vote
    };
    let mut votes: Vec<(Vote, i64)> = Vec::new();
    for hole in holes {
        for ack in acks.iter().filter(|a| possible(hole, a)) {
            let late = ack.at_ns.saturating_sub(hole.due_ns);
            votes.push((matched(late), late));
        }
    }
    // Most holes decide; about the same lateness, how sharply.
    let &(vote, around) = votes
        .iter()
        .max_by_key(|v| (v.0.holes, std::cmp::Reverse(v.1)))?;
    let other = |v: &&(Vote, i64)| apart(v.1, around) / 2 > tolerance_ns;
    let rival = votes.iter().filter(other).map(|v| v.0.holes).max();
    let agreed = vote.holes >= 2 && rival.unwrap_or(0) < vote.holes;
    let same = votes.iter().filter(|v| !other(v));
    let &(Vote { holes: most, .. }, best) = same.max_by_key(|v| (v.0, std::cmp::Reverse(v.1)))?;
    // They may agree by much less than they must.
    let late = |h: &Hole, a: &Unexplained| apart(a.at_ns.saturating_sub(h.due_ns), best);
    let nearest = |h: &Hole| {
        acks.iter()
            .filter(|a| possible(h, a))
            .map(|a| late(h, a))
            .min()
    };
    let within = holes
        .iter()
        .filter_map(nearest)
        .filter(|&off| off <= tolerance_ns);
    let within_ns = within.max().unwrap_or(0).max(CLOCK_NS);
    let ways = |h: &Hole| acks.iter().filter(|a| possible(h, a)).count() as f64;
    let each = holes.iter().map(|h| (ways(h), h));
    (agreed && chance(each, within_ns, most) <= most_chance).then_some(Agreed {
        late_ns: best,
        holes: most,
    })
}

/// An upper bound of the probability that `most` holes agree on some lateness by chance, had their
/// ACKs come at any time: each of them proposes one, and each other hole finds an ACK
/// within so much of that as often as its ACKs cover the time it was open (Poisson, first term).
fn chance<'a>(holes: impl Iterator<Item = (f64, &'a Hole)>, within_ns: i64, most: u32) -> f64 {
    let (mut proposals, mut covered) = (0.0, 0.0);
    for (ways, hole) in holes {
        let open_ns = hole.until_ns.saturating_sub(hole.due_ns).max(1) as f64;
        proposals += ways;
        covered += (ways * 2.0 * within_ns as f64 / open_ns).min(1.0);
    }
    (1..most).fold(proposals, |p, others| p * covered / f64::from(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    fn hole(due_us: i64) -> Hole {
        Hole {
            due_ns: due_us * US,
            until_ns: (due_us + 50_000) * US,
            tsval: 0,
        }
    }

    fn ack(at_us: i64) -> Unexplained {
        Unexplained {
            at_ns: at_us * US,
            recent: 9,
        }
    }

    fn possible(h: &Hole, a: &Unexplained) -> bool {
        (h.due_ns..h.until_ns).contains(&a.at_ns)
    }

    #[test]
    fn two_that_agree_outvote_one_that_does_not() {
        // The hole of 3,000 was lost; 20,000 late are the others.
        let holes = [hole(1_000), hole(3_000), hole(8_000)];
        let acks = [ack(21_010), ack(27_990)];
        let late = common_lateness(&holes, &acks, possible, 50 * US, ALWAYS);
        assert!(
            late.is_some_and(|l| (l.late_ns - 20_000 * US).abs() <= 10 * US),
            "{late:?}"
        );
    }

    #[test]
    fn three_that_agree_closely_are_no_chance() {
        let holes = [hole(1_000), hole(3_000), hole(8_000), hole(14_000)];
        let acks = [ack(21_001), ack(28_000), ack(34_000)];
        let late = common_lateness(&holes, &acks, possible, 50 * US, RARELY);
        assert_eq!(late.map(|l| l.holes), Some(3));
    }

    #[test]
    fn where_every_hole_has_many_acks_some_two_agree_by_chance() {
        let holes: Vec<Hole> = (0..8).map(|i| hole(i * 7_777)).collect();
        let acks: Vec<Unexplained> = (0..40).map(|i| ack(9_000 + i * i * 37)).collect();
        assert_eq!(
            common_lateness(&holes, &acks, possible, 50 * US, RARELY),
            None
        );
    }

    #[test]
    fn of_two_a_segment_apart_the_one_that_explains_sharply_is_right() {
        // The third was lost. Were all 120 less late, the first would be, and as many agree.
        let holes = [hole(1_000), hole(1_120), hole(1_240), hole(5_000)];
        let acks = [ack(21_001), ack(21_119), ack(25_000)];
        let late = common_lateness(&holes, &acks, possible, 150 * US, ALWAYS);
        let near = |l: &Agreed| (l.late_ns - 20_000 * US).abs() <= 2 * US;
        assert!(late.is_some_and(|l| near(&l) && l.holes == 3), "{late:?}");
    }

    #[test]
    fn one_alone_and_two_that_are_both_right_prove_nothing() {
        let alone = common_lateness(&[hole(1_000)], &[ack(21_000)], possible, 50 * US, RARELY);
        assert_eq!(alone, None);
        let holes = [hole(1_000), hole(6_000), hole(11_000)];
        let acks = [ack(16_000), ack(21_000)];
        assert_eq!(
            common_lateness(&holes, &acks, possible, 50 * US, RARELY),
            None
        );
    }
}
