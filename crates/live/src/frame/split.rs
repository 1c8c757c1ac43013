//! Splits a super-packet of segmentation offload into the packets that a network card would have sent.

use super::Frame;
use super::headers::{Headers, TCP, UDP, put, word};
use super::tunnel::Tunnel;
use super::vnet::{Checksum, Header, Segments};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Passes the packets of `frame` to `out`; a frame that is no super-packet passes as it is. Returns false if it claims
/// to be one and cannot be split: then it is dropped.
pub fn split(frame: Frame, out: &mut dyn FnMut(Frame)) -> bool {
    let Some((kind, size, _)) = frame.header.segments else {
        out(frame);
        return true;
    };
    let Some(cut) = Cut::new(&frame, kind).filter(|_| size > 0) else {
        return false;
    };
    let headers = &cut.headers;
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
        number(headers, &mut bytes, index, usize::from(size), index == last);
        headers.set_length(&mut bytes);
        headers.set_partial(&mut bytes);
        let checksum = cut.close(&mut bytes, index);
        let header = Header {
            checksum,
            segments: None,
            header_bytes: 0,
        };
        out(Frame::new(bytes, header, frame.arrived_ns));
    }
    true
}

/// Where a super-packet is cut.
struct Cut {
    headers: Headers,
    /// What is around it.
    tunnel: Option<Tunnel>,
}

impl Cut {
    /// `None`: unknown.
    fn new(frame: &Frame, kind: Segments) -> Option<Self> {
        let protocol = if kind == Segments::Udp { UDP } else { TCP };
        let start = match frame.header.checksum {
            Checksum::Partial { start, .. } => Some(usize::from(start)),
            _ => None,
        };
        let outer = Headers::find(&frame.bytes).filter(|headers| {
            headers.protocol == protocol && start.is_none_or(|start| start == headers.transport)
        });
        if let Some(headers) = outer {
            return Some(Cut {
                headers,
                tunnel: None,
            });
        }
        let tunnel = Tunnel::find(&frame.bytes, protocol, start)?;
        Some(Cut {
            headers: tunnel.inner,
            tunnel: Some(tunnel),
        })
    }

    /// Closes the envelopes around a packet whose headers are written; the state of its checksum.
    fn close(&self, bytes: &mut [u8], index: usize) -> Checksum {
        let headers = &self.headers;
        let checksum = match &self.tunnel {
            Some(tunnel) if tunnel.is_summed(bytes) => {
                headers.complete(bytes);
                Checksum::Unknown
            }
            _ => Checksum::Partial {
                start: headers.transport as u16,
                offset: headers.checksum_offset() as u16,
            },
        };
        if let Some(tunnel) = &self.tunnel {
            tunnel.close(bytes, index);
        }
        checksum
    }
}

/// True for a super-packet in a tunnel, which the kernel would not cut where it must be.
pub(crate) fn is_in_tunnel(frame: &Frame) -> bool {
    let kind = frame.header.segments.map(|(kind, ..)| kind);
    kind.is_some_and(|kind| Cut::new(frame, kind).is_none_or(|cut| cut.tunnel.is_some()))
}

