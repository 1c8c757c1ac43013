//! The checks of the fuzz targets `live` (any bytes pass through all parsers, and what is merged and split again keeps
//! its bytes), `virtio` and `stamp`.

use inorder_path::Packet;

use crate::frame::Frame;
use crate::frame::headers::Headers;
use crate::frame::merge::Merger;
use crate::frame::split::{is_in_tunnel, split};
use crate::frame::vnet::{self, Header};
use crate::icmp::{Echo, Version, behind_ipv4};
use crate::probe::{Plan, Session};
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
    let mut reflector = Reflector::new(Limits::default(), 862);
    let answered = reflector.reflect(&mut bytes, &arrived, ErrorEstimate::default());
    assert_eq!(bytes.len(), data.len());
    // No answer is answered: two reflectors would never end.
    let packet = ReflectedPacket::read(data);
    assert_eq!(
        answered,
        packet.is_some_and(|packet| !packet.was_reflected())
    );
    if answered {
        assert!(!reflector.reflect(&mut bytes, &arrived, ErrorEstimate::default()));
    }
}

/// One frame: a virtio header, and its bytes. What it is cut into has lengths that are those of its headers, and right sums.
///
/// # Panics
/// If a check fails.
pub fn fuzz_virtio(data: &[u8]) {
    let Some((header, bytes)) = data.split_first_chunk::<{ vnet::BYTES }>() else {
        return;
    };
    let Some(header) = Header::read(header) else {
        return;
    };
    let frame = Frame::new(bytes.to_vec(), header, 0);
    let is_super = frame.header.segments.is_some();
    let (in_tunnel, before) = (is_in_tunnel(&frame), frame.bytes.len());
    assert!(is_super || !in_tunnel);
    split(frame, &mut |mut part| {
        assert!(part.header.segments.is_none());
        if !is_super {
            return;
        }
        assert!(part.bytes.len() <= before);
        part.complete_checksum();
        if let (Some(headers), false) = (Headers::find(&part.bytes), in_tunnel) {
            assert_eq!(headers.end, part.bytes.len());
            assert!(headers.is_undamaged(&part.bytes));
        }
    });
}

/// Packets of STAMP from several senders: one byte for the sender, one for the time that passes, one for the length, then the
/// packet. No limit is exceeded, no answer is larger than its packet, and no answer is answered.
///
/// # Panics
/// If a check fails.
pub fn fuzz_stamp(mut data: &[u8]) {
    let limits = Limits {
        sessions: 4,
        packets_per_s: 1_000,
        idle_ns: 1_000_000_000,
    };
    let mut reflector = Reflector::new(limits, 8_620);
    let mut session = Session::new(Plan::at_rate(1e3, 1, 0.1, 64));
    (0..100).for_each(|_| session.sent());
    let (mut now_ns, mut packets) = (0, 0);
    while let Some(([sender, pause, length], rest)) = data.split_first_chunk::<3>() {
        let (packet, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        data = rest;
        packets += 1;
        now_ns += i64::from(*pause) << 16;
        let arrived = Arrived {
            from: ([192, 0, 2, sender >> 4], 860 + u16::from(sender & 15)).into(),
            ttl: *pause,
            unix_ns: now_ns,
            now_ns,
        };
        let mut bytes = packet.to_vec();
        if reflector.reflect(&mut bytes, &arrived, ErrorEstimate::default()) {
            assert_eq!(bytes.len(), packet.len());
            assert!(!reflector.reflect(&mut bytes.clone(), &arrived, ErrorEstimate::default()));
            packets += 1;
        }
        if let Some(answer) = ReflectedPacket::read(&bytes) {
            session.reflected(&answer, now_ns);
        }
    }
    let done = reflector.done();
    assert_eq!(
        done.answered + done.malformed + done.from_reflectors + done.over_rate,
        packets
    );
    assert!(done.sessions - done.displaced <= 4);
    for direction in session.finish() {
        assert!(direction.sent <= 200 && direction.lost <= direction.sent);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_pass(data in proptest::collection::vec(any::<u8>(), 0..400)) {
            super::fuzz_one(&data);
            super::fuzz_virtio(&data);
            super::fuzz_stamp(&data);
        }
    }
}
