//! What the sender of data knows of acknowledgements that pass the capture point on their way to it.
//!
//! Data that passes at a time was sent in the knowledge of what had passed a round trip to the sender before. So a capture
//! from the receiver or from the middle reads like the sender's own if acknowledgements are held back for as long.

use std::collections::VecDeque;

/// Acknowledgements held back at most.
const MAX_HELD: usize = 256;
/// Those closer together than this share of the way count as one.
const TOGETHER_OF_WAY: i64 = 128;

/// What an acknowledgement tells the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    /// When it reaches the sender, as the sender's packets come by, nanoseconds.
    pub(crate) now: i64,
    /// Everything below is acknowledged.
    pub(crate) una: i64,
    /// One past what the receiver's window allows to be sent; the greatest number if it is not known.
    pub(crate) edge: i64,
    /// It came with data.
    pub(crate) carries: bool,
    /// It has SACK blocks.
    pub(crate) sacks: bool,
    /// Its timestamp, 0 if it has none.
    pub(crate) stamp: u32,
}

impl Default for Told {
    fn default() -> Self {
        Told {
            now: i64::MIN,
            una: 0,
            edge: i64::MAX,
            carries: false,
            sacks: false,
            stamp: 0,
        }
    }
}

/// Acknowledgements on their way to the sender.
#[derive(Debug)]
pub(crate) struct Lag {
    /// From the capture point to the sender and back, nanoseconds.
    ns: i64,
    held: VecDeque<Told>,
    /// A timestamp whose echo is awaited, and when it passed.
    awaited: Option<(u32, i64)>,
}

heap!(Lag: held);

impl Lag {
    /// Acknowledgements take `ns` to be answered by data.
    pub(crate) fn new(ns: i64) -> Self {
        Lag {
            ns: ns.max(0),
            held: VecDeque::new(),
            awaited: None,
        }
    }

    /// From the capture point to the sender and back, nanoseconds.
    pub(crate) fn ns(&self) -> i64 {
        self.ns
    }

    /// An acknowledgement comes by.
    pub(crate) fn push(&mut self, told: &Told) {
        if self.awaited.is_none() && told.stamp != 0 {
            self.awaited = Some((told.stamp, told.now));
        }
        let told = Told {
            now: told.now.saturating_add(self.ns),
            ..*told
        };
        let full = self.held.len() >= MAX_HELD;
        match self.held.back_mut() {
            Some(last) if full || told.now - last.now < self.ns / TOGETHER_OF_WAY => {
                *last = Told {
                    now: last.now,
                    sacks: last.sacks || told.sacks,
                    ..told
                };
            }
            _ => self.held.push_back(told),
        }
    }

    /// Data at `now` echoes `echo`: how long an acknowledgement took to the sender and back, nanoseconds.
    pub(crate) fn sample(&mut self, echo: u32, now: i64) -> Option<i64> {
        let (stamp, at_ns) = self.awaited?;
        let behind = echo.wrapping_sub(stamp).cast_signed();
        self.awaited.take_if(|_| behind >= 0)?;
        (behind == 0).then(|| now.saturating_sub(at_ns))
    }

    /// The next one that the sender has heard of by `now`.
    pub(crate) fn next(&mut self, now: i64) -> Option<Told> {
        self.held.front().filter(|told| told.now <= now)?;
        self.held.pop_front()
    }
}
