//! Merges segments in order into one super-packet, which the kernel takes much faster than its segments.
//!
//! The conditions are those of Linux' GRO (net/ipv4/tcp_offload.c, `tcp_gro_receive`): consecutive data of one flow,
//! the same headers except for number, identification, length and checksum; all segments but the last have the same
//! size; PSH ends a run.

use inorder_path::Packet;

use super::Frame;
use super::headers::{Headers, TCP};
use super::vnet::{Checksum, Header, Segments};

/// Largest IP packet, bytes.
const MAX_BYTES: usize = 65_535;
/// Runs that are built at the same time, as in GRO's `MAX_GRO_SKBS`.
const MAX_RUNS: usize = 8;

const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Builds super-packets of the frames it is given in order.
#[derive(Default)]
pub struct Merger {
    runs: Vec<Run>,
}

/// A frame that may grow.
struct Run {
    frame: Frame,
    headers: Headers,
    /// Payload of the first segment, bytes.
    size: usize,
    segments: usize,
    next_seq: u32,
    /// False once a shorter segment or PSH ended it.
    may_grow: bool,
}

impl Merger {
    /// Nothing held.
    pub fn new() -> Self {
        Merger::default()
    }

    /// Takes the next frame. Frames of one flow leave in the order in which they came.
    pub fn push(&mut self, frame: Frame, out: &mut dyn FnMut(Frame)) {
        let flow = frame.flow();
        let known = self.runs.iter().position(|run| run.frame.flow() == flow);
        if let Some(run) = known.and_then(|at| self.runs.get_mut(at))
            && run.takes(&frame)
        {
            return;
        }
        if let Some(at) = known {
            out(self.runs.remove(at).finish());
        }
        match Run::begin(frame) {
            Ok(run) => {
                if self.runs.len() >= MAX_RUNS {
                    out(self.runs.remove(0).finish());
                }
                self.runs.push(run);
            }
            Err(frame) => out(frame),
        }
    }

    /// Passes on everything held.
    pub fn flush(&mut self, out: &mut dyn FnMut(Frame)) {
        self.runs.drain(..).for_each(|run| out(run.finish()));
    }
}

/// True if the frame is known to be undamaged. A frame whose checksum nobody has verified is not merged, because the
/// checksum of the whole would hide the damage.
fn is_verified(frame: &Frame) -> bool {
    frame.header.checksum != Checksum::Unknown
}

impl Run {
    /// Begins a run with a segment that may be merged; gives back any other frame.
    #[allow(clippy::result_large_err)] // The frame itself, which is moved either way.
    fn begin(frame: Frame) -> Result<Run, Frame> {
        let headers = Headers::find(&frame.bytes).filter(|headers| headers.protocol == TCP);
        let Some(headers) = headers.filter(|_| frame.meta().is_suitable() && is_verified(&frame))
        else {
            return Err(frame);
        };
        let size = headers.end - headers.payload;
        let flags = frame
            .bytes
            .get(headers.transport + 13)
            .copied()
            .unwrap_or(0);
        let next_seq = frame.meta().seq.wrapping_add(size as u32);
        // A frame that is a super-packet already is passed on as it is.
        let may_grow = frame.header.segments.is_none() && size > 0 && flags & PSH == 0;
        Ok(Run {
            frame,
            headers,
            size,
            segments: 1,
            next_seq,
            may_grow,
        })
    }

    /// Appends the segment if it continues the run.
    fn takes(&mut self, next: &Frame) -> bool {
        let (Some(headers), true) = (Headers::find(&next.bytes), self.may_grow) else {
            return false;
        };
        let payload = next
            .bytes
            .get(headers.payload..headers.end)
            .unwrap_or_default();
        let whole = self.headers.end - self.headers.ip + payload.len();
        let fits = headers.payload == self.headers.payload
            && (1..=self.size).contains(&payload.len())
            && whole <= MAX_BYTES
            && next.header.segments.is_none()
            && next.meta().is_suitable()
            && next.meta().seq == self.next_seq
            && is_verified(next)
            && self.same_headers(&next.bytes);
        if !fits {
            return false;
        }
        self.frame.bytes.truncate(self.headers.end);
        self.frame.bytes.extend_from_slice(payload);
        self.headers.end += payload.len();
        self.segments += 1;
        self.next_seq = self.next_seq.wrapping_add(payload.len() as u32);
        let pushed = next.bytes.get(headers.transport + 13).copied().unwrap_or(0) & PSH;
        if let Some(flags) = self.frame.bytes.get_mut(headers.transport + 13) {
            *flags |= pushed;
        }
        self.may_grow = payload.len() == self.size && pushed == 0;
        true
    }

    /// True if all bytes of the headers are equal that do not differ from segment to segment.
    fn same_headers(&self, next: &[u8]) -> bool {
        let same = |from: usize, to: usize| self.frame.bytes.get(from..to) == next.get(from..to);
        let (ip, tcp) = (self.headers.ip, self.headers.transport);
        let same_ip = match self.headers.is_v6 {
            // All but the length.
            true => same(0, ip + 4) && same(ip + 6, tcp),
            // All but length, identification and checksum.
            false => same(0, ip + 2) && same(ip + 6, ip + 10) && same(ip + 12, tcp),
        };
        // Ports; acknowledgement and header length; window; urgent pointer and options.
        let flags = next.get(tcp + 13).copied().unwrap_or(0);
        same_ip
            && same(tcp, tcp + 4)
            && same(tcp + 8, tcp + 13)
            && flags & !PSH == ACK
            && same(tcp + 14, tcp + 16)
            && same(tcp + 18, self.headers.payload)
    }

