//! The loss detection of QUIC (RFC 9002 section 6.1), as a TCP sender can do it.
//!
//! Every transmission has a number of its own, in the order of sending, as packets of QUIC have; a retransmission has a
//! new one. A transmission is lost when a later one has been acknowledged and either it was sent
//! `kPacketThreshold` = 3 or more transmissions before the largest acknowledged one (RFC 9002 section 6.1.1), or 9/8 of the larger of the
//! smoothed and the latest round-trip time, at least 1 ms, has passed since it was sent (RFC 9002 section 6.1.2). Neither threshold
//! adapts in `rfc9002`. `rfc9002-adaptive` makes the first one larger after a spurious loss, as RFC 9002 section 6.1.1 allows.
//!
//! TCP cannot always tell which transmission of a segment was acknowledged. As in RACK (RFC 8985 section 6.2 step 1) it was
//! an earlier one if the echoed timestamp is older than the last, or if the answer came sooner than any round trip.
//! The probe timeout (RFC 9002 section 6.2) is the sender's tail loss probe ([`Config::loss_probe`](crate::Config::loss_probe)).

use std::collections::VecDeque;

use super::newreno::mark_without_sack;
use super::{
    AckNews, CaState, Context, Delivered, Entry, Id, LossDetection, Transmission, Verdict,
};
use crate::Nanos;
use crate::config::MS;
use crate::seq::{Seq, ts_before};
use crate::time::elapsed;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc9002",
    about: "QUIC's rule: three transmissions, or 9/8 of a round trip; neither adapts",
    source: "RFC 9002 section 6.1",
    build: || Box::new(Rfc9002::new()),
};

pub(super) const ENTRY_ADAPTIVE: Entry = Entry {
    name: "rfc9002-adaptive",
    about: "QUIC's rule, with more transmissions after a spurious loss",
    source: "RFC 9002 section 6.1.1, last paragraph",
    build: || Box::new(Rfc9002::adaptive()),
};

/// `kPacketThreshold`, RFC 9002 section 6.1.1, transmissions.
const PACKET_THRESHOLD: u64 = 3;

/// `kGranularity`, RFC 9002 section 6.1.2: no timer is shorter.
const GRANULARITY: Nanos = MS;

/// The adaptive threshold stays below this number of transmissions, as Linux's `tcp_max_reordering` does.
const MAX_THRESHOLD: u64 = 300;

/// A transmission: which segment, and when. Its number is its place in the list.
#[derive(Debug, Clone, Copy)]
struct Sending {
    id: Id,
    end: Seq,
    at: Nanos,
}

/// See the module's description.
#[derive(Debug, Clone)]
pub struct Rfc9002 {
    threshold: u64,
    adapts: bool,
    /// Transmissions of segments that may be outstanding, in the order of their numbers.
    sendings: VecDeque<Sending>,
    /// The number of the first of them.
    first: u64,
    /// No transmission with a smaller number is undecided.
    undecided: u64,
    /// `largest_acked_packet`; 0 stands for none, numbers begin with 1.
    largest_acked: u64,
    /// `latest_rtt`, RFC 9002 section 5.1.
    latest_rtt: Nanos,
    /// `loss_time`.
    timer: Option<Nanos>,
}

impl Default for Rfc9002 {
    fn default() -> Self {
        Self::new()
    }
}

impl Rfc9002 {
    /// With the fixed threshold that the RFC recommends.
    pub fn new() -> Self {
        Self {
            threshold: PACKET_THRESHOLD,
            adapts: false,
            sendings: VecDeque::new(),
            first: 1,
            undecided: 1,
            largest_acked: 0,
            latest_rtt: 0,
            timer: None,
        }
    }

    /// With a threshold that grows after a spurious loss, up to 300.
    pub fn adaptive() -> Self {
        Self {
            adapts: true,
            ..Self::new()
        }
    }

