//! One direction in which packets are sorted: batches, deadlines, and sorted runs merged into super-packets.

use std::collections::{HashMap, VecDeque};

use inorder_base::stats::Distribution;
use inorder_path::Packet;
use inorder_report::{Value, columns};
use inorder_sort::{AnySorter, ConfigError, Sorter, SorterConfig, Surroundings};
use inorder_wire::{Dir, FlowKey};

use crate::frame::merge::Merger;
use crate::frame::split::{is_in_tunnel, split};
use crate::frame::{Frame, Key};
use crate::lane::Lane;

/// How one direction is sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortingConfig {
    /// The sorter.
    pub sorter: SorterConfig,
    /// From the first frame at an idle interface to the end of its batch, nanoseconds, as interrupt coalescing does;
    /// 0: a batch ends when no frame is waiting.
    pub coalesce_ns: i64,
    /// Frames of a batch that end it at once.
    pub batch_frames: usize,
    /// Number of flows that the sorter follows.
    pub flows: usize,
    /// Merge sorted runs into super-packets.
    pub merge: bool,
    /// Key of the flow table's hash, unknown to senders.
    pub hash_seed: u64,
}

/// Flows of which the last number is remembered for the counts of late packets.
const MAX_FLOWS_COUNTED: usize = 1 << 16;

/// What one direction did.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    /// `forward` or `reverse`.
    pub name: &'static str,
    /// The sorter with its settings.
    pub sorter: String,
    /// Frames received.
    pub received: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that might be held and sorted.
    pub suitable: u64,
    /// Data packets that arrived behind a later one of their flow, before sorting.
    pub late_before: u64,
    /// Data packets that arrived behind a later one of their flow, after sorting.
    pub late_after: u64,
    /// Frames sent; a super-packet is one.
    pub sent: u64,
    /// Frames held now.
    pub held: u64,
    /// Most frames held at a time.
    pub most_held: u64,
    /// Super-packets of tunnels that cannot be cut.
    pub refused: u64,
    /// Frames that the kernel dropped before we received them.
    pub missed: u64,
    /// Frames that the kernel refused to send.
    pub unsent: u64,
    /// Time from the arrival of a frame to its departure, nanoseconds.
    pub latency_ns: Distribution,
}

/// A sorter with its batches.
pub struct Sorting {
    config: SortingConfig,
    sorter: AnySorter<Key, Frame>,
    merger: Option<Merger>,
    /// When the current batch ends, and how many frames it has.
    batch: Option<(i64, usize)>,
    /// Frames that left the sorter, in their order.
    released: Vec<Frame>,
    ready: VecDeque<Frame>,
    order: [Order; 2],
    seen: Sorted,
}

impl Sorting {
    /// Nothing received yet; an error if the sorter's settings are invalid.
    pub fn new(name: &'static str, config: &SortingConfig) -> Result<Self, ConfigError> {
        let around = Surroundings {
            ring_packets: config.batch_frames,
            flows: config.flows,
            hash_seed: config.hash_seed,
        };
        Ok(Sorting {
            sorter: config.sorter.build(&around)?,
            merger: config.merge.then(Merger::new),
            batch: None,
            released: Vec::new(),
            ready: VecDeque::new(),
            order: Default::default(),
            seen: Sorted {
                name,
                sorter: config.sorter.to_string(),
                ..Sorted::default()
            },
            config: *config,
        })
    }

    /// What was done so far.
    pub fn seen(&self) -> Sorted {
        Sorted {
            suitable: self.sorter.counters().suitable,
            held: self.sorter.held() as u64,
            late_before: self.order[0].late,
            late_after: self.order[1].late,
            ..self.seen.clone()
        }
    }

    fn enter(&mut self, frame: Frame, now_ns: i64) {
        self.order[0].update(&frame);
        let coalesce_ns = self.config.coalesce_ns;
        let (_, frames) = self
            .batch
            .get_or_insert((frame.arrived_ns.saturating_add(coalesce_ns), 0));
        *frames += 1;
        let is_full = *frames >= self.config.batch_frames;
        let meta = frame.meta();
        let released = &mut self.released;
        self.sorter
            .push(&meta, frame, now_ns, &mut |frame| released.push(frame));
        self.seen.most_held = self.seen.most_held.max(self.sorter.held() as u64);
        if is_full {
            self.end_batch(now_ns);
        }
    }

