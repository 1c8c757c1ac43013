//! QUIC, as far as it shows without keys (RFC 8999, RFC 9000 section 17): its packet numbers are encrypted, so it is
//! recognised and counted, not analysed.

use crate::layer::{Rest, be32};

/// Version 1 (RFC 9000), and version 2 (RFC 9369 section 3.1).
const V1: u32 = 1;
const V2: u32 = 0x6b33_43cf;

/// Longest connection identifier of the known versions (RFC 9000 section 17.2).
const MAX_ID: usize = 20;

/// The bit of the first byte that only long headers have.
const LONG: u8 = 0x80;

/// Shorter datagrams have no short header: a stateless reset must look like one, and has this size at least (section 10.3).
const MIN_SHORT: usize = 21;

/// The least size of the datagram with a client's first packet (section 14.1).
const MIN_FIRST: usize = 1_200;

/// What a datagram may be of a QUIC connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quic {
    /// It begins with a long header.
    Long {
        /// The version; `None` of a packet that only offers versions (Version Negotiation).
        version: Option<u32>,
        /// A hash of the source connection identifier, which stays the same in all long headers that one end sends for
        /// a connection (section 7.2); `None` of a packet that begins none (Retry, Version Negotiation).
        source: Option<u32>,
    },
    /// It may begin with a short header: of any bytes, half do.
    Short,
}

/// Reads the payload of a UDP datagram; `None` if it is not QUIC.
///
/// The fixed bit is not asked for: ends that have agreed to clear it do so also in long headers (RFC 9287).
pub(crate) fn parse(payload: Rest<'_>) -> Option<Quic> {
    let first = *payload.data.first()?;
    if first & LONG == 0 {
        return (payload.wire >= MIN_SHORT).then_some(Quic::Short);
    }
    let version = be32(payload.data, 1)?;
    // Most of what gets here is RTP.
    let kind = kind(first, version);
    if kind.is_none() && version != 0 && !is_reserved(version) {
        return None;
    }
    let destination = identifier(payload.data, 5)?;
    let source = identifier(payload.data, 6 + destination.len())?;
    let rest = 7 + destination.len() + source.len();
    if version == 0 {
        return offers_versions(payload, rest).then_some(Quic::Long {
            version: None,
            source: None,
        });
    }
    let Some(kind) = kind else {
        // Only a first packet has a reserved version.
        let is_first = destination.len() >= 8 && payload.wire >= MIN_FIRST;
        return is_first.then_some(long(version, source));
    };
    match kind {
        // A token and a tag of 16 bytes (section 17.2.5).
        Kind::Retry if payload.wire < rest + 16 => None,
        Kind::Retry => Some(Quic::Long {
            version: Some(version),
            source: None,
        }),
        Kind::Initial | Kind::Other => fits(payload, rest, kind).then_some(long(version, source)),
    }
}

/// Types of long headers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Initial,
    /// 0-RTT, Handshake.
    Other,
    Retry,
}

/// The type by the first byte, which each version numbers on its own; `None` of an unknown version. Drafts from 23 on are
/// as version 1 is; those of Google from Q050 on and of Facebook (mvfst) are, too.
fn kind(first: u8, version: u32) -> Option<Kind> {
    let kinds = match version {
        V2 => [Kind::Retry, Kind::Initial, Kind::Other, Kind::Other],
        V1
        | 0xff00_0017..=0xff00_0022
        | 0x5130_3530
        | 0x5430_3530
        | 0x5430_3531
        | 0xface_b001..=0xface_b00e => [Kind::Initial, Kind::Other, Kind::Other, Kind::Retry],
        _ => return None,
    };
    kinds.get(usize::from(first >> 4 & 3)).copied()
}

/// True of versions that are reserved so that others are tried (section 15).
fn is_reserved(version: u32) -> bool {
    version & 0x0f0f_0f0f == 0x0a0a_0a0a
}

fn long(version: u32, source: &[u8]) -> Quic {
    // FNV-1a: two of a few identifiers have the same hash by accident once in 2^32 pairs.
    let hash = source.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    Quic::Long {
        version: Some(version),
        source: Some(hash),
    }
}

/// The connection identifier whose length is at `at`.
fn identifier(data: &[u8], at: usize) -> Option<&[u8]> {
    let len = usize::from(*data.get(at)?);
    let bytes = data.get(at + 1..)?.get(..len)?;
    (len <= MAX_ID).then_some(bytes)
}

/// True if the Length field behind the identifiers (and behind the token of an Initial packet) fits into the datagram, or
/// was not captured.
fn fits(payload: Rest<'_>, rest: usize, kind: Kind) -> bool {
    let mut at = rest;
    if kind == Kind::Initial {
        let Some((token, len)) = variable(payload.data, at) else {
            return true;
        };
        at = at.saturating_add(len).saturating_add(token);
    }
    if at > payload.wire {
        return false;
    }
    let Some((length, len)) = variable(payload.data, at) else {
        return true;
    };
    // A number of one byte at least, and what the header protection samples: 16 bytes that begin 4 behind the number's
    // start (RFC 9001 section 5.4.2).
    length >= 20 && at + len + length <= payload.wire
}

