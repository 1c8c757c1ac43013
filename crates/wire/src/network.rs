//! Where the network header of a frame begins, for those who look at packets of any kind.

use crate::layer::{Rest, field16};
use crate::{Frame, LinkType, Other, frame_relay, llc, nflog, slow, wireless};

/// A packet without its link header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network<'a> {
    /// The captured bytes from the network header on; the whole frame if its link type is unknown.
    pub data: &'a [u8],
    /// Their length on the wire, bytes.
    pub wire: usize,
    /// EtherType, 0 if it is unknown.
    pub kind: u16,
}

/// Skips the link header and VLAN tags. A frame that is cut within them, or whose link type is unknown, is returned whole.
pub fn network<'a>(frame: &Frame<'a>) -> Network<'a> {
    let rest = Rest::of_frame(frame);
    let found = skip(frame.link, rest);
    let (kind, rest) = found.unwrap_or((0, rest));
    Network {
        data: rest.data,
        wire: rest.wire,
        kind,
    }
}

/// The innermost packet of a frame, and the overlay network in which it is ([`FlowKey::overlay`](crate::FlowKey)); `None` if it is the
/// one that [`network`] returns.
pub fn innermost<'a>(frame: &Frame<'a>) -> Option<(Network<'a>, u32)> {
    let header = slow::innermost(frame)?;
    let at = header.at.checked_sub(frame.data.as_ptr().addr())?;
    let data = frame.data.get(at..at + header.captured)?;
    let outer = network(frame).data.as_ptr().addr();
    let inner = Network {
        data,
        wire: header.wire,
        kind: header.kind,
    };
    (header.at != outer).then_some((inner, header.overlay))
}

/// What follows the header of a link layer that names it by an EtherType (0 where the version of IP is the only name), and its bytes.
pub(crate) fn link_header(link: LinkType, rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    // The EtherType is at `at`, in a header of `len` bytes.
    let at = |at: usize, len: usize| {
        let behind = rest.skip(len)?;
        Ok((field16(rest, at)?, behind))
    };
    match link {
        LinkType::ETHERNET => at(12, 14),
        LinkType::LINUX_SLL => at(14, 16),
        LinkType::LINUX_SLL2 => at(0, 20),
        LinkType::PPP_HDLC if is_cisco(rest) => at(2, 4),
        LinkType::CISCO_HDLC => at(2, 4),
        LinkType::NFLOG => nflog::network(rest),
        LinkType::IEEE_802_11
        | LinkType::IEEE_802_11_RADIOTAP
        | LinkType::IEEE_802_11_PRISM
        | LinkType::IEEE_802_11_AVS
        | LinkType::PPI => wireless::network(link, rest),
        LinkType::FRAME_RELAY => frame_relay::network(rest),
        LinkType::FDDI => llc::in_fddi(rest),
        LinkType::TOKEN_RING => llc::in_token_ring(rest),
        LinkType::LLC_SNAP => llc::network(rest),
        LinkType::NULL | LinkType::LOOP => Ok((0, rest.skip(4)?)),
        link => Err(Other::UnknownLink(link)),
    }
}

/// Cisco's HDLC begins with an address (0x0f to one, 0x8f to all) and a zero. Its addresses are none of PPP's, so that the two may
/// share a link type.
pub(crate) fn is_cisco(rest: Rest<'_>) -> bool {
    matches!(rest.data, [0x0f | 0x8f, 0, ..])
}

fn skip(link: LinkType, rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    let (mut kind, mut rest) = match link_header(link, rest) {
        Err(Other::UnknownLink(_)) => (0, rest),
        found => found?,
    };
    while let 0x8100 | 0x88a8 | 0x9100 | 0x9200 = kind {
        kind = field16(rest, 2)?;
        rest = rest.skip(4)?;
    }
    // Raw IP and loopback have no EtherType; it is that of the version, so that all link types match.
    let kind = match (kind, rest.data.first().map(|first| first >> 4)) {
        (0, Some(4)) => 0x0800,
        (0, Some(6)) => 0x86dd,
        (kind, _) => kind,
    };
    Ok((kind, rest))
}
