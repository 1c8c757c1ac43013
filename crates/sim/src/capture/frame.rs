//! Packets as bytes: Ethernet, IPv4, and TCP or ICMP, with correct checksums and a payload of zeros.

use inorder_path::Packet as _;
use inorder_tcp::{EcnOption, Segment};

use super::addresses;
use crate::packet::{Body, End, Packet};

const TCP: u8 = 6;
const ICMP: u8 = 1;
const IP_HEADER: usize = 20;

/// What the IPv4 header holds besides addresses and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ip {
    pub(super) identification: u16,
    pub(super) time_to_live: u8,
}

/// Writes the headers of `packet`, sent by `from`, to `out`. Returns the length including the IP header. The payload
/// consists of zeros and is not written.
pub(super) fn build(
    out: &mut Vec<u8>,
    packet: &Packet,
    from: End,
    header: Ip,
    flow_channels: u32,
) -> u32 {
    out.clear();
    ethernet(out, from);
    let total = packet.wire_bytes().min(65_535);
    let [(source, source_port), (target, target_port)] = addresses(packet.channel, from);
    let protocol = match packet.body {
        Body::Tcp(_) => TCP,
        Body::Probe(_) => ICMP,
    };
    ip(out, total, header, protocol, [source, target]);
    let start = out.len();
    match &packet.body {
        Body::Tcp(segment) => {
            tcp(out, segment, source_port, target_port);
            let pseudo = pseudo_sum(source, target, total - IP_HEADER as u32);
            put_checksum(out, start, 16, pseudo);
        }
        Body::Probe(_) => {
            let stream = packet.channel.0.wrapping_sub(flow_channels) as u16;
            echo(out, stream, packet.id as u16);
            put_checksum(out, start, 2, 0);
        }
    }
    total
}

fn ethernet(out: &mut Vec<u8>, from: End) {
    // Locally administered addresses of A and B.
    let address = |end| [2, 0, 0, 0, 0, 0x0a + end as u8];
    out.extend(address(from.other()));
    out.extend(address(from));
    out.extend([0x08, 0x00]);
}

fn ip(out: &mut Vec<u8>, total: u32, header: Ip, protocol: u8, addresses: [[u8; 4]; 2]) {
    let start = out.len();
    out.extend([0x45, 0]);
    out.extend((total as u16).to_be_bytes());
    out.extend(header.identification.to_be_bytes());
    // Don't fragment.
    out.extend([0x40, 0, header.time_to_live, protocol, 0, 0]);
    out.extend(addresses.concat());
    put_checksum(out, start, 10, 0);
}

fn tcp(out: &mut Vec<u8>, segment: &Segment, source: u16, target: u16) {
    let words = 5 + segment.option_bytes() / 4;
    out.extend(source.to_be_bytes());
    out.extend(target.to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    let [high, low] = segment.flags.bits().to_be_bytes();
    out.extend([(words as u8) << 4 | high, low]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]);
    options(out, segment);
}

/// Options in the order and with the padding of Linux.
fn options(out: &mut Vec<u8>, segment: &Segment) {
    if let Some(mss) = segment.mss {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
    }
    if let Some(timestamps) = segment.timestamps {
        // SACK-permitted replaces the padding.
        out.extend(if segment.sack_permitted {
            [4, 2]
        } else {
            [1, 1]
        });
        out.extend([8, 10]);
        out.extend(timestamps.val.to_be_bytes());
        out.extend(timestamps.ecr.to_be_bytes());
    } else if segment.sack_permitted {
        out.extend([1, 1, 4, 2]);
    }
    if let Some(shift) = segment.window_scale {
        out.extend([1, 3, 3, shift]);
    }
    let blocks = segment.sack.as_slice();
    let mut padding = 2;
    if let Some(option) = &segment.ecn_option {
        padding = accurate_ecn(out, option, !blocks.is_empty());
    }
    if !blocks.is_empty() {
        out.extend([1].repeat(padding));
        out.extend([5, 2 + 8 * blocks.len() as u8]);
        for (start, end) in blocks {
            out.extend(start.to_be_bytes());
            out.extend(end.to_be_bytes());
        }
    }
}

/// The option of RFC 9768. Beside SACK it takes the place of up to two bytes of padding there; returns how many remain.
fn accurate_ecn(out: &mut Vec<u8>, option: &EcnOption, beside_sack: bool) -> usize {
    out.extend([option.kind(), option.bytes() as u8]);
    for (_, counter) in option.counters() {
        out.extend(&counter.to_be_bytes()[1..]);
    }
    let (bytes, padded) = (option.bytes(), option.padded_bytes(beside_sack));
    out.extend([1].repeat(padded.saturating_sub(bytes) as usize));
    2 - bytes.saturating_sub(padded) as usize
}

/// An echo request (RFC 792).
fn echo(out: &mut Vec<u8>, stream: u16, number: u16) {
    out.extend([8, 0, 0, 0]);
    out.extend(stream.to_be_bytes());
    out.extend(number.to_be_bytes());
}

fn pseudo_sum(source: [u8; 4], target: [u8; 4], length: u32) -> u32 {
    words(&source) + words(&target) + u32::from(TCP) + length
}

fn words(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)))
        .sum()
}

/// Computes the Internet checksum (RFC 1071) of everything from `start` on and stores it `at` bytes behind `start`.
fn put_checksum(out: &mut [u8], start: usize, at: usize, pseudo: u32) {
    let mut sum = pseudo + out.get(start..).map_or(0, words);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    if let Some(place) = out.get_mut(start + at..start + at + 2) {
        place.copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
}
