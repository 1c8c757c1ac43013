//! Whether the application sets the pace of a transfer: as much is sent in all parts of its life, whatever the window does.

use super::held::Held;
use super::state::Course;

/// Minimum share of the time in which nothing released what was sent: a window or a line leaves less.
const MIN_OWN: f64 = 0.2;
/// Equal parts of the life that are compared, and how many of them may differ: the first, and one with losses.
const PARTS: i64 = 12;
const MAX_DIFFERENT: usize = 2;
/// Two of them differ if they carry this share more or less.
const DIFFERENT: f64 = 0.1;
/// A part that is shorter than this number of round trips, or carries fewer segments, says nothing.
const MIN_RTTS: i64 = 4;
const MIN_SEGMENTS: f64 = 4.0;

/// The application sets the pace.
pub(super) fn is_steady(course: &Course<'_>) -> bool {
    if course.rows.len() < PARTS as usize {
        return false;
    }
    let sum = |held: Held| {
        course
            .rows
            .iter()
            .map(|row| row.part(held) as f64)
            .sum::<f64>()
    };
    let all: f64 = course
        .rows
        .iter()
        .flat_map(|row| row.parts)
        .map(|ns| ns as f64)
        .sum();
    if sum(Held::Idle) + sum(Held::Spaced) < MIN_OWN * all {
        return false;
    }
    let Some((first_ns, last_ns)) = life(course) else {
        return false;
    };
    let width_ns = last_ns.saturating_sub(first_ns) / PARTS;
    if width_ns < course.min_rtt_ns.saturating_mul(MIN_RTTS) {
        return false;
    }
    let at = |nth: i64| sent(course, first_ns.saturating_add(width_ns * nth));
    let mut carried: Vec<f64> = (0..PARTS).map(|nth| at(nth + 1) - at(nth)).collect();
    carried.sort_by(f64::total_cmp);
    let usual = carried.get(carried.len() / 2).copied().unwrap_or(0.0);
    let differs = |bytes: &&f64| (*bytes - usual).abs() > DIFFERENT * usual;
    usual >= MIN_SEGMENTS * course.mss as f64
        && carried.iter().filter(differs).count() <= MAX_DIFFERENT
}

/// From the first data to the end of the last row with new data, nanoseconds.
fn life(course: &Course<'_>) -> Option<(i64, i64)> {
    let first = course.rows.first()?;
    let last = course.rows.iter().rposition(|row| row.peak > 0)?;
    Some((first.start_ns, course.until(last)))
}

/// Bytes sent by `ns`, as if rows were even.
fn sent(course: &Course<'_>, ns: i64) -> f64 {
    let next = course.rows.partition_point(|row| row.start_ns <= ns);
    let Some(at) = next.checked_sub(1) else {
        return 0.0;
    };
    let by = |i: Option<usize>| i.and_then(|i| course.rows.get(i)).map_or(0, |row| row.sent);
    let start_ns = course.rows.get(at).map_or(ns, |row| row.start_ns);
    let long_ns = course.until(at).saturating_sub(start_ns).max(1);
    let part = ns.saturating_sub(start_ns) as f64 / long_ns as f64;
    let before = by(at.checked_sub(1)) as f64;
    before + part.min(1.0) * (by(Some(at)) as f64 - before)
}
