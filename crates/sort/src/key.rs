//! Flow keys: small values that can be compared and hashed.

use core::hash::{Hash, Hasher};

use crate::siphash::hash_words;

/// Identifies a flow.
///
/// The hash only selects the place to look. Flows are distinguished by `Eq` on the whole key, so two keys with the same
/// hash never share a block.
pub trait FlowKey: Copy + Eq {
    /// A well mixed 64-bit hash that depends on the seed such that nobody can choose keys that collide who does not know
    /// it; [`hash_words`](crate::hash_words) is one.
    fn hash64(&self, seed: u64) -> u64;

    /// A hash of the path of this flow, for example of its pair of hosts. A sorter that learns starts a new flow with
    /// what it has learnt from others on the same path. By default all flows share one path.
    #[inline]
    fn path64(&self, seed: u64) -> u64 {
        let _ = seed;
        0
    }

    /// True when all of `keys` equal this one. Compares every key in any case, which is faster than stopping at the
    /// first difference.
    #[inline]
    fn is_all_of(&self, keys: impl Iterator<Item = Self>) -> bool {
        keys.fold(true, |all, key| all & (key == *self))
    }
}

impl FlowKey for u32 {
    #[inline]
    fn hash64(&self, seed: u64) -> u64 {
        u64::from(*self).hash64(seed)
    }
}

impl FlowKey for u64 {
    #[inline]
    fn hash64(&self, seed: u64) -> u64 {
        hash_words(&[*self], seed)
    }
}

impl FlowKey for u128 {
    #[inline]
    fn hash64(&self, seed: u64) -> u64 {
        hash_words(&[*self as u64, (*self >> 64) as u64], seed)
    }
}

/// The flow as the paper defines it, source and destination address and port, with a field for the overlay identifier
/// (VXLAN VNI, GRE key, ...) that separates tenants with equal addresses. 40 bytes.
///
/// ```
/// use inorder_sort::FourTuple;
/// let a = FourTuple::v4([10, 0, 0, 1], 80, [10, 0, 0, 2], 4000);
/// let b = FourTuple::v4([10, 0, 0, 2], 4000, [10, 0, 0, 1], 80);
/// assert_ne!(a, b); // one direction each: only data of one direction is sorted together
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FourTuple {
    words: [u64; 5],
}

impl PartialEq for FourTuple {
    /// Compares word by word without a branch: the derived comparison calls `memcmp`, which takes longer than the
    /// rest of a push.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c, d, e], [f, g, h, i, j]) = (self.words, other.words);
        (a ^ f) | (b ^ g) | (c ^ h) | (d ^ i) | (e ^ j) == 0
    }
}

impl Eq for FourTuple {}

impl Hash for FourTuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
    }
}

impl FourTuple {
    /// A flow over IPv4. Addresses are in network byte order.
    #[inline]
    pub fn v4(src: [u8; 4], src_port: u16, dst: [u8; 4], dst_port: u16) -> Self {
        let mapped = |a: [u8; 4]| 0xffff_0000_0000 | u64::from(u32::from_be_bytes(a));
        Self::from_words(0, mapped(src), 0, mapped(dst), src_port, dst_port)
    }

    /// A flow over IPv6. Addresses are in network byte order.
    #[inline]
    pub fn v6(src: [u8; 16], src_port: u16, dst: [u8; 16], dst_port: u16) -> Self {
        let (s, d) = (u128::from_be_bytes(src), u128::from_be_bytes(dst));
        let high = |x: u128| (x >> 64) as u64;
        Self::from_words(high(s), s as u64, high(d), d as u64, src_port, dst_port)
    }

    /// The same flow inside overlay `id`; 0 means no overlay.
    #[inline]
    #[must_use]
    pub fn in_overlay(mut self, id: u32) -> Self {
        self.words[4] = self.words[4] & !0xffff_ffff | u64::from(id);
        self
    }

    /// A flow identified by any 40 bytes, for callers with their own layout.
    #[inline]
    pub fn from_bytes(bytes: &[u8; 40]) -> Self {
        let mut words = [0; 5];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut le = [0; 8];
            le.copy_from_slice(chunk);
            *word = u64::from_le_bytes(le);
        }
        FourTuple { words }
    }

    /// The bytes from which [`FourTuple::from_bytes`] makes the same flow.
    #[inline]
    pub fn to_bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[inline]
    fn from_words(s1: u64, s0: u64, d1: u64, d0: u64, src_port: u16, dst_port: u16) -> Self {
        let ports = u64::from(src_port) << 48 | u64::from(dst_port) << 32;
        FourTuple {
            words: [s0, d0, s1, d1, ports],
        }
    }
}

impl FlowKey for FourTuple {
    /// Collects the differences word by word, which the compiler turns into vector instructions, and tests them once.
    #[inline]
    fn is_all_of(&self, keys: impl Iterator<Item = Self>) -> bool {
        let mut differing = [0; 5];
        for key in keys {
            for (so_far, (a, b)) in differing.iter_mut().zip(key.words.iter().zip(self.words)) {
                *so_far |= a ^ b;
            }
        }
        // A comparison with an array of zeros would be a call of `memcmp`.
        let [a, b, c, d, e] = differing;
        a | b | c | d | e == 0
    }