    fn end_batch(&mut self, now_ns: i64) {
        let released = &mut self.released;
        self.sorter
            .end_of_batch(now_ns, &mut |frame| released.push(frame));
        self.batch = None;
    }

    /// Merges what was released and makes it ready to be sent.
    fn pass_on(&mut self, now_ns: i64) {
        let Sorting {
            released,
            ready,
            merger,
            order,
            seen,
            ..
        } = self;
        let mut send = |frame| {
            seen.sent += 1;
            ready.push_back(frame);
        };
        for frame in released.drain(..) {
            order[1].update(&frame);
            let waited_ns = now_ns.saturating_sub(frame.arrived_ns).max(0);
            seen.latency_ns.update(waited_ns.cast_unsigned());
            match merger {
                Some(merger) => merger.push(frame, &mut send),
                None => send(frame),
            }
        }
        if let Some(merger) = merger {
            merger.flush(&mut send);
        }
    }
}

impl Lane for Sorting {
    fn arrive(&mut self, frame: Frame, now_ns: i64) {
        self.seen.received += 1;
        self.seen.bytes += frame.bytes.len() as u64;
        if !is_in_tunnel(&frame) {
            return self.enter(frame, now_ns);
        }
        let whole = split(frame, &mut |packet| self.enter(packet, now_ns));
        self.seen.refused += u64::from(!whole);
    }

    fn drained(&mut self, now_ns: i64) {
        if self.batch.is_some_and(|(end_ns, _)| end_ns <= now_ns) {
            self.end_batch(now_ns);
        }
        if self
            .sorter
            .next_deadline_ns()
            .is_some_and(|due_ns| due_ns <= now_ns)
        {
            let released = &mut self.released;
            self.sorter
                .on_deadline(now_ns, &mut |frame| released.push(frame));
        }
        self.pass_on(now_ns);
    }

    fn take(&mut self, _: i64) -> Option<Frame> {
        self.ready.pop_front()
    }

    fn next_ns(&self) -> Option<i64> {
        let batch_ns = self.batch.map(|(end_ns, _)| end_ns);
        batch_ns
            .into_iter()
            .chain(self.sorter.next_deadline_ns())
            .min()
    }

    fn end(&mut self, now_ns: i64) {
        let released = &mut self.released;
        self.sorter.flush(now_ns, &mut |frame| released.push(frame));
        self.pass_on(now_ns);
    }

    fn count(&mut self, missed: u64, unsent: u64) {
        self.seen.missed += missed;
        self.seen.unsent += unsent;
    }
}

/// Counts data packets that come behind a later one of their flow.
#[derive(Default)]
struct Order {
    /// The end of the data of each flow.
    ends: HashMap<(FlowKey, Dir), u32>,
    late: u64,
}

impl Order {
    fn update(&mut self, frame: &Frame) {
        let meta = frame.meta();
        let (Some(flow), true) = (meta.flow.0, meta.is_suitable()) else {
            return;
        };
        if self.ends.len() >= MAX_FLOWS_COUNTED && !self.ends.contains_key(&flow) {
            self.ends.clear();
        }
        let end = meta.seq.wrapping_add(meta.len);
        let known = self.ends.entry(flow).or_insert(end);
        if end.wrapping_sub(*known).cast_signed() < 0 {
            self.late += 1;
        } else {
            *known = end;
        }
    }
}

