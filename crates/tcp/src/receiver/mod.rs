//! The receiving half: what has arrived, what is acknowledged, and when.
//!
//! - `queue`: data held out of order.
//! - `report`: which blocks and which duplicate an acknowledgement reports; `sack`: in which order.
//! - `delay`: whether an acknowledgement is sent now or later.
//! - `window`: how much of the buffer is offered.

mod delay;
mod queue;
mod report;
mod round_trip;
mod sack;
mod window;

use std::sync::Arc;

use inorder_base::random::Random;

use crate::Nanos;
use crate::config::{BeyondWindow, Config, WindowAccount};
use crate::counters::Counters;
use crate::segment::SackBlocks;
use crate::seq::{self, Seq};

use delay::{AckDelay, Arrival};
use queue::Queue;
use report::Reports;
use window::{Held, ReceiveWindow};

/// The receiving half of an endpoint.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Initial sequence number of the peer; its SYN's.
    pub(crate) irs: Seq,
    /// Next sequence number expected.
    pub(crate) rcv_nxt: Seq,
    /// Next byte the application will read.
    read_to: Seq,
    window: ReceiveWindow,
    /// Sequence number of the peer's FIN, once known.
    pub(crate) fin: Option<Seq>,
    /// It has been received in order.
    pub(crate) fin_taken: bool,
    read_at_once: bool,
    /// When data in order last came.
    in_order_at: Nanos,
    queue: Queue,
    reports: Reports,
    /// Probability with which a segment out of order makes it discard what it holds.
    reneging: f64,
    random: Random,
    delay: AckDelay,
    /// `rcv_nxt` in the last acknowledgement sent.
    pub(crate) last_ack_sent: Seq,
    /// Payload of a full segment, bytes.
    mss: u32,
}

impl Receiver {
    pub(crate) fn new(config: &Arc<Config>, seed: u64) -> Self {
        Self {
            irs: 0,
            rcv_nxt: 0,
            read_to: 0,
            window: ReceiveWindow::new(config),
            fin: None,
            fin_taken: false,
            read_at_once: config.receive.read_at_once,
            in_order_at: 0,
            queue: Queue::default(),
            reports: Reports::new(config),
            reneging: config.habits.reneging,
            random: Random::new(seed, "receiver"),
            delay: AckDelay::new(config),
            last_ack_sent: 0,
            mss: config.mss,
        }
    }

    /// The peer's SYN.
    pub(crate) fn start(&mut self, isn: u32) {
        self.irs = seq::first(isn);
        self.rcv_nxt = self.irs + 1;
        self.read_to = self.rcv_nxt;
        self.last_ack_sent = self.rcv_nxt;
        self.window.start(self.rcv_nxt);
    }

    /// See [`ReceiveWindow::round_offer`].
    pub(crate) fn round_offer(&mut self, mss: u32) -> u64 {
        self.window.round_offer(mss.into())
    }

    /// When data last arrived; 0 if it never did.
    pub(crate) fn last_data(&self) -> Nanos {
        self.delay.last_data()
    }

    /// The data was in a SYN: no interval between arrivals was seen yet.
    pub(crate) fn was_in_syn(&mut self) {
        self.delay.forget_intervals();
    }

    /// The negotiated options: window shift, SACK, and the payload of a full segment.
    pub(crate) fn establish(&mut self, scale: u8, sack: bool, mss: u32) {
        self.window.scale = scale;
        self.reports.sack = sack;
        self.mss = mss.max(1);
    }

    /// The peer's SYN permits SACK, and so does this end, or not.
    pub(crate) fn set_sack(&mut self, sack: bool) {
        self.reports.sack = sack;
    }

    /// SACK has been negotiated.
    pub(crate) fn sack(&self) -> bool {
        self.reports.sack
    }

    /// The handshake is complete.
    pub(crate) fn opens(&mut self, now: Nanos) {
        self.window.opens(now);
    }

    /// Data in order has arrived that a later acknowledgement will cover.
    pub(crate) fn waits_to_acknowledge(&self) -> bool {
        self.delay.waits()
    }

