//! One stream: its order, how many of its packets anti-replay windows would have discarded, and what its receiver reported.

use inorder_base::heap;
use inorder_base::heap::Heap;
use inorder_base::sequence::nearest;
use inorder_metrics::{Arrival, Config, MAX_SEQ, Metrics, Reordering, Summary, Unwrapper};
use inorder_whatif::NumberedReceivers;
use inorder_wire::{Numbered, Report, Sending, Service, StreamKey};

use super::bytes::{Bytes, swap};
use super::captured::Captured;
use super::counting::Counting;
use super::pauses::{Pace, Silences};
use super::replay::Distances;
use super::reports::Reports;
use super::restart;
use crate::{Inside, Numbering, Numbers, Repeats, StreamReport};
use inorder_whatif::Settings;

/// Holes remembered in each stream, beyond which a late packet is not distinguished from a duplicate.
const MAX_HOLES: usize = 1024;

/// Packets of a stream between two looks at the memory that it holds.
const PACKETS_BETWEEN_LOOKS: u64 = 16;

/// One stream that is followed.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) first_frame: u64,
    bits: u32,
    first_ns: i64,
    pub(super) last_ns: i64,
    unwrapper: Option<Unwrapper>,
    /// What is added to numbers since the sender began new ones.
    shift: u64,
    order: Order,
    captured: Captured,
    /// Timestamps of RTP: of the first packet and of the highest number.
    stamps: Option<(u32, u32)>,
    /// Its numbers may begin at 0 again.
    may_start_over: bool,
    /// The highest number takes some of those behind it.
    reserving: bool,
    /// Numbers skipped behind such packets: none of them is missing.
    reserved: u64,
    repeats: Repeats,
    /// `None` for services without a window.
    replay: Option<Box<Distances>>,
    reports: Option<Box<Reports>>,
    inside: Option<Box<Inside>>,
    /// `None` where the bytes of its numbers are in the order of the standard.
    bytes: Option<Box<Bytes>>,
    /// What it held when that was asked last, bytes.
    held: usize,
}

heap!(Stream: order, replay, reports, inside);

/// As long as every number follows the one before, counting is enough: most streams are many,
/// small and in order.
#[derive(Debug)]
enum Order {
    Consecutive(Count),
    Any(Box<Disordered>),
}

impl Heap for Order {
    fn heap_bytes(&self) -> usize {
        match self {
            Order::Consecutive(_) => 0,
            Order::Any(any) => any.heap_bytes(),
        }
    }
}

/// Packets in any order.
#[derive(Debug)]
struct Disordered {
    metrics: Box<Metrics>,
    what_if: Option<NumberedReceivers>,
    first: u64,
    highest: u64,
    counting: Counting,
    /// All packets, however numbered.
    packets: u64,
    silences: Silences,
    /// Perhaps the first packet of new numbers; the next packet decides.
    suspect: Option<Numbered>,
    renumbered: u64,
}

heap!(Disordered: metrics, what_if, silences);

/// Packets whose numbers follow one another.
#[derive(Clone, Copy, Debug)]
struct Count {
    first: u64,
    first_bytes: u32,
    packets: u64,
    bytes: u64,
}

impl Stream {
    pub(super) fn new(key: &StreamKey, packet: &Numbered) -> Self {
        let bits = key.service.bits();
        let mut unwrapper = Unwrapper::new(bits);
        let count = Count {
            first: extend(&mut unwrapper, packet.seq),
            first_bytes: packet.payload_len,
            packets: 1,
            bytes: u64::from(packet.payload_len),
        };
        let mut inside = None;
        Inside::note(&mut inside, packet);
        Stream {
            first_frame: packet.frame,
            bits,
            first_ns: packet.ts_ns,
            last_ns: packet.ts_ns,
            unwrapper,
            shift: 0,
            order: if count.first <= MAX_SEQ {
                Order::Consecutive(count)
            } else {
                // The metrics count it as ignored.
                Order::Any(count.disordered(packet.seq, bits, packet.ts_ns, None))
            },
            captured: Captured::new(packet),
            stamps: key
                .service
                .has_clock()
                .then_some((packet.stamp, packet.stamp)),
            may_start_over: restart::may_start_over(key.service),
            reserving: packet.sending == Sending::Reserving,
            reserved: 0,
            repeats: Repeats::default(),
            replay: (!key.service.replay_windows().is_empty()).then(Box::default),
            reports: key.service.is_reported().then(|| {
                let mut reports = Box::new(Reports::default());
                reports.sent(count.first);
                reports
            }),
            inside,
            bytes: Bytes::new(key.service, packet),
            held: 0,
        }
    }

