//! All connections of a capture.

use hashbrown::HashTable;
use inorder_wire::{Complaint, Dir, FlowKey, Overlay, Segment, TcpFlags};

use crate::budget::{Budget, part_of};
use crate::config::Config;
use crate::connection::Connection;
use crate::embryo::{Embryo, Embryos};
use crate::families::Families;
use crate::flow_table::FlowTable;
use crate::places::{Connections, Place};
use crate::remembered::Remembered;
use crate::result::{FlowReport, Outcome};

/// Connections whose place is remembered by a cheaper hash than the table's; a power of two.
const CACHED_PLACES: usize = 1 << CACHED_PLACES_BITS;
const CACHED_PLACES_BITS: u32 = 10;
/// Index that stands for no connection.
const NO_PLACE: u32 = u32::MAX;
/// Time for which a closed connection is kept for late packets, nanoseconds.
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
/// assert_eq!(flows[0].originals.packets, 3);
/// ```
#[derive(Debug)]
pub struct Tracker {
    config: Config,
    index: HashTable<Place>,
    connections: Connections,
    families: Families,
    free: Vec<u32>,
    /// Connections of which only one packet was seen.
    embryos: Embryos,
    /// Those whose first packet gave way to others': with the next one they begin all the same.
    given_way: Remembered,
    /// Where the connection whose key fell into a cell last is: right most of the time, and
    /// checked against its key all of the time.
    cells: Box<[u32; CACHED_PLACES]>,
    done: FlowTable,
    budget: Budget,
}

impl Tracker {
    /// No connections yet.
    pub fn new(config: Config) -> Self {
        Tracker {
            done: FlowTable::new(&config),
            budget: Budget::new(config.memory),
            embryos: Embryos::new(config.memory),
            given_way: Remembered::new(config.memory),
            config,
            index: HashTable::new(),
            connections: Connections::new(),
            families: Families::default(),
            free: Vec::new(),
            cells: Box::new([NO_PLACE; CACHED_PLACES]),
        }
    }

    /// The next segment, in capture order; it goes `dir` on connection `key`.
    #[inline(always)] // A call costs as much as finding the connection.
    pub fn push(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) {
        let cell = (key.rough_hash() >> (64 - CACHED_PLACES_BITS)) as usize;
        let remembered = self.connections.get_mut(self.cells[cell]);
        match remembered {
            Some(connection)
                if connection.is_of(key, dir)
                    && !seg.flags.any(TcpFlags::SYN)
                    && !connection.has_paused(seg) =>
            {
                connection.push(dir, seg, &self.config);
                if connection.has_grown() {
                    self.count(self.cells[cell]);
                }
            }
            _ => self.push_any(cell, key, dir, seg),
        }
    }

    /// A segment whose connection is not where it was looked for, or may be another, or one that is not open yet.
    #[inline(never)]
    fn push_any(&mut self, cell: usize, key: &FlowKey, dir: Dir, seg: &Segment) {
        let Some(slot) = self.slot(key, dir, seg) else {
            return;
        };
        self.cells[cell] = slot;
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        if connection.is_replayed(dir, seg) {
            return;
        }
        let another = connection.has_paused(seg) && connection.is_followed_by_another(dir, seg);
        if another || connection.is_reuse(dir, seg) {
            connection.begin_again(seg.ts_ns, &self.config, &mut self.done);
        }
        if let Some((dir, hello)) = connection.reused_after(dir, seg) {
            connection.begin_again(hello.ts_ns, &self.config, &mut self.done);
            connection.push_opening(dir, &hello, &self.config);
        }
        connection.push_opening(dir, seg, &self.config);
        if connection.holds_back() {
            // Every packet must come by here until it is known which SYN-ACK the connection follows.
            self.cells[cell] = NO_PLACE;
        }
        if self
            .connections
            .get(slot)
            .is_some_and(Connection::has_grown)
        {
            self.count(slot);
        }
    }

