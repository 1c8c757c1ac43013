//! Whether as much passes at all times behind a reduction of the window: then it is not the window that holds it.

use super::state::{Course, State};

/// A reduced window grows again, by this part of a segment in a round trip at least (RFC 9438 section 4.3: its Reno-friendly region; RFC 5681
/// section 3.1 has a whole one). What passes at one rate while it should have grown by the second share is the application's, or the line's.
const GROWTH_OF_ROUND: f64 = 0.5;
const MIN_GROWTH: f64 = 0.25;
/// Fewer rows tell no rate, and those of the first, the second and the last third of them differ by no more than this share.
const MIN_ROWS: usize = 9;
const SAME_RATE: f64 = 0.05;

/// Notes where as much passes at all times between two reductions.
pub(super) fn note(course: &Course<'_>, states: &mut [State]) {
    let last = course.rows.iter().rposition(|row| row.peak > 0);
    let next = course.reductions.iter().skip(1).map(|next| next.0);
    for (reduced, end_ns) in course.reductions.iter().zip(next.chain([i64::MAX])) {
        let begin = |ns: i64| course.rows.partition_point(|row| row.start_ns < ns);
        // The row in which the next one falls tells nothing, nor does the last one.
        let (from, end) = (begin(reduced.0), begin(end_ns).saturating_sub(1));
        let to = end.min(last.unwrap_or(0));
        if is_one_rate(course, from, to) {
            let own = states.iter_mut().take(to).skip(from);
            own.for_each(|state| state.one_rate = true);
        }
    }
}

/// As much passes at all times of the rows from `from` to the one before `to`, and for so long that a reduced window should have grown.
fn is_one_rate(course: &Course<'_>, from: usize, to: usize) -> bool {
    if to < from + MIN_ROWS {
        return false;
    }
    let long = (to - from) / 3;
    let rates = [from, from + long, to - 1 - long].map(|first| rate(course, first, first + long));
    let usual = rates.iter().sum::<f64>() / 3.0;
    let same = |rate: &f64| (rate - usual).abs() <= SAME_RATE * usual;
    let (start_ns, end_ns) = (course.until(from), course.until(to - 1));
    let round_ns = course.min_rtt_ns.max(1) as f64;
    let rounds = end_ns.saturating_sub(start_ns) as f64 / round_ns;
    // From the middle of the first third to that of the last one.
    let growth = rounds * 2.0 / 3.0 * GROWTH_OF_ROUND * course.mss as f64;
    usual > 0.0 && rates.iter().all(same) && growth >= MIN_GROWTH * usual * round_ns
}

/// New data from the end of one row to that of another, bytes a nanosecond.
fn rate(course: &Course<'_>, first: usize, last: usize) -> f64 {
    let sent = |i: usize| course.rows.get(i).map_or(0, |row| row.sent);
    let ns = course.until(last).saturating_sub(course.until(first));
    sent(last).saturating_sub(sent(first)) as f64 / ns.max(1) as f64
}