    fn finish(self) -> Frame {
        let Run {
            mut frame,
            headers,
            size,
            segments,
            ..
        } = self;
        if segments == 1 {
            return frame;
        }
        let kind = if headers.is_v6 {
            Segments::Tcp6
        } else {
            Segments::Tcp4
        };
        headers.set_length(&mut frame.bytes);
        headers.set_partial(&mut frame.bytes);
        frame.header = Header {
            checksum: Checksum::Partial {
                start: headers.transport as u16,
                offset: 16,
            },
            segments: Some((kind, u16::try_from(size).unwrap_or(u16::MAX), false)),
            header_bytes: headers.payload as u16,
        };
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::super::split::split;
    use super::super::testing::{tcp, whole};
    use super::*;
    use proptest::prelude::*;

    fn merged(frames: impl IntoIterator<Item = Frame>) -> Vec<Frame> {
        let (mut merger, mut out) = (Merger::new(), Vec::new());
        for frame in frames {
            merger.push(frame, &mut |frame| out.push(frame));
        }
        merger.flush(&mut |frame| out.push(frame));
        out
    }

    fn lengths(frames: &[Frame]) -> Vec<usize> {
        let length = |frame: &Frame| {
            Headers::find(&frame.bytes)
                .map(|h| h.end - h.payload)
                .unwrap()
        };
        frames.iter().map(length).collect()
    }

    #[test]
    fn consecutive_segments_become_one() {
        for v6 in [false, true] {
            let frames = [(1, 0x10), (101, 0x10), (201, 0x18)]
                .map(|(seq, flags)| tcp(v6, seq, flags, &[5; 100]));
            let out = merged(frames);
            assert_eq!(lengths(&out), [300]);
            assert!(whole(&out[0]));
            assert_eq!(out[0].header.segments.map(|(_, size, _)| size), Some(100));
        }
    }

    #[test]
    fn a_gap_or_a_short_segment_or_another_ack_ends_a_run() {
        let data = |seq, bytes: usize| tcp(false, seq, 0x10, &vec![1; bytes]);
        assert_eq!(lengths(&merged([data(1, 100), data(201, 100)])), [100, 100]);
        assert_eq!(
            lengths(&merged([data(1, 100), data(101, 50), data(151, 100)])),
            [150, 100]
        );
        let mut other = data(101, 100);
        other.bytes[42] = 1; // the acknowledgement number
        assert_eq!(lengths(&merged([data(1, 100), other])), [100, 100]);
        let long = (0..50u32).map(|n| data(1 + 2000 * n, 2000));
        assert_eq!(lengths(&merged(long)), [64_000, 36_000]);
    }

    #[test]
    fn what_nobody_verified_is_not_merged() {
        let frames = [1, 101].map(|seq| {
            let mut frame = tcp(false, seq, 0x10, &[1; 100]);
            frame.complete_checksum();
            frame
        });
        assert_eq!(lengths(&merged(frames)), [100, 100]);
    }

    proptest! {
        /// Merging and splitting again gives the same segments in the same order.
        #[test]
        fn merging_loses_nothing(sizes in proptest::collection::vec((1usize..200, any::<bool>(), 0u32..3), 1..40), v6: bool) {
            let mut seq = 7u32;
            let frames: Vec<Frame> = sizes.iter().map(|&(size, push, gap)| {
                seq = seq.wrapping_add(if gap == 2 { 10 } else { 0 });
                let flags = if push { 0x18 } else { 0x10 };
                let frame = tcp(v6, seq, flags, &vec![size as u8; size]);
                seq = seq.wrapping_add(size as u32);
                frame
            }).collect();
            let mut parts = Vec::new();
            for frame in merged(frames.clone()) {
                prop_assert!(whole(&frame));
                prop_assert!(split(frame, &mut |part| parts.push(part)));
            }
            let essence = |frame: &Frame| {
                let headers = Headers::find(&frame.bytes).unwrap();
                (frame.meta().seq, frame.bytes[headers.transport + 13], frame.bytes[headers.payload..].to_vec())
            };
            let before: Vec<_> = frames.iter().map(essence).collect();
            let after: Vec<_> = parts.iter().map(essence).collect();
            prop_assert_eq!(before, after);
        }

        #[test]
        fn any_bytes_pass(frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..8), size: u16) {
            let made = frames.iter().map(|bytes| {
                let header = Header { checksum: Checksum::Valid, ..Header::default() };
                Frame::new(bytes.clone(), header, 0)
            });
            prop_assert_eq!(merged(made).len(), frames.len());
            for bytes in frames {
                let header = Header { segments: Some((Segments::Tcp4, size, false)), ..Header::default() };
                split(Frame::new(bytes, header, 0), &mut |_| ());
            }
        }
    }
}
