//! How a connection opens: SYNs and their answers, which of several SYN-ACKs it follows, and data in the SYN.
//!
//! A SYN may be answered twice: by two servers behind one address, by a proxy, by an old duplicate. The connection
//! follows the SYN-ACK that the host which opened it acknowledges (RFC 9293 section 3.5); until that is known, later ones
//! are held back. Data in the SYN (TCP Fast Open, RFC 7413) is held back, too: what the SYN-ACK does not acknowledge was
//! not taken, and comes again without having been lost.

use inorder_vantage::{MIN_SYN_TIMEOUT_NS, Position};
use inorder_wire::{Complaint, Dir, Segment, TcpFlags};

use super::{Connection, Waiting};
use crate::config::Config;
use crate::flow_table::FlowTable;
use crate::result::{Attempt, FastOpen, Handshake, Outcome};
use crate::side::Hello;

/// SYN-ACKs that are held back, at most: each has another number.
const MAX_RIVALS: usize = 4;
/// An acknowledgement is no further than this behind the start of the data, bytes: half of all sequence numbers.
const MAX_AHEAD: u32 = 1 << 31;

/// What is known of the opening.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The direction of the first SYN without ACK, and when it was sent.
    client: Option<(Dir, i64)>,
    /// When the last SYN was sent, nanoseconds.
    last_ns: i64,
    /// SYNs of the client.
    syns: u16,
    /// The SYN has been answered.
    answered: bool,
    fast_open: Option<FastOpen>,
    /// From the first SYN to the last, nanoseconds.
    waited_ns: i64,
    other_answers: u16,
    /// ICMP says that a SYN could not be delivered.
    unreachable: bool,
    held: Option<Box<Held>>,
}

heap!(Opening: held);

/// What waits for another packet.
#[derive(Debug, Default)]
struct Held {
    /// Later SYN-ACKs with other numbers.
    rivals: Vec<Segment>,
    /// A SYN-ACK that acknowledges another SYN than the one that was captured.
    foreign: Option<Segment>,
    /// A SYN with data.
    early: Option<Segment>,
}

heap!(Held: rivals);

impl Opening {
    /// A SYN without ACK. Sooner than a timer expires it is another capture of the last one, unless that `was_refused`: then some systems try again
    /// at once.
    fn syn(&mut self, dir: Dir, seg: &Segment, was_refused: bool) {
        let (client, first_ns) = *self.client.get_or_insert((dir, seg.ts_ns));
        let waited_ns = seg.ts_ns.saturating_sub(self.last_ns);
        let twice = self.syns > 0 && waited_ns < MIN_SYN_TIMEOUT_NS && !was_refused;
        if dir != client || twice {
            return;
        }
        self.syns = self.syns.saturating_add(1);
        self.last_ns = seg.ts_ns;
        self.waited_ns = seg.ts_ns.saturating_sub(first_ns);
    }

    /// Counts SYN-ACKs that the connection does not follow.
    fn leave_out(&mut self, syn_acks: usize) {
        let more = u16::try_from(syn_acks).unwrap_or(u16::MAX);
        self.other_answers = self.other_answers.saturating_add(more);
    }

    fn hold(&mut self) -> &mut Held {
        self.held.get_or_insert_default()
    }

    /// The host that opened the connection sends what goes `dir`, as far as is known.
    fn is_client(&self, dir: Dir) -> bool {
        self.client.is_none_or(|(client, _)| client == dir)
    }

    /// What is out of the ordinary of it, where `dir` speaks for the connection.
    fn result(&self, dir: Dir) -> Handshake {
        if !self.is_client(dir) {
            return Handshake::default();
        }
        Handshake {
            syns_again: self.syns.saturating_sub(1).into(),
            waited_ns: self.waited_ns,
            fast_open: self.fast_open,
            other_answers: self.other_answers.into(),
            answered_ns: None,
        }
    }
}

fn is_syn(seg: &Segment) -> bool {
    seg.flags.any(TcpFlags::SYN) && !seg.flags.any(TcpFlags::ACK | TcpFlags::RST)
}

fn is_syn_ack(seg: &Segment) -> bool {
    seg.flags.any(TcpFlags::SYN) && seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST)
}

/// `seg` acknowledges something and is no reset.
fn acknowledges(seg: &Segment) -> bool {
    seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST)
}

