//! The Internet checksum (RFC 1071).

/// Adds `bytes` to a sum; bytes of odd length are padded with a zero, so only the last part may be odd.
pub fn add(sum: u64, bytes: &[u8]) -> u64 {
    // Sums of 32-bit words in 64 bits do not overflow below 16 GB, and fold to the same result (RFC 1071 section 2).
    let (words, rest) = bytes.as_chunks::<4>();
    let whole: u64 = words
        .iter()
        .map(|&word| u64::from(u32::from_be_bytes(word)))
        .sum();
    let mut last = [0; 4];
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    sum + whole + u64::from(u32::from_be_bytes(last))
}

/// The 16-bit sum without the final complement.
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of a sum.
pub fn finish(sum: u64) -> u16 {
    !fold(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: the sum of these bytes is ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(add(0, &bytes)), 0xddf2);
        assert_eq!(finish(add(0, &bytes)), !0xddf2);
    }

    #[test]
    fn an_odd_end_is_padded() {
        assert_eq!(fold(add(0, &[1, 2, 3])), 0x0102 + 0x0300);
        assert_eq!(fold(add(0, &[1, 2, 3, 4, 5])), 0x0102 + 0x0304 + 0x0500);
    }
}