    /// By how many bytes more the stream holds memory than when this was asked last; negative if it holds less. Asked after each packet, it
    /// looks only now and then, and never at a stream in order, which holds next to nothing.
    pub(super) fn growth(&mut self) -> isize {
        match &self.order {
            Order::Any(any)
                if self.held == 0 || any.packets.is_multiple_of(PACKETS_BETWEEN_LOOKS) =>
            {
                let held = self.heap_bytes();
                let before = std::mem::replace(&mut self.held, held);
                held as isize - before as isize
            }
            _ => 0,
        }
    }

    /// What was counted for it.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The next packet. Should it break the order, sorters are laid over the stream as `sorters` says: then it is true.
    #[inline]
    pub(super) fn push(
        &mut self,
        key: &StreamKey,
        packet: &Numbered,
        sorters: Option<&Settings>,
    ) -> bool {
        match self.bytes {
            None => self.push_number(packet, sorters),
            Some(_) => self.push_echo(key, packet, sorters),
        }
    }

    /// The next packet of a stream in which the order of the bytes is up to the sender.
    fn push_echo(
        &mut self,
        key: &StreamKey,
        packet: &Numbered,
        sorters: Option<&Settings>,
    ) -> bool {
        match self.bytes.as_deref_mut() {
            Some(Bytes::Swapped) => return self.push_number(&swapped(packet), sorters),
            Some(Bytes::Open(packets)) => packets.push(*packet),
            None => {}
        }
        let is_laid = self.push_number(packet, sorters);
        if let Some(Bytes::Open(packets)) = self.bytes.as_deref()
            && Bytes::is_due(packets)
        {
            self.decide_bytes(key);
        }
        is_laid
    }

    /// Decides in which order the bytes of the numbers are; in the other one, the packets so far are read again.
    fn decide_bytes(&mut self, key: &StreamKey) {
        let Some(Bytes::Open(packets)) = self.bytes.take().map(|bytes| *bytes) else {
            return;
        };
        let [first, rest @ ..] = packets.as_slice() else {
            return;
        };
        if !Bytes::are_swapped(&packets) {
            return;
        }
        *self = Stream {
            held: self.held,
            ..Stream::new(key, &swapped(first))
        };
        self.bytes = Some(Box::new(Bytes::Swapped));
        for packet in rest {
            self.push_number(&swapped(packet), None);
        }
    }

    /// The next packet, as its number is to be read.
    #[inline]
    fn push_number(&mut self, packet: &Numbered, sorters: Option<&Settings>) -> bool {
        let before_ns = self.last_ns;
        if packet.ts_ns <= before_ns && self.captured.is_replayed(packet, self.first_ns, before_ns)
        {
            return false;
        }
        self.last_ns = self.last_ns.max(packet.ts_ns);
        let mut unwrapper = self.unwrapper;
        let seq = extend(&mut unwrapper, packet.seq).wrapping_add(self.shift);
        if packet.inner.is_some() {
            Inside::note(&mut self.inside, packet);
        }
        if let Order::Consecutive(count) = &mut self.order
            && seq == count.first + count.packets
            && seq <= MAX_SEQ
        {
            count.packets += 1;
            count.bytes += u64::from(packet.payload_len);
            self.reserving = packet.sending == Sending::Reserving;
            self.unwrapper = unwrapper;
            self.came(seq, packet);
            self.repeats.packets += u64::from(packet.sending == Sending::Again);
            return false;
        }
        let is_laid = self.be_disordered(before_ns, sorters);
        self.judge(seq, packet, before_ns);
        is_laid
    }

    /// Notes a packet that continues the numbers.
    #[inline]
    fn came(&mut self, seq: u64, packet: &Numbered) {
        self.captured.remember(packet);
        if let Some((_, last)) = &mut self.stamps {
            *last = packet.stamp;
        }
        if let Some(reports) = &mut self.reports {
            reports.sent(seq);
        }
    }

    /// From now on the packets come in any order; true if sorters are laid over the stream.
    fn be_disordered(&mut self, before_ns: i64, sorters: Option<&Settings>) -> bool {
        let Order::Consecutive(count) = &self.order else {
            return false;
        };
        let what_if = sorters
            .map(|sorters| NumberedReceivers::new(sorters, count.first, count.packets, before_ns));
        let is_laid = what_if.is_some();
        let last = (count.first + count.packets - 1).wrapping_sub(self.shift);
        self.order = Order::Any(count.disordered(last, self.bits, self.first_ns, what_if));
        is_laid
    }

