//! IEEE 802.11 frames, without anything before them (link type 105) or behind a header of radiotap (127), Prism cards (119), AVS
//! (163) or per-packet information (192).

use crate::layer::Rest;
use crate::{LinkType, Other, llc};

/// Header of a data frame: control, duration, three addresses, number.
const HEADER_LEN: usize = 24;
const ADDRESS_LEN: usize = 6;
/// Bits of the first byte of frame control, where data frames are of type 2: subtypes with a QoS field, and without data.
const TYPE: u8 = 0x0c;
const DATA: u8 = 0x08;
const VERSION: u8 = 0x03;
const WITHOUT_DATA: u8 = 0x40;
const QOS: u8 = 0x80;
/// Bits of its second byte.
const BOTH_SYSTEMS: u8 = 0x03;
const PROTECTED: u8 = 0x40;
/// Of frames with QoS: another field of four bytes follows.
const ORDER: u8 = 0x80;
/// Bit of the QoS field: the frame holds several packets.
const AGGREGATE: u8 = 0x80;
/// Bits of the sequence control: number of the fragment.
const FRAGMENT: u8 = 0x0f;

/// EtherType and bytes of the network layer.
pub(crate) fn network(link: LinkType, rest: Rest<'_>) -> Result<(u16, Rest<'_>), Other> {
    match link {
        LinkType::IEEE_802_11_RADIOTAP => {
            let radio = Radiotap::read(rest)?;
            if radio.damaged {
                return Err(Other::Malformed);
            }
            in_frame(rest.skip(radio.len)?, radio.padded)
        }
        LinkType::IEEE_802_11_PRISM | LinkType::IEEE_802_11_AVS => {
            in_frame(rest.skip(card_len(rest)?)?, false)
        }
        LinkType::PPI => {
            let [_, _, low, high, kind @ ..] = *rest.head::<8>()?;
            let kind = LinkType(u32::from_le_bytes(kind).try_into().unwrap_or(u16::MAX));
            if kind != LinkType::IEEE_802_11 {
                return Err(Other::UnknownLink(kind));
            }
            in_frame(rest.skip(u16::from_le_bytes([low, high]).into())?, false)
        }
        _ => in_frame(rest, false),
    }
}

/// What is in a data frame; with `padded`, its header was filled up to a multiple of four bytes.
fn in_frame(rest: Rest<'_>, padded: bool) -> Result<(u16, Rest<'_>), Other> {
    let [kind, flags] = *rest.head::<2>()?;
    if kind & VERSION != 0 {
        return Err(Other::Malformed);
    }
    if kind & TYPE != DATA || kind & WITHOUT_DATA != 0 {
        return Err(Other::WithoutData);
    }
    if flags & PROTECTED != 0 {
        return Err(Other::Encrypted);
    }
    let head = rest.head::<HEADER_LEN>()?;
    if head[22] & FRAGMENT != 0 {
        return Err(Other::WirelessFragment);
    }
    let mut len = HEADER_LEN;
    if flags & BOTH_SYSTEMS == BOTH_SYSTEMS {
        len += ADDRESS_LEN;
    }
    if kind & QOS != 0 {
        let [qos, _] = *rest.skip(len)?.head::<2>()?;
        if qos & AGGREGATE != 0 {
            return Err(Other::Aggregate);
        }
        len += if flags & ORDER != 0 { 6 } else { 2 };
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    llc::network(rest.skip(len)?)
}

/// Bytes of the header of AVS, which begins with its version and length, or of that of Prism cards (as in tcpdump's `print-802_11.c`).
fn card_len(rest: Rest<'_>) -> Result<usize, Other> {
    const PRISM_LEN: usize = 144;
    let [a, b, c, version, len @ ..] = *rest.head::<8>()?;
    Ok(match ([a, b, c], version) {
        ([0x80, 0x21, 0x10], 1 | 2) => u32::from_be_bytes(len) as usize,
        _ => PRISM_LEN,
    })
}

/// What the header of radiotap (radiotap.org) tells.
struct Radiotap {
    len: usize,
    /// The frame's header is filled up to a multiple of four bytes.
    padded: bool,
    /// The frame's check sequence is wrong.
    damaged: bool,
}

/// Bits of the first word of the fields that are present.
const TIME_PRESENT: u32 = 1;
const FLAGS_PRESENT: u32 = 1 << 1;
const MORE_WORDS: u32 = 1 << 31;
/// Bits of the flags.
const DATA_PAD: u8 = 0x20;
const BAD_CHECK: u8 = 0x40;

impl Radiotap {
    fn read(rest: Rest<'_>) -> Result<Radiotap, Other> {
        let [version, _, low, high] = *rest.head::<4>()?;
        let len = usize::from(u16::from_le_bytes([low, high]));
        if version != 0 || len < 8 {
            return Err(Other::Malformed);
        }
        let flags = match rest.data.get(..len) {
            Some(header) => flags(header).unwrap_or(0),
            None => return Err(rest.shortage(len)),
        };
        Ok(Radiotap {
            len,
            padded: flags & DATA_PAD != 0,
            damaged: flags & BAD_CHECK != 0,
        })
    }
}

/// The field with the flags, if there is one: the second field, behind the time, which begins at a multiple of its eight bytes.
fn flags(header: &[u8]) -> Option<u8> {
    let word = |at: usize| Some(u32::from_le_bytes(*header.get(at..)?.first_chunk()?));
    let present = word(4)?;
    let mut at = 8;
    let mut last = present;
    while last & MORE_WORDS != 0 {
        last = word(at)?;
        at += 4;
    }
    if present & TIME_PRESENT != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    header
        .get(at)
        .copied()
        .filter(|_| present & FLAGS_PRESENT != 0)
}
