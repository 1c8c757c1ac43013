//! Multipath TCP: the order of a connection's data over all of its subflows (RFC 8684).
//!
//! Subflows are joined by the tokens of the handshake, which are hashes of the keys. Each segment with a mapping is a
//! piece of the data; a piece below the highest one is late or was sent again. The receiver delivers data in order, so
//! a piece waits in its queue until everything below it has come: how long it waits is reported as well.

mod queue;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamDoubt;

    fn subflow(ms: i64, seq: u32, syn: bool, payload_len: u32, option: Multipath) -> Subflow {
        Subflow {
            ts_ns: ms * 1_000_000,
            frame: ms as u64 + 1,
            seq,
            payload_len,
            syn,
            option,
        }
    }

    /// Keys, and tokens computed with another program (`printf '\\1..' | sha256sum`).
    #[test]
    fn tokens_are_hashes_of_keys() {
        assert_eq!(token(1, 0x0102_0304_0506_0708), 0x6684_0dda);
        assert_eq!(token(0, 0x0102_0304_0506_0708), 0xdd57_83bc);
    }

    /// A network card cuts a super-segment and copies its mapping into each piece.
    #[test]
    fn pieces_of_a_mapping_count_on_without_the_handshake_too() {
        let (subflow_key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
        let mut all = Connections::default();
        let whole = |number, subflow| Multipath::Data {
            number,
            bits: 32,
            subflow,
            len: 300,
        };
        for (ms, seq, option) in [
            (0, 1_000, whole(5_000, 901)),
            (1, 1_100, whole(5_000, 901)),
            (2, 1_200, whole(5_000, 901)),
            (3, 1_300, whole(5_300, 1_201)),
            (4, 1_500, whole(5_300, 1_201)),
            (5, 1_400, whole(5_300, 1_201)),
        ] {
            all.push(&subflow_key, dir, &subflow(ms, seq, false, 100, option));
        }
        let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
        let order = (report.order.received, report.order.reordered);
        assert_eq!(
            (order, report.twice.duplicates, report.skipped.missing),
            ((6, 1), 0, 0)
        );
    }

    /// What belongs to a mapping and comes in a segment without one is not followed, and not missing.
    #[test]
    fn segments_that_do_not_repeat_their_mapping_are_not_missing() {
        let (subflow_key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
        let missing = |len| {
            let mut all = Connections::default();
            for (ms, seq, number, len) in [
                (0, 1_000, 5_000, 100),
                (1, 1_100, 5_100, len),
                (3, 1_300, 5_300, 100),
            ] {
                let option = Multipath::Data {
                    number,
                    bits: 32,
                    subflow: seq - 99,
                    len,
                };
                all.push(&subflow_key, dir, &subflow(ms, seq, false, 100, option));
            }
            all.finish()
                .map(|(_, report)| report.skipped.missing)
                .sum::<u64>()
        };
        assert_eq!(missing(200), 0);
        assert_eq!(missing(100), 1);
    }

    /// Another subflow, which the capture does not have, carries each second segment: this one lacks nothing.
    #[test]
    fn what_a_subflow_that_was_not_captured_carries_is_not_lost() {
        let (key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
        let skipped = |lost: u32| {
            let mut all = Connections::default();
            let capable = Multipath::Capable {
                version: 1,
                key: None,
            };
            all.push(&key, dir, &subflow(0, 99, true, 0, capable));
            for n in (0..20).filter(|n| *n != lost) {
                let option = Multipath::Data {
                    number: u64::from(5_000 + 200 * n),
                    bits: 32,
                    subflow: 1 + 100 * n,
                    len: 100,
                };
                let segment = subflow(10 + i64::from(n), 100 + 100 * n, false, 100, option);
                all.push(&key, dir, &segment);
            }
            let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
            (
                report.skipped.missing,
                report.skipped.absent,
                report.skipped.doubt,
            )
        };
        let doubt = Some(StreamDoubt::LostOrElsewhere);
        assert_eq!(skipped(u32::MAX), (0, 19, doubt));
        // It lost one segment of its own.
        assert_eq!(skipped(7), (1, 19, doubt));
    }

    /// SYNs on the same ports, each with another number and another key: as many connections as there may be subflows, and of the keys
    /// of one end the last.
    #[test]
    fn ports_that_are_used_again_do_not_make_any_number_of_connections() {
        let (key, dir) = FlowKey::new(Endpoint::v4(1, 1000), Endpoint::v4(2, 80), 0);
        let mut all = Connections::default();
        let capable = |key| Multipath::Capable {
            version: 0,
            key: Some(key),
        };
        for n in 0..MAX_SUBFLOWS as u32 + 10 {
            all.push(&key, dir, &subflow(0, n, true, 0, capable(u64::from(n))));
        }
        assert_eq!((all.connections.len(), all.left_out()), (MAX_SUBFLOWS, 10));
        let mut few = Connections::default();
        few.limit(3, usize::MAX);
        for n in 0..5 {
            few.push(&key, dir, &subflow(0, n, true, 0, capable(u64::from(n))));
        }
        assert_eq!((few.connections.len(), few.left_out()), (3, 2));
        let mut one = Connections::default();
        for n in 0..10 {
            one.push(&key, dir, &subflow(0, 1, false, 0, capable(n)));
        }
        assert_eq!((one.connections.len(), one.tokens.len()), (1, 1));
    }

    /// Two subflows; the second, joined by the server's token, is 20 ms slower.
    #[test]
    fn data_of_the_slower_subflow_is_late_and_the_faster_waits() {
        let (client, server) = (Endpoint::v4(1, 1000), Endpoint::v4(2, 80));
        let second = Endpoint::v4(3, 2000);
        let (fast, to_server) = FlowKey::new(client, server, 0);
        let (slow, also_to_server) = FlowKey::new(second, server, 0);
        let capable = |key| Multipath::Capable { version: 1, key };
        let mut all = Connections::default();
        all.push(&fast, to_server, &subflow(0, 99, true, 0, capable(None)));
        let server_key = 0x0102_0304_0506_0708;
        let answer = subflow(1, 499, true, 0, capable(Some(server_key)));
        all.push(&fast, to_server.reverse(), &answer);
        let join = Multipath::Join { token: 0x6684_0dda };
        all.push(&slow, also_to_server, &subflow(2, 7, true, 0, join));
        // Bytes 0-99 fast, 100-199 slow, 200-399 fast: the numbers wrap.
        let data = |number: u32, subflow| Multipath::Data {
            number: u64::from(number.wrapping_sub(150)),
            bits: 32,
            subflow,
            len: 100,
        };
        for (ms, key, dir, seq, option) in [
            (10, &fast, to_server, 100, data(0, 1)),
            (12, &fast, to_server, 200, data(200, 101)),
            (13, &fast, to_server, 300, data(300, 201)),
            (32, &slow, also_to_server, 8, data(100, 1)),
            (33, &slow, also_to_server, 8, data(100, 1)),
        ] {
            all.push(key, dir, &subflow(ms, seq, false, 100, option));
        }
        let [(_, report)] = all.finish().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((report.order.received, report.order.reordered), (4, 1));
        assert_eq!(
            (report.order.extents.max(), report.twice.duplicates),
            (Some(2), 1)
        );
        assert_eq!((report.key.id, report.skipped.missing), (0x6684_0dda, 0));
        let multipath = report.multipath.unwrap();
        assert_eq!((multipath.subflows, multipath.across), (2, 1));
        // 100 bytes waited 20 ms, 100 bytes 19 ms, 200 bytes did not.
        assert_eq!(multipath.waits.max_ns, 20_000_000);
        assert_eq!(multipath.waits.mean_ns(), 9_750_000);
        assert_eq!(multipath.waits.most_bytes, 200);
    }
}
