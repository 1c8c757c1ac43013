//! Where on the path a capture was taken, from how soon each host answers.

use inorder_wire::{Dir, Has, Segment, TcpFlags};

use crate::result::{Vantage, VantageBasis, VantageChoice};

/// Segments of a connection that are all looked at.
const MAX_SEGMENTS_ALL_WEIGHED: u32 = 1 << 11;
/// Segments from one look to the next.
const SEGMENTS_PER_WINDOW: u32 = 1 << 14;
/// Segments at the start of a window that only tell what the highest number is.
const SEGMENTS_BEFORE_WEIGHING: u32 = 1 << 10;

/// Below this round trip to the farther host, the hosts' own delays may be as long as those of the path: a process that
/// has to wait for a processor does so for some milliseconds (the base slice of Linux's scheduler is 3 ms).
const SHORT_PATH_NS: i64 = 10_000_000;
/// Maximum of the fastest answer of a host that is next to the capture point, nanoseconds: an interrupt and the way through its stack
/// take some 10 microseconds, on a virtual machine up to 100.
const MAX_OWN_DELAY_NS: i64 = 150_000;
/// An answer within this has not passed a network: round trips within a rack take longer.
const MAX_ROUND_TRIP_OF_NONE_NS: i64 = 50_000;
/// Minimum number of answers: of fewer, even the fastest may have waited in its host.
const MIN_ANSWERS: u32 = 4;
/// Number of times that data of a host must follow an acknowledgement no sooner than the host answered the handshake; then that
/// answer was not slow by chance.
const MIN_NEVER_SOONER: u8 = 16;
/// Data comes sooner if it takes less than this number of fifths of that time.
const FIFTHS_OF_ANSWER: i64 = 4;
/// Answering time above which a host is not next to the capture point on any path, nanoseconds: there is room for a queue between.
const MAX_NEAR_NS: i64 = 5_000_000;
/// Holes that one host reported and that the capture point saw from the wrong side: more than an accident of the capture.
const MIN_MISPLACED: u32 = 2;
/// Number of holes on the other side of the capture point for each hole on this side that may be such an accident.
const MISPLACED_PER_ACCIDENT: u32 = 8;

/// Minimum time until a SYN or its answer is repeated (RFC 6298 section 2.1: one second), nanoseconds.
pub(crate) const MIN_SYN_TIMEOUT_NS: i64 = 150_000_000;
/// Number of packets captured behind their answers from which on this is no accident.
const MIN_ANSWERED_BEFORE: u32 = 2;
/// Number of answers for each one that may seem to come too early, because a packet is missing from the capture and another
/// one bears its timestamp.
const ANSWERS_PER_ACCIDENT: u32 = 8;

/// Something sent towards a host whose answer is awaited.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Sequence number the answer must acknowledge, or TSval it must echo.
    number: u32,
    at_ns: i64,
    /// It was a SYN or its answer.
    hello: bool,
}

impl Probe {
    /// A SACK block of `seg` holds the byte before the number: behind a hole, only that answers.
    fn sacked(&self, seg: &Segment) -> bool {
        let mut blocks = seg.sack_blocks().iter();
        blocks.any(|&(left, right)| {
            reaches(right, self.number) && reaches(self.number.wrapping_sub(1), left)
        })
    }

    /// Is `seg` the same SYN once more? None is repeated so soon.
    fn captured_twice(&self, seg: &Segment) -> bool {
        self.hello && seg.ts_ns - self.at_ns < MIN_SYN_TIMEOUT_NS
    }
}

/// One host of a connection as the capture point sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// Smallest time from a packet towards the host to its answer.
    answer_ns: Option<i64>,
    sequence: Option<Probe>,
    timestamp: Option<Probe>,
    last_tsval: Option<u32>,
    highest: Option<u32>,
    /// The other host has acknowledged up to here, or echoed this, and it has not been captured.
    acknowledged: Option<u32>,
    echoed: Option<u32>,
    /// The identification of its last packet.
    last_id: Option<u16>,
    /// The last acknowledgement and echo of this host.
    answered: (u32, u32),
    ttl: Option<u8>,
    /// Answers by which its time is known.
    timed: u32,
    /// When the last acknowledgement passed towards it, if it has sent nothing new since, nanoseconds.
    told_ns: Option<i64>,
    /// Its data behind such an acknowledgement: never sooner than its fastest answer, or sooner.
    never_sooner: u8,
    sooner: u8,
    /// Data of this host that was overtaken or lost before the capture point, until it is acknowledged.
    hole: Option<(u32, u32)>,
    /// The first byte of its data that was captured.
    first: u32,
    /// The last byte of this host's data that the other one said to lack.
    lacked: Option<u32>,
    /// Holes that came about between this host and the capture point.
    holes_between: u32,
}

