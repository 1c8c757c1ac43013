//! One TCP segment: a header with its options, and how many bytes it carries.

use std::fmt;

use crate::accurate_ecn::EcnOption;

/// Control bits (RFC 9293 section 3.1), and the bit before them that accurate ECN uses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// Urgent pointer is valid; the endpoint ignores it.
    pub const URG: Self = Self(0x20);
    /// Explicit congestion notification echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768 section 3.1).
    pub const AE: Self = Self(0x100);
    /// None.
    pub const NONE: Self = Self(0);

    /// True if every bit of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The bits as in the header: the lowest eight are the byte of the control bits, the ninth precedes it.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// From the bits of the header; those above the ninth are no flags.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x1ff)
    }

    /// The bits AE, CWR and ECE as a number from 0 to 7: the ACE field of accurate ECN (RFC 9768 section 3.2.2).
    pub const fn ace(self) -> u8 {
        (self.0 >> 6 & 7) as u8
    }

    /// The set with this ACE field, of which the lowest three bits count.
    #[must_use]
    pub const fn with_ace(self, ace: u8) -> Self {
        Self(self.0 & !0x1c0 | (ace as u16 & 7) << 6)
    }
}

impl fmt::Debug for Flags {
    /// As packetdrill writes them: `S`, `F`, `R`, `P`, `.` for ACK.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Flags, &str); 9] = [
            (Flags::FIN, "F"),
            (Flags::SYN, "S"),
            (Flags::RST, "R"),
            (Flags::PSH, "P"),
            (Flags::URG, "U"),
            (Flags::ECE, "E"),
            (Flags::CWR, "W"),
            (Flags::AE, "A"),
            (Flags::ACK, "."),
        ];
        for (flag, name) in NAMES {
            if self.has(flag) {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

/// The ECN field of the IP header that carries a segment (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Ecn {
    /// 00: the transport does not support ECN.
    #[default]
    NotCapable,
    /// 10: ECT(0), what senders use.
    Capable0,
    /// 01: ECT(1).
    Capable1,
    /// 11: a router marked it.
    Congestion,
}

/// The timestamps option (RFC 7323 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// The sender's clock, in its ticks.
    pub val: u32,
    /// Echo of the other side's clock.
    pub ecr: u32,
}

/// The SACK option: up to four blocks, each from its first sequence number to one past its last (RFC 2018 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self {
        count: 0,
        blocks: [(0, 0); 4],
    };

    /// Adds a block; false if there is no room.
    pub fn push(&mut self, start: u32, end: u32) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.count)) else {
            return false;
        };
        *slot = (start, end);
        self.count += 1;
        true
    }

    /// The blocks, in the order of the option.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// True without blocks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl FromIterator<(u32, u32)> for SackBlocks {
    /// The first four blocks; further ones are dropped.
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(blocks: I) -> Self {
        let mut list = Self::EMPTY;
        for (start, end) in blocks.into_iter().take(4) {
            list.push(start, end);
        }
        list
    }
}

/// A segment in transit. Payload is counted, not transported. A program that transports real bytes asks the endpoints
/// for their offsets ([`Endpoint::stream_offset`](crate::Endpoint::stream_offset),
/// [`Endpoint::accepted`](crate::Endpoint::accepted)).
///
/// Fields that every segment uses come first, in 32 bytes, so that a simulated packet without SACK blocks is read with one line
/// of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first byte (of SYN, if set).
    pub seq: u32,
    /// Acknowledgement number; meaningful with [`Flags::ACK`].
    pub ack: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// The window field of the header, not scaled.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// Option timestamps.
    pub timestamps: Option<Timestamps>,
    /// Option SACK.
    pub sack: SackBlocks,
    /// Option accurate ECN: bytes that arrived with each mark.
    pub ecn_option: Option<EcnOption>,
    /// Option maximum segment size, bytes; only on SYN.
    pub mss: Option<u16>,
    /// Option window scale, a shift; only on SYN.
    pub window_scale: Option<u8>,
    /// Option SACK-permitted; only on SYN.
    pub sack_permitted: bool,
    /// The ECN field of the IP header, which routers set instead of dropping.
    pub ecn: Ecn,
}

impl Segment {
    /// Sequence space it occupies: payload, SYN and FIN (RFC 9293: SEG.LEN).
    pub(crate) fn sequence_length(&self) -> u32 {
        self.payload
            .saturating_add(u32::from(self.flags.has(Flags::SYN)))
            .saturating_add(u32::from(self.flags.has(Flags::FIN)))
    }

    /// Length of the TCP options, padded to 4 bytes in the usual layout.
    pub fn option_bytes(&self) -> u32 {
        let mut bytes = 0;
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        if self.timestamps.is_some() {
            bytes += 12;
        } else if self.sack_permitted {
            bytes += 4;
        }
        // With timestamps the two bytes of SACK-permitted fill the padding.
        let blocks = self.sack.as_slice().len() as u32;
        if blocks > 0 {
            bytes += 4 + 8 * blocks;
        }
        if let Some(option) = &self.ecn_option {
            bytes += option.padded_bytes(blocks > 0);
        }
        bytes
    }

    /// Length on the wire including the IPv4 header, bytes: 20 of IP, 20 of TCP, options, payload.
    pub fn ip_bytes(&self) -> u32 {
        self.payload
            .saturating_add(40)
            .saturating_add(self.option_bytes())
    }
}

impl fmt::Debug for Segment {
    /// Similar to packetdrill's notation: `. 1:1001(1000) ack 1 win 100 <sack ...>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.seq.wrapping_add(self.sequence_length());
        write!(f, "{:?} {}:{end}({})", self.flags, self.seq, self.payload)?;
        if self.flags.has(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write!(f, " win {}", self.window)?;
        if let Some(mss) = self.mss {
            write!(f, " mss {mss}")?;
        }
        if let Some(scale) = self.window_scale {
            write!(f, " wscale {scale}")?;
        }
        if self.sack_permitted {
            write!(f, " sackOK")?;
        }
        if let Some(ts) = self.timestamps {
            write!(f, " TS val {} ecr {}", ts.val, ts.ecr)?;
        }
        for (start, end) in self.sack.as_slice() {
            write!(f, " sack {start}:{end}")?;
        }
        match &self.ecn_option {
            Some(option) => write!(f, " {option}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 96, "{}", size_of::<Segment>());
    }

    #[test]
    fn it_is_printed_like_a_trace() {
        let segment = Segment {
            seq: 1,
            ack: 7,
            payload: 1000,
            window: 10,
            flags: Flags::ACK.with(Flags::PSH),
            sack: [(9, 12)].into_iter().collect(),
            ..Segment::default()
        };
        assert_eq!(
            format!("{segment:?}"),
            "P. 1:1001(1000) ack 7 win 10 sack 9:12"
        );
        assert_eq!(segment.ip_bytes(), 1052);
    }

    #[test]
    fn three_flags_are_the_ace_field() {
        let flags = Flags::ACK.with(Flags::AE).with(Flags::ECE);
        assert_eq!(flags.ace(), 5);
        assert_eq!(flags.with_ace(2), Flags::ACK.with(Flags::CWR));
        assert_eq!(Flags::from_bits(flags.bits()), flags);
        assert_eq!(format!("{flags:?}"), "EA.");
    }

    #[test]
    fn a_fifth_block_finds_no_room() {
        let mut blocks: SackBlocks = (0..4).map(|i| (i, i + 1)).collect();
        assert!(!blocks.push(9, 10));
        assert_eq!(blocks.as_slice().len(), 4);
    }
}
