//! A buffer with about 256 KiB of frames.

#![allow(unsafe_code)] // Prefetching.

use crate::pcap::Records;
use inorder_wire::{Frame, LinkType};

/// A block is filled up to this many bytes unless a single frame is longer. It is much smaller than a second-level
/// cache, so frames are still cached when they are parsed.
pub(crate) const BLOCK_BYTES: usize = 1 << 18;

/// Frames that share one buffer. Reuse the block to avoid allocations.
#[derive(Default, Debug)]
pub struct Block {
    /// Initialised once and never cleared; the first `filled` bytes are valid.
    bytes: Vec<u8>,
    filled: usize,
    layout: Layout,
    /// Positions of the frames if `layout` is [`Layout::Indexed`].
    pub(crate) records: Vec<Record>,
    first: u64,
    count: usize,
}

/// How the frames are arranged in the buffer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Layout {
    /// At the positions in `records`.
    #[default]
    Indexed,
    /// Consecutive, each behind its record header; headers are decoded while iterating.
    Consecutive(Records),
}

/// Position of a frame in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) ts_ns: i64,
    pub(crate) at: u32,
    pub(crate) captured: u32,
    pub(crate) orig_len: u32,
    pub(crate) link: LinkType,
    /// Index into the interfaces of the file.
    pub(crate) interface: u16,
}

impl Block {
    /// The frames in the order of the file.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        self.frames_on().map(|(_, frame)| frame)
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are no frames.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// 1-based number in the file of the first frame in this block; in an empty block, of the next frame.
    pub fn first_frame_number(&self) -> u64 {
        self.first
    }

    /// The frames, each with the index of its interface.
    #[inline]
    pub(crate) fn frames_on(&self) -> Frames<'_> {
        Frames {
            block: self,
            left: self.count,
            number: self.first,
            rest: self.filled(),
            records: self.records.iter(),
        }
    }

    /// Empties the block and starts it with `bytes`.
    pub(crate) fn restart(&mut self, first: u64, layout: Layout, bytes: &[u8]) {
        self.records.clear();
        self.count = 0;
        self.first = first;
        self.layout = layout;
        self.filled = 0;
        if bytes.is_empty() {
            return;
        }
        self.grow(bytes.len());
        if let Some(start) = self.bytes.get_mut(..bytes.len()) {
            start.copy_from_slice(bytes);
        }
        self.filled = bytes.len();
    }

    fn grow(&mut self, len: usize) {
        let len = len.max(BLOCK_BYTES);
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
    }

    /// Where filling ends: at the size of a block, or one block further if that is full already.
    pub(crate) fn goal(&self) -> usize {
        match self.filled {
            0..BLOCK_BYTES => BLOCK_BYTES,
            full => full.saturating_add(BLOCK_BYTES),
        }
    }

    /// The free space between the valid bytes and `end`.
    pub(crate) fn room(&mut self, end: usize) -> &mut [u8] {
        self.grow(end);
        self.bytes.get_mut(self.filled..end).unwrap_or_default()
    }

    pub(crate) fn add_filled(&mut self, len: usize) {
        self.filled = self.filled.saturating_add(len).min(self.bytes.len());
    }

    pub(crate) fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// The valid bytes and the index, so that a reader can walk the bytes while it writes the index.
    pub(crate) fn filled_and_records(&mut self) -> (&[u8], &mut Vec<Record>) {
        let filled = self.bytes.get(..self.filled).unwrap_or_default();
        (filled, &mut self.records)
    }

    pub(crate) fn set_len(&mut self, count: usize) {
        self.count = count;
    }

    /// Removes `len` bytes at the front, which must not belong to a frame.
    pub(crate) fn drop_front(&mut self, len: usize) {
        let len = len.min(self.filled);
        self.bytes.copy_within(len..self.filled, 0);
        self.filled -= len;
    }
}

/// Iterator over the frames of a block and their interfaces.
pub(crate) struct Frames<'a> {
    block: &'a Block,
    left: usize,
    number: u64,
    /// The remaining records, if they are consecutive.
    rest: &'a [u8],
    /// The remaining records, if they are indexed.
    records: std::slice::Iter<'a, Record>,
}

impl<'a> Iterator for Frames<'a> {
    type Item = (u16, Frame<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let number = self.number;
        self.number += 1;
        match &self.block.layout {
            Layout::Consecutive(records) => {
                let (frame, behind) = records.decode(self.rest, number)?;
                self.rest = behind;
                Some((0, frame))
            }
            Layout::Indexed => {
                let record = self.records.next()?;
                let data = self.rest.get(record.at as usize..)?;
                let frame = Frame {
                    ts_ns: record.ts_ns,
                    number,
                    link: record.link,
                    orig_len: record.orig_len,
                    data: data.get(..record.captured as usize)?,
                };
                Some((record.interface, frame))
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Prefetches `value` to be read soon, or with `WRITE` to be overwritten: another processor's cache may hold it. One
/// prefetch for every 64-byte cache line.
#[inline(always)]
pub fn soon<T, const WRITE: bool>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let place: *const i8 = std::ptr::from_ref(value).cast();
        for line in (0..size_of::<T>()).step_by(64) {
            let line = place.wrapping_add(line);
            // SAFETY: prefetching any address has no effect except on caches.
            unsafe {
                match WRITE {
                    true => _mm_prefetch::<_MM_HINT_ET0>(line),
                    false => _mm_prefetch::<_MM_HINT_T0>(line),
                }
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
