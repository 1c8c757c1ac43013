//! Where the headers of an Ethernet frame begin and end.
//!
//! `inorder-wire` says what a frame means; here it is where the bytes are that must be changed when frames are split,
//! merged or damaged. Only what can be split or merged is found: TCP and UDP directly in IPv4 without options or IPv6
//! without extension headers, behind any number of VLAN tags, not fragmented.

use crate::checksum;

/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// Offsets from the start of the frame, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Headers {
    /// The IP header.
    pub ip: usize,
    /// True for IPv6.
    pub is_v6: bool,
    /// [`TCP`] or [`UDP`].
    pub protocol: u8,
    /// The header of TCP or UDP.
    pub transport: usize,
    /// The payload.
    pub payload: usize,
    /// The end of the payload; Ethernet's padding may follow.
    pub end: usize,
}

/// Start and EtherType of the packet in an Ethernet frame.
pub fn network(frame: &[u8]) -> Option<(usize, u16)> {
    const TAGS: [u16; 2] = [0x8100, 0x88a8];
    let mut at = 12;
    loop {
        let kind = u16::from_be_bytes(*frame.get(at..)?.first_chunk()?);
        if !TAGS.contains(&kind) {
            return Some((at + 2, kind));
        }
        at += 4;
    }
}

impl Headers {
    /// Finds the headers; `None` if the frame is anything else, or shorter than its headers say.
    pub fn find(frame: &[u8]) -> Option<Self> {
        let (ip, kind) = network(frame)?;
        let packet = frame.get(ip..)?;
        let (is_v6, protocol, transport, end) = match kind {
            0x0800 => {
                let header = packet.first_chunk::<20>()?;
                let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
                let whole = header[0] == 0x45 && fragment == 0;
                let length = u16::from_be_bytes([header[2], header[3]]);
                whole.then_some((false, header[9], ip + 20, ip + usize::from(length)))?
            }
            0x86dd => {
                let header = packet.first_chunk::<40>()?;
                let length = u16::from_be_bytes([header[4], header[5]]);
                (true, header[6], ip + 40, ip + 40 + usize::from(length))
            }
            _ => return None,
        };
        let header_bytes = match protocol {
            TCP => usize::from(frame.get(transport + 12)? >> 4) * 4,
            UDP => 8,
            _ => return None,
        };
        let least = if protocol == TCP { 20 } else { 8 };
        let payload = transport + header_bytes;
        let fits = header_bytes >= least && payload <= end && end <= frame.len();
        fits.then_some(Headers {
            ip,
            is_v6,
            protocol,
            transport,
            payload,
            end,
        })
    }

    /// Distance of the checksum from the start of the transport header.
    pub(crate) fn checksum_offset(&self) -> usize {
        if self.protocol == TCP { 16 } else { 6 }
    }

    /// The sum of the pseudo header for `length` bytes of transport header and payload.
    pub fn pseudo_sum(&self, frame: &[u8], length: usize) -> u64 {
        let addresses = if self.is_v6 {
            self.ip + 8..self.ip + 40
        } else {
            self.ip + 12..self.ip + 20
        };
        let addresses = frame.get(addresses).unwrap_or_default();
        checksum::add(length as u64 + u64::from(self.protocol), addresses)
    }

    /// True if the checksum of TCP or UDP is right.
    pub(crate) fn is_undamaged(&self, frame: &[u8]) -> bool {
        let bytes = frame.get(self.transport..self.end).unwrap_or_default();
        let sum = checksum::add(self.pseudo_sum(frame, bytes.len()), bytes);
        checksum::finish(sum) == 0
    }

    /// True if the sum of the pseudo header stands in place of the checksum: the sender left the rest to a device that
    /// is none (veth).
    pub fn is_partial(&self, frame: &[u8]) -> bool {
        let at = self.transport + self.checksum_offset();
        let stands = frame
            .get(at..)
            .and_then(|bytes| bytes.first_chunk())
            .copied();
        let length = self.end - self.transport;
        stands.map(u16::from_be_bytes) == Some(checksum::fold(self.pseudo_sum(frame, length)))
    }

    /// Writes the length of the IP packet that ends at the end of `frame`, and for IPv4 its checksum.
    pub fn set_length(&self, frame: &mut [u8]) {
        let length = frame.len() - self.ip;
        if self.is_v6 {
            let length = u16::try_from(length - 40).unwrap_or(0);
            put(frame, self.ip + 4, length.to_be_bytes());
        } else {
            let length = u16::try_from(length).unwrap_or(0);
            put(frame, self.ip + 2, length.to_be_bytes());
            self.set_ipv4_checksum(frame);
        }
    }

    /// Computes the checksum of an IPv4 header.
    pub(crate) fn set_ipv4_checksum(&self, frame: &mut [u8]) {
        if !self.is_v6 {
            put(frame, self.ip + 10, [0, 0]);
            let header = frame.get(self.ip..self.ip + 20).unwrap_or_default();
            let sum = checksum::finish(checksum::add(0, header));
            put(frame, self.ip + 10, sum.to_be_bytes());
        }
    }

    /// Adds to the identification of an IPv4 packet.
    pub(crate) fn add_to_id(&self, frame: &mut [u8], index: usize) {
        let at = self.ip + 4;
        let id = word(frame, at).unwrap_or(0) >> 16;
        let id = (id as u16).wrapping_add(index as u16);
        put(frame, at, id.to_be_bytes());
    }

    /// Computes the checksum of TCP or UDP, for a frame that ends with its payload and has the sum of the pseudo header in its
    /// place.
    pub fn complete(&self, frame: &mut [u8]) {
        let bytes = frame.get(self.transport..).unwrap_or_default();
        let sum = checksum::finish(checksum::add(0, bytes));
        // A UDP checksum of zero means that there is none (RFC 768).
        let sum = if sum == 0 && self.protocol == UDP {
            0xffff
        } else {
            sum
        };
        put(
            frame,
            self.transport + self.checksum_offset(),
            sum.to_be_bytes(),
        );
    }

    /// Puts the sum of the pseudo header where the checksum belongs, for a frame that ends with its payload.
    pub(crate) fn set_partial(&self, frame: &mut [u8]) {
        let length = frame.len() - self.transport;
        let sum = checksum::fold(self.pseudo_sum(frame, length));
        put(
            frame,
            self.transport + self.checksum_offset(),
            sum.to_be_bytes(),
        );
    }
}

/// Writes `value` at `at`; nothing if it does not fit.
pub fn put<const N: usize>(frame: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(place) = frame.get_mut(at..at + N) {
        place.copy_from_slice(&value);
    }
}

/// Reads four bytes at `at` as a big-endian number.
pub fn word(frame: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*frame.get(at..)?.first_chunk()?))
}
