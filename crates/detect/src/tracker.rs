//! All connections of a capture.

use hashbrown::HashTable;
use inorder_wire::{Dir, FlowKey, Segment, TcpFlags};

use crate::config::Config;
use crate::connection::Connection;
use crate::embryo::{Embryo, Embryos};
use crate::flow_table::FlowTable;
use crate::result::FlowReport;

/// Connections whose place is remembered by a cheaper hash than the table's; a power of two.
const CACHED_PLACES: usize = 1 << CACHED_PLACES_BITS;
const CACHED_PLACES_BITS: u32 = 10;
/// No connection's place.
const NO_PLACE: u32 = u32::MAX;
/// A closed connection is kept this long for stragglers, nanoseconds.
const CLOSED_KEPT_NS: i64 = 2_000_000_000;

/// Follows every connection; feed segments in capture order.
///
/// ```
/// use inorder_detect::{Config, Tracker};
/// use inorder_wire::{Endpoint, FlowKey, Segment};
///
/// let (key, dir) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
/// let mut tracker = Tracker::new(Config::default());
/// // Bytes 0-99, then 200-299, then the late 100-199.
/// for (ts_ns, seq) in [(0, 0), (1_000, 200), (2_000, 100)] {
///     let seg = Segment { ts_ns, seq, payload_len: 100, ..Segment::default() };
///     tracker.push(&key, dir, &seg);
/// }
/// let flows = tracker.finish();
/// assert_eq!(flows[0].data_packets, 3);
/// ```
#[derive(Debug)]
pub struct Tracker {
    config: Config,
    index: HashTable<u32>,
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    /// Connections of which only one packet was seen.
    embryos: Embryos,
    /// Where the connection whose key fell into a cell last is: right most of the time, and
    /// checked against its key all of the time.
    cells: Box<[u32; CACHED_PLACES]>,
    done: FlowTable,
}

impl Tracker {
    /// No connections yet.
    pub fn new(config: Config) -> Self {
        Tracker {
            done: FlowTable::new(&config),
            config,
            index: HashTable::new(),
            connections: Vec::new(),
            free: Vec::new(),
            embryos: Embryos::default(),
            cells: Box::new([NO_PLACE; CACHED_PLACES]),
        }
    }

    /// The next segment, in capture order; it goes `dir` on connection `key`.
    #[inline(always)] // A call costs as much as finding the connection.
    pub fn push(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) {
        let cell = (key.rough_hash() >> (64 - CACHED_PLACES_BITS)) as usize;
        let remembered = self.connections.get_mut(self.cells[cell] as usize);
        match remembered {
            Some(Some(connection))
                if connection.head.key == *key && !seg.flags.any(TcpFlags::SYN) =>
            {
                connection.push(dir, seg, &self.config);
            }
            _ => self.push_any(cell, key, dir, seg),
        }
    }

    /// A segment whose connection is not where it was looked for, or may be another.
    #[inline(never)]
    fn push_any(&mut self, cell: usize, key: &FlowKey, dir: Dir, seg: &Segment) {
        let Some(slot) = self.slot(key, dir, seg) else {
            return;
        };
        self.cells[cell] = slot;
        if seg.flags.any(TcpFlags::SYN) {
            self.open(slot, dir, seg);
        }
        if let Some(Some(connection)) = self.connections.get_mut(slot as usize) {
            connection.push_seldom(dir, seg, &self.config);
        }
    }

    /// A SYN may be the first packet of another connection with the same key.
    #[cold]
    fn open(&mut self, slot: u32, dir: Dir, seg: &Segment) {
        let Some(Some(connection)) = self.connections.get_mut(slot as usize) else {
            return;
        };
        if connection.is_reuse(dir, seg) {
            let reuse = connection.head.reuse + 1;
            let next = Connection::new(connection.head.key, reuse, seg.ts_ns, &self.config);
            let mut old = std::mem::replace(connection, next);
            old.finish(&self.config, &mut self.done);
        }
    }

