//! The header that virtio puts before a frame, which Linux uses for packet sockets and TAP devices, too: what remains
//! to be done for the frame, its checksum or its segmentation (virtio 1.2 section 5.1.6; linux/virtio_net.h).

/// Bytes of the header.
pub const BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_IS_VALID: u8 = 2;
const ECN: u8 = 0x80;

/// What a frame that is larger than the link allows is segmented into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segments {
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP datagrams of equal size.
    Udp,
}

/// The state of the checksum of TCP or UDP.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Checksum {
    /// It stands in the packet; nobody has verified it.
    #[default]
    Unknown,
    /// It stands in the packet or was never computed, and the packet is known to be undamaged.
    Valid,
    /// From `start` on, the sum must be computed and put `offset` bytes behind `start`, where the sum of the pseudo
    /// header stands now.
    Partial {
        /// Where the sum begins, bytes from the start of the frame.
        start: u16,
        /// Where it is put, bytes behind `start`.
        offset: u16,
    },
}

/// The header as plain data.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// State of the checksum.
    pub checksum: Checksum,
    /// Segmentation: its kind, payload bytes of each segment, and whether the first one has CWR.
    pub segments: Option<(Segments, u16, bool)>,
    /// Length of all headers up to the payload; a hint for the kernel.
    pub header_bytes: u16,
}

impl Header {
    /// Reads the header; `None` for a kind of segmentation that is not known here.
    pub fn read(bytes: &[u8; BYTES]) -> Option<Self> {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let kind = match bytes[1] & !ECN {
            0 => None,
            1 => Some(Segments::Tcp4),
            4 => Some(Segments::Tcp6),
            5 => Some(Segments::Udp),
            _ => return None,
        };
        let checksum = match bytes[0] {
            flags if flags & NEEDS_CHECKSUM != 0 => Checksum::Partial {
                start: word(6),
                offset: word(8),
            },
            flags if flags & CHECKSUM_IS_VALID != 0 => Checksum::Valid,
            _ => Checksum::Unknown,
        };
        Some(Header {
            checksum,
            segments: kind.map(|kind| (kind, word(4), bytes[1] & ECN != 0)),
            header_bytes: word(2),
        })
    }

    /// The header as bytes.
    pub fn bytes(&self) -> [u8; BYTES] {
        let (flags, start, offset) = match self.checksum {
            Checksum::Unknown => (0, 0, 0),
            Checksum::Valid => (CHECKSUM_IS_VALID, 0, 0),
            Checksum::Partial { start, offset } => (NEEDS_CHECKSUM, start, offset),
        };
        let (kind, size) = match self.segments {
            None => (0, 0),
            Some((kind, size, ecn)) => {
                let code = match kind {
                    Segments::Tcp4 => 1,
                    Segments::Tcp6 => 4,
                    Segments::Udp => 5,
                };
                (code | if ecn { ECN } else { 0 }, size)
            }
        };
        let mut bytes = [0; BYTES];
        bytes[..2].copy_from_slice(&[flags, kind]);
        for (at, word) in [(2, self.header_bytes), (4, size), (6, start), (8, offset)] {
            bytes[at..at + 2].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back() {
        let partial = Checksum::Partial {
            start: 34,
            offset: 16,
        };
        for checksum in [Checksum::Unknown, Checksum::Valid, partial] {
            for kind in [Segments::Tcp4, Segments::Tcp6, Segments::Udp] {
                let header = Header {
                    checksum,
                    segments: Some((kind, 1448, true)),
                    header_bytes: 66,
                };
                assert_eq!(Header::read(&header.bytes()), Some(header));
            }
            let header = Header {
                checksum,
                segments: None,
                header_bytes: 0,
            };
            assert_eq!(Header::read(&header.bytes()), Some(header));
        }
        assert_eq!(Header::read(&[0, 3, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
