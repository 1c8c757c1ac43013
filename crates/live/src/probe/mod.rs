//! The state of a probe: what to send when, what came back, and the order of both directions.

mod direction;

use inorder_base::named;
use inorder_base::sequence::nearest;

use direction::Arriving;
pub use direction::{DIRECTION, Direction, PROBED, Probed};

use crate::icmp::Echo;
use crate::stamp::ReflectedPacket;

named! {
    /// How a probe asks its peer for answers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Protocol {
        /// STAMP over UDP: the reflector counts, so both directions are distinguished.
        Stamp = "stamp",
        /// ICMP echo: only the round trip is seen.
        Icmp = "icmp",
    }
}

/// What a probe sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Number of packets.
    pub packets: u32,
    /// Packets sent together, back to back.
    pub burst: u32,
    /// Time between the beginnings of two bursts, nanoseconds.
    pub interval_ns: i64,
    /// Size of the UDP payload or of the ICMP message, bytes.
    pub bytes: usize,
    /// How long to wait for answers after the last packet, nanoseconds.
    pub wait_ns: i64,
}

impl Plan {
    /// A plan for `rate` packets per second, sent in bursts, during `duration_s` seconds.
    pub fn at_rate(rate: f64, burst: u32, duration_s: f64, bytes: usize) -> Self {
        let burst = burst.max(1);
        let bursts = (rate * duration_s / f64::from(burst)).round().max(1.0);
        Plan {
            packets: (bursts * f64::from(burst)) as u32,
            burst,
            interval_ns: (1e9 * f64::from(burst) / rate).round() as i64,
            bytes,
            wait_ns: 1_000_000_000,
        }
    }

    /// When packet `seq` is due after the first one, nanoseconds.
    pub fn due_ns(&self, seq: u32) -> i64 {
        i64::from(seq / self.burst.max(1)).saturating_mul(self.interval_ns)
    }
}

/// An answer, times in nanoseconds. Times of the peer are by its own clock.
#[derive(Clone, Copy, Debug)]
struct Answer {
    seq: u32,
    /// The number the reflector gave it, and when it received the packet and sent the answer; `None` for ICMP.
    reflected: Option<(u64, i64, i64)>,
    sent_ns: i64,
    arrived_ns: i64,
}

/// What a probe has found.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Answers that came.
    pub answers: u64,
    /// By how much the clock of this host was set meanwhile, nanoseconds; adjusting it slowly makes it a little different
    /// from 0. Delays are wrong by as much.
    pub clock_set_ns: i64,
    /// The directions that can be distinguished.
    pub directions: Vec<Direction>,
}

/// What was sent and what came back.
pub struct Session {
    plan: Plan,
    sent: u32,
    answers: Vec<Answer>,
    /// The highest number of the reflector so far, as a 64-bit number.
    highest: u64,
    /// True if all answers have the number of what they answer: the reflector counts nothing.
    stateless: bool,
}

impl Session {
    /// Nothing sent yet.
    pub fn new(plan: Plan) -> Self {
        Session {
            plan,
            sent: 0,
            answers: Vec::new(),
            highest: FIRST,
            stateless: true,
        }
    }

    /// The number of the packet to send if `elapsed_ns` have passed since the first one; call [`Session::sent`] then.
    pub fn due(&self, elapsed_ns: i64) -> Option<u32> {
        (self.sent < self.plan.packets && self.plan.due_ns(self.sent) <= elapsed_ns)
            .then_some(self.sent)
    }

    /// The packet that was due has been sent.
    pub fn sent(&mut self) {
        self.sent += 1;
    }

    /// When something is to be done next without an answer: the next packet, or the end of the wait.
    pub fn next_ns(&self) -> i64 {
        if self.sent < self.plan.packets {
            return self.plan.due_ns(self.sent);
        }
        let last_ns = self.plan.due_ns(self.plan.packets.saturating_sub(1));
        last_ns.saturating_add(self.plan.wait_ns)
    }

    /// True if everything was answered, or the time for it has passed.
    pub fn is_done(&self, elapsed_ns: i64) -> bool {
        let all = self.sent >= self.plan.packets;
        all && (self.answers.len() >= self.plan.packets as usize || elapsed_ns >= self.next_ns())
    }

