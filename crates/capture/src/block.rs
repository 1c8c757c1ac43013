//! About a megabyte of frames in one buffer.

use crate::pcap::Records;
use inorder_wire::{Frame, LinkType};

/// Bytes a block is filled to, unless one frame alone is longer.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

/// Frames that share one buffer; reuse it, for then nothing is allocated.
#[derive(Default, Debug)]
pub struct Block {
    /// Initialised once and never cleared; `filled` bytes of it are valid.
    bytes: Vec<u8>,
    filled: usize,
    layout: Layout,
    /// Where the frames are when `layout` is [`Layout::Indexed`].
    pub(crate) records: Vec<Record>,
    first: u64,
    count: usize,
}

/// How the frames lie in the buffer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) enum Layout {
    /// Where `records` says.
    #[default]
    Indexed,
    /// One after the other behind record headers, which are decoded while iterating.
    Consecutive(Records),
}

/// Where a frame lies in the buffer.
#[derive(Clone, Copy, Debug)]
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

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// 1-based number in the file of the first frame here (or of the next, in an empty block).
    pub fn first_frame_number(&self) -> u64 {
        self.first
    }

    /// The frames, each with the index of its interface.
    #[inline]
    pub(crate) fn frames_on(&self) -> Frames<'_> {
        Frames {
            block: self,
            next: 0,
            at: 0,
        }
    }

    /// Empties the block and starts it with `bytes`.
    pub(crate) fn restart(&mut self, first: u64, layout: Layout, bytes: &[u8]) {
        self.records.clear();
        self.count = 0;
        self.first = first;
        self.layout = layout;
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

    /// The room behind the valid bytes: up to a megabyte, or one more when that is full.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let end = match self.filled {
            0..BLOCK_BYTES => BLOCK_BYTES,
            full => full.saturating_add(BLOCK_BYTES),
        };
        self.grow(end);
        self.bytes.get_mut(self.filled..end).unwrap_or_default()
    }

    pub(crate) fn add_filled(&mut self, len: usize) {
        self.filled = self.filled.saturating_add(len).min(self.bytes.len());
    }

    pub(crate) fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// The valid bytes and the index, to walk the one and write the other.
    pub(crate) fn filled_and_records(&mut self) -> (&[u8], &mut Vec<Record>) {
        let filled = self.bytes.get(..self.filled).unwrap_or_default();
        (filled, &mut self.records)
    }

    pub(crate) fn set_len(&mut self, count: usize) {
        self.count = count;
    }

    /// Drops `len` bytes at the front, none of which belong to a frame.
    pub(crate) fn drop_front(&mut self, len: usize) {
        let len = len.min(self.filled);
        self.bytes.copy_within(len..self.filled, 0);
        self.filled -= len;
    }
}

/// Iterator over the frames of a block and their interfaces.
pub(crate) struct Frames<'a> {
    block: &'a Block,
    next: usize,
    at: usize,
}

impl<'a> Iterator for Frames<'a> {
    type Item = (u16, Frame<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.block.count {
            return None;
        }
        let number = self.block.first + self.next as u64;
        let item = match &self.block.layout {
            Layout::Consecutive(records) => {
                let (frame, end) = records.decode(self.block.filled(), self.at, number)?;
                self.at = end;
                (0, frame)
            }
            Layout::Indexed => {
                let record = self.block.records.get(self.next)?;
                let data = self.block.filled().get(record.at as usize..)?;
                let frame = Frame {
                    ts_ns: record.ts_ns,
                    number,
                    link: record.link,
                    orig_len: record.orig_len,
                    data: data.get(..record.captured as usize)?,
                };
                (record.interface, frame)
            }
        };
        self.next += 1;
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.block.count - self.next;
        (left, Some(left))
    }
}
