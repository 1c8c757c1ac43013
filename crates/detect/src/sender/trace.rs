//! A connection told event by event, for tests: segments of 1,000 bytes by number, times in milliseconds.

use inorder_base::sequence::Offsets;
use inorder_wire::{Has, Segment, TcpFlags};

use super::{Options, Sender};
use crate::explanation::{Explanation, Explanations};
use crate::result::{Confidence, Kind};

const MS: i64 = 1_000_000;
const LEN: i64 = 1_000;

/// A sender whose packets and ACKs are given in the order of their times. A round trip takes 10 ms.
pub(super) struct Trace {
    pub(super) sender: Sender,
    acks: u16,
    /// With timestamps, which tick each millisecond; an ACK of what is in order echoes what was sent 10 ms before.
    stamped: bool,
    /// What that was.
    recent: u32,
}

/// What is said of a trace: kind, segment and confidence of each event.
pub(super) type Told = Vec<(Kind, u64, Confidence)>;

impl Trace {
    /// Without timestamps.
    pub(super) fn new(sack: bool, without: Option<Explanation>) -> Self {
        Self::with((sack, false), without)
    }

    /// With SACK and timestamps.
    pub(super) fn stamped(without: Option<Explanation>) -> Self {
        Self::with((true, true), without)
    }

    /// Without timestamps, and without the handshake that tells of SACK.
    pub(super) fn unopened(without: Option<Explanation>) -> Self {
        Self::begun((None, false), without)
    }

    fn with((sack, stamped): (bool, bool), without: Option<Explanation>) -> Self {
        Self::begun((Some(sack), stamped), without)
    }

    fn begun((sack, stamped): (Option<bool>, bool), without: Option<Explanation>) -> Self {
        let all = Explanations::default();
        let options = Options {
            sack,
            handshake: sack.is_some(),
            timestamps: stamped,
            explanations: without.map_or(all, |off| all.without(off)),
            ..Options::default()
        };
        let mut sender = Sender::new(Offsets::new(0), options, true);
        sender.note_rtt(10 * MS);
        Trace {
            sender,
            acks: 0,
            stamped,
            recent: 0,
        }
    }

    pub(super) fn send(&mut self, at: i64, i: i64) {
        let seg = self.packet(at);
        self.sender.sent(&seg, i * LEN, LEN as u32);
    }

    pub(super) fn send_again(&mut self, at: i64, i: i64) {
        let seg = self.packet(at);
        self.sender.retransmitted(&seg, i * LEN, LEN as u32);
    }

    /// The same with the timestamp that the clock had at another time: it ticks slowly.
    pub(super) fn send_again_as_at(&mut self, at: i64, i: i64, stamped: i64) {
        let tsval = self.packet(stamped).tsval;
        let seg = Segment {
            tsval,
            ..self.packet(at)
        };
        self.sender.retransmitted(&seg, i * LEN, LEN as u32);
    }

    /// `number` ACKs are lost.
    pub(super) fn lose_acks(&mut self, number: u16) {
        self.acks += number;
    }

    fn packet(&self, at: i64) -> Segment {
        let has = if self.stamped {
            Has::IP_ID | Has::TIMESTAMPS
        } else {
            Has::IP_ID
        };
        segment!(
            ts_ns: at * MS, tsval: 1_000 + at as u32, tsecr: (990 + at) as u32, has,
            flags: TcpFlags(TcpFlags::ACK)
        )
    }

    /// The receiver waits for segment `next`; each block is of segments from one to before another.
    pub(super) fn ack(&mut self, at: i64, next: i64, blocks: &[(i64, i64)]) {
        let echoed = self.packet(at).tsecr;
        if blocks.is_empty() {
            self.recent = echoed;
        }
        self.ack_echoing(at, next, blocks, echoed);
    }

    /// The same for data above a hole, which moves no TS.Recent (RFC 7323 section 4.3).
    pub(super) fn sack(&mut self, at: i64, next: i64, blocks: &[(i64, i64)]) {
        self.ack_echoing(at, next, blocks, self.recent);
    }

    /// The same with the timestamp `tsecr`: while a hole is open, the one that came before it (RFC 7323 section 4.3).
    pub(super) fn ack_echoing(&mut self, at: i64, next: i64, blocks: &[(i64, i64)], tsecr: u32) {
        let block = |&(left, right): &(i64, i64)| ((left * LEN) as u32, (right * LEN) as u32);
        let blocks: Vec<_> = blocks.iter().map(block).collect();
        self.ack_number((next * LEN) as u32, at, &blocks, tsecr);
    }

