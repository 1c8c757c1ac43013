//! What is known of both directions together, and how a segment reaches them.

use inorder_vantage::Position;
use inorder_wire::{Dir, Has, Segment, TcpFlags};

use super::alive::KeepAlives;
use super::closing;
use super::foreign;
use crate::config::Config;
use crate::copies::RoundTrip;
use crate::numbering::Numbering;
use crate::side::{Hello, Known, Shared, Side, Start};

/// What a connection holds is counted after each of its first packets that were not just the next in order, up to the first number, and
/// then whenever the second number of them has come.
const FIRST_STRAYS: u8 = 4;
const STRAYS: u8 = 16;
/// What is known of both directions together.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Common {
    /// For each direction, that its host has acknowledged something.
    pub(super) acks: [bool; 2],
    /// For each direction, that its host has reset the connection.
    pub(super) resets: [bool; 2],
    /// For each direction, that data has been seen and is followed.
    pub(super) followed: [bool; 2],
    /// For each direction, that its host has sent all it will.
    pub(super) fins: [bool; 2],
    /// `shared` says what the hosts' SYNs do.
    pub(super) is_shared: bool,
    /// Both SYNs offer timestamps.
    pub(super) stamped: bool,
    /// The connection may take more memory than when it was counted last.
    pub(super) grew: bool,
    /// Data that was not just the next in order, modulo 256.
    strays: u8,
    /// Packets in the name of each direction's host that it has not sent.
    pub(super) foreign: [u32; 2],
    pub(super) position: Position,
    pub(super) hellos: [Option<Hello>; 2],
    /// What [`Common::find_shared`] last found for each direction.
    pub(super) shared: [Shared; 2],
    /// Its keep-alives, if there are any.
    pub(super) alive: Option<Box<KeepAlives>>,
    /// How it is closed, once that begins.
    pub(super) closing: Option<Box<closing::End>>,
}

impl Default for Common {
    fn default() -> Self {
        Common {
            acks: [false; 2],
            resets: [false; 2],
            followed: [false; 2],
            fins: [false; 2],
            is_shared: false,
            stamped: false,
            foreign: [0; 2],
            grew: true,
            strays: 0,
            position: Position::default(),
            hellos: [None; 2],
            shared: [Shared::default(); 2],
            alive: None,
            closing: None,
        }
    }
}

impl Common {
    #[cold]
    #[inline(never)]
    pub(super) fn handle_seldom(
        &mut self,
        sides: &mut [Side; 2],
        dir: Dir,
        seg: &Segment,
        config: &Config,
    ) {
        self.handle(sides, dir, seg, config);
    }

    #[inline(always)]
    pub(super) fn handle(
        &mut self,
        sides: &mut [Side; 2],
        dir: Dir,
        seg: &Segment,
        config: &Config,
    ) {
        if sides[dir.index()].ids_swapped() {
            return self.handle_swapped(sides, dir, seg, config);
        }
        self.handle_as_read(sides, dir, seg, config);
    }

    /// The same of a host whose identifications are in the other byte order.
    #[cold]
    #[inline(never)]
    fn handle_swapped(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment, config: &Config) {
        let ip_id = seg.ip_id.swap_bytes();
        self.handle_as_read(sides, dir, &Segment { ip_id, ..*seg }, config);
    }

    #[inline(always)]
    fn handle_as_read(&mut self, sides: &mut [Side; 2], dir: Dir, seg: &Segment, config: &Config) {
        let [low, high] = &mut *sides;
        let (side, other) = match dir {
            Dir::LowToHigh => (low, high),
            Dir::HighToLow => (high, low),
        };
        // Offered only on a SYN; they stand on other segments where both ends have agreed (RFC 7323 section 3.2).
        let first_stamp =
            !side.speaks_timestamps() && seg.has(Has::TIMESTAMPS) && !seg.flags.any(TcpFlags::SYN);
        let position = &self.position;
        let loop_ns = || Some(position.answer_time(dir)? + position.answer_time(dir.reverse())?);
        let Some(seen) = side.observe(seg, other, loop_ns) else {
            return;
        };
        let changed = seen.unusual && seen.repeated > 0 || seg.has(Has::OPTIONS_CUT);
        if first_stamp || changed || seg.sack_len > 0 && foreign::has_foreign_blocks(seg) {
            return self.pass_changed(sides, dir, seg, (seen, first_stamp), config);
        }
        self.pass_on(sides, dir, seg, seen, config);
    }

    /// As [`Common::pass_on`], with what is left of a segment, or what its host's other packets tell of it, or the first timestamps.
    #[cold]
    #[inline(never)]
    fn pass_changed(
        &mut self,
        sides: &mut [Side; 2],
        dir: Dir,
        seg: &Segment,
        (seen, first_stamp): (Numbering, bool),
        config: &Config,
    ) {
        let mut seg = *seg;
        if seen.unusual && seen.repeated > 0 {
            seg = sides[dir.index()].behind_twins(&seg, seen.repeated);
        }
        if first_stamp {
            sides[dir.index()].note_timestamps();
            self.share(sides);
        }
        if seg.has(Has::OPTIONS_CUT) {
            seg = self.cut(sides, dir, &seg);
        }
        if foreign::has_foreign_blocks(&seg) {
            seg.sack_len = 0;
            seg = seg.with_all_sack_blocks(0);
        }
        self.pass_on(sides, dir, &seg, seen, config);
    }

