//! Arrival order of numbered services other than TCP: RTP, ESP, WireGuard, ICMP echo, GRE.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use inorder_metrics::{Arrival, Config, MAX_SEQ, Metrics, Summary, Unwrapper};
use inorder_wire::{Numbered, RtpGate, StreamKey};

use crate::config::Config as Choice;
use crate::result::StreamReport;
use crate::what_if::NumberedReceivers;

/// Streams followed and reported at most, so that an address scan does not take all memory.
const MAX_STREAMS: usize = 100_000;
/// Packets between two looks for streams that are over.
const PACKETS_BETWEEN_SWEEPS: u32 = 1 << 16;
/// A stream with no packet for this long is over, nanoseconds.
const MAX_SILENCE_NS: i64 = 600_000_000_000;
/// Holes remembered in each stream: more than the anti-replay windows of ESP or WireGuard span.
const MAX_HOLES: usize = 1024;
/// Streams out of order over which sorters are laid: each takes about 100 kB.
const MAX_LAID: usize = 1000;

/// Follows every stream; feed packets in capture order.
///
/// UDP that may be RTP is followed once [`RtpGate`] has seen proof that it is. A single packet
/// has no order and makes no report.
///
/// ```
/// use inorder_detect::Streams;
/// use inorder_wire::{Endpoint, Numbered, Service, StreamKey};
///
/// let key = StreamKey {
///     service: Service::Esp,
///     src: Endpoint::v4(1, 0),
///     dst: Endpoint::v4(2, 0),
///     id: 0x1234,
///     overlay: 0,
/// };
/// let mut streams = Streams::new();
/// for (ts_ns, seq) in [(0, 1), (10, 2), (20, 4), (30, 5), (40, 3)] {
///     streams.push(&key, &Numbered { ts_ns, frame: 0, seq, payload_len: 100 });
/// }
/// let reports = streams.finish();
/// let order = &reports[0].order;
/// assert_eq!((order.received, order.reordered), (5, 1));
/// assert_eq!((order.extents.max(), order.late_ns.max()), (Some(2), Some(20)));
/// ```
#[derive(Debug)]
pub struct Streams {
    gate: RtpGate,
    streams: HashMap<StreamKey, Stream, FixedState>,
    done: Vec<(u64, StreamReport)>,
    until_sweep: u32,
    left_out: u64,
    max_streams: usize,
    choice: Choice,
    laid: usize,
}

/// One stream that is followed.
#[derive(Debug)]
struct Stream {
    first_frame: u64,
    first_ns: i64,
    last_ns: i64,
    unwrapper: Option<Unwrapper>,
    order: Order,
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
}

/// Packets whose numbers follow one another.
#[derive(Clone, Copy, Debug)]
struct Count {
    first: u64,
    first_bytes: u32,
    packets: u64,
    bytes: u64,
}

impl Default for Streams {
    fn default() -> Self {
        Streams::new()
    }
}

impl Streams {
    /// No streams yet; sorters are laid over them as by default.
    pub fn new() -> Self {
        Streams::with_config(&Choice::default())
    }

    /// No streams yet. Of the choices, those of the what-if matter.
    pub fn with_config(choice: &Choice) -> Self {
        Streams::with_limit(MAX_STREAMS, choice)
    }

    fn with_limit(max_streams: usize, choice: &Choice) -> Self {
        Streams {
            gate: RtpGate::new(),
            streams: HashMap::default(),
            done: Vec::new(),
            until_sweep: PACKETS_BETWEEN_SWEEPS,
            left_out: 0,
            max_streams,
            choice: choice.clone(),
            laid: 0,
        }
    }

    /// The next packet, in capture order.
    pub fn push(&mut self, key: &StreamKey, packet: &Numbered) {
        let Streams {
            gate,
            streams,
            done,
            left_out,
            max_streams,
            choice,
            laid,
            ..
        } = self;
        gate.push(*key, *packet, |key, packet| {
            if let Some(stream) = streams.get_mut(&key) {
                let lays = choice.what_if && *laid < MAX_LAID;
                *laid += usize::from(stream.push(&packet, lays.then_some(choice)));
            } else if streams.len() + done.len() < *max_streams {
                streams.insert(key, Stream::new(&key, &packet));
            } else {
                *left_out += 1;
            }
        });
        self.until_sweep -= 1;
        if self.until_sweep == 0 {
            self.sweep(packet.ts_ns);
        }
    }

    /// Packets not followed because there were too many streams before (100,000).
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Closes what is over, so that memory follows the streams that live.
    fn sweep(&mut self, now: i64) {
        self.until_sweep = PACKETS_BETWEEN_SWEEPS;
        let over = |stream: &Stream| now.saturating_sub(stream.last_ns) > MAX_SILENCE_NS;
        for (key, stream) in self.streams.extract_if(|_, stream| over(stream)) {
            self.done.extend(stream.finish(&key));
        }
    }

