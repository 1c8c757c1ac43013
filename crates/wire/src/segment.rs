//! A parsed TCP segment: small, `Copy`, without borrowed bytes.

/// The TCP flag bits of RFC 9293 section 3.1, low byte of the flags field.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement field is significant.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer is significant.
    pub const URG: u8 = 0x20;
    /// ECN echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;

    /// True if any of `bits` is set.
    #[inline]
    pub fn any(self, bits: u8) -> bool {
        self.0 & bits != 0
    }
}

/// Further properties of a segment; bits of [`Segment::has`].
pub struct Has;

impl Has {
    /// The timestamps option is present (RFC 7323 section 3.2): `tsval`, `tsecr` are valid.
    pub const TIMESTAMPS: u8 = 0x01;
    /// The IP header has an identification field (IPv4): `ip_id` is valid.
    pub const IP_ID: u8 = 0x02;
    /// SACK-permitted (RFC 2018 section 2), only on SYN.
    pub const SACK_PERMITTED: u8 = 0x04;
    /// The options were cut by the snap length or are malformed, so the absence of an option proves nothing;
    /// [`Segment::cut`] tells what is known of them all the same.
    pub const OPTIONS_CUT: u8 = 0x08;
    /// The IP total length was zero (a TSO frame captured before segmentation): `payload_len` was derived from the
    /// frame's original length.
    pub const LEN_FROM_FRAME: u8 = 0x10;
    /// IP options, a fragment, or TCP options other than timestamps: SRPIC calls such packets unsuitable.
    pub const UNSUITABLE: u8 = 0x20;
    /// The IPv4 don't-fragment bit is set.
    pub const DF: u8 = 0x40;
}

/// Value of `Segment::wscale` if the option is absent.
pub const NO_WSCALE: u8 = 0xff;

/// Maximum number of SACK blocks in a TCP header (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Maximum payload of a segment, bytes. Linux passes at most 8 x 65,535 bytes at once to a device (BIG TCP); a frame
/// that claims more is forged or damaged and does not count as a segment.
pub const MAX_PAYLOAD: u32 = 8 * 65_535;

/// What is known of options that the snap length cut off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cut {
    /// Bytes of the header from the first option on that is not whole: at most 40, and 0 where an option is malformed.
    pub unread: u8,
    /// That option is timestamps (RFC 7323 section 3.2), without its values.
    pub stamped: bool,
    /// If that option is SACK (RFC 2018 section 3), its number of blocks, whole ones included.
    pub blocks: Option<u8>,
    /// Left edge of the first block that is not whole.
    pub left: Option<u32>,
}

/// Bytes of a SACK option beside its blocks: kind and length.
const SACK_HEAD: u8 = 2;
/// Bytes of the timestamps option.
const TIMESTAMPS_LEN: u8 = 10;

impl Cut {
    const LEFT: u32 = 1 << 8;
    const STAMPED: u32 = 1 << 9;
    const BLOCKS_KNOWN: u32 = 1 << 10;
    const BLOCKS_SHIFT: u32 = 11;

    /// As the place of the last SACK block that is not there.
    pub(crate) fn packed(self) -> (u32, u32) {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let known = u32::from(self.unread)
            | flag(self.left.is_some(), Self::LEFT)
            | flag(self.stamped, Self::STAMPED)
            | self.blocks.map_or(0, |n| {
                Self::BLOCKS_KNOWN | u32::from(n) << Self::BLOCKS_SHIFT
            });
        (self.left.unwrap_or(0), known)
    }

    fn unpacked((left, known): (u32, u32)) -> Self {
        let set = |bit: u32| known & bit != 0;
        Cut {
            unread: known as u8,
            stamped: set(Self::STAMPED),
            blocks: set(Self::BLOCKS_KNOWN).then_some((known >> Self::BLOCKS_SHIFT) as u8),
            left: set(Self::LEFT).then_some(left),
        }
    }
}

/// One captured TCP segment, possibly a TSO/GRO super-segment.
///
/// Sequence numbers are as on the wire and wrap modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)] // This order avoids padding, and the fields used together are adjacent.
pub struct Segment {
    /// Capture time, nanoseconds since the Unix epoch (negative in some captures).
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub frame: u64,
    /// Sequence number of the first payload byte (of the SYN, if set).
    pub seq: u32,
    /// Acknowledgement number, valid with the ACK flag.
    pub ack: u32,
    /// Payload bytes according to the IP length, not the captured length; at most [`MAX_PAYLOAD`].
    pub payload_len: u32,
    /// Timestamp value.
    pub tsval: u32,
    /// Timestamp echo reply.
    pub tsecr: u32,
    /// Unscaled window field.
    pub window: u16,
    /// IPv4 identification.
    pub ip_id: u16,
    /// Maximum segment size option in bytes; 0 if absent.
    pub mss: u16,
    /// Flag bits.
    pub flags: TcpFlags,
    /// Bits of [`Has`].
    pub has: u8,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Window scale option; [`NO_WSCALE`] if absent.
    pub wscale: u8,
    /// ECN codepoint in bits 0-1 (RFC 3168).
    pub ecn: u8,
    /// Number of valid entries of `sack`.
    pub sack_len: u8,
    /// SACK blocks `[left, right)` in the order of the option; the last place is [`Segment::cut`]'s where options were cut.
    pub sack: [(u32, u32); MAX_SACK_BLOCKS],
}

impl Segment {
    /// True if every bit of `mask` is set in [`Segment::has`].
    #[inline]
    pub fn has(&self, mask: u8) -> bool {
        self.has & mask == mask
    }

    /// The valid SACK blocks.
    #[inline]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_len).min(MAX_SACK_BLOCKS)]
    }

    /// What is known of options that are not whole; `None` where all are, or there is no room left for more blocks.
    #[inline]
    pub fn cut(&self) -> Option<Cut> {
        let lacks = self.has(Has::OPTIONS_CUT) && usize::from(self.sack_len) < MAX_SACK_BLOCKS;
        lacks.then(|| Cut::unpacked(self.sack[MAX_SACK_BLOCKS - 1]))
    }

    /// The window scale option of a SYN, [`NO_WSCALE`] if it has none; `None` where that was cut off.
    #[inline]
    pub fn window_scale(&self) -> Option<u8> {
        let cut = self.wscale == NO_WSCALE && self.has(Has::OPTIONS_CUT);
        (!cut).then_some(self.wscale)
    }

    /// How many SACK blocks the segment had on the wire: of those that were cut off, the length of their option tells, or that
    /// of the header, of which every segment of this host leaves `usual` bytes unread (timestamps that do not show).
    #[inline]
    pub fn all_sack_blocks(&self, usual: u8) -> u8 {
        self.cut().map_or(self.sack_len, |cut| {
            let other = match self.has(Has::TIMESTAMPS) {
                true => 0,
                false if cut.stamped => TIMESTAMPS_LEN,
                false => usual,
            };
            let rest = cut.unread.saturating_sub(other.saturating_add(SACK_HEAD)) / 8;
            let blocks = cut.blocks.unwrap_or(self.sack_len + rest);
            blocks.min(MAX_SACK_BLOCKS as u8)
        })
    }

    /// The same segment, which had `blocks` SACK blocks on the wire: see [`Segment::all_sack_blocks`].
    #[must_use]
    pub fn with_all_sack_blocks(mut self, blocks: u8) -> Self {
        if let Some(cut) = self.cut() {
            let blocks = Some(blocks);
            self.sack[MAX_SACK_BLOCKS - 1] = Cut { blocks, ..cut }.packed();
        }
        self
    }
}
