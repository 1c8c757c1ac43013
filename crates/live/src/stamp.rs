//! The packets of the Simple Two-way Active Measurement Protocol in unauthenticated mode (RFC 8762 sections 4.2.1 and
//! 4.3.1, with the session identifier and the Extra Padding of RFC 8972).

/// Size of a packet without extensions, bytes of UDP payload.
pub const BASE_BYTES: usize = 44;
/// Header of an extension (RFC 8972 section 4): flags, type, length.
pub const TLV_HEADER_BYTES: usize = 4;
/// The UDP port of a reflector (RFC 8762 section 4.1).
pub const DEFAULT_PORT: u16 = 862;

/// Seconds from the NTP epoch, 1900, to the Unix epoch, 1970.
const UNIX_EPOCH_S: u64 = 2_208_988_800;
const NS_PER_S: u64 = 1_000_000_000;

/// A time in NTP's 64-bit format: seconds since 1900 modulo 2^32, and a fraction of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// From nanoseconds since the Unix epoch; times before it become the epoch.
    pub fn from_unix_ns(ns: i64) -> Self {
        let ns = ns.max(0).cast_unsigned();
        let seconds = (ns / NS_PER_S + UNIX_EPOCH_S) & 0xffff_ffff;
        // Rounded up, so that the conversion back, which rounds down, returns the same nanosecond.
        let fraction = ((ns % NS_PER_S) << 32).div_ceil(NS_PER_S);
        Timestamp(seconds << 32 | fraction)
    }

    /// Nanoseconds since the Unix epoch. Seconds with a clear upper bit lie after the year 2036 (RFC 4330 section 3).
    pub(crate) fn unix_ns(self) -> i64 {
        let seconds = self.0 >> 32;
        let era = if seconds >> 31 == 0 { 1 << 32 } else { 0 };
        let seconds = (seconds + era).saturating_sub(UNIX_EPOCH_S);
        let fraction = ((self.0 & 0xffff_ffff) * NS_PER_S) >> 32;
        (seconds * NS_PER_S + fraction).cast_signed()
    }
}

/// How good a clock is (RFC 4656 section 4.1.2): whether it is synchronised, the format of the timestamps, and
/// `multiplier * 2^scale * 2^-32` seconds of possible error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorEstimate(pub u16);

impl Default for ErrorEstimate {
    /// A clock that is not known to be synchronised; the multiplier must not be 0.
    fn default() -> Self {
        ErrorEstimate(1)
    }
}

impl ErrorEstimate {
    const SYNCHRONISED: u16 = 1 << 15;

    /// A clock synchronised to UTC within `error_ns`, rounded up.
    pub fn synchronised(error_ns: u64) -> Self {
        let mut multiplier = (u128::from(error_ns) << 32).div_ceil(u128::from(NS_PER_S));
        let mut scale = 0;
        while multiplier > 255 {
            multiplier = multiplier.div_ceil(2);
            scale += 1;
        }
        let multiplier = u16::try_from(multiplier.max(1)).unwrap_or(255);
        ErrorEstimate(Self::SYNCHRONISED | (scale & 0x3f) << 8 | multiplier)
    }
}

/// The packet of a session's sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SenderPacket {
    /// Number of the packet, from 0.
    pub seq: u32,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// The sender's clock.
    pub error: ErrorEstimate,
    /// Identifier of the session; 0 if unused (RFC 8972 section 3).
    pub ssid: u16,
}

impl SenderPacket {
    /// Writes the packet over the first [`BASE_BYTES`] of `bytes`; more bytes become one Extra Padding. Nothing is
    /// written if there are too few bytes.
    pub fn write(&self, bytes: &mut [u8]) {
        let Some((base, rest)) = bytes.split_first_chunk_mut::<BASE_BYTES>() else {
            return;
        };
        base.fill(0);
        put(base, 0, self.seq.to_be_bytes());
        put(base, 4, self.timestamp.0.to_be_bytes());
        put(base, 12, self.error.0.to_be_bytes());
        put(base, 14, self.ssid.to_be_bytes());
        pad(rest);
    }

