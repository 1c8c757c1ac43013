//! Arrival order of numbered services other than TCP: RTP, ESP, WireGuard, RoCEv2, SCTP, ...

#![forbid(unsafe_code)]

mod bytes;
mod captured;
pub mod columns;
mod counting;
mod inside;
mod multipath;
mod pauses;
mod replay;
mod reports;
mod restart;
mod result;
mod stream;

pub use result::*;

use std::collections::HashMap;

use inorder_wire::{Aside, Gate, Numbered, Report, Service, StreamKey};

use inorder_whatif::Settings;
use multipath::Connections;
use stream::Stream;

/// Streams followed and reported at most, so that an address scan does not take all memory.
const MAX_STREAMS: usize = 100_000;
/// Packets between two looks for streams that are over.
const PACKETS_BETWEEN_SWEEPS: u32 = 1 << 16;
/// Time without a packet after which a stream is over, nanoseconds.
const MAX_SILENCE_NS: i64 = 600_000_000_000;
/// Streams out of order over which sorters are laid.
const MAX_LAID: usize = 1000;
/// What each of these takes, about, bytes.
const BYTES_OF_LAID: usize = 100_000;
/// What a stream and its report take, about, bytes.
const BYTES_OF_STREAM: usize = 1_024;
/// Share of the memory that streams may take, and as much the sorters laid over them.
const PART: usize = 16;

/// Follows every stream; feed packets in capture order.
///
/// UDP that may be RTP is followed once [`Gate`] has seen proof that it is. A single packet
/// has no order and makes no report.
///
/// ```
/// use inorder_streams::Streams;
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
///     streams.push(&key, &Numbered { ts_ns, frame: 0, seq, payload_len: 100, ..Numbered::default() });
/// }
/// let reports = streams.finish();
/// let order = &reports[0].order;
/// assert_eq!((order.received, order.reordered), (5, 1));
/// assert_eq!((order.extents.max(), order.late_ns.max()), (Some(2), Some(20)));
/// ```
#[derive(Debug)]
pub struct Streams {
    gate: Gate,
    multipath: Connections,
    streams: HashMap<StreamKey, Stream>,
    /// Reports name no identifier: the stream of each pair of ends that had a packet last.
    reported: HashMap<StreamKey, StreamKey>,
    done: Vec<(u64, StreamReport)>,
    until_sweep: u32,
    left_out: u64,
    max_streams: usize,
    sorters: Option<Settings>,
    laid: usize,
    max_laid: usize,
}

impl Default for Streams {
    fn default() -> Self {
        Streams::new()
    }
}

impl Streams {
    /// No streams yet; sorters are laid over them as by default.
    pub fn new() -> Self {
        Streams::with_sorters(Some(Settings::default()))
    }

    /// No streams yet; these sorters, or none, are laid over those that come out of order.
    pub fn with_sorters(sorters: Option<Settings>) -> Self {
        Streams::with_limit(MAX_STREAMS, sorters)
    }

    /// Takes about an eighth of `memory`, bytes, at most: fewer streams are followed, and sorters are laid over fewer.
    #[must_use]
    pub fn within(mut self, memory: Option<usize>) -> Self {
        let room = |bytes: usize| memory.map_or(usize::MAX, |all| all / PART / bytes);
        self.max_streams = self.max_streams.min(room(BYTES_OF_STREAM));
        self.max_laid = self.max_laid.min(room(BYTES_OF_LAID));
        self
    }

    fn with_limit(max_streams: usize, sorters: Option<Settings>) -> Self {
        Streams {
            gate: Gate::new(),
            multipath: Connections::default(),
            streams: HashMap::default(),
            reported: HashMap::default(),
            done: Vec::new(),
            until_sweep: PACKETS_BETWEEN_SWEEPS,
            left_out: 0,
            max_streams,
            sorters,
            laid: 0,
            max_laid: MAX_LAID,
        }
    }