/// Writes what differs from packet to packet: for TCP the sequence number and flags, for UDP the length, for IPv4 the
/// identification.
fn number(headers: &Headers, bytes: &mut [u8], index: usize, size: usize, is_last: bool) {
    if !headers.is_v6 {
        headers.add_to_id(bytes, index);
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

    /// Every kind of envelope: its own headers before the inner packet, and whether the inner one has an Ethernet header.
    fn envelopes() -> Vec<(&'static str, Vec<u8>)> {
        let udp = |port: u16, sum: u16, rest: &[u8]| {
            let mut bytes = [0x30, 0x39].to_vec();
            bytes.extend(port.to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend(sum.to_be_bytes());
            bytes.extend(rest);
            bytes
        };
        let ethernet = [2; 12];
        let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet, &[8, 0]].concat();
        let geneve = [
            &[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4][..],
            &ethernet,
            &[8, 0],
        ]
        .concat();
        vec![
            ("vxlan", [&[17][..], &udp(4789, 0, &vxlan)].concat()),
            ("vxlan, summed", [&[17][..], &udp(4789, 1, &vxlan)].concat()),
            ("geneve", [&[17][..], &udp(6081, 0, &geneve)].concat()),
            ("gre", [47, 0, 0, 8, 0].to_vec()),
            ("gre with key", [47, 0x20, 0, 8, 0, 0, 0, 0, 9].to_vec()),
            ("ip in ip", vec![4]),
        ]
    }

    /// A super-packet of TCP in a tunnel, as veth hands it over: virtio's header tells where the inner checksum is.
    fn in_tunnel(v6: bool, envelope: &[u8], payload: &[u8], size: u16) -> Frame {
        let inner = super_packet(false, 1_000, 0x18, payload, size);
        let (protocol, own) = envelope.split_first().unwrap();
        let mut bytes = vec![2; 12];
        let length = (own.len() + inner.bytes.len() - 14) as u16;
        if v6 {
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(length.to_be_bytes());
            bytes.extend([*protocol, 64]);
            bytes.extend([0x20; 32]);
        } else {
            bytes.extend([0x08, 0x00, 0x45, 0]);
            bytes.extend((length + 20).to_be_bytes());
            bytes.extend([
                0, 9, 0x40, 0, 64, *protocol, 0, 0, 172, 16, 0, 1, 172, 16, 0, 2,
            ]);
        }
        bytes.extend(own);
        let shift = bytes.len() - 14;
        bytes.extend(&inner.bytes[14..]);
        if *protocol == 17 {
            let at = if v6 { 54 } else { 34 } + 4;
            put(&mut bytes, at, length.to_be_bytes());
        }
        let start = (34 + shift) as u16;
        let header = Header {
            checksum: Checksum::Partial { start, offset: 16 },
            ..inner.header
        };
        Frame::new(bytes, header, 0)
    }

    #[test]
    fn tunnels_are_cut_at_the_inner_headers() {
        let payload: Vec<u8> = (0..250u8).collect();
        for (name, envelope) in envelopes() {
            for v6 in [false, true] {
                let frame = in_tunnel(v6, &envelope, &payload, 100);
                assert!(is_in_tunnel(&frame), "{name}");
                let parts = parts(frame);
                assert_eq!(parts.len(), 3, "{name}");
                for (part, length) in parts.into_iter().zip([100, 100, 50]) {
                    let mut part = part;
                    part.complete_checksum();
                    // The outer headers are right by themselves.
                    let outer = if v6 { 54 } else { 34 };
                    let said = if v6 {
                        54 + usize::from(u16::from_be_bytes([part.bytes[18], part.bytes[19]]))
                    } else {
                        let sum = crate::checksum::add(0, &part.bytes[14..34]);
                        assert_eq!(crate::checksum::finish(sum), 0, "{name}");
                        14 + usize::from(u16::from_be_bytes([part.bytes[16], part.bytes[17]]))
                    };
                    assert_eq!(said, part.bytes.len(), "{name}");
                    if name == "vxlan, summed" {
                        let headers = Headers::find(&part.bytes).unwrap();
                        assert!(headers.transport == outer && headers.is_undamaged(&part.bytes));
                    }
                    // So is the packet inside, as the other end of the tunnel takes it out.
                    let inner = [
                        &[2; 12][..],
                        &[8, 0],
                        &part.bytes[part.bytes.len() - 52 - length..],
                    ];
                    let inner = inner.concat();
                    let headers = Headers::find(&inner).unwrap();
                    assert!(headers.is_undamaged(&inner), "{name}");
                    assert_eq!(headers.end - headers.payload, length, "{name}");
                }
            }
        }
    }

    /// Another tunnel could have another number in every packet: nothing broken is delivered.
    #[test]
    fn tunnels_that_are_not_known_are_refused() {
        for envelope in [
            &[47, 0x10, 0, 8, 0, 0, 0, 0, 1][..], // GRE with numbers
            &[
                17, 0x30, 0x39, 0x08, 0x68, 0, 0, 0, 0, 0x30, 0xff, 0, 0, 0, 0, 0, 1,
            ], // GTP
            &[89],
        ] {
            let frame = in_tunnel(false, envelope, &[7; 250], 100);
            assert!(is_in_tunnel(&frame));
            assert!(!split(frame, &mut |_| ()), "{envelope:?}");
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
