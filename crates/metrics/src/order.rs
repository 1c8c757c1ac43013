//! Which packets are reordered, and by how much (RFC 4737 sections 3 and 4.1 to 4.5).

use std::collections::VecDeque;

use crate::bound::{MAX_SEQ, accepted};
use crate::gaps::{Discontinuity, Gaps};
use crate::holes::{Hole, Holes};

/// Default number of holes and discontinuities that are remembered.
pub const DEFAULT_MAX_HOLES: usize = 4096;

/// Classification of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// In order: not smaller than expected (RFC 4737 section 3.3).
    InOrder {
        /// Numbers skipped: the size of the sequence discontinuity, 0 for most packets.
        skipped: u64,
    },
    /// Reordered: smaller than a number that arrived before it.
    Reordered(Reordered),
    /// A copy of a packet already received; not a part of any metric (RFC 4737 section 3.6).
    Duplicate,
    /// Below the remembered numbers (or above [`MAX_SEQ`]): it is unknown whether the packet is late or a copy.
    Unclassified,
}

/// By how much a packet is reordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reordered {
    /// Extent: positions since the first arrival with a larger number (RFC 4737 section 4.2), >= 1.
    pub extent: u64,
    /// Late time: nanoseconds since that arrival (RFC 4737 section 4.3); negative only if the clock stepped back.
    pub late_ns: i64,
    /// Bytes received with larger numbers, which a receiver must buffer until now (RFC 4737 section 4.4).
    pub byte_offset: u64,
}

/// Distinguishes in-order from reordered packets in one pass; stores only the missing numbers (RFC 4737 section 6).
///
/// The first arrival with a number larger than `s` is the one that skipped `s`. So a hole that remembers which
/// arrival opened it gives extent and late time, and a byte counter per hole gives the byte offset. Losses alone
/// cause no reordering; only first copies count.
///
/// Cost: O(1) for an in-order packet; a late packet costs one step for each hole newer than its own, or for each
/// older one, whichever are fewer. Memory: at most `max_holes` holes, none while no number is missing.
///
/// ```
/// use inorder_metrics::{Arrival, Order};
///
/// let mut order = Order::new();
/// for seq in [1, 2, 3, 5, 6, 7, 8] {
///     order.update(seq, 1_000_000 * seq as i64, 100);
/// }
/// let Arrival::Reordered(late) = order.update(4, 9_000_000, 100) else { panic!() };
/// assert_eq!((late.extent, late.late_ns, late.byte_offset), (4, 4_000_000, 400));
/// ```
#[derive(Clone, Debug)]
pub struct Order {
    max_holes: usize,
    /// Numbers below this one are forgotten.
    floor: u64,
    /// NextExp of RFC 4737 section 3.3.
    next: u64,
    first: Option<First>,
    holes: Holes,
    openers: VecDeque<Opener>,
    /// Number of the front element of `openers`; 0 is the first arrival, which is stored separately.
    front_opener: u64,
    gaps: Gaps,
    counts: OrderCounts,
}

inorder_base::heap!(Order: holes, openers, gaps);

/// The first arrival, which opens the hole of everything sent before it.
#[derive(Clone, Copy, Debug)]
struct First {
    seq: u64,
    time_ns: i64,
    hole_stored: bool,
    confirmed: bool,
}

/// An arrival that skipped numbers; it becomes a discontinuity if one of them arrives later.
#[derive(Clone, Copy, Debug)]
struct Opener {
    at: Discontinuity,
    confirmed: bool,
}

/// Packets counted by [`Order`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OrderCounts {
    /// First copies received, L of RFC 4737 section 4.1.
    pub received: u64,
    /// Of these, reordered.
    pub reordered: u64,
    /// Packets with a number that was received before.
    pub duplicates: u64,
    /// Packets below the remembered numbers; counted neither as `received` nor as `duplicates`.
    pub unclassified: u64,
    /// Sequence discontinuities: arrivals that skipped at least one number (RFC 4737 section 3.4).
    pub sequence_discontinuities: u64,
    /// Numbers skipped and not received since: lost, or still on the way.
    pub missing: u64,
    /// Holes forgotten because more than the allowed number of newer ones existed.
    pub holes_given_up: u64,
}

