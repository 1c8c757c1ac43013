//! ICMP echo (RFC 792, RFC 4443) with 32-bit numbers: the number stands in the data, which the answer repeats, because
//! the header's number of 16 bits is ambiguous at high rates.

/// Header of ICMP echo: type, code, checksum, identifier, sequence number.
pub(crate) const HEADER_BYTES: usize = 8;
/// Smallest size: the header, a secret that marks our packets, the number, and the time of sending.
pub const BASE_BYTES: usize = HEADER_BYTES + 8 + 4 + 8;

/// Which ICMP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// RFC 792.
    V4,
    /// RFC 4443.
    V6,
}

impl Version {
    fn request(self) -> u8 {
        match self {
            Version::V4 => 8,
            Version::V6 => 128,
        }
    }

    fn reply(self) -> u8 {
        match self {
            Version::V4 => 0,
            Version::V6 => 129,
        }
    }
}

/// What an echo carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// Random number of the session: other programs' echoes have another one.
    pub secret: u64,
    /// Number of the packet.
    pub seq: u32,
    /// When it was sent, nanoseconds of the sender's clock.
    pub sent_ns: i64,
}

impl Echo {
    /// Writes a request over all of `bytes`, with its checksum (which the kernel replaces for version 6). Nothing is
    /// written to fewer than [`BASE_BYTES`].
    pub fn write(&self, version: Version, bytes: &mut [u8]) {
        if bytes.len() < BASE_BYTES {
            return;
        }
        bytes.fill(0);
        let [high, low] = (self.seq as u16).to_be_bytes();
        let [first, second, ..] = self.secret.to_be_bytes();
        bytes[..8].copy_from_slice(&[version.request(), 0, 0, 0, first, second, high, low]);
        bytes[8..16].copy_from_slice(&self.secret.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.seq.to_be_bytes());
        bytes[20..28].copy_from_slice(&self.sent_ns.to_be_bytes());
        let sum = crate::checksum::finish(crate::checksum::add(0, bytes));
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    }

    /// Reads a reply; `None` for everything else.
    pub(crate) fn read_reply(version: Version, bytes: &[u8]) -> Option<Self> {
        let (header, data) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let (secret, data) = data.split_first_chunk()?;
        let (seq, data) = data.split_first_chunk()?;
        let (sent_ns, _) = data.split_first_chunk()?;
        (header[0] == version.reply() && header[1] == 0).then_some(Echo {
            secret: u64::from_be_bytes(*secret),
            seq: u32::from_be_bytes(*seq),
            sent_ns: i64::from_be_bytes(*sent_ns),
        })
    }
}

/// The ICMP message behind an IPv4 header, which raw sockets deliver with it.
pub(crate) fn behind_ipv4(packet: &[u8]) -> Option<&[u8]> {
    let length = usize::from(*packet.first()? & 0xf) * 4;
    packet.get(length..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_reads_back_and_a_request_does_not() {
        let echo = Echo {
            secret: 0x1234_5678_9abc_def0,
            seq: 70_000,
            sent_ns: -5,
        };
        let mut bytes = [1; 40];
        echo.write(Version::V4, &mut bytes);
        assert_eq!(crate::checksum::finish(crate::checksum::add(0, &bytes)), 0);
        assert_eq!(Echo::read_reply(Version::V4, &bytes), None);
        bytes[0] = 0;
        assert_eq!(Echo::read_reply(Version::V4, &bytes), Some(echo));
        assert_eq!(Echo::read_reply(Version::V4, &bytes[..27]), None);
    }
}
