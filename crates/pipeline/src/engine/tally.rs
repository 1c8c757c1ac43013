//! Counts over all frames of a capture.

use inorder_wire::{Frame, Other};

/// Counts made while frames are parsed; the counts of several blocks can be added.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// All frames that were selected.
    pub all: Frames,
    /// Frames that the selection left out.
    pub left_out: u64,
    /// Frames that could not be analysed, in the order of [`Other::ALL`].
    skipped: [u64; Other::ALL.len()],
}

/// Counts over a block of frames; small enough to stay in registers while the block is parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frames {
    /// How many.
    pub count: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Earliest capture time, nanoseconds since the epoch.
    first_ns: i64,
    /// Latest capture time.
    last_ns: i64,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            count: 0,
            bytes: 0,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
        }
    }
}

impl Frames {
    /// Counts a frame.
    #[inline(always)]
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.count += 1;
        self.bytes += u64::from(frame.orig_len);
        self.first_ns = self.first_ns.min(frame.ts_ns);
        self.last_ns = self.last_ns.max(frame.ts_ns);
    }

    /// Adds the counts of other frames.
    pub fn add(&mut self, other: &Frames) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    /// Earliest and latest capture time, nanoseconds since the epoch; zeros if there are no frames.
    pub fn span_ns(&self) -> (i64, i64) {
        match self.count {
            0 => (0, 0),
            _ => (self.first_ns, self.last_ns),
        }
    }
}

impl Tally {
    /// Counts a frame that could not be analysed.
    #[inline]
    pub fn skip(&mut self, reason: Other) {
        self.skip_more(reason, 1);
    }

    /// Counts several frames that could not be analysed.
    #[inline]
    pub fn skip_more(&mut self, reason: Other, frames: u64) {
        if let Some(count) = self.skipped.get_mut(reason as usize) {
            *count += frames;
        }
    }

    /// Adds the counts of another part of the capture.
    pub fn add(&mut self, other: &Tally) {
        self.all.add(&other.all);
        self.left_out += other.left_out;
        for (sum, count) in self.skipped.iter_mut().zip(other.skipped) {
            *sum += count;
        }
    }

    /// Reasons with their counts, the most frequent first.
    pub fn skipped(&self) -> Vec<(String, u64)> {
        let mut skipped: Vec<(String, u64)> = Other::ALL
            .iter()
            .zip(self.skipped)
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.name().to_owned(), count))
            .collect();
        skipped.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        skipped
    }
}