impl OrderCounts {
    /// Ratio of reordered to received packets (RFC 4737 section 4.1); 0 if none was received.
    pub fn reordered_ratio(&self) -> f64 {
        if self.received == 0 {
            return 0.0;
        }
        self.reordered as f64 / self.received as f64
    }
}

impl Default for Order {
    fn default() -> Self {
        Order::with_limits(DEFAULT_MAX_HOLES, None)
    }
}

impl Order {
    /// With [`DEFAULT_MAX_HOLES`]; the stream starts at the first arrival.
    pub fn new() -> Self {
        Order::default()
    }

    /// Remembers at most `max_holes` holes and as many discontinuities. `start` is the number of the first packet
    /// sent, if known; smaller numbers are unclassified.
    pub fn with_limits(max_holes: usize, start: Option<u64>) -> Self {
        Order {
            max_holes: max_holes.max(1),
            floor: start.unwrap_or(0),
            next: start.unwrap_or(0),
            first: None,
            holes: Holes::default(),
            openers: VecDeque::new(),
            front_opener: 1,
            gaps: Gaps::new(),
            counts: OrderCounts::default(),
        }
    }

    /// Classifies an arrival at `time_ns` with `bytes` of payload.
    pub fn update(&mut self, seq: u64, time_ns: i64, bytes: u32) -> Arrival {
        let bytes = u64::from(bytes);
        if seq < self.floor || seq > MAX_SEQ {
            self.counts.unclassified += 1;
            return Arrival::Unclassified;
        }
        let Some(first) = self.first else {
            return self.start(seq, time_ns, bytes);
        };
        if seq >= self.next {
            return self.in_order(seq, time_ns, bytes);
        }
        if seq < first.seq && !first.hole_stored {
            self.open_before(first);
        }
        match self.holes.find(seq) {
            Some(index) => self.reordered(index, seq, time_ns, bytes),
            None => {
                self.counts.duplicates += 1;
                Arrival::Duplicate
            }
        }
    }

    /// Notes that a retransmission of `seq`, which is below the highest number, arrived: true if that number was missing.
    /// RFC 4737 section 6.1 leaves retransmissions out, so it is neither received nor reordered; the number is no longer missing.
    pub fn retransmitted(&mut self, seq: u64) -> bool {
        let Some(index) = self.holes.find(seq) else {
            return false;
        };
        let Some((hole, _)) = self.holes.fill(index, seq, 0) else {
            return false;
        };
        if hole.opener > 0 {
            self.counts.missing = self.counts.missing.saturating_sub(1);
        }
        self.forget_oldest();
        if index <= 1 {
            self.settle_openers();
        }
        true
    }

    /// Counts `n` packets that follow the highest number received, `bytes` bytes in total, in O(1). `time_ns` is the
    /// arrival time of the first of them. It only matters at the start of a stream, which then begins at the known
    /// start, or at 1.
    #[inline]
    pub fn in_order_run(&mut self, n: u64, time_ns: i64, bytes: u64) {
        if n == 0 {
            return;
        }
        if self.first.is_none() {
            self.next = self.floor.max(1);
            self.set_first(self.next, time_ns);
        }
        let n = accepted(self.next, n);
        self.next += n;
        self.counts.received += n;
        self.holes.in_order(bytes);
    }

    fn set_first(&mut self, seq: u64, time_ns: i64) {
        self.first = Some(First {
            seq,
            time_ns,
            hole_stored: false,
            confirmed: false,
        });
    }

    fn start(&mut self, seq: u64, time_ns: i64, bytes: u64) -> Arrival {
        self.set_first(seq, time_ns);
        self.next = seq + 1;
        self.counts.received = 1;
        self.holes.in_order(bytes);
        Arrival::InOrder { skipped: 0 }
    }

