//! Times are signed nanoseconds of any clock that never runs backwards.

/// `now_ns` plus a delay. A packet never leaves before it arrives, so a negative delay counts as 0. `None` if the
/// result is after the largest time.
#[inline]
pub(crate) fn later(now_ns: i64, delay_ns: i64) -> Option<i64> {
    now_ns.checked_add(delay_ns.max(0))
}

/// Nanoseconds from `since_ns` to `now_ns` as a count; 0 if `since_ns` is later.
#[inline]
pub(crate) fn elapsed(now_ns: i64, since_ns: i64) -> u64 {
    now_ns.saturating_sub(since_ns).max(0).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_before_it_came() {
        assert_eq!(later(5, 3), Some(8));
        assert_eq!(later(5, -3), Some(5));
        assert_eq!(later(i64::MAX, 1), None);
    }

    #[test]
    fn no_time_elapses_before_the_start() {
        assert_eq!(elapsed(7, 3), 4);
        assert_eq!(elapsed(-7, -10), 3);
        assert_eq!(elapsed(3, 7), 0);
        assert_eq!(elapsed(i64::MAX, i64::MIN), i64::MAX.cast_unsigned());
    }
}
