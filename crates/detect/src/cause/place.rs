//! Where on the way packets were lost: at a full queue, or at a link whose queue was not full.

use super::RttTrace;
use crate::result::Cause;

/// Waiting that an empty queue leaves room for, nanoseconds, and as a share of the shortest round trip: a packet or two. A
/// queue that many others keep full varies by more.
const MAX_WAIT_IN_EMPTY_QUEUE_NS: i64 = 150_000;
const MAX_SHARE_WAITED_IN_EMPTY_QUEUE: f64 = 0.003;
/// Minimum waiting time in a full queue, nanoseconds, and as a share of the shortest round trip: shorter waits are
/// within the jitter of hosts and links.
const MIN_WAIT_IN_FULL_QUEUE_NS: i64 = 1_000_000;
const MIN_SHARE_WAITED_IN_FULL_QUEUE: f64 = 0.05;
/// Maximum relative deviation of the waiting times in a full queue, which are equal but for this.
const MAX_DEVIATION_OF_FULL_QUEUE: f64 = 0.15;
/// Share of the recoveries that agree, at least.
const MIN_SHARE_AGREEING: f64 = 0.7;
/// Recoveries that agree, at least; of a full queue as many losses at different times of a single one.
const MIN_AGREEING_RECOVERIES: usize = 2;
const MIN_LOSSES_OF_ONE_RECOVERY: usize = 3;
/// Share of the round trips that took longer than those of what was sent right behind losses, at most: a full queue is the
/// longest wait there is.
const MAX_SHARE_LONGER: f64 = 0.1;

/// Round trips measured, at least: with fewer of them nothing shows that the queue was ever less full.
const MIN_SAMPLES_FOR_FULL_QUEUE: usize = 3;
const MIN_SAMPLES_FOR_EMPTY_QUEUE: usize = 8;
/// Share of the round trips that were shorter than those of what followed losses where no queue was full, at most.
const MAX_SHARE_SHORTER: f64 = 0.75;
/// Maximum jitter that hosts add to a round trip, nanoseconds.
const MAX_JITTER_NS: i64 = 50_000;

/// Where a flow loses packets, by the round trips of what was sent right behind them. A drop-tail queue drops when it is
/// full, and what gets in right after waits as long each time, and longer than nearly all others. Where what follows a loss
/// waited nowhere, no queue on the way was full. In between nothing is known: a line that loses at random may do so at any
/// height of a queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Place {
    /// At a queue; `wait_ns` is the wait when it is full beyond the shortest round trip `least_ns`, nanoseconds.
    FullQueue { least_ns: i64, wait_ns: i64 },
    /// At a link whose queue is not full; `most_ns` is the longest round trip there, nanoseconds.
    EmptyQueue { most_ns: i64 },
}

impl Place {
    /// `met` has for each recovery the round trips of what was sent right behind losses, in the order of the bytes.
    pub(super) fn of(met: &[Vec<i64>], rtts: &RttTrace) -> Option<Place> {
        let known = met.iter().flatten().copied();
        let sampled = rtts.all().map(|s| s.1);
        let least_ns = known.clone().chain(sampled).min()?;
        let mut firsts: Vec<i64> = met.iter().filter_map(|m| m.first().copied()).collect();
        firsts.sort_unstable();
        let median = *firsts.get(firsts.len() / 2)?;
        let enough = |agreeing: usize| {
            let share = agreeing as f64 / firsts.len() as f64;
            agreeing >= MIN_AGREEING_RECOVERIES && share >= MIN_SHARE_AGREEING
        };
        let share = |of: f64| (least_ns as f64 * of) as i64;
        let full = Place::FullQueue {
            least_ns,
            wait_ns: median - least_ns,
        };
        let waits = MIN_WAIT_IN_FULL_QUEUE_NS.max(share(MIN_SHARE_WAITED_IN_FULL_QUEUE));
        let agree = firsts.iter().filter(|&&rtt| full.fits(rtt)).count();
        let alike = enough(agree) || full.all_alike(met);
        if median - least_ns >= waits && alike && full.is_the_longest_wait(rtts) {
            return Some(full);
        }
        let room = MAX_WAIT_IN_EMPTY_QUEUE_NS.max(share(MAX_SHARE_WAITED_IN_EMPTY_QUEUE));
        let empty = Place::EmptyQueue {
            most_ns: least_ns + room,
        };
        let agree = firsts.iter().filter(|&&rtt| empty.fits(rtt)).count();
        (enough(agree) && is_usual(median, rtts)).then_some(empty)
    }

