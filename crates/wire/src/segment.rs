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
    /// The timestamps option is present (RFC 7323): `tsval`, `tsecr` are valid.
    pub const TIMESTAMPS: u8 = 0x01;
    /// The IP header has an identification field (IPv4): `ip_id` is valid.
    pub const IP_ID: u8 = 0x02;
    /// SACK-permitted (RFC 2018), only on SYN.
    pub const SACK_PERMITTED: u8 = 0x04;
    /// The options were cut by the snap length or are malformed, so the absence of an option proves nothing.
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
    /// SACK blocks `[left, right)` in the order of the option.
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
}
