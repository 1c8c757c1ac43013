//! Frames for tests.

use super::Frame;
use super::headers::{Headers, TCP, put};
use super::vnet::{Checksum, Header, Segments};

/// A TCP segment with a partial checksum, as a sender behind veth leaves it.
pub(crate) fn tcp(v6: bool, seq: u32, flags: u8, payload: &[u8]) -> Frame {
    let mut bytes = vec![2; 12];
    if v6 {
        bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, TCP, 64]);
        bytes.extend([0x20; 16]);
        bytes.extend([0x30; 16]);
    } else {
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 0, 0, 9, 0x40, 0, 64, TCP, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    }
    bytes.extend([0x9c, 0x40, 0x00, 0x50]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 1, 0x80, flags, 1, 0, 0, 0, 0, 0]);
    bytes.extend([1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4]);
    bytes.extend(payload);
    let at = if v6 { 18 } else { 16 };
    let length = (bytes.len() - if v6 { 54 } else { 14 }) as u16;
    put(&mut bytes, at, length.to_be_bytes());
    finish(bytes)
}

/// A TCP segment with `payload` as one super-packet, to be cut into segments of `size` bytes.
pub(crate) fn super_packet(v6: bool, seq: u32, flags: u8, payload: &[u8], size: u16) -> Frame {
    let mut frame = tcp(v6, seq, flags, payload);
    let kind = if v6 { Segments::Tcp6 } else { Segments::Tcp4 };
    frame.header.segments = Some((kind, size, flags & 0x80 != 0));
    frame
}

fn finish(mut bytes: Vec<u8>) -> Frame {
    let headers = Headers::find(&bytes).expect("TCP");
    headers.set_length(&mut bytes);
    headers.set_partial(&mut bytes);
    let checksum = Checksum::Partial {
        start: headers.transport as u16,
        offset: 16,
    };
    let header = Header {
        checksum,
        ..Header::default()
    };
    Frame::new(bytes, header, 0)
}

/// True if all checksums are right once they are complete.
pub(crate) fn whole(frame: &Frame) -> bool {
    let mut frame = frame.clone();
    frame.complete_checksum();
    let headers = Headers::find(&frame.bytes).expect("TCP");
    let ip = &frame.bytes[headers.ip..headers.ip + 20];
    let ip_is_right = headers.is_v6 || crate::checksum::finish(crate::checksum::add(0, ip)) == 0;
    ip_is_right && headers.is_undamaged(&frame.bytes)
}
