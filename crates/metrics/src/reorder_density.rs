//! Reorder density, RD (RFC 5236 sections 3.1 to 3.6 and 7.1).

use crate::bound::{MAX_SEQ, accepted};
use crate::density_window::{State, Window};
use crate::displacement::Displacements;

/// Density of packet displacements, by the stay-back algorithm (RFC 5236 sections 6 and 7.1).
///
/// Packets take the receive indices in order of arrival. The indices are the numbers that arrive, in ascending order.
/// A packet's displacement is its index minus its own number: negative for early packets, positive for late ones. A
/// missing number is waited for until `DT + 1` packets stay back for it; then it counts as lost, and the next
/// smallest number present is the index. A packet displaced by more than the threshold `DT` counts as lost; copies
/// are skipped.
///
/// Packets that arrive in order are only counted, each in O(1). A window is built when a number is skipped, and
/// dropped when all skipped numbers have arrived or are lost.
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
    state: State,
    start: u64,
    /// The number after the highest one; [`NONE`] before the first.
    next: u64,
    /// The packets `run .. next` arrived last, in order, and are not counted yet.
    run: u64,
    /// Packets of displacement 0 that bypassed the window.
    in_place: u64,
    ignored: u64,
    window: Option<Box<Window>>,
}

inorder_base::heap!(ReorderDensity: window);

/// Marks the absence of a number; it follows no number and equals none.
const NONE: u64 = u64::MAX;

impl ReorderDensity {
    /// With the threshold DT, packets; the stream may start at any number.
    pub fn new(threshold: u16) -> Self {
        ReorderDensity::with_start(threshold, 0)
    }

    /// As [`new`](Self::new), but packets with numbers below `start` are ignored.
    pub fn with_start(threshold: u16, start: u64) -> Self {
        ReorderDensity {
            threshold,
            state: State::Starting,
            start,
            next: NONE,
            run: NONE,
            in_place: 0,
            ignored: 0,
            window: None,
        }
    }

    /// Counts the next arrival; `seq` is at most [`MAX_SEQ`].
    #[inline]
    pub fn update(&mut self, seq: u64) {
        if seq == self.next && seq <= MAX_SEQ {
            self.next += 1;
            return;
        }
        self.update_general(seq);
    }

    /// Counts `n` packets with the numbers `first`, `first + 1`, ...; O(1) while packets arrive in order, at most
    /// O(DT) more after each packet that did not.
    #[inline]
    pub fn update_run(&mut self, first: u64, n: u64) {
        let accepted = accepted(first, n);
        self.ignored = self.ignored.saturating_add(n - accepted);
        let (mut seq, end) = (first, first + accepted);
        while seq < end {
            if seq != self.next {
                self.update_general(seq);
                seq += 1;
            }
            if seq == self.next {
                self.next = end.max(seq);
                return;
            }
        }
    }

    /// Counts `n` packets following the highest number so far (if there is none: 1 or the known start).
    #[inline]
    pub fn in_order_run(&mut self, n: u64) {
        let first = match self.next {
            NONE => self.start.max(1),
            next => next,
        };
        self.update_run(first, n);
    }

    /// Handles any number except the one that follows the highest.
    #[inline(never)]
    fn update_general(&mut self, seq: u64) {
        if seq > MAX_SEQ || seq < self.start {
            self.ignored += 1;
        } else if self.next == NONE {
            (self.run, self.next) = (seq, seq + 1);
        } else if seq > self.next {
            self.skip(seq);
        } else {
            self.late(seq);
        }
    }

    /// A number larger than all before is not a copy, so its count may be postponed.
    #[inline]
    fn skip(&mut self, seq: u64) {
        self.account();
        let from = self.next;
        if let State::Calm { ahead } = self.state {
            self.disturb(from - ahead);
        }
        if let Some(window) = &mut self.window {
            window.skip(from, seq);
        }
        (self.run, self.next) = (seq, seq + 1);
    }

    /// Handles a number below the highest.
    #[inline]
    fn late(&mut self, seq: u64) {
        let passed = match self.state {
            State::Starting => seq >= self.run || self.started(),
            State::Calm { .. } => true,
            State::Disturbed => false,
        };
        if passed {
            self.ignored += 1;
            return;
        }
        self.account();
        if let (State::Disturbed, Some(window)) = (self.state, &mut self.window) {
            self.ignored += u64::from(!window.update(seq));
            self.state = window.state(self.next);
        } else {
            self.ignored += 1;
        }
    }

    /// True if enough packets stay back to give up the numbers before the first.
    fn started(&self) -> bool {
        self.next - self.run > u64::from(self.threshold)
    }

    /// The packets `run .. next` take their indices, or stay back in the window.
    fn account(&mut self) {
        if matches!(self.state, State::Starting) {
            self.account_start();
        }
        let (first, n) = (self.run, self.next - self.run);
        if n == 0 {
            return;
        }
        self.run = self.next;
        match (self.state, &mut self.window) {
            (State::Disturbed, Some(window)) => {
                window.update_run(first, n);
                self.state = window.state(self.next);
            }
            (State::Calm { ahead }, Some(window)) if ahead > 0 => window.count_early(ahead, n),
            _ => self.in_place += n,
        }
    }

    /// Ends the state `Starting`.
    #[cold]
    fn account_start(&mut self) {
        self.state = State::Calm { ahead: 0 };
        if !self.started() {
            let (from, to) = (self.start, self.run);
            self.disturb(from);
            if let Some(window) = &mut self.window {
                window.skip(from, to);
            }
        }
    }

    /// Continues the window at receive index `index`.
    #[inline]
    fn disturb(&mut self, index: u64) {
        self.state = State::Disturbed;
        let threshold = self.threshold;
        let window = self
            .window
            .get_or_insert_with(|| Box::new(Window::new(threshold)));
        window.restart(index);
    }

    /// Packets skipped because they are copies, or later than the threshold allows.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The displacement threshold DT (RFC 5236 section 3.4), packets.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Ends the stream: waiting packets leave the window. Returns the histogram.
    pub fn finish(mut self) -> Displacements {
        if matches!(self.state, State::Starting) {
            // No packet with a smaller number arrived before the first one.
            self.state = State::Calm { ahead: 0 };
        }
        self.account();
        let mut result = match self.window.take() {
            Some(mut window) => {
                window.drain();
                window.into_displacements()
            }
            None => Displacements::new(self.threshold),
        };
        result.count(0, self.in_place);
        result
    }
}
