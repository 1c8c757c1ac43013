//! PRP (IEC 62439-3 clause 4): the trailer of frames sent over two networks.

use super::{Declared, Service};
use crate::flow::Endpoint;
use crate::layer::{Context, Ends, Rest, be16};
use crate::{Numbered, StreamKey};

pub(super) static SERVICE: Declared = Declared {
    name: "prp",
    bits: 16,
    ..Declared::USUAL
};

/// Bytes of the trailer, and its last two.
pub(crate) const TRAILER: usize = 6;
const SUFFIX: [u8; 2] = [0x88, 0xfb];

/// True if the frame ends like one with a trailer.
#[inline]
pub(crate) fn may_end(frame: &[u8]) -> bool {
    frame.last_chunk() == Some(&SUFFIX)
}

/// The trailer of a whole Ethernet frame: sequence number, network (4 bits), size (12 bits), suffix. A node numbers all
/// frames that it sends, whatever their destination.
pub(crate) fn trailer(frame: Rest<'_>, context: Context<'_>) -> Option<(StreamKey, Numbered)> {
    const ADDRESSES_AND_TYPE: usize = 14;
    const VLAN_TAG: usize = 4;
    if !may_end(frame.data) || frame.data.len() != frame.wire {
        return None;
    }
    let [s0, s1, high, low, ..] = *frame.data.last_chunk::<TRAILER>()?;
    let (network, size) = (high >> 4, u16::from_be_bytes([high & 0x0f, low]));
    let body = frame.wire.checked_sub(ADDRESSES_AND_TYPE)?;
    let tagged = be16(frame.data, 12) == Some(0x8100);
    // The size is that of everything behind the EtherType, trailer included; a VLAN tag does not count.
    let fits = usize::from(size) == body || tagged && usize::from(size) + VLAN_TAG == body;
    if !fits || !matches!(network, 0xa | 0xb) {
        return None;
    }
    let [source, _] = context.macs?;
    let ends = Ends {
        src: Endpoint::mac(source),
        dst: Endpoint::ANY_MAC,
    };
    let number = context.number(u64::from(u16::from_be_bytes([s0, s1])), body - TRAILER);
    Some((context.key(Service::Prp, ends, u32::from(network)), number))
}
