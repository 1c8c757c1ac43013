//! SipHash-2-4 (Aumasson and Bernstein, 2012), from which Linux makes the cookies of TCP Fast Open.

use std::hash::Hasher;

/// The hash of `message` under `key`.
#[expect(
    deprecated,
    reason = "the hasher that replaces it in the standard library is SipHash-1-3"
)]
pub(super) fn hash(key: &[u8; 16], message: &[u8]) -> u64 {
    let key = u128::from_le_bytes(*key);
    let mut hasher = std::hash::SipHasher::new_with_keys(key as u64, (key >> 64) as u64);
    hasher.write(message);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_of_the_paper() {
        // Appendix A: key 00 01 .. 0f, message 00 01 .. 0e.
        let key = std::array::from_fn(|i| i as u8);
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(super::hash(&key, &message), 0xa129_ca61_49be_45e5);
    }
}
