//! One connection: both directions, the handshake, and the vantage point they share.

mod differences;
mod opening;
mod related;
mod twins;
mod waiting;

use inorder_wire::{Complaint, Dir, FlowKey, Has, Segment, TcpFlags};

use crate::complaints::MAX_COMPLAINTS;
use crate::config::Config;
use crate::flow_table::FlowTable;
use crate::side::{End, Hello, Known, Shared, Side, Start};
use crate::vantage::Position;
use inorder_base::heap::Heap;
use opening::Opening;
use twins::Twins;
use waiting::Waiting;

/// Latest timestamp whose differences cannot overflow `i64`, nanoseconds: 73 years after 1970.
const MAX_TIME_NS: i64 = 1 << 61;
/// Where several queues or processors feed a capture, packets of one host are out of order by less than this,
/// nanoseconds; by more the clock was set back.
const MIN_SET_BACK_NS: i64 = 5_000_000;
/// Packets of two hosts that are out of order by less than this change no verdict, nanoseconds.
const MAX_TOLERATED_DISORDER_NS: i64 = 250_000;
/// Number of packets that may be out of order by more.
const MAX_TOLERATED_DISORDERED: u32 = 2;

/// Number of first segments of a connection that wait until they are judged together; a connection that ends earlier has
/// fewer. Where very many connections are open at once, most have fewer, and the 40 bytes that a waiting segment takes are a
/// fraction of the memory of the engines that judge it.
const TOGETHER: usize = 128;

/// A connection as the tracker holds it.
///
/// Both parts lie elsewhere and are found side by side: the processor fetches them at once, where it would wait for
/// the one to find the other if that held it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) head: Box<Head>,
    /// Both directions, once the vantage point is known. Segments wait until then, most of them for as long as their
    /// connection lasts: till its end it takes half of the memory.
    sides: Option<Box<[Side; 2]>>,
    /// What the tracker last counted it as, bytes.
    counted: u32,
}

/// What a connection holds is counted after each of its first packets that were not just the next in order, up to the first number, and
/// then whenever the second number of them has come.
const FIRST_STRAYS: u8 = 4;
const STRAYS: u8 = 16;
/// What a connection takes before it holds anything: its head, and its places in tables.
const EMPTY_BYTES: usize = size_of::<Head>() + 3 * size_of::<Connection>();

/// What a connection has from its first packet on.
///
/// In this order, what every packet needs is in the first lines of the cache: a capture of many
/// connections spends more time on waiting for their lines than on most of the rest.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Head {
    pub(crate) key: FlowKey,
    pub(crate) reuse: u32,
    pub(crate) last_ns: i64,
    /// The overlay network in which each direction is found.
    overlays: [u32; 2],
    /// How far the capture's clock has been set back in all, nanoseconds.
    set_back_ns: i64,
    common: Common,
    /// Segments that wait until the vantage point is known.
    waiting: Waiting,
    first_ns: i64,
    /// Packets that are older than another before them in the file.
    disordered: u32,
    /// When each direction's last packet was captured, nanoseconds.
    last_of: [i64; 2],
    /// How often each direction's packets went back in time.
    reversals: [u64; 2],
    /// Further overlay networks in which the connection is found.
    also: Box<[u32]>,
    opening: Opening,
    /// ICMP messages about its segments, and the direction of these.
    #[allow(clippy::box_collection)] // Rare, and a vector takes three words.
    complaints: Option<Box<Vec<(Dir, Complaint)>>>,
}

/// What is known of both directions together.
#[derive(Debug)]
#[repr(C)]
struct Common {
    /// For each direction, that its host has acknowledged something.
    acks: [bool; 2],
    /// For each direction, that its host has reset the connection.
    resets: [bool; 2],
    /// For each direction, that data has been seen and is followed.
    followed: [bool; 2],
    /// For each direction, that its host has sent all it will.
    fins: [bool; 2],
    /// `shared` says what the hosts' SYNs do.
    is_shared: bool,
    /// It may hold more than when it was counted last.
    grew: bool,
    /// Data that was not just the next in order, modulo 256.
    strays: u8,
    position: Position,
    hellos: [Option<Hello>; 2],
    /// What [`Common::find_shared`] last found for each direction.
    shared: [Shared; 2],
}

