//! The check of the fuzz target `live`: any bytes pass through all parsers, and what is merged and split again keeps
//! its bytes.

use inorder_path::Packet;

use crate::frame::Frame;
use crate::frame::merge::Merger;
use crate::frame::split::split;
use crate::frame::vnet::{self, Header};
use crate::icmp::{Echo, Version, behind_ipv4};
use crate::reflector::{Arrived, Limits, Reflector};
use crate::stamp::{ErrorEstimate, ReflectedPacket};

/// Takes frames of two bytes of length, a virtio header and bytes, one after the other.
///
/// # Panics
/// If a check fails.
pub fn fuzz_one(mut data: &[u8]) {
    parsers(data);
    let mut merger = Merger::new();
    let (mut taken, mut left) = (0, 0);
    let mut out = |frame: Frame| {
        left += 1;
        let (is_super, mut parts) = (frame.header.segments.is_some(), 0);
        let whole = split(frame, &mut |part| {
            parts += 1;
            assert!(part.header.segments.is_none());
        });
        // A super-packet without payload is nothing.
        assert!(!whole || parts > 0 || is_super);
    };
    while let Some((length, rest)) = data.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (bytes, rest) = rest.split_at(length);
        data = rest;
        let Some((header, bytes)) = bytes.split_first_chunk::<{ vnet::BYTES }>() else {
            continue;
        };
        let Some(header) = Header::read(header) else {
            continue;
        };
        assert_eq!(Header::read(&header.bytes()), Some(header));
        let mut frame = Frame::new(bytes.to_vec(), header, 0);
        taken += 1;
        let mut damaged = frame.clone();
        damaged.corrupt(taken);
        frame.mark_congestion();
        merger.push(frame, &mut out);
    }
    merger.flush(&mut out);
    assert!(left <= taken);
}

fn parsers(data: &[u8]) {
    let _ = Echo::read_reply(Version::V4, behind_ipv4(data).unwrap_or_default());
    let mut bytes = data.to_vec();
    let arrived = Arrived {
        from: ([192, 0, 2, 1], 1).into(),
        ttl: 1,
        unix_ns: 0,
        now_ns: 0,
    };
    let answered =
        Reflector::new(Limits::default()).reflect(&mut bytes, &arrived, ErrorEstimate::default());
    assert_eq!(bytes.len(), data.len());
    assert_eq!(answered, ReflectedPacket::read(data).is_some());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_pass(data in proptest::collection::vec(any::<u8>(), 0..400)) {
            super::fuzz_one(&data);
        }
    }
}
