//! The option of Multipath TCP (RFC 8684, and RFC 6824 for version 0) as far as the order of its data needs it.

/// A segment with the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subflow {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub frame: u64,
    /// Sequence number of the segment on its subflow.
    pub seq: u32,
    /// Bytes of payload.
    pub payload_len: u32,
    /// True for SYN and SYN/ACK.
    pub syn: bool,
    /// What the option says.
    pub option: Multipath,
}

/// The parts of the option that are needed here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multipath {
    /// MP_CAPABLE (RFC 8684 section 3.1): the connection begins; the key of the sender, if it is present.
    Capable {
        /// 0 hashes keys with SHA-1 (RFC 6824), 1 with SHA-256 (RFC 8684).
        version: u8,
        /// The key of the sender of the segment.
        key: Option<u64>,
    },
    /// MP_JOIN in a SYN (section 3.2): another subflow of the connection whose receiver has this token.
    Join {
        /// The most significant 32 bits of the hash of the receiver's key.
        token: u32,
    },
    /// The mapping of a DSS (section 3.3): bytes of the subflow are bytes of the data.
    Data {
        /// Data sequence number of the first byte, 64 bits or the lower 32.
        number: u64,
        /// 64 or 32.
        bits: u8,
        /// The subflow's sequence number of that byte, counted from the first SYN.
        subflow: u32,
        /// Bytes that are mapped.
        len: u16,
    },
}

/// Reads the first option of this kind among the captured options of a segment; `syn` is its flag.
pub(crate) fn find(options: &[u8], syn: bool) -> Option<Multipath> {
    const KIND: u8 = 30;
    let mut rest = options;
    loop {
        match rest {
            [0, ..] | [] => return None,
            [1, after @ ..] => rest = after,
            [kind, len, ..] => {
                let (option, next) = rest.split_at_checked(usize::from(*len).max(2))?;
                if *kind == KIND
                    && let Some(found) = read(option, syn)
                {
                    return Some(found);
                }
                rest = next;
            }
            [_] => return None,
        }
    }
}

fn read(option: &[u8], syn: bool) -> Option<Multipath> {
    match option.get(2)? >> 4 {
        0 => Some(Multipath::Capable {
            version: option[2] & 0x0f,
            key: number::<8>(option, 4),
        }),
        // With 12 bytes the option of a SYN; that of a SYN/ACK has a truncated hash instead of the token.
        1 if syn && option.len() == 12 => Some(Multipath::Join {
            token: number::<4>(option, 4)? as u32,
        }),
        2 => data(option),
        _ => None,
    }
}

/// DSS: flags, then a data acknowledgement of 4 or 8 bytes, then the mapping.
fn data(option: &[u8]) -> Option<Multipath> {
    const HAS_ACK: u8 = 0x01;
    const WIDE_ACK: u8 = 0x02;
    const HAS_MAPPING: u8 = 0x04;
    const WIDE_NUMBER: u8 = 0x08;
    let flags = *option.get(3)?;
    if flags & HAS_MAPPING == 0 {
        return None;
    }
    let at = match flags & (HAS_ACK | WIDE_ACK) {
        HAS_ACK => 8,
        flags if flags == HAS_ACK | WIDE_ACK => 12,
        _ => 4,
    };
    let wide = flags & WIDE_NUMBER != 0;
    let (number_bytes, data_number) = match wide {
        true => (8, number::<8>(option, at)?),
        false => (4, number::<4>(option, at)?),
    };
    Some(Multipath::Data {
        number: data_number,
        bits: 8 * number_bytes,
        subflow: number::<4>(option, at + usize::from(number_bytes))? as u32,
        len: number::<2>(option, at + usize::from(number_bytes) + 4)? as u16,
    })
}

/// The big-endian number of `N` bytes at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes: &[u8; N] = bytes.get(at..)?.first_chunk()?;
    Some(
        bytes
            .iter()
            .fold(0, |all, byte| all << 8 | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_behind_others() {
        let join = [1, 1, 30, 12, 0x10, 7, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4];
        let token = 0xdead_beef;
        assert_eq!(find(&join, true), Some(Multipath::Join { token }));
        assert_eq!(find(&join, false), None);
        let mut dss = vec![2, 4, 5, 180, 30, 18, 0x20, 0x05, 0, 0, 0, 9];
        dss.extend([0, 0, 1, 0, 0, 0, 0, 1, 5, 220]);
        let data = Multipath::Data {
            number: 256,
            bits: 32,
            subflow: 1,
            len: 1500,
        };
        assert_eq!(find(&dss, false), Some(data));
    }

    #[test]
    fn options_cut_anywhere_cause_no_panic() {
        let mut dss = vec![30, 28, 0x20, 0x0f];
        dss.extend([0; 24]);
        for len in 0..dss.len() {
            assert_eq!(find(&dss[..len], false), None);
        }
        assert!(find(&dss, false).is_some());
    }
}
