//! pcapng (draft-ietf-opsawg-pcapng): a file of sections, each a list of blocks; some blocks contain packets.
//!
//! `pcap-parser` reads interface descriptions. Packet blocks are parsed by hand, because building a list of options
//! for every packet would cost more than parsing the packet.

use crate::block::Record;
use crate::info::{FileInfo, Interface};
use crate::pcap::{MAX_LEN, Walk};
use crate::time::Clock;
use inorder_wire::LinkType;
use pcap_parser::pcapng::{InterfaceDescriptionBlock, OptionCode};
use pcap_parser::{parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le};

/// Type of a section header block; a palindrome, so it reads the same in both byte orders.
pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Type, length and the length repeated at the end.
const FRAME_LEN: usize = 12;

/// An enhanced packet block up to its data.
const ENHANCED_HEADER_LEN: usize = 28;

/// State of a reader: what the current section has defined so far.
#[derive(Default, Debug)]
pub(crate) struct Sections {
    big_endian: bool,
    interfaces: Vec<Known>,
}

/// An interface of the current section.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Index into the interfaces of the whole file.
    index: u16,
    link: LinkType,
    snaplen: u32,
    clock: Clock,
}

/// The fields of a packet block before its data.
struct PacketHeader {
    interface: u32,
    units: Option<u64>,
    captured: u32,
    orig_len: u32,
    data_at: usize,
}

