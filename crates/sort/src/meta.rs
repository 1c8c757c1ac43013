//! What a sorter must know of a packet.

/// The facts a sorter works on; the packet itself stays opaque to it.
///
/// Sequence numbers are modulo 2^32. A service that numbers packets in fewer or more bits is
/// fitted in by [`Meta::numbered`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meta<K> {
    /// The flow, one direction of it.
    pub flow: K,
    /// Sequence number of the first payload byte.
    pub seq: u32,
    /// What the packet adds to the sequence number: payload bytes for TCP.
    pub len: u32,
    /// What may be done with it. [`crate::classify`] says it of a TCP segment.
    pub kind: Kind,
}

/// What a sorter may do with a packet.
///
/// Only [`Kind::Data`] may be held and sorted. All others pass at once; they are told apart since
/// a sorter that learns from its traffic looks at them: a SYN and the ACK after it show a
/// round-trip time, after a FIN or RST a flow may be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Data with a sequence number: it may be held and sorted.
    Data,
    /// A TCP segment that only acknowledges: no data, none of SYN, FIN and RST.
    Ack,
    /// A TCP segment with SYN: the flow begins.
    Open,
    /// A TCP segment with FIN or RST: the flow ends.
    Close,
    /// Anything else that must not wait: a fragment, URG, an option the sorter does not know.
    Other,
}

impl<K> Meta<K> {
    /// A TCP segment that may be sorted.
    #[inline]
    pub fn data(flow: K, seq: u32, len: u32) -> Self {
        Meta {
            flow,
            seq,
            len,
            kind: Kind::Data,
        }
    }

    /// A packet of `flow` that must not wait; its sequence number is not used.
    #[inline]
    pub fn unsuitable(flow: K) -> Self {
        Meta {
            flow,
            seq: 0,
            len: 0,
            kind: Kind::Other,
        }
    }

    /// May the packet be held and sorted?
    #[inline]
    pub fn is_suitable(&self) -> bool {
        self.kind == Kind::Data
    }

    /// A packet numbered one by one in `bits` bits (RTP 16, ESP 32, WireGuard 64).
    ///
    /// Fewer than 32 bits are shifted to the top of the word, one packet counting 2^(32 - bits),
    /// so that they wrap where their service wraps; of more than 32 the low ones decide, which
    /// is enough for any block shorter than 2^31 packets.
    #[inline]
    pub fn numbered(flow: K, number: u64, bits: u32) -> Self {
        let shift = 32u32.saturating_sub(bits).min(31);
        Meta::data(flow, (number as u32) << shift, 1 << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_numbers_wrap_at_sixteen_bits() {
        let last = Meta::numbered((), 0xffff, 16);
        let first = Meta::numbered((), 0, 16);
        assert_eq!(last.seq.wrapping_add(last.len), first.seq);
    }

    #[test]
    fn wide_numbers_keep_their_low_half() {
        let a = Meta::numbered((), 0x1_ffff_ffff, 64);
        let b = Meta::numbered((), 0x2_0000_0000, 64);
        assert_eq!(a.seq.wrapping_add(a.len), b.seq);
    }

    #[test]
    fn no_width_is_out_of_range() {
        for bits in [0, 1, 31, 32, 33, u32::MAX] {
            assert!(Meta::numbered((), u64::MAX, bits).len >= 1);
        }
    }
}
