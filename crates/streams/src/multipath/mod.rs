//! Multipath TCP: the order of a connection's data over all of its subflows (RFC 8684).
//!
//! Subflows are joined by the tokens of the handshake, which are hashes of the keys. Each segment with a mapping is a
//! piece of the data; a piece below the highest one is late or was sent again. The receiver delivers data in order, so
//! a piece waits in its queue until everything below it has come: how long it waits is reported as well.

mod queue;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use inorder_base::heap;
use inorder_base::heap::Heap;
use inorder_base::sequence::Offsets;
use inorder_metrics::{Reordered, Tally};
use inorder_wire::{Dir, Endpoint, FlowKey, Multipath, Service, StreamKey, Subflow};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::{StreamReport, Subflows};
use inorder_metrics::by_bytes::{Arrived, Order};
use queue::Queue;

/// Subflows followed at most, and connections: ports that are used again have begun more than one.
const MAX_SUBFLOWS: usize = 1 << 16;

/// Pieces of data between two looks at the memory that a direction holds: one out of order may hold 3 MB.
const PIECES_BETWEEN_LOOKS: u64 = 16;

/// What a direction in order holds at most, bytes: its subflows.
const HELD_IN_ORDER: usize = 1_024;

/// Follows every connection.
#[derive(Debug)]
pub(super) struct Connections {
    /// Connections that are followed at most, and subflows.
    max: usize,
    connections: Vec<[Data; 2]>,
    /// The connection and the end of each token.
    tokens: HashMap<u32, (usize, usize)>,
    subflows: HashMap<FlowKey, Known>,
    left_out: u64,
    /// Bytes that directions hold, and the most that those out of order may make of it.
    held: usize,
    max_held: usize,
}

impl Default for Connections {
    fn default() -> Self {
        Connections {
            max: MAX_SUBFLOWS,
            connections: Vec::new(),
            tokens: HashMap::default(),
            subflows: HashMap::default(),
            left_out: 0,
            held: 0,
            max_held: usize::MAX,
        }
    }
}

/// A subflow whose connection is known.
#[derive(Clone, Copy, Debug)]
struct Known {
    connection: usize,
    /// Index of the connection's data that goes from the smaller to the larger end of the subflow.
    low_to_high: usize,
    /// Sequence number of the SYN of each direction, or the lowest that its mappings speak for.
    first: [Option<u32>; 2],
    /// Whether the SYN of each direction was seen.
    opened: [bool; 2],
    /// One past the highest sequence number of each direction.
    next: [Option<u32>; 2],
}

/// The data of one direction of a connection.
#[derive(Debug)]
struct Data {
    src: Endpoint,
    dst: Endpoint,
    overlay: u32,
    first_frame: u64,
    first_ns: i64,
    last_ns: i64,
    /// Token of the receiver; 0 until its key is seen.
    token: u32,
    offsets: Option<Offsets>,
    order: Order<()>,
    tally: Tally,
    duplicates: u64,
    across: u64,
    /// Bytes over which the numbers of its subflows jumped: no more can have been lost on them.
    jumped: u64,
    subflows: BTreeSet<FlowKey>,
    queue: Queue,
    /// All that mappings speak for: a mapping holds for later segments, too, which need not repeat it (RFC 8684 section 3.3.1).
    mapped: Queue,
    /// Pieces that came, and what it held when that was asked last, bytes.
    pieces: u64,
    held: usize,
}

heap!(Data: order, tally, subflows, queue, mapped);

/// The token of a key: the first 32 bits of its hash (RFC 8684 section 3.2; RFC 6824 for version 0).
fn token(version: u8, key: u64) -> u32 {
    let key = key.to_be_bytes();
    let [a, b, c, d] = match version {
        0 => {
            let [a, b, c, d, ..] = <[u8; 20]>::from(Sha1::digest(key));
            [a, b, c, d]
        }
        _ => {
            let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(key));
            [a, b, c, d]
        }
    };
    u32::from_be_bytes([a, b, c, d])
}

impl Connections {
    /// Follows no more than `max` connections and subflows, and those out of order only until all hold `max_held` bytes.
    pub(super) fn limit(&mut self, max: usize, max_held: usize) {
        self.max = self.max.min(max);
        self.max_held = max_held;
    }

