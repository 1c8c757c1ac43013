//! Arrival order of numbered services other than TCP: RTP, ESP, WireGuard, RoCEv2, SCTP, ...

#![forbid(unsafe_code)]

mod bytes;
mod captured;
pub mod columns;
mod counting;
mod inside;
mod multipath;
mod pauses;
mod pings;
mod quic;
mod replay;
mod reports;
mod restart;
mod result;
mod stream;
#[cfg(test)]
mod tests;

pub use quic::{QuicCounts, QuicFlows};
pub use result::*;

use std::collections::{BTreeSet, HashMap, HashSet};

use inorder_base::heap::Heap;
use inorder_wire::{Aside, Gate, Numbered, Report, StreamKey};

use inorder_whatif::Settings;
use multipath::Connections;
use pings::Pings;
use stream::Stream;

/// Streams followed and reported at most, so that an address scan does not take all memory.
const MAX_STREAMS: usize = 100_000;
/// Packets between two looks for streams that are over.
const PACKETS_BETWEEN_SWEEPS: u32 = 1 << 16;
/// Time without a packet after which a stream is over, nanoseconds.
const MAX_SILENCE_NS: i64 = 600_000_000_000;
/// Streams out of order over which sorters are laid.
const MAX_LAID: usize = 1000;
/// What each of these takes, bytes, where some holes are open: 30,000 at first, 1.1 million with a thousand holes.
const BYTES_OF_LAID: usize = 100_000;
/// What a stream in order and its report take, bytes (`tests/memory.rs`).
const BYTES_OF_STREAM: usize = 2_300;
/// Bytes that a connection of multipath TCP in order takes with a subflow and its report (`tests/memory.rs`): 65,536 take 354 MB.
const BYTES_OF_MULTIPATH: usize = 5_400;
/// Share of the memory that streams in order may take; as much each is for what those out of order hold besides, with the sorters laid over them (4,000
/// bytes to 1.5 million), for connections of multipath TCP in order, and for what those out of order hold besides.
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
    /// Streams whose receiver reports, in the order in which those between the same ends began: reports name no identifier.
    reported: BTreeSet<Begun>,
    done: Vec<(u64, StreamReport)>,
    until_sweep: u32,
    left_out: u64,
    pings: Pings,
    max_streams: usize,
    sorters: Option<Settings>,
    laid: usize,
    max_laid: usize,
    /// Bytes that streams out of order hold, and the most that they may.
    held: usize,
    max_held: usize,
    /// Streams that were ended early because they held more.
    ended: HashSet<StreamKey>,
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

    /// Takes a quarter of `memory`, bytes, at most: fewer streams and connections of multipath TCP are followed, sorters are
    /// laid over fewer, and where those out of order hold too much, the one that came to hold more is reported as it is, and its later packets are left out.
    #[must_use]
    pub fn within(mut self, memory: Option<usize>) -> Self {
        let room = |bytes: usize| memory.map_or(usize::MAX, |all| all / PART / bytes);
        self.max_streams = self.max_streams.min(room(BYTES_OF_STREAM));
        self.max_laid = self.max_laid.min(room(BYTES_OF_LAID));
        let part = memory.map_or(usize::MAX, |all| all / PART);
        self.multipath.limit(room(BYTES_OF_MULTIPATH), part);
        self.max_held = part;
        self
    }

    fn with_limit(max_streams: usize, sorters: Option<Settings>) -> Self {
        Streams {
            gate: Gate::new(),
            multipath: Connections::default(),
            streams: HashMap::default(),
            reported: BTreeSet::new(),
            done: Vec::new(),
            until_sweep: PACKETS_BETWEEN_SWEEPS,
            left_out: 0,
            pings: Pings::default(),
            max_streams,
            sorters,
            laid: 0,
            max_laid: MAX_LAID,
            held: 0,
            max_held: usize::MAX,
            ended: HashSet::default(),
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
            held,
            max_held,
            ended,
            pings,
            ..
        } = self;
        let mut too_large = None;
        gate.push(*key, *packet, |key, packet| {
            if let Some(stream) = streams.get_mut(&key) {
                let sorters = sorters.as_ref().filter(|_| *laid < *max_laid);
                *laid += usize::from(stream.push(&key, &packet, sorters));
                *held = held.saturating_add_signed(stream.growth());
                if *held > *max_held {
                    too_large = Some(key);
                }
            } else if streams.len() + done.len().max(ended.len()) < *max_streams
                && !ended.contains(&key)
            {
                if key.service.is_reported() {
                    reported.insert(Begun::new(&key, packet.frame));
                }
                streams.insert(key, Stream::new(&key, &packet));
            } else {
                *left_out += 1;
                pings.was_answered(&key);
            }
        });
        if let Some(key) = too_large {
            self.end_early(&key);
        }
        self.until_sweep -= 1;
        if self.until_sweep == 0 {
            self.sweep(packet.ts_ns);
        }
    }

    /// Reports a stream as it is up to here.
    fn end_early(&mut self, key: &StreamKey) {
        if let Some(stream) = self.streams.remove(key) {
            self.close(key, stream);
            self.ended.insert(*key);
        }
    }

    /// A stream is over: what it held is free, but for what its report has of it.
    fn close(&mut self, key: &StreamKey, stream: Stream) {
        self.pings.ended(key, &stream);
        self.reported.remove(&Begun::new(key, stream.first_frame));
        let was_counted = stream.held() > 0;
        self.held = self.held.saturating_sub(stream.held());
        let report = stream.finish(key);
        if let Some((_, report)) = report.as_ref().filter(|_| was_counted) {
            self.held += report.order.heap_bytes();
        }
        self.done.extend(report);
    }

    /// What a frame told beside its packet, in capture order.
    pub fn aside(&mut self, aside: &Aside) {
        match aside {
            Aside::Numbered(key, packet) => self.push(key, packet),
            Aside::Report(ends, report) => self.report(ends, report),
            Aside::Subflow(key, dir, segment) => self.multipath.push(key, *dir, segment),
            // Of a connection, which is no stream.
            Aside::Complaint(..) => {}
            Aside::Expired(request) => self.pings.expired(request),
            // Of use to who reassembles.
            Aside::FirstPart(_) => {}
            // It is no stream: its numbers are encrypted.
            Aside::Quic(..) => {}
        }
    }

    /// A report on the stream between these ends that began last.
    fn report(&mut self, ends: &StreamKey, report: &Report) {
        let last = Begun {
            ends: *ends,
            first_frame: u64::MAX,
            id: u32::MAX,
        };
        let newest = self.reported.range(..=last).next_back();
        if let Some(newest) = newest.filter(|newest| newest.ends == *ends)
            && let Some(stream) = self.streams.get_mut(&newest.key())
        {
            stream.report(report);
        }
    }

    /// What still waits for proof that it belongs to a service.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Packets not followed because there were too many streams before: 100,000, or fewer by [`Streams::within`]; and those of streams that
    /// were ended early because the memory was used up.
    pub fn left_out(&self) -> u64 {
        self.left_out + self.multipath.left_out()
    }

    /// Echo requests and replies that are the only packets of their streams, which have no order therefore and no report.
    pub fn lone_echoes(&self) -> u64 {
        let lone = self.streams.iter().filter(|(key, s)| s.is_lone_echo(key));
        self.pings.lone() + lone.count() as u64
    }

    /// Closes what is over, so that memory follows the streams that live.
    fn sweep(&mut self, now: i64) {
        self.until_sweep = PACKETS_BETWEEN_SWEEPS;
        let over = |stream: &Stream| now.saturating_sub(stream.last_ns) > MAX_SILENCE_NS;
        let closed: Vec<_> = self.streams.extract_if(|_, s| over(s)).collect();
        for (key, stream) in closed {
            self.close(&key, stream);
        }
    }

    /// The reports, in the order of the streams' first packets.
    pub fn finish(mut self) -> Vec<StreamReport> {
        // A list that grows takes three times as much while it is copied.
        self.done.reserve_exact(self.streams.len());
        for (key, stream) in std::mem::take(&mut self.streams) {
            self.pings.ended(&key, &stream);
            self.done.extend(stream.finish(&key));
        }
        self.pings.finish(&mut self.done);
        self.done.extend(self.multipath.finish());
        // Frame numbers differ; where a caller has none, addresses keep the order the same.
        self.done
            .sort_by_key(|(frame, r)| (*frame, r.first_ns, r.key));
        self.done.into_iter().map(|(_, report)| report).collect()
    }
}

/// A stream among those of a service between the same ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Begun {
    /// The key that they share.
    ends: StreamKey,
    first_frame: u64,
    id: u32,
}

impl Begun {
    fn new(key: &StreamKey, first_frame: u64) -> Self {
        Begun {
            ends: StreamKey { id: 0, ..*key },
            first_frame,
            id: key.id,
        }
    }

    fn key(&self) -> StreamKey {
        StreamKey {
            id: self.id,
            ..self.ends
        }
    }
}
