//! One stream: its order, what windows would have refused of it, what its receiver reported.

use inorder_metrics::{Arrival, Config, MAX_SEQ, Metrics, Summary, Unwrapper};
use inorder_sequence::nearest;
use inorder_wire::{Numbered, Report, Sending, StreamKey};

use super::replay::Distances;
use super::reports::Reports;
use crate::config::Config as Choice;
use crate::result::{Repeats, StreamReport};
use crate::what_if::NumberedReceivers;

/// Holes remembered in each stream, beyond which a late packet cannot be told from a copy.
const MAX_HOLES: usize = 1024;

/// One stream that is followed.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) first_frame: u64,
    bits: u32,
    first_ns: i64,
    pub(super) last_ns: i64,
    unwrapper: Option<Unwrapper>,
    order: Order,
    /// The highest number takes some of those behind it.
    reserving: bool,
    /// Numbers skipped behind such packets: none of them is missing.
    reserved: u64,
    repeats: Repeats,
    /// `None` for services without a window.
    replay: Option<Box<Distances>>,
    reports: Option<Box<Reports>>,
}

/// As long as every number follows the one before, counting is enough: most streams are many,
/// small and in order.
#[derive(Debug)]
enum Order {
    Consecutive(Count),
    Any(Box<Disordered>),
}

/// Packets in any order.
#[derive(Debug)]
struct Disordered {
    metrics: Box<Metrics>,
    what_if: Option<NumberedReceivers>,
    highest: u64,
}

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
        let mut unwrapper = Unwrapper::new(key.service.bits());
        let count = Count {
            first: extend(&mut unwrapper, packet.seq),
            first_bytes: packet.payload_len,
            packets: 1,
            bytes: u64::from(packet.payload_len),
        };
        Stream {
            first_frame: packet.frame,
            bits: key.service.bits(),
            first_ns: packet.ts_ns,
            last_ns: packet.ts_ns,
            unwrapper,
            order: if count.first <= MAX_SEQ {
                Order::Consecutive(count)
            } else {
                // The metrics count it as ignored.
                Order::Any(Box::new(Disordered {
                    metrics: count.metrics(packet.ts_ns),
                    what_if: None,
                    highest: 0,
                }))
            },
            reserving: packet.sending == Sending::Reserving,
            reserved: 0,
            repeats: Repeats::default(),
            replay: (!key.service.replay_windows().is_empty()).then(Box::default),
            reports: key.service.is_reported().then(|| {
                let mut reports = Box::new(Reports::default());
                reports.sent(count.first);
                reports
            }),
        }
    }

    /// The next packet. Should it break the order, sorters are laid over the stream as `choice` says: then it is true.
    #[inline]
    pub(super) fn push(&mut self, packet: &Numbered, choice: Option<&Choice>) -> bool {
        let before_ns = self.last_ns;
        self.last_ns = self.last_ns.max(packet.ts_ns);
        let seq = extend(&mut self.unwrapper, packet.seq);
        if let Some(reports) = &mut self.reports {
            reports.sent(seq);
        }
        self.repeats.packets += u64::from(packet.sending == Sending::Again);
        match &mut self.order {
            Order::Consecutive(count) if seq == count.first + count.packets && seq <= MAX_SEQ => {
                count.packets += 1;
                count.bytes += u64::from(packet.payload_len);
                self.reserving = packet.sending == Sending::Reserving;
            }
            Order::Consecutive(count) => {
                let what_if = choice.map(|choice| {
                    NumberedReceivers::new(choice, count.first, count.packets, before_ns)
                });
                let any = Box::new(Disordered {
                    metrics: count.metrics(self.first_ns),
                    what_if,
                    highest: count.first + count.packets - 1,
                });
                let is_laid = any.what_if.is_some();
                self.order = Order::Any(any);
                self.out_of_order(seq, packet);
                return is_laid;
            }
            Order::Any(_) => self.out_of_order(seq, packet),
        }
        false
    }

    /// A packet of a stream that is or was out of order.
    fn out_of_order(&mut self, seq: u64, packet: &Numbered) {
        let Order::Any(any) = &mut self.order else {
            return;
        };
        if packet.sending == Sending::Again && seq <= any.highest {
            match any.metrics.retransmitted(seq) {
                true => self.repeats.needed += 1,
                false => self.repeats.spurious += 1,
            }
            return;
        }
        match any.push(seq, packet) {
            Arrival::InOrder { skipped } => {
                self.reserved += if self.reserving { skipped } else { 0 };
                self.reserving = packet.sending == Sending::Reserving;
                // Nothing before it was captured: the original of a number that is sent again was lost.
                self.repeats.needed += u64::from(packet.sending == Sending::Again);
            }
            // Whether a packet so late is a copy is unknown; a window would hardly know it either.
            Arrival::Reordered(_) | Arrival::Unclassified => {
                if let (Some(replay), Some(distance)) =
                    (&mut self.replay, any.highest.checked_sub(seq))
                {
                    replay.push(distance);
                }
            }
            Arrival::Duplicate => {}
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

    /// `None` for a single packet.
    pub(super) fn finish(self, key: &StreamKey) -> Option<(u64, StreamReport)> {
        let (metrics, what_if) = match self.order {
            Order::Consecutive(Count { packets: 1, .. }) => return None,
            Order::Consecutive(count) => (count.metrics(self.first_ns), None),
            Order::Any(any) => (any.metrics, any.what_if),
        };
        let summary = metrics.finish();
        let times = (self.first_ns, self.last_ns);
        let mut report = report(key, times, summary);
        report.missing = report.missing.saturating_sub(self.reserved);
        report.repeats = self.repeats;
        report.reported = self.reports.and_then(|reports| reports.finish());
        let packets = report.order.received + report.order.ambiguous;
        report.replay = self
            .replay
            .and_then(|replay| replay.finish(key.service, packets));
        // Numbers that were skipped and never came break the order, too, and leave nothing to sort.
        let what_if = what_if.filter(|_| report.order.reordered > 0);
        report.what_if = what_if.map(NumberedReceivers::finish).unwrap_or_default();
        Some((self.first_frame, report))
    }
}

/// What the metrics say.
fn report(key: &StreamKey, (first_ns, last_ns): (i64, i64), summary: Summary) -> StreamReport {
    StreamReport {
        service: key.service,
        src: key.src,
        dst: key.dst,
        id: key.id,
        overlay: key.overlay,
        first_ns,
        last_ns,
        order: summary.order,
        duplicates: summary.counts.duplicates,
        missing: summary.counts.missing,
        repeats: Repeats::default(),
        reported: None,
        replay: None,
        multipath: None,
        what_if: Vec::new(),
    }
}

impl Disordered {
    fn push(&mut self, seq: u64, packet: &Numbered) -> Arrival {
        let arrival = self.metrics.update(seq, packet.ts_ns, packet.payload_len);
        if let Some(what_if) = &mut self.what_if {
            what_if.push(seq, packet.ts_ns, arrival == Arrival::Duplicate);
        }
        arrival
    }
}

impl Count {
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

/// The number `seq` stands for.
#[inline]
fn extend(unwrapper: &mut Option<Unwrapper>, seq: u64) -> u64 {
    unwrapper.as_mut().map_or(seq, |u| u.extend(seq))
}
