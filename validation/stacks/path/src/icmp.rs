//! What a router says of a packet that its next link cannot carry (RFC 792, RFC 1191 section 4).

/// The router's address.
const ROUTER: [u8; 4] = [192, 0, 2, 254];
/// Of the packet that is spoken of, its header and eight bytes.
const QUOTED: usize = 8;

/// "Fragmentation needed" for an IPv4 packet, with the link's MTU; none for what is no IPv4 packet.
pub fn too_large(packet: &[u8], mtu: usize) -> Option<Vec<u8>> {
    let header = usize::from(packet.first()? & 15) * 4;
    let quoted = packet.get(..header + QUOTED)?;
    let to = packet.get(12..16)?;
    let mut icmp = vec![3, 4, 0, 0, 0, 0];
    icmp.extend(u16::try_from(mtu).ok()?.to_be_bytes());
    icmp.extend(quoted);
    let sum = checksum(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let length = u16::try_from(20 + icmp.len()).ok()?;
    let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0];
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes.extend(ROUTER);
    bytes.extend(to);
    let sum = checksum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(icmp);
    Some(bytes)
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