    /// The next packet, in capture order.
    pub fn push(&mut self, key: &StreamKey, packet: &Numbered) {
        let Streams {
            gate,
            streams,
            reported,
            done,
            left_out,
            max_streams,
            sorters,
            laid,
            max_laid,
            ..
        } = self;
        gate.push(*key, *packet, |key, packet| {
            if let Some(stream) = streams.get_mut(&key) {
                let sorters = sorters.as_ref().filter(|_| *laid < *max_laid);
                *laid += usize::from(stream.push(&key, &packet, sorters));
            } else if streams.len() + done.len() < *max_streams {
                if let Some(newest) = reported.get_mut(&of_ends(&key)) {
                    *newest = key;
                }
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

    /// What a frame told beside its packet, in capture order.
    pub fn aside(&mut self, aside: &Aside) {
        match aside {
            Aside::Numbered(key, packet) => self.push(key, packet),
            Aside::Report(ends, report) => self.report(ends, report),
            Aside::Subflow(key, dir, segment) => self.multipath.push(key, *dir, segment),
            // Of a connection, which is no stream.
            Aside::Complaint(..) => {}
            // Of use to who reassembles.
            Aside::FirstPart(_) => {}
            // It is no stream: its numbers are encrypted.
            Aside::Quic(..) => {}
        }
    }

    /// A report on the stream between these ends that began last.
    fn report(&mut self, ends: &StreamKey, report: &Report) {
        let key = self.reported.get(ends).copied().or_else(|| {
            // The first report on these ends: from now on their streams are noted.
            let known = self.streams.iter().filter(|(key, _)| of_ends(key) == *ends);
            let (key, _) = known.max_by_key(|(_, stream)| stream.first_frame)?;
            Some(*key)
        });
        if let Some(key) = key
            && let Some(stream) = self.streams.get_mut(&key)
        {
            self.reported.insert(*ends, key);
            stream.report(report);
        }
    }

    /// What still waits for proof that it belongs to a service.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Packets not followed because there were too many streams before: 100,000, or fewer by [`Streams::within`].
    pub fn left_out(&self) -> u64 {
        self.left_out + self.multipath.left_out()
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
        share_numbers(&mut self.done);
        self.done.extend(self.multipath.finish());
        // Frame numbers differ; where a caller has none, addresses keep the order the same.
        self.done.sort_by_key(|(frame, r)| {
            (*frame, r.first_ns, r.service, r.src, r.dst, r.id, r.overlay)
        });
        self.done.into_iter().map(|(_, report)| report).collect()
    }
}

/// Windows numbers all echo requests of a host with one counter, under one identifier: what a stream lacks has gone to the hosts of the
/// others, where these have as many.
fn share_numbers(reports: &mut [(u64, StreamReport)]) {
    // Answers repeat the number of what they answer.
    let counter = |r: &StreamReport| match r.id > u32::from(u16::MAX) {
        true => (r.dst, r.id, r.overlay),
        false => (r.src, r.id, r.overlay),
    };
    let mut received: HashMap<_, u64> = HashMap::new();
    let echoes = |r: &StreamReport| r.service == Service::IcmpEcho;
    for (_, report) in reports.iter().filter(|(_, r)| echoes(r)) {
        *received.entry(counter(report)).or_default() += report.order.received;
    }
    for (_, report) in reports.iter_mut().filter(|(_, r)| echoes(r)) {
        let all = received.get(&counter(report)).copied().unwrap_or(0);
        let elsewhere = all.saturating_sub(report.order.received);
        report.missing = report.missing.saturating_sub(elsewhere);
    }
}

/// The key that all streams of a service between the same ends share.
fn of_ends(key: &StreamKey) -> StreamKey {
    StreamKey { id: 0, ..*key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_metrics::Metrics;
    use inorder_wire::{Endpoint, Sending};
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
            stamp: (seq as u32).wrapping_mul(8),
            payload_len: 64,
            ..Numbered::default()
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
    fn echoes_whose_numbers_have_their_bytes_in_the_other_order_are_in_order() {
        let order = |seqs: &[u64]| {
            let found = reports(Service::IcmpEcho, seqs);
            let r = &found[0];
            (
                r.order.received,
                r.order.reordered,
                r.missing,
                r.absent,
                r.pauses.numbers,
            )
        };
        let other = |seqs: &[u16]| {
            let swapped: Vec<u64> = seqs.iter().map(|seq| u64::from(seq.swap_bytes())).collect();
            order(&swapped)
        };
        assert_eq!(other(&[52, 53, 54, 55]), (4, 0, 0, 0, 0));
        assert_eq!(
            other(&[107, 108]),
            (2, 0, 0, 0, 0),
            "two packets, and no more"
        );
        assert_eq!(other(&[254, 255, 256, 257]), (4, 0, 0, 0, 0));
        // What is lost or late shows as that of any other stream.
        assert_eq!(other(&[1, 2, 3, 5, 6]), (5, 0, 1, 0, 0));
        assert_eq!(other(&[1, 2, 3, 5, 4, 6]), (6, 1, 0, 0, 0));
        // 256 were lost on the way: the next number is near again.
        assert_eq!(order(&[1, 2, 259, 260]).0, 4);
        assert!(order(&[1, 2, 259, 260]).2 + order(&[1, 2, 259, 260]).3 > 0);
    }

    #[test]
    fn what_an_echo_stream_lacks_may_have_gone_to_another_host() {
        let missing = |to_another: &[u64], answers: bool| {
            let mut streams = Streams::new();
            for seq in 1..=9 {
                let dst = u32::from(to_another.contains(&seq)) + 2;
                let (one, other) = (Endpoint::v4(1, 0), Endpoint::v4(dst, 0));
                let (id, src, dst) = match answers {
                    true => (7 | 1 << 16, other, one),
                    false => (7, one, other),
                };
                let key = StreamKey {
                    src,
                    dst,
                    ..key(Service::IcmpEcho, id)
                };
                if seq != 8 {
                    streams.push(&key, &packet(seq as i64, seq));
                }
            }
            streams.finish()[0].missing
        };
        assert_eq!(
            missing(&[4, 5], false),
            1,
            "8 was lost, and 4 and 5 are elsewhere"
        );
        assert_eq!(missing(&[4, 5], true), 1);
        assert_eq!(missing(&[4], false), 2, "one packet makes no stream");
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
        let mut streams = Streams::with_limit(10, Some(Settings::default()));
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

    /// Number 2 was lost and sent again; 3 was late and sent again in vain; 6 was lost at the end.
    #[test]
    fn retransmissions_that_say_so_are_not_late() {
        let mut streams = Streams::new();
        let again = [2, 3, 6];
        for (ms, seq) in [1, 4, 3, 5, 2, 3, 6].into_iter().enumerate() {
            let sending = match ms >= 4 && again.contains(&seq) {
                true => Sending::Again,
                false => Sending::Once,
            };
            let packet = Numbered {
                sending,
                ..packet(ms as i64, seq)
            };
            streams.push(&key(Service::Uet, 7), &packet);
        }
        let [r] = streams.finish().try_into().unwrap();
        assert_eq!((r.order.reordered, r.missing, r.duplicates), (1, 0, 0));
        let repeats = (r.repeats.packets, r.repeats.needed, r.repeats.spurious);
        assert_eq!(repeats, (3, 2, 1));
    }

    #[test]
    fn numbers_that_a_read_request_reserves_are_not_missing() {
        let mut streams = Streams::new();
        for (ms, seq) in [(0, 1), (1, 2), (2, 10), (3, 12), (4, 13)] {
            let sending = match seq {
                2 => Sending::Reserving,
                _ => Sending::Once,
            };
            let packet = Numbered {
                sending,
                ..packet(ms, seq)
            };
            streams.push(&key(Service::RoceV2, 7), &packet);
        }
        let [r] = streams.finish().try_into().unwrap();
        assert_eq!((r.order.received, r.missing), (5, 1));
    }

    #[test]
    fn reports_of_the_receiver_find_their_stream() {
        let mut streams = Streams::new();
        for seq in 1..=4 {
            streams.push(&key(Service::Sctp, 0xabcd), &packet(seq as i64, seq));
        }
        for (cumulative, ranges) in [(1, vec![(3, 3)]), (4, vec![])] {
            let report = Report {
                ts_ns: 0,
                cumulative,
                ranges,
                duplicates: 0,
            };
            streams.aside(&Aside::Report(key(Service::Sctp, 0), report));
        }
        let reported = streams.finish()[0].reported.unwrap();
        assert_eq!((reported.with_gaps, reported.late), (1, 1));
    }

    #[test]
    fn a_window_that_refuses_nothing_is_one_more_than_the_greatest_distance() {
        let found = reports(Service::MacSec, &[1, 2, 3, 7, 8, 4, 9, 5]);
        let replay = found[0].replay.as_ref().unwrap();
        assert_eq!(replay.needed, 5);
        let refused: Vec<_> = replay
            .windows
            .iter()
            .map(|w| (w.window, w.refused))
            .collect();
        assert!(
            refused.contains(&(1, 2)) && refused.contains(&(5, 0)),
            "{refused:?}"
        );
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
