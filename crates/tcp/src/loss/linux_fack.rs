//! Linux before 4.15: a threshold that grows with the reordering seen, and forward acknowledgement (FACK) until
//! reordering is seen for the first time.
//!
//! The extent of a late segment is its distance in segments, holes included, from the highest SACKed one. It is
//! measured for a hole SACKed late, a hole filled cumulatively, a DSACK for a retransmitted segment, a partial
//! acknowledgement of an original (timestamps), and, without SACK, for more duplicates than possible. The threshold
//! decreases only at a timeout.
//!
//! 2.6.24 limits it to 127 and, when FACK is off, marks only the oldest segment; 3.19 limits it to 300, counts SACKed
//! segments instead of positions, and marks every hole with that many above it.

use crate::time::elapsed;

use super::newreno::{impossible_duplicates, mark_without_sack};
use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};

pub(super) const ENTRY_2_6_24: Entry = Entry {
    name: "linux-2.6.24",
    about: "Linux 2.6.24 to 3.18: adaptive threshold up to 127, FACK until reordering is seen",
    source: "net/ipv4/tcp_input.c of 2.6.24",
    build: || Box::new(LinuxFack::new(Version::V2_6_24)),
};

pub(super) const ENTRY_3_19: Entry = Entry {
    name: "linux-3.19",
    about: "Linux 3.19 to 4.14: adaptive threshold up to 300, FACK until reordering is seen",
    source: "net/ipv4/tcp_input.c of 3.19",
    build: || Box::new(LinuxFack::new(Version::V3_19)),
};

/// `tcp_reordering`: the initial threshold.
const INITIAL: u32 = 3;

/// The kernel versions whose rules are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 2.6.24 to 3.18.
    V2_6_24,
    /// 3.19 to 4.14.
    V3_19,
}

/// See the module's description.
#[derive(Debug, Clone)]
pub struct LinuxFack {
    version: Version,
    cap: u32,
    reordering: u32,
    fack: bool,
}

impl LinuxFack {
    /// The installed defaults.
    pub fn new(version: Version) -> Self {
        let cap = match version {
            Version::V2_6_24 => 127,
            Version::V3_19 => 300,
        };
        Self {
            version,
            cap,
            reordering: INITIAL,
            fack: true,
        }
    }

    /// With another upper bound (`tcp_max_reordering`).
    #[must_use]
    pub fn with_cap(mut self, cap: u32) -> Self {
        self.cap = cap.max(1);
        self.reordering = self.reordering.min(self.cap);
        self
    }

    fn learn(&mut self, cx: &mut Context<'_>, metric: u32, by_timestamps: bool) {
        if metric <= self.reordering {
            return;
        }
        self.reordering = metric.min(self.cap);
        let counters = &mut *cx.counters;
        let counter = match (by_timestamps, cx.sack, self.fack) {
            (true, ..) => &mut counters.reordering.tcp_ts_reorder,
            (_, false, _) => &mut counters.reordering.tcp_reno_reorder,
            (.., true) => &mut counters.reordering.tcp_fack_reorder,
            _ => &mut counters.reordering.tcp_sack_reorder,
        };
        *counter += 1;
        self.fack = false;
    }

    /// Positions of late arrivals, counted from the oldest segment before the acknowledgement.
    fn watch(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        let popped = ack.prior_packets.saturating_sub(cx.board.packets_out());
        let old_base = cx.board.front_id() - u64::from(popped);
        let fackets = cx.board.highest_sacked_id().saturating_sub(old_base) as u32;
        let (sacked, filled) = lowest_holes(ack);
        let mut lowest = sacked;
        if let Some(index) = duplicate_place(cx, ack) {
            lowest = lowest.min(index + popped);
        }
        if lowest < fackets && cx.state != CaState::Loss {
            self.learn(cx, fackets - lowest, false);
        }
        if filled < ack.prior_fackets {
            self.learn(cx, fackets - filled, false);
        }
    }

    /// The number of duplicates that is compared with the threshold.
    fn duplicates(&self, cx: &Context<'_>) -> u32 {
        let by_place = match self.version {
            Version::V2_6_24 => true,
            Version::V3_19 => self.fack,
        };
        if cx.sack && by_place {
            cx.board.fackets_out()
        } else {
            cx.board.sacked_out() + 1
        }
    }