    fn in_order(&mut self, seq: u64, time_ns: i64, bytes: u64) -> Arrival {
        let skipped = seq - self.next;
        self.counts.received += 1;
        if skipped > 0 {
            self.open(seq, time_ns, skipped);
        }
        self.next = seq + 1;
        self.holes.in_order(bytes);
        Arrival::InOrder { skipped }
    }

    fn open(&mut self, seq: u64, time_ns: i64, skipped: u64) {
        let at = Discontinuity {
            position: self.counts.received,
            time_ns,
        };
        self.holes.open(Hole {
            lo: self.next,
            hi: seq - 1,
            opener: self.front_opener + self.openers.len() as u64,
            position: at.position,
            time_ns,
            below: 0,
        });
        self.openers.push_back(Opener {
            at,
            confirmed: false,
        });
        self.counts.sequence_discontinuities += 1;
        self.counts.missing = self.counts.missing.saturating_add(skipped);
        self.forget_oldest();
    }

    /// Stores the hole before the first arrival when a packet falls into it.
    fn open_before(&mut self, first: First) {
        self.first = Some(First {
            hole_stored: true,
            ..first
        });
        self.holes.open_oldest(Hole {
            lo: self.floor,
            hi: first.seq - 1,
            opener: 0,
            position: 1,
            time_ns: first.time_ns,
            below: 0,
        });
    }

    fn reordered(&mut self, index: usize, seq: u64, time_ns: i64, bytes: u64) -> Arrival {
        let Some((hole, byte_offset)) = self.holes.fill(index, seq, bytes) else {
            return Arrival::Unclassified;
        };
        self.counts.received += 1;
        self.counts.reordered += 1;
        if hole.opener > 0 {
            self.counts.missing = self.counts.missing.saturating_sub(1);
        }
        self.confirm(hole.opener);
        self.forget_oldest();
        // Only the oldest hole, or the hole before the first arrival, delays the confirmation of openers.
        if index <= 1 {
            self.settle_openers();
        }
        Arrival::Reordered(Reordered {
            extent: self.counts.received - hole.position,
            late_ns: time_ns.saturating_sub(hole.time_ns),
            byte_offset,
        })
    }

    fn confirm(&mut self, opener: u64) {
        if let Some(index) = opener.checked_sub(self.front_opener) {
            if let Some(known) = self.openers.get_mut(index as usize) {
                known.confirmed = true;
            }
        } else if let Some(first) = self.first.as_mut().filter(|f| opener == 0 && !f.confirmed) {
            first.confirmed = true;
            self.gaps.update(Discontinuity {
                position: 1,
                time_ns: first.time_ns,
            });
        }
    }

    /// Enforces the limits; numbers that are given up are below the floor from now on.
    fn forget_oldest(&mut self) {
        while self.holes.len() > self.max_holes || self.openers.len() > self.max_holes {
            let Some(hole) = self.holes.pop_front() else {
                break;
            };
            self.floor = hole.hi + 1;
            self.counts.holes_given_up += 1;
            self.settle_openers();
        }
    }

    /// Passes on, in order of position, the discontinuities that can no longer change.
    fn settle_openers(&mut self) {
        // The numbers before the first arrival cause no delay, because Gaps accepts that discontinuity late.
        let open = self.holes.oldest_opener();
        while self.front_opener < open {
            let Some(opener) = self.openers.pop_front() else {
                break;
            };
            self.front_opener += 1;
            if opener.confirmed {
                self.gaps.update(opener.at);
            }
        }
    }

    /// The counts so far.
    #[inline]
    pub fn counts(&self) -> &OrderCounts {
        &self.counts
    }

    /// Ends the stream; returns the counts and the gaps between all discontinuities.
    pub fn finish(mut self) -> (OrderCounts, Gaps) {
        for opener in self.openers.drain(..).filter(|opener| opener.confirmed) {
            self.gaps.update(opener.at);
        }
        (self.counts, self.gaps)
    }
}