    /// Reads the packet; `None` if it is too short.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.get(..BASE_BYTES)?;
        Some(SenderPacket {
            seq: u32::from_be_bytes(get(bytes, 0)?),
            timestamp: Timestamp(u64::from_be_bytes(get(bytes, 4)?)),
            error: ErrorEstimate(u16::from_be_bytes(get(bytes, 12)?)),
            ssid: u16::from_be_bytes(get(bytes, 14)?),
        })
    }
}

/// The packet of a reflector.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ReflectedPacket {
    /// Number of the reflected packet, counted by a stateful reflector; a stateless one copies `sender_seq`.
    pub seq: u32,
    /// When it was sent back.
    pub timestamp: Timestamp,
    /// The reflector's clock.
    pub error: ErrorEstimate,
    /// Identifier of the session, as in the sender's packet.
    pub ssid: u16,
    /// When the sender's packet was received.
    pub received: Timestamp,
    /// Number of the sender's packet.
    pub sender_seq: u32,
    /// When the sender's packet was sent.
    pub sender_timestamp: Timestamp,
    /// The sender's clock.
    pub sender_error: ErrorEstimate,
    /// Time to live or hop limit with which the sender's packet was received.
    pub sender_ttl: u8,
}

impl ReflectedPacket {
    /// Writes the packet over the first [`BASE_BYTES`] of `bytes`, of which there must be enough.
    pub fn write(&self, bytes: &mut [u8]) {
        let Some(base) = bytes.first_chunk_mut::<BASE_BYTES>() else {
            return;
        };
        base.fill(0);
        put(base, 0, self.seq.to_be_bytes());
        put(base, 4, self.timestamp.0.to_be_bytes());
        put(base, 12, self.error.0.to_be_bytes());
        put(base, 14, self.ssid.to_be_bytes());
        put(base, 16, self.received.0.to_be_bytes());
        put(base, 24, self.sender_seq.to_be_bytes());
        put(base, 28, self.sender_timestamp.0.to_be_bytes());
        put(base, 36, self.sender_error.0.to_be_bytes());
        put(base, 40, [self.sender_ttl]);
    }

    /// True if a reflector sent it: it was received shortly before it was sent. In what a sender sends there is no time of
    /// reception: zeros, or the padding of older senders.
    pub(crate) fn was_reflected(&self) -> bool {
        const A_MINUTE: u64 = 60 << 32;
        let inside = self.timestamp.0.wrapping_sub(self.received.0);
        self.received.0 != 0 && inside < A_MINUTE
    }

    /// Reads the packet; `None` if it is too short.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let sent = SenderPacket::read(bytes)?;
        Some(ReflectedPacket {
            seq: sent.seq,
            timestamp: sent.timestamp,
            error: sent.error,
            ssid: sent.ssid,
            received: Timestamp(u64::from_be_bytes(get(bytes, 16)?)),
            sender_seq: u32::from_be_bytes(get(bytes, 24)?),
            sender_timestamp: Timestamp(u64::from_be_bytes(get(bytes, 28)?)),
            sender_error: ErrorEstimate(u16::from_be_bytes(get(bytes, 36)?)),
            sender_ttl: get::<1>(bytes, 40)?[0],
        })
    }
}

/// The Extra Padding (RFC 8972 section 4.1).
const EXTRA_PADDING: u8 = 1;
/// Flag of an extension: the reflector does not know it. The sender sets it, a reflector that knows it clears it.
const UNRECOGNISED: u8 = 0x80;
/// Flag of an extension: its length is wrong.
const MALFORMED: u8 = 0x40;

/// Makes `bytes` one Extra Padding; fewer bytes than its header remain zero.
fn pad(bytes: &mut [u8]) {
    bytes.fill(0);
    let length = bytes.len().saturating_sub(TLV_HEADER_BYTES);
    let length = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    if let Some(header) = bytes.first_chunk_mut::<TLV_HEADER_BYTES>() {
        *header = [UNRECOGNISED, EXTRA_PADDING, length[0], length[1]];
    }
}

