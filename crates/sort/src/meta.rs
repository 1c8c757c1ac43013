//! What a sorter needs to know about a packet.

/// The properties of a packet that a sorter uses. It never looks at the packet itself.
///
/// Sequence numbers are modulo 2^32. [`Meta::numbered`] converts the numbers of services that use fewer or more bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meta<K> {
    /// The flow, which is one direction of a connection.
    pub flow: K,
    /// Sequence number of the first payload byte.
    pub seq: u32,
    /// The amount the packet adds to the sequence number: for TCP the payload bytes.
    pub len: u32,
    /// How a sorter may treat it. [`crate::classify`] determines this for a TCP segment.
    pub kind: Kind,
}

/// How a sorter may treat a packet.
///
/// Only [`Kind::Data`] may be held and sorted; all others pass at once. They are distinguished because a sorter that
/// learns from its traffic uses them: a SYN and the ACK after it show a round-trip time, and after a FIN or RST a
/// flow may be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Data with a sequence number: it may be held and sorted.
    Data,
    /// A TCP segment that only carries an acknowledgement: no data, and none of SYN, FIN and RST.
    Ack,
    /// A TCP segment with SYN: the flow begins.
    Open,
    /// A TCP segment with FIN or RST: the flow ends.
    Close,
    /// Any other packet that must not be held: a fragment, URG, an option the sorter does not know.
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

    /// A packet of `flow` that must not be held; its sequence number is not used.
    #[inline]
    pub fn unsuitable(flow: K) -> Self {
        Meta {
            flow,
            seq: 0,
            len: 0,
            kind: Kind::Other,
        }
    }

    /// True when the packet may be held and sorted.
    #[inline]
    pub fn is_suitable(&self) -> bool {
        self.kind == Kind::Data
    }

    /// A packet of a service that numbers its packets one by one in `bits` bits (RTP 16, ESP 32, WireGuard 64).
    ///
    /// Numbers of fewer than 32 bits are shifted to the top of the word, and one packet counts 2^(32 - bits), so that
    /// they wrap where the service wraps. Of numbers with more bits the low 32 are used, which is enough for any
    /// block shorter than 2^31 packets.
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
    fn any_width_is_accepted() {
        for bits in [0, 1, 31, 32, 33, u32::MAX] {
            assert!(Meta::numbered((), u64::MAX, bits).len >= 1);
        }
    }
}
