//! Builds headers around a payload, the outermost last: `eth(0x0800, &ipv4(6, &tcp(..)))`.

#![allow(dead_code)] // Each test file uses only a part.

use inorder_wire::{Frame, LinkType, Other, Packet, Segment, same_both_ways};

/// Sequence number of every segment built here.
pub(crate) const SEQ: u32 = 0xffff_fff0;

/// A TCP header with `options` (a multiple of four bytes) and `payload` bytes.
pub(crate) fn tcp(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
    let mut bytes = vec![0x30, 0x39, 0x00, 0x50];
    bytes.extend(SEQ.to_be_bytes());
    bytes.extend(77u32.to_be_bytes());
    bytes.extend([
        (((20 + options.len()) / 4) << 4) as u8,
        flags,
        0x01,
        0xf5,
        0,
        0,
        0,
        0,
    ]);
    bytes.extend(options);
    bytes.extend(vec![0xab; payload]);
    bytes
}

/// NOP, NOP, timestamps 1000 and 900.
pub(crate) const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0x03, 0xe8, 0, 0, 0x03, 0x84];

/// Timestamps, then NOP, NOP, SACK with `blocks`.
pub(crate) fn timestamps_and_sack(blocks: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = TIMESTAMPS.to_vec();
    bytes.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
    for (left, right) in blocks {
        bytes.extend(left.to_be_bytes());
        bytes.extend(right.to_be_bytes());
    }
    bytes
}

pub(crate) fn udp(src: u16, dst: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = src.to_be_bytes().to_vec();
    bytes.extend(dst.to_be_bytes());
    bytes.extend((8 + body.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(body);
    bytes
}

/// IPv4 from 10.0.0.1 to 10.0.0.2, TTL 64, ID 0x1234, don't fragment.
pub(crate) fn ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    ipv4_with(protocol, 0x4000, &[], body)
}

pub(crate) fn ipv4_with(protocol: u8, fragment: u16, options: &[u8], body: &[u8]) -> Vec<u8> {
    let header_len = 20 + options.len();
    let mut bytes = vec![0x40 | (header_len / 4) as u8, 0x02];
    bytes.extend(((header_len + body.len()) as u16).to_be_bytes());
    bytes.extend([0x12, 0x34]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(options);
    bytes.extend(body);
    bytes
}

/// IPv6 from 2001:db8::1 to 2001:db8::2, hop limit 57.
pub(crate) fn ipv6(next: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0x10, 0, 0];
    bytes.extend((body.len() as u16).to_be_bytes());
    bytes.extend([next, 57]);
    for last in [1, 2] {
        bytes.extend([0x20, 0x01, 0x0d, 0xb8]);
        bytes.extend([0; 11]);
        bytes.push(last);
    }
    bytes.extend(body);
    bytes
}

pub(crate) fn eth(ether_type: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(body);
    bytes
}

/// A VLAN tag and what follows it.
pub(crate) fn vlan(id: u16, ether_type: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(body);
    bytes
}

pub(crate) fn join(head: &[u8], body: &[u8]) -> Vec<u8> {
    [head, body].concat()
}

pub(crate) fn frame(link: LinkType, orig_len: usize, data: &[u8]) -> Frame<'_> {
    Frame {
        ts_ns: 5,
        number: 9,
        link,
        orig_len: orig_len as u32,
        data,
    }
}

/// The result of parsing a complete frame with both paths.
pub(crate) fn parse(link: LinkType, data: &[u8]) -> Packet {
    same_both_ways(&frame(link, data.len(), data))
}

/// The result of parsing an Ethernet frame of which only `captured` bytes were kept.
pub(crate) fn parse_cut(data: &[u8], captured: usize) -> Packet {
    same_both_ways(&frame(LinkType::ETHERNET, data.len(), &data[..captured]))
}

#[track_caller]
pub(crate) fn segment(packet: Packet) -> Segment {
    match packet {
        Packet::Tcp(_, _, segment) | Packet::FirstFragment(_, _, segment, _) => segment,
        other => panic!("expected TCP, got {other:?}"),
    }
}

#[track_caller]
pub(crate) fn overlay(packet: Packet) -> u32 {
    match packet {
        Packet::Tcp(key, _, _) | Packet::FirstFragment(key, ..) => key.overlay,
        Packet::LaterFragment(part) => part.overlay,
        Packet::Numbered(key, _) => key.overlay,
        Packet::Other(other) => panic!("expected a packet, got {other:?}"),
    }
}

#[track_caller]
pub(crate) fn other(packet: Packet) -> Other {
    match packet {
        Packet::Other(other) => other,
        packet => panic!("expected a frame that cannot be analysed, got {packet:?}"),
    }
}