impl Sections {
    /// Reads the complete blocks in `bytes`, which must begin with a block, into `records` and `info`.
    pub(crate) fn walk(
        &mut self,
        bytes: &[u8],
        records: &mut Vec<Record>,
        info: &mut FileInfo,
    ) -> Walk {
        let mut at = 0;
        let mut damage = None;
        loop {
            at = match self.big_endian {
                true => self.packets::<true>(bytes, at, records),
                false => self.packets::<false>(bytes, at, records),
            };
            let Some(rest) = bytes.get(at..) else {
                break;
            };
            match self.block(rest) {
                Ok(Some(block)) => {
                    if let Err(what) = self.read(block, at, records, info) {
                        damage = Some(what);
                        break;
                    }
                    at += block.len();
                }
                Ok(None) => break,
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

    /// Reads the enhanced packet blocks from `at` on, for as long as each is complete and has nothing wrong; returns
    /// where the next block begins. Nearly all blocks are read here; [`Sections::block`] and [`Sections::read`] read the
    /// others, and say what is wrong.
    fn packets<const BIG_ENDIAN: bool>(
        &self,
        bytes: &[u8],
        mut at: usize,
        records: &mut Vec<Record>,
    ) -> usize {
        while let Some((record, len)) = self.plain_packet::<BIG_ENDIAN>(bytes, at) {
            records.push(record);
            at += len;
        }
        at
    }

    /// The enhanced packet block at `at` and its length; `None` if it is another block, or not as it should be.
    #[inline(always)]
    fn plain_packet<const BIG_ENDIAN: bool>(
        &self,
        bytes: &[u8],
        at: usize,
    ) -> Option<(Record, usize)> {
        let header: &[u8; ENHANCED_HEADER_LEN] = bytes.get(at..)?.first_chunk()?;
        // One length check for all words instead of one for each.
        let words: [u32; ENHANCED_HEADER_LEN / 4] =
            std::array::from_fn(|i| match header[4 * i..].first_chunk() {
                Some(word) if BIG_ENDIAN => u32::from_be_bytes(*word),
                Some(word) => u32::from_le_bytes(*word),
                None => 0,
            });
        let [kind, len, interface, high, low, captured, orig_len] = words;
        let fits = captured
            .checked_add(ENHANCED_HEADER_LEN as u32 + 4)
            .is_some_and(|least| least <= len);
        if kind != ENHANCED_PACKET || !fits || len > MAX_LEN || !len.is_multiple_of(4) {
            return None;
        }
        let end = at.checked_add(len as usize)?;
        // The length is repeated at the end, in the same byte order.
        if bytes.get(end - 4..end)? != &header[4..8] {
            return None;
        }
        let known = self.interfaces.get(interface as usize)?;
        let record = Record {
            ts_ns: known.clock.to_ns(u64::from(high) << 32 | u64::from(low)),
            at: u32::try_from(at + ENHANCED_HEADER_LEN).ok()?,
            captured,
            orig_len,
            link: known.link,
            interface: known.index,
        };
        Some((record, len as usize))
    }

    /// The block at the start of `bytes`; `None` if it is incomplete.
    fn block<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, String> {
        let Some(kind) = self.u32(bytes, 0) else {
            return Ok(None);
        };
        if kind == SECTION_HEADER {
            let Some(magic) = bytes.get(8..12) else {
                return Ok(None);
            };
            self.big_endian = match magic {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                other => return Err(format!("section byte-order magic {other:02x?}")),
            };
        }
        let Some(len) = self.u32(bytes, 4) else {
            return Ok(None);
        };
        if len > MAX_LEN || (len as usize) < FRAME_LEN || !len.is_multiple_of(4) {
            return Err(format!(
                "a block of {len} bytes; expected a multiple of 4 from {FRAME_LEN} to {MAX_LEN}"
            ));
        }
        let Some(block) = bytes.get(..len as usize) else {
            return Ok(None);
        };
        match self.u32(block, block.len() - 4) {
            Some(again) if again == len => Ok(Some(block)),
            again => Err(format!(
                "block length {len} at the start, {} at the end",
                again.unwrap_or(0)
            )),
        }
    }

    fn read(
        &mut self,
        block: &[u8],
        at: usize,
        records: &mut Vec<Record>,
        info: &mut FileInfo,
    ) -> Result<(), String> {
        match self.u32(block, 0).unwrap_or(0) {
            ENHANCED_PACKET => records.push(self.packet(self.enhanced(block), block, at)?),
            SECTION_HEADER => self.section(block)?,
            INTERFACE_DESCRIPTION => self.interface(block, info)?,
            SIMPLE_PACKET => records.push(self.packet(self.simple(block), block, at)?),
            OBSOLETE_PACKET => records.push(self.packet(self.obsolete(block), block, at)?),
            // Skipped: name resolution, statistics, decryption secrets, custom blocks.
            _ => {}
        }
        Ok(())
    }

    fn section(&mut self, block: &[u8]) -> Result<(), String> {
        let major = self.u16(block, 12);
        if major != Some(1) {
            return Err(format!(
                "pcapng version {}; expected 1",
                major.map_or_else(|| "missing".to_string(), |m| m.to_string())
            ));
        }
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, block: &[u8], info: &mut FileInfo) -> Result<(), String> {
        let parsed = if self.big_endian {
            parse_interfacedescriptionblock_be(block)
        } else {
            parse_interfacedescriptionblock_le(block)
        };
        let (_, parsed) = parsed.map_err(|_| "malformed interface description".to_string())?;
        let link = LinkType(parsed.linktype.0 as u16);
        let index = u16::try_from(info.interfaces.len())
            .map_err(|_| format!("more than {} interfaces", u16::MAX))?;
        self.interfaces.push(Known {
            index,
            link,
            snaplen: parsed.snaplen,
            clock: Clock::new(parsed.if_tsresol, self.tsoffset(&parsed)),
        });
        info.snaplen = match info.snaplen {
            // A snap length of 0 means no limit and stays 0.
            0 if index > 0 => 0,
            _ if parsed.snaplen == 0 => 0,
            before => before.max(parsed.snaplen),
        };
        info.interfaces.push(Interface {
            link,
            snaplen: parsed.snaplen,
            name: text(&parsed, OptionCode::IfName),
            description: text(&parsed, OptionCode::IfDescription),
        });
        Ok(())
    }

    /// The time offset in seconds, in the byte order of the section.
    fn tsoffset(&self, parsed: &InterfaceDescriptionBlock<'_>) -> i64 {
        let option = parsed
            .options
            .iter()
            .find(|o| o.code == OptionCode::IfTsoffset);
        match option.and_then(|o| o.value.first_chunk::<8>()) {
            Some(bytes) if self.big_endian => i64::from_be_bytes(*bytes),
            Some(bytes) => i64::from_le_bytes(*bytes),
            None => 0,
        }
    }

    #[inline]
    fn enhanced(&self, block: &[u8]) -> Option<PacketHeader> {
        let word = |at| self.u32(block, at);
        Some(PacketHeader {
            interface: word(8)?,
            units: Some(u64::from(word(12)?) << 32 | u64::from(word(16)?)),
            captured: word(20)?,
            orig_len: word(24)?,
            data_at: ENHANCED_HEADER_LEN,
        })
    }

    /// As [`Sections::enhanced`], but half of the interface field holds a drop count.
    fn obsolete(&self, block: &[u8]) -> Option<PacketHeader> {
        let interface = u32::from(self.u16(block, 8)?);
        self.enhanced(block).map(|header| PacketHeader {
            interface,
            ..header
        })
    }

    /// A simple packet belongs to the first interface and has no timestamp and no captured length.
    fn simple(&self, block: &[u8]) -> Option<PacketHeader> {
        let orig_len = self.u32(block, 8)?;
        let limit = match self.interfaces.first() {
            Some(Known { snaplen: 1.., .. }) => self.interfaces.first()?.snaplen,
            _ => u32::MAX,
        };
        let room = u32::try_from(block.len() - 16).unwrap_or(u32::MAX);
        Some(PacketHeader {
            interface: 0,
            units: None,
            captured: orig_len.min(limit).min(room),
            orig_len,
            data_at: 12,
        })
    }

    #[inline]
    fn packet(
        &self,
        header: Option<PacketHeader>,
        block: &[u8],
        at: usize,
    ) -> Result<Record, String> {
        let header = header.ok_or_else(|| format!("a packet block of {} bytes", block.len()))?;
        let known = usize::try_from(header.interface)
            .ok()
            .and_then(|index| self.interfaces.get(index))
            .ok_or_else(|| match self.interfaces.len() {
                0 => format!(
                    "a packet of interface {}, but none was described before",
                    header.interface
                ),
                1 => format!(
                    "a packet of interface {}, but only interface 0 was described before",
                    header.interface
                ),
                n => format!(
                    "a packet of interface {}, but only interfaces 0 to {} were described before",
                    header.interface,
                    n - 1
                ),
            })?;
        let room = block.len().saturating_sub(header.data_at + 4);
        if header.captured as usize > room {
            return Err(format!(
                "{} captured bytes in a block with room for {room}",
                header.captured
            ));
        }
        Ok(Record {
            ts_ns: header.units.map_or(0, |units| known.clock.to_ns(units)),
            // Offsets fit in 32 bits: blocks are below 256 MiB, and a buffer holds little more than one.
            at: u32::try_from(at + header.data_at).map_err(|_| "buffer overrun".to_string())?,
            captured: header.captured,
            orig_len: header.orig_len,
            link: known.link,
            interface: known.index,
        })
    }

    #[inline]
    fn u32(&self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        })
    }

    #[inline]
    fn u16(&self, bytes: &[u8], at: usize) -> Option<u16> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian {
            u16::from_be_bytes(word)
        } else {
            u16::from_le_bytes(word)
        })
    }
}