    /// The reports, in the order of the streams' first packets.
    pub fn finish(mut self) -> Vec<StreamReport> {
        for (key, stream) in self.streams.drain() {
            self.done.extend(stream.finish(&key));
        }
        // Frame numbers differ; where a caller has none, addresses keep the order the same.
        self.done.sort_by_key(|(frame, r)| {
            (*frame, r.first_ns, r.service, r.src, r.dst, r.id, r.overlay)
        });
        self.done.into_iter().map(|(_, report)| report).collect()
    }
}

impl Stream {
    fn new(key: &StreamKey, packet: &Numbered) -> Self {
        let mut unwrapper = Unwrapper::new(key.service.bits());
        let count = Count {
            first: extend(&mut unwrapper, packet.seq),
            first_bytes: packet.payload_len,
            packets: 1,
            bytes: u64::from(packet.payload_len),
        };
        Stream {
            first_frame: packet.frame,
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
                }))
            },
        }
    }

    /// The next packet. Should it break the order, sorters are laid over the stream as `choice` says: then it is true.
    #[inline]
    fn push(&mut self, packet: &Numbered, choice: Option<&Choice>) -> bool {
        let before_ns = self.last_ns;
        self.last_ns = self.last_ns.max(packet.ts_ns);
        let seq = extend(&mut self.unwrapper, packet.seq);
        match &mut self.order {
            Order::Consecutive(count) if seq == count.first + count.packets && seq <= MAX_SEQ => {
                count.packets += 1;
                count.bytes += u64::from(packet.payload_len);
            }
            Order::Consecutive(count) => {
                let what_if = choice.map(|choice| {
                    NumberedReceivers::new(choice, count.first, count.packets, before_ns)
                });
                let mut any = Box::new(Disordered {
                    metrics: count.metrics(self.first_ns),
                    what_if,
                });
                any.push(seq, packet);
                let is_laid = any.what_if.is_some();
                self.order = Order::Any(any);
                return is_laid;
            }
            Order::Any(any) => any.push(seq, packet),
        }
        false
    }

    /// `None` for a single packet.
    fn finish(self, key: &StreamKey) -> Option<(u64, StreamReport)> {
        let (metrics, what_if) = match self.order {
            Order::Consecutive(Count { packets: 1, .. }) => return None,
            Order::Consecutive(count) => (count.metrics(self.first_ns), None),
            Order::Any(any) => (any.metrics, any.what_if),
        };
        let summary = metrics.finish();
        let times = (self.first_ns, self.last_ns);
        let mut report = report(key, times, summary);
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
        src: key.src.socket_addr(),
        dst: key.dst.socket_addr(),
        id: key.id,
        overlay: key.overlay,
        first_ns,
        last_ns,
        order: summary.order,
        duplicates: summary.counts.duplicates,
        missing: summary.counts.missing,
        what_if: Vec::new(),
    }
}