    /// Bytes held out of order.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.bytes
    }

    /// Bytes the application has not read.
    pub(crate) fn readable(&self) -> u64 {
        (self.rcv_nxt - u64::from(self.fin_taken)).saturating_sub(self.read_to)
    }

    /// Removes up to `bytes` from the buffer. True if the window opened enough to inform the peer.
    pub(crate) fn read(&mut self, bytes: u64) -> (u64, bool) {
        let taken = bytes.min(self.readable());
        self.read_to += taken;
        (taken, taken > 0 && self.window.opened(&self.held()))
    }

    fn held(&self) -> Held {
        Held {
            rcv_nxt: self.rcv_nxt,
            unread: self.readable(),
            waiting: self.queue.bytes,
            mss: self.mss,
        }
    }

    /// The window field of the acknowledgement being sent.
    pub(crate) fn advertise(&mut self, scaled: bool) -> u16 {
        self.window.advertise(&self.held(), scaled)
    }

    /// RFC 9293 section 3.10.7.4, first step: true if any part of the segment lies in the window.
    pub(crate) fn acceptable(&self, start: Seq, end: Seq) -> bool {
        end >= self.last_ack_sent.min(self.rcv_nxt)
            && start <= self.window.right_edge()
            && !self.refuses_end(end)
    }

    /// One more number may lie beyond the window, for a FIN (Linux `tcp_sequence`).
    fn refuses_end(&self, end: Seq) -> bool {
        self.window.beyond == BeyondWindow::TakeIfEmpty
            && end > self.window_end() + 1
            && self.readable() > 0
    }

    /// True if any byte of `start..end` is missing.
    pub(crate) fn lacks(&self, start: Seq, end: Seq) -> bool {
        end > self.rcv_nxt && !self.queue.ranges.holds(start.max(self.rcv_nxt), end)
    }

    /// A segment with this number of bytes of payload echoes a timestamp of this age.
    pub(crate) fn echoed(&mut self, echo: u32, age: Option<Nanos>, bytes: u32) {
        self.window.echoed(echo, age, bytes >= self.mss);
    }

    /// True if the buffer is tuned by the round-trip time.
    pub(crate) fn is_tuned(&self) -> bool {
        self.window.is_tuned()
    }

    /// Right edge of the window.
    pub(crate) fn window_end(&self) -> Seq {
        self.window.right_edge().max(self.rcv_nxt)
    }

    /// End of the highest data that has arrived.
    pub(crate) fn highest(&self) -> Seq {
        let last = self.queue.ranges.end();
        last.map_or(self.rcv_nxt, |end| end.max(self.rcv_nxt))
    }

    /// Parts of the stream that the last segment delivered, in 64-bit sequence numbers.
    pub(crate) fn accepted(&self) -> &[(Seq, Seq)] {
        &self.queue.accepted
    }

    pub(crate) fn clear_accepted(&mut self) {
        self.queue.accepted.clear();
    }

    /// Processes a segment with payload. Returns true if any of it was new.
    pub(crate) fn on_data(
        &mut self,
        now: Nanos,
        start: Seq,
        end: Seq,
        rtt: Nanos,
        counters: &mut Counters,
    ) -> bool {
        counters.received.data_segs_in += 1;
        self.reports.report_late();
        if self.read_at_once {
            self.read_what_came();
        } else {
            self.window.measure(now, self.read_to, self.mss);
        }
        self.delay.data_arrives(now, rtt);
        if end <= self.rcv_nxt {
            counters.received.duplicate_segs_in += 1;
            self.report_old(now, start, end, counters);
            return false;
        }
        // Data beyond the window, or beyond the end of the stream, is discarded.
        let edge = match self.window.beyond {
            BeyondWindow::Cut => self.window_end(),
            _ if start.max(self.rcv_nxt) < self.window_end() => end,
            _ => self.window_end(),
        };
        let limit = edge.min(self.fin.unwrap_or(Seq::MAX));
        let end = end.min(limit);
        if start >= end {
            counters.received.refused_segs_in += u64::from(self.fin.is_none());
            self.delay.now();
            return false;
        }
        if start <= self.rcv_nxt {
            self.in_order(now, start, end, rtt, counters);
            true
        } else {
            self.above(now, start, end, rtt, counters)
        }
    }

    /// All of it is already known: acknowledge at once, with a DSACK (RFC 2883 section 4.1).
    fn report_old(&mut self, now: Nanos, start: Seq, end: Seq, counters: &mut Counters) {
        if !self.delay.answers_duplicate(now) {
            return;
        }
        self.delay.trouble(now);
        self.reports.old(start, end, &mut counters.dsack);
    }

    fn in_order(&mut self, now: Nanos, start: Seq, end: Seq, rtt: Nanos, counters: &mut Counters) {
        if start < self.rcv_nxt {
            // The front part was received before.
            let known = self.rcv_nxt;
            self.reports.overlap(start, known, &mut counters.dsack);
        }
        let old = self.rcv_nxt;
        let filled = !self.queue.ranges.is_empty();
        if filled {
            self.fill(old, end, counters);
        } else {
            self.queue.accepted.push((old, end));
            self.rcv_nxt = end;
        }
        counters.received.bytes_received += self.rcv_nxt - old;
        self.window.arrived(now, self.rcv_nxt);
        self.in_order_at = now;
        if self.window.account != WindowAccount::Memory {
            self.catch_up();
        }
        self.judge(now, end - start, true, filled, rtt);
    }

    /// For an application that reads at once.
    fn catch_up(&mut self) {
        if self.read_at_once {
            self.read_what_came();
        }
    }

    /// The application has read when the last data in order came, not since. Of data that a filled gap releases it reads one
    /// segment, and then what was read in a round trip is measured (Linux `tcp_recvmsg_locked`, which calls
    /// `tcp_rcv_space_adjust` after each buffer; the lab's devices merge no segments).
    fn read_what_came(&mut self) {
        let end = self.rcv_nxt - u64::from(self.fin_taken);
        if end > self.read_to {
            let first = end.min(self.read_to + u64::from(self.mss));
            self.window.measure(self.in_order_at, first, self.mss);
            self.read_to = end;
        }
    }

    /// Lets `delay` decide when to acknowledge a segment of this length.
    fn judge(&mut self, now: Nanos, length: u64, in_order: bool, filled: bool, rtt: Nanos) {
        if (in_order || self.sack()) && self.window.grow(&self.held(), length) {
            self.delay.quicken();
        }
        let arrival = Arrival {
            in_order,
            filled,
            missing: !self.queue.ranges.is_empty() || self.holds_fin(),
            rcv_nxt: self.rcv_nxt,
            waiting: self.rcv_nxt - self.last_ack_sent,
            mss: self.mss,
            rtt,
            sack: self.sack(),
        };
        self.delay.arrived(now, &arrival);
    }

    /// Data in order that meets data held: all that is contiguous becomes readable.
    fn fill(&mut self, start: Seq, end: Seq, counters: &mut Counters) {
        let added = self.queue.insert(start, end);
        if let Some((from, to)) = added.duplicate {
            self.reports.further_overlap(from, to, &mut counters.dsack);
        }
        self.rcv_nxt = added.block.1;
        self.queue.release(start, self.rcv_nxt);
        self.reports.advance(self.rcv_nxt);
    }

    /// There is a gap before it: store it, and acknowledge (RFC 5681 section 4.2: immediately).
    fn above(
        &mut self,
        now: Nanos,
        start: Seq,
        end: Seq,
        rtt: Nanos,
        counters: &mut Counters,
    ) -> bool {
        counters.received.out_of_order_segs_in += 1;
        let added = self.queue.insert(start, end);
        if self.reneging > 0.0 && self.random.chance(self.reneging) {
            self.renege(counters);
            return false;
        }
        if added.fresh == 0 {
            counters.received.duplicate_segs_in += 1;
            if !self.delay.answers_duplicate(now) {
                return false;
            }
        } else {
            counters.received.tcp_ofo_queue += 1;
        }
        let held = self.delay.holds_back();
        let block = self.with_fin(added.block);
        if self.reports.block((start, end), block, held) {
            self.judge(now, end - start, false, false, rtt);
        } else {
            self.delay.now();
        }
        if let Some((from, to)) = added.duplicate {
            self.reports.overlap(from, to, &mut counters.dsack);
        }
        added.fresh > 0
    }

    /// The peer's FIN, numbered `fin`, has arrived behind everything else in its segment, which was `alone` if it had no payload. Above a
    /// gap it is acknowledged at once as data is (RFC 5681 section 4.2). Linux holds it as data, and reports its number in the block
    /// (`tcp_data_queue_ofo`: `end_seq` counts it), by which a probe of the tail that is only a FIN shows what was lost before it.
    pub(crate) fn fin_arrives(&mut self, now: Nanos, fin: Seq, alone: bool, rtt: Nanos) {
        self.fin = Some(fin);
        if self.rcv_nxt >= fin {
            return;
        }
        let mut reported = true;
        if self.delay.is_linux() {
            let block = self.with_fin(self.queue.ranges.last_from(fin));
            let held = self.delay.holds_back();
            reported = self.reports.block((fin, fin + 1), block, held);
        }
        if !reported || (alone && !self.delay.is_linux()) {
            self.delay.now();
        } else if alone {
            self.judge(now, 0, false, false, rtt);
        }
    }

    /// True if the FIN waits for data before it, as data does that is held.
    fn holds_fin(&self) -> bool {
        self.delay.is_linux() && self.fin.is_some_and(|fin| fin > self.rcv_nxt)
    }

    /// A block that reaches the FIN which is held contains it.
    fn with_fin(&self, block: (Seq, Seq)) -> (Seq, Seq) {
        let holds = self.delay.is_linux() && self.fin == Some(block.1);
        (block.0, block.1 + u64::from(holds))
    }

    /// Discards what is held out of order; the sender has to send it again, also what SACKs have reported (RFC 2018 section 8).
    fn renege(&mut self, counters: &mut Counters) {
        counters.received.reneges += 1;
        self.queue.discard();
        self.reports.forget();
        self.delay.now();
    }

    /// The peer's FIN has been received in order. `replies`: this side may still send, so its acknowledgement may wait for
    /// data.
    pub(crate) fn take_fin(&mut self, now: Nanos, replies: bool) -> bool {
        let Some(fin) = self.fin else {
            return false;
        };
        if self.rcv_nxt != fin || self.fin_taken {
            return false;
        }
        self.fin_taken = true;
        self.rcv_nxt = fin + 1;
        self.reports.advance(self.rcv_nxt);
        self.catch_up();
        let waiting = self.rcv_nxt - self.last_ack_sent;
        let room = self.window.has_room(&self.held());
        if replies && room && self.delay.fin_waits(now, waiting, self.mss) {
            self.reports.forget_duplicate();
        } else {
            self.delay.now();
        }
        true
    }

    /// The connection has ended: nothing more is acknowledged.
    pub(crate) fn stop(&mut self) {
        self.delay.stop();
    }

    /// Requests an acknowledgement as soon as possible.
    pub(crate) fn ack_now(&mut self) {
        self.delay.now();
    }

    pub(crate) fn ack_due(&self) -> bool {
        self.delay.due
    }

    pub(crate) fn next_timer(&self) -> Option<Nanos> {
        self.delay.next_timer()
    }

    pub(crate) fn on_timer(&mut self, now: Nanos, counters: &mut Counters) {
        self.catch_up();
        self.delay.on_timer(now, counters);
    }

    /// Number of blocks that the next SACK option could have.
    pub(crate) fn sack_blocks(&self) -> usize {
        self.reports.count()
    }

    /// Start of the duplicate that the next SACK option reports.
    pub(crate) fn duplicate(&self) -> Option<Seq> {
        self.reports.duplicate()
    }

    /// The SACK option of the acknowledgement being sent, with at most `room` blocks.
    pub(crate) fn sack_option(&mut self, room: usize) -> SackBlocks {
        self.reports
            .option(room, &self.queue.ranges, &mut self.random)
    }

    /// An acknowledgement is sent.
    pub(crate) fn acknowledged(&mut self, counters: &mut Counters) {
        self.last_ack_sent = self.rcv_nxt;
        self.delay.sent(counters);
        self.reports.report_late();
    }
}
