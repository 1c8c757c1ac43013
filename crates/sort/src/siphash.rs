//! SipHash-1-3 (Aumasson and Bernstein, 2012): a hash whose collisions nobody can choose who does not know its key.
//!
//! A multiplication is faster, but whoever chooses the input can make one operand zero, whatever the key is, and then the
//! other operand does not count any more.

/// The hash of these words, for a key of 64 bits. The same as that of their bytes, little-endian, with the key
/// `(seed, 0)`.
#[inline]
pub fn hash_words<const N: usize>(words: &[u64; N], seed: u64) -> u64 {
    // "somepseudorandomlygeneratedbytes", as the paper begins.
    let mut state = [
        seed ^ 0x736f_6d65_7073_6575,
        0x646f_7261_6e64_6f6d,
        seed ^ 0x6c79_6765_6e65_7261,
        0x7465_6462_7974_6573,
    ];
    for word in words {
        state[3] ^= word;
        round(&mut state);
        state[0] ^= word;
    }
    // The last word of the paper: the number of bytes in its upper byte, and no bytes that are left over.
    let last = (N as u64 * 8) << 56;
    state[3] ^= last;
    round(&mut state);
    state[0] ^= last;
    state[2] ^= 0xff;
    for _ in 0..3 {
        round(&mut state);
    }
    let [a, b, c, d] = state;
    a ^ b ^ c ^ d
}

/// SipRound.
#[inline(always)]
fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *c = c.wrapping_add(*d);
    *b = b.rotate_left(13) ^ *a;
    *d = d.rotate_left(16) ^ *c;
    *a = a.rotate_left(32).wrapping_add(*d);
    *c = c.wrapping_add(*b);
    *d = d.rotate_left(21) ^ *a;
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hasher};

    #[test]
    fn without_a_key_it_is_the_hash_of_the_standard_library() {
        let words = [7, 1, u64::MAX, 0, 5];
        let mut theirs = DefaultHasher::new();
        words
            .iter()
            .for_each(|word: &u64| theirs.write(&word.to_le_bytes()));
        assert_eq!(hash_words(&words, 0), theirs.finish());
        assert_eq!(hash_words(&[], 0), DefaultHasher::new().finish());
        assert_ne!(hash_words(&words, 1), hash_words(&words, 0));
    }
}
