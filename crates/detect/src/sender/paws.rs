//! When a receiver refuses data for its timestamp (PAWS, RFC 7323 section 5.3).

/// TSvals one tick apart pass PAWS in Linux (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;

/// By how many ticks `tsval` is older than a receiver's TS.Recent, `recent`.
pub(super) fn ticks_too_old(tsval: u32, recent: u32) -> i32 {
    recent.wrapping_sub(tsval) as i32
}

/// An original with `tsval` would be discarded by a receiver whose TS.Recent is `recent`.
pub(super) fn discarded(tsval: u32, recent: u32) -> bool {
    ticks_too_old(tsval, recent) > PAWS_WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tick_is_tolerated_across_the_wrap() {
        assert_eq!(ticks_too_old(u32::MAX, 1), 2);
        assert!(discarded(u32::MAX, 1));
        assert!(!discarded(0, 1) && !discarded(5, 1));
    }
}