impl Connection {
    pub(crate) fn new(key: FlowKey, reuse: u32, now: i64, config: &Config) -> Self {
        let common = Common {
            acks: [false; 2],
            resets: [false; 2],
            followed: [false; 2],
            fins: [false; 2],
            is_shared: false,
            grew: true,
            strays: 0,
            position: Position::default(),
            hellos: [None; 2],
            shared: [Shared::default(); 2],
        };
        let head = Head {
            key,
            reuse,
            last_ns: now,
            overlays: [key.overlay; 2],
            set_back_ns: 0,
            common,
            waiting: Waiting::default(),
            first_ns: now,
            disordered: 0,
            last_of: [i64::MIN; 2],
            reversals: [0; 2],
            also: Box::default(),
            opening: Opening::default(),
            complaints: None,
        };
        Connection {
            head: Box::new(head),
            sides: config.vantage.is_some().then(Box::default),
            counted: 0,
        }
    }

    /// It may hold more bytes than when they were counted last. Only its own packets decide when they are counted again, so which
    /// connections are ended once the memory is used up does not depend on the number of threads.
    #[inline(always)]
    pub(crate) fn has_grown(&self) -> bool {
        self.head.common.grew
    }

    /// Bytes that it held when this was asked last, and that it holds now.
    pub(crate) fn count_bytes(&mut self) -> (usize, usize) {
        let before = self.counted;
        self.head.common.grew = false;
        self.counted = u32::try_from(self.bytes()).unwrap_or(u32::MAX);
        (before as usize, self.counted as usize)
    }

    /// Bytes that it holds, by the room of its lists.
    pub(crate) fn bytes(&self) -> usize {
        let head = &self.head;
        let complaints = head.complaints.as_ref().map_or(0, Heap::heap_bytes);
        let lists = head.waiting.heap_bytes() + head.opening.heap_bytes() + complaints;
        EMPTY_BYTES + lists + size_of_val(&*head.also) + self.sides.heap_bytes()
    }

    /// Bytes that it was counted as.
    pub(crate) fn counted_bytes(&self) -> usize {
        self.counted as usize
    }

    /// How much came of it that a report would tell of: what was late, sent again or lost, or seems so while packets wait. 0
    /// as long as it is in order.
    pub(crate) fn troubles(&self) -> u64 {
        match &self.sides {
            Some(sides) => sides.iter().map(Side::troubles).sum(),
            None => self.head.waiting.disordered(),
        }
    }

    /// Reads something of every line of the cache that the end of the connection needs, so that the processor fetches
    /// them all at once, and long before.
    pub(crate) fn warm_up(&self) {
        let packets = self.head.waiting.times();
        let times = packets.fold(self.head.last_ns ^ self.head.first_ns, |all, ns| all ^ ns);
        let common = &self.head.common;
        let known = common.hellos.map(|hello| hello.is_some());
        std::hint::black_box((
            times,
            common.resets,
            known,
            common.position.is_new(),
            self.head.last_of,
        ));
    }

    /// True if a packet that goes `dir` and has this key is one of it.
    #[inline]
    pub(crate) fn is_of(&self, key: &FlowKey, dir: Dir) -> bool {
        self.head.key.is_in(key, self.head.overlays[dir.index()])
    }

    /// True when `seg` opens a new connection with the same addresses and ports.
    pub(crate) fn is_reuse(&self, dir: Dir, seg: &Segment) -> bool {
        let opens = seg.flags.any(TcpFlags::SYN) && !seg.flags.any(TcpFlags::ACK | TcpFlags::RST);
        if !opens || self.head.common.position.is_new() {
            return false;
        }
        match self.head.common.hellos[dir.index()] {
            Some(hello) => hello.isn != seg.seq,
            // Mid-flow so far, or the other end of a simultaneous open (RFC 9293 section 3.5).
            None => self.head.common.hellos[dir.reverse().index()].is_none() || self.closed(),
        }
    }

    /// The vantage point is known.
    #[cfg(test)]
    pub(crate) fn is_settled(&self) -> bool {
        self.sides.is_some()
    }

    /// Both directions are finished, or it was reset.
    pub(crate) fn closed(&self) -> bool {
        self.head.common.resets != [false; 2] || self.head.common.fins == [true; 2]
    }

