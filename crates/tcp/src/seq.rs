//! Sequence numbers: 32 bits on the wire, 64 inside.
//!
//! A 64-bit sequence number carries the wire's number in its low 32 bits, so that turning one into the other is
//! a truncation, and unwrapping needs only a nearby number as reference.

/// A sequence number that does not wrap.
pub type Seq = u64;

/// The 64-bit number of an initial sequence number. One wrap of headroom lies below it, so that numbers a
/// little older than the connection stay positive.
pub(crate) fn first(isn: u32) -> Seq {
    (1 << 32) | u64::from(isn)
}

/// The 64-bit number nearest to `near` whose low half is `wire` (RFC 9293 section 3.4: arithmetic modulo 2^32).
pub(crate) fn expand(near: Seq, wire: u32) -> Seq {
    inorder_sequence::nearest(near, wire.into(), u32::BITS)
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
