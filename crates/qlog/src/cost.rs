//! What a needless reduction cost.

use crate::trips::RoundTrips;
use crate::window::{Episode, Window};

/// Bytes that the sender could have sent in addition if the needless reductions had not been and the window had stayed
/// as it was: its rate before less its rate at each time, until the window is what it was before or the next reduction that was
/// needed. `needless` tells which episodes are; `trips` are the round trips.
///
/// What was in flight when a reduction came took as long as the last packets of it did (Little's law): where the window had grown fast,
/// the round trips measured up to then are those of a shorter queue. Where a smaller window empties a queue, rates stay
/// the same, and nothing is lost. Where the log says what was in flight, only times count in which the window was nearly
/// full: otherwise it limited nothing.
pub(crate) fn bytes_missing(
    window: &Window,
    needless: impl Fn(usize) -> bool,
    end_ns: i64,
    trips: &RoundTrips,
) -> f64 {
    // The window that there would have been, and its rate in bytes per nanosecond, while one is owed.
    let mut owed: Option<(f64, f64)> = None;
    let mut missing = 0.0;
    let fell = |(index, e): (usize, &Episode)| {
        let rtt = trips.of_in_flight_at(e.start_ns);
        let before = e.before.filter(|_| rtt > 0).map(|window| {
            let sent = e.in_flight.map_or(window, |bytes| bytes.min(window));
            (window, sent / rtt as f64)
        });
        Some((index, before, e.fell?))
    };
    let mut episodes = window
        .episodes
        .iter()
        .enumerate()
        .filter_map(fell)
        .peekable();
    for (i, level) in window.history.iter().enumerate() {
        while let Some((index, before, _)) = episodes.next_if(|(.., fell)| *fell <= i) {
            owed = match needless(index) {
                true => larger(owed, before),
                false => None,
            };
        }
        let Some((target, rate)) = owed else {
            continue;
        };
        if level.window >= target {
            owed = None;
            continue;
        }
        let until_ns = window.history.get(i + 1).map_or(end_ns, |next| next.at_ns);
        let lasted = until_ns.saturating_sub(level.at_ns).max(0) as f64;
        let rtt = trips.smoothed_at(level.at_ns);
        let full = level
            .in_flight
            .is_none_or(|bytes| bytes >= NEARLY_FULL * level.window);
        if rtt > 0 && full {
            missing += (rate - level.window / rtt as f64).max(0.0) * lasted;
        }
    }
    missing
}

/// Share of the window in flight from which on it limits the sender: packets are not sent in parts, and a small window
/// has few.
const NEARLY_FULL: f64 = 0.75;

fn larger(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.0 >= b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same round trip from each of these times on.
    fn trips(all: &[(i64, i64)]) -> RoundTrips {
        let mut trips = RoundTrips::default();
        for &(at_ns, rtt_ns) in all {
            trips.smoothed(at_ns, rtt_ns);
        }
        trips
    }

    #[test]
    fn half_a_window_for_two_round_trips() {
        let mut window = Window::default();
        window.set(0, Some(10_000.0), None, 1_000);
        window.lost(2, 5, 50, 100, 1_000);
        window.set(100, Some(5_000.0), None, 1_000);
        window.set(300, Some(10_000.0), None, 1_000);
        let cost =
            |needless: bool| bytes_missing(&window, |_| needless, 1_000, &trips(&[(0, 100)]));
        assert_eq!((cost(true), cost(false)), (10_000.0, 0.0));
    }

    /// The larger window had only filled a queue: it took as long as the window is large.
    #[test]
    fn a_window_that_only_filled_a_queue_costs_nothing() {
        let mut window = Window::default();
        window.set(0, Some(10_000.0), None, 1_000);
        window.lost(2, 5, 50, 100, 1_000);
        window.set(100, Some(5_000.0), None, 1_000);
        window.set(110, Some(5_000.0), None, 1_000);
        window.set(300, Some(10_000.0), None, 1_000);
        // The queue is empty from 110 on. Until then half of the rate of 50 bytes each nanosecond is missing.
        let trips = trips(&[(0, 200), (101, 100)]);
        assert_eq!(bytes_missing(&window, |_| true, 1_000, &trips), 250.0);
    }

    /// In slow start the window doubles before the first packet of it comes back: only later round trips show the queue that it makes.
    #[test]
    fn a_window_that_grew_fast_is_as_fast_as_its_own_round_trip() {
        let mut window = Window::default();
        window.set(0, Some(20_000.0), Some(20_000.0), 1_000);
        window.lost(2, 5, 50, 100, 1_000);
        window.set(100, Some(10_000.0), None, 1_000);
        let mut trips = trips(&[(0, 100)]);
        let missing = |trips: &RoundTrips| bytes_missing(&window, |_| true, 1_000, trips);
        assert_eq!(missing(&trips), 90_000.0);
        trips.measured(290, 200);
        // 100 bytes each nanosecond, as half as many in half the time.
        assert_eq!(missing(&trips), 0.0);
    }

    #[test]
    fn a_window_that_is_not_full_costs_nothing() {
        let mut window = Window::default();
        window.set(0, Some(10_000.0), Some(9_000.0), 1_000);
        window.lost(2, 5, 50, 100, 1_000);
        window.set(100, Some(5_000.0), None, 1_000);
        window.set(200, None, Some(1_000.0), 1_000);
        window.set(900, Some(10_000.0), None, 1_000);
        let cost = bytes_missing(&window, |_| true, 1_000, &trips(&[(0, 100)]));
        assert_eq!(cost, 4_000.0);
    }

    #[test]
    fn a_needed_reduction_ends_the_account() {
        let mut window = Window::default();
        window.set(0, Some(10_000.0), None, 1_000);
        window.lost(2, 5, 50, 100, 1_000);
        window.set(100, Some(5_000.0), None, 1_000);
        window.lost(2, 9, 150, 200, 1_000);
        window.set(200, Some(2_500.0), None, 1_000);
        let cost = bytes_missing(&window, |index| index == 0, 1_000, &trips(&[(0, 100)]));
        assert_eq!(cost, 5_000.0);
    }
}
