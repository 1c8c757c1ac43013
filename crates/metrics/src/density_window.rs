//! The stay-back window of reorder density while packets are out of order.

use crate::displacement::Displacements;

/// The RFC's `window` and `buf`, with the members of both at or above the receive index in
/// one bitmap: membership and the next receive index cost O(1).
#[derive(Clone, Debug)]
pub(crate) struct Window {
    threshold: u16,
    /// Ring of the packets that wait, in order of arrival.
    ring: Box<[u64]>,
    head: usize,
    len: usize,
    /// The receive index to be given next.
    index: u64,
    /// Numbers `index .. index + span`, bit `number % span`: in the window, or left it early.
    bits: Box<[u64]>,
    /// Members beyond the bitmap, at most DT + 1 (all still wait), and the smallest of them.
    far: Vec<u64>,
    far_min: u64,
    /// Members at or above the receive index, near and far.
    ahead: usize,
    /// How many of the last arrivals follow one another without a gap.
    tail: usize,
    counts: Displacements,
}

impl Window {
    pub fn new(threshold: u16) -> Self {
        let packets = usize::from(threshold) + 1;
        // Four times the threshold, so that ordinary losses do not reach beyond.
        let span = (4 * packets).next_power_of_two().max(256);
        Window {
            threshold,
            ring: vec![0; packets.next_power_of_two()].into(),
            head: 0,
            len: 0,
            index: 0,
            bits: vec![0; span / 64].into(),
            far: Vec::new(),
            far_min: u64::MAX,
            ahead: 0,
            tail: 0,
            counts: Displacements::new(threshold),
        }
    }

    /// Starts anew with the `waiting` packets from `oldest` on; keeps the counts.
    pub fn restart(&mut self, index: u64, oldest: u64, waiting: u32) {
        self.bits.fill(0);
        self.far.clear();
        self.far_min = u64::MAX;
        (self.head, self.len, self.ahead, self.tail) = (0, 0, 0, 0);
        self.index = index;
        for seq in oldest..oldest + u64::from(waiting) {
            self.push(seq);
        }
    }

    /// An arrival; false when it is skipped: a copy, or below the receive index.
    #[inline]
    pub fn update(&mut self, seq: u64) -> bool {
        if seq < self.index || self.contains(seq) {
            return false;
        }
        self.push(seq);
        if self.len > usize::from(self.threshold) {
            self.pop();
        }
        true
    }

    /// Lets all that wait leave, at the end of the stream.
    pub fn drain(&mut self) {
        while self.len > 0 {
            self.pop();
        }
    }

    /// When everything is in order again: the oldest packet that waits and how many do.
    #[inline]
    pub fn in_order(&self) -> Option<(u64, u32)> {
        let calm = self.tail >= self.len && self.ahead == self.len && self.full();
        (calm && (self.len == 0 || self.oldest() == self.index))
            .then_some((self.index, self.len as u32))
    }

    pub fn into_displacements(self) -> Displacements {
        self.counts
    }

    /// As many wait as ever do between two arrivals.
    fn full(&self) -> bool {
        self.len == usize::from(self.threshold)
    }

    fn slot(&self, offset: usize) -> usize {
        (self.head + offset) & (self.ring.len() - 1)
    }

    fn oldest(&self) -> u64 {
        self.ring.get(self.head).copied().unwrap_or(0)
    }

    fn span(&self) -> u64 {
        64 * self.bits.len() as u64
    }

    fn bit(&self, seq: u64) -> (usize, u64) {
        let word = (seq / 64) as usize & (self.bits.len() - 1);
        (word, 1 << (seq % 64))
    }

