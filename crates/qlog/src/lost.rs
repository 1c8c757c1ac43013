//! What needless reductions cost, growth included: the rest of the transfer once more without them.

use inorder_cost::{OnceMore, Recognised, Rest, by_factors};

use crate::space::MAX_IN_FLIGHT;
use crate::window::{Episode, Window};

/// From this share of the window in flight on, the window limits the sender.
const NEARLY_FULL: f64 = 0.75;
/// The share of the time for which the window has to limit the sender.
const MIN_TIME_FULL: f64 = 0.7;
/// A window that is back at this share of what it was within two round trips was not reduced for long.
const RESTORED: f64 = 0.9;

/// What happened to the packets with application data, in flight or received.
#[derive(Clone, Default, Debug)]
pub(crate) struct Transfer {
    /// When packets were sent, and their bytes.
    pub(crate) sent: Vec<(i64, u64)>,
    /// When packets arrived, by the clock of either end, and their bytes.
    pub(crate) arrived: Vec<(i64, u64)>,
    /// When packets were acknowledged, and their bytes; empty if the log has no acknowledgements.
    pub(crate) acked: Vec<(i64, u64)>,
    /// Each round trip that was measured, and when.
    pub(crate) round_trips: Vec<(i64, i64)>,
    /// Bytes of packets that were lost, and of those repeated in vain.
    pub(crate) wasted: u64,
    /// Least round trip, nanoseconds.
    pub(crate) rtt_ns: i64,
}

/// A share of the throughput, and the line that decides it.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Lost {
    /// The estimate: of what the transfer would have reached, the share that it missed.
    pub share: f64,
    /// No less than this. There is no bound from above: a sender that paces (RFC 9002 section 7.7) never shows how much
    /// faster the line would be.
    pub least: f64,
    /// Rate of the bottleneck, bits a second, or less.
    pub bottleneck_bps: u64,
}

/// What the needless reductions cost; `None` if there is none, if the rate of the line or the round trip is not known, if
/// the application or the other end limited the sender, or if every such reduction was undone at once.
pub(crate) fn lost(window: &Window, needless: &[bool], transfer: &Transfer) -> Option<Lost> {
    let wrong = |(_, needless): &(&Episode, &bool)| **needless;
    let reductions = || {
        window
            .episodes
            .iter()
            .zip(needless)
            .filter(|(e, _)| e.fell.is_some())
    };
    let first = reductions().find(wrong)?.0;
    let rtt_ns = transfer.rtt_ns;
    let kept = |(e, _): (&Episode, &bool)| !was_restored(window, e, rtt_ns);
    let (begun, ended) = (transfer.sent.first()?.0, transfer.sent.last()?.0);
    if rtt_ns <= 0
        || !reductions().filter(wrong).any(kept)
        || !limits(window, first.start_ns, ended, rtt_ns)
    {
        return None;
    }
    let segment = transfer.sent.iter().map(|(_, bytes)| *bytes).max()?.max(1) as f64;
    let rate = transfer.line(segment)?;
    let factors: Vec<f64> = reductions()
        .filter_map(|(e, _)| factor(window, e))
        .collect();
    let recognised: Recognised = by_factors(&factors);
    let sums = Sums::of(&transfer.sent);
    let before = sums.until(first.start_ns);
    let useful = (sums.until(ended) - before).saturating_sub(transfer.wasted);
    let needed = reductions().filter(|(e, needless)| !**needless && e.start_ns > first.start_ns);
    let after = |e: &Episode| sums.until(e.start_ns).saturating_sub(before) as f64 / segment;
    let rest = Rest {
        segments: useful as f64 / segment,
        window: first.before? / segment,
        slow_start: reductions()
            .next()
            .is_some_and(|(e, _)| std::ptr::eq(e, first)),
        losses: needed.map(|(e, _)| after(e)).collect(),
        overflow: None,
        receiver: None,
    };
    let seconds = |ns: i64| ns.max(0) as f64 / 1e9;
    let once_more = OnceMore {
        rest,
        rate,
        rtt_s: seconds(rtt_ns),
        recognised,
        unchanged_s: seconds(first.start_ns - begun),
        whole_s: seconds(ended.saturating_sub(begun).saturating_add(rtt_ns)),
    };
    let found = once_more.lost();
    let bound = |share: f64| share.clamp(0.0, 0.999);
    Some(Lost {
        share: bound(found.share),
        least: bound(found.low),
        bottleneck_bps: (rate.likely * segment * 8.0) as u64,
    })
}

/// What a reduction left of the window.
fn factor(window: &Window, episode: &Episode) -> Option<f64> {
    let after = window.history.get(episode.fell?)?.window;
    let before = episode.before.filter(|before| *before > 0.0)?;
    Some(after / before)
}