    /// Whether a packet of a stream that is not in order begins new numbers is decided first.
    fn judge(&mut self, seq: u64, packet: &Numbered, before_ns: i64) {
        let Order::Any(any) = &mut self.order else {
            return;
        };
        if let Some(suspect) = any.suspect.take() {
            if restart::follows(&suspect, packet, self.bits) {
                self.restart(&suspect);
            } else {
                let seq = self.number(suspect.seq);
                self.out_of_order(seq, &suspect, suspect.ts_ns);
            }
            let seq = self.number(packet.seq);
            return self.out_of_order(seq, packet, before_ns);
        }
        let pace = any.pace(self.first_ns, before_ns, self.stamps.unwrap_or_default());
        let is_suspect = match self.stamps {
            Some(_) => restart::is_suspect(seq, packet, &pace),
            None => self.may_start_over && restart::is_beginning(seq, packet, &pace),
        };
        if is_suspect {
            any.suspect = Some(*packet);
            return;
        }
        let seq = self.number(packet.seq);
        self.out_of_order(seq, packet, before_ns);
    }

    /// The number that the packet's stands for.
    fn number(&mut self, seq: u64) -> u64 {
        extend(&mut self.unwrapper, seq).wrapping_add(self.shift)
    }

    /// New numbers begin with `first`: they continue those before.
    fn restart(&mut self, first: &Numbered) {
        let Order::Any(any) = &mut self.order else {
            return;
        };
        any.renumbered += 1;
        let next = any.highest + 1;
        self.unwrapper = Unwrapper::new(self.bits);
        self.shift = next.wrapping_sub(extend(&mut self.unwrapper, first.seq));
        self.out_of_order(next, first, first.ts_ns);
    }

    /// A packet of a stream that is or was out of order.
    fn out_of_order(&mut self, seq: u64, packet: &Numbered, before_ns: i64) {
        let Order::Any(any) = &mut self.order else {
            return;
        };
        if let Some(reports) = &mut self.reports {
            reports.sent(seq);
        }
        any.packets += 1;
        any.counting.push(packet.seq);
        if packet.sending == Sending::Again {
            self.repeats.packets += 1;
            if seq <= any.highest {
                match any.metrics.retransmitted(seq) {
                    true => self.repeats.needed += 1,
                    false => self.repeats.spurious += 1,
                }
                return;
            }
        }
        match any.push(seq, packet) {
            Arrival::InOrder { skipped } => {
                self.captured.remember(packet);
                if self.reserving {
                    self.reserved += skipped;
                } else if skipped > 0 {
                    let stamps = self.stamps.unwrap_or_default();
                    let pace = any.pace(self.first_ns, before_ns, stamps);
                    let has_clock = self.stamps.is_some();
                    any.silences
                        .skipped(seq, packet, &Pace { has_clock, ..pace });
                }
                if let Some((_, last)) = &mut self.stamps {
                    *last = packet.stamp;
                }
                self.reserving = packet.sending == Sending::Reserving;
                // Nothing before it was captured: the original of a number that is sent again was lost.
                self.repeats.needed += u64::from(packet.sending == Sending::Again);
            }
            // Whether a packet so late is a copy is unknown; a window would hardly know it either.
            Arrival::Reordered(_) | Arrival::Unclassified => {
                self.captured.remember(packet);
                any.silences.came_late(seq);
                if let (Some(replay), Some(distance)) =
                    (&mut self.replay, any.highest.checked_sub(seq))
                {
                    replay.push(distance);
                }
            }
            Arrival::Duplicate => self.captured.repeated(packet),
        }
        any.highest = any.highest.max(seq.min(MAX_SEQ));
    }

    /// A report of the receiver.
    pub(super) fn report(&mut self, report: &Report) {
        let highest = match &self.order {
            Order::Consecutive(count) => count.first + count.packets - 1,
            Order::Any(any) => any.highest,
        };
        let bits = self.bits;
        if let Some(reports) = &mut self.reports {
            reports.report(report, |number| nearest(highest, number, bits));
        }
    }

    /// A ping of one packet.
    pub(super) fn is_lone_echo(&self, key: &StreamKey) -> bool {
        key.service == Service::IcmpEcho
            && matches!(self.order, Order::Consecutive(Count { packets: 1, .. }))
    }

    /// `None` for a single packet, and for one whose service would have to count and does not.
    pub(super) fn finish(mut self, key: &StreamKey) -> Option<(u64, StreamReport)> {
        if matches!(self.bytes.as_deref(), Some(Bytes::Open(_))) {
            self.decide_bytes(key);
        }
        if let Order::Any(any) = &mut self.order
            && let Some(suspect) = any.suspect.take()
        {
            let seq = self.number(suspect.seq);
            self.out_of_order(seq, &suspect, suspect.ts_ns);
        }
        let times = (self.first_ns, self.last_ns);
        let mut report = match self.order {
            Order::Consecutive(Count { packets: 1, .. }) => return None,
            Order::Consecutive(count) => report(key, times, count.metrics(self.first_ns).finish()),
            Order::Any(any) => any.report(key, times, &self.captured, self.reserved),
        };
        report.twice.captured_twice += self.captured.replayed();
        if report.numbering.numbers != Numbers::Count {
            // What is recognised by its numbers is something else if they do not count.
            let is_wrong = key.service.needs_proof() && report.numbering.numbers != Numbers::Steps;
            return (!is_wrong).then_some((self.first_frame, report));
        }
        report.twice.repeats = self.repeats;
        report.inside = self.inside;
        if let Some(reports) = &self.reports {
            report.reported = reports.finish();
            report.spare_acknowledged(reports.unseen());
        }
        let packets = report.order.received + report.order.ambiguous;
        report.replay = self
            .replay
            .and_then(|replay| replay.finish(key.service, packets));
        report.doubt_share();
        Some((self.first_frame, report))
    }
}

