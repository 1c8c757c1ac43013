//! One connection: both directions, the handshake, and the vantage point they share.

use inorder_wire::{Dir, FlowKey, Has, Segment, TcpFlags};

use crate::config::Config;
use crate::flow_table::FlowTable;
use crate::side::{End, Hello, Shared, Side};
use crate::vantage::Position;

/// Packets of a short connection: room for so many is made at once while they wait.
const SHORT: usize = 12;

/// A connection as the tracker holds it.
///
/// In this order, what every packet needs is in the first line of the cache: a capture of many
/// connections spends more time on waiting for their lines than on most of the rest.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) key: FlowKey,
    /// The vantage point is known: segments do not wait for it.
    settled: bool,
    answered: bool,
    /// For each direction, that data has been seen and is followed.
    followed: [bool; 2],
    pub(crate) last_ns: i64,
    position: Position,
    sides: [Side; 2],
    /// What [`Connection::find_shared`] last found for each direction.
    shared: [Shared; 2],
    /// Segments that wait until the vantage point is known.
    waiting: Vec<(Dir, Segment)>,
    first_ns: i64,
    pub(crate) reuse: u32,
    reset: bool,
}

impl Connection {
    pub(crate) fn new(key: FlowKey, reuse: u32, now: i64, config: &Config) -> Self {
        Connection {
            key,
            settled: config.vantage.is_some(),
            answered: false,
            followed: [false; 2],
            last_ns: now,
            position: Position::default(),
            sides: [Side::default(), Side::default()],
            shared: [Shared::default(); 2],
            waiting: Vec::new(),
            first_ns: now,
            reuse,
            reset: false,
        }
    }

    /// True when `seg` opens a new connection with the same addresses and ports.
    pub(crate) fn is_reuse(&self, dir: Dir, seg: &Segment) -> bool {
        let opens = seg.flags.any(TcpFlags::SYN) && !seg.flags.any(TcpFlags::ACK | TcpFlags::RST);
        if !opens || self.position.is_new() {
            return false;
        }
        match self.sides[dir.index()].hello {
            Some(hello) => hello.isn != seg.seq,
            // Mid-flow so far, or the other end of a simultaneous open (RFC 9293 section 3.5).
            None => self.sides[dir.reverse().index()].hello.is_none() || self.closed(),
        }
    }

    /// The vantage point is known.
    #[cfg(test)]
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Both directions are finished, or it was reset.
    pub(crate) fn closed(&self) -> bool {
        self.reset || (self.sides[0].fin && self.sides[1].fin)
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
        if seg.ts_ns < self.last_ns {
            self.sides[dir.index()].note_reversal();
        } else {
            self.last_ns = seg.ts_ns;
        }
        self.position.observe(dir, seg);
        if self.settled {
            self.handle(dir, seg, config);
        } else {
            self.wait(dir, seg, config);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if self.waiting.is_empty() {
            self.waiting.reserve(SHORT);
        }
        self.waiting.push((dir, *seg));
        // Most connections end before their vantage point is certain: that they are over must be known all the same.
        self.sides[dir.index()].fin |= seg.flags.any(TcpFlags::FIN);
        self.reset |= seg.flags.any(TcpFlags::RST);
        if self.position.settled() {
            self.settled = true;
            self.release(config);
        }
    }

    #[cold]
    #[inline(never)]
    fn release(&mut self, config: &Config) {
        for (dir, seg) in &std::mem::take(&mut self.waiting) {
            self.handle_seldom(*dir, seg, config);
        }
    }

    #[cold]
    #[inline(never)]
    fn handle_seldom(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        self.handle(dir, seg, config);
    }

    #[inline(always)]
    fn handle(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let side = &mut self.sides[dir.index()];
        let first_stamp = seg.has(Has::TIMESTAMPS) && !side.speaks_timestamps();
        let Some(seen) = side.observe(seg) else {
            return;
        };
        if first_stamp {
            side.note_timestamps();
            self.share();
        }
        if seg.flags.any(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST) {
            self.control(dir, seg);
        }
        if seg.payload_len > 0 && !seg.flags.any(TcpFlags::RST) {
            if !self.followed[dir.index()] {
                self.follow(dir, seg, config);
            }
            let (shared, position) = (&self.shared[dir.index()], &self.position);
            let side = &mut self.sides[dir.index()];
            side.data(seg, seen, shared, || position.answer_time(dir));
        }
        self.answered |= seg.flags.any(TcpFlags::ACK);
        if !self.followed[dir.reverse().index()] {
            return;
        }
        let [low, high] = &mut self.sides;
        let (from, to) = match dir {
            Dir::LowToHigh => (low, high),
            Dir::HighToLow => (high, low),
        };
        to.acknowledged(seg, from, || self.position.answer_time(dir));
    }

    /// The first data that goes `dir`.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let choice = self.position.choose(dir, config.vantage, self.answered);
        let shared = &self.shared[dir.index()];
        self.sides[dir.index()].follow(seg, choice, config, shared);
        self.followed[dir.index()] = true;
    }

    #[cold]
    fn control(&mut self, dir: Dir, seg: &Segment) {
        let side = &mut self.sides[dir.index()];
        if seg.flags.any(TcpFlags::SYN) {
            side.hello = Some(Hello {
                isn: seg.seq,
                mss: seg.mss,
                sack: seg.has(Has::SACK_PERMITTED),
                timestamps: seg.has(Has::TIMESTAMPS),
                wscale: seg.wscale,
            });
            self.share();
        }
        let side = &mut self.sides[dir.index()];
        side.fin |= seg.flags.any(TcpFlags::FIN);
        self.reset |= seg.flags.any(TcpFlags::RST);
    }

    #[cold]
    fn share(&mut self) {
        self.shared = [Dir::LowToHigh, Dir::HighToLow].map(|dir| self.find_shared(dir));
        for (side, shared) in self.sides.iter_mut().zip(&self.shared) {
            side.note_shared(shared);
        }
    }

    fn find_shared(&self, dir: Dir) -> Shared {
        let (ours, theirs) = (&self.sides[dir.index()], &self.sides[dir.reverse().index()]);
        match (ours.hello, theirs.hello) {
            (Some(a), Some(b)) => {
                let timestamps = a.timestamps && b.timestamps;
                let shared = Shared::new(Some(a.sack && b.sack), timestamps, b.mss);
                Shared {
                    window_shift: Some(b.window_shift(&a)),
                    ..shared
                }
            }
            _ => {
                let timestamps = ours.speaks_timestamps() && theirs.speaks_timestamps();
                Shared::new(None, timestamps, theirs.hello.map_or(0, |h| h.mss))
            }
        }
    }

    /// The reports on the directions that carried data.
    pub(crate) fn finish(&mut self, config: &Config, out: &mut FlowTable) {
        self.release(config);
        for dir in [Dir::LowToHigh, Dir::HighToLow] {
            if !self.followed[dir.index()] {
                continue;
            }
            let end = End {
                shared: self.find_shared(dir),
                choice: self.position.choose(dir, config.vantage, self.answered),
                reuse: self.reuse,
                first_ns: self.first_ns,
                last_ns: self.last_ns,
                answers_cut: self.sides[dir.reverse().index()].options_cut(),
                answered: self.position.heard(dir.reverse()),
            };
            let side = &mut self.sides[dir.index()];
            if let Some(report) = side.finish(&self.key, dir, &end) {
                out.push(report);
            }
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
        connection.settled = true;
        connection.push_seldom(dir, seg, config);
        connection.finish(config, out);
    }
}
