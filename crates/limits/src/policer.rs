//! Whether a policer drops what exceeds its rate.
//!
//! A policer is a bucket of tokens without a queue: it fills at a rate, each packet that passes takes its bytes, and what
//! finds too few is dropped. So between two losses as much passes as the bucket got, wherever they come; in between the
//! bucket fills, because the sender is slower after a loss; and what passes next to a loss has not waited, as it would have
//! in a queue that holds as much. After Flach and others, "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM 2016).

use super::rounds::Row;
use super::{Limit, LimitSet, Loss, Share};

/// Losses further apart than this number of round trips were made by a bucket that had become empty again in between.
const APART_RTTS: i64 = 2;
/// A policer is recognised if its bucket became empty at least this often: the rates between fewer times may agree by chance.
const MIN_TIMES: usize = 8;
/// This number of times is enough below a line whose rate is known, if the rates between all of them agree. Of senders that lose packets at random, in the tests below,
/// one in 4,000 is so regular.
const MIN_TIMES_THAT_AGREE: usize = 4;
/// Then the rates differ by this share of their median at most.
const MAX_RANGE: f64 = 0.05;
/// Time after which a loss is repaired, in halves of a round trip.
const REPAIRED_HALF_RTTS: i64 = 3;
/// Between two such times at least this many segments pass: where only single packets pass between losses, there is no rate.
const MIN_SEGMENTS: f64 = 3.0;
/// The rates between such times agree if their upper and lower quartile are no further apart than this share of the median.
const MAX_SPREAD: f64 = 0.1;
/// The times without losses (what is longer than the shortest possible) are even if their quartiles are no further apart than this share of
/// the median. Where losses come at random, it is 1.6.
const MAX_UNEVEN: f64 = 0.9;
/// Of the line's rate: what comes closer to it may be the line itself.
const MAX_OF_LINE: f64 = 0.9;
/// Tokens left at losses, of what passes in between; and in segments.
const MAX_LEFT: f64 = 0.03;
const MAX_LEFT_SEGMENTS: f64 = 1.0;
/// In a full queue of this rate packets next to losses would wait for one packet at least. They waited less than this share
/// of that, or than this share of the time that the line needs for what the bucket held.
const MAX_WAITED_FOR_PACKET: f64 = 0.5;
const MAX_WAITED_FOR_HELD: f64 = 0.15;
/// An application or a window that held the sender for more of its life makes losses come at a rate of its own.
const MAX_HELD_BY_OTHERS: f64 = 0.25;

/// What the losses of a flow are held against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course<'a> {
    pub(crate) losses: &'a [Loss],
    pub(crate) rows: &'a [Row],
    /// The shortest round trip, nanoseconds.
    pub(crate) rtt_ns: i64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: f64,
    /// Rate of the line, bits per second, where packets that followed each other show it.
    pub(crate) line_bps: Option<u64>,
}

/// A time, and what had passed by then, bytes.
#[derive(Clone, Copy, Debug)]
struct Point {
    ns: i64,
    passed: f64,
}

/// From a loss to the first one of the next time that the bucket was empty.
#[derive(Clone, Copy, Debug)]
struct Fill {
    from: Point,
    /// The last loss while it was empty.
    last_ns: i64,
    to: Point,
}

impl Fill {
    /// Bytes.
    fn passed(&self) -> f64 {
        self.to.passed - self.from.passed
    }

    /// Bytes a second.
    fn rate(&self) -> f64 {
        self.passed() / seconds(self.to.ns - self.from.ns)
    }

    /// Tokens in the bucket at a point, bytes, with what comes in at `rate`.
    fn tokens(&self, rate: f64, at: Point) -> f64 {
        rate * seconds(at.ns - self.from.ns) - (at.passed - self.from.passed)
    }