/// Which host the capture point is next to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Near {
    Low,
    High,
    Neither,
}

/// Estimates both halves of the path; feed every segment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // First what every segment needs: see `Connection`.
pub(crate) struct Position {
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
    /// A SYN/ACK came behind what acknowledges it.
    hello_late: bool,
    hosts: [Host; 2],
}

fn reaches(number: u32, target: u32) -> bool {
    (number.wrapping_sub(target) as i32) >= 0
}

impl Position {
    /// A segment that goes `dir`. The smallest answers come early in most connections: after
    /// the first [`MAX_SEGMENTS_ALL_WEIGHED`] segments only a window in each round of [`SEGMENTS_PER_WINDOW`] is looked at.
    #[inline]
    pub(crate) fn observe(&mut self, dir: Dir, seg: &Segment) {
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
        let (from, to) = (dir.index(), dir.reverse().index());
        if self.packets.is_multiple_of(SEGMENTS_PER_WINDOW) {
            // What was asked before the pause has been answered unseen, and what was sent in it
            // may be sent again: ask only about what is newer than this segment.
            for host in &mut self.hosts {
                (host.sequence, host.timestamp, host.highest) = (None, None, None);
                (host.acknowledged, host.echoed, host.hole) = (None, None, None);
            }
            self.quiet = SEGMENTS_BEFORE_WEIGHING;
        }
        if self.quiet == 0 {
            self.compare_order(from, to, seg);
        }
        self.answer(from, seg);
        self.ask(from, to, seg);
        if self.packets % SEGMENTS_PER_WINDOW == MAX_SEGMENTS_ALL_WEIGHED {
            self.pause = SEGMENTS_PER_WINDOW - MAX_SEGMENTS_ALL_WEIGHED - 1;
            self.packets += self.pause;
        }
    }

    fn answer(&mut self, from: usize, seg: &Segment) {
        if seg.sack_len > 0 {
            self.locate_hole(from, seg);
        }
        let host = &mut self.hosts[from];
        if host.ttl.is_none() {
            host.ttl = Some(seg.ttl);
        }
        if let Some(probe) = host.sequence
            && seg.flags.any(TcpFlags::ACK)
            && (reaches(seg.ack, probe.number) || probe.sacked(seg))
        {
            host.sequence = None;
            host.sample(seg.ts_ns - probe.at_ns);
            self.handshake |= probe.hello && !seg.flags.any(TcpFlags::SYN);
        }
        let host = &mut self.hosts[from];
        if let Some(probe) = host.timestamp
            && seg.has(Has::TIMESTAMPS)
            && reaches(seg.tsecr, probe.number)
        {
            host.timestamp = None;
            if seg.tsecr == probe.number {
                host.sample(seg.ts_ns - probe.at_ns);
                self.handshake |= probe.hello && !seg.flags.any(TcpFlags::SYN);
            }
        }
    }

    /// The host `from` reports a hole with SACK (RFC 2018). Where the capture point saw no hole there, the packet was lost or
    /// overtaken behind it.
    #[cold]
    fn locate_hole(&mut self, from: usize, seg: &Segment) {
        let sender = &mut self.hosts[1 - from];
        let above = |&(left, right): &(u32, u32)| {
            left != seg.ack
                && reaches(left, seg.ack)
                && sender.highest.is_some_and(|h| reaches(h, right))
        };
        let captured = reaches(seg.ack, sender.first) && seg.sack_blocks().iter().any(above);
        if !captured || sender.lacked == Some(seg.ack) {
            return;
        }
        sender.lacked = Some(seg.ack);
        let before = |&(hole, end): &(u32, u32)| reaches(seg.ack, hole) && !reaches(seg.ack, end);
        let place = if sender.hole.as_ref().is_some_and(before) {
            1 - from
        } else {
            from
        };
        self.hosts[place].holes_between += 1;
    }

