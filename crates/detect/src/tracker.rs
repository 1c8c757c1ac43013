//! All connections of a capture.

use hashbrown::HashTable;
use inorder_wire::{Dir, FlowKey, Segment, TcpFlags};

use crate::config::Config;
use crate::connection::Connection;
use crate::result::FlowReport;

/// Connections whose place is remembered by a cheaper hash than the table's; a power of two.
const CELLS: usize = 1 << CELL_BITS;
const CELL_BITS: u32 = 10;
/// No connection's place.
const NOWHERE: u32 = u32::MAX;
/// A closed connection is kept this long for stragglers, nanoseconds.
const LINGER_NS: i64 = 5_000_000_000;

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
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// Where the connection whose key fell into a cell last is: right most of the time, and
    /// checked against its key all of the time.
    cells: Box<[u32; CELLS]>,
    done: Vec<FlowReport>,
}

impl Tracker {
    /// No connections yet.
    pub fn new(config: Config) -> Self {
        Tracker {
            config,
            index: HashTable::new(),
            connections: Vec::new(),
            free: Vec::new(),
            cells: Box::new([NOWHERE; CELLS]),
            done: Vec::new(),
        }
    }

    /// The next segment, in capture order; it goes `dir` on connection `key`.
    #[inline]
    pub fn push(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) {
        let cell = (key.rough_hash() >> (64 - CELL_BITS)) as usize;
        let remembered = self.connections.get_mut(self.cells[cell] as usize);
        match remembered {
            Some(Some(connection)) if connection.key == *key && !seg.flags.any(TcpFlags::SYN) => {
                connection.push(dir, seg, &self.config);
            }
            _ => self.push_any(cell, key, dir, seg),
        }
    }

    /// A segment whose connection is not where it was looked for, or may be another.
    #[inline(never)]
    fn push_any(&mut self, cell: usize, key: &FlowKey, dir: Dir, seg: &Segment) {
        let slot = self.slot(key, seg.ts_ns);
        self.cells[cell] = slot;
        if seg.flags.any(TcpFlags::SYN) {
            self.open(slot, dir, seg);
        }
        if let Some(Some(connection)) = self.connections.get_mut(slot as usize) {
            connection.push(dir, seg, &self.config);
        }
    }

    /// A SYN may be the first packet of another connection with the same key.
    #[cold]
    fn open(&mut self, slot: u32, dir: Dir, seg: &Segment) {
        let Some(Some(connection)) = self.connections.get_mut(slot as usize) else {
            return;
        };
        if connection.is_reuse(dir, seg) {
            let reuse = connection.reuse + 1;
            let next = Connection::new(connection.key, reuse, seg.ts_ns, &self.config);
            let old = std::mem::replace(&mut **connection, next);
            old.finish(&self.config, &mut self.done);
        }
    }

    /// Where the connection is; it is made if there is none.
    fn slot(&mut self, key: &FlowKey, now: i64) -> u32 {
        let hash = key.hash64();
        let key_at = |slot: u32| {
            self.connections
                .get(slot as usize)?
                .as_ref()
                .map(|c| &c.key)
        };
        if let Some(&slot) = self.index.find(hash, |&slot| key_at(slot) == Some(key)) {
            return slot;
        }
        let connection = Some(Box::new(Connection::new(*key, 0, now, &self.config)));
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
                .map(|c| &c.key)
        };
        self.index
            .insert_unique(hash, slot, |&slot| key_at(slot).map_or(0, FlowKey::hash64));
        slot
    }

    /// Closes the connections that are over at `now` (capture time, nanoseconds), so that memory
    /// follows those that live: never done, all are kept.
    ///
    /// What comes later with the same addresses and ports is another connection. So call it where
    /// the place in the capture says so, and nothing else: then trackers that share a capture
    /// find what one alone would.
    pub fn close_idle(&mut self, now: i64) {
        self.cells.fill(NOWHERE);
        for slot in 0..self.connections.len() {
            let over = self.connections[slot].as_ref().is_some_and(|c| {
                let idle = now.saturating_sub(c.last_ns);
                idle > self.config.idle_ns || (c.closed() && idle > LINGER_NS)
            });
            if !over {
                continue;
            }
            if let Some(connection) = self.connections[slot].take() {
                let found = self
                    .index
                    .find_entry(connection.key.hash64(), |&s| s as usize == slot);
                if let Ok(entry) = found {
                    entry.remove();
                }
                self.free.push(slot as u32);
                connection.finish(&self.config, &mut self.done);
            }
        }
    }

    /// The reports, in the order in which the connections began.
    pub fn finish(mut self) -> Vec<FlowReport> {
        for connection in self.connections.drain(..).flatten() {
            connection.finish(&self.config, &mut self.done);
        }
        self.done.sort_by_key(|f| (f.first_ns, f.flow));
        self.done
    }
}