    fn time_to_recover(&self, cx: &Context<'_>) -> bool {
        if cx.frto {
            return false;
        }
        let board = &*cx.board;
        if board.lost_out() > 0 || self.duplicates(cx) > self.reordering {
            return true;
        }
        if head_timed_out(cx) {
            return true;
        }
        // A small window cannot produce that many duplicates; half of the window is enough if there is nothing more
        // to send.
        let packets = board.packets_out();
        packets <= self.reordering && board.sacked_out() >= (packets / 2).max(INITIAL) && !cx.unsent
    }

    fn mark(&self, cx: &mut Context<'_>, entering: bool) {
        let over = self.duplicates(cx) > self.reordering;
        if !entering && !over {
            mark_timed_out(cx);
            return;
        }
        if self.fack {
            let count = cx.board.fackets_out().saturating_sub(self.reordering);
            cx.board.mark_first(count.max(1));
        } else if self.version == Version::V3_19 && cx.board.sacked_out() >= self.reordering {
            cx.board.mark_by_threshold(self.reordering);
        } else if entering || self.version == Version::V2_6_24 {
            cx.board.mark_first(1);
        }
        mark_timed_out(cx);
    }
}

/// Lowest positions of segments never retransmitted: of those SACKed below the highest SACK, and of those
/// acknowledged cumulatively; `u32::MAX` if there are none.
fn lowest_holes(ack: &AckNews<'_>) -> (u32, u32) {
    let (mut sacked, mut filled) = (u32::MAX, u32::MAX);
    for item in ack.delivered {
        if item.record.ever_retransmitted() {
            continue;
        }
        if !item.by_sack {
            filled = filled.min(item.index);
        } else if item.record.start < ack.prior_fack {
            sacked = sacked.min(item.index);
        }
    }
    (sacked, filled)
}

/// The position of a segment still on the board that was retransmitted and SACKed, for which a DSACK arrived.
fn duplicate_place(cx: &Context<'_>, ack: &AckNews<'_>) -> Option<u32> {
    let (start, end) = ack.dsack?;
    if end <= cx.snd_una {
        return None;
    }
    let index = cx.board.index_of(start.max(cx.snd_una))?;
    let record = cx.board.get(cx.board.front_id() + index as u64)?;
    (record.sacked && record.ever_retransmitted()).then_some(index as u32)
}

fn head_timed_out(cx: &Context<'_>) -> bool {
    cx.sack
        && cx
            .board
            .front()
            .is_some_and(|head| elapsed(cx.now, head.sent_at) > cx.rto)
}

/// Marks the oldest segments as lost if they have waited longer than the retransmission timeout, which each
/// acknowledgement restarts.
fn mark_timed_out(cx: &mut Context<'_>) {
    if !head_timed_out(cx) {
        return;
    }
    while let Some((id, record)) = cx.board.oldest_outstanding() {
        let waiting = elapsed(cx.now, record.sent_at) > cx.rto;
        if !waiting || record.lost || !cx.board.mark_lost(id) {
            break;
        }
    }
}

impl LossDetection for LinuxFack {
    fn dupthresh(&self) -> u32 {
        self.reordering
    }

    fn remember(&mut self, reordering: u32) {
        self.fack &= reordering == self.reordering;
        self.reordering = reordering;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if !cx.sack {
            if let Some(metric) = impossible_duplicates(cx, ack) {
                self.learn(cx, metric, false);
            }
            // Linux compares the duplicates plus the missing segment.
            return Verdict::recover_if(mark_without_sack(cx, ack, self.reordering));
        }
        if cx.board.highest_sacked_id() > cx.board.front_id() || ack.prior_fackets > 0 {
            self.watch(cx, ack);
        }
        if cx.board.sacked_out() == 0 && cx.board.lost_out() == 0 && !head_timed_out(cx) {
            return Verdict::default();
        }
        let entering = !cx.recovering() && self.time_to_recover(cx);
        if entering || cx.state == CaState::Recovery {
            self.mark(cx, entering);
        }
        Verdict::recover_if(entering)
    }

    fn on_partial_undo(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        let acked = ack.prior_packets.saturating_sub(cx.board.packets_out());
        let above = if cx.sack {
            cx.board.fackets_out()
        } else {
            cx.board.sacked_out() + 1
        };
        let metric = above + acked;
        self.learn(cx, metric, true);
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        let start_over = match self.version {
            Version::V2_6_24 => true,
            Version::V3_19 => !cx.recovering() && cx.board.sacked_out() >= INITIAL,
        };
        if start_over {
            self.reordering = self.reordering.min(INITIAL);
        }
    }
}
