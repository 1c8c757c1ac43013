//! Reorder density, RD (RFC 5236 section 3).

use crate::density_window::Window;
use crate::displacement::Displacements;
use crate::unwrap::{MAX_SEQ, accepted};

/// Density of packet displacements, by the RFC's stay-back algorithm.
///
/// Packets wait in a window of `DT + 1` arrivals until it is known which numbers are lost.
/// Each packet leaving it takes the next receive index, the smallest number not yet passed
/// that is known to have arrived; its displacement is that index minus its own number:
/// early packets negative, late ones positive. A packet displaced by more than the
/// threshold `DT` counts as lost; copies are skipped.
///
/// While packets come in order nothing but three numbers is kept and each costs O(1); a
/// window is built when one does not, and let rest again when all in it is in order.
///
/// ```
/// let mut rd = inorder_metrics::ReorderDensity::new(4);
/// for seq in [1, 4, 2, 5, 3, 6, 7, 8] {
///     rd.update(seq);
/// }
/// let rd = rd.finish();
/// let density: Vec<_> = rd.density().collect();
/// assert_eq!(density, [(-2, 0.125), (-1, 0.125), (0, 0.5), (1, 0.125), (2, 0.125)]);
/// ```
#[derive(Clone, Debug)]
pub struct ReorderDensity {
    threshold: u16,
    /// Packets waiting are `next - waiting .. next` while `calm`.
    next: u64,
    waiting: u64,
    calm: bool,
    /// Some packet got a receive index.
    indexed: bool,
    seen: bool,
    start: u64,
    highest: u64,
    /// Packets of displacement 0 that never went through the window.
    in_place: u64,
    ignored: u64,
    window: Option<Box<Window>>,
}

impl ReorderDensity {
    /// With the threshold DT, packets; the stream may start at any number.
    pub fn new(threshold: u16) -> Self {
        ReorderDensity::with_start(threshold, 0)
    }

    /// As [`new`](Self::new); packets with numbers below `start` are ignored.
    pub fn with_start(threshold: u16, start: u64) -> Self {
        ReorderDensity {
            threshold,
            next: 0,
            waiting: 0,
            calm: true,
            indexed: false,
            seen: false,
            start,
            highest: 0,
            in_place: 0,
            ignored: 0,
            window: None,
        }
    }

    /// The next arrival; `seq` up to [`MAX_SEQ`].
    #[inline]
    pub fn update(&mut self, seq: u64) {
        if self.calm && self.seen && seq == self.next && seq <= MAX_SEQ {
            return self.calm_run(1);
        }
        self.update_general(seq);
    }

    /// `n` packets with the numbers `first`, `first + 1`, ...; O(1) while packets come in
    /// order, at most O(DT) more after each that did not.
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) {
        let (mut seq, mut left) = (first, accepted(first, n));
        self.ignored = self.ignored.saturating_add(n - left);
        while left > 0 {
            if self.calm && self.seen && seq == self.next {
                return self.calm_run(left);
            }
            let taken = self.disturbed_run(seq, left);
            seq += taken;
            left -= taken;
        }
    }

    /// Some of a run that does not continue packets all in order; returns how many.
    #[inline]
    fn disturbed_run(&mut self, first: u64, n: u64) -> u64 {
        if let Some(window) = self
            .window
            .as_mut()
            .filter(|_| !self.calm && first > self.highest)
        {
            let taken = window.update_run(first, n);
            self.highest = first + taken - 1;
            self.rest();
            return taken;
        }
        self.update_general(first);
        1
    }

    /// `n` packets following the highest number so far (1 or the known start, if none).
    #[inline]
    pub fn in_order_run(&mut self, n: u64) {
        let first = if self.seen {
            self.highest().saturating_add(1)
        } else {
            self.start.max(1)
        };
        self.update_run(first, n);
    }

    fn highest(&self) -> u64 {
        if self.calm && self.seen {
            self.highest.max(self.next - 1)
        } else {
            self.highest
        }
    }

    #[inline]
    fn calm_run(&mut self, n: u64) {
        let room = u64::from(self.threshold) - self.waiting;
        let filling = n.min(room);
        self.waiting += filling;
        let placed = n - filling;
        self.in_place += placed;
        self.indexed |= placed > 0;
        self.next += n;
    }

    fn update_general(&mut self, seq: u64) {
        if seq > MAX_SEQ || seq < self.start {
            self.ignored += 1;
            return;
        }
        if !self.seen {
            self.seen = true;
            self.next = seq;
        }
        if self.calm {
            if seq == self.next {
                return self.calm_run(1);
            }
            let oldest = self.next - self.waiting;
            // Either a copy of one that waits, or below a receive index already given.
            if seq < self.next && (self.indexed || seq >= oldest) {
                self.ignored += 1;
                return;
            }
            self.disturb(oldest);
        }
        self.highest = self.highest.max(seq);
        if let Some(window) = &mut self.window {
            self.ignored += u64::from(!window.update(seq));
        }
        self.rest();
    }

    /// Lets the window rest when all in it is in order.
    #[inline]
    fn rest(&mut self) {
        if let Some((oldest, waiting)) = self.window.as_ref().and_then(|w| w.in_order()) {
            self.calm = true;
            self.indexed = true;
            self.waiting = waiting;
            self.next = oldest + waiting;
        }
    }

    /// Builds the window from the packets that wait.
    fn disturb(&mut self, oldest: u64) {
        let index = if self.indexed { oldest } else { self.start };
        self.highest = self.highest();
        let threshold = self.threshold;
        let window = self
            .window
            .get_or_insert_with(|| Box::new(Window::new(threshold)));
        window.restart(index, oldest, self.waiting);
        self.calm = false;
    }

    /// Packets skipped as copies, or as later than the threshold allows.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The displacement threshold DT, packets.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Ends the stream: lets those waiting leave the window, and hands over the histogram.
    pub fn finish(mut self) -> Displacements {
        let mut result = match self.window.take() {
            Some(mut window) => {
                if !self.calm {
                    window.drain();
                }
                window.into_displacements()
            }
            None => Displacements::new(self.threshold),
        };
        let waiting = if self.calm { self.waiting } else { 0 };
        result.count(0, self.in_place + waiting);
        result
    }
}
