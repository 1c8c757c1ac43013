//! A frame on its way through a live path, and what has to be known about it.

pub mod headers;
pub mod merge;
pub mod split;
#[cfg(test)]
pub(crate) mod testing;
mod tunnel;
pub mod vnet;

use inorder_path::Packet;
use inorder_sort::{Meta, hash_words};
use inorder_whatif::sorting_facts;
use inorder_wire::{Dir, FlowKey, LinkType, Packet as Parsed, parse};

use crate::checksum;
use headers::Headers;
use vnet::{Checksum, Header};

/// One direction of a connection; `None` for everything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(pub Option<(FlowKey, Dir)>);

impl inorder_sort::FlowKey for Key {
    fn hash64(&self, seed: u64) -> u64 {
        let words = self.0.map_or([0; 5], |(key, dir)| key.words(dir));
        hash_words(&words, seed)
    }
}

/// An Ethernet frame with what remains to be done for it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame, from its destination address on.
    pub bytes: Vec<u8>,
    /// What remains to be done.
    pub header: Header,
    /// When it was received, nanoseconds.
    pub arrived_ns: i64,
    meta: Meta<Key>,
}

impl Frame {
    /// A frame as received.
    pub fn new(bytes: Vec<u8>, header: Header, arrived_ns: i64) -> Self {
        let meta = meta(&bytes);
        Frame {
            bytes,
            header,
            arrived_ns,
            meta,
        }
    }

    /// Computes a checksum that was left to be computed.
    pub(crate) fn complete_checksum(&mut self) {
        let Checksum::Partial { start, offset } = self.header.checksum else {
            return;
        };
        let (start, offset) = (usize::from(start), usize::from(offset));
        let end = Headers::find(&self.bytes).map_or(self.bytes.len(), |headers| headers.end);
        let sum = checksum::finish(checksum::add(
            0,
            self.bytes.get(start..end).unwrap_or_default(),
        ));
        // A UDP checksum of zero means that there is none (RFC 768).
        let sum = if sum == 0 && offset == 6 { 0xffff } else { sum };
        headers::put(&mut self.bytes, start + offset, sum.to_be_bytes());
        self.header.checksum = Checksum::Unknown;
    }
}

fn meta(bytes: &[u8]) -> Meta<Key> {
    let frame = inorder_wire::Frame {
        ts_ns: 0,
        number: 0,
        link: LinkType::ETHERNET,
        orig_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        data: bytes,
    };
    match &parse(&frame) {
        Parsed::Tcp(key, dir, segment) | Parsed::FirstFragment(key, dir, segment, _) => {
            sorting_facts(segment).meta(Key(Some((*key, *dir))), segment.seq)
        }
        _ => Meta::unsuitable(Key(None)),
    }
}

/// Bytes of the Ethernet header, which do not belong to the IP packet.
const ETHERNET_BYTES: usize = 14;

impl Packet for Frame {
    type Flow = Key;

    fn wire_bytes(&self) -> u32 {
        u32::try_from(self.bytes.len().saturating_sub(ETHERNET_BYTES)).unwrap_or(u32::MAX)
    }

    fn flow(&self) -> Key {
        self.meta.flow
    }

    fn meta(&self) -> Meta<Key> {
        self.meta
    }

    /// Flips one bit behind the Ethernet header; the checksum is completed before, so that the receiver notices.
    fn corrupt(&mut self, random: u64) -> bool {
        self.complete_checksum();
        self.header.checksum = Checksum::Unknown;
        let bits = (self.bytes.len().saturating_sub(ETHERNET_BYTES) as u64 * 8).max(1);
        let bit = random % bits;
        let at = ETHERNET_BYTES + (bit / 8) as usize;
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte ^= 1 << (bit % 8);
        }
        true
    }

    /// Sets the ECN field to CE if the sender set it to ECT (RFC 3168 section 5).
    fn mark_congestion(&mut self) -> bool {
        let Some((ip, kind)) = headers::network(&self.bytes) else {
            return false;
        };
        // The field is the lower half of the traffic class, of which IPv6 has four bits in each of two bytes.
        let (at, shift) = match kind {
            0x0800 => (ip + 1, 0),
            0x86dd => (ip + 1, 4),
            _ => return false,
        };
        let Some(byte) = self.bytes.get_mut(at) else {
            return false;
        };
        if (*byte >> shift) & 3 == 0 {
            return false;
        }
        *byte |= 3 << shift;
        if let Some(headers) = Headers::find(&self.bytes) {
            headers.set_ipv4_checksum(&mut self.bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::{tcp, whole};

    #[test]
    fn a_damaged_frame_is_noticed() {
        for v6 in [false, true] {
            let frame = tcp(v6, 1000, 0x10, &[7; 100]);
            assert!(whole(&frame));
            for random in [0, 17, 999, u64::MAX] {
                let mut damaged = frame.clone();
                assert!(damaged.corrupt(random));
                let differ = frame
                    .bytes
                    .iter()
                    .zip(&damaged.bytes)
                    .filter(|(a, b)| a != b);
                // The checksum was completed, which changes at most two bytes, and one bit is another.
                assert!(damaged.bytes[14..] != frame.bytes[14..] && differ.count() <= 3);
                assert_eq!(damaged.header.checksum, Checksum::Unknown);
            }
        }
    }

    #[test]
    fn congestion_is_marked_only_if_the_sender_can_be_told() {
        for v6 in [false, true] {
            let mut frame = tcp(v6, 1, 0x10, &[0; 10]);
            assert!(!frame.mark_congestion());
            frame.bytes[15] |= if v6 { 2 << 4 } else { 2 };
            assert!(frame.mark_congestion());
            assert_eq!(frame.bytes[15], if v6 { 3 << 4 } else { 3 });
        }
    }

    #[test]
    fn only_tcp_data_may_be_sorted() {
        assert!(tcp(false, 5, 0x10, b"data").meta().is_suitable());
        assert!(!tcp(false, 5, 0x12, b"").meta().is_suitable());
        assert!(
            !Frame::new(vec![0; 60], Header::default(), 0)
                .meta()
                .is_suitable()
        );
    }
}