    /// Takes an answer of a STAMP reflector that arrived at `unix_ns`.
    pub(crate) fn reflected(&mut self, answer: &ReflectedPacket, unix_ns: i64) {
        if answer.sender_seq >= self.sent || self.is_full() {
            return;
        }
        self.stateless &= answer.seq == answer.sender_seq;
        let number = nearest(self.highest, u64::from(answer.seq), 32);
        self.highest = self.highest.max(number);
        self.answers.push(Answer {
            seq: answer.sender_seq,
            reflected: Some((
                number,
                answer.received.unix_ns(),
                answer.timestamp.unix_ns(),
            )),
            sent_ns: answer.sender_timestamp.unix_ns(),
            arrived_ns: unix_ns,
        });
    }

    /// Takes an echo that arrived at `unix_ns`.
    pub fn echoed(&mut self, echo: &Echo, unix_ns: i64) {
        if echo.seq >= self.sent || self.is_full() {
            return;
        }
        self.answers.push(Answer {
            seq: echo.seq,
            reflected: None,
            sent_ns: echo.sent_ns,
            arrived_ns: unix_ns,
        });
    }

    /// Packets sent, and answers.
    pub fn counts(&self) -> (u32, usize) {
        (self.sent, self.answers.len())
    }

    /// A peer that answers more than twice what was sent does not fill the memory.
    fn is_full(&self) -> bool {
        self.answers.len() >= (self.plan.packets as usize).saturating_mul(2)
    }

    /// The order in each direction that can be distinguished.
    ///
    /// With a reflector that counts: forward, the packets in the order in which it received them; reverse, its answers.
    /// Packets whose answers were lost are known to have arrived, but not which ones they were: forward they count
    /// neither as received nor as lost. A reflector that does not count, and ICMP, leave only the round trip.
    pub fn finish(mut self) -> Vec<Direction> {
        let mut round_trip = Arriving::new("round trip", u64::from(self.sent));
        for answer in &self.answers {
            let inside_ns = answer
                .reflected
                .map_or(0, |(_, received, sent)| sent.saturating_sub(received));
            let delay_ns = answer.arrived_ns.saturating_sub(answer.sent_ns);
            round_trip.arrived(
                u64::from(answer.seq),
                answer.arrived_ns,
                delay_ns.saturating_sub(inside_ns),
            );
        }
        let round_trip = round_trip.finish(0);
        // In the right order, a reflector that counts gives the same numbers as one that does not. The difference is in
        // no number then, unless packets were lost, which a reflector that copies numbers shows as lost backwards.
        let counts = self.answers.iter().all(|answer| answer.reflected.is_some());
        if !counts || self.answers.is_empty() {
            return vec![round_trip];
        }
        let whole = self.answers.len() == self.sent as usize;
        if self.stateless && !whole {
            return vec![round_trip];
        }
        let start = self.start();
        // A reflector counts what it answers. Numbers beyond two for each packet are not of this session.
        if self.highest - start >= 2 * u64::from(self.sent) {
            return vec![round_trip];
        }
        let mut reverse = Arriving::new("reverse", self.highest + 1 - start);
        for answer in &self.answers {
            if let Some((number, _, sent_ns)) = answer.reflected {
                let delay_ns = answer.arrived_ns.saturating_sub(sent_ns);
                reverse.arrived(number.saturating_sub(start), answer.arrived_ns, delay_ns);
            }
        }
        let reverse = reverse.finish(0);
        let mut forward = Arriving::new("forward", u64::from(self.sent));
        self.answers
            .sort_by_key(|answer| answer.reflected.map(|(number, ..)| number));
        self.answers
            .dedup_by_key(|answer| answer.reflected.map(|(number, ..)| number));
        for answer in &self.answers {
            if let Some((_, received_ns, _)) = answer.reflected {
                let delay_ns = received_ns.saturating_sub(answer.sent_ns);
                forward.arrived(u64::from(answer.seq), received_ns, delay_ns);
            }
        }
        vec![forward.finish(reverse.lost), reverse, round_trip]
    }