impl Connection {
    /// A packet that may belong to the opening.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_opening(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if is_syn(seg) {
            self.push_syn(dir, seg, config);
        } else if is_syn_ack(seg) {
            self.push_syn_ack(dir, seg, config);
        } else if self.holds_back() {
            if !self.is_answer_to_foreign(dir, seg) {
                self.choose(dir, seg, config);
                self.push_seldom(dir, seg, config);
            }
        } else {
            self.push_seldom(dir, seg, config);
        }
    }

    /// Something waits until the next packets show what it was.
    pub(crate) fn holds_back(&self) -> bool {
        self.head.opening.held.is_some()
    }

    fn push_syn(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let opening = &mut self.head.opening;
        opening.syn(dir, seg, self.head.common.resets[dir.reverse().index()]);
        if seg.payload_len == 0 {
            return self.push_seldom(dir, seg, config);
        }
        if !opening.answered {
            opening.hold().early.get_or_insert(*seg);
        }
        let payload_len = 0;
        let bare = Segment {
            payload_len,
            ..*seg
        };
        self.push_seldom(dir, &bare, config);
    }

    fn push_syn_ack(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let hellos = self.head.common.hellos;
        let other = hellos[dir.index()].filter(|hello| hello.isn != seg.seq);
        let early = self.early().map_or(0, |early| early.payload_len);
        let taken = hellos[dir.reverse().index()]
            .map(|hello| seg.ack.wrapping_sub(hello.isn.wrapping_add(1)));
        let of_another = taken.is_some_and(|taken| taken > early && !self.has_data(dir.reverse()));
        let behind_the_end = self.closed() && taken.is_some_and(|taken| taken > early);
        if of_another || behind_the_end || other.is_some() && self.is_acknowledged(dir) {
            // An old duplicate, or that of the next connection, whose SYN the capture lacks.
            self.head.opening.hold().foreign = Some(*seg);
            return;
        }
        if other.is_some() {
            let rivals = &mut self.head.opening.hold().rivals;
            if rivals.len() < MAX_RIVALS && rivals.iter().all(|r| r.seq != seg.seq) {
                rivals.push(*seg);
            }
            return;
        }
        self.head.opening.answered = true;
        self.take_early(taken.unwrap_or(0), config);
        self.push_seldom(dir, seg, config);
    }

    fn early(&self) -> Option<Segment> {
        self.head.opening.held.as_ref()?.early
    }

    /// The other host acknowledged the SYN-ACK that goes `dir`, or more.
    fn is_acknowledged(&self, dir: Dir) -> bool {
        let client = dir.reverse();
        let waits = |(d, s): (Dir, Segment)| d == client && acknowledges(&s) && !is_syn_ack(&s);
        self.head.common.acks[client.index()] || self.head.waiting.iter().any(waits)
    }

    /// Data that goes `dir` was captured behind the SYN.
    fn has_data(&self, dir: Dir) -> bool {
        let waits = |(d, s): (Dir, Segment)| d == dir && s.payload_len > 0;
        self.head.common.followed[dir.index()] || self.head.waiting.iter().any(waits)
    }

    /// `taken` bytes of the data in the SYN were acknowledged by the SYN-ACK.
    fn take_early(&mut self, taken: u32, config: &Config) {
        let opening = &mut self.head.opening;
        let Some(early) = opening.held.as_mut().and_then(|held| held.early.take()) else {
            return;
        };
        self.let_go();
        let opening = &mut self.head.opening;
        let (client, _) = opening.client.unwrap_or((Dir::LowToHigh, 0));
        let payload_len = taken.min(early.payload_len);
        if payload_len == 0 {
            opening.fast_open = Some(FastOpen::Refused);
            return;
        }
        opening.fast_open = Some(FastOpen::Accepted);
        let data = Segment {
            seq: early.seq.wrapping_add(1),
            payload_len,
            flags: TcpFlags(early.flags.0 & !TcpFlags::SYN),
            ..early
        };
        // Its time is that of the SYN, which may have been sent again since.
        self.push_timed(client, &data, config);
    }

    /// Nothing is held back any more, if so.
    fn let_go(&mut self) {
        let empty = |held: &mut Box<Held>| {
            held.rivals.is_empty() && held.early.is_none() && held.foreign.is_none()
        };
        self.head.opening.held.take_if(empty);
    }

    /// A SYN-ACK that is no answer to this connection's SYN is reset by the host that gets it (RFC 9293 section 3.10.7.3):
    /// that reset ends nothing.
    fn is_answer_to_foreign(&mut self, dir: Dir, seg: &Segment) -> bool {
        let Some(held) = &mut self.head.opening.held else {
            return false;
        };
        let reset = seg.flags.any(TcpFlags::RST);
        let answers = |foreign: &mut Segment| reset && seg.seq == foreign.ack;
        let refused = self
            .head
            .opening
            .client
            .is_none_or(|(client, _)| client == dir)
            && held.foreign.take_if(answers).is_some();
        if refused {
            self.head.opening.leave_out(1);
            self.let_go();
        }
        refused
    }

    /// The SYN-ACK that was held back, if `seg` acknowledges it as that of another connection: the next one with the same
    /// addresses and ports, of which the SYN was not captured.
    pub(crate) fn reused_after(&mut self, dir: Dir, seg: &Segment) -> Option<(Dir, Segment)> {
        let held = self.head.opening.held.as_mut()?;
        let continues = |foreign: &mut Segment| {
            acknowledges(seg) && seg.ack == foreign.seq.wrapping_add(1) && seg.seq == foreign.ack
        };
        let hello = held.foreign.take_if(continues)?;
        self.let_go();
        Some((dir.reverse(), hello))
    }

    /// The first packet behind a SYN with data, or behind several SYN-ACKs, shows what became of them.
    fn choose(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        if seg.flags.any(TcpFlags::RST) {
            return;
        }
        let number = match self.head.opening.is_client(dir) {
            true => Some(seg.seq),
            false => acknowledges(seg).then_some(seg.ack),
        };
        if let (Some(number), Some(early)) = (number, self.early()) {
            // No SYN-ACK was captured: what comes next tells how much of the data was taken.
            let taken = number.wrapping_sub(early.seq.wrapping_add(1));
            self.take_early(taken.min(early.payload_len), config);
        }
        let Some(held) = &mut self.head.opening.held else {
            return;
        };
        if held.foreign.take().is_some() {
            self.head.opening.leave_out(1);
        }
        self.choose_hello(dir, seg, config);
        self.let_go();
    }

    fn choose_hello(&mut self, dir: Dir, seg: &Segment, config: &Config) {
        let acked = acknowledges(seg) && self.head.opening.is_client(dir);
        let (server, number) = match acked {
            true => (dir.reverse(), seg.ack),
            false if seg.payload_len > 0 => (dir, seg.seq),
            false => return,
        };
        let Some(own) = self.head.common.hellos[server.index()] else {
            return;
        };
        let Some(held) = &mut self.head.opening.held else {
            return;
        };
        let rivals = std::mem::take(&mut held.rivals);
        let ahead = |isn: u32| number.wrapping_sub(isn.wrapping_add(1));
        let all = rivals.iter().filter(|r| ahead(r.seq) < MAX_AHEAD);
        let best = all.min_by_key(|r| ahead(r.seq));
        self.head.opening.leave_out(rivals.len());
        if let Some(best) = best.filter(|best| ahead(best.seq) < ahead(own.isn)) {
            self.follow_hello(server, best, config);
        }
    }

    /// The connection goes on from `hello` instead of the SYN-ACK that came first.
    fn follow_hello(&mut self, server: Dir, hello: &Segment, config: &Config) {
        self.head.common.hellos[server.index()] = Some(Hello::of(hello));
        if self.sides.is_some() {
            // Where the vantage point is given, nothing waits.
            self.push_seldom(server, hello, config);
            return;
        }
        let wrong = |(d, s): &(Dir, Segment)| *d == server && is_syn_ack(s);
        let waited = std::mem::take(&mut self.head.waiting);
        let mut all: Vec<(Dir, Segment)> = waited.iter().filter(|one| !wrong(one)).collect();
        all.push((server, *hello));
        all.sort_by_key(|(_, seg)| seg.frame);
        self.head.common.position = Position::default();
        self.head.waiting = Waiting::default();
        for (dir, seg) in &all {
            self.head.common.position.observe(*dir, seg);
            self.head.waiting.push(*dir, seg);
        }
    }

    /// Ends this connection; the next one with the same addresses and ports begins at `now_ns`.
    pub(crate) fn begin_again(&mut self, now_ns: i64, config: &Config, out: &mut FlowTable) {
        let reuse = self.head.reuse + 1;
        let mut next = Connection::new(self.head.key, reuse, now_ns, config);
        // It is found where this one was.
        next.head.overlays = self.head.overlays;
        next.counted = self.counted;
        next.head.also = std::mem::take(&mut self.head.also);
        let mut old = std::mem::replace(self, next);
        old.finish(config, out);
    }

    /// How the connection was opened, for the report on the data that goes `dir`.
    pub(super) fn handshake(&self, dir: Dir) -> Handshake {
        let opening = &self.head.opening;
        let of_client = match opening.client {
            // The host that opened it sent no data.
            Some((client, _)) if client != dir && !self.head.common.followed[client.index()] => {
                opening.result(client)
            }
            _ => opening.result(dir),
        };
        let of = |dir: Dir| self.head.common.hellos[dir.index()];
        let both = opening.client.map(|(dir, _)| (of(dir), of(dir.reverse())));
        let answered_ns = match both {
            Some((Some(syn), Some(answer))) => Some(answer.at_ns.saturating_sub(syn.at_ns)),
            _ => None,
        };
        Handshake {
            answered_ns,
            ..of_client
        }
    }

    /// When the host that sends what goes `dir` could send data, as its packets come by, nanoseconds: it has heard the other
    /// one. `None` if the capture does not show the handshake.
    pub(super) fn opened_ns(&self, dir: Dir) -> Option<i64> {
        let [ours, theirs] = [dir, dir.reverse()].map(|dir| self.head.common.hellos[dir.index()]);
        let position = &self.head.common.position;
        let (ours, theirs) = (ours?, theirs?);
        let to_sender_ns = position.answer_time(dir).unwrap_or(0);
        let heard_ns = match self.head.opening.is_client(dir) {
            true => theirs.at_ns,
            // What answers its SYN-ACK.
            false => ours
                .at_ns
                .saturating_add(position.answer_time(dir.reverse()).unwrap_or(0)),
        };
        Some(heard_ns.saturating_add(to_sender_ns))
    }

    /// The handshake shows that no window is scaled.
    pub(super) fn is_unscaled(&self) -> bool {
        let [low, high] = self.head.common.hellos;
        low.zip(high).is_some_and(|(low, high)| low.unscaled(&high))
    }

    /// The attempt that this connection remained; `None` if it was opened.
    pub(super) fn attempt(&self, packets: usize) -> Option<Attempt> {
        let (opening, common) = (&self.head.opening, &self.head.common);
        let (client, first_ns) = opening.client?;
        if common.acks[client.index()] {
            return None;
        }
        let answered = opening.answered || self.holds_answer();
        let outcome = match common.resets[client.reverse().index()] {
            _ if answered && common.resets[client.index()] => Outcome::Cancelled,
            _ if answered => Outcome::Unfinished,
            true => Outcome::Refused,
            false if opening.unreachable => Outcome::Unreachable,
            false => Outcome::Unanswered,
        };
        let (src, dst) = self.head.key.ends(client);
        Some(Attempt {
            first_ns,
            last_ns: opening.last_ns,
            src: src.socket_addr(),
            dst: dst.socket_addr(),
            overlay: self.head.key.overlay,
            syns: opening.syns.into(),
            packets: packets.max(opening.syns.into()) as u64,
            hop_limit: common.position.ttl(client).unwrap_or(0),
            outcome,
        })
    }

    /// ICMP says that the SYN could not be delivered.
    pub(crate) fn note_unreachable(&mut self) {
        self.head.opening.unreachable = true;
    }

    /// An ICMP message about a segment that went `dir`, which may be the SYN.
    pub(super) fn note_complaint_of_syn(&mut self, dir: Dir, complaint: &Complaint) {
        let hello = self.head.common.hellos[dir.index()];
        self.head.opening.unreachable |= hello.is_some_and(|hello| complaint.may_quote(hello.isn));
    }

    fn holds_answer(&self) -> bool {
        let held = self.head.opening.held.as_ref();
        held.is_some_and(|held| held.foreign.is_some())
    }
}