impl Disordered {
    fn push(&mut self, seq: u64, packet: &Numbered) {
        let arrival = self.metrics.update(seq, packet.ts_ns, packet.payload_len);
        if let Some(what_if) = &mut self.what_if {
            what_if.push(seq, packet.ts_ns, arrival == Arrival::Duplicate);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_wire::{Endpoint, Service};
    use proptest::prelude::*;

    fn key(service: Service, id: u32) -> StreamKey {
        StreamKey {
            service,
            src: Endpoint::v4(0x0a00_0001, 0),
            dst: Endpoint::v4(0x0a00_0002, 0),
            id,
            overlay: 0,
        }
    }

    fn packet(ms: i64, seq: u64) -> Numbered {
        Numbered {
            ts_ns: ms * 1_000_000,
            frame: ms as u64 + 1,
            seq,
            payload_len: 64,
        }
    }

    /// Reports on one stream with these numbers, a millisecond apart.
    fn reports(service: Service, seqs: &[u64]) -> Vec<StreamReport> {
        let mut streams = Streams::new();
        for (ms, &seq) in seqs.iter().enumerate() {
            streams.push(&key(service, 7), &packet(ms as i64, seq));
        }
        streams.finish()
    }

    #[test]
    fn numbers_that_wrap_are_in_order() {
        let found = reports(Service::IcmpEcho, &[65_534, 65_535, 0, 1]);
        assert_eq!(
            (
                found[0].order.received,
                found[0].order.reordered,
                found[0].missing
            ),
            (4, 0, 0)
        );
        let found = reports(Service::Esp, &[u64::from(u32::MAX), 1, 0, 2]);
        assert_eq!((found[0].order.received, found[0].order.reordered), (4, 1));
    }

    #[test]
    fn a_late_packet_a_copy_and_a_loss() {
        let found = reports(Service::WireGuard, &[1, 2, 4, 5, 6, 3, 7, 7, 9]);
        let [r] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (r.order.received, r.order.reordered, r.order.extents.max()),
            (8, 1, Some(3))
        );
        assert_eq!(r.order.late_ns.max(), Some(3_000_000));
        assert_eq!((r.duplicates, r.missing), (1, 1));
        assert_eq!((r.first_ns, r.last_ns), (0, 8_000_000));
    }

    #[test]
    fn rtp_is_followed_once_it_is_proved_and_from_the_start() {
        assert!(reports(Service::Rtp, &[1, 2, 900, 40_000, 7]).is_empty());
        let found = reports(Service::Rtp, &[1, 2, 4, 3, 5]);
        assert_eq!((found[0].order.received, found[0].order.reordered), (5, 1));
    }

    #[test]
    fn numbers_beyond_all_bounds_do_no_harm() {
        let last = u64::MAX;
        let found = reports(
            Service::WireGuard,
            &[last - 1, last, 0, 1 << 63, (1 << 63) - 1],
        );
        assert_eq!(found.len(), 1);
        let found = reports(Service::WireGuard, &[(1 << 63) - 1, 1 << 63, 3]);
        assert_eq!((found[0].order.received, found[0].order.reordered), (2, 1));
    }

    #[test]
    fn too_many_streams_are_counted_and_not_followed() {
        let mut streams = Streams::with_limit(10, &Choice::default());
        for id in 0..30 {
            streams.push(
                &key(Service::Gre, id % 15),
                &packet(i64::from(id), u64::from(id)),
            );
        }
        assert_eq!(streams.left_out(), 10);
        assert_eq!(streams.finish().len(), 10);
    }

    #[test]
    fn idle_streams_are_closed() {
        let mut streams = Streams::new();
        for (ms, seq) in [(0, 1), (1, 3), (2, 2)] {
            streams.push(&key(Service::Esp, 1), &packet(ms, seq));
        }
        streams.push(&key(Service::Esp, 2), &packet(3, 1));
        for i in 0..i64::from(PACKETS_BETWEEN_SWEEPS) {
            streams.push(&key(Service::Esp, 3), &packet(1_000_000 + i, i as u64));
        }
        assert_eq!((streams.streams.len(), streams.done.len()), (1, 1));
        let found = streams.finish();
        let reordered: Vec<_> = found.iter().map(|r| (r.id, r.order.reordered)).collect();
        assert_eq!(reordered, [(1, 1), (3, 0)]);
    }

    /// No sorter leaves the late packet late, and the resequencer waits for it; what came before cost nothing.
    #[test]
    fn sorters_are_laid_over_a_stream_out_of_order() {
        let seqs = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 9, 12];
        let found = reports(Service::WireGuard, &seqs);
        let rows = &found[0].what_if;
        let [.., none, resequencer] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!((none.name().as_str(), none.reordered), ("none", 1));
        assert!(
            resequencer.name().starts_with("resequence:"),
            "{resequencer:?}"
        );
        // Among the first ten packets a gap is waited for long enough: 10 and 11 wait 2 ms and 1 ms for 9.
        assert_eq!(
            (resequencer.reordered, resequencer.max_added_delay_ns),
            (0, 2_000_000)
        );
        assert_eq!(resequencer.p50_added_delay_ns, Some(0));
        assert!(
            rows.iter().all(|row| row.p99_added_delay_ns.is_some()),
            "{rows:?}"
        );
        assert!(reports(Service::Gre, &[1, 2, 4, 5])[0].what_if.is_empty());
    }

    proptest! {
        /// Counting the consecutive start changes nothing.
        #[test]
        fn agrees_with_the_metrics_alone(
            start in any::<u16>(),
            delays in prop::collection::vec(prop_oneof![5 => Just(0u64), 1 => 0u64..20], 2..200),
            calm in 0usize..200,
        ) {
            let mut sent: Vec<(u64, u64)> = delays
                .iter()
                .enumerate()
                .map(|(i, delay)| (i as u64 + if i < calm { 0 } else { *delay }, i as u64))
                .collect();
            sent.sort_unstable();
            let seqs: Vec<u64> = sent
                .iter()
                .map(|&(_, i)| u64::from(start.wrapping_add(i as u16)))
                .collect();
            let found = reports(Service::IcmpEcho, &seqs);
            let mut metrics = Metrics::default();
            for (ms, &(_, i)) in sent.iter().enumerate() {
                metrics.update((1 << 20) + i, ms as i64 * 1_000_000, 64);
            }
            let expected = metrics.finish();
            let r = &found[0];
            let (found, expected) = (&r.order, &expected.order);
            prop_assert_eq!((found.received, found.reordered), (expected.received, expected.reordered));
            prop_assert_eq!(&found.extents, &expected.extents);
            prop_assert_eq!(&found.late_ns, &expected.late_ns);
            prop_assert_eq!(&found.runs, &expected.runs);
            prop_assert_eq!(found.n_reordering.largest(), expected.n_reordering.largest());
            prop_assert_eq!(&found.displacements, &expected.displacements);
        }
    }
}