    fn set(&mut self, seq: u64) {
        let (word, mask) = self.bit(seq);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits |= mask;
        }
    }

    fn clear(&mut self, seq: u64) {
        let (word, mask) = self.bit(seq);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits &= !mask;
        }
    }

    #[inline]
    fn near(&self, seq: u64) -> bool {
        seq - self.index < self.span()
    }

    /// Whether `seq`, not below the receive index, is in the window or left it early.
    #[inline]
    fn contains(&self, seq: u64) -> bool {
        if !self.near(seq) {
            return seq >= self.far_min && self.far.contains(&seq);
        }
        let (word, mask) = self.bit(seq);
        self.bits.get(word).is_some_and(|bits| bits & mask != 0)
    }

    fn push(&mut self, seq: u64) {
        let follows = self.len > 0 && {
            let last = self.slot(self.len - 1);
            self.ring.get(last).is_some_and(|last| last + 1 == seq)
        };
        self.tail = if follows { self.tail + 1 } else { 1 };
        let free = self.slot(self.len);
        if let Some(slot) = self.ring.get_mut(free) {
            *slot = seq;
        }
        self.len += 1;
        self.ahead += 1;
        if self.near(seq) {
            self.set(seq);
        } else {
            self.far.push(seq);
            self.far_min = self.far_min.min(seq);
        }
    }

    /// The oldest packet leaves and takes the receive index.
    #[inline]
    fn pop(&mut self) {
        self.skip_lost();
        let seq = self.oldest();
        self.head = self.slot(1);
        self.len -= 1;
        let displacement = self.index.wrapping_sub(seq) as i64;
        if displacement.unsigned_abs() <= u64::from(self.threshold) {
            self.counts.count(displacement);
            // The index belongs to this packet or to another known one; either way it is
            // behind now. An early packet stays known: its own number is ahead.
            self.clear(self.index);
            self.ahead -= 1;
            self.advance(self.index + 1);
        } else {
            self.discard(seq, displacement);
        }
    }

    fn discard(&mut self, seq: u64, displacement: i64) {
        self.counts.count_beyond(displacement);
        if displacement > 0 {
            return;
        }
        self.ahead -= 1;
        if self.near(seq) {
            self.clear(seq);
        } else if let Some(at) = self.far.iter().position(|far| *far == seq) {
            self.far.swap_remove(at);
            self.far_min = self.far.iter().copied().min().unwrap_or(u64::MAX);
        }
    }

    /// Moves the receive index past numbers nothing is known of.
    #[inline]
    fn skip_lost(&mut self) {
        let (word, mask) = self.bit(self.index);
        if self.bits.get(word).is_some_and(|bits| bits & mask != 0) {
            return;
        }
        if let Some(next) = self
            .next_near()
            .or((self.far_min < u64::MAX).then_some(self.far_min))
        {
            self.advance(next);
        }
    }

    /// The smallest member in the bitmap.
    fn next_near(&self) -> Option<u64> {
        let base = self.index - self.index % 64;
        let words = self.bits.len() as u64;
        // The first word is looked at twice: its bits from the index on, and at the end
        // those below, which stand for the top of the span.
        (0..=words).find_map(|step| {
            let start = base + 64 * step;
            let (word, _) = self.bit(start);
            let mut bits = self.bits.get(word).copied()?;
            if step == 0 {
                bits &= u64::MAX << (self.index % 64);
            } else if step == words {
                bits &= !(u64::MAX << (self.index % 64));
            }
            (bits != 0).then(|| start + u64::from(bits.trailing_zeros()))
        })
    }

    #[inline]
    fn advance(&mut self, index: u64) {
        self.index = index;
        if self.far_min < u64::MAX && self.near(self.far_min) {
            self.fetch_near();
        }
    }

    /// Moves members of `far` the bitmap reaches now into it.
    #[cold]
    fn fetch_near(&mut self) {
        let far = std::mem::take(&mut self.far);
        self.far_min = u64::MAX;
        for seq in far {
            if self.near(seq) {
                self.set(seq);
            } else {
                self.far.push(seq);
                self.far_min = self.far_min.min(seq);
            }
        }
    }
}
