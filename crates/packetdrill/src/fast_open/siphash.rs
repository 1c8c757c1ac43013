//! SipHash-2-4 (Aumasson and Bernstein, 2012), from which Linux makes the cookies of TCP Fast Open.

/// The hash of `message` under `key`.
pub(super) fn hash(key: &[u8; 16], message: &[u8]) -> u64 {
    let (low, high) = (word(&key[..8]), word(&key[8..]));
    let mut state = State([
        low ^ 0x736f_6d65_7073_6575,
        high ^ 0x646f_7261_6e64_6f6d,
        low ^ 0x6c79_6765_6e65_7261,
        high ^ 0x7465_6462_7974_6573,
    ]);
    let chunks = message.chunks_exact(8);
    // The last word holds the rest of the message, and its length in the highest byte.
    let last = word(chunks.remainder()) | (message.len() as u64) << 56;
    for part in chunks.map(word).chain([last]) {
        state.0[3] ^= part;
        state.round();
        state.round();
        state.0[0] ^= part;
    }
    state.0[2] ^= 0xff;
    for _ in 0..4 {
        state.round();
    }
    state.0.into_iter().fold(0, |all, part| all ^ part)
}

/// Up to eight bytes, the first one lowest.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |all, &byte| all << 8 | u64::from(byte))
}

struct State([u64; 4]);

impl State {
    fn round(&mut self) {
        let v = &mut self.0;
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
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