    /// The number of the transmission at time `at` of the segment that ends at `end`.
    fn number_of(&self, end: Seq, at: Nanos) -> Option<u64> {
        let from = self.sendings.partition_point(|sending| sending.at < at);
        let same = self.sendings.iter().enumerate().skip(from);
        let mut same = same.take_while(|(_, sending)| sending.at == at);
        let (index, _) = same.find(|(_, sending)| sending.end == end)?;
        Some(self.first + index as u64)
    }

    /// A segment was acknowledged: by which transmission?
    fn acknowledged(&mut self, cx: &Context<'_>, ack: &AckNews<'_>, item: &Delivered) {
        let record = &item.record;
        let echo_is_older =
            !item.by_sack && ack.tsecr.is_some_and(|ecr| ts_before(ecr, record.tsval));
        let too_soon = elapsed(cx.now, record.sent_at) < cx.min_rtt;
        let was_late = record.ever_retransmitted() && (echo_is_older || too_soon);
        let at = if was_late {
            record.first_sent_at
        } else {
            record.sent_at
        };
        let Some(number) = self.number_of(record.end, at) else {
            return;
        };
        if number > self.largest_acked {
            self.largest_acked = number;
            self.latest_rtt = elapsed(cx.now, at);
        } else if was_late && self.adapts {
            let distance = self.largest_acked - number;
            self.threshold = self.threshold.max(distance + 1).min(MAX_THRESHOLD);
        }
    }

    /// RFC 9002 section 6.1.2: `loss_delay`.
    fn loss_delay(&self, cx: &Context<'_>) -> Nanos {
        let rtt = cx.srtt.max(self.latest_rtt);
        (rtt.saturating_mul(9) / 8).max(GRANULARITY)
    }

    /// RFC 9002 appendix A.10: `DetectAndRemoveLostPackets`.
    fn detect(&mut self, cx: &mut Context<'_>) -> Verdict {
        self.timer = None;
        self.forget(cx);
        let delay = self.loss_delay(cx);
        while self.undecided < self.largest_acked {
            let index = (self.undecided - self.first) as usize;
            let Some(&sending) = self.sendings.get(index) else {
                break;
            };
            let record = cx.board.get(sending.id).copied();
            // Answered, or sent again since: that transmission has a number of its own.
            let Some(record) = record.filter(|r| r.waits() && r.sent_at == sending.at) else {
                self.undecided += 1;
                continue;
            };
            let due = sending.at.saturating_add(delay);
            if self.undecided + self.threshold > self.largest_acked && due > cx.now {
                self.timer = Some(due);
                break;
            }
            if record.retrans {
                cx.counters.recoveries.tcp_lost_retransmit += 1;
            }
            cx.board.mark_lost(sending.id);
            self.undecided += 1;
        }
        Verdict::recover_if(cx.board.lost_out() > 0)
    }

    /// Drops the transmissions of segments that are acknowledged.
    fn forget(&mut self, cx: &Context<'_>) {
        let front = cx.board.front_id();
        while self.sendings.front().is_some_and(|s| s.id < front) {
            self.sendings.pop_front();
            self.first += 1;
        }
        self.undecided = self.undecided.max(self.first);
    }
}

impl LossDetection for Rfc9002 {
    fn dupthresh(&self) -> u32 {
        self.threshold as u32
    }

    fn governs_sending(&self) -> bool {
        true
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Transmission) {
        self.sendings.push_back(Sending {
            id: sent.id,
            end: sent.end,
            at: cx.now,
        });
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        if !cx.sack {
            return Verdict::recover_if(mark_without_sack(cx, ack, PACKET_THRESHOLD as u32));
        }
        for item in ack.delivered {
            self.acknowledged(cx, ack, item);
        }
        self.detect(cx)
    }

    fn on_recovery_end(&mut self, _cx: &mut Context<'_>, undone: bool) {
        if undone {
            // What was marked is expected again.
            self.undecided = self.first;
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.timer
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.timer = None;
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) -> Verdict {
        self.timer = None;
        if cx.state == CaState::Loss && cx.frto {
            return Verdict::default();
        }
        self.detect(cx)
    }
}