    /// Most tokens in between.
    fn held(&self, rate: f64, points: &[Point]) -> f64 {
        let within = points
            .iter()
            .filter(|p| p.ns > self.from.ns && p.ns < self.to.ns);
        within.map(|&p| self.tokens(rate, p)).fold(0.0, f64::max)
    }
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// The one below which this share lies, or 0 of none.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = (values.len() as f64 * share) as usize;
    values.get(at).copied().unwrap_or(0.0)
}

fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}

impl Course<'_> {
    /// Rate of the policer, bytes a second of payload; nothing if there is none to be seen.
    pub(crate) fn policed(&self) -> Option<f64> {
        let lost = self.lost();
        let fills = self.fills(&lost);
        if fills.len() < MIN_TIMES_THAT_AGREE || self.rtt_ns <= 0 {
            return None;
        }
        let each = |of: &dyn Fn(&Fill) -> f64| fills.iter().map(of).collect::<Vec<f64>>();
        let mut rates = each(&Fill::rate);
        let rate = quantile(&mut rates, 0.5);
        let between = median(each(&Fill::passed));
        let left = median(each(&|f| f.tokens(rate, f.to).abs()));
        let regular = self.agree(&mut rates)
            && self.even(&fills)
            && left <= (MAX_LEFT_SEGMENTS * self.mss).max(MAX_LEFT * between)
            && between >= MIN_SEGMENTS * self.mss;
        let below = |line: u64| rate * 8.0 <= MAX_OF_LINE * line as f64;
        let policed = regular && self.line_bps.is_none_or(below);
        (policed && !self.waited(&lost, rate, &fills)).then_some(rate)
    }

    /// The rates between times at which the bucket was empty are one rate.
    fn agree(&self, rates: &mut [f64]) -> bool {
        let usual = quantile(rates, 0.5);
        if rates.len() >= MIN_TIMES {
            return quantile(rates, 0.75) - quantile(rates, 0.25) <= MAX_SPREAD * usual;
        }
        let (least, most) = (quantile(rates, 0.0), rates.last().copied().unwrap_or(0.0));
        self.line_bps.is_some() && most - least <= MAX_RANGE * usual
    }

    /// Lost originals in the order in which they were sent.
    fn lost(&self) -> Vec<&Loss> {
        let mut lost: Vec<&Loss> = self.losses.iter().filter(|m| m.sent_ns > 0).collect();
        lost.sort_unstable_by_key(|m| (m.sent_ns, m.start));
        lost
    }

    /// From one time at which the bucket was empty to the next.
    fn fills(&self, lost: &[&Loss]) -> Vec<Fill> {
        let times = self.times(lost);
        let pairs = times.iter().zip(times.iter().skip(1));
        pairs
            .map(|(&(from, last_ns), &(to, _))| Fill { from, last_ns, to })
            .filter(|f| f.to.ns > f.from.ns && f.passed() > 0.0)
            .collect()
    }

    /// Losses come after about as long each time. At random, what is left of that beyond the least would be spread as an
    /// exponential distribution is.
    fn even(&self, fills: &[Fill]) -> bool {
        let least = seconds(APART_RTTS.saturating_mul(self.rtt_ns));
        let rest = |f: &Fill| seconds(f.to.ns - f.last_ns) - least;
        let mut rests: Vec<f64> = fills.iter().map(rest).collect();
        let spread = quantile(&mut rests, 0.75) - quantile(&mut rests, 0.25);
        spread <= MAX_UNEVEN * quantile(&mut rests, 0.5)
    }

    /// What passed next to losses had waited as it does in a queue of this rate.
    fn waited(&self, lost: &[&Loss], rate: f64, fills: &[Fill]) -> bool {
        let points = self.points();
        let held = median(fills.iter().map(|f| f.held(rate, &points)).collect());
        let behind = lost.iter().filter(|m| m.rtt_ns > 0);
        let waits: Vec<f64> = behind.map(|m| seconds(m.rtt_ns - self.rtt_ns)).collect();
        let most = (MAX_WAITED_FOR_PACKET * self.mss).max(MAX_WAITED_FOR_HELD * held);
        waits.is_empty() || median(waits) > most / rate
    }

    /// The first loss of each time at which the bucket was empty, and when the last one of it was.
    fn times(&self, lost: &[&Loss]) -> Vec<(Point, i64)> {
        let apart_ns = APART_RTTS.saturating_mul(self.rtt_ns);
        let repaired_ns = REPAIRED_HALF_RTTS.saturating_mul(self.rtt_ns) / 2;
        let mut times: Vec<(Point, i64)> = Vec::new();
        let mut repaired = 0;
        for (i, mark) in lost.iter().enumerate() {
            // Those that are lost and not yet sent again.
            while lost
                .get(repaired)
                .is_some_and(|m| m.sent_ns.saturating_add(repaired_ns) <= mark.sent_ns)
            {
                repaired += 1;
            }
            match times.last_mut() {
                Some((_, last_ns)) if mark.sent_ns.saturating_sub(*last_ns) <= apart_ns => {
                    *last_ns = mark.sent_ns;
                }
                _ => {
                    let missing = (i - repaired.min(i)) as f64 * self.mss;
                    let passed = mark.start as f64 - missing;
                    let ns = mark.sent_ns;
                    times.push((Point { ns, passed }, ns));
                }
            }
        }
        times
    }

    /// What had been sent by the end of each row. What was lost of it is small against what the bucket holds.
    fn points(&self) -> Vec<Point> {
        let ends = self.rows.iter().skip(1).map(|row| row.start_ns);
        let rows = self.rows.iter().zip(ends);
        rows.map(|(row, ns)| Point {
            ns,
            passed: row.sent as f64,
        })
        .collect()
    }
}