    #[inline]
    fn hash64(&self, seed: u64) -> u64 {
        hash_words(&self.words, seed)
    }

    /// The two addresses.
    #[inline]
    fn path64(&self, seed: u64) -> u64 {
        let [a, b, c, d, _] = self.words;
        hash_words(&[a, b, c, d], seed)
    }
}

/// A key with a hash computed elsewhere: by a network card (RSS), or by a type of another crate.
///
/// Keys with one hash share a place under every seed. So where packets come from strangers, the hash must have a key of
/// its own that they do not know, as RSS has.
#[derive(Clone, Copy, Debug)]
pub struct Hashed<K> {
    key: K,
    hash: u64,
}

impl<K: Copy + Eq> Hashed<K> {
    /// `hash` must be the same for equal keys.
    #[inline]
    pub fn new(key: K, hash: u64) -> Self {
        Hashed { key, hash }
    }

    /// The key itself.
    #[inline]
    pub fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Copy + Eq> PartialEq for Hashed<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.key == other.key
    }
}

impl<K: Copy + Eq> Eq for Hashed<K> {}

impl<K: Copy + Eq> FlowKey for Hashed<K> {
    #[inline]
    fn hash64(&self, seed: u64) -> u64 {
        // The hash of a card uses 32 bits or fewer; mixing spreads them over the word.
        hash_words(&[self.hash], seed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_field_of_the_four_tuple_counts() {
        let base = FourTuple::v4([10, 0, 0, 1], 1, [10, 0, 0, 2], 2);
        let others = [
            FourTuple::v4([10, 0, 0, 9], 1, [10, 0, 0, 2], 2),
            FourTuple::v4([10, 0, 0, 1], 9, [10, 0, 0, 2], 2),
            FourTuple::v4([10, 0, 0, 1], 1, [10, 0, 0, 9], 2),
            FourTuple::v4([10, 0, 0, 1], 1, [10, 0, 0, 2], 9),
            base.in_overlay(9),
        ];
        for other in others {
            assert_ne!(base, other);
            assert_ne!(base.hash64(7), other.hash64(7));
        }
        assert_eq!(base, base.in_overlay(9).in_overlay(0));
    }

    #[test]
    fn bytes_and_back() {
        let flow = FourTuple::v4([1, 2, 3, 4], 5, [6, 7, 8, 9], 10).in_overlay(11);
        assert_eq!(FourTuple::from_bytes(&flow.to_bytes()), flow);
    }

    #[test]
    fn a_v4_flow_is_its_mapped_v6_flow() {
        let mapped = |last| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last];
        assert_eq!(
            FourTuple::v4([10, 0, 0, 1], 5, [10, 0, 0, 2], 6),
            FourTuple::v6(mapped(1), 5, mapped(2), 6)
        );
    }

    #[test]
    fn the_seed_changes_the_hash() {
        let key = FourTuple::v4([1, 2, 3, 4], 5, [6, 7, 8, 9], 10);
        assert_ne!(key.hash64(1), key.hash64(2));
        assert_ne!(7u64.hash64(1), 7u64.hash64(2));
        assert_ne!(7u128.hash64(1), 7u128.hash64(2));
    }

    /// The hash that flows had before: it multiplied, so a word that makes one operand zero hides the word beside it,
    /// under every seed.
    fn multiplied(key: &FourTuple, seed: u64) -> u64 {
        const PI: [u64; 4] = [
            0x243f_6a88_85a3_08d3,
            0x1319_8a2e_0370_7344,
            0xa409_3822_299f_31d1,
            0x082e_fa98_ec4e_6c89,
        ];
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            (wide as u64) ^ ((wide >> 64) as u64)
        };
        let [a, b, c, d, e] = key.words;
        let x = fold(a ^ seed ^ PI[0], b ^ PI[1]);
        let y = fold(c ^ e ^ PI[2], d ^ e.rotate_left(32) ^ PI[3]);
        fold(x ^ e, y ^ seed)
    }

    /// IPv6 flows to one destination and between two ports, whose sources are chosen to collide under [`multiplied`].
    pub(crate) fn chosen(count: u64) -> impl Iterator<Item = FourTuple> {
        let ports = 7u64 << 48 | 443 << 32;
        (0..count).map(move |n| FourTuple {
            // The lower half of the destination cancels the constant beside that of the source.
            words: [n * n, 0x1319_8a2e_0370_7344, 1 << 61, 2 << 61, ports],
        })
    }

    #[test]
    fn keys_chosen_for_a_hash_that_multiplies_are_spread() {
        for seed in [0, 7, u64::MAX] {
            let distinct = |hash: fn(&FourTuple, u64) -> u64| {
                let all: BTreeSet<u64> = chosen(5_000).map(|key| hash(&key, seed)).collect();
                all.len()
            };
            assert_eq!(distinct(multiplied), 1);
            assert_eq!(distinct(FourTuple::hash64), 5_000);
        }
    }
}