    /// Does `seg` answer what has not been captured, or has its answer been captured before it?
    fn compare_order(&mut self, from: usize, to: usize, seg: &Segment) {
        let beyond = |number: u32, known: Option<u32>| known.is_none_or(|k| !reaches(k, number));
        let answers = seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST);
        let other = &mut self.hosts[to];
        let unseen = answers && beyond(seg.ack, other.highest);
        if unseen {
            other.acknowledged.get_or_insert(seg.ack);
        }
        let echo = answers && seg.has(Has::TIMESTAMPS) && seg.tsecr != 0;
        let unseen_echo = echo && beyond(seg.tsecr, other.last_tsval);
        if unseen_echo {
            other.echoed.get_or_insert(seg.tsecr);
        }
        if answers && self.hosts[from].says_more(seg) {
            self.answers += 1;
            self.hosts[to].told_ns = Some(seg.ts_ns);
            self.answers_unseen += u32::from(unseen || unseen_echo);
        }
        let host = &mut self.hosts[from];
        let numbers = seg.payload_len + u32::from(seg.flags.any(TcpFlags::SYN));
        let end = seg.seq.wrapping_add(numbers);
        let late = |expected: &mut Option<u32>, number: u32| {
            let waited = expected.take_if(|e| reaches(number, *e));
            u32::from(waited == Some(number))
        };
        if numbers > 0 {
            let behind = late(&mut host.acknowledged, end);
            self.answered_before += behind;
            // Nothing else has the number of a SYN.
            self.hello_late |= behind > 0 && seg.flags.any(TcpFlags::SYN);
        }
        if seg.has(Has::TIMESTAMPS) {
            self.answered_before += late(&mut host.echoed, seg.tsval);
        }
    }

    /// Packets were captured behind what answers them: two clocks, or a file in another order.
    pub(crate) fn out_of_order(&self) -> bool {
        let often = self.answers_unseen >= self.answers / ANSWERS_PER_ACCIDENT;
        self.hello_late || self.answered_before >= MIN_ANSWERED_BEFORE && often
    }

    fn ask(&mut self, from: usize, to: usize, seg: &Segment) {
        self.quiet = self.quiet.saturating_sub(1);
        let numbers = seg.payload_len + u32::from(seg.flags.any(TcpFlags::SYN));
        let end = seg.seq.wrapping_add(numbers);
        // Only data never sent before: the answer to a retransmission may be the original's (Karn's
        // rule, RFC 6298 section 3), and the original's the retransmission's.
        let again = self.hosts[from]
            .highest
            .is_some_and(|h| !reaches(seg.seq, h));
        if numbers > 0
            && again
            && self.hosts[to]
                .sequence
                .is_some_and(|p| reaches(end, p.number) && !p.captured_twice(seg))
        {
            self.hosts[to].sequence = None;
        }
        if numbers > 0 && self.hosts[from].highest.is_none_or(|h| reaches(seg.seq, h)) {
            self.hosts[from].follows(seg.ts_ns);
            let acknowledged = self.hosts[to].answered.0;
            self.hosts[from].passed(seg.seq, end, acknowledged);
            if self.quiet == 0 && self.hosts[to].sequence.is_none() {
                self.hosts[to].sequence = Some(Probe {
                    number: end,
                    at_ns: seg.ts_ns,
                    hello: seg.flags.any(TcpFlags::SYN),
                });
            }
        }
        if seg.has(Has::TIMESTAMPS) {
            let fresh = self.hosts[from]
                .last_tsval
                .is_none_or(|last| seg.tsval != last && reaches(seg.tsval, last));
            if fresh {
                self.hosts[from].last_tsval = Some(seg.tsval);
                // Of a SYN that is repeated, the last is answered.
                if self.hosts[to].timestamp.is_none() || seg.flags.any(TcpFlags::SYN) {
                    self.hosts[to].timestamp = Some(Probe {
                        number: seg.tsval,
                        at_ns: seg.ts_ns,
                        hello: seg.flags.any(TcpFlags::SYN),
                    });
                }
            }
        }
    }

    /// Smallest round trip between capture point and the sender of what goes `dir`.
    #[inline]
    pub(crate) fn answer_time(&self, dir: Dir) -> Option<i64> {
        self.hosts[dir.index()].answer_ns
    }

    /// One past the highest number that was sent in direction `dir`, of late.
    pub(crate) fn highest(&self, dir: Dir) -> Option<u32> {
        self.hosts[dir.index()].highest
    }

    /// The last acknowledgement that went `dir`, of late.
    pub(crate) fn last_ack(&self, dir: Dir) -> Option<u32> {
        let host = &self.hosts[dir.index()];
        host.ttl.and(Some(host.answered.0)).filter(|&ack| ack != 0)
    }

    /// Nothing sent before can be timed any more.
    pub(crate) fn forget(&mut self) {
        for host in &mut self.hosts {
            (host.sequence, host.timestamp) = (None, None);
        }
    }

    /// A packet that goes `dir` was captured.
    pub(crate) fn heard(&self, dir: Dir) -> bool {
        self.hosts[dir.index()].ttl.is_some()
    }

    /// True before the first segment.
    pub(crate) fn is_new(&self) -> bool {
        self.packets == 0
    }

    /// True when more packets would hardly change the answer.
    pub(crate) fn settled(&self) -> bool {
        let clear = self
            .ratio()
            .is_some_and(|ratio| !(0.1..=0.9).contains(&ratio));
        let enough = match self.is_short() {
            false => self.handshake || self.packets >= 48,
            true => self.packets >= 48 && self.hosts.iter().all(|host| host.timed >= MIN_ANSWERS),
        };
        clear && enough || self.packets >= 512
    }

    /// Share of the path, by time, that lies on the low host's side.
    fn ratio(&self) -> Option<f64> {
        let (low, high) = (self.hosts[0].answer_ns?, self.hosts[1].answer_ns?);
        (low + high > 0).then(|| low as f64 / (low + high) as f64)
    }

    /// The hosts' own delays may be as long as those of the path.
    fn is_short(&self) -> bool {
        self.hosts
            .iter()
            .all(|host| host.answer_ns.is_none_or(|ns| ns < SHORT_PATH_NS))
    }

    /// The path is short, and no router has counted a TTL down.
    fn is_in_one_room(&self) -> bool {
        self.is_short() && !self.hosts.iter().any(Host::is_routed)
    }

    fn near(&self) -> (Near, VantageBasis) {
        let (near, basis) = self.near_by_time();
        // Next to a host are no holes between it and the capture point.
        let [low, high] = [0, 1].map(|i| {
            let (own, other) = (self.hosts[i].holes_between, self.hosts[1 - i].holes_between);
            own >= MIN_MISPLACED && own * MISPLACED_PER_ACCIDENT > other
        });
        let refuted = match near {
            Near::Low => low,
            Near::High => high,
            Near::Neither => basis == VantageBasis::Unknown || self.is_in_one_room(),
        };
        let other = match (low, high) {
            (true, false) if !self.hosts[1].is_far() && self.is_in_one_room() => Near::High,
            (false, true) if !self.hosts[0].is_far() && self.is_in_one_room() => Near::Low,
            _ => Near::Neither,
        };
        if refuted && (low || high) {
            (other, VantageBasis::Missing)
        } else {
            (near, basis)
        }
    }

    fn near_by_time(&self) -> (Near, VantageBasis) {
        let timing = if self.handshake {
            VantageBasis::Handshake
        } else {
            VantageBasis::Timing
        };
        let by_ttl = self.near_by_ttl();
        let Some(ratio) = self.ratio() else {
            return match by_ttl {
                Near::Neither => self.near_by_one_side(),
                _ => (by_ttl, VantageBasis::Ttl),
            };
        };
        let is_near = |i: usize| self.hosts[i].answer_ns.is_some_and(|ns| ns <= MAX_NEAR_NS);
        if self.is_in_one_room() {
            return (self.near_in_one_room(ratio), timing);
        }
        match ratio {
            r if r < 0.2 && is_near(0) => (Near::Low, timing),
            r if r > 0.8 && is_near(1) => (Near::High, timing),
            // An end that is slow to answer looks like the middle; its TTL gives it away.
            r if r < 0.4 && by_ttl == Near::Low => (Near::Low, VantageBasis::Ttl),
            r if r > 0.6 && by_ttl == Near::High => (Near::High, VantageBasis::Ttl),
            _ => (Near::Neither, timing),
        }
    }

    /// Without routers: whoever is not known to be far from the capture point, where the other is, is next to it.
    fn near_in_one_room(&self, ratio: f64) -> Near {
        let is_soon = |i: usize| {
            self.hosts[i]
                .answer_ns
                .is_some_and(|ns| ns <= MAX_OWN_DELAY_NS)
        };
        match (self.hosts[0].is_far(), self.hosts[1].is_far()) {
            (false, true) => Near::Low,
            (true, false) => Near::High,
            (true, true) if ratio < 0.2 => Near::Low,
            (true, true) if ratio > 0.8 => Near::High,
            // Of few answers a slow one says nothing.
            (false, false) if ratio < 0.3 && is_soon(0) => Near::Low,
            (false, false) if ratio > 0.7 && is_soon(1) => Near::High,
            _ => Near::Neither,
        }
    }

    fn near_by_ttl(&self) -> Near {
        let heard = self.hosts.iter().all(|host| host.ttl.is_some());
        match self.hosts.each_ref().map(Host::is_routed) {
            [false, true] if heard => Near::Low,
            [true, false] if heard => Near::High,
            _ => Near::Neither,
        }
    }

    /// Only the sender of what goes `dir` was heard, and routers have counted its TTL down.
    fn far_from_sender(&self, dir: Dir) -> bool {
        self.hosts[dir.index()].is_routed() && !self.heard(dir.reverse())
    }

    /// The nearer host, if the answering time of at most one host is known.
    fn near_by_one_side(&self) -> (Near, VantageBasis) {
        let next = |host: &Host| {
            let soon = host
                .answer_ns
                .is_some_and(|ns| ns <= MAX_ROUND_TRIP_OF_NONE_NS);
            soon && host.timed > 1
        };
        match self.hosts.each_ref().map(next) {
            [true, false] => (Near::Low, VantageBasis::Timing),
            [false, true] => (Near::High, VantageBasis::Timing),
            _ if self.hosts.iter().all(Host::is_routed) => (Near::Neither, VantageBasis::Ttl),
            _ => (Near::Neither, VantageBasis::Unknown),
        }
    }

    /// The vantage point for data that goes `dir`; `answered` says that ACKs were seen.
    pub(crate) fn choose(
        &self,
        dir: Dir,
        forced: Option<Vantage>,
        answered: bool,
    ) -> VantageChoice {
        let (near, basis) = self.near();
        let sender_is = if dir == Dir::LowToHigh {
            Near::Low
        } else {
            Near::High
        };
        let (vantage, basis) = match (forced, near, basis) {
            (Some(vantage), ..) => (vantage, VantageBasis::Forced),
            (None, _, VantageBasis::Unknown) if self.answer_time(dir.reverse()).is_some() => {
                (Vantage::Sender, basis)
            }
            // Data that has passed routers and nothing from its receiver: the order of arrival is
            // that of the path up to here.
            (None, _, VantageBasis::Unknown) if self.far_from_sender(dir) => {
                (Vantage::Receiver, VantageBasis::Ttl)
            }
            (None, _, VantageBasis::Unknown) if answered => (Vantage::Sender, basis),
            (None, _, VantageBasis::Unknown) => (Vantage::Receiver, basis),
            (None, Near::Neither, _) => (Vantage::Middle, basis),
            (None, near, _) if near == sender_is => (Vantage::Sender, basis),
            (None, ..) => (Vantage::Receiver, basis),
        };
        VantageChoice {
            vantage,
            basis,
            to_receiver_ns: self.hosts[dir.reverse().index()].answer_ns,
            to_sender_ns: self.answer_time(dir),
        }
    }
}

