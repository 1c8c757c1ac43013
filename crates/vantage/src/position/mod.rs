//! Where on the path a capture was taken, from how soon each host answers.

use inorder_wire::{Dir, Has, Segment, TcpFlags};

mod leap;
mod near;
#[cfg(test)]
mod tests;

use crate::host::{Asked, Host, MIN_ANSWERS, Probe, Unseen, reaches};
pub use leap::Clock;

/// Segments of a connection that are all looked at.
const MAX_SEGMENTS_ALL_WEIGHED: u32 = 1 << 11;
/// Segments from one look to the next.
const SEGMENTS_PER_WINDOW: u32 = 1 << 14;
/// Segments at the start of a window that only tell what the highest number is.
const SEGMENTS_BEFORE_WEIGHING: u32 = 1 << 10;

/// Number of packets captured behind their answers from which on this is no accident.
const MIN_ANSWERED_BEFORE: u32 = 2;
/// Queues and timers of a host that captures both directions on two cards or two queues hand on what came together within this, nanoseconds.
const MAX_PASSED_ON_NS: i64 = 5_000_000;

/// Number of answers for each one that may seem to come too early, because a packet is missing from the capture and another
/// one bears its timestamp.
const ANSWERS_PER_ACCIDENT: u32 = 8;

/// How soon a host answered at best, as the capture point sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// From the capture point to the host and back, nanoseconds.
    pub ns: i64,
    /// Few answers measured it. A single one, to a SYN, may have been slow, and the round trip far shorter.
    pub seldom: bool,
}

/// Estimates both halves of the path; feed every segment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // First what every segment needs: see `Connection`.
pub struct Position {
    /// Segments of the pause that are still to come.
    pause: u32,
    /// Segments so far; those of a pause are counted when it begins.
    packets: u32,
    quiet: u32,
    handshake: bool,
    /// Answers that tell something new, those of them that answer what has not been captured, and packets that came
    /// behind what answers them.
    answers: u32,
    answers_unseen: u32,
    answered_before: u32,
    /// How long before data its acknowledgement was captured at most, nanoseconds.
    ahead_ns: i64,
    /// A SYN/ACK came behind what acknowledges it.
    hello_late: bool,
    hosts: [Host; 2],
}

/// The host of what goes `dir`, and the other one.
#[inline(always)]
fn pair(hosts: &mut [Host; 2], dir: Dir) -> (&mut Host, &mut Host) {
    let [low, high] = hosts;
    match dir {
        Dir::LowToHigh => (low, high),
        Dir::HighToLow => (high, low),
    }
}

/// A host reports a hole in the data of the `sender` with SACK (RFC 2018 section 4). Where the capture point saw no hole there, the packet was
/// lost or overtaken behind it.
#[cold]
fn locate_hole(host: &mut Host, sender: &mut Host, seg: &Segment) {
    let above = |&(left, right): &(u32, u32)| {
        left != seg.ack
            && reaches(left, seg.ack)
            && sender.highest.is_some_and(|h| reaches(h, right))
    };
    let captured = reaches(seg.ack, sender.first) && seg.sack_blocks().iter().any(above);
    if !captured || sender.gaps.lacked == Some(seg.ack) {
        return;
    }
    sender.gaps.lacked = Some(seg.ack);
    match sender.gaps.hole.filter(|hole| hole.contains(seg.ack)) {
        Some(hole) => sender.gaps.holes_between += u32::from(hole.surely_contains(seg.ack)),
        None => host.gaps.holes_between += 1,
    }
}

impl Position {
    /// A segment that goes `dir`. The smallest answers come early in most connections: after
    /// the first 2,048 segments only a window in each round of 16,384 is looked at.
    #[inline]
    pub fn observe(&mut self, dir: Dir, seg: &Segment) {
        if self.pause > 0 {
            self.pause -= 1;
        } else {
            self.look(dir, seg);
        }
    }

