//! Time: signed nanoseconds, as in all crates of this workspace.
//!
//! Signed, because capture times may be before the epoch and differences have a sign. With the same type in all
//! crates, no conversion is needed. 63 bits of nanoseconds are 292 years.

/// Nanoseconds since the start of the run, or between two times.
pub type Nanos = i64;

/// Time since `since`; 0 if `since` is later.
#[inline]
pub(crate) const fn elapsed(now: Nanos, since: Nanos) -> Nanos {
    let elapsed = now.saturating_sub(since);
    if elapsed < 0 { 0 } else { elapsed }
}

/// A time or duration as a count; negative values become 0.
#[inline]
pub(crate) const fn count(time: Nanos) -> u64 {
    if time < 0 { 0 } else { time.cast_unsigned() }
}

/// The earlier of two times, of which there may be none.
#[inline]
pub(crate) fn first(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_elapses_before_the_start() {
        assert_eq!(elapsed(7, 3), 4);
        assert_eq!(elapsed(3, 7), 0);
        assert_eq!(elapsed(Nanos::MIN, Nanos::MAX), 0);
        assert_eq!(elapsed(Nanos::MAX, Nanos::MIN), Nanos::MAX);
    }

    #[test]
    fn negative_times_become_zero() {
        assert_eq!(count(-1), 0);
        assert_eq!(count(Nanos::MAX), (1 << 63) - 1);
    }
}