fn was_restored(window: &Window, episode: &Episode, rtt_ns: i64) -> bool {
    let (Some(fell), Some(before)) = (episode.fell, episode.before) else {
        return false;
    };
    let until_ns = episode.start_ns.saturating_add(2 * rtt_ns);
    let after = window.history.iter().skip(fell).take(MAX_IN_FLIGHT);
    after
        .take_while(|level| level.at_ns <= until_ns)
        .any(|level| level.window >= RESTORED * before)
}

/// True if the window was nearly full within a round trip for most of the time, or the log does not say what was in flight.
fn limits(window: &Window, from_ns: i64, until_ns: i64, rtt_ns: i64) -> bool {
    let (mut full_ns, mut all_ns, mut full_at) = (0, 0, i64::MIN);
    for pair in window.history.windows(2) {
        let [level, next] = pair else {
            continue;
        };
        if level
            .in_flight
            .is_none_or(|bytes| bytes >= NEARLY_FULL * level.window)
        {
            full_at = level.at_ns;
        }
        if (from_ns..until_ns).contains(&level.at_ns) {
            let lasted = next.at_ns.min(until_ns) - level.at_ns;
            all_ns += lasted;
            full_ns += if level.at_ns.saturating_sub(full_at) <= rtt_ns {
                lasted
            } else {
                0
            };
        }
    }
    full_ns as f64 >= MIN_TIME_FULL * all_ns as f64
}

/// Of each packet with all before it: the latest time, and the bytes.
struct Sums(Vec<(i64, u64)>);

impl Sums {
    fn of(sent: &[(i64, u64)]) -> Sums {
        let (mut latest_ns, mut sum) = (i64::MIN, 0_u64);
        let sums = sent.iter().map(|(at_ns, bytes)| {
            latest_ns = latest_ns.max(*at_ns);
            sum = sum.saturating_add(*bytes);
            (latest_ns, sum)
        });
        Sums(sums.collect())
    }

    /// Bytes of the packets before the first one that was sent later.
    fn until(&self, ns: i64) -> u64 {
        let before = self.0.partition_point(|(latest_ns, _)| *latest_ns <= ns);
        let last = before.checked_sub(1).and_then(|i| self.0.get(i));
        last.map_or(0, |(_, sum)| *sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Flights of thirty packets of 1,250 bytes each round trip of 30 ms, which leave a line of 40 Mbit/s a quarter of a
    /// millisecond apart. The window had been 60 packets, in slow start; needless reductions keep it at thirty.
    fn slowed_down() -> (Window, Transfer) {
        let (mut window, mut transfer) = (Window::default(), Transfer::default());
        transfer.rtt_ns = 30 * MS;
        window.set(0, Some(75_000.0), None, 30 * MS);
        for flight in 0..50 {
            let at = flight * 30 * MS;
            if flight % 5 == 1 {
                window.lost(2, flight.unsigned_abs(), at - MS, at, 30 * MS);
                window.set(at, Some(37_500.0), None, 30 * MS);
                window.set(at + 90 * MS, Some(74_000.0), None, 30 * MS);
            }
            for packet in 0..30 {
                transfer.sent.push((at, 1_250));
                transfer.arrived.push((at + packet * MS / 4, 1_250));
            }
        }
        (window, transfer)
    }

    /// The third packet stands behind one that was sent later.
    #[test]
    fn bytes_until_a_time_are_those_before_the_first_later_packet() {
        let sums = Sums::of(&[(10, 1), (30, 2), (20, 4), (40, u64::MAX)]);
        let until = |ns| sums.until(ns);
        assert_eq!([9, 10, 20, 30, 40].map(until), [0, 1, 1, 7, u64::MAX]);
        assert_eq!(Sums::of(&[]).until(5), 0);
    }

    #[test]
    fn without_needless_reductions_the_line_would_have_been_full() {
        let (window, transfer) = slowed_down();
        let all = vec![true; window.episodes.len()];
        let found = lost(&window, &all, &transfer).unwrap();
        // 1,500 packets take 0.375 s on the line, a little more with slow start, and took 1.5 s.
        assert!((0.66..0.75).contains(&found.share), "{found:?}");
        assert!((0.6..found.share).contains(&found.least), "{found:?}");
        let rate = 38_000_000..42_000_000;
        assert!(rate.contains(&found.bottleneck_bps), "{found:?}");
    }

    #[test]
    fn needed_or_undone_reductions_cost_nothing() {
        let (window, transfer) = slowed_down();
        assert_eq!(
            lost(&window, &vec![false; window.episodes.len()], &transfer),
            None
        );
        let mut undone = Window::default();
        undone.set(0, Some(25_000.0), None, 30 * MS);
        undone.lost(2, 5, 29 * MS, 30 * MS, 30 * MS);
        undone.set(30 * MS, Some(12_500.0), None, 30 * MS);
        undone.set(40 * MS, Some(25_000.0), None, 30 * MS);
        assert_eq!(lost(&undone, &[true], &transfer), None);
    }
}