    #[inline(never)]
    fn look(&mut self, dir: Dir, seg: &Segment) {
        if self.hosts[dir.index()].captured_twice(seg) {
            return;
        }
        // Never back to the start: the first packets are special.
        self.packets = self.packets.checked_add(1).unwrap_or(SEGMENTS_PER_WINDOW);
        let nth = self.packets % SEGMENTS_PER_WINDOW;
        if nth == 0 {
            // What was asked before the pause has been answered unseen, and what was sent in it
            // may be sent again: ask only about what is newer than this segment.
            for host in &mut self.hosts {
                (host.asked, host.unseen) = (Asked::default(), Unseen::default());
                (host.highest, host.gaps.hole, host.gaps.announced) = (None, None, None);
            }
            self.quiet = SEGMENTS_BEFORE_WEIGHING;
        }
        if self.quiet == 0 {
            self.compare_order(dir, seg);
        }
        self.answer(dir, seg);
        self.ask(dir, seg);
        if nth == MAX_SEGMENTS_ALL_WEIGHED {
            self.pause = SEGMENTS_PER_WINDOW - MAX_SEGMENTS_ALL_WEIGHED - 1;
            self.packets += self.pause;
        }
    }

    fn answer(&mut self, dir: Dir, seg: &Segment) {
        let (host, other) = pair(&mut self.hosts, dir);
        if seg.sack_len > 0 {
            locate_hole(host, other, seg);
        }
        if seg.flags.any(TcpFlags::ACK) {
            other.acknowledged(seg.ack);
        }
        if host.ttl.is_none() {
            host.ttl = Some(seg.ttl);
        }
        if let Some(probe) = host.asked.sequence
            && seg.flags.any(TcpFlags::ACK)
            && (reaches(seg.ack, probe.number) || probe.sacked(seg))
        {
            host.asked.sequence = None;
            host.sample(seg.ts_ns - probe.at_ns);
            self.handshake |= probe.hello && !seg.flags.any(TcpFlags::SYN);
        }
        if let Some(probe) = host.asked.timestamp
            && seg.has(Has::TIMESTAMPS)
            && reaches(seg.tsecr, probe.number)
        {
            host.asked.timestamp = None;
            if seg.tsecr == probe.number {
                host.sample(seg.ts_ns - probe.at_ns);
                self.handshake |= probe.hello && !seg.flags.any(TcpFlags::SYN);
            }
        }
    }

