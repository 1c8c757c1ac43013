//! A writer of classic pcap with nanoseconds.

use super::invalid;
use inorder_wire::{Frame, LinkType};
use std::io::{self, Write};

const NANOS: i64 = 1_000_000_000;

/// Writes classic pcap with timestamps in nanoseconds, little-endian.
///
/// `out` should be buffered, because every record is written in two small parts.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    link: LinkType,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header. All frames will be of type `link` and at most `snaplen` bytes.
    pub fn new(mut out: W, link: LinkType, snaplen: u32) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend(0xa1b2_3c4du32.to_le_bytes());
        header.extend([2, 0, 4, 0]);
        header.extend([0; 8]);
        header.extend(snaplen.to_le_bytes());
        header.extend(u32::from(link.0).to_le_bytes());
        out.write_all(&header)?;
        Ok(PcapWriter { out, link })
    }

    /// Writes one frame; its number is ignored.
    pub fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        if frame.link != self.link {
            return Err(invalid(format!(
                "a frame of {} in a pcap file of {}",
                frame.link, self.link
            )));
        }
        let (seconds, fraction) = split(frame.ts_ns)?;
        let captured = u32::try_from(frame.data.len())
            .map_err(|_| invalid(format!("a frame of {} bytes", frame.data.len())))?;
        let mut header = [0; 16];
        let words = [seconds, fraction, captured, frame.orig_len];
        for (slot, word) in header.chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&header)?;
        self.out.write_all(frame.data)
    }

    /// Returns the wrapped writer without flushing it.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Splits a time into seconds and nanoseconds. Before 1970 both are negative and the nanoseconds are never zero, so
/// that the reader recognises such times.
fn split(ts_ns: i64) -> io::Result<(u32, u32)> {
    let (mut seconds, mut fraction) = (ts_ns / NANOS, ts_ns % NANOS);
    if ts_ns < 0 && fraction == 0 {
        (seconds, fraction) = (seconds + 1, -NANOS);
    }
    let range = if ts_ns < 0 {
        i64::from(i32::MIN)..=0
    } else {
        0..=i64::from(u32::MAX)
    };
    if !range.contains(&seconds) {
        return Err(invalid(format!("{seconds} s since 1970 in a pcap file")));
    }
    Ok((seconds as u32, fraction as u32))
}