impl Host {
    /// The packet before, once more.
    fn captured_twice(&mut self, seg: &Segment) -> bool {
        let numbered = seg.has(Has::IP_ID) && seg.ip_id != 0;
        let last = std::mem::replace(&mut self.last_id, numbered.then_some(seg.ip_id));
        numbered && last == self.last_id
    }

    /// Does `seg` of this host acknowledge or echo something else than its packet before?
    fn says_more(&mut self, seg: &Segment) -> bool {
        let answered = (seg.ack, seg.tsecr);
        std::mem::replace(&mut self.answered, answered) != answered
    }

    /// Data up to `end` passes that begins at the highest byte so far or behind it.
    fn passed(&mut self, from: u32, end: u32, acknowledged: u32) {
        match self.highest.replace(end) {
            None => self.first = from,
            Some(highest) if highest != from => {
                let open = self.hole.filter(|hole| !reaches(acknowledged, hole.1));
                self.hole = Some((open.map_or(highest, |hole| hole.0), from));
            }
            Some(_) => {}
        }
    }

    /// It sends something new at `now`.
    fn follows(&mut self, now: i64) {
        let (Some(told_ns), Some(answer_ns)) = (self.told_ns.take(), self.answer_ns) else {
            return;
        };
        let sooner = now.saturating_sub(told_ns).saturating_mul(5)
            < answer_ns.saturating_mul(FIFTHS_OF_ANSWER);
        let times = if sooner {
            &mut self.sooner
        } else {
            &mut self.never_sooner
        };
        *times = times.saturating_add(1);
    }