    /// The next segment with the option, in capture order.
    pub(super) fn push(&mut self, key: &FlowKey, dir: Dir, segment: &Subflow) {
        match segment.option {
            Multipath::Capable { version, key: own } => {
                // A SYN on known ports begins another connection.
                let is_first = segment.syn && self.is_old(key, dir, segment);
                let index = self.connection_of(key, segment, is_first);
                if let (Some(index), Some(own)) = (index, own) {
                    self.learn(index, key, dir, token(version, own));
                }
            }
            Multipath::Join { token } => self.join(key, dir, token),
            Multipath::Data { .. } => {}
        }
        if segment.syn
            && let Some(known) = self.subflows.get_mut(key)
        {
            known.first[dir.index()] = Some(segment.seq);
            known.opened[dir.index()] = true;
        }
        if let Multipath::Data {
            number,
            subflow,
            len,
            ..
        } = segment.option
        {
            self.data(key, dir, segment, (number as u32, subflow, len));
        }
    }

    /// True for a first SYN whose number is not that of the SYN that is known.
    fn is_old(&self, key: &FlowKey, dir: Dir, segment: &Subflow) -> bool {
        let known = self
            .subflows
            .get(key)
            .filter(|known| known.opened[dir.index()])
            .and_then(|known| known.first[dir.index()]);
        known.is_some_and(|first| first != segment.seq)
    }

    /// The connection of a subflow; a new one if it is unknown or `again`.
    fn connection_of(&mut self, key: &FlowKey, segment: &Subflow, again: bool) -> Option<usize> {
        if let Some(known) = self.subflows.get(key)
            && !again
        {
            return Some(known.connection);
        }
        if self.subflows.len().max(self.connections.len()) >= self.max {
            self.left_out += 1;
            return None;
        }
        let connection = self.connections.len();
        self.connections.push([
            Data::new(key.low, key.high, key.overlay, segment),
            Data::new(key.high, key.low, key.overlay, segment),
        ]);
        let known = Known {
            connection,
            low_to_high: 0,
            first: [None; 2],
            opened: [false; 2],
            next: [None; 2],
        };
        self.subflows.insert(*key, known);
        Some(connection)
    }

    /// The sender of a segment of this subflow has this token.
    fn learn(&mut self, connection: usize, key: &FlowKey, dir: Dir, token: u32) {
        let Some(known) = self.subflows.get(key) else {
            return;
        };
        // Data of direction `way` comes from the owner of the token; the other direction goes to it.
        let way = known.way(dir);
        if let Some(data) = self.connections.get_mut(connection) {
            let before = std::mem::replace(&mut data[1 - way].token, token);
            // An end has one key: of those that are not true only the last one is kept.
            if before != token && self.tokens.get(&before) == Some(&(connection, way)) {
                self.tokens.remove(&before);
            }
            self.tokens.insert(token, (connection, way));
        }
    }

    /// Another subflow of the connection in which the receiver of this SYN has this token.
    fn join(&mut self, key: &FlowKey, dir: Dir, token: u32) {
        let Some(&(connection, way)) = self.tokens.get(&token) else {
            return;
        };
        if self.subflows.len() >= self.max {
            self.left_out += 1;
            return;
        }
        // The sender of the SYN sends data to the owner of the token.
        let of_sender = 1 - way;
        let low_to_high = if dir == Dir::LowToHigh {
            of_sender
        } else {
            way
        };
        let known = Known {
            connection,
            low_to_high,
            first: [None; 2],
            opened: [false; 2],
            next: [None; 2],
        };
        self.subflows.insert(*key, known);
    }

    /// A segment with a mapping: number of data, number on the subflow, length.
    fn data(&mut self, key: &FlowKey, dir: Dir, segment: &Subflow, mapping: (u32, u32, u16)) {
        let (number, subflow, len) = mapping;
        // Without its handshake, a subflow is a connection of its own.
        let Some(connection) = self.connection_of(key, segment, false) else {
            return;
        };
        let Some(known) = self.subflows.get_mut(key) else {
            return;
        };
        if segment.payload_len == 0 {
            return;
        }
        // A mapping counts from the SYN. Where that is not in the capture, the mappings tell: each of the segments into which
        // a super-segment was cut has its mapping, and only the first begins where it says.
        let first = &mut known.first[dir.index()];
        if !known.opened[dir.index()] {
            let told = segment.seq.wrapping_sub(subflow);
            let lowest = first.get_or_insert(told);
            if lowest.wrapping_sub(told) < 1 << 31 {
                *lowest = told;
            }
        }
        let skipped = first.map_or(0, |first| {
            segment.seq.wrapping_sub(first).wrapping_sub(subflow)
        });
        // The mapping may be that of a super-segment, or count the end of the data as a byte.
        if u64::from(skipped) + u64::from(segment.payload_len) > u64::from(len) {
            return;
        }
        let end = segment.seq.wrapping_add(segment.payload_len);
        let opened = known.opened[dir.index()];
        let first = first.filter(|_| opened).map(|isn| isn.wrapping_add(1));
        let next = &mut known.next[dir.index()];
        let ahead = next
            .or(first)
            .map_or(0, |next| segment.seq.wrapping_sub(next));
        let in_order = ahead < 1 << 31;
        if in_order {
            *next = Some(end);
        }
        let way = known.way(dir);
        if let Some(data) = self.connections.get_mut(connection) {
            let data = &mut data[way];
            if in_order {
                data.jumped = data.jumped.saturating_add(u64::from(ahead));
            }
            if self.held > self.max_held && data.held > HELD_IN_ORDER {
                self.left_out += 1;
                return;
            }
            data.push(key, segment, number.wrapping_add(skipped), in_order);
            data.map(number, len, segment.ts_ns);
            self.held = self.held.saturating_add_signed(data.growth());
        }
    }

