//! What a capture shows of each direction of each connection. Nothing here infers: bytes are seen or not, acknowledged or
//! not, within the window or not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use inorder_wire::{Dir, FlowKey, NO_WSCALE, Overlay, Segment, TcpFlags};

/// Frames with the same header and identification that are closer than this are one packet, captured or delivered
/// twice: no retransmission timer is shorter than the clock tick of 1 ms (RFC 6298 section 2 step (2.4) asks for 1 s).
const MAX_TWIN_NS: i64 = 1_000_000;
/// The two directions of a capture may be out of order by a few milliseconds: windows may be older by that.
const MAX_DISORDER_NS: i64 = 5_000_000;
/// No ACK is delayed by more.
const MAX_ACK_DELAY_NS: i64 = 500_000_000;

/// Disjoint ranges of bytes.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<i64, i64>);

impl Ranges {
    pub(crate) fn insert(&mut self, mut from: i64, mut to: i64) {
        if from >= to {
            return;
        }
        let touching = self
            .0
            .range(..=to)
            .rev()
            .take_while(|(_, end)| **end >= from);
        let touching: Vec<(i64, i64)> = touching.map(|(&a, &b)| (a, b)).collect();
        for (a, b) in touching {
            self.0.remove(&a);
            (from, to) = (from.min(a), to.max(b));
        }
        self.0.insert(from, to);
    }

    /// Bytes of the range that are in one of these.
    pub(crate) fn common(&self, from: i64, to: i64) -> i64 {
        let before = self.0.range(..to).rev().take_while(|(_, end)| **end > from);
        before.map(|(&a, &b)| b.min(to) - a.max(from)).sum()
    }

    pub(crate) fn bytes(&self) -> i64 {
        self.0.iter().map(|(a, b)| b - a).sum()
    }

    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        Some((*self.0.first_key_value()?.0, *self.0.last_key_value()?.1))
    }
}

/// A captured packet with data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub frame: u64,
    pub at_ns: i64,
    pub from: i64,
    pub to: i64,
    /// How many of its bytes earlier frames carried.
    pub seen_before: i64,
    /// It begins below the highest byte that was seen, acknowledged or SACKed before, or that its sender had shown to have sent.
    pub below: bool,
    /// The same packet was captured within [`MAX_TWIN_NS`] before.
    pub twin: bool,
    /// The number that its host's packet before it had in this connection, and when that was captured.
    before: Option<(u16, i64)>,
    pub id: u16,
    /// The other host has sent data since this one did.
    pub answers: bool,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The last number that was converted, and where it lies.
    last: Option<(u32, i64)>,
    highest: i64,
    /// The highest number that its sender gave a segment without data: what lies below had been sent (RFC 9293 section 3.10.7.4).
    announced: i64,
    pub data: Vec<Data>,
    pub seen: Ranges,
    /// Bytes that the receiver acknowledged or SACKed by the end of the capture.
    pub reported: Ranges,
    acknowledged: Option<i64>,
    /// The highest right edge that the receiver has offered, with the time; ascending. Without the shift of the handshake
    /// nothing is known of it.
    edges: Vec<(i64, i64)>,
    /// Initial sequence numbers: more than one are several connections.
    pub initial: BTreeSet<u32>,
    shift: Option<u8>,
    last_id: Option<(u16, i64)>,
    /// When the receiver was last heard.
    answered_ns: i64,
    asked: bool,
    recent: HashMap<(u16, u32, u32, u32, u32), i64>,
}

impl Way {
    /// Where a sequence number lies, bytes from the first one.
    fn offset(&mut self, number: u32) -> i64 {
        let (last, at) = *self.last.get_or_insert((number, 0));
        at + i64::from(number.wrapping_sub(last) as i32)
    }

    fn sent(&mut self, seg: &Segment) {
        let syn = u32::from(seg.flags.any(TcpFlags::SYN));
        if syn == 1 {
            self.initial.insert(seg.seq);
            self.shift = Some(seg.wscale);
        }
        let first = seg.seq.wrapping_add(syn);
        let from = self.offset(first);
        let to = from + i64::from(seg.payload_len);
        if seg.payload_len > 0 {
            let twin = seg.ip_id != 0 && {
                let packet = (seg.ip_id, seg.seq, seg.payload_len, seg.ack, seg.tsval);
                let before = self.recent.insert(packet, seg.ts_ns);
                before.is_some_and(|ns| (seg.ts_ns - ns).abs() < MAX_TWIN_NS)
            };
            self.data.push(Data {
                frame: seg.frame,
                at_ns: seg.ts_ns,
                from,
                to,
                seen_before: self.seen.common(from, to),
                below: from < self.highest.max(self.announced)
                    || self.seen.span().is_some_and(|(low, _)| from < low),
                twin,
                before: self.last_id.filter(|_| seg.ip_id != 0),
                id: seg.ip_id,
                answers: std::mem::take(&mut self.asked),
            });
            self.seen.insert(from, to);
            self.highest = self.highest.max(to);
            self.last = Some((first.wrapping_add(seg.payload_len), to));
        } else if seg.flags.any(TcpFlags::ACK) {
            self.announced = self.announced.max(from);
        }
        self.last_id = Some((seg.ip_id, seg.ts_ns));
    }