/// A text option, up to the terminating zero that some writers add.
fn text(parsed: &InterfaceDescriptionBlock<'_>, code: OptionCode) -> Option<String> {
    let option = parsed.options.iter().find(|o| o.code == code)?;
    let bytes = option.as_bytes().ok()?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of this kind, in the byte order, with `damage` added to the length at its end.
    fn block(big_endian: bool, kind: u32, body: &[u8], damage: u32) -> Vec<u8> {
        let word = |n: u32| {
            if big_endian {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        let len = (body.len() + FRAME_LEN) as u32;
        [&word(kind)[..], &word(len), body, &word(len + damage)].concat()
    }

    fn words(big_endian: bool, all: &[u32]) -> Vec<u8> {
        let bytes = |n: &u32| {
            if big_endian {
                n.to_be_bytes()
            } else {
                n.to_le_bytes()
            }
        };
        all.iter().flat_map(bytes).collect()
    }

    /// The straightforward twin: one block after the other.
    fn walk_plainly(sections: &mut Sections, bytes: &[u8]) -> (usize, Vec<Record>, Option<String>) {
        let (mut at, mut records, mut info) = (0, Vec::new(), info());
        loop {
            let read = match sections.block(&bytes[at..]) {
                Ok(None) => return (at, records, None),
                Ok(Some(block)) => sections
                    .read(block, at, &mut records, &mut info)
                    .map(|()| block.len()),
                Err(what) => Err(what),
            };
            match read {
                Ok(len) => at += len,
                Err(what) => return (at, records, Some(what)),
            }
        }
    }

    fn info() -> FileInfo {
        FileInfo {
            name: String::new(),
            format: crate::info::Format::PcapNg,
            compression: crate::info::Compression::Plain,
            snaplen: 0,
            interfaces: Vec::new(),
        }
    }

    proptest::proptest! {
        #[test]
        fn blocks_read_together_are_those_read_one_by_one(
            big_endian in proptest::prelude::any::<bool>(),
            packets in proptest::collection::vec((0u32..40, 0u32..3, 0u32..60, 0u32..12), 1..30),
            cut in 0usize..9,
        ) {
            let magic = words(big_endian, &[0x1a2b_3c4d, u32::from(!big_endian) | u32::from(big_endian) << 16, u32::MAX, u32::MAX]);
            let mut file = block(big_endian, SECTION_HEADER, &magic, 0);
            // Raw IP, a snap length of 96.
            let link = match big_endian { true => 101 << 16, false => 101 };
            file.extend(block(big_endian, INTERFACE_DESCRIPTION, &words(big_endian, &[link, 96]), 0));
            let before_packets = file.len();
            for (kind, interface, captured, flaw) in packets {
                // One in twelve is of another kind or interface, or captured more than it holds, or ends wrongly.
                let (interface, damage) = (if flaw == 1 { interface } else { 0 }, u32::from(flaw == 2));
                let kind = if flaw == 3 { kind } else { ENHANCED_PACKET };
                let room = if flaw == 4 { 32 } else { captured.next_multiple_of(4) };
                let mut body = words(big_endian, &[interface, 1, 2 + captured, captured, 1_500]);
                body.resize(20 + room as usize, 7);
                file.extend(block(big_endian, kind, &body, damage));
            }
            file.truncate(file.len() - cut);
            let (mut together, mut one_by_one) = (Sections::default(), Sections::default());
            let mut records = Vec::new();
            let walk = together.walk(&file, &mut records, &mut info());
            let plain = walk_plainly(&mut one_by_one, &file);
            proptest::prop_assert!(walk.consumed >= before_packets);
            proptest::prop_assert_eq!((walk.consumed, records, walk.damage), plain);
        }
    }
}
