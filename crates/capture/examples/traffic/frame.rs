//! One packet, and its bytes.

/// Payload bytes of a full segment: 1500 minus 20 for IPv4, 20 for TCP, 12 for timestamps.
pub(super) const MSS: u32 = 1448;

/// Payload bytes that are written out; more than any snap length used here keeps.
const PAYLOAD_WRITTEN: usize = 128;

/// The header fields of a packet.
#[derive(Clone, Default)]
pub(super) struct Packet {
    pub src: (u32, u16),
    pub dst: (u32, u16),
    pub ip_id: u16,
    pub ttl: u8,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub tsval: u32,
    pub tsecr: u32,
    /// A SYN carries the options of a handshake.
    pub syn: bool,
    pub sack: Vec<(u32, u32)>,
    pub payload_len: u32,
}

impl Packet {
    fn options(&self) -> Vec<u8> {
        let mut options = Vec::with_capacity(40);
        if self.syn {
            // MSS 1460, SACK permitted, timestamps, NOP, window scale 7.
            options.extend([2, 4, 0x05, 0xb4, 4, 2, 8, 10]);
        } else {
            options.extend([1, 1, 8, 10]);
        }
        options.extend(self.tsval.to_be_bytes());
        options.extend(self.tsecr.to_be_bytes());
        if self.syn {
            options.extend([1, 3, 3, 7]);
        }
        if !self.sack.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * self.sack.len() as u8]);
            for (left, right) in &self.sack {
                options.extend(left.to_be_bytes());
                options.extend(right.to_be_bytes());
            }
        }
        options
    }

    /// Ethernet, IPv4 and TCP headers, bytes.
    pub(super) fn headers_len(&self) -> usize {
        14 + 20 + 20 + self.options().len()
    }

    /// Writes the headers and the start of the payload; returns the length on the wire.
    /// The TCP checksum stays zero, as in captures of a host whose network card computes it.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> u32 {
        let options = self.options();
        let ip_len = 20 + 20 + options.len() as u32 + self.payload_len;
        out.clear();
        out.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00]);
        let ip_at = out.len();
        out.extend([0x45, 0]);
        out.extend((ip_len as u16).to_be_bytes());
        out.extend(self.ip_id.to_be_bytes());
        out.extend([0x40, 0, self.ttl, 6, 0, 0]);
        out.extend(self.src.0.to_be_bytes());
        out.extend(self.dst.0.to_be_bytes());
        let checksum = checksum(&out[ip_at..]);
        out[ip_at + 10..ip_at + 12].copy_from_slice(&checksum.to_be_bytes());
        out.extend(self.src.1.to_be_bytes());
        out.extend(self.dst.1.to_be_bytes());
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([(5 + options.len() as u8 / 4) << 4, self.flags]);
        out.extend(self.window.to_be_bytes());
        out.extend([0, 0, 0, 0]);
        out.extend(&options);
        let payload = (self.payload_len as usize).min(PAYLOAD_WRITTEN);
        out.extend((0..payload).map(|i| (self.seq as usize + i) as u8));
        14 + ip_len
    }
}

/// The internet checksum (RFC 1071) of a header whose checksum field is zero.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header
        .chunks_exact(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(folded as u16 + (folded >> 16) as u16)
}