    /// The first number that the reflector gave. It begins with 0 in a new session; if the numbers are larger than
    /// there were packets, it went on counting from an earlier one.
    fn start(&self) -> u64 {
        let numbers = self
            .answers
            .iter()
            .filter_map(|answer| Some(answer.reflected?.0));
        let least = numbers.min().unwrap_or(FIRST);
        let is_new = least.saturating_sub(FIRST) < u64::from(self.sent);
        if is_new { FIRST } else { least }
    }
}

/// The 64-bit number of the reflector's number 0: numbers before it can be represented, too.
const FIRST: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Timestamp;

    fn plan(packets: u32) -> Plan {
        Plan {
            packets,
            burst: 1,
            interval_ns: 10,
            bytes: 44,
            wait_ns: 100,
        }
    }

    /// Answers `(number of the reflector, number of the packet)` in the order of their arrival.
    fn order(sent: u32, answers: &[(u32, u32)]) -> Vec<(&'static str, u64, u64, u64, u64)> {
        let mut session = Session::new(plan(sent));
        (0..sent).for_each(|_| session.sent());
        for (at, &(seq, sender_seq)) in answers.iter().enumerate() {
            let at_ns = |step: u32| Timestamp::from_unix_ns(1_000_000 + 10 * i64::from(step));
            let packet = ReflectedPacket {
                seq,
                sender_seq,
                sender_timestamp: at_ns(sender_seq),
                received: at_ns(sender_seq + 3),
                timestamp: at_ns(sender_seq + 3),
                ..ReflectedPacket::default()
            };
            session.reflected(&packet, 2_000_000 + 10 * at as i64);
        }
        let directions = session.finish().into_iter();
        directions
            .map(|d| (d.name, d.sent, d.order.received, d.order.reordered, d.lost))
            .collect()
    }

    #[test]
    fn directions_are_told_apart() {
        // Packet 1 overtook packet 0 on the way there; answers 2 and 3 changed places on the way back.
        let found = order(4, &[(0, 1), (1, 0), (3, 3), (2, 2)]);
        let expected = [
            ("forward", 4, 4, 1, 0),
            ("reverse", 4, 4, 1, 0),
            ("round trip", 4, 4, 2, 0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn losses_are_told_apart() {
        // Packet 1 was lost on the way there; the answer to packet 3, number 2, on the way back.
        let found = order(5, &[(0, 0), (1, 2), (3, 4)]);
        let expected = [
            ("forward", 5, 3, 0, 1),
            ("reverse", 4, 3, 0, 1),
            ("round trip", 5, 3, 0, 2),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_reflector_that_copies_numbers_leaves_the_round_trip() {
        assert_eq!(
            order(4, &[(0, 0), (2, 2), (3, 3)]),
            [("round trip", 4, 3, 0, 1)]
        );
    }

    /// Otherwise one number would be reported as billions of packets lost on the way back.
    #[test]
    fn numbers_that_no_count_can_have_leave_the_round_trip() {
        for wrong in [9, 1 << 30, 1 << 31] {
            let found = order(4, &[(0, 0), (1, 1), (wrong, 2), (3, 3)]);
            assert_eq!(found, [("round trip", 4, 4, 0, 0)], "{wrong}");
        }
    }

    #[test]
    fn answers_to_what_was_never_sent_are_ignored() {
        assert_eq!(order(2, &[(0, 7), (0, 0), (1, 1)])[0].1, 2);
    }

    #[test]
    fn bursts_are_sent_together() {
        let plan = Plan::at_rate(100.0, 5, 1.0, 64);
        assert_eq!((plan.packets, plan.interval_ns), (100, 50_000_000));
        let session = Session::new(plan);
        assert_eq!((plan.due_ns(4), plan.due_ns(5)), (0, 50_000_000));
        assert_eq!(session.due(0), Some(0));
    }

    #[test]
    fn the_end_is_when_all_is_answered_or_the_wait_is_over() {
        let mut session = Session::new(plan(2));
        session.sent();
        assert!(!session.is_done(1_000));
        session.sent();
        assert!(!session.is_done(109) && session.is_done(110));
    }
}