    /// Where the connection is; it is made with its second packet, till then there is none.
    fn slot(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) -> Option<u32> {
        let hash = key.hash64();
        let key_at = |slot: u32| {
            self.connections
                .get(slot as usize)?
                .as_ref()
                .map(|c| &c.head.key)
        };
        if let Some(&slot) = self.index.find(hash, |&slot| key_at(slot) == Some(key)) {
            return Some(slot);
        }
        let Some(embryo) = self.embryos.take(key) else {
            let (key, seg) = (*key, *seg);
            if let Some(old) = self.embryos.put(Embryo { key, dir, seg }) {
                self.end(&old);
            }
            return None;
        };
        if embryo.is_bare_syn() && seg.flags.any(TcpFlags::RST) && seg.payload_len == 0 {
            return None; // Refused: there will be no data.
        }
        let connection = Some(self.born(&embryo));
        let slot = self.free.pop().unwrap_or(self.connections.len() as u32);
        if slot as usize == self.connections.len() {
            self.connections.push(connection);
        } else {
            self.connections[slot as usize] = connection;
        }
        let key_at = |slot: u32| {
            self.connections
                .get(slot as usize)?
                .as_ref()
                .map(|c| &c.head.key)
        };
        self.index
            .insert_unique(hash, slot, |&slot| key_at(slot).map_or(0, FlowKey::hash64));
        Some(slot)
    }

    /// A connection that has seen its first packet.
    fn born(&self, embryo: &Embryo) -> Connection {
        let mut connection = Connection::new(embryo.key, 0, embryo.seg.ts_ns, &self.config);
        connection.push_seldom(embryo.dir, &embryo.seg, &self.config);
        connection
    }

    /// Reports a connection that had but one packet.
    fn end(&mut self, embryo: &Embryo) {
        let Embryo { key, dir, seg } = embryo;
        Connection::finish_single(*key, *dir, seg, &self.config, &mut self.done);
    }

    /// Closes the connections that are over at `now` (capture time, nanoseconds), so that memory
    /// follows those that live: never done, all are kept.
    ///
    /// What comes later with the same addresses and ports is another connection. So call it where
    /// the place in the capture says so, and nothing else: then trackers that share a capture
    /// find what one alone would.
    pub fn close_idle(&mut self, now: i64) {
        self.cells.fill(NO_PLACE);
        let since_ns = now.saturating_sub(self.config.idle_ns);
        for old in self.embryos.take_older(since_ns) {
            self.end(&old);
        }
        let over = |c: &Connection| {
            let idle = now.saturating_sub(c.head.last_ns);
            idle > self.config.idle_ns || (idle > CLOSED_KEPT_NS && c.closed())
        };
        let slots = self.connections.iter().enumerate();
        let over: Vec<usize> = slots
            .filter(|(_, slot)| slot.as_ref().is_some_and(over))
            .map(|(slot, _)| slot)
            .collect();
        for (nth, &slot) in over.iter().enumerate() {
            if let Some(Some(next)) = over.get(nth + 1).map(|&next| &self.connections[next]) {
                next.warm_up();
            }
            let Some(mut connection) = self.connections[slot].take() else {
                continue;
            };
            let found = self
                .index
                .find_entry(connection.head.key.hash64(), |&s| s as usize == slot);
            if let Ok(entry) = found {
                entry.remove();
            }
            self.free.push(slot as u32);
            connection.finish(&self.config, &mut self.done);
        }
    }

    /// Moves the flows that have ended to `table`.
    pub fn move_done(&mut self, table: &mut FlowTable) {
        table.merge(self.done.take());
        self.done.keep_for(table);
    }

    /// The reports, in the order in which the connections began: of the worst flows, where there are more than
    /// [`Config::max_flows`].
    pub fn finish(self) -> Vec<FlowReport> {
        self.finish_table().finish().0
    }