/// Marks the extensions behind the base packet as a reflector must: padding is known, all others are not.
pub(crate) fn answer_extensions(mut bytes: &mut [u8]) {
    while let Some((header, rest)) = bytes.split_first_chunk_mut::<TLV_HEADER_BYTES>() {
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[1] == 0 && length == 0 {
            return; // Zeros of a sender that knows no extensions (RFC 8762 section 4.6).
        }
        let Some((_, next)) = rest.split_at_mut_checked(length) else {
            header[0] |= MALFORMED;
            return;
        };
        match header[1] {
            EXTRA_PADDING => header[0] &= !UNRECOGNISED,
            _ => header[0] |= UNRECOGNISED,
        }
        bytes = next;
    }
}

fn put<const N: usize>(bytes: &mut [u8; BASE_BYTES], at: usize, value: [u8; N]) {
    if let Some(place) = bytes.get_mut(at..at + N) {
        place.copy_from_slice(&value);
    }
}

fn get<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_as_ntp_counts_them() {
        // 1970-01-01 is 2,208,988,800 s after 1900; half a second is 2^31.
        assert_eq!(Timestamp::from_unix_ns(0), Timestamp(2_208_988_800 << 32));
        let half = Timestamp::from_unix_ns(500_000_000).0;
        assert_eq!(half & 0xffff_ffff, 1 << 31);
        // 2036-02-07 06:28:16 UTC begins the next era.
        assert_eq!(Timestamp(0).unix_ns(), 2_085_978_496 * 1_000_000_000);
    }

    #[test]
    fn fields_are_where_the_rfc_draws_them() {
        let mut bytes = [0xff; 52];
        let packet = SenderPacket {
            seq: 0x0102_0304,
            timestamp: Timestamp(0x1112_1314_1516_1718),
            error: ErrorEstimate(0x8001),
            ssid: 0x2122,
        };
        packet.write(&mut bytes);
        let head = [
            1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x80, 1, 0x21, 0x22,
        ];
        assert_eq!(bytes[..16], head);
        assert_eq!(bytes[16..44], [0; 28]);
        assert_eq!(bytes[44..], [0x80, 1, 0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn an_error_is_rounded_up() {
        let of = |ns| ErrorEstimate::synchronised(ns).0;
        assert_eq!(of(0), 0x8001);
        // 1 ms is 4,294,968 units of 2^-32 s: 132 * 2^15.
        assert_eq!(of(1_000_000), 0x8000 | 15 << 8 | 132);
        assert!(ErrorEstimate::synchronised(u64::MAX).0 & ErrorEstimate::SYNCHRONISED != 0);
    }

    #[test]
    fn unknown_extensions_remain_marked() {
        let mut bytes = [0x80, 1, 0, 1, 9, 0x80, 77, 0, 0, 0x80, 3, 0, 200];
        answer_extensions(&mut bytes);
        assert_eq!(bytes, [0, 1, 0, 1, 9, 0x80, 77, 0, 0, 0xc0, 3, 0, 200]);
    }

    proptest! {
        #[test]
        fn packets_read_back(seq: u32, timestamp: u64, error: u16, ssid: u16, sender_seq: u32, sender_ttl: u8) {
            let packet = ReflectedPacket {
                seq, ssid, sender_seq, sender_ttl,
                timestamp: Timestamp(timestamp),
                error: ErrorEstimate(error),
                received: Timestamp(!timestamp),
                sender_timestamp: Timestamp(timestamp ^ 1),
                sender_error: ErrorEstimate(!error),
            };
            let mut bytes = [7; BASE_BYTES];
            packet.write(&mut bytes);
            prop_assert_eq!(ReflectedPacket::read(&bytes), Some(packet));
        }

        #[test]
        fn times_read_back(ns in 0..4_000_000_000_000_000_000i64) {
            prop_assert_eq!(Timestamp::from_unix_ns(ns).unix_ns(), ns);
        }

        #[test]
        fn any_bytes_are_answered(mut bytes: Vec<u8>) {
            let before = bytes.len();
            answer_extensions(&mut bytes);
            prop_assert_eq!(bytes.len(), before);
            let _ = (SenderPacket::read(&bytes), ReflectedPacket::read(&bytes));
        }
    }
}