    /// Counts what a connection holds, and makes room if its part of the connections holds too much.
    #[inline(never)]
    fn count(&mut self, slot: u32) {
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        let part = part_of(&connection.head.key);
        let (before, now) = connection.count_bytes();
        if self.budget.change(part, before, now) {
            self.make_room(part);
        }
    }

    /// Ends connections until there is room again: those that were in order before those that were not, and those of which
    /// nothing came for the longest time first. The most interesting one stays in any case.
    #[cold]
    fn make_room(&mut self, part: usize) {
        let all = self.connections.all.iter().zip(0..);
        let all = all.filter_map(|(connection, slot)| Some((connection.as_ref()?, slot)));
        let of_part = all.filter(|(connection, _)| part_of(&connection.head.key) == part);
        let interest = |(connection, slot): (&Connection, u32)| {
            let head = &connection.head;
            (connection.troubles(), head.last_ns, head.key, slot)
        };
        let mut by_interest: Vec<_> = of_part.map(interest).collect();
        by_interest.sort_unstable();
        by_interest.pop();
        self.cells.fill(NO_PLACE);
        for (_, _, key, slot) in by_interest {
            if !self.budget.is_above_rest(part) {
                break;
            }
            let Some(mut connection) = self.remove(slot) else {
                continue;
            };
            for overlay in connection.overlays() {
                let key = key.in_overlay(overlay);
                let hash = self.connections.hash_of(&key);
                self.budget.ended().add(&key, hash);
            }
            let config = &self.config;
            self.done.end_early(|done| connection.finish(config, done));
        }
    }

    /// Counts what every connection holds, also of those that grow slowly.
    fn count_all(&mut self) {
        for connection in self.connections.all.iter_mut().flatten() {
            let part = part_of(&connection.head.key);
            let (before, now) = connection.count_bytes();
            self.budget.change(part, before, now);
        }
        for part in self.budget.full_parts() {
            self.make_room(part);
        }
    }

    /// Takes a connection out of its place.
    fn remove(&mut self, slot: u32) -> Option<Connection> {
        let connection = self.connections.all.get_mut(slot as usize)?.take()?;
        let key = connection.head.key;
        for overlay in connection.overlays() {
            let it = |place: &Place| place.slot == slot && place.overlay == overlay;
            let hash = self.connections.hash_of(&key.in_overlay(overlay));
            if let Ok(entry) = self.index.find_entry(hash, it) {
                entry.remove();
            }
        }
        self.families.remove(slot, &key);
        self.free.push(slot);
        self.budget
            .change(part_of(&key), connection.counted_bytes(), 0);
        Some(connection)
    }

    /// True if `seg` belongs to a connection that was ended early, and opens no other one.
    fn is_of_ended(&mut self, key: &FlowKey, hash: u64, seg: &Segment) -> bool {
        let ended = self.budget.ended();
        if ended.is_empty() || !ended.has(key, hash) {
            return false;
        }
        let opens = is_bare_syn(seg);
        if opens {
            ended.forget(key, hash);
        }
        !opens
    }

    /// Where the connection is; it is made with its second packet, till then there is none.
    fn slot(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) -> Option<u32> {
        let all = &self.connections;
        let hash = all.hash_of(key);
        if let Some(place) = self.index.find(hash, |place| all.is_at(place, key)) {
            return Some(place.slot);
        }
        if self.is_of_ended(key, hash, seg) {
            self.done.pass_over();
            return None;
        }
        let related = self.note_overlay(key.overlay);
        let mut embryo = self.embryos.take(key);
        let answered = embryo.is_some_and(|embryo| embryo.is_answered_by(dir, seg));
        if related
            && !answered
            && let Some(slot) = self.adopt(key, dir, seg)
        {
            if let (Some(embryo), Some(own)) = (embryo, self.connections.get_mut(slot)) {
                own.push_opening(embryo.dir, &embryo.seg, &self.config);
            }
            return Some(slot);
        }
        if let Some(old) = embryo.take_if(|embryo| embryo.is_followed_by(dir, seg)) {
            self.end(&old);
        }
        let next = match embryo {
            None if self.has_given_way(key, hash, seg) => {
                let begun = Connection::new(*key, 0, seg.ts_ns, &self.config);
                return Some(self.settle(begun, hash));
            }
            None => Some(Embryo::new(*key, dir, *seg)),
            Some(embryo) => embryo.refused_by(dir, seg),
        };
        if let Some(next) = next {
            if let Some(old) = self.embryos.put(next) {
                let hash = self.connections.hash_of(&old.key);
                self.given_way.add(&old.key, hash);
                self.forget(&old);
            }
            return None;
        }
        embryo.map(|embryo| self.settle(self.born(&embryo), hash))
    }