/// Whether losses may show a policer: nothing else held the sender for long, but what may be one.
pub(crate) fn may_show(shares: &[Share], life_ns: i64, at_end_ns: i64) -> bool {
    let other = |limit| {
        matches!(
            limit,
            Limit::Application | Limit::ReceiverWindow | Limit::SendBuffer
        )
    };
    let by_others = |set: LimitSet| set.iter().any(other);
    let held = shares.iter().filter(|share| by_others(share.limits));
    let held_ns: i64 = held.map(|share| share.ns).sum();
    (held_ns - at_end_ns) as f64 <= MAX_HELD_BY_OTHERS * (life_ns - at_end_ns) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const MSS: i64 = 1_000;
    const RTT_NS: i64 = 20 * MS;

    /// What drops packets on the way.
    enum Barrier {
        /// Bytes a second, and the size of the bucket.
        Policer(f64, f64),
        /// The same as a queue: what is in it waits.
        Queue(f64, f64),
        /// One of this number of packets, at random.
        Chance(u64),
    }

    /// What has come up to a barrier.
    struct State {
        /// Bytes in the queue, or tokens that are missing.
        level: f64,
        random: u64,
    }

    impl State {
        /// A packet comes this time after the last one: whether it passes, and how long it waits.
        fn passes(&mut self, barrier: &Barrier, apart_ns: i64) -> (bool, i64) {
            match *barrier {
                Barrier::Policer(rate, depth) | Barrier::Queue(rate, depth) => {
                    self.level = (self.level - rate * seconds(apart_ns)).max(0.0);
                    let passes = self.level + MSS as f64 <= depth;
                    self.level += if passes { MSS as f64 } else { 0.0 };
                    let waits = matches!(barrier, Barrier::Queue(..));
                    let waited = (self.level / rate * 1e9) as i64;
                    (passes, if waits { waited } else { 0 })
                }
                Barrier::Chance(of) => {
                    // Knuth's generator of 64 bits.
                    self.random = (self.random.wrapping_mul(6_364_136_223_846_793_005))
                        .wrapping_add(1_442_695_040_888_963_407);
                    (!(self.random >> 33).is_multiple_of(of), 0)
                }
            }
        }
    }

    /// A sender whose window grows by a segment in a round trip and is halved by losses, or keeps its window. What is lost
    /// is sent again in the next round trip.
    fn course(
        barrier: &Barrier,
        steady: bool,
        (rounds, seed): (u64, u64),
    ) -> (Vec<Loss>, Vec<Row>) {
        let (mut losses, mut rows) = (Vec::new(), Vec::new());
        let (mut now, mut sent, mut window, mut again) = (0, 0, 10, 0);
        let mut state = State {
            level: 0.0,
            random: seed,
        };
        for _ in 0..rounds {
            let start_ns = now;
            let apart_ns = RTT_NS / window;
            let mut lost = 0;
            for i in 0..window {
                now += apart_ns;
                let (passes, waited_ns) = state.passes(barrier, apart_ns);
                lost += i64::from(!passes);
                if i < again {
                    continue;
                }
                if !passes {
                    losses.push(Loss {
                        start: sent,
                        rtt_ns: RTT_NS + waited_ns,
                        sent_ns: now,
                    });
                }
                sent += MSS;
            }
            again = lost;
            window = match (steady, lost) {
                (true, _) => window,
                (_, 0) => window + 1,
                _ => (window / 2).max(2),
            };
            rows.push(Row {
                start_ns,
                sent,
                ..Row::default()
            });
        }
        (losses, rows)
    }

    fn policed(barrier: &Barrier, steady: bool) -> Option<f64> {
        policed_in(barrier, steady, (400, 1), None)
    }

    /// What a sender meets in a number of round trips over a line of this rate, with random numbers from a seed.
    fn policed_in(
        barrier: &Barrier,
        steady: bool,
        run: (u64, u64),
        line_bps: Option<u64>,
    ) -> Option<f64> {
        let (losses, rows) = course(barrier, steady, run);
        let course = Course {
            losses: &losses,
            rows: &rows,
            rtt_ns: RTT_NS,
            mss: MSS as f64,
            line_bps,
        };
        course.policed()
    }

    #[test]
    fn losses_that_come_whenever_a_bucket_is_empty_show_its_rate() {
        let rate = policed(&Barrier::Policer(1e6, 15_000.0), false).expect("a policer");
        assert!((0.9e6..1.05e6).contains(&rate), "{rate}");
    }

    #[test]
    fn a_few_times_are_enough_if_the_rates_between_all_of_them_agree() {
        let line = Some(100_000_000);
        let policer = Barrier::Policer(1e6, 15_000.0);
        let rate = policed_in(&policer, false, (80, 1), line).expect("a policer");
        assert!((0.9e6..1.05e6).contains(&rate), "{rate}");
        // Without a line it may be the line's own rate.
        assert_eq!(policed_in(&policer, false, (80, 1), None), None);
    }

    #[test]
    fn a_few_losses_at_random_do_not_agree() {
        let found = |of: u64, seed: u64| {
            let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            policed_in(&Barrier::Chance(of), false, (80, seed), Some(100_000_000)).is_some()
        };
        let count = |of: u64| (1..=1_000).filter(|&seed| found(of, seed)).count();
        let all: usize = [50, 100, 200, 500].into_iter().map(count).sum();
        assert!(all <= 1, "{all}");
    }

    #[test]
    fn packets_next_to_losses_have_waited_in_a_queue() {
        assert_eq!(policed(&Barrier::Queue(1e6, 15_000.0), false), None);
    }

    #[test]
    fn losses_at_random_come_at_no_rate_even_if_the_sender_keeps_its_own() {
        for of in [20, 100, 500] {
            assert_eq!(policed(&Barrier::Chance(of), false), None, "1 of {of}");
            assert_eq!(policed(&Barrier::Chance(of), true), None, "1 of {of}");
        }
    }

    #[test]
    fn an_application_that_held_the_sender_excuses_a_policer() {
        let share = |limits, ns| Share {
            limits,
            ns,
            confidence: inorder_base::confidence::Confidence::Likely,
        };
        let shares = [
            share(Limit::Application.into(), 40),
            share(Limit::WindowNeeded.into(), 60),
        ];
        assert!(!may_show(&shares, 100, 0));
        assert!(may_show(&shares, 100, 30));
    }
}
