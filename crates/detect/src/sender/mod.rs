//! The sender's vantage: from data sent and ACKs received to what arrived when.
//!
//! Section III of the mobile-network paper (SACK, DSACK, timestamps, both together) and the
//! detection draft, turned around: rebuild the order in which originals arrived at the receiver
//! and compute the metrics of RFC 4737 section 4 on it.
//!
//! [`Sender`] is the loop that joins the parts, each of which can be understood alone: what is
//! [`outstanding`], what this flow has shown of [`timing`], what the [`receiver`] is known to do, the
//! [`reading`] of one ACK, the [`windows`] in which unexplained ACKs are weighed, and the [`ledger`] of verdicts.

mod acks;
mod again;
mod answers;
mod arrived;
mod assign;
mod attribute;
mod beyond;
mod blocks;
mod board;
mod clutter;
mod copied;
mod cut;
mod doubts;
mod duplicate;
mod filled;
mod finish;
mod hidden;
mod lateness;
mod ledger;
mod list;
mod log;
mod missing;
mod needless;
mod news;
mod no_dsack;
mod no_sack;
mod openers;
mod orphans;
mod outstanding;
mod owed;
mod pair;
mod paws;
mod process;
mod ranges;
mod reading;
mod receiver;
mod reneging;
mod repeats;
mod report;
mod ring;
mod shared_numbers;
mod shrunk;
mod silent;
mod sure;
mod timing;
#[cfg(test)]
mod trace;
mod unexplained;
mod unseen;
mod windows;

use inorder_base::sequence::Offsets;
use inorder_wire::{Segment, TcpFlags};

use crate::collect::Basis;
use crate::complaints::Proven;
use crate::engine_end::EngineEnd;
use crate::explanation::Explanations;
use crate::habits::Habits;
use crate::result::{AckPath, Confidence, Shrunk, Swallowed};

use acks::{Ack, AckQueue};
use attribute::First;
use doubts::Doubts;
use ledger::Ledger;
use news::News;
use no_dsack::Awaited;
use no_sack::NoSack;
use openers::Openers;
use orphans::Orphans;
use outstanding::Outstanding;
use reading::Reading;
use receiver::Receiver;
use ring::Ring;
use shared_numbers::SharedNumbers;
use shrunk::Sizes;
use timing::Timing;
use unseen::Unseen;
use windows::Windows;

pub(crate) use finish::{MIN_PATIENCE_NS, PATIENCE_RTTS};
pub(crate) use receiver::Options;

/// The inference for one direction of one connection.
#[derive(Debug)]
pub(crate) struct Sender {
    outstanding: Outstanding,
    timing: Timing,
    receiver: Receiver,
    reading: Reading,
    windows: Windows,
    ledger: Ledger,
    openers: Openers,
    repeats: Repeats,
    no_sack: NoSack,
    queue: AckQueue,
    numbers: SharedNumbers,
    /// The ACK before the present one, in the order of emission.
    last: Option<Segment>,
    /// Segments looked at for what the receiver has discarded.
    looked_at: u64,
    news: News,
    gaps: Gaps,
    timestamps: bool,
    explanations: Explanations,
    /// ACKs whose turn has come; kept for its memory only.
    ready: Vec<Ack>,
    end: End,
    sizes: Sizes,
}

/// Retransmissions whose answers are known by their times.
#[derive(Default, Debug)]
struct Repeats {
    awaited: Awaited,
    /// When they were sent, where there may be no SACK, nanoseconds.
    times: Ring,
}

heap!(Repeats: awaited, times);

/// What the capture lacks of the data, or leaves in doubt.
#[derive(Default, Debug)]
struct Gaps {
    orphans: Orphans,
    doubts: Doubts,
    unseen: Unseen,
}

heap!(Gaps: orphans, doubts, unseen);

/// What is known of the end of the data (FIN).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum End {
    /// It was not sent.
    #[default]
    Open,
    /// It was sent, and has not been SACKed.
    Sent,
    /// It has been SACKed above data that had not come.
    Overtook,
}

heap!(Sender: outstanding, timing, receiver, reading, windows, ledger, openers, repeats, queue, gaps, ready);

/// What [`Sender::finish`] tells.
#[derive(Debug)]
pub(crate) struct SenderEnd {
    pub(crate) data: EngineEnd,
    /// What did not arrive, as ICMP says.
    pub(crate) proven: Vec<Proven>,
    pub(crate) acks: AckFindings,
}

/// What acknowledgements tell beside what arrived.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct AckFindings {
    pub(crate) path: AckPath,
    pub(crate) min_rtt_ns: Option<i64>,
    /// Counts are approximate, because the connection has no SACK.
    pub(crate) rough: bool,
    pub(crate) sack: bool,
    /// Whether SACK was negotiated is unknown: neither the handshake nor a SACK block was captured, although segments were missing.
    pub(crate) sack_unknown: bool,
    /// Habits that acknowledgements show.
    pub(crate) habits: Habits,
    /// Full segments arrive only when they are cut.
    pub(crate) shrunk: Option<Shrunk>,
    /// What was never acknowledged is longer than all that was.
    pub(crate) swallowed: Option<Swallowed>,
}

impl Sender {
    /// Packets that were late, lost or sent again.
    pub(crate) fn troubles(&self) -> u64 {
        self.ledger.collector.troubles() + self.ledger.retransmissions
    }