    /// A segment that is no duplicate frame, as it was `seen`.
    #[inline(always)]
    fn pass_on(
        &mut self,
        sides: &mut [Side; 2],
        dir: Dir,
        seg: &Segment,
        seen: Numbering,
        config: &Config,
    ) {
        if seg
            .flags
            .any(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST | TcpFlags::CWR)
        {
            self.control(sides, dir, seg);
        }
        let keeps_alive = seg.payload_len == 1
            && !self.followed[dir.index()]
            && self.is_keep_alive_before_data(sides, dir, seg);
        let mut in_vain = false;
        if keeps_alive {
            self.keep_alive(dir, seg);
        } else if self.resets[dir.reverse().index()] && self.is_sent_in_vain(sides, dir, seg) {
            in_vain = true;
        } else if seg.payload_len > 0 && !seg.flags.any(TcpFlags::RST) {
            if !self.followed[dir.index()] {
                self.follow(sides, dir, seg, config);
            }
            let (shared, position) = (&self.shared[dir.index()], &self.position);
            let hello = &self.hellos[dir.index()];
            let plain = sides[dir.index()].data(seg, seen, shared, || Known {
                to_sender: position.round_trip(dir).map(RoundTrip::from),
                syn_seen: hello.is_some(),
            });
            if !plain {
                // The first ones make what follows the others; those add little.
                self.strays = self.strays.wrapping_add(1);
                self.grew |= self.strays < FIRST_STRAYS || self.strays.is_multiple_of(STRAYS);
                if seg.payload_len == 1 && sides[dir.index()].is_keep_alive(seg, None) {
                    self.keep_alive(dir, seg);
                }
            }
        }
        if seg.payload_len == 0 && seg.flags.any(TcpFlags::FIN) {
            sides[dir.index()].note_end(seg);
        }
        let bare = seg.payload_len == 0 && seg.flags.any(TcpFlags::ACK);
        if bare && !seg.flags.any(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST) {
            let hello = self.hellos[dir.index()].as_ref();
            if sides[dir.index()].note_number(seg, hello) {
                self.keep_alive(dir, seg);
            }
        }
        if let Some(alive) = &mut self.alive {
            alive.heard(dir);
        }
        if let Some(closing) = &mut self.closing {
            closing.answered(dir, seg);
            if seg.payload_len > 0 {
                closing.data(dir, seg, in_vain);
            }
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

    /// `seg`, of one byte and the first with data of its host, is a keep-alive of a connection that was open before the capture began: some stacks
    /// send the last byte again (RFC 9293 section 3.8.4). PSH is not set then, and the other host does not acknowledge up to this byte, as it does
    /// where it lacks it. Several that nothing answers are followed as data, so that the silence is reported.
    #[cold]
    fn is_keep_alive_before_data(&self, sides: &[Side; 2], dir: Dir, seg: &Segment) -> bool {
        let plain = !seg
            .flags
            .any(TcpFlags::PSH | TcpFlags::FIN | TcpFlags::SYN | TcpFlags::RST);
        let answered = self
            .alive
            .as_ref()
            .is_none_or(|alive| alive.silence().is_none());
        let lacking = sides[dir.reverse().index()].reported();
        let lacked = lacking.is_some_and(|has| has.ack == seg.seq);
        plain && answered && !lacked && self.hellos[dir.index()].is_none()
    }

    /// `seg` repeats data behind the reset of its receiver, which has forgotten the connection and answers with a reset at most (RFC 9293 section
    /// 3.10.7.1): a recovery of nothing.
    #[cold]
    fn is_sent_in_vain(&self, sides: &[Side; 2], dir: Dir, seg: &Segment) -> bool {
        let over =
            self.followed[dir.index()] && self.closing.as_ref().is_some_and(|end| end.is_over(dir));
        let side = &sides[dir.index()];
        let end = seg.seq.wrapping_add(seg.payload_len);
        over && seg.payload_len > 0 && side.is_below(seg) && side.waits_for(end)
    }

    #[cold]
    fn keep_alive(&mut self, dir: Dir, seg: &Segment) {
        self.alive.get_or_insert_default().sent(dir, seg);
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
        let choice = sides[dir.index()].placed(&sides[dir.reverse().index()], choice);
        let shared = &self.shared[dir.index()];
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
            self.note_stamped();
            if !known {
                self.share(sides);
            }
        } else if seg.flags.any(TcpFlags::CWR) && seg.payload_len > 0 && self.agree_on_marks() {
            sides[dir.index()].note_marked(seg.ts_ns);
        }
        if seg.flags.any(TcpFlags::FIN) {
            self.fins[dir.index()] = true;
            self.closing.get_or_insert_default().sent(dir, seg);
        }
        if seg.flags.any(TcpFlags::RST) {
            self.resets[dir.index()] = true;
            let ttl = self.hellos[dir.index()].map_or(0, |hello| hello.ttl);
            self.closing.get_or_insert_default().reset(dir, seg, ttl);
        }
    }

    /// As [`Hello::agrees_on_marks`], if both SYNs were captured.
    fn agree_on_marks(&self) -> bool {
        match self.hellos {
            [Some(a), Some(b)] => a.agrees_on_marks(&b),
            _ => false,
        }
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

    pub(super) fn find_shared(&self, sides: &[Side; 2], dir: Dir) -> Shared {
        let (ours, theirs) = (dir.index(), dir.reverse().index());
        let spoken = || sides.iter().any(Side::speaks_timestamps);
        let stamped = sides[ours].hides_timestamps();
        match (self.hellos[ours], self.hellos[theirs]) {
            (Some(a), Some(b)) => {
                let timestamps = Hello::both(a.timestamps, b.timestamps).unwrap_or_else(spoken);
                let sack = Hello::both(a.sack, b.sack);
                let shared = Shared::new(sack, timestamps, stamped, (b.mss, a.mss));
                Shared {
                    handshake: true,
                    window_shift: b.window_shift(&a),
                    ..shared
                }
            }
            (_, hello) => Shared::new(None, spoken(), stamped, (hello.map_or(0, |h| h.mss), 0)),
        }
    }
}
