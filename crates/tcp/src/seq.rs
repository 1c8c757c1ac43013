//! Sequence numbers: 32 bits in segments, 64 bits in computations.
//!
//! The low 32 bits of a 64-bit sequence number are those of the segment, so one conversion is a truncation, and the
//! other needs a nearby number as reference.

/// A sequence number that does not wrap.
pub type Seq = u64;

/// The 64-bit number for an initial sequence number. It is at least one wrap above zero, so that numbers slightly
/// older than the connection stay positive.
pub(crate) fn first(isn: u32) -> Seq {
    (1 << 32) | u64::from(isn)
}

/// The 64-bit number nearest to `near` whose low half is `wire` (RFC 9293 section 3.4: arithmetic modulo 2^32).
pub(crate) fn expand(near: Seq, wire: u32) -> Seq {
    inorder_base::sequence::nearest(near, wire.into(), u32::BITS)
}

/// True if the timestamp `a` is earlier than `b` (RFC 7323 section 5.2: modulo 2^32).
pub(crate) fn ts_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_in_both_directions() {
        let start = first(u32::MAX - 1);
        assert_eq!(expand(start, u32::MAX), start + 1);
        assert_eq!(expand(start, 3), start + 5);
        assert_eq!(expand(start + 5, u32::MAX), start + 1);
        assert_eq!(expand(first(0), u32::MAX), first(0) - 1);
    }

    #[test]
    fn timestamps_wrap() {
        assert!(ts_before(u32::MAX, 0));
        assert!(!ts_before(0, u32::MAX));
        assert!(!ts_before(7, 7));
    }
}
