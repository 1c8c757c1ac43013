//! Counts over all frames of a capture.

use std::collections::{BTreeMap, HashSet};

use inorder_wire::{Dir, FlowKey, Frame, Gate, Other};

/// Maximum number of pairs of hosts that are distinguished.
const MAX_PAIRS: usize = 1 << 16;

/// Counts made while frames are parsed; the counts of several blocks can be added.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// All frames that were selected.
    pub all: Frames,
    /// Frames that the selection left out.
    pub left_out: u64,
    /// Frames of numbered services.
    pub numbered: u64,
    /// Frames that could not be analysed.
    skipped: BTreeMap<Other, u64>,
    /// The pairs of hosts that sent UDP of no numbered service, without their ports.
    pairs: HashSet<FlowKey>,
}

/// Counts over a block of frames; small enough to stay in registers while the block is parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frames {
    /// How many.
    pub count: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Earliest capture time, nanoseconds since the epoch.
    first_ns: i64,
    /// Latest capture time.
    last_ns: i64,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            count: 0,
            bytes: 0,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
        }
    }
}

impl Frames {
    /// Counts a frame.
    #[inline(always)]
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.count += 1;
        self.bytes += u64::from(frame.orig_len);
        self.first_ns = self.first_ns.min(frame.ts_ns);
        self.last_ns = self.last_ns.max(frame.ts_ns);
    }

    /// Adds the counts of other frames.
    pub fn add(&mut self, other: &Frames) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    /// Earliest and latest capture time, nanoseconds since the epoch; zeros if there are no frames.
    pub fn span_ns(&self) -> (i64, i64) {
        match self.count {
            0 => (0, 0),
            _ => (self.first_ns, self.last_ns),
        }
    }
}

impl Tally {
    /// Counts a frame that could not be analysed.
    #[inline]
    pub fn skip(&mut self, reason: Other) {
        self.skip_more(reason, 1);
    }

    /// Counts several frames that could not be analysed.
    #[inline]
    pub(crate) fn skip_more(&mut self, reason: Other, frames: u64) {
        let reason = match reason {
            Other::Udp(key) => {
                self.pair(key);
                Other::Udp(FlowKey::default())
            }
            reason => reason,
        };
        *self.skipped.entry(reason).or_default() += frames;
    }

    /// Adds the frames that a gate held or dropped: they belong to no service.
    pub fn unproved(&mut self, gate: &Gate) {
        for (reason, frames) in gate.unproved() {
            if *frames > 0 {
                self.numbered = self.numbered.saturating_sub(*frames);
                *self.skipped.entry(*reason).or_default() += frames;
            }
        }
        for key in gate.waiting().filter(|key| key.dst.port != 0) {
            self.pair(FlowKey::new(key.src, key.dst, key.overlay).0);
        }
    }

    /// Takes note of two hosts that sent UDP.
    fn pair(&mut self, key: FlowKey) {
        let (one, other) = key.ends(Dir::LowToHigh);
        let (hosts, _) = FlowKey::new(one.with_port(0), other.with_port(0), key.overlay);
        if self.pairs.len() < MAX_PAIRS {
            self.pairs.insert(hosts);
        }
    }

    /// Pairs of hosts that sent UDP of no numbered service, at most 65,536.
    pub fn udp_pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Frames of TCP.
    pub fn tcp(&self) -> u64 {
        let others = self.skipped.values().sum::<u64>() + self.numbered;
        self.all.count.saturating_sub(others)
    }

    /// Adds the counts of another part of the capture.
    pub fn add(&mut self, other: &Tally) {
        self.all.add(&other.all);
        self.left_out += other.left_out;
        self.numbered += other.numbered;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(*reason).or_default() += count;
        }
        let room = MAX_PAIRS.saturating_sub(self.pairs.len());
        self.pairs.extend(other.pairs.iter().take(room));
    }

    /// Reasons with their counts, the most frequent first.
    pub fn skipped(&self) -> Vec<(String, u64)> {
        let all = self.skipped.iter();
        let mut skipped: Vec<(String, u64)> = all
            .map(|(reason, count)| (reason.to_string(), *count))
            .collect();
        skipped.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        skipped
    }
}