    fn fits(self, rtt_ns: i64) -> bool {
        match self {
            Place::EmptyQueue { most_ns } => rtt_ns <= most_ns,
            Place::FullQueue { least_ns, wait_ns } => {
                let off = (rtt_ns - least_ns - wait_ns).abs();
                off as f64 <= wait_ns as f64 * MAX_DEVIATION_OF_FULL_QUEUE
            }
        }
    }

    /// The losses of the only recovery came at different times, and what followed them waited as long.
    fn all_alike(self, met: &[Vec<i64>]) -> bool {
        let mut phases = met.iter().filter(|m| !m.is_empty());
        let (Some(only), None) = (phases.next(), phases.next()) else {
            return false;
        };
        let mut times = only.clone();
        times.sort_unstable();
        times.dedup();
        times.len() >= MIN_LOSSES_OF_ONE_RECOVERY && times.iter().all(|&rtt| self.fits(rtt))
    }

    fn is_the_longest_wait(self, rtts: &RttTrace) -> bool {
        let Place::FullQueue { least_ns, wait_ns } = self else {
            return false;
        };
        if rtts.len() < MIN_SAMPLES_FOR_FULL_QUEUE {
            return false;
        }
        let most = least_ns as f64 + wait_ns as f64 * (1.0 + MAX_DEVIATION_OF_FULL_QUEUE);
        let longer = rtts.all().filter(|s| s.1 as f64 > most).count();
        longer as f64 <= rtts.len() as f64 * MAX_SHARE_LONGER
    }

    /// The cause of a recovery whose first loss came before what took `rtt_ns`.
    pub(super) fn cause(self, rtt_ns: i64) -> Cause {
        match self {
            _ if !self.fits(rtt_ns) => Cause::Loss,
            Place::FullQueue { .. } => Cause::QueueLoss,
            Place::EmptyQueue { .. } => Cause::RandomLoss,
        }
    }
}

/// What followed losses took no longer than round trips of this flow take. A queue that others had filled before the flow
/// began makes all of them as long; those behind losses are the longest even so.
fn is_usual(rtt_ns: i64, rtts: &RttTrace) -> bool {
    let shorter = |s: &(i64, i64)| s.1 < rtt_ns - MAX_JITTER_NS;
    let shorter = rtts.all().filter(shorter).count() as f64;
    let all = rtts.len();
    all >= MIN_SAMPLES_FOR_EMPTY_QUEUE && shorter <= all as f64 * MAX_SHARE_SHORTER
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of losses by the round trips of what followed them, milliseconds, in each recovery, and by all round trips.
    fn place(met: &[&[i64]], rtts: &[i64]) -> Option<Place> {
        let ms = |all: &&[i64]| -> Vec<i64> { all.iter().map(|ms| ms * 1_000_000).collect() };
        let mut trace = RttTrace::default();
        (0..)
            .zip(ms(&rtts))
            .for_each(|(at, rtt)| trace.take(at, rtt));
        Place::of(&met.iter().map(ms).collect::<Vec<_>>(), &trace)
    }

    const SAWTOOTH: [i64; 10] = [20, 24, 28, 32, 36, 24, 28, 32, 36, 40];

    #[test]
    fn a_full_queue_makes_what_follows_a_loss_wait_as_long_each_time_and_longest() {
        let told = place(&[&[40], &[39, 25], &[40]], &SAWTOOTH).unwrap();
        assert_eq!(told.cause(40_000_000), Cause::QueueLoss);
        assert_eq!(told.cause(25_000_000), Cause::Loss, "not then");
        assert_eq!(place(&[&[40], &[24], &[31]], &SAWTOOTH), None);
        let longer = [&SAWTOOTH[..], &[60; 5]].concat();
        assert_eq!(place(&[&[40], &[40]], &longer), None, "there was room");
    }

    #[test]
    fn one_recovery_tells_of_a_full_queue_by_losses_at_different_times() {
        assert_eq!(place(&[&[40]], &SAWTOOTH), None);
        assert_eq!(place(&[&[40, 40, 40]], &SAWTOOTH), None, "at one time");
        assert!(place(&[&[40, 39, 41]], &SAWTOOTH).is_some());
    }

    #[test]
    fn where_what_follows_a_loss_waited_nowhere_no_queue_was_full() {
        let told = place(&[&[20], &[20], &[20, 36]], &SAWTOOTH).unwrap();
        assert_eq!(told.cause(20_000_000), Cause::RandomLoss);
        assert_eq!(told.cause(36_000_000), Cause::Loss);
        assert_eq!(place(&[&[20], &[20]], &[20; 3]), None, "too little known");
    }

    #[test]
    fn behind_a_queue_that_others_keep_full_the_round_trip_does_not_tell() {
        let nearly: Vec<i64> = (980..1_000).collect();
        assert_eq!(place(&[&[1_000], &[999]], &nearly), None);
    }
}