    /// Segments that were left out because there were too many subflows, or because the memory was used up.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The reports of all directions with data, each with the frame that began it.
    pub(super) fn finish(self) -> impl Iterator<Item = (u64, StreamReport)> {
        let all = self.connections.into_iter().flatten();
        all.filter_map(Data::finish)
    }
}

impl Known {
    /// Index of the connection's data that goes in direction `dir` of the subflow.
    fn way(&self, dir: Dir) -> usize {
        match dir {
            Dir::LowToHigh => self.low_to_high,
            Dir::HighToLow => 1 - self.low_to_high,
        }
    }
}

impl Data {
    fn new(src: Endpoint, dst: Endpoint, overlay: u32, segment: &Subflow) -> Self {
        Data {
            src,
            dst,
            overlay,
            first_frame: segment.frame,
            first_ns: segment.ts_ns,
            last_ns: segment.ts_ns,
            token: 0,
            offsets: None,
            order: Order::new(0),
            tally: Tally::default(),
            duplicates: 0,
            across: 0,
            jumped: 0,
            subflows: BTreeSet::new(),
            queue: Queue::default(),
            mapped: Queue::default(),
            pieces: 0,
            held: 0,
        }
    }

    /// By how many bytes more it holds than when this was asked last; it looks only now and then.
    fn growth(&mut self) -> isize {
        self.pieces += 1;
        if !self.pieces.is_multiple_of(PIECES_BETWEEN_LOOKS) {
            return 0;
        }
        let held = self.heap_bytes();
        let before = std::mem::replace(&mut self.held, held);
        held as isize - before as isize
    }

    /// A piece of data; `in_order` tells whether its own subflow was.
    fn push(&mut self, key: &FlowKey, segment: &Subflow, number: u32, in_order: bool) {
        if self.offsets.is_none() {
            (self.first_frame, self.first_ns) = (segment.frame, segment.ts_ns);
        }
        self.last_ns = self.last_ns.max(segment.ts_ns);
        self.subflows.insert(*key);
        let offsets = self.offsets.get_or_insert(Offsets::new(number));
        let start = offsets.offset(number);
        let len = segment.payload_len;
        offsets.advance(start + i64::from(len));
        match self.order.arrive(start, len, segment.ts_ns, false, ()) {
            Arrived::InOrder(label) => self.tally.in_order(label, 1),
            Arrived::Late(late) => {
                let how = Reordered {
                    extent: u64::from(late.extent),
                    late_ns: late.late_ns,
                    byte_offset: late.bytes,
                };
                self.tally.late(late.label, &how);
                self.across += u64::from(in_order);
            }
            Arrived::Known => self.duplicates += 1,
        }
        self.queue
            .arrive(start, start + i64::from(len), segment.ts_ns);
    }

    /// A mapping of `len` bytes from `number` on came.
    fn map(&mut self, number: u32, len: u16, now_ns: i64) {
        if let Some(offsets) = &self.offsets {
            let start = offsets.offset(number);
            self.mapped.arrive(start, start + i64::from(len), now_ns);
        }
    }

    /// `None` for a direction without data, or with a single piece.
    fn finish(self) -> Option<(u64, StreamReport)> {
        let order = self.tally.finish();
        if order.received + self.duplicates < 2 {
            return None;
        }
        let packets = |bytes: u64| bytes.div_ceil(u64::from(self.order.mss().max(1)));
        let missing = packets(self.mapped.missing());
        let jumped = packets(self.jumped);
        let key = StreamKey {
            service: Service::Mptcp,
            src: self.src,
            dst: self.dst,
            id: self.token,
            overlay: self.overlay,
        };
        let mut report = StreamReport::new(key, (self.first_ns, self.last_ns), order);
        report.twice.duplicates = self.duplicates;
        report.skipped.missing = missing;
        report.doubt_above(jumped);
        report.multipath = Some(Subflows {
            subflows: self.subflows.len() as u64,
            across: self.across,
            waits: self.queue.finish(),
        });
        Some((self.first_frame, report))
    }
}