/// A number of variable length at `at`, and how many bytes it takes (RFC 9000 section 16).
fn variable(data: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = *data.get(at)?;
    let len = 1 << (first >> 6);
    let bytes = data.get(at..)?.get(..len)?;
    let rest = bytes.iter().skip(1);
    let value = rest.fold(u64::from(first & 0x3f), |value, byte| {
        value << 8 | u64::from(*byte)
    });
    // More than a datagram holds is as wrong as any such number.
    Some((
        usize::try_from(value).unwrap_or(usize::MAX) & 0xff_ffff,
        len,
    ))
}

/// True if versions fill the rest, one of which is known or reserved (section 17.2.1).
fn offers_versions(payload: Rest<'_>, rest: usize) -> bool {
    let versions = payload.data.get(rest..).unwrap_or_default();
    let is_known = |version: &[u8]| {
        let version = be32(version, 0).unwrap_or(0);
        kind(0, version).is_some() || is_reserved(version)
    };
    (payload.wire - rest.min(payload.wire)).is_multiple_of(4)
        && versions.chunks_exact(4).any(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data: &[u8], wire: usize) -> Option<Quic> {
        parse(Rest { data, wire })
    }

    /// A long header with identifiers of 8 bytes, a token of two if it is an Initial packet, and a length.
    fn header(first: u8, version: u32, length: u16) -> Vec<u8> {
        let mut bytes = vec![first];
        bytes.extend(version.to_be_bytes());
        bytes.extend([8, 1, 2, 3, 4, 5, 6, 7, 8]);
        bytes.extend([8, 9, 9, 9, 9, 9, 9, 9, 9]);
        if kind(first, version) == Some(Kind::Initial) {
            bytes.extend([2, 7, 7]);
        }
        bytes.extend((length | 0x4000).to_be_bytes());
        let len = bytes.len() + usize::from(length);
        bytes.resize(len, 0xee);
        bytes
    }

    fn version(of: Option<Quic>) -> Option<u32> {
        match of? {
            Quic::Long { version, .. } => version,
            Quic::Short => None,
        }
    }

    #[test]
    fn long_headers_of_known_versions_with_the_fixed_bit_and_without() {
        for (first, number) in [
            (0xc3, V1),
            (0x83, V1),
            (0xe1, V1),
            (0xa1, V1),
            (0xd0, V2),
            (0x90, V2),
            (0xc0, 0xff00_001d),
        ] {
            let packet = header(first, number, 300);
            let found = of(&packet, packet.len());
            assert_eq!(version(found), Some(number), "{first:x} {number:x}");
            // Cut by a snap length behind the identifiers.
            assert_eq!(of(&packet[..25], packet.len()), found);
            // Other packets may follow, but none is longer than its datagram.
            assert_eq!(of(&packet, packet.len() + 40), found);
            assert_eq!(of(&packet, packet.len() - 1), None);
        }
    }

    #[test]
    fn the_source_tells_connections_apart_and_a_retry_does_not() {
        let packet = header(0xc0, V1, 100);
        let mut other = packet.clone();
        other[15] ^= 1;
        assert_ne!(of(&packet, packet.len()), of(&other, other.len()));
        let retry = header(0xf0, V1, 100);
        let source = None;
        assert_eq!(
            of(&retry, retry.len()),
            Some(Quic::Long {
                version: Some(V1),
                source
            })
        );
    }

    #[test]
    fn version_negotiation_and_reserved_versions() {
        let mut offer = header(0x80, 0, 0);
        offer.truncate(23);
        assert_eq!(of(&offer, 23), None);
        offer.extend([0x1a, 0x2a, 0x3a, 0x4a, 0, 0, 0, 1]);
        let none = Quic::Long {
            version: None,
            source: None,
        };
        assert_eq!(of(&offer, offer.len()), Some(none));
        let first = header(0xc0, 0x1a2a_3a4a, 1_177);
        assert_eq!(version(of(&first, 1_200)), Some(0x1a2a_3a4a));
        assert_eq!(of(&first, 1_199), None);
    }

    #[test]
    fn rtp_is_not_quic() {
        // Version 2, PCMU, number 0, and a timestamp that looks like version 1 of QUIC.
        let mut packet = vec![0x80, 0, 0, 0, 1, 0x10];
        packet.resize(172, 0x55);
        assert_eq!(of(&packet, packet.len()), None);
        packet[1] = 0x60;
        assert_eq!(of(&packet, packet.len()), None);
        // What begins with a zero bit may be anything.
        packet[0] = 0;
        assert_eq!(of(&packet, packet.len()), Some(Quic::Short));
        assert_eq!(of(&packet[..20], 20), None);
    }
}
