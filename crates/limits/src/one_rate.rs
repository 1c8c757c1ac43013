//! Whether data passes at a constant rate behind a reduction of the window: then it is not the window that limits it.

use super::state::{Course, State};

/// A reduced window grows again, by at least this part of a segment in each round trip (RFC 9438 section 4.3, the Reno-friendly region; RFC 5681
/// section 3.1 has a whole segment).
const GROWTH_OF_ROUND: f64 = 0.5;
/// If the rate stays the same although the window has grown by this share, the application or the line limits it.
const MIN_GROWTH: f64 = 0.25;
/// A rate needs at least this many rows.
const MIN_ROWS: usize = 9;
/// The rate is constant if those of the first, the second and the last third of the rows differ from their mean by this share at most.
const SAME_RATE: f64 = 0.05;

/// Notes where data passes at a constant rate between two reductions.
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

/// Data passes at a constant rate from the row `from` to the one before `to`, and these rows last long enough for a reduced window to have
/// grown by [`MIN_GROWTH`].
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
