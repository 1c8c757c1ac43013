//! Checks for fuzzers and property tests: the fast path against the general one.

use crate::{Frame, LinkType, Other, Packet, fast, slow};

/// The link types the general path reads, and one it does not.
const LINKS: [u16; 13] = [1, 113, 101, 0, 9, 12, 14, 50, 108, 228, 229, 276, 127];

/// Parses `frame` both ways; panics when the fast path says anything but what the general does.
#[doc(hidden)]
pub fn same_both_ways(frame: &Frame<'_>) -> Packet {
    let general = slow::parse(frame);
    let mut fast = Packet::Other(Other::NotIp);
    if fast::parse_into(frame, &mut fast).is_some() {
        assert_eq!(fast, general, "{frame:02x?}");
    }
    assert_eq!(crate::parse(frame), general);
    general
}

/// One fuzzing input: link type, original length, then the bytes of a frame.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let [link, high, low, data @ ..] = input else {
        return;
    };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let packet = same_both_ways(&Frame {
        ts_ns: -1,
        number: 1,
        link: LinkType(link),
        orig_len: u32::from(u16::from_be_bytes([*high, *low])),
        data,
    });
    if let Packet::Tcp(key, dir, segment) = packet {
        let (src, dst) = key.ends(dir);
        assert_eq!(crate::FlowKey::new(src, dst, key.overlay), (key, dir));
        assert!(segment.sack_blocks().len() == usize::from(segment.sack_len));
    }
}