    /// All flows that have not been moved elsewhere before.
    pub fn finish_table(mut self) -> FlowTable {
        let mut left = self.connections.drain(..).flatten().peekable();
        while let Some(mut connection) = left.next() {
            if let Some(next) = left.peek() {
                next.warm_up();
            }
            connection.finish(&self.config, &mut self.done);
        }
        drop(left);
        for last in self.embryos.take_older(i64::MAX) {
            self.end(&last);
        }
        self.done
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::Endpoint;

    use super::*;

    fn ends(n: u32) -> (FlowKey, Dir) {
        let client = Endpoint::v4(0x0a00_0000 + n / 50_000, 1_024 + (n % 50_000) as u16);
        FlowKey::new(client, Endpoint::v4(0xc000_0201, 443), 0)
    }

    fn segment(ts_ns: i64, flags: u8, seq: u32, payload_len: u32) -> Segment {
        Segment {
            ts_ns,
            seq,
            payload_len,
            flags: TcpFlags(flags),
            ..Segment::default()
        }
    }

    #[test]
    fn a_flood_of_syns_takes_no_more_memory_than_a_part_of_it() {
        let mut tracker = Tracker::new(Config::default());
        for n in 0..600_000 {
            let (key, dir) = ends(n);
            tracker.push(&key, dir, &segment(i64::from(n), TcpFlags::SYN, 7, 0));
        }
        assert!(tracker.connections.is_empty());
        assert!(
            tracker.embryos.len() <= 1 << 17,
            "{}",
            tracker.embryos.len()
        );
        assert!(size_of::<Embryo>() <= 144, "{}", size_of::<Embryo>());
        assert_eq!(tracker.finish(), []);
    }

    #[test]
    fn of_very_many_flows_of_one_packet_the_first_are_reported_and_the_others_summed() {
        let mut tracker = Tracker::new(Config::default().max_flows(1_000));
        for n in 0..300_000 {
            let (key, dir) = ends(n);
            tracker.push(&key, dir, &segment(i64::from(n), TcpFlags::ACK, 7, 100));
        }
        assert!(tracker.connections.is_empty());
        let (flows, summed) = tracker.finish_table().finish();
        assert_eq!(flows.len(), 1_000);
        assert!(flows.iter().zip(0..).all(|(flow, n)| flow.first_ns == n));
        assert_eq!((summed.flows, summed.bytes), (299_000, 29_900_000));
    }

    #[test]
    fn a_connection_begins_with_its_syn_however_many_others_open_in_between() {
        let mut tracker = Tracker::new(Config::default());
        let (key, dir) = ends(0);
        tracker.push(&key, dir, &segment(10, TcpFlags::SYN, 99, 0));
        for n in 1..1_000 {
            let (other, dir) = ends(n);
            tracker.push(&other, dir, &segment(11, TcpFlags::SYN, 7, 0));
        }
        let both = TcpFlags::SYN | TcpFlags::ACK;
        tracker.push(&key, dir.reverse(), &segment(20, both, 500, 0));
        for (at, seq) in [(30, 100), (31, 200)] {
            tracker.push(&key, dir, &segment(at, TcpFlags::ACK, seq, 100));
        }
        let flows = tracker.finish();
        assert_eq!(flows.len(), 1);
        assert!(flows[0].syn_seen);
        assert_eq!((flows[0].first_ns, flows[0].data_packets), (10, 2));
    }

    #[test]
    fn a_finished_connection_is_let_go_though_its_vantage_point_is_not_certain() {
        let mut tracker = Tracker::new(Config::default());
        let (key, dir) = ends(0);
        let (fin, ack) = (TcpFlags::FIN | TcpFlags::ACK, TcpFlags::ACK);
        tracker.push(&key, dir, &segment(0, ack, 100, 100));
        tracker.push(&key, dir, &segment(1, fin, 200, 0));
        tracker.push(&key, dir.reverse(), &segment(2, fin, 500, 0));
        assert!(!tracker.connections[0].as_ref().unwrap().is_settled());
        tracker.close_idle(CLOSED_KEPT_NS + 3);
        assert!(tracker.connections.iter().all(Option::is_none));
        assert_eq!(tracker.finish()[0].data_packets, 1);
    }

    #[test]
    fn what_is_refused_leaves_nothing() {
        let mut tracker = Tracker::new(Config::default());
        for n in 0..1_000 {
            let (key, dir) = ends(n);
            tracker.push(&key, dir, &segment(1, TcpFlags::SYN, 7, 0));
            tracker.push(&key, dir.reverse(), &segment(2, TcpFlags::RST, 0, 0));
        }
        assert!(tracker.connections.is_empty() && tracker.embryos.len() == 0);
    }
}
