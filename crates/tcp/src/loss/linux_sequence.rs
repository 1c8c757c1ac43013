//! Linux since 4.15 with RACK off (`tcp_recovery = 0`): the extent of reordering measured in sequence numbers,
//! and the marking of RFC 6675 section 4 with the threshold it gives.

use super::newreno::{impossible_duplicates, mark_without_sack};
use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};
use crate::seq::Seq;

pub(super) const ENTRY: Entry = Entry {
    name: "linux-norack",
    about: "Linux 4.15 and later with tcp_recovery=0: adaptive threshold up to 300 by sequence",
    source: "tcp_check_sack_reordering of Linux 4.18",
    build: || Box::new(LinuxSequence::new(300)),
};

/// `tcp_reordering`.
const INITIAL: u32 = 3;

/// The reordering state of Linux 4.15 and later.
#[derive(Debug, Clone)]
pub struct SequenceMetric {
    /// The threshold, segments (`tp->reordering`).
    pub reordering: u32,
    /// Number of events seen (`reord_seen`).
    pub seen: u32,
    cap: u32,
}

impl SequenceMetric {
    /// Starts from 3, grows up to `cap` (`tcp_max_reordering`).
    pub fn new(cap: u32) -> Self {
        Self {
            reordering: INITIAL.min(cap.max(1)),
            seen: 0,
            cap: cap.max(1),
        }
    }

    /// Records that `low` was late by its distance to the highest SACK.
    fn check(&mut self, cx: &mut Context<'_>, low: Seq, fack: Seq, by_timestamps: bool) {
        if low >= fack {
            return;
        }
        let mss = u64::from(cx.mss);
        let metric = fack - low;
        if metric > u64::from(self.reordering) * mss {
            self.reordering = (metric.div_ceil(mss).min(u64::from(self.cap))) as u32;
        }
        self.seen = self.seen.saturating_add(1);
        if by_timestamps {
            cx.counters.reordering.tcp_ts_reorder += 1;
        } else {
            cx.counters.reordering.tcp_sack_reorder += 1;
        }
    }

    /// Adapts to an acknowledgement.
    pub fn watch(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        if !cx.sack {
            if let Some(metric) = impossible_duplicates(cx, ack) {
                self.reordering = metric.clamp(1, self.cap);
                self.seen = self.seen.saturating_add(1);
                cx.counters.reordering.tcp_reno_reorder += 1;
            }
            return;
        }
        let mut sacked = Seq::MAX;
        let mut filled = Seq::MAX;
        for item in ack.delivered {
            let start = item.record.start;
            if item.record.ever_retransmitted() || start >= ack.prior_fack {
                continue;
            }
            if item.by_sack {
                sacked = sacked.min(start);
            } else {
                filled = filled.min(start);
            }
        }
        sacked = sacked.min(duplicate_start(cx, ack));
        if sacked == Seq::MAX && filled == Seq::MAX {
            return;
        }
        let fack = cx.board.highest_sack_end().unwrap_or(0).max(ack.prior_fack);
        if sacked != Seq::MAX && cx.state != CaState::Loss {
            self.check(cx, sacked, fack, false);
        }
        if filled != Seq::MAX {
            self.check(cx, filled, fack, false);
        }
    }

    /// Adapts to a partial acknowledgement of an original.
    pub(crate) fn partial_undo(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        // Without SACK, Linux's "highest SACKed" segment advances with the head of the queue, so the extent is what
        // this acknowledgement covers. Measured: a 6.1 kernel with windows of 165 segments keeps a threshold of 40
        // over dozens of such undos.
        let fack = if cx.sack {
            cx.board.highest_sack_end().unwrap_or(0).max(ack.prior_fack)
        } else {
            cx.snd_una
        };
        self.check(cx, ack.prior_una, fack, true);
    }

    /// A timeout with many SACKs and no recovery: the threshold was so high that the sender waited for the timeout.
    pub fn timeout(&mut self, cx: &mut Context<'_>) {
        if !cx.recovering() && cx.board.sacked_out() >= INITIAL {
            self.reordering = self.reordering.min(INITIAL);
        }
    }
}

/// The start of a segment still on the board that was SACKed before and for which a DSACK arrived; otherwise the
/// greatest number.
fn duplicate_start(cx: &Context<'_>, ack: &AckNews<'_>) -> Seq {
    let Some((start, end)) = ack.dsack else {
        return Seq::MAX;
    };
    if end <= cx.snd_una {
        return Seq::MAX;
    }
    let record = cx
        .board
        .index_of(start.max(cx.snd_una))
        .and_then(|index| cx.board.get(cx.board.front_id() + index as u64));
    match record {
        Some(record) if record.sacked && record.ever_retransmitted() => record.start,
        _ => Seq::MAX,
    }
}

/// Only the threshold, without RACK.
#[derive(Debug, Clone)]
pub struct LinuxSequence {
    metric: SequenceMetric,
}

impl LinuxSequence {
    /// With a threshold of at most `cap` segments.
    pub fn new(cap: u32) -> Self {
        Self {
            metric: SequenceMetric::new(cap),
        }
    }
}

impl LossDetection for LinuxSequence {
    fn dupthresh(&self) -> u32 {
        self.metric.reordering
    }

    fn remember(&mut self, reordering: u32) {
        self.metric.reordering = reordering;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.metric.watch(cx, ack);
        let threshold = self.metric.reordering;
        let recover = if cx.sack {
            cx.board.mark_by_threshold(threshold);
            cx.board.lost_out() > 0
        } else {
            mark_without_sack(cx, ack, threshold)
        };
        Verdict::recover_if(recover)
    }

    fn on_partial_undo(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        self.metric.partial_undo(cx, ack);
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) {
        self.metric.timeout(cx);
    }
}
