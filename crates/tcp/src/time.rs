//! Time: signed nanoseconds, as everywhere in this workspace.
//!
//! Signed, because times of captures may lie before the epoch they count from and differences have a sign; one
//! type from capture to simulator means that no boundary converts. 63 bits of nanoseconds are 292 years.

/// Nanoseconds since the start of the run, or between two moments.
pub type Nanos = i64;

/// How long after `since` it is; 0 if `since` lies ahead.
#[inline]
pub const fn elapsed(now: Nanos, since: Nanos) -> Nanos {
    let elapsed = now.saturating_sub(since);
    if elapsed < 0 { 0 } else { elapsed }
}

/// A time or duration as a count for integer arithmetic: negative ones count as 0.
#[inline]
pub const fn count(time: Nanos) -> u64 {
    if time < 0 { 0 } else { time.cast_unsigned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_elapses_before_its_beginning() {
        assert_eq!(elapsed(7, 3), 4);
        assert_eq!(elapsed(3, 7), 0);
        assert_eq!(elapsed(Nanos::MIN, Nanos::MAX), 0);
        assert_eq!(elapsed(Nanos::MAX, Nanos::MIN), Nanos::MAX);
    }

    #[test]
    fn negative_counts_as_nothing() {
        assert_eq!(count(-1), 0);
        assert_eq!(count(Nanos::MAX), (1 << 63) - 1);
    }
}