    /// The next segment, where that is not called for every packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_seldom(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        self.push(dir, seg, config);
    }

    /// The next segment. Inlined where every packet passes, since the call would take a tenth of its time.
    #[inline(always)]
    pub(crate) fn push(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if self.head.set_back_ns != 0 || seg.ts_ns < self.head.last_ns {
            return self.push_adjusted(dir, seg, config);
        }
        self.head.last_ns = seg.ts_ns;
        self.head.last_of[dir.index()] = seg.ts_ns;
        self.push_timed(dir, seg, config);
    }

    /// A packet whose time goes back, or comes after the clock was set back.
    #[cold]
    #[inline(never)]
    fn push_adjusted(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let mut seg = Segment {
            ts_ns: seg
                .ts_ns
                .saturating_add(self.head.set_back_ns)
                .min(MAX_TIME_NS),
            ..*seg
        };
        let back_ns = self.head.last_ns.saturating_sub(seg.ts_ns);
        if back_ns > 0 {
            self.head.reversals[dir.index()] += 1;
            let own_ns = self.head.last_of[dir.index()].saturating_sub(seg.ts_ns);
            if back_ns > MIN_SET_BACK_NS
                && self.sides.is_none()
                && self.head.common.position.settled()
            {
                self.release(config); // What waits was sent by the clock as it was.
            }
            if own_ns > MIN_SET_BACK_NS {
                // One host's packets are in their order: it is the clock that was set back.
                self.head.set_back_ns = self.head.set_back_ns.saturating_add(back_ns);
                self.set_after_last(&mut seg);
            } else if back_ns > MAX_TOLERATED_DISORDER_NS {
                self.head.disordered += 1;
                if back_ns > MIN_SET_BACK_NS {
                    self.set_after_last(&mut seg); // Perhaps the first packet after it was set back.
                }
            }
        }
        self.head.last_ns = self.head.last_ns.max(seg.ts_ns);
        self.head.last_of[dir.index()] = seg.ts_ns;
        self.push_timed(dir, &seg, config);
    }

    /// Its time says nothing, but that it comes behind the packet before; and nothing that was sent before can be timed
    /// by what comes now.
    fn set_after_last(&mut self, seg: &mut Segment) {
        seg.ts_ns = self.head.last_ns.saturating_add(1).min(MAX_TIME_NS);
        self.head.common.position.forget();
        for side in self.sides.iter_mut().flat_map(|sides| &mut **sides) {
            side.note_clock_set(seg.ts_ns);
        }
    }

    #[inline(always)]
    fn push_timed(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        self.head.common.position.observe(dir, seg);
        match &mut self.sides {
            Some(sides) => self.head.common.handle(sides, dir, seg, config),
            None => self.wait(dir, seg, config),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        self.head.waiting.push(dir, seg);
        self.head.common.grew |= self.head.waiting.len().is_power_of_two();
        // Most connections end before their vantage point is certain: that they are over must be known all the same.
        self.head.common.fins[dir.index()] |= seg.flags.any(TcpFlags::FIN);
        self.head.common.resets[dir.index()] |= seg.flags.any(TcpFlags::RST);
        if seg.flags.any(TcpFlags::SYN) {
            // By this a SYN that is repeated meanwhile is known from another connection's.
            self.head.common.hellos[dir.index()] = Some(Hello::of(seg));
        }
        let settled = self.head.waiting.len() >= TOGETHER && self.head.common.position.settled();
        let clear = || {
            let twins = self.head.waiting.twins();
            !matches!(twins, Twins::Perhaps | Twins::SoFar(_))
        };
        if settled && clear() {
            self.release(config);
        }
    }

    /// Nothing waits any more.
    #[cold]
    #[inline(never)]
    fn release(&mut self, config: &Config) {
        self.head.common.grew = true;
        let sides = self.sides.get_or_insert_default();
        let twins = self.head.waiting.twins();
        if let Twins::All(copies) | Twins::SoFar(copies) = twins {
            sides.iter_mut().for_each(|side| side.note_copied(copies));
        }
        for (dir, seg) in std::mem::take(&mut self.head.waiting).iter() {
            self.head.common.handle_seldom(sides, dir, &seg, config);
        }
    }

    /// An ICMP message about a segment that went `dir`.
    #[cold]
    pub(crate) fn complain(&mut self, dir: Dir, complaint: &Complaint) {
        self.note_complaint_of_syn(dir, complaint);
        let all = self.head.complaints.get_or_insert_default();
        if all.len() < MAX_COMPLAINTS {
            all.push((dir, *complaint));
        }
    }

    /// The reports on the directions that carried data.
    pub(crate) fn finish(&mut self, config: &Config, out: &mut FlowTable) {
        out.note_time(self.head.last_ns);
        let packets = self.head.waiting.len();
        self.release(config);
        if self.head.common.followed == [false; 2] {
            self.attempt(packets)
                .into_iter()
                .for_each(|a| out.push_attempt(a));
            return;
        }
        let (low, high) = (Dir::LowToHigh, Dir::HighToLow);
        let handshakes = [self.handshake(low), self.handshake(high)];
        let opened = [self.opened_ns(low), self.opened_ns(high)];
        let unscaled = self.is_unscaled();
        let (Some(sides), common) = (&mut self.sides, &self.head.common) else {
            return;
        };
        for (dir, side) in [Dir::LowToHigh, Dir::HighToLow]
            .into_iter()
            .zip(&mut **sides)
        {
            let all = self.head.complaints.iter().flat_map(|all| &**all);
            let about: Vec<Complaint> = all.filter(|c| c.0 == dir).map(|c| c.1).collect();
            if !about.is_empty() {
                side.note_complaints(&about);
            }
        }
        let answered = common.acks != [false; 2];
        for dir in [Dir::LowToHigh, Dir::HighToLow] {
            if !common.followed[dir.index()] {
                continue;
            }
            let position = &common.position;
            let end = End {
                shared: common.find_shared(sides, dir),
                choice: position.choose(dir, config.vantage, answered),
                reuse: self.head.reuse,
                first_ns: self.head.first_ns,
                last_ns: self.head.last_ns,
                blocks_hidden: sides[dir.reverse().index()].blocks_hidden(),
                sack_seen: sides[dir.reverse().index()].shows_sack(),
                answered: position.heard(dir.reverse()),
                disorder: self.head.disordered > MAX_TOLERATED_DISORDERED
                    || position.out_of_order(),
                syn_seen: common.hellos[dir.index()].is_some(),
                opened_ns: opened[dir.index()],
                unscaled,
                handshake: handshakes[dir.index()],
                reversals: self.head.reversals[dir.index()],
                receiver_identification: sides[dir.reverse().index()].identification(),
                answers_duplicated: match common.followed[dir.reverse().index()] {
                    // They count in the report on the data that goes the other way.
                    true => 0,
                    false => sides[dir.reverse().index()].duplicated(),
                },
            };
            sides[dir.index()].finish(&self.head.key, dir, &end, out);
        }
    }

    /// The report on a connection of which `seg` is the only packet: none has to wait for what others say.
    pub(crate) fn finish_single(
        key: FlowKey,
        dir: Dir,
        seg: &Segment,
        config: &Config,
        out: &mut FlowTable,
    ) {
        let mut connection = Connection::new(key, 0, seg.ts_ns, config);
        connection.sides.get_or_insert_default();
        connection.push_seldom(dir, seg, config);
        connection.finish(config, out);
    }
}

