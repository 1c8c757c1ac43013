//! Classic pcap (draft-ietf-opsawg-pcap): a file header, then records one after the other.

use crate::info::Format;
use inorder_wire::{Frame, LinkType};

/// Length of the file header, bytes.
pub(crate) const FILE_HEADER_LEN: usize = 24;

/// Longest record that any writer creates, whatever its snap length is (libpcap's own limit), bytes.
const USUAL_MAX_LEN: u32 = 262_144;

/// A record longer than this, in bytes, counts as damage even if the snap length allows it.
pub(crate) const MAX_LEN: u32 = 256 << 20;

/// Nanoseconds in a second.
const NANOS: i64 = 1_000_000_000;

/// How many bytes ahead of the current record the walk prefetches.
const LOOK_AHEAD: usize = 1024;

/// Layout of the records of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    big_endian: bool,
    /// Nanoseconds per unit of the fraction: 1 or 1000.
    unit_ns: i64,
    /// 16 bytes, or 24 in the variant that some old Linux distributions wrote.
    header_len: u32,
    link: LinkType,
    /// Longest record that is accepted, bytes.
    max_len: u32,
}

/// Contents of the file header.
pub(crate) struct FileHeader {
    pub(crate) records: Records,
    pub(crate) format: Format,
    pub(crate) link: LinkType,
    pub(crate) snaplen: u32,
}

/// How far a walk over the records in a buffer got.
#[derive(Default, Debug)]
pub(crate) struct Walk {
    /// Bytes of complete records.
    pub(crate) consumed: usize,
    /// Number of frames in them.
    pub(crate) frames: usize,
    /// Why the walk stopped before the end of the buffer, if it did.
    pub(crate) damage: Option<String>,
}

impl FileHeader {
    /// Reads the file header; `None` if the magic number belongs to another format.
    pub(crate) fn read(bytes: &[u8; FILE_HEADER_LEN]) -> Option<FileHeader> {
        let [m0, m1, m2, m3, _, _, _, _, ..] = *bytes;
        let (magic, big_endian) = match u32::from_be_bytes([m0, m1, m2, m3]) {
            be @ (0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34) => (be, true),
            le => (le.swap_bytes(), false),
        };
        let (format, unit_ns, header_len) = match magic {
            0xa1b2_c3d4 => (Format::PcapMicro, 1000, 16),
            0xa1b2_3c4d => (Format::PcapNano, 1, 16),
            // Kuznetzov's variant: eight more bytes in each record header.
            0xa1b2_cd34 => (Format::PcapMicro, 1000, 24),
            _ => return None,
        };
        let word = |at| u32_at(big_endian, bytes, at).unwrap_or(0);
        let snaplen = word(16);
        // The upper bits of the last word describe frame check sequences.
        let link = LinkType(word(20) as u16);
        let records = Records {
            big_endian,
            unit_ns,
            header_len,
            link,
            max_len: snaplen.clamp(USUAL_MAX_LEN, MAX_LEN),
        };
        Some(FileHeader {
            records,
            format,
            link,
            snaplen,
        })
    }
}

#[inline(always)]
fn u32_at(big_endian: bool, bytes: &[u8], at: usize) -> Option<u32> {
    let word = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian {
        u32::from_be_bytes(word)
    } else {
        u32::from_le_bytes(word)
    })
}

/// The four words of a record header.
#[inline(always)]
fn words<const BIG_ENDIAN: bool>(header: &[u8; 16]) -> [u32; 4] {
    let word = |at| u32_at(BIG_ENDIAN, header, at).unwrap_or(0);
    [word(0), word(4), word(8), word(12)]
}

impl Records {
    /// Counts the complete records in `bytes`, which must begin with a record.
    pub(crate) fn walk(&self, bytes: &[u8]) -> Walk {
        if self.big_endian {
            self.walk_in::<true>(bytes)
        } else {
            self.walk_in::<false>(bytes)
        }
    }

    fn walk_in<const BIG_ENDIAN: bool>(&self, bytes: &[u8]) -> Walk {
        let mut walk = Walk::default();
        let mut rest = bytes;
        let mut touched = 0;
        while let Some(header) = rest.first_chunk::<12>() {
            let len = u32_at(BIG_ENDIAN, header, 8).unwrap_or(0);
            // Wraps for a record without a frame: one comparison finds both kinds that are rare.
            if len.wrapping_sub(1) >= self.max_len {
                walk.damage = self.damage(header, len);
                if walk.damage.is_some() {
                    break;
                }
            }
            let Some(behind) = rest.get(self.record_len(len)..) else {
                break;
            };
            rest = behind;
            walk.frames += 1;
            // Each header is found only by reading the one before, so cache misses would follow one after the other.
            // Prefetching well ahead overlaps them.
            touched ^= rest.get(LOOK_AHEAD).copied().unwrap_or(0);
        }
        std::hint::black_box(touched);
        walk.consumed = bytes.len() - rest.len();
        walk
    }

    /// What is wrong with a record that is too long or empty. The header of another file, read as that of a record, is one of
    /// an empty frame.
    #[cold]
    fn damage(&self, header: &[u8; 12], len: u32) -> Option<String> {
        if len > self.max_len {
            return Some(format!(
                "a record of {len} bytes; at most {} were expected",
                self.max_len
            ));
        }
        let mut file = [0; FILE_HEADER_LEN];
        file[..12].copy_from_slice(header);
        let other = FileHeader::read(&file)?.records;
        // Version 2.4, the only one in use.
        let version = u32_at(other.big_endian, header, 4)?;
        let expected = if other.big_endian {
            0x0002_0004
        } else {
            0x0004_0002
        };
        (version == expected).then(|| {
            "another capture file begins here, as after `cat`; expected one file: join captures with mergecap".to_owned()
        })
    }