    /// The receiver of this direction sends `seg`; `shift` is that of its window, once both SYNs were seen.
    fn answered(&mut self, seg: &Segment, shift: Option<u8>) {
        let ack = self.offset(seg.ack);
        let una = *self.acknowledged.get_or_insert(ack);
        if ack >= una {
            self.acknowledged = Some(ack);
            self.reported.insert(una.min(0), ack);
            self.highest = self.highest.max(ack);
        }
        for &(left, right) in seg.sack_blocks() {
            let (left, right) = (self.offset(left), self.offset(right));
            if left < right {
                self.reported.insert(left, right);
                self.highest = self.highest.max(right);
            }
        }
        self.asked |= seg.payload_len > 0;
        self.answered_ns = seg.ts_ns;
        let syn = seg.flags.any(TcpFlags::SYN);
        if let Some(shift) = shift.filter(|_| !syn) {
            let edge = ack + (i64::from(seg.window) << shift);
            let before = self.edges.last().map_or(i64::MIN, |e| e.1);
            self.edges.push((seg.ts_ns, edge.max(before)));
        }
    }

    /// The receiver had time to acknowledge the packet: no ACK may wait longer (RFC 1122 section 4.2.3.2).
    pub(crate) fn goes_on_behind(&self, data: &Data) -> bool {
        self.answered_ns - data.at_ns > MAX_ACK_DELAY_NS
    }

    pub(crate) fn frame(&self, frame: u64) -> Option<&Data> {
        let at = self.data.binary_search_by_key(&frame, |d| d.frame).ok()?;
        self.data.get(at)
    }

    /// The packet lay beyond every window that the receiver had offered when it was captured.
    pub(crate) fn beyond_the_window(&self, data: &Data) -> bool {
        let offered = self
            .edges
            .partition_point(|e| e.0 <= data.at_ns + MAX_DISORDER_NS);
        let edge = self.edges[..offered].last();
        edge.is_some_and(|&(_, edge)| data.from >= edge)
    }

    /// Frames other than `one` that carry one of its bytes.
    pub(crate) fn others(&self, one: &Data) -> impl Iterator<Item = &Data> {
        let (frame, from, to) = (one.frame, one.from, one.to);
        let others = self
            .data
            .iter()
            .filter(move |d| d.frame != frame && !d.twin);
        others.filter(move |d| d.from < to && from < d.to)
    }
}

/// Every direction of a capture.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub ways: HashMap<FlowKey, [Way; 2]>,
    /// When each host sent each IPv4 identification, in whatever connection.
    ids: HashMap<(u128, u16), Vec<i64>>,
}

impl Reader {
    pub(crate) fn read(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) {
        // Nothing is known of the numbers of a reset: some hosts send others' (RFC 9293 section 3.10.7.1).
        if seg.flags.any(TcpFlags::RST) {
            return;
        }
        let host = key.ends(dir).0.addr();
        let times = self.ids.entry((host, seg.ip_id)).or_default();
        times.push(seg.ts_ns);
        let ways = self.ways.entry(of_both_ways(key)).or_default();
        ways[dir.index()].sent(seg);
        if seg.flags.any(TcpFlags::ACK) {
            let both = (ways[0].shift, ways[1].shift);
            let own = ways[dir.index()].shift;
            // The window is scaled only where both SYNs say so (RFC 7323 section 2.2).
            let shift = match both {
                (Some(NO_WSCALE), Some(_)) | (Some(_), Some(NO_WSCALE)) => Some(0),
                (Some(_), Some(_)) => own.map(|shift| shift.min(14)),
                _ => None,
            };
            ways[dir.reverse().index()].answered(seg, shift);
        }
    }

    /// A packet in order may be the retransmission of one that was lost before the capture point with all behind it: the
    /// host's identifications skip some that no other connection in the capture had meanwhile, and it was not asked for
    /// anything new. That is all that speaks for it.
    pub(crate) fn may_be_tail(&self, host: u128, data: &Data) -> bool {
        let Some((before, at_ns)) = data.before else {
            return false;
        };
        let skipped = data.id.wrapping_sub(before).wrapping_sub(1);
        let elsewhere = |id: u16| {
            let times = self.ids.get(&(host, id)).into_iter().flatten();
            let meanwhile = at_ns - MAX_DISORDER_NS..=data.at_ns + MAX_DISORDER_NS;
            times.into_iter().any(|ns| meanwhile.contains(ns))
        };
        let mut skipped = (1..=skipped).map(|n| before.wrapping_add(n));
        !data.answers && skipped.any(|id| !elsewhere(id))
    }
}

/// The key of a connection in a tunnel whose directions have labels of their own, whatever these are.
pub(crate) fn of_both_ways(key: &FlowKey) -> FlowKey {
    let overlay = match Overlay::is_one_way(key.overlay) {
        true => Overlay::on_any_path(key.overlay),
        false => key.overlay,
    };
    FlowKey { overlay, ..*key }
}