    /// True if `seg` is not the first packet of its connection, and that is forgotten. A SYN begins anew.
    fn has_given_way(&mut self, key: &FlowKey, hash: u64, seg: &Segment) -> bool {
        if self.given_way.is_empty() || is_bare_syn(seg) || !self.given_way.has(key, hash) {
            return false;
        }
        self.given_way.forget(key, hash);
        true
    }

    /// A connection that has seen its first packet.
    fn born(&self, embryo: &Embryo) -> Connection {
        let mut connection = Connection::new(embryo.key, 0, embryo.seg.ts_ns, &self.config);
        connection.push_opening(embryo.dir, &embryo.seg, &self.config);
        if embryo.complaint.is_some() {
            connection.note_unreachable();
        }
        connection
    }

    /// An ICMP message about a segment that went `dir` on connection `key`, where it stands in the order of the capture.
    #[cold]
    pub fn complain(&mut self, key: &FlowKey, dir: Dir, complaint: &Complaint) {
        let all = &self.connections;
        let place = self
            .index
            .find(all.hash_of(key), |place| all.is_at(place, key));
        match place.copied() {
            Some(place) => {
                if let Some(connection) = self.connections.get_mut(place.slot) {
                    connection.complain(dir, complaint);
                }
            }
            None => self.embryos.complain(key, dir, complaint),
        }
    }

    /// Gives a connection a place; `hash` is that of its key.
    fn settle(&mut self, connection: Connection, hash: u64) -> u32 {
        let (key, all) = (connection.head.key, &mut self.connections.all);
        let slot = self.free.pop().unwrap_or(all.len() as u32);
        if slot as usize == all.len() {
            all.push(Some(connection));
        } else {
            all[slot as usize] = Some(connection);
        }
        self.enter(slot, key.overlay, hash);
        if !self.families.is_missing() {
            let all = &self.connections;
            self.families.add(slot, &key, |slot| all.key(slot));
        }
        slot
    }

    /// Lets the connection be found by its key in `overlay`, of which this is the `hash`.
    fn enter(&mut self, slot: u32, overlay: u32, hash: u64) {
        let all = &self.connections;
        let place = Place { slot, overlay };
        self.index
            .insert_unique(hash, place, |place| all.hash(place));
    }

    /// Notes in which overlay network a packet was found. True if there are several.
    fn note_overlay(&mut self, overlay: u32) -> bool {
        let several = self.families.note(overlay);
        if several && self.families.is_missing() {
            let all = &self.connections;
            for slot in 0..all.all.len() as u32 {
                if let Some(key) = all.key(slot) {
                    self.families.add(slot, key, |slot| all.key(slot));
                }
            }
        }
        several
    }