    /// The frame whose record starts at the beginning of `bytes`, and the bytes behind the record.
    #[inline(always)]
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8], number: u64) -> Option<(Frame<'a>, &'a [u8])> {
        let header = bytes.first_chunk::<16>()?;
        // One length check for all words instead of one for each.
        let [seconds, fraction, captured, orig_len] = if self.big_endian {
            words::<true>(header)
        } else {
            words::<false>(header)
        };
        let (record, behind) = bytes.split_at_checked(self.record_len(captured))?;
        let frame = Frame {
            ts_ns: self.timestamp(seconds, fraction),
            number,
            link: self.link,
            orig_len,
            data: record.get(self.header_len as usize..)?,
        };
        Some((frame, behind))
    }

    /// Length of a record with `captured` bytes of the frame; two 32-bit numbers cannot overflow.
    #[inline(always)]
    fn record_len(&self, captured: u32) -> usize {
        self.header_len as usize + captured as usize
    }

    /// Seconds are unsigned (up to the year 2106), as the format demands. A fraction with its top bit set can only be
    /// a negative number: some tools subtract timestamps and write the difference this way. Both fields are then read
    /// as signed.
    #[inline]
    fn timestamp(&self, seconds: u32, fraction: u32) -> i64 {
        if fraction >> 31 == 0 {
            i64::from(seconds) * NANOS + i64::from(fraction) * self.unit_ns
        } else {
            self.signed_timestamp(seconds as i32, fraction as i32)
        }
    }

    #[cold]
    fn signed_timestamp(&self, seconds: i32, fraction: i32) -> i64 {
        i64::from(seconds) * NANOS + i64::from(fraction) * self.unit_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(magic: [u8; 4], snaplen: u32, link: u32) -> [u8; FILE_HEADER_LEN] {
        let mut header = [0; FILE_HEADER_LEN];
        header[..4].copy_from_slice(&magic);
        header[16..20].copy_from_slice(&snaplen.to_le_bytes());
        header[20..].copy_from_slice(&link.to_le_bytes());
        header
    }

    fn micro() -> Records {
        FileHeader::read(&header([0xd4, 0xc3, 0xb2, 0xa1], 96, 1))
            .unwrap()
            .records
    }

    #[test]
    fn the_magic_tells_the_variant() {
        let read = |magic| FileHeader::read(&header(magic, 0, 0xf400_0001));
        assert_eq!(
            read([0xd4, 0xc3, 0xb2, 0xa1]).unwrap().format,
            Format::PcapMicro
        );
        assert_eq!(
            read([0x4d, 0x3c, 0xb2, 0xa1]).unwrap().format,
            Format::PcapNano
        );
        assert_eq!(
            read([0xa1, 0xb2, 0x3c, 0x4d]).unwrap().format,
            Format::PcapNano
        );
        assert_eq!(
            read([0x34, 0xcd, 0xb2, 0xa1]).unwrap().records.header_len,
            24
        );
        assert_eq!(
            read([0x4d, 0x3c, 0xb2, 0xa1]).unwrap().link,
            LinkType::ETHERNET
        );
        assert!(read([0x0a, 0x0d, 0x0d, 0x0a]).is_none());
    }

    #[test]
    fn timestamps_before_1970_and_after_2038() {
        let at = |s: i64, f: i64| micro().timestamp(s as u32, f as u32);
        assert_eq!(at(5, 6), 5_000_006_000);
        assert_eq!(at(-3599, -996_481), -3_599_996_481_000);
        assert_eq!(at(0x9000_0000, 0), 0x9000_0000 * 1_000_000_000);
    }

    #[test]
    fn a_walk_ends_at_the_last_whole_record() {
        let mut bytes = Vec::new();
        for len in [3u32, 0, 5] {
            bytes.extend([0; 8]);
            bytes.extend(len.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(vec![7; len as usize]);
        }
        let walk = micro().walk(&bytes[..bytes.len() - 1]);
        assert_eq!((walk.consumed, walk.frames), (19 + 16, 2));
        assert_eq!(micro().walk(&bytes).frames, 3);
    }

    #[test]
    fn another_file_behind_the_last_record_is_damage_and_an_empty_frame_is_none() {
        let mut empty = [0; 16];
        empty[..4].copy_from_slice(&7u32.to_le_bytes());
        assert_eq!(micro().walk(&empty).frames, 1);
        for (magic, version) in [
            ([0xd4, 0xc3, 0xb2, 0xa1], [2, 0, 4, 0]),
            ([0xa1, 0xb2, 0x3c, 0x4d], [0, 2, 0, 4]),
        ] {
            let mut bytes = empty.to_vec();
            let mut file = header(magic, 65_535, 1);
            file[4..8].copy_from_slice(&version);
            bytes.extend(file);
            let walk = micro().walk(&bytes);
            assert_eq!(walk.frames, 1);
            assert!(walk.damage.unwrap().contains("another capture file"));
        }
    }

    #[test]
    fn absurd_lengths_are_damage() {
        let mut bytes = [0; 16];
        bytes[8..12].copy_from_slice(&262_145u32.to_le_bytes());
        let walk = micro().walk(&bytes);
        assert!(walk.damage.unwrap().contains("262145"));
    }
}