    #[inline(always)] // Made where it stays, instead of copied there.
    pub(crate) fn new(unwrap: Offsets, options: Options, keep: bool) -> Self {
        Sender {
            outstanding: Outstanding::new(unwrap, options.timestamps, options.explanations),
            timing: Timing::default(),
            receiver: Receiver::new(&options),
            reading: Reading::default(),
            windows: Windows::new(options.explanations),
            ledger: Ledger::new(keep),
            openers: Openers::default(),
            repeats: Repeats::default(),
            no_sack: NoSack::default(),
            queue: AckQueue::default(),
            numbers: SharedNumbers::default(),
            last: None,
            looked_at: 0,
            news: News::default(),
            gaps: Gaps::default(),
            timestamps: options.timestamps,
            explanations: options.explanations,
            ready: Vec::new(),
            end: End::Open,
            sizes: Sizes::default(),
        }
    }

    /// A round trip to the receiver is known to take as little as `ns` (handshake included).
    #[inline]
    pub(crate) fn note_rtt(&mut self, ns: i64) {
        self.timing.note_rtt(ns);
    }

    /// From here to the data's sender and back takes `ns`.
    pub(crate) fn note_away(&mut self, ns: i64) {
        self.news.away_ns = ns;
    }

    /// Both hosts have turned out to use timestamps.
    pub(crate) fn note_timestamps(&mut self) {
        self.timestamps = true;
        self.outstanding.note_timestamps();
        self.receiver.note_timestamps();
    }

    /// Next to this capture point: the receiver offers at `now` to take what lies below `edge`.
    #[inline]
    pub(crate) fn offered(&mut self, edge: i64, now: i64) {
        if self.ledger.beyond.is_news(edge) {
            let rtt_ns = self.timing.min_rtt.unwrap_or(0);
            self.ledger.beyond.offered(edge, now, rtt_ns);
        }
    }

    /// The capture begins in the middle of the connection, whose receiver has acknowledged everything below `una`.
    pub(crate) fn begins_without_syn(&mut self, una: i64) {
        self.outstanding.begins_without_syn(una);
        self.news.una = una;
    }

    /// Bytes that have arrived, as far as acknowledgements tell.
    #[inline]
    pub(crate) fn delivered(&self) -> i64 {
        self.outstanding.una + self.outstanding.ranges.bytes()
    }

    /// The usual round trip to the receiver, nanoseconds.
    #[inline]
    pub(crate) fn usual_rtt(&self) -> Option<i64> {
        Some(self.timing.usual_rtt()).filter(|&ns| ns > 0)
    }

    /// A first transmission of `[start, start + len)`.
    #[inline]
    pub(crate) fn sent(&mut self, seg: &Segment, start: i64, len: u32) {
        self.ledger.sent(seg.ts_ns, len);
        self.ledger.beyond.sent(start, len, seg.ts_ns);
        self.outstanding.sent(seg, start, len);
        if !self.gaps.orphans.is_empty() {
            self.join_orphans(seg, start, len);
        }
    }

    /// The end of the data was sent, as a packet of its own (FIN).
    pub(crate) fn note_end(&mut self) {
        if self.end == End::Open {
            self.end = End::Sent;
        }
    }

    /// What was just said to be sent first at `start` came by behind higher data, and is an original as sure as `basis` is: on the way from
    /// the sender another may have been lost before it, or the capture may lack that.
    pub(crate) fn perhaps_sent_before(&mut self, start: i64, basis: Basis) {
        self.gaps.doubts.note(start, basis);
        if basis.confidence == Confidence::Ambiguous {
            self.ledger.recoveries.perhaps_again(start);
        }
    }

    /// The receiver resets the connection. What that acknowledges has arrived, as with any other segment (RFC 9293 section 3.4); what it offers
    /// means nothing any more.
    #[cold]
    pub(crate) fn reset(&mut self, seg: &Segment, by_id: bool) {
        let number = self.outstanding.offset(seg.ack);
        let sent = number > self.news.una && number <= self.outstanding.highest + 1;
        if sent && seg.flags.any(TcpFlags::ACK) {
            let answer = Segment {
                flags: TcpFlags(TcpFlags::ACK),
                window: self.last.map_or(0, |last| last.window),
                ..*seg
            };
            self.acknowledged(&answer, by_id);
        }
    }

    /// A packet of the receiver's direction, with or without data of its own; `by_id` says that
    /// the receiver's IPv4 identification counts.
    #[inline]
    pub(crate) fn acknowledged(&mut self, seg: &Segment, by_id: bool) {
        if seg.flags.any(TcpFlags::RST) || !seg.flags.any(TcpFlags::ACK) {
            return;
        }
        let ack = self.outstanding.offset(seg.ack);
        let advances = ack > self.news.una;
        if advances {
            self.news.una = ack;
            self.ledger.recoveries.acknowledged(ack, seg.ts_ns);
        }
        let prompts = advances || seg.payload_len == 0 || seg.sack_len > 0;
        self.news.heard(seg.ts_ns, prompts);
        if seg.sack_len > 0 {
            self.receiver.sack_seen = true;
        }
        if self.queue.passes(seg, by_id) {
            return self.process(&Ack::of(seg));
        }
        let mut ready = std::mem::take(&mut self.ready);
        if advances {
            self.forget_in_advance(seg, ack);
        }
        if advances && by_id {
            self.queue.newest(seg, |ack| ready.push(ack));
        }
        self.queue.push(seg, by_id, |ack| ready.push(ack));
        for ack in ready.drain(..) {
            self.process(&ack);
        }
        self.ready = ready;
    }
}

#[cfg(test)]
mod tests;