/// What the metrics say.
fn report(key: &StreamKey, times: (i64, i64), summary: Summary) -> StreamReport {
    let mut report = StreamReport::new(*key, times, summary.order);
    report.twice.duplicates = summary.counts.duplicates;
    report.skipped.missing = summary.counts.missing;
    report.skipped.skips = summary.counts.sequence_discontinuities;
    report
}

impl Disordered {
    fn push(&mut self, seq: u64, packet: &Numbered) -> Arrival {
        let arrival = self.metrics.update(seq, packet.ts_ns, packet.payload_len);
        if let Some(what_if) = &mut self.what_if {
            what_if.push(seq, packet.ts_ns, arrival == Arrival::Duplicate);
        }
        arrival
    }

    /// The pace of the stream up to now.
    fn pace(&self, first_ns: i64, before_ns: i64, (first, last): (u32, u32)) -> Pace {
        Pace {
            first: (self.first, first_ns, first),
            last: (self.highest, before_ns, last),
            has_clock: true,
        }
    }

    fn report(
        self,
        key: &StreamKey,
        times: (i64, i64),
        captured: &Captured,
        reserved: u64,
    ) -> StreamReport {
        let mut report = report(key, times, self.metrics.finish());
        report.twice.captured_twice =
            captured.finish(report.order.received, report.twice.duplicates);
        report.twice.duplicates -= report.twice.captured_twice;
        let mut numbering = match reserved {
            0 => self
                .counting
                .finish(self.packets - report.twice.captured_twice),
            _ => Numbering::default(),
        };
        let distinct = report.order.received;
        if numbering.numbers == Numbers::Count && captured.numbers_again(distinct) {
            (numbering.numbers, numbering.value) = (Numbers::Again, Some(distinct));
        }
        if numbering.numbers != Numbers::Count {
            report.order = Reordering {
                received: self.packets - report.twice.captured_twice,
                ..Reordering::default()
            };
            (
                report.numbering,
                report.twice.duplicates,
                report.skipped.missing,
            ) = (numbering, 0, 0);
            return report;
        }
        report.skipped.pauses = self.silences.finish();
        report.renumbered = self.renumbered;
        report.skipped.skips = report
            .skipped
            .skips
            .saturating_sub(report.skipped.pauses.pauses);
        let explained = reserved.saturating_add(report.skipped.pauses.numbers);
        report.skipped.missing = report.skipped.missing.saturating_sub(explained);
        // Numbers that were skipped and never came break the order, too, and leave nothing to sort.
        let what_if = self.what_if.filter(|_| report.order.reordered > 0);
        report.what_if = what_if.map(NumberedReceivers::finish).unwrap_or_default();
        report
    }
}

impl Count {
    /// These packets as the beginning of a stream out of order; `last` is the last of their numbers as on the wire.
    fn disordered(
        &self,
        last: u64,
        bits: u32,
        first_ns: i64,
        what_if: Option<NumberedReceivers>,
    ) -> Box<Disordered> {
        Box::new(Disordered {
            metrics: self.metrics(first_ns),
            what_if,
            first: self.first,
            highest: (self.first + self.packets - 1).min(MAX_SEQ),
            counting: Counting::new(last, self.packets - 1, bits),
            packets: self.packets,
            silences: Silences::default(),
            suspect: None,
            renumbered: 0,
        })
    }

    /// The metrics, told of these packets.
    fn metrics(&self, first_ns: i64) -> Box<Metrics> {
        let mut metrics = Box::new(Metrics::new(Config {
            max_holes: MAX_HOLES,
            ..Config::default()
        }));
        metrics.update(self.first, first_ns, self.first_bytes);
        let rest = self.bytes - u64::from(self.first_bytes);
        metrics.in_order_run(self.packets - 1, first_ns, rest);
        metrics
    }
}

/// The packet with its number's bytes in the other order.
fn swapped(packet: &Numbered) -> Numbered {
    Numbered {
        seq: swap(packet.seq),
        ..*packet
    }
}

/// The number `seq` stands for.
#[inline]
fn extend(unwrapper: &mut Option<Unwrapper>, seq: u64) -> u64 {
    unwrapper.as_mut().map_or(seq, |u| u.extend(seq))
}
