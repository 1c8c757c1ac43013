//! Frames in VLANs and tunnels.

use inorder_base::random::Random;
use inorder_scenario::config::{Capture, Tunnel};

use super::Captured;
use crate::packet::End;

/// Where the IP header of a frame without tags begins.
pub(super) const IP: usize = 14;
/// The first VLAN.
const VLAN: u16 = 100;
/// UDP ports of VXLAN (RFC 7348) and GTP-U (3GPP TS 29.281).
const VXLAN_PORT: u16 = 4789;
const GTP_U_PORT: u16 = 2152;

/// Where the IP header of a frame begins.
fn ip_at(bytes: &[u8]) -> usize {
    match bytes.get(12..14) {
        Some([0x81, 0x00]) => IP + 4,
        _ => IP,
    }
}

/// Writes the total length of an IPv4 header that begins at `at`, and its checksum.
pub(super) fn put_ip_length(bytes: &mut [u8], at: usize, length: u32) {
    let Some(header) = bytes.get_mut(at..at + 20) else {
        return;
    };
    header[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    put_checksum(header);
}

fn put_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let mut sum: u32 = header
        .chunks_exact(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// A frame on the other side of a router.
pub(super) fn routed(frame: &mut Captured) {
    if let Some(addresses) = frame.bytes.get_mut(..12) {
        addresses[4] ^= 0x10;
        addresses[10] ^= 0x10;
    }
    let ip = ip_at(&frame.bytes);
    if let Some(header) = frame.bytes.get_mut(ip..ip + 20) {
        header[8] = header[8].saturating_sub(1);
        put_checksum(header);
    }
}

/// A frame with a VLAN tag (IEEE 802.1Q).
pub(super) fn tag(frame: &mut Captured, vlan: u16) {
    let [high, low] = vlan.to_be_bytes();
    frame.bytes.splice(12..12, [0x81, 0x00, high, low]);
    frame.length += 4;
}

/// The addresses and ports of the first connection, in a VLAN by the number of the connection.
pub(super) fn same_ports(frame: &mut Captured) {
    let (host, port) = match frame.from {
        End::A => (IP + 12, IP + 20),
        End::B => (IP + 16, IP + 22),
    };
    if let Some(last) = frame.bytes.get_mut(host + 3) {
        *last = 1;
    }
    if let Some(header) = frame.bytes.get_mut(IP..IP + 20) {
        put_checksum(header);
    }
    if let Some(bytes) = frame.bytes.get_mut(port..port + 2) {
        bytes.copy_from_slice(&10_000u16.to_be_bytes());
    }
    let vlan = VLAN + (frame.flow % 3000) as u16;
    tag(frame, vlan);
}

/// A frame with a VLAN tag, which the other copy has not.
pub(super) fn tagged(frame: &mut Captured) {
    tag(frame, VLAN);
}

/// Puts all frames into the tunnel of `plan`; its numbers count packets of others, too.
pub(super) fn tunnel(frames: &mut [Captured], plan: &Capture, random: &mut Random) {
    let mut numbers = [0u32; 2];
    for frame in frames {
        let number = &mut numbers[frame.from as usize];
        *number = number.wrapping_add(1 + others(plan.tunnel_part, random));
        match plan.tunnel {
            Tunnel::None => return,
            Tunnel::Vxlan => vxlan(frame),
            Tunnel::GtpU => gtp_u(frame, *number as u16),
            Tunnel::Gre => gre(frame, *number),
        }
    }
}

/// How many packets of others come before one of which a `part` of all is seen.
fn others(part: f64, random: &mut Random) -> u32 {
    if part >= 1.0 {
        return 0;
    }
    (random.exponential() * (1.0 / part - 1.0)) as u32
}

fn vxlan(frame: &mut Captured) {
    let inner = frame.length;
    let mut header = Vec::new();
    udp(&mut header, VXLAN_PORT, inner + 8);
    header.extend([0x08, 0, 0, 0, 0, 0, 42, 0]);
    outer(frame, 17, &header, 0);
}

fn gtp_u(frame: &mut Captured, number: u16) {
    let skip = ip_at(&frame.bytes);
    let inner = frame.length - skip as u32;
    let mut header = Vec::new();
    udp(&mut header, GTP_U_PORT, inner + 12);
    // Version 1 with numbers, a T-PDU; the length counts what follows the first 8 bytes.
    header.extend([0x32, 0xff]);
    header.extend(((inner + 4) as u16).to_be_bytes());
    header.extend([0, 0, 0, 1 + frame.from as u8]);
    header.extend(number.to_be_bytes());
    header.extend([0, 0]);
    outer(frame, 17, &header, skip);
}

fn gre(frame: &mut Captured, number: u32) {
    // Numbers follow, IPv4 within.
    let mut header = vec![0x10, 0, 0x08, 0];
    header.extend(number.to_be_bytes());
    let skip = ip_at(&frame.bytes);
    outer(frame, 47, &header, skip);
}

fn udp(header: &mut Vec<u8>, port: u16, payload: u32) {
    header.extend(port.to_be_bytes());
    header.extend(port.to_be_bytes());
    header.extend(((payload + 8) as u16).to_be_bytes());
    header.extend([0, 0]);
}

/// Ethernet and IP of the tunnel, and `header`, around all of the frame but its first `skip` bytes.
fn outer(frame: &mut Captured, protocol: u8, header: &[u8], skip: usize) {
    let inner = frame.bytes.split_off(skip.min(frame.bytes.len()));
    let length = 20 + header.len() as u32 + frame.length - skip as u32;
    let [source, target] = match frame.from {
        End::A => [1, 2],
        End::B => [2, 1],
    };
    let mut bytes = vec![2, 0, 0, 0, 1, target, 2, 0, 0, 0, 1, source, 0x08, 0];
    bytes.extend([0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
    bytes.extend([172, 16, 0, source, 172, 16, 0, target]);
    put_ip_length(&mut bytes, IP, length);
    bytes.extend(header);
    bytes.extend(inner);
    frame.bytes = bytes;
    frame.length = length + IP as u32;
}
