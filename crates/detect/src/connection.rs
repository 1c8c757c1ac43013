//! One connection: both directions, the handshake, and the vantage point they share.

use inorder_wire::{Dir, FlowKey, Has, Segment, TcpFlags};

use crate::config::Config;
use crate::flow_table::FlowTable;
use crate::side::{End, Hello, Shared, Side};
use crate::vantage::Position;

/// Packets of a short connection: room for so many is made at once while they wait.
const SHORT: usize = 12;

/// The last time that differences can be taken of without a thought, nanoseconds: some 73 years from 1970 on.
const MAX_TIME_NS: i64 = 1 << 61;
/// Where several queues or processors feed a capture, packets of one host are out of order by less than this,
/// nanoseconds; by more the clock was set back.
const MIN_SET_BACK_NS: i64 = 5_000_000;
/// Packets of two hosts that are out of order by less than this change no verdict, nanoseconds.
const MAX_TOLERATED_DISORDER_NS: i64 = 250_000;
/// So many packets may be out of order by more.
const MAX_TOLERATED_DISORDERED: u32 = 2;

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
    /// By so much the capture's clock has been set back, nanoseconds.
    set_back_ns: i64,
    position: Position,
    sides: [Side; 2],
    /// What [`Connection::find_shared`] last found for each direction.
    shared: [Shared; 2],
    /// Segments that wait until the vantage point is known.
    waiting: Vec<(Dir, Segment)>,
    first_ns: i64,
    pub(crate) reuse: u32,
    reset: bool,
    /// When each direction's last packet was captured, nanoseconds.
    last_of: [i64; 2],
    /// Packets that are older than another before them in the file.
    disordered: u32,
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
            last_of: [i64::MIN; 2],
            set_back_ns: 0,
            disordered: 0,
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
        if self.set_back_ns != 0 || seg.ts_ns < self.last_ns {
            return self.push_adjusted(dir, seg, config);
        }
        self.last_ns = seg.ts_ns;
        self.last_of[dir.index()] = seg.ts_ns;
        self.push_timed(dir, seg, config);
    }

    /// A packet whose time goes back, or comes after the clock was set back.
    #[cold]
    #[inline(never)]
    fn push_adjusted(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let mut seg = Segment {
            ts_ns: seg.ts_ns.saturating_add(self.set_back_ns).min(MAX_TIME_NS),
            ..*seg
        };
        let back_ns = self.last_ns.saturating_sub(seg.ts_ns);
        if back_ns > 0 {
            self.sides[dir.index()].note_reversal();
            let own_ns = self.last_of[dir.index()].saturating_sub(seg.ts_ns);
            if own_ns > MIN_SET_BACK_NS {
                // One host's packets are in their order: it is the clock that was set back.
                self.set_back_ns = self.set_back_ns.saturating_add(back_ns);
                self.set_after_last(&mut seg);
            } else if back_ns > MAX_TOLERATED_DISORDER_NS {
                self.disordered += 1;
                if back_ns > MIN_SET_BACK_NS {
                    self.set_after_last(&mut seg); // Perhaps the first packet after it was set back.
                }
            }
        }
        self.last_ns = self.last_ns.max(seg.ts_ns);
        self.last_of[dir.index()] = seg.ts_ns;
        self.push_timed(dir, &seg, config);
    }

    /// Its time says nothing, but that it comes behind the packet before; and nothing that was sent before can be timed
    /// by what comes now.
    fn set_after_last(&mut self, seg: &mut Segment) {
        seg.ts_ns = self.last_ns.saturating_add(1).min(MAX_TIME_NS);
        self.position.forget();
        for side in &mut self.sides {
            side.note_clock_set(seg.ts_ns);
        }
    }

    #[inline(always)]
    fn push_timed(&mut self, dir: Dir, seg: &Segment, config: &Config) {
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
        if seg.flags.any(TcpFlags::SYN) {
            // By this a SYN that is repeated meanwhile is known from another connection's.
            self.sides[dir.index()].hello = Some(Hello::of(seg));
        }
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
            self.sides[dir.index()].note_reported(seg);
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
        let reported = self.sides[dir.reverse().index()].reported();
        self.sides[dir.index()].follow(seg, reported, (choice, config, shared));
        self.followed[dir.index()] = true;
    }

    #[cold]
    fn control(&mut self, dir: Dir, seg: &Segment) {
        let side = &mut self.sides[dir.index()];
        if seg.flags.any(TcpFlags::SYN) {
            side.hello = Some(Hello::of(seg));
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
                disorder: self.disordered > MAX_TOLERATED_DISORDERED
                    || self.position.out_of_order(),
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