    /// The fastest of its answers is not by chance so slow.
    fn is_far(&self) -> bool {
        let often =
            self.timed >= MIN_ANSWERS || self.sooner == 0 && self.never_sooner >= MIN_NEVER_SOONER;
        often && self.answer_ns.is_some_and(|ns| ns > MAX_OWN_DELAY_NS)
    }

    /// A router has counted its TTL down; no host begins with another than these.
    fn is_routed(&self) -> bool {
        !matches!(self.ttl, None | Some(0 | 32 | 64 | 128 | 255))
    }

    fn sample(&mut self, ns: i64) {
        if ns >= 0 {
            self.timed = self.timed.saturating_add(1);
            self.answer_ns = Some(self.answer_ns.map_or(ns, |a| a.min(ns)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(ms: i64, seq: u32, ack: u32, flags: u8) -> Segment {
        Segment {
            ts_ns: ms * 1_000_000,
            seq,
            ack,
            flags: TcpFlags(flags),
            ..Segment::default()
        }
    }

    /// SYN at 0, SYN-ACK after `there`, ACK after `back` more, as the capture point sees them.
    fn handshake(there: i64, back: i64) -> Position {
        let mut p = Position::default();
        p.observe(Dir::LowToHigh, &packet(0, 99, 0, TcpFlags::SYN));
        let both = TcpFlags::SYN | TcpFlags::ACK;
        p.observe(Dir::HighToLow, &packet(there, 499, 100, both));
        p.observe(
            Dir::LowToHigh,
            &packet(there + back, 100, 500, TcpFlags::ACK),
        );
        p
    }

    #[test]
    fn the_handshake_tells() {
        for (there, back, vantage) in [
            (10, 0, Vantage::Sender),
            (0, 10, Vantage::Receiver),
            (5, 6, Vantage::Middle),
        ] {
            let choice = handshake(there, back).choose(Dir::LowToHigh, None, true);
            assert_eq!(
                (choice.vantage, choice.basis),
                (vantage, VantageBasis::Handshake)
            );
        }
    }

    const NS_PER_US: i64 = 1_000;

    fn data(us: i64, seq: u32, len: u32) -> Segment {
        Segment {
            ts_ns: us * NS_PER_US,
            payload_len: len,
            ..packet(0, seq, 500, TcpFlags::ACK)
        }
    }

    /// An ACK that comes `us` after the handshake began; above a hole with what is SACKed there.
    fn ack(us: i64, ack: u32, sacked: Option<(u32, u32)>) -> Segment {
        let mut seg = Segment {
            ts_ns: us * NS_PER_US,
            ..packet(0, 500, ack, TcpFlags::ACK)
        };
        (seg.sack[0], seg.sack_len) = (sacked.unwrap_or_default(), u8::from(sacked.is_some()));
        seg
    }

    /// Captured at the sender in one room with the receiver, whose first ACK waited for a processor.
    fn slow_at_first() -> Position {
        let mut p = Position::default();
        let both = TcpFlags::SYN | TcpFlags::ACK;
        p.observe(Dir::LowToHigh, &packet(0, 99, 0, TcpFlags::SYN));
        let answer = Segment {
            ts_ns: 499 * NS_PER_US,
            ..packet(0, 499, 100, both)
        };
        p.observe(Dir::HighToLow, &answer);
        p.observe(Dir::LowToHigh, &packet(3, 100, 500, TcpFlags::ACK));
        p
    }

    #[test]
    fn one_slow_answer_of_a_host_in_the_same_room_says_nothing() {
        let mut p = slow_at_first();
        for n in 0..40 {
            let (us, seq) = (4_000 + 600 * n, 100 + 100 * n as u32);
            assert!(!p.settled());
            p.observe(Dir::LowToHigh, &data(us, seq, 100));
            p.observe(Dir::HighToLow, &ack(us + 499, seq + 100, None));
        }
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, Vantage::Sender);
    }

    /// 3 ms from the sender and 8 ms from the receiver, without timestamps: the handshake alone times the sender. Its data follows each
    /// acknowledgement `after_us` later.
    fn by_data(after_us: i64) -> Position {
        let mut p = handshake(8, 3);
        for n in 0..40 {
            let (us, seq) = (20_000 + 20_000 * n, 100 + 100 * n as u32);
            p.observe(Dir::HighToLow, &ack(us, seq, None));
            p.observe(Dir::LowToHigh, &data(us + after_us, seq, 100));
        }
        p
    }

    #[test]
    fn a_sender_whose_data_never_follows_sooner_than_it_answered_the_handshake_is_as_far() {
        for (after_us, vantage) in [(3_200, Vantage::Middle), (200, Vantage::Sender)] {
            let choice = by_data(after_us).choose(Dir::LowToHigh, None, true);
            assert_eq!(choice.vantage, vantage, "{after_us} us");
        }
    }

    #[test]
    fn what_was_captured_and_the_receiver_lacks_was_lost_behind_the_capture_point() {
        let mut p = slow_at_first();
        for n in 0..3 {
            let (us, seq) = (4_000 + 600 * n, 100 + 200 * n as u32);
            p.observe(Dir::LowToHigh, &data(us, seq, 100));
            p.observe(Dir::LowToHigh, &data(us + 10, seq + 100, 100));
            let sacked = Some((seq + 100, seq + 200));
            p.observe(Dir::HighToLow, &ack(us + 80, seq, sacked));
        }
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_eq!(
            (choice.vantage, choice.basis),
            (Vantage::Sender, VantageBasis::Missing)
        );
    }

    #[test]
    fn what_was_not_captured_and_the_receiver_lacks_was_lost_before_the_capture_point() {
        let mut p = handshake(1, 0);
        for n in 0..3 {
            let (us, seq) = (2_000 + 600 * n, 100 + 200 * n as u32);
            p.observe(Dir::LowToHigh, &data(us + 10, seq + 100, 100));
            let sacked = Some((seq + 100, seq + 200));
            p.observe(Dir::HighToLow, &ack(us + 80, seq, sacked));
        }
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_ne!(choice.vantage, Vantage::Sender);
        assert_eq!(choice.basis, VantageBasis::Missing);
    }

    #[test]
    fn tens_of_milliseconds_are_not_next_to_an_end() {
        for (there, back) in [(130, 32), (32, 130)] {
            let choice = handshake(there, back).choose(Dir::LowToHigh, None, true);
            assert_eq!(choice.vantage, Vantage::Middle);
        }
    }

    #[test]
    fn a_forced_vantage_is_taken_and_the_round_trips_still_told() {
        let choice = handshake(10, 0).choose(Dir::LowToHigh, Some(Vantage::Middle), true);
        assert_eq!(choice.vantage, Vantage::Middle);
        assert_eq!(
            (choice.to_receiver_ns, choice.to_sender_ns),
            (Some(10_000_000), Some(0))
        );
    }
}
