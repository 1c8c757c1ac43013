//! Originals that PAWS discarded (RFC 7323 section 5.3).
//!
//! Once a retransmission has brought TS.Recent forward, the late original of another hole is
//! discarded on arrival. It is answered at once all the same, by an ACK that reports nothing of
//! it: one that repeats the ACK before, or, when SACKs are held back (compression), one that
//! flushes them before their time. The hole stays and its retransmission fills it, as if the
//! original were lost. Such an ACK comes as much after the hole's turn as late originals of this
//! flow usually come, and that tells whose it was ([`super::windows`]).

use inorder_wire::{Segment, TcpFlags};

use super::acks::Ack;
use super::due::AGREE;
use super::filled::{Bare, By, Filled, Trigger};
use super::log::{Entry, Status};
use super::ring::apart;
use super::{CLOCK_NS, Report, Sender};
use crate::collect::Place;
use crate::result::{Evidence, Reason};

/// TSvals one tick apart pass PAWS in Linux (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: i32 = 1;
/// How long an ACK without cause waits for the hole it belongs to, at least, and in round trips:
/// the retransmission has to be caused, sent and acknowledged.
const BARE_PATIENCE_NS: i64 = 200_000_000;
const BARE_PATIENCE_RTTS: i64 = 3;
/// So many arrivals are reported at the latest, timer or not (`tcp_comp_sack_nr`, 44; some of them
/// may have been discarded or known).
const COMPRESSED: usize = 36;
/// With so many SACK blocks a segment that opens another makes Linux send what it holds back
/// first, without that segment (`TCP_SACK_BLOCKS_EXPECTED`); with more, one that extends the third.
const BLOCKS_EXPECTED: usize = 2;
/// Where ACKs are lost, so many at most are looked into.
const MOST_LOST: u32 = 8;
/// Holes looked at for one ACK without cause.
const MAX_CANDIDATES: usize = 512;

/// By how many ticks `tsval` is older than a receiver's TS.Recent, `recent`.
pub(super) fn ticks_too_old(tsval: u32, recent: u32) -> i32 {
    recent.wrapping_sub(tsval) as i32
}

/// An original with `tsval` would be discarded by a receiver whose TS.Recent is `recent`.
pub(super) fn discarded(tsval: u32, recent: u32) -> bool {
    ticks_too_old(tsval, recent) > PAWS_WINDOW
}

impl Sender {
    /// An ACK that does not advance and reports no duplicate: perhaps an original that PAWS
    /// discarded caused it, if there is one that it can be.
    pub(super) fn bare(&mut self, ack: &Ack, reported: usize) {
        let seg = &ack.seg;
        let Some(last) = self.last else { return };
        // An end of the other direction's data repeats the ACK before, too.
        let more = seg.payload_len > 0 || seg.flags.any(TcpFlags::FIN);
        if ack.stale || more || !self.stamped(seg) {
            return;
        }
        let trigger = match reported {
            0 if last.ack != seg.ack => None,
            0 if last.window == seg.window => Some(Trigger::Nothing),
            0 if self.reader_catches_up(seg, &last) => Some(Trigger::Reader),
            0 => Some(Trigger::Window),
            _ if ack.missing > 0 => None,
            _ => self.trigger(seg.ts_ns, reported),
        };
        let Some(trigger) = trigger else { return };
        let open = self.open_candidate(seg.tsecr);
        let elsewhere = !open || !self.suits_a_hole(seg.ts_ns);
        if elsewhere && reported == 0 && self.answers_needless_copy(seg.ts_ns) {
            return;
        }
        let blocks = seg.sack_blocks().len();
        let early = reported > 0 && trigger == Trigger::Little;
        let filled = self.filled_candidates(seg.tsecr);
        let several = match self.dsack_seen {
            true => trigger == Trigger::Nothing && filled.1,
            false => reported == 0,
        };
        if several && filled.0.is_some() || open {
            let id = self.log_bare(ack, trigger);
            self.flushed = (early && blocks >= BLOCKS_EXPECTED).then_some(id);
        } else if trigger == Trigger::Nothing
            && let Some(start) = filled.0
        {
            self.late_original(start, ack, Evidence::Paws);
        } else {
            self.clutter.note(trigger, 1.0);
            self.new_block_came = early && blocks == BLOCKS_EXPECTED;
        }
    }

    /// With nothing missing a reader that catches up makes room that was there before, and is told
    /// of many a time (RFC 9293 section 3.8.6.2.2); room that never was may come with any ACK. A
    /// receiver that reports duplicates says more than its window does.
    fn reader_catches_up(&self, seg: &Segment, last: &Segment) -> bool {
        let again = last.window < seg.window && seg.window <= self.widest;
        again && seg.sack_len == 0 && !self.dsack_seen
    }

    /// Was it the timer of SACK compression (or their number) that sent an ACK at `now`, or
    /// something before it?
    /// `None` for a segment alone that may just have been acknowledged at once.
    fn trigger(&self, now: i64, reported: usize) -> Option<Trigger> {
        let (soonest, latest) = self.compression.densest_half()?;
        let waited = self.held_back(now);
        // After duplicates Linux holds nothing back for a while (quick acknowledgement).
        let holds_back = self.compressing && !self.reported_at_once;
        if reported == 1 && !holds_back && waited <= self.jitter() {
            return None;
        }
        // A timer does not ring early; how sharply that is seen here, its usual times tell.
        let blur = (latest - soonest).saturating_add(self.jitter());
        let sharp = soonest.saturating_sub(blur);
        let usual = self.compression.quartiles()?.1;
        let early = waited < sharp.max(usual - usual / 8) && reported < COMPRESSED;
        Some(if early {
            Trigger::Little
        } else {
            Trigger::Timer
        })
    }