columns! {
    /// The columns of a direction.
    pub SORTED: Sorted, |s|
    "direction": Choice(&["forward", "reverse"]), "Forward: from the first interface to the second."
        => s.name, shown("direction", 0);
    "sorter": Text, "The sorter with its settings." => &s.sorter, shown("sorter", 5);
    "received": Count, "Frames received; a super-packet is one." => s.received, shown("frames", 0);
    "size": Bytes, "Bytes of these frames." => s.bytes, unit("bytes");
    "suitable": Count, "Frames that might be held and sorted." => s.suitable, shown("suitable", 4);
    "late_before": Count, "Data packets that came behind a later one of their flow, retransmissions included, before sorting."
        => s.late_before, in_group("late", "before", 0);
    "late_after": Count, "Data packets that arrived behind a later one of their flow, after sorting." => s.late_after, in_group("late", "after", 0);
    "sent": Count, "Frames sent; a sorted run that was merged is one." => s.sent, shown("sent", 3);
    "held": Count, "Frames held now." => s.held, in_group("held", "now", 6);
    "most_held": Count, "Most frames held at a time." => s.most_held, in_group("held", "most", 4);
    "refused": Count, "Super-packets dropped because they are in a tunnel that is not known, so that they cannot be cut into packets."
        => s.refused, shown("refused", 6);
    "missed": Count, "Frames that the kernel dropped because they were not taken fast enough."
        => s.missed, shown("missed", 0);
    "unsent": Count, "Frames that the kernel did not send." => s.unsent, shown("unsent", 3);
    "median_latency_ms": Duration, "Median of the time from arrival to departure."
        => s.latency(0.5), optional(), in_group("latency", "median", 2);
    "p99_latency_ms": Duration, "99th percentile of that; at most 1/32 too high."
        => s.latency(0.99), optional(), in_group("latency", "p99", 1);
    "max_latency_ms": Duration, "Greatest of these." => s.latency(1.0), optional(), in_group("latency", "max", 3);
}

columns! {
    /// The columns of all directions together, which JSON has.
    pub LIVE: Vec<Sorted>, |all|
    "directions": Rows(SORTED), "Each direction." => all;
}

impl Sorted {
    fn latency(&self, quantile: f64) -> Value<'static> {
        self.latency_ns.quantile(quantile).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::testing::tcp;

    fn sorting(sorter: &str, coalesce_ns: i64, merge: bool) -> Sorting {
        let config = SortingConfig {
            sorter: sorter.parse().unwrap(),
            coalesce_ns,
            batch_frames: 64,
            flows: 16,
            merge,
            hash_seed: 1,
        };
        Sorting::new("forward", &config).unwrap()
    }

    fn arrive(sorting: &mut Sorting, at_ns: i64, numbers: &[u32]) {
        for number in numbers {
            let mut frame = tcp(false, 1 + 100 * number, 0x10, &[0; 100]);
            frame.arrived_ns = at_ns;
            sorting.arrive(frame, at_ns);
        }
    }

    fn sent(sorting: &mut Sorting, now_ns: i64) -> Vec<(u32, u32)> {
        sorting.drained(now_ns);
        let frames = std::iter::from_fn(|| sorting.take(now_ns));
        frames
            .map(|frame| {
                (
                    (frame.meta().seq - 1) / 100,
                    (frame.bytes.len() as u32 - 66) / 100,
                )
            })
            .collect()
    }

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(SORTED), Vec::<String>::new());
    }

    #[test]
    fn a_batch_is_sorted_when_its_time_has_come() {
        let mut sorting = sorting("srpic", 1_000, false);
        arrive(&mut sorting, 5, &[0, 2, 1]);
        assert_eq!(sent(&mut sorting, 6), []);
        assert_eq!(sorting.next_ns(), Some(1_005));
        assert_eq!(sent(&mut sorting, 1_005), [(0, 1), (1, 1), (2, 1)]);
        let seen = sorting.seen();
        assert_eq!((seen.late_before, seen.late_after, seen.held), (1, 0, 0));
        assert_eq!(seen.latency_ns.max(), Some(1_000));
    }

    #[test]
    fn a_sorted_run_becomes_one_frame() {
        let mut sorting = sorting("srpic", 0, true);
        arrive(&mut sorting, 5, &[1, 0, 3, 2]);
        assert_eq!(sent(&mut sorting, 5), [(0, 4)]);
    }

    #[test]
    fn deadlines_release_what_waits_for_a_lost_packet() {
        let mut sorting = sorting("resequence", 0, false);
        arrive(&mut sorting, 0, &[0, 1, 2]);
        let mut got = sent(&mut sorting, 0);
        arrive(&mut sorting, 10, &[4, 5, 3, 7, 8]);
        got.extend(sent(&mut sorting, 10));
        while let Some(at_ns) = sorting.next_ns() {
            got.extend(sent(&mut sorting, at_ns));
        }
        let numbers: Vec<u32> = got.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 7, 8]);
    }
}
