//! snoop (RFC 1761): a file header, then records, all numbers in network byte order.

use crate::block::Record;
use crate::pcap::{MAX_LEN, Walk};
use inorder_wire::LinkType;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"snoop\0\0\0";
/// Length of the file header, bytes.
pub(crate) const FILE_HEADER_LEN: usize = 16;
/// The only version in use.
const VERSION: u32 = 2;
/// Length of the header of a record, bytes.
const RECORD_HEADER_LEN: usize = 24;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_MICROSECOND: i64 = 1_000;

/// What a file header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snoop {
    link: LinkType,
}

impl Snoop {
    /// Reads the file header; `None` if `bytes` begin another format.
    pub(crate) fn read(bytes: &[u8]) -> Option<Result<Snoop, String>> {
        let header: &[u8; FILE_HEADER_LEN] = bytes.first_chunk()?;
        let (magic, rest) = header.split_first_chunk()?;
        if magic != MAGIC {
            return None;
        }
        let (version, datalink) = (word(rest, 0)?, word(rest, 4)?);
        if version != VERSION {
            return Some(Err(format!("a snoop capture of version {version}, not 2")));
        }
        Some(match link_of(datalink) {
            Some(link) => Ok(Snoop { link }),
            None => Err(format!(
                "a snoop capture of datalink type {datalink}, not Ethernet, Token Ring or FDDI"
            )),
        })
    }

    /// The link type of all frames.
    pub(crate) fn link(self) -> LinkType {
        self.link
    }

    /// Reads the complete records in `bytes`, which must begin with a record, into `records`.
    pub(crate) fn walk(self, bytes: &[u8], records: &mut Vec<Record>) -> Walk {
        let (mut at, mut damage) = (0, None);
        while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            match self.record(header, at) {
                Ok((record, len)) if bytes.len() - at >= len => {
                    records.push(record);
                    at += len;
                }
                Ok(_) => break,
                Err(what) => {
                    damage = Some(what);
                    break;
                }
            }
        }
        Walk {
            consumed: at,
            frames: records.len(),
            damage,
        }
    }

    /// The record whose header stands at `at`, and its length with what fills it up.
    fn record(
        self,
        header: &[u8; RECORD_HEADER_LEN],
        at: usize,
    ) -> Result<(Record, usize), String> {
        let [orig_len, captured, len, _drops, seconds, micros] =
            std::array::from_fn(|i| word(header, 4 * i).unwrap_or(0));
        let needed = captured.saturating_add(RECORD_HEADER_LEN as u32);
        if len > MAX_LEN || len < needed {
            return Err(format!(
                "a record of {len} bytes with {captured} of a frame; expected {needed} to {MAX_LEN}"
            ));
        }
        let record = Record {
            ts_ns: i64::from(seconds) * NANOS_PER_SECOND
                + i64::from(micros) * NANOS_PER_MICROSECOND,
            // Offsets fit in 32 bits: records are below 256 MiB, and a buffer holds little more than one.
            at: u32::try_from(at + RECORD_HEADER_LEN).map_err(|_| "buffer overrun".to_string())?,
            captured,
            orig_len,
            link: self.link,
            interface: 0,
        };
        Ok((record, len as usize))
    }
}

/// The link type that a datalink type of RFC 1761 stands for.
fn link_of(datalink: u32) -> Option<LinkType> {
    Some(match datalink {
        // IEEE 802.3, whose frames have a length in place of the type, and Ethernet.
        0 | 4 => LinkType::ETHERNET,
        2 => LinkType::TOKEN_RING,
        8 => LinkType::FDDI,
        _ => return None,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with `captured` bytes of a frame of 1,514, filled up to `len`.
    fn record(captured: u32, len: u32) -> Vec<u8> {
        let words = [1_514, captured, len, 0, 5, 6];
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        bytes.resize(len as usize, 7);
        bytes
    }

    const ETHERNET: Snoop = Snoop {
        link: LinkType::ETHERNET,
    };

    #[test]
    fn records_are_found_behind_what_fills_up_the_one_before() {
        let bytes = [record(60, 84), record(42, 68), record(9, 36)].concat();
        let mut records = Vec::new();
        let walk = ETHERNET.walk(&bytes[..bytes.len() - 1], &mut records);
        assert_eq!((walk.consumed, walk.frames, walk.damage), (152, 2, None));
        let second = records[1];
        assert_eq!((second.at, second.captured), (84 + 24, 42));
        assert_eq!((second.orig_len, second.ts_ns), (1_514, 5_000_006_000));
    }

    #[test]
    fn a_record_shorter_than_its_frame_is_damage() {
        let mut records = Vec::new();
        let bytes = [record(60, 84), record(60, 83)].concat();
        let walk = ETHERNET.walk(&bytes, &mut records);
        assert_eq!((walk.consumed, walk.frames), (84, 1));
        assert!(walk.damage.unwrap().contains("83 bytes with 60"));
    }
}
