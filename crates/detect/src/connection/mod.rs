//! One connection: both directions, the handshake, and the vantage point they share.

mod alive;
mod clock;
mod closing;
mod common;
mod differences;
mod finish;
mod foreign;
mod opening;
mod related;
mod replay;
mod waiting;

use inorder_twice::Twins;
use inorder_vantage::MIN_SYN_TIMEOUT_NS;
use inorder_wire::{Complaint, Dir, FlowKey, Has, Segment, TcpFlags};

use crate::complaints::MAX_COMPLAINTS;
use crate::config::Config;
use crate::side::{Hello, Side};
use common::Common;
use inorder_base::heap::Heap;
use opening::Opening;
use replay::Replay;
use waiting::Waiting;

/// Number of first segments of a connection that wait until they are judged together; a connection that ends earlier has
/// fewer. Where very many connections are open at once, most have fewer, and the ten bytes that a waiting segment takes are a
/// fraction of the memory of the engines that judge it; but writing each down and reading it again takes time.
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
    /// How far the capture's clock has been set back in all, nanoseconds; negative if it was set forward.
    set_back_ns: i64,
    common: Common,
    /// Segments that wait until the vantage point is known.
    waiting: Waiting,
    first_ns: i64,
    /// Packets that are older than another before them in the file.
    disordered: u32,
    /// Its times are those at which packets were fetched, many at once.
    in_batches: bool,
    /// Which way the last packet went.
    last_dir: Dir,
    /// By how much one was older than the one right before it, nanoseconds; the greatest number if several were, or one by too much.
    step_ns: i64,
    /// When each direction's last packet was captured, nanoseconds.
    last_of: [i64; 2],
    /// How often each direction's packets went back in time.
    reversals: [u64; 2],
    /// How often the clock had been set forward before a packet of each direction.
    leaps: [u32; 2],
    /// Further overlay networks in which the connection is found.
    also: Box<[u32]>,
    opening: Opening,
    /// What of it came again behind all others.
    replay: Option<Box<Replay>>,
    /// ICMP messages about its segments, and the direction of these.
    #[allow(clippy::box_collection)] // Rare, and a vector takes three words.
    complaints: Option<Box<Vec<(Dir, Complaint)>>>,
}

impl Connection {
    pub(crate) fn new(key: FlowKey, reuse: u32, now: i64, config: &Config) -> Self {
        let head = Head {
            key,
            reuse,
            last_ns: now,
            overlays: [key.overlay; 2],
            set_back_ns: 0,
            common: Common::default(),
            waiting: Waiting::default(),
            first_ns: now,
            disordered: 0,
            in_batches: config.hosts.in_batches,
            last_dir: Dir::LowToHigh,
            step_ns: 0,
            last_of: [i64::MIN; 2],
            reversals: [0; 2],
            leaps: [0; 2],
            also: Box::default(),
            opening: Opening::default(),
            replay: None,
            complaints: None,
        };
        Connection {
            head: Box::new(head),
            sides: config.vantage.is_some().then(|| Side::both(&key, config)),
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
        let replay = head.replay.as_deref().map_or(0, size_of_val);
        let lists = head.waiting.heap_bytes() + head.opening.heap_bytes() + complaints + replay;
        let closing = head.common.closing.as_deref().map_or(0, size_of_val);
        EMPTY_BYTES + lists + closing + size_of_val(&*head.also) + self.sides.heap_bytes()
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
            // Whoever plays a recording again uses its numbers again. No SYN is repeated once both hosts have said all.
            Some(hello) => {
                let since_ns = seg.ts_ns.saturating_sub(self.head.last_ns);
                let over = self.head.common.fins == [true; 2] && since_ns >= MIN_SYN_TIMEOUT_NS;
                hello.isn != seg.seq || over
            }
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
        // A time that goes back is a very long silence here.
        let silence_ns = seg.ts_ns.wrapping_sub(self.head.last_ns) as u64;
        if self.head.set_back_ns != 0 || silence_ns > clock::MAX_UNDOUBTED_SILENCE_NS {
            return self.push_adjusted(dir, seg, config);
        }
        self.head.last_ns = seg.ts_ns;
        self.head.last_of[dir.index()] = seg.ts_ns;
        self.head.last_dir = dir;
        self.push_timed(dir, seg, config);
    }

    #[inline(always)]
    fn push_timed(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if self.head.common.stamped && !seg.has(Has::TIMESTAMPS) && self.is_foreign(dir, seg) {
            self.head.common.foreign[dir.index()] += 1;
            return;
        }
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
            self.head.common.note_stamped();
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
        if self.head.waiting.mixes_ttls() {
            self.leave_foreign_out();
        }
        let key = &self.head.key;
        let sides = self.sides.get_or_insert_with(|| Side::both(key, config));
        let twins = self.head.waiting.twins();
        if let Twins::All(copies) | Twins::SoFar(copies) = twins {
            let each = sides.iter_mut().zip(copies);
            each.for_each(|(side, copies)| side.note_copied(copies));
        }
        let common = &mut self.head.common;
        let waiting = std::mem::take(&mut self.head.waiting);
        if common.position.answers_too_soon() {
            self.head.in_batches |= inorder_vantage::are_batches(waiting.iter());
        }
        // No loop: that would ask before each segment whether it is among the first ones.
        waiting
            .iter()
            .for_each(|(dir, seg)| common.handle_seldom(sides, dir, &seg, config));
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
}
