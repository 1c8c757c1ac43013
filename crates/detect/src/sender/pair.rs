//! Two arrivals of one segment: which transmissions were they?
//!
//! A DSACK says that a segment came twice. The original was late, or never came; a retransmission
//! comes after a round trip, or late by as much as originals are, for it takes the same path. What
//! fits the times of both arrivals best is taken to be so.

use super::filled::Filled;
use super::timing::Timing;

/// What the two arrivals were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pair {
    /// The original, then a retransmission.
    OriginalFirst,
    /// A retransmission, then the original.
    OriginalSecond,
    /// Two retransmissions: the original is lost.
    CopiesOnly,
}

/// The best explanation of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    pub(super) pair: Pair,
    /// Another one fits nearly as well.
    pub(super) close: bool,
}

impl Timing {
    /// Of what the first report and a DSACK that comes at `now` were about; `by_copy` says that the
    /// first was a retransmission, `often` that many packets are late. `None` while it is not known how late is
    /// usual, or if nothing fits.
    pub(super) fn who_came(
        &self,
        f: &Filled,
        now: i64,
        (by_copy, often): (bool, bool),
    ) -> Option<Guess> {
        let (_, spread) = self.usual_lateness()?;
        // What is rarer, a retransmission that is late or an original that is lost, must fit
        // better by this.
        let rare = spread.saturating_mul(2).saturating_add(self.jitter());
        let due = self.due(f.due_ns, f.place.sent_ns);
        let original = |at: i64| {
            let late = at.saturating_sub(due);
            self.off_usual(late, late).filter(|_| late >= 0)
        };
        let copies = [f.copies.first_ns, f.copies.last_ns];
        // Where many are late, retransmissions are, too.
        let late_copy = if often { 0 } else { rare };
        let copy = |at: i64| copies.map(|sent| self.off_copy(sent, at, late_copy));
        let any = |at: i64| copy(at).into_iter().flatten().min();
        let (first, second) = (f.reported_ns, now);
        let sum = |a: Option<i64>, b: Option<i64>| Some(a?.saturating_add(b?));
        let crossed = |one: [Option<i64>; 2], other: [Option<i64>; 2]| {
            let ways = [sum(one[0], other[1]), sum(one[1], other[0])];
            sum(ways.into_iter().flatten().min(), Some(rare))
        };
        let only = f.copies.count > 1 && f.duplicates < f.copies.count;
        let mut fits = [
            (
                Pair::OriginalFirst,
                sum(original(first), any(second)).filter(|_| !by_copy),
            ),
            (Pair::OriginalSecond, sum(any(first), original(second))),
            (
                Pair::CopiesOnly,
                crossed(copy(first), copy(second)).filter(|_| only),
            ),
        ];
        fits.sort_by_key(|fit| fit.1.unwrap_or(i64::MAX));
        let best = fits[0].1?;
        let next = fits[1].1.unwrap_or(i64::MAX);
        Some(Guess {
            pair: fits[0].0,
            close: next.saturating_sub(best) < rare,
        })
    }

    /// How far from what is usual a retransmission sent at `sent` would be if its ACK came at `at`;
    /// `None` if it cannot have been there and back.
    fn off_copy(&self, sent: i64, at: i64, rare: i64) -> Option<i64> {
        let rtt = self.min_rtt?;
        let usual = self.usual_from(rtt);
        let took = at.saturating_sub(sent);
        if took < rtt - rtt / 64 {
            return None;
        }
        let prompt = took.saturating_sub(usual).max(0);
        let late = self.off_usual(took.saturating_sub(usual), took.saturating_sub(rtt));
        let late = late.map_or(i64::MAX, |off| off.saturating_add(rare));
        Some(prompt.min(late))
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;

    const MS: i64 = 1_000_000;

    /// The original is sent at 0, retransmissions at `copies` (ms), a round trip takes 10 ms, and
    /// late ones are `late` ms late, eight of each. Reports at `first` and `second`.
    fn guess(
        (copies, late): (&[i64], &[i64]),
        (first, second): (i64, i64),
        told: (bool, bool),
    ) -> Option<Guess> {
        let mut timing = Timing::default();
        timing.note_rtt(10 * MS);
        let habits = late
            .iter()
            .flat_map(|ms| (0..8).map(move |i| ms * MS + i * 1_000));
        habits.for_each(|ns| timing.lateness.push(ns));
        let mut board = Board::default();
        board.insert(0, 1_000, 0, 1, 0);
        for &at in copies {
            board.retransmitted(0, at * MS, 0, 0, true);
        }
        let (sent, copies) = board.pop_acked(1_000)?;
        let report = segment!(ts_ns: first * MS);
        let mut filled = Filled::by_copy(&sent, copies?, &report, 10 * MS);
        filled.duplicates = 1;
        timing.who_came(&filled, second * MS, told)
    }

    fn who(copies: &[i64], first: i64, second: i64) -> Option<Pair> {
        let guess = guess((copies, &[20]), (first, second), (false, false))?;
        Some(guess.pair)
    }

    #[test]
    fn the_times_of_both_arrivals_tell_which_transmissions_they_were() {
        // The original is due at 10 and comes at 30, if late; a copy 10 after it was sent.
        assert_eq!(who(&[15], 25, 30), Some(Pair::OriginalSecond));
        assert_eq!(who(&[25], 30, 35), Some(Pair::OriginalFirst));
        // Both are late.
        assert_eq!(who(&[15], 30, 45), Some(Pair::OriginalFirst));
        // The original never came: both copies did, the first of them late.
        assert_eq!(who(&[15, 36], 45, 46), Some(Pair::CopiesOnly));
        assert_eq!(who(&[15, 26], 25, 36), Some(Pair::CopiesOnly));
        assert_eq!(who(&[15], 16, 17), None);
    }

    #[test]
    fn where_many_are_late_a_late_retransmission_is_as_good_a_guess() {
        // The first retransmission was on time. At 61 the original is 51 ms late, or the second one 20 ms.
        let sent = ([15, 31].as_slice(), [20, 50].as_slice());
        let told = |often| guess(sent, (25, 61), (true, often)).map(|g| (g.pair, g.close));
        assert_eq!(told(false), Some((Pair::OriginalSecond, false)));
        assert_eq!(told(true), Some((Pair::OriginalSecond, true)));
    }
}