    /// How long the first of what the ACK at `now` reports has waited for it: since the ACK
    /// before at most.
    pub(super) fn held_back(&self, now: i64) -> i64 {
        let before = self.last.map_or(now, |l| l.ts_ns);
        let first = self.reports.iter().map(|r| self.arrival_of(&r.sent)).min();
        first.map_or(0, |first| {
            now.saturating_sub(first.clamp(before.min(now), now))
        })
    }

    /// Is an original outstanding in a hole that the receiver would discard?
    fn open_candidate(&self, recent: u32) -> bool {
        self.open_holes().any(|s| discarded(s.tsval, recent))
    }

    pub(super) fn open_holes(&self) -> impl Iterator<Item = &super::Sent> {
        let top = self.ranges.top().unwrap_or(self.una);
        let below = self.board.iter().take_while(move |s| s.start < top);
        below.take(MAX_CANDIDATES).filter(|s| !s.reported)
    }

    /// The highest segment above the left edge that a retransmission has filled and whose original
    /// would be discarded, and whether there are more.
    fn filled_candidates(&self, recent: u32) -> (Option<i64>, bool) {
        let open =
            |f: &&Filled| f.first == By::Copy && !f.original_in && discarded(f.tsval, recent);
        // A receiver that reports no duplicates is as silent below the left edge.
        let from = if self.dsack_seen { self.una } else { i64::MIN };
        let latest = self.filled.latest().take(MAX_CANDIDATES);
        let mut some = latest.take_while(|f| f.place.start >= from).filter(open);
        let highest = some.next().map(|f| f.place.start);
        (highest, some.next().is_some())
    }

    fn log_bare(&mut self, ack: &Ack, trigger: Trigger) -> u64 {
        let seg = &ack.seg;
        let unsure = (ack.missing > 0).then_some(Reason::AcksMissing);
        self.push_bare(seg, seg.ts_ns, unsure, trigger)
    }

    fn push_bare(
        &mut self,
        seg: &Segment,
        since_ns: i64,
        unsure: Option<Reason>,
        trigger: Trigger,
    ) -> u64 {
        let place = Place {
            at_ns: seg.ts_ns,
            proof_frame: seg.frame,
            ..Place::default()
        };
        let deadline = seg.ts_ns.saturating_add(self.bare_patience());
        let hides = matches!(trigger, Trigger::Nothing | Trigger::Lost);
        let status = Status::Bare { deadline, hides };
        let entry = Entry {
            place,
            status,
            unsure,
            told: false,
        };
        let id = self.log.push(entry, &mut self.collector);
        self.filled.bares.push_back(Bare {
            id,
            at_ns: seg.ts_ns,
            since_ns,
            deadline_ns: deadline,
            recent: seg.tsecr,
            // What was lost may have reported a duplicate below the left edge, and some receivers
            // report none.
            una: if trigger == Trigger::Lost || !self.dsack_seen {
                i64::MIN
            } else {
                self.una
            },
            trigger,
        });
        id
    }

    /// What `ack` reports may show why the ACK before flushed held-back SACKs: a segment had
    /// opened one more block. That is as much of a reason as the timer is.
    pub(super) fn explain_flush(&mut self, ack: &Ack) {
        let Some(id) = self.flushed.take() else {
            return;
        };
        let at = self.last.map_or(i64::MIN, |l| l.ts_ns);
        let opened = |r: &Report| r.opens && apart(self.arrival_of(&r.sent), at) <= self.jitter();
        if ack.missing == 0 && self.reports.iter().any(opened) {
            let mut bares = self.filled.bares.iter_mut();
            if let Some(bare) = bares.find(|b| b.id == id) {
                bare.trigger = Trigger::Timer;
            }
        }
    }

    /// ACKs are missing just before `ack`: each may have been the answer to an original of which
    /// only retransmissions are known.
    pub(super) fn note_gap(&mut self, ack: &Ack) {
        let Some(last) = self.last else { return };
        let seg = &ack.seg;
        if ack.stale || !(self.open_candidate(last.tsecr) || self.copy_came_first(seg.ts_ns)) {
            return;
        }
        let since = last.ts_ns.min(seg.ts_ns);
        for _ in 0..ack.missing.min(MOST_LOST) {
            self.push_bare(seg, since, Some(Reason::AcksMissing), Trigger::Lost);
        }
    }

    /// Is there a segment whose original may come after its retransmission still?
    fn copy_came_first(&self, now: i64) -> bool {
        let since = now.saturating_sub(self.bare_patience());
        let mut latest = self.filled.latest().take(MAX_CANDIDATES);
        latest.any(|f| f.first != By::Original && !f.original_in && f.reported_ns >= since)
    }

    pub(super) fn bare_patience(&self) -> i64 {
        let rtt = self.rtt.or(self.min_rtt).unwrap_or(0);
        BARE_PATIENCE_NS.max(rtt.saturating_mul(BARE_PATIENCE_RTTS))
    }

    /// How far off most late originals are from others of their kind, twice over; negative while
    /// too few are known.
    pub(super) fn sharpest(&self) -> i64 {
        let off = self.lateness.cohesion(AGREE);
        off.map_or(-1, |off| off.saturating_mul(2).max(CLOCK_NS))
    }
}