    /// The connection of another overlay network that `seg` continues, from now on to be found by `key`, too.
    fn adopt(&mut self, key: &FlowKey, dir: Dir, seg: &Segment) -> Option<u32> {
        let all = &self.connections;
        let continued = |c: &Connection| c.continues(dir, seg);
        let allowed = |c: &Connection| {
            let is_one_way = [key.overlay, c.head.key.overlay].map(Overlay::is_one_way);
            is_one_way != [false; 2] && !c.contradicts(dir, seg)
        };
        let related = self.families.of(key, |slot| all.key(slot));
        let mut sought = related.iter().copied();
        let at = |slot: u32, fits: &dyn Fn(&Connection) -> bool| all.get(slot).is_some_and(fits);
        let known = sought.find(|&slot| at(slot, &continued));
        let slot = match known.or_else(|| related.into_iter().find(|&slot| at(slot, &allowed))) {
            Some(slot) => slot,
            None => {
                let config = &self.config;
                let born = |embryo: &Embryo| {
                    let mut one = Connection::new(embryo.key, 0, embryo.seg.ts_ns, config);
                    one.push_opening(embryo.dir, &embryo.seg, config);
                    one
                };
                let of = &mut self.embryos;
                let embryo = of.take_relative(key, |embryo| continued(&born(embryo)));
                let embryo =
                    embryo.or_else(|| of.take_relative(key, |embryo| allowed(&born(embryo))))?;
                let hash = self.connections.hash_of(&embryo.key);
                self.settle(self.born(&embryo), hash)
            }
        };
        self.connections.get_mut(slot)?.join(key.overlay, dir)?;
        self.enter(slot, key.overlay, self.connections.hash_of(key));
        Some(slot)
    }

    /// Reports a connection that had but one packet, or an attempt to open one.
    fn end(&mut self, embryo: &Embryo) {
        self.done.note_time(embryo.seg.ts_ns);
        let Embryo { key, dir, seg, .. } = embryo;
        if embryo.has_data() {
            Connection::finish_single(*key, *dir, seg, &self.config, &mut self.done);
        } else if let Some(attempt) = embryo.attempt() {
            self.done.push_attempt(attempt);
        }
    }

    /// As [`Tracker::end`] of one that gives way to others: whether it was answered is not known.
    fn forget(&mut self, embryo: &Embryo) {
        match embryo.attempt() {
            Some(attempt) if attempt.outcome == Outcome::Unanswered => {
                self.done.note_time(embryo.seg.ts_ns);
                self.done.forget_attempt(&attempt);
            }
            _ => self.end(embryo),
        }
    }

    /// Closes the connections that are over at `now` (capture time, nanoseconds), so that memory
    /// follows those that live: never done, all are kept.
    ///
    /// What comes later with the same addresses and ports is another connection. So call it where
    /// the place in the capture says so, and nothing else: then trackers that share a capture
    /// find what one alone would.
    pub fn close_idle(&mut self, now: i64) {
        self.cells.fill(NO_PLACE);
        if self.budget.has_limit() {
            self.count_all();
        }
        let since_ns = now.saturating_sub(self.config.idle_ns);
        for old in self.embryos.take_older(since_ns) {
            self.end(&old);
        }
        let idle_ns = self.config.idle_ns;
        let over = |c: &Connection| {
            let idle = now.saturating_sub(c.head.last_ns);
            idle > idle_ns || (idle > CLOSED_KEPT_NS && c.closed())
        };
        let slots = self.connections.all.iter().enumerate();
        let over: Vec<usize> = slots
            .filter(|(_, slot)| slot.as_ref().is_some_and(over))
            .map(|(slot, _)| slot)
            .collect();
        for (nth, &slot) in over.iter().enumerate() {
            if let Some(next) = over
                .get(nth + 1)
                .and_then(|&next| self.connections.get(next as u32))
            {
                next.warm_up();
            }
            let Some(mut connection) = self.remove(slot as u32) else {
                continue;
            };
            connection.finish(&self.config, &mut self.done);
        }
    }

    /// Bytes that the connections hold, by the estimate with which [`Config::memory`] is kept.
    pub fn held_bytes(&self) -> usize {
        let all = self.connections.all.iter().flatten();
        all.map(Connection::bytes).sum()
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
        let mut left = self.connections.all.drain(..).flatten().peekable();
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

/// It opens a connection.
fn is_bare_syn(seg: &Segment) -> bool {
    seg.flags.any(TcpFlags::SYN) && !seg.flags.any(TcpFlags::ACK)
}

#[cfg(test)]
mod tests;