impl Common {
    #[cold]
    #[inline(never)]
    fn handle_seldom(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment, config: &Config) {
        self.handle(sides, dir, seg, config);
    }

    #[inline(always)]
    fn handle(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment, config: &Config) {
        let [low, high] = &mut *sides;
        let (side, other) = match dir {
            Dir::LowToHigh => (low, high),
            Dir::HighToLow => (high, low),
        };
        let first_stamp = seg.has(Has::TIMESTAMPS) && !side.speaks_timestamps();
        let position = &self.position;
        let loop_ns = || Some(position.answer_time(dir)? + position.answer_time(dir.reverse())?);
        let Some(seen) = side.observe(seg, other, loop_ns) else {
            return;
        };
        let rest;
        let seg = match seen.unusual {
            true if seen.repeated > 0 => {
                rest = side.behind_twins(seg, seen.repeated);
                &rest
            }
            _ => seg,
        };
        if first_stamp {
            side.note_timestamps();
            self.share(sides);
        }
        let counted;
        let seg = match seg.has(Has::OPTIONS_CUT) {
            true => {
                counted = self.cut(sides, dir, seg);
                &counted
            }
            false => seg,
        };
        if seg.flags.any(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST) {
            self.control(sides, dir, seg);
        }
        if seg.payload_len > 0 && !seg.flags.any(TcpFlags::RST) {
            if !self.followed[dir.index()] {
                self.follow(sides, dir, seg, config);
            }
            let (shared, position) = (&self.shared[dir.index()], &self.position);
            let hello = &self.hellos[dir.index()];
            let plain = sides[dir.index()].data(seg, seen, shared, || Known {
                to_sender_ns: position.answer_time(dir),
                syn_seen: hello.is_some(),
            });
            if !plain {
                // The first ones make what follows the others; those add little.
                self.strays = self.strays.wrapping_add(1);
                self.grew |= self.strays < FIRST_STRAYS || self.strays.is_multiple_of(STRAYS);
            }
        }
        if seg.payload_len == 0 && seg.flags.any(TcpFlags::FIN) {
            sides[dir.index()].note_end();
        }
        let acks = seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST);
        self.acks[dir.index()] |= acks;
        if !self.followed[dir.reverse().index()] {
            if self.hellos[dir.reverse().index()].is_none() {
                // The first data may not be the first that was sent.
                sides[dir.index()].note_reported(seg);
            }
            return;
        }
        let [low, high] = sides;
        let (from, to) = match dir {
            Dir::LowToHigh => (low, high),
            Dir::HighToLow => (high, low),
        };
        to.acknowledged(seg, from, || self.position.answer_time(dir));
    }

    /// A segment whose options are not whole, with what its host's other packets tell of them.
    #[cold]
    fn cut(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment) -> Segment {
        let side = &mut sides[dir.index()];
        let hid = side.hides_timestamps();
        let counted = side.count_blocks(seg);
        if side.hides_timestamps() && !hid {
            self.share(sides);
        }
        counted
    }

    /// The first data that goes `dir`.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment, config: &Config) {
        let choice = self
            .position
            .choose(dir, config.vantage, self.acks != [false; 2]);
        let shared = &self.shared[dir.index()];
        sides[dir.index()].assume(config.assumed.sender_identification);
        let start = Start {
            hello: self.hellos[dir.index()],
            reported: sides[dir.reverse().index()].reported(),
        };
        sides[dir.index()].follow(seg, &start, (choice, config, shared));
        self.followed[dir.index()] = true;
    }

    #[cold]
    fn control(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment) {
        if seg.flags.any(TcpFlags::SYN) {
            let hello = Some(Hello::of(seg));
            // It is known if it has waited: then the SYN before has told all.
            let known = self.is_shared && self.hellos[dir.index()] == hello;
            self.hellos[dir.index()] = hello;
            if !known {
                self.share(sides);
            }
        }
        self.fins[dir.index()] |= seg.flags.any(TcpFlags::FIN);
        self.resets[dir.index()] |= seg.flags.any(TcpFlags::RST);
    }

    #[cold]
    fn share(&mut self, sides: &mut [Side; 2]) {
        self.is_shared = true;
        let of = |dir| self.find_shared(sides, dir);
        self.shared = [of(Dir::LowToHigh), of(Dir::HighToLow)];
        for (side, shared) in sides.iter_mut().zip(&self.shared) {
            side.note_shared(shared);
        }
    }

    fn find_shared(&self, sides: &[Side; 2], dir: Dir) -> Shared {
        let (ours, theirs) = (dir.index(), dir.reverse().index());
        let spoken = || sides.iter().all(Side::speaks_timestamps);
        let stamped = sides[ours].hides_timestamps();
        match (self.hellos[ours], self.hellos[theirs]) {
            (Some(a), Some(b)) => {
                let timestamps = Hello::both(a.timestamps, b.timestamps).unwrap_or_else(spoken);
                let sack = Hello::both(a.sack, b.sack);
                let shared = Shared::new(sack, timestamps, stamped, b.mss);
                Shared {
                    handshake: true,
                    window_shift: b.window_shift(&a),
                    ..shared
                }
            }
            (_, hello) => Shared::new(None, spoken(), stamped, hello.map_or(0, |h| h.mss)),
        }
    }
}