    /// Does `seg` answer what has not been captured, or has its answer been captured before it?
    fn compare_order(&mut self, dir: Dir, seg: &Segment) {
        let (host, other) = pair(&mut self.hosts, dir);
        let beyond = |number: u32, known: Option<u32>| known.is_none_or(|k| !reaches(k, number));
        let answers = seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST);
        let unseen = answers && beyond(seg.ack, other.highest);
        if unseen && other.unseen.acknowledged.is_none() {
            (other.unseen.acknowledged, other.unseen.answered_ns) = (Some(seg.ack), seg.ts_ns);
        }
        let echo = answers && seg.has(Has::TIMESTAMPS) && seg.tsecr != 0;
        let unseen_echo = echo && beyond(seg.tsecr, other.last_tsval);
        if unseen_echo {
            other.unseen.echoed.get_or_insert(seg.tsecr);
        }
        if answers && host.says_more(seg) {
            self.answers += 1;
            other.pace.told_ns = Some(seg.ts_ns);
            self.answers_unseen += u32::from(unseen || unseen_echo);
        }
        let mut early = 0;
        let numbers = seg.payload_len + u32::from(seg.flags.any(TcpFlags::SYN));
        let end = seg.seq.wrapping_add(numbers);
        let late = |expected: &mut Option<u32>, number: u32| {
            let waited = expected.take_if(|e| reaches(number, *e));
            u32::from(waited == Some(number))
        };
        if numbers > 0 {
            let behind = late(&mut host.unseen.acknowledged, end);
            self.answered_before += behind;
            if behind > 0 {
                let ahead_ns = seg.ts_ns.saturating_sub(host.unseen.answered_ns);
                self.ahead_ns = self.ahead_ns.max(ahead_ns);
            }
            early += behind;
            // Nothing else has the number of a SYN.
            self.hello_late |= behind > 0 && seg.flags.any(TcpFlags::SYN);
        }
        if seg.has(Has::TIMESTAMPS) {
            let behind = late(&mut host.unseen.echoed, seg.tsval);
            self.answered_before += behind;
            early += behind;
        }
        other.early += early;
    }

    /// Packets were captured behind what answers them: two clocks, or a file in another order.
    pub fn out_of_order(&self) -> bool {
        let often = self.answers_unseen >= self.answers / ANSWERS_PER_ACCIDENT;
        self.hello_late || self.answered_before >= MIN_ANSWERED_BEFORE && often
    }

    /// How long before what they answer answers were captured at most, nanoseconds; `None` if that is longer than one capturing host takes to
    /// pass on what comes to it on two ways.
    pub fn ahead_ns(&self) -> Option<i64> {
        (self.ahead_ns <= MAX_PASSED_ON_NS).then_some(self.ahead_ns)
    }

    fn ask(&mut self, dir: Dir, seg: &Segment) {
        let (host, other) = pair(&mut self.hosts, dir);
        self.quiet = self.quiet.saturating_sub(1);
        let hello = seg.flags.any(TcpFlags::SYN);
        let numbers = seg.payload_len + u32::from(hello);
        let end = seg.seq.wrapping_add(numbers);
        // Only data never sent before: the answer to a retransmission may be the original's (Karn's
        // rule, RFC 6298 section 3), and the original's the retransmission's.
        let again = host.highest.is_some_and(|h| !reaches(seg.seq, h));
        if numbers > 0 && again {
            host.came_below(seg.seq);
            let answered = |p: &mut Probe| reaches(end, p.number) && !p.captured_twice(seg);
            other.asked.sequence.take_if(answered);
        } else if numbers > 0 {
            if host.gaps.announced.is_some() {
                host.came_after_its_number(seg);
            }
            host.follows(seg.ts_ns);
            host.passed(seg.seq, end, other.answered.0);
            if self.quiet == 0 && other.asked.sequence.is_none() {
                other.asked.sequence = Some(Probe {
                    number: end,
                    at_ns: seg.ts_ns,
                    hello,
                });
            }
        }
        let ends = TcpFlags::FIN | TcpFlags::RST;
        if numbers == 0 && seg.flags.any(TcpFlags::ACK) && !seg.flags.any(ends) {
            host.announces(seg);
        }
        if seg.has(Has::TIMESTAMPS) {
            let fresh = host
                .last_tsval
                .is_none_or(|last| seg.tsval != last && reaches(seg.tsval, last));
            if fresh {
                host.ticks |= host.last_tsval.is_some();
                host.last_tsval = Some(seg.tsval);
                // Of a SYN that is repeated, the last is answered.
                if other.asked.timestamp.is_none() || hello {
                    other.asked.timestamp = Some(Probe {
                        number: seg.tsval,
                        at_ns: seg.ts_ns,
                        hello,
                    });
                }
            }
        }
    }

    /// Smallest round trip between capture point and the sender of what goes `dir`.
    #[inline]
    pub fn answer_time(&self, dir: Dir) -> Option<i64> {
        self.hosts[dir.index()].pace.answer_ns
    }

    /// The same, and whether several answers measured it, and not the one to a SYN alone.
    pub fn round_trip(&self, dir: Dir) -> Option<Measured> {
        let seldom = self.hosts[dir.index()].pace.timed < MIN_ANSWERS;
        self.answer_time(dir).map(|ns| Measured { ns, seldom })
    }

    /// One past the highest number that was sent in direction `dir`, of late.
    pub fn highest(&self, dir: Dir) -> Option<u32> {
        self.hosts[dir.index()].highest
    }

    /// The last acknowledgement that went `dir`, of late.
    pub fn last_ack(&self, dir: Dir) -> Option<u32> {
        let host = &self.hosts[dir.index()];
        host.ttl.and(Some(host.answered.0)).filter(|&ack| ack != 0)
    }

    /// Nothing sent before can be timed any more.
    pub fn forget(&mut self) {
        self.hosts
            .iter_mut()
            .for_each(|host| host.asked = Asked::default());
    }

    /// A packet that goes `dir` was captured.
    pub fn heard(&self, dir: Dir) -> bool {
        self.hosts[dir.index()].ttl.is_some()
    }

    /// The time to live or hop limit of the first packet that went `dir`.
    pub fn ttl(&self, dir: Dir) -> Option<u8> {
        self.hosts[dir.index()].ttl
    }

    /// True before the first segment.
    pub fn is_new(&self) -> bool {
        self.packets == 0
    }

    /// True when more packets would hardly change the answer.
    pub fn settled(&self) -> bool {
        let clear = self
            .ratio()
            .is_some_and(|ratio| !(0.1..=0.9).contains(&ratio));
        let enough = match self.is_short() {
            false => self.handshake || self.packets >= 48,
            true => {
                self.packets >= 48 && self.hosts.iter().all(|host| host.pace.timed >= MIN_ANSWERS)
            }
        };
        clear && enough || self.packets >= 512
    }
}
