//! BBR by its probing: once in a cycle of eight round trips it sends a quarter more for one round trip, and a quarter less in the
//! next (gains of ProbeBW, draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4; in ACM Queue 14(5), 2016, too). Its flight
//! therefore stands on a plateau, rises, and is back on the same plateau, whatever is lost. A window that losses drive
//! rises to where it falls, and the application and the receiver's window know no such cycle.

use super::flights::Round;

/// Rounds on either side of a rise that make a plateau.
const PLATEAU: usize = 3;
/// The flights of a plateau differ from their median by this share at most.
const LEVEL: f64 = 0.06;
/// Rounds that a rise takes at most: the probe, the round that drains it, and recovery from what overflowed.
const LONGEST_RISE: usize = 4;
/// Maximum number of rounds until the top: a window that grows takes longer.
const TOP_WITHIN: usize = 2;
/// How much a probe raises the flight at least and at most: a quarter, more where a burst of it is acknowledged late.
const RISE: std::ops::Range<f64> = 1.1..1.7;
/// Minimum flight in which a probe shows, segments: in a smaller one, a rise of a quarter is rounded away.
const MIN_SEGMENTS: f64 = 8.0;
/// Fewest probes that tell.
const MIN_PROBES: usize = 4;
/// Minimum share of the times between probes that must fit the cycle.
const MIN_FITTING: f64 = 0.6;
/// Length of a cycle in shortest round trips, nominally eight: less if its drain ends early, more if the probe stood in a queue.
const CYCLE_RTTS: std::ops::Range<f64> = 6.0..10.0;
/// Length of two cycles, if the probe between them was not seen.
const TWO_CYCLES_RTTS: std::ops::Range<f64> = 14.0..18.5;

/// How sure it is that the sender probes as BBR does, 0 to 1; `None` if it does not or too little was seen.
pub(super) fn probes(rounds: &[Round], rtt_ns: i64, mss: i64) -> Option<f64> {
    let starts = rises(rounds, mss);
    if starts.len() < MIN_PROBES || rtt_ns <= 0 {
        return None;
    }
    let gaps = starts.windows(2).filter_map(|pair| match pair {
        [one, next] => Some(next.saturating_sub(*one) as f64 / rtt_ns as f64),
        _ => None,
    });
    let fit = |rtts: &f64| CYCLE_RTTS.contains(rtts) || TWO_CYCLES_RTTS.contains(rtts);
    let fitting = gaps.filter(fit).count() as f64;
    let all = (starts.len() - 1) as f64;
    // One fitting and one other beside what was seen (Laplace).
    (fitting >= MIN_FITTING * all).then_some((fitting + 1.0) / (all + 2.0))
}

/// When the flight rose from a plateau to which it came back, nanoseconds.
fn rises(rounds: &[Round], mss: i64) -> Vec<i64> {
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(rest) = rounds.get(from..).filter(|rest| rest.len() > 2 * PLATEAU) {
        match rise(rest, mss) {
            Some(lasted) => {
                starts.extend(rest.get(PLATEAU).map(|round| round.start_ns));
                from += lasted;
            }
            None => from += 1,
        }
    }
    starts
}

/// How many rounds the rise behind the first plateau of these takes.
fn rise(rounds: &[Round], mss: i64) -> Option<usize> {
    let (before, after) = rounds.split_at_checked(PLATEAU)?;
    let level = plateau(before)?;
    let busy = before.iter().all(|round| round.least > 0);
    let first = f64::from(after.first()?.most);
    if !busy || level < MIN_SEGMENTS * mss as f64 || first <= level * (1.0 + LEVEL) {
        return None;
    }
    (1..=LONGEST_RISE).find(|&lasted| {
        let back = after.get(lasted..lasted + PLATEAU).and_then(plateau);
        let same = |back: f64| (back / level - 1.0).abs() < LEVEL;
        let top = |rounds| after.iter().take(rounds).map(|round| round.most).max();
        let early = top(lasted.min(TOP_WITHIN)) == top(lasted);
        let high = |top| RISE.contains(&(f64::from(top) / level));
        early && back.is_some_and(same) && top(lasted).is_some_and(high)
    })
}

/// The level of these rounds, if they are all on one.
fn plateau(rounds: &[Round]) -> Option<f64> {
    let mut flights: Vec<f64> = rounds.iter().map(|round| f64::from(round.most)).collect();
    flights.sort_by(f64::total_cmp);
    let level = *flights.get(flights.len() / 2)?;
    let near = |flight: &f64| (flight / level - 1.0).abs() <= LEVEL;
    (level > 0.0 && flights.iter().all(near)).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Rounds of 10 ms with these flights, segments of 1,000 bytes.
    fn rounds(flights: impl IntoIterator<Item = u32>) -> Vec<Round> {
        let rounds = (0..).zip(flights).map(|(i, flight)| Round {
            start_ns: i * 10 * MS,
            most: flight * 1_000,
            least: flight * 500,
        });
        rounds.collect()
    }

    fn seen(flights: impl IntoIterator<Item = u32>) -> Option<f64> {
        probes(&rounds(flights), 10 * MS, 1_000)
    }

    #[test]
    fn a_rise_of_a_quarter_every_eight_round_trips_is_bbr() {
        let cycle = [100, 100, 100, 100, 100, 100, 125, 120];
        assert_eq!(seen((0..6).flat_map(|_| cycle)), Some(5.0 / 6.0));
        // Too few; every six; smaller rises; a flight that also falls to nothing.
        assert_eq!(seen((0..3).flat_map(|_| cycle)), None);
        assert_eq!(seen((0..9).flat_map(|_| [100, 100, 100, 100, 125])), None);
        let small = cycle.map(|flight| flight.min(105));
        assert_eq!(seen((0..9).flat_map(|_| small)), None);
    }

    #[test]
    fn a_saw_tooth_is_none() {
        assert_eq!(seen((0..20).flat_map(|_| 50..100)), None);
        let steps = (0..20).flat_map(|_| [70, 70, 70, 80, 80, 90, 100]);
        assert_eq!(seen(steps), None);
    }
}
