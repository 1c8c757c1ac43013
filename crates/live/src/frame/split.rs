//! Splits a super-packet of segmentation offload into the packets that a network card would have sent.

use super::Frame;
use super::headers::{Headers, TCP, put, word};
use super::vnet::{Checksum, Header};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Passes the packets of `frame` to `out`; a frame that is no super-packet passes as it is. Returns false if it claims
/// to be one and cannot be split: then it is dropped.
pub fn split(frame: Frame, out: &mut dyn FnMut(Frame)) -> bool {
    let Some((_, size, _)) = frame.header.segments else {
        out(frame);
        return true;
    };
    let Some(headers) = Headers::find(&frame.bytes).filter(|_| size > 0) else {
        return false;
    };
    let (head, payload) = frame.bytes.split_at(headers.payload);
    let payload = payload
        .get(..headers.end - headers.payload)
        .unwrap_or_default();
    let pieces = payload.chunks(usize::from(size));
    let last = pieces.len().saturating_sub(1);
    for (index, piece) in pieces.enumerate() {
        let mut bytes = Vec::with_capacity(head.len() + piece.len());
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(piece);
        number(
            &headers,
            &mut bytes,
            index,
            usize::from(size),
            index == last,
        );
        headers.set_length(&mut bytes);
        headers.set_partial(&mut bytes);
        let (start, offset) = (headers.transport as u16, headers.checksum_offset() as u16);
        let header = Header {
            checksum: Checksum::Partial { start, offset },
            segments: None,
            header_bytes: 0,
        };
        out(Frame::new(bytes, header, frame.arrived_ns));
    }
    true
}

/// Writes what differs from packet to packet: for TCP the sequence number and flags, for UDP the length, for IPv4 the
/// identification.
fn number(headers: &Headers, bytes: &mut [u8], index: usize, size: usize, is_last: bool) {
    if !headers.is_v6 {
        let at = headers.ip + 4;
        let id = word(bytes, at).unwrap_or(0) >> 16;
        let id = (id as u16).wrapping_add(index as u16);
        put(bytes, at, id.to_be_bytes());
    }
    if headers.protocol != TCP {
        let length = (bytes.len() - headers.transport) as u16;
        put(bytes, headers.transport + 4, length.to_be_bytes());
        return;
    }
    let at = headers.transport + 4;
    let seq = word(bytes, at)
        .unwrap_or(0)
        .wrapping_add((index * size) as u32);
    put(bytes, at, seq.to_be_bytes());
    if let Some(flags) = bytes.get_mut(headers.transport + 13) {
        // FIN and PSH belong to the last segment, CWR to the first one.
        if !is_last {
            *flags &= !(FIN | PSH);
        }
        if index > 0 {
            *flags &= !CWR;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{super_packet, tcp, whole};
    use super::*;
    use inorder_path::Packet;

    fn parts(frame: Frame) -> Vec<Frame> {
        let mut parts = Vec::new();
        assert!(split(frame, &mut |part| parts.push(part)));
        parts
    }

    #[test]
    fn the_segments_are_those_of_a_card() {
        let payload: Vec<u8> = (0..250u8).collect();
        for v6 in [false, true] {
            let parts = parts(super_packet(v6, u32::MAX - 99, 0x99, &payload, 100));
            let facts = parts.iter().map(|part| {
                let headers = Headers::find(&part.bytes).unwrap();
                let flags = part.bytes[headers.transport + 13];
                (
                    word(&part.bytes, headers.transport + 4).unwrap(),
                    flags,
                    headers.end - headers.payload,
                )
            });
            // FIN | PSH | ACK | CWR: CWR first, FIN and PSH last.
            let expected = [(u32::MAX - 99, 0x90, 100), (0, 0x10, 100), (100, 0x19, 50)];
            assert_eq!(facts.collect::<Vec<_>>(), expected);
            assert!(parts.iter().all(whole));
            let all: Vec<u8> = parts
                .iter()
                .flat_map(|p| p.bytes[p.bytes.len() - p.meta().len as usize..].to_vec())
                .collect();
            assert!(all.ends_with(&payload[200..]));
        }
    }

    #[test]
    fn other_frames_pass_and_malformed_ones_do_not() {
        assert_eq!(parts(tcp(false, 1, 0x10, b"x")).len(), 1);
        let mut frame = super_packet(false, 1, 0x10, b"xyz", 1);
        frame.bytes.truncate(40);
        assert!(!split(frame, &mut |_| ()));
        assert!(!split(super_packet(false, 1, 0x10, b"xyz", 0), &mut |_| ()));
    }
}
