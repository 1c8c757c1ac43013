//! Super-packets of tunnels: where the packet is that is to be cut, and what its envelopes need afterwards.
//!
//! virtio's header says nothing of a tunnel, so the kernel would cut such a super-packet at the outer headers. Known are those
//! tunnels whose headers stay the same from packet to packet: VXLAN, GENEVE, GRE without checksum and number, IP in IP.

use super::headers::{self, Headers, TCP, UDP, network, put};
use crate::checksum;

/// Maximum number of headers around a packet, one inside the other.
const MAX_ENVELOPES: usize = 4;
/// Ports of VXLAN (RFC 7348, and Linux' older one) and of GENEVE (RFC 8926).
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
/// EtherTypes.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ETHERNET: u16 = 0x6558;

/// An IP packet around another one.
struct Envelope {
    ip: usize,
    is_v6: bool,
    /// Its UDP header.
    udp: Option<usize>,
}

/// A packet in a tunnel.
pub(super) struct Tunnel {
    envelopes: Vec<Envelope>,
    /// Where the headers of the packet are that is cut.
    pub inner: Headers,
}

/// An IP header of the shortest form: what it carries and from where on.
struct Ip {
    at: usize,
    is_v6: bool,
    protocol: u8,
    next: usize,
    end: usize,
}

fn ip(frame: &[u8], at: usize, kind: u16) -> Option<Ip> {
    let packet = frame.get(at..)?;
    match kind {
        IPV4 => {
            let header = packet.first_chunk::<20>()?;
            let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
            let length = u16::from_be_bytes([header[2], header[3]]);
            (header[0] == 0x45 && fragment == 0).then_some(Ip {
                at,
                is_v6: false,
                protocol: header[9],
                next: at + 20,
                end: at + usize::from(length),
            })
        }
        IPV6 => {
            let header = packet.first_chunk::<40>()?;
            let length = u16::from_be_bytes([header[4], header[5]]);
            (header[0] >> 4 == 6).then_some(Ip {
                at,
                is_v6: true,
                protocol: header[6],
                next: at + 40,
                end: at + 40 + usize::from(length),
            })
        }
        _ => None,
    }
}

/// Start and EtherType of the packet behind a tunnel's own header at `at`.
fn behind(frame: &[u8], at: usize, kind: u16) -> Option<(usize, u16)> {
    match kind {
        ETHERNET => {
            let (start, kind) = network(frame.get(at..)?)?;
            Some((at + start, kind))
        }
        kind => Some((at, kind)),
    }
}

/// The packet that this one carries.
fn carried(frame: &[u8], outer: &Ip) -> Option<(usize, u16)> {
    const GRE: u8 = 47;
    let short = |at: usize| headers::word(frame, at).map(|word| (word >> 16) as u16);
    match outer.protocol {
        4 => Some((outer.next, IPV4)),
        41 => Some((outer.next, IPV6)),
        GRE => {
            let flags = short(outer.next)?;
            // Only a key may follow (RFC 2890): a checksum or a number would be another one in every packet.
            let key = 4 * usize::from(flags & 0x2000 != 0);
            let start = outer.next + 4 + key;
            (flags & !0x2000 == 0).then_some(())?;
            behind(frame, start, short(outer.next + 2)?)
        }
        UDP => {
            let (port, start) = (short(outer.next + 2)?, outer.next + 8);
            if VXLAN.contains(&port) {
                return behind(frame, start + 8, ETHERNET);
            }
            let options = usize::from(*frame.get(start)? & 0x3f) * 4;
            (port == GENEVE).then_some(())?;
            behind(frame, start + 8 + options, short(start + 2)?)
        }
        _ => None,
    }
}

impl Tunnel {
    /// Finds the packet with this protocol inside of a tunnel; its header begins at `start`, if that is known. `None` if the
    /// frame is no tunnel, or one that is not known.
    pub(super) fn find(frame: &[u8], protocol: u8, start: Option<usize>) -> Option<Self> {
        let (mut at, mut kind) = network(frame)?;
        let mut envelopes = Vec::new();
        while envelopes.len() <= MAX_ENVELOPES {
            let packet = ip(frame, at, kind)?;
            let is_it = packet.protocol == protocol && start.is_none_or(|at| at == packet.next);
            if is_it && !envelopes.is_empty() {
                let inner = inner(frame, &packet)?;
                return Some(Tunnel { envelopes, inner });
            }
            (at, kind) = carried(frame, &packet)?;
            envelopes.push(Envelope {
                ip: packet.at,
                is_v6: packet.is_v6,
                udp: (packet.protocol == UDP).then_some(packet.next),
            });
        }
        None
    }

    /// True if an envelope has a checksum over all that it carries.
    pub(super) fn is_summed(&self, frame: &[u8]) -> bool {
        let mut sums = self.envelopes.iter().filter_map(|envelope| envelope.udp);
        sums.any(|udp| frame.get(udp + 6..udp + 8) != Some(&[0, 0]))
    }

    /// Makes the envelopes fit a packet cut from the super-packet, the `index`th. If they are summed, the checksum of the
    /// packet itself must be complete.
    pub(super) fn close(&self, frame: &mut [u8], index: usize) {
        for envelope in self.envelopes.iter().rev() {
            let outer = Headers {
                ip: envelope.ip,
                is_v6: envelope.is_v6,
                protocol: UDP,
                transport: envelope.udp.unwrap_or(envelope.ip),
                payload: frame.len(),
                end: frame.len(),
            };
            if !envelope.is_v6 {
                outer.add_to_id(frame, index);
            }
            outer.set_length(frame);
            let Some(udp) = envelope.udp else {
                continue;
            };
            let length = frame.len() - udp;
            put(frame, udp + 4, (length as u16).to_be_bytes());
            if frame.get(udp + 6..udp + 8) == Some(&[0, 0]) {
                continue;
            }
            put(frame, udp + 6, [0, 0]);
            let bytes = frame.get(udp..).unwrap_or_default();
            let sum = checksum::finish(checksum::add(outer.pseudo_sum(frame, length), bytes));
            // A sum of zero means that there is none (RFC 768).
            put(
                frame,
                udp + 6,
                if sum == 0 { 0xffff } else { sum }.to_be_bytes(),
            );
        }
    }
}

/// The headers of the packet that is cut.
fn inner(frame: &[u8], packet: &Ip) -> Option<Headers> {
    let header_bytes = match packet.protocol {
        TCP => usize::from(frame.get(packet.next + 12)? >> 4) * 4,
        UDP => 8,
        _ => return None,
    };
    let least = if packet.protocol == TCP { 20 } else { 8 };
    let payload = packet.next + header_bytes;
    let fits = header_bytes >= least && payload <= packet.end && packet.end <= frame.len();
    fits.then_some(Headers {
        ip: packet.at,
        is_v6: packet.is_v6,
        protocol: packet.protocol,
        transport: packet.next,
        payload,
        end: packet.end,
    })
}