    /// The first `len` bytes of segment `i` are sent, and it has no more.
    pub(super) fn send_part(&mut self, at: i64, i: i64, len: u32) {
        let seg = self.packet(at);
        self.sender.sent(&seg, i * LEN, len);
    }

    /// The first `len` bytes of segment `i` are sent again.
    pub(super) fn send_again_part(&mut self, at: i64, i: i64, len: u32) {
        let seg = self.packet(at);
        self.sender.retransmitted(&seg, i * LEN, len);
    }

    /// The receiver waits for the byte `offset` of segment `next`, and has the first bytes of another.
    pub(super) fn ack_bytes(&mut self, at: i64, next: i64, offset: u32, has: Option<(i64, u32)>) {
        let block = |(i, len): (i64, u32)| ((i * LEN) as u32, (i * LEN) as u32 + len);
        let blocks: Vec<_> = has.into_iter().map(block).collect();
        self.ack_number((next * LEN) as u32 + offset, at, &blocks, self.recent);
    }

    /// The `len` bytes from `from` on are sent again.
    pub(super) fn send_again_bytes(&mut self, at: i64, from: i64, len: u32) {
        let seg = self.packet(at);
        self.sender.retransmitted(&seg, from, len);
    }

    /// The receiver waits for segment `next`, and a SACK block reports the FIN, which follows segment `end - 1`.
    pub(super) fn sack_end(&mut self, at: i64, next: i64, end: i64) {
        self.sack_to_end(at, next, (end, end));
    }

    /// The same of a block that begins with segment `from`.
    pub(super) fn sack_to_end(&mut self, at: i64, next: i64, (from, end): (i64, i64)) {
        let block = ((from * LEN) as u32, (end * LEN) as u32 + 1);
        self.ack_number((next * LEN) as u32, at, &[block], self.recent);
    }

    /// The receiver has everything before segment `end`, and the end of the data.
    pub(super) fn ack_end(&mut self, at: i64, end: i64) {
        let echoed = self.packet(at).tsecr;
        self.ack_number((end * LEN) as u32 + 1, at, &[], echoed);
    }

    /// The same, and the segments from one to before another came a second time.
    pub(super) fn ack_end_again(&mut self, at: i64, end: i64, (from, to): (i64, i64)) {
        let echoed = self.packet(at).tsecr;
        let block = ((from * LEN) as u32, (to * LEN) as u32);
        self.ack_number((end * LEN) as u32 + 1, at, &[block], echoed);
    }

    fn ack_number(&mut self, ack: u32, at: i64, blocks: &[(u32, u32)], tsecr: u32) {
        let mut seg = Segment {
            ack,
            frame: u64::from(self.acks),
            ip_id: self.acks,
            window: 500,
            sack_len: blocks.len() as u8,
            tsecr,
            ..self.packet(at)
        };
        for (to, &block) in seg.sack.iter_mut().zip(blocks) {
            *to = block;
        }
        self.acks += 1;
        self.sender.acknowledged(&seg, true);
    }

    /// Segments `from` to before `to` are sent a millisecond apart, first at `at`; each comes in its turn.
    pub(super) fn in_order(&mut self, at: i64, from: i64, to: i64) {
        for i in from..to + 10 {
            let now = at + i - from;
            if i < to {
                self.send(now, i);
            }
            if i >= from + 10 {
                self.ack(now, i - 9, &[]);
            }
        }
    }

    /// Segment `i` is sent at `at` and misses its turn, four behind it come. It is sent again after 14 ms, and is there
    /// 10 ms later.
    pub(super) fn lost(&mut self, at: i64, i: i64) {
        (0..5).for_each(|n| self.send(at + n, i + n));
        (1..5).for_each(|n| self.sack(at + 10 + n, i, &[(i + 1, i + 1 + n)]));
        self.send_again(at + 14, i);
        self.ack(at + 24, i + 5, &[]);
    }

    /// As [`Trace::lost`], but the original comes after 19 ms: the ACK in which its retransmission is a duplicate comes in
    /// its time.
    pub(super) fn late(&mut self, at: i64, i: i64) {
        (0..5).for_each(|n| self.send(at + n, i + n));
        (1..5).for_each(|n| self.sack(at + 10 + n, i, &[(i + 1, i + 1 + n)]));
        self.send_again(at + 14, i);
        self.ack(at + 19, i + 5, &[]);
        self.ack(at + 24, i + 5, &[(i, i + 1)]);
    }

    pub(super) fn end(self) -> Told {
        let end = Box::new(self.sender).finish(0, true);
        let events = end.data.collector.finish().events;
        let told = events.iter();
        told.map(|e| (e.kind, e.seq_offset / LEN as u64, e.confidence))
            .collect()
    }
}
