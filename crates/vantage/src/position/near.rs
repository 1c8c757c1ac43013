//! Which host the capture point is next to, by answering times, holes and TTLs.

use inorder_wire::Dir;

use super::Position;
use crate::choice::{VantageBasis, VantageChoice};
use crate::host::{Host, MAX_OWN_DELAY_NS, MIN_ANSWERS, MIN_MISPLACED};
use inorder_base::vantage::Vantage;

/// Below this round trip to the farther host, the hosts' own delays may be as long as those of the path: a process that
/// has to wait for a processor does so for some milliseconds (the base slice of Linux's scheduler is 3 ms).
const SHORT_PATH_NS: i64 = 10_000_000;
/// An answer within this has not passed a network: round trips within a rack take longer.
const MAX_ROUND_TRIP_OF_NONE_NS: i64 = 50_000;
/// Answering time above which a host is not next to the capture point on any path, nanoseconds: there is room for a queue between.
const MAX_NEAR_NS: i64 = 5_000_000;
/// Maximum of the fastest of few answers of a host next to the capture point, nanoseconds: the base slice of Linux's scheduler.
const MAX_WAIT_NS: i64 = 3_000_000;
/// Minimum number of answers of which not all have waited for a processor; then the fastest of a host next to the capture point takes no longer than this,
/// nanoseconds.
const MIN_ANSWERS_NOT_ALL_SLOW: u32 = 16;
const MAX_SLOW_HOST_NS: i64 = 1_000_000;
/// How long hosts delay an acknowledgement, nanoseconds: RFC 9293 section 3.8.6.3 allows half a second, most wait for 40 ms (Linux) to 200 ms (BSD).
const MIN_DELAYED_ACK_NS: i64 = 25_000_000;
const MAX_DELAYED_ACK_NS: i64 = 500_000_000;
/// Number of holes on the other side of the capture point for each hole on this side that may be such an accident.
const MISPLACED_PER_ACCIDENT: u32 = 8;

/// Which host the capture point is next to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Near {
    Low,
    High,
    Neither,
}

impl Position {
    /// Share of the path, by time, that lies on the low host's side.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let (low, high) = (self.hosts[0].pace.answer_ns?, self.hosts[1].pace.answer_ns?);
        (low + high > 0).then(|| low as f64 / (low + high) as f64)
    }

    /// The hosts' own delays may be as long as those of the path.
    pub(crate) fn is_short(&self) -> bool {
        self.hosts
            .iter()
            .all(|host| host.pace.answer_ns.is_none_or(|ns| ns < SHORT_PATH_NS))
    }

    /// Routers have counted a TTL down, and both hosts answer as those of a short path do.
    pub fn answers_too_soon(&self) -> bool {
        let answer = |host: &Host| host.pace.answer_ns.is_some();
        self.is_short() && self.hosts.iter().any(Host::is_routed) && self.hosts.iter().all(answer)
    }

    /// The path is short, and no router has counted a TTL down.
    fn is_in_one_room(&self) -> bool {
        self.is_short() && !self.hosts.iter().any(Host::is_routed)
    }

    /// The host answered the handshake and more, and nothing of it soon: not even acknowledgements that were not delayed.
    fn is_distant(&self, host: usize) -> bool {
        let slow = |host: &Host| match (host.pace.timed, host.pace.answer_ns) {
            (MIN_ANSWERS_NOT_ALL_SLOW.., Some(ns)) => ns > MAX_SLOW_HOST_NS,
            (MIN_ANSWERS.., Some(ns)) => ns > MAX_WAIT_NS,
            _ => false,
        };
        self.handshake && self.hosts.get(host).is_some_and(slow)
    }

    /// A router between the host and the capture point has counted its TTL down (RFC 791 section 3.2), and it
    /// is no bridge of containers or virtual machines within one computer: those take no time.
    fn is_behind_router(&self, host: usize) -> bool {
        let behind = |host: &Host| {
            let slow = |ns| ns > MAX_ROUND_TRIP_OF_NONE_NS;
            host.is_routed() && host.pace.answer_ns.is_some_and(slow)
        };
        self.hosts.get(host).is_some_and(behind)
    }

    /// It is not known to be far, and its few answers took no longer than a process waits for a processor.
    fn may_be_near(&self, host: usize) -> bool {
        let soon = |host: &Host| host.pace.answer_ns.is_none_or(|ns| ns <= MAX_WAIT_NS);
        self.hosts
            .get(host)
            .is_some_and(|host| !host.is_far() && soon(host))
    }

    /// Its answers have not passed a network, and routers have counted down the TTL of what has: the capture lacks what did not come by.
    fn is_beside(&self, host: usize) -> bool {
        let at_once = |host: &Host| {
            let soon = host
                .pace
                .answer_ns
                .is_some_and(|ns| ns <= MAX_ROUND_TRIP_OF_NONE_NS);
            soon && !host.is_routed()
        };
        !self.is_in_one_room() && self.hosts.get(host).is_some_and(at_once)
    }

    /// The directions are out of order in the file: only what is next to the capture point can have answered before what it answers was captured.
    #[cold]
    fn in_order(&self) -> Position {
        let mut ordered = *self;
        let often = |host: &Host| host.early >= MIN_MISPLACED || self.hello_late && host.early > 0;
        let [low, high] = self.hosts.each_ref().map(often);
        for (host, only) in ordered.hosts.iter_mut().zip([low && !high, high && !low]) {
            host.pace.answer_ns = host.pace.answer_ns.map(|ns| if only { 0 } else { ns });
        }
        ordered
    }

    fn near(&self) -> (Near, VantageBasis) {
        let (near, basis) = match self.near_by_time() {
            (Near::Low, _) if self.is_distant(0) => (Near::Neither, VantageBasis::Handshake),
            (Near::High, _) if self.is_distant(1) => (Near::Neither, VantageBasis::Handshake),
            (Near::Low, _) if self.is_behind_router(0) => (Near::Neither, VantageBasis::Ttl),
            (Near::High, _) if self.is_behind_router(1) => (Near::Neither, VantageBasis::Ttl),
            found => found,
        };
        let (near, basis) = match (near, self.near_though_slow()) {
            (Near::Neither, slow) if slow != Near::Neither => (slow, VantageBasis::Ttl),
            _ => (near, basis),
        };
        // Next to a host are no holes between it and the capture point.
        let [low, high] = [0, 1].map(|i| {
            let (own, other) = (
                self.hosts[i].gaps.holes_between,
                self.hosts[1 - i].gaps.holes_between,
            );
            // Of holes that are the capture's own, some lie where data was lost elsewhere.
            let lacking = self.hosts[i].gaps.lacking;
            own >= MIN_MISPLACED && own * MISPLACED_PER_ACCIDENT > other && own > lacking
        });
        let own_side = match (near, basis) {
            (Near::Low, _) => low && !self.is_beside(0),
            (Near::High, _) => high && !self.is_beside(1),
            (Near::Neither, VantageBasis::Unknown) => return self.near_by_holes(low, high),
            (Near::Neither, _) => (low || high) && self.is_in_one_room(),
        };
        if own_side {
            (self.other_near(low, high), VantageBasis::Missing)
        } else {
            (near, basis)
        }
    }

    /// Holes came about on the side of the low host, or on that of the high one: the other is next to the capture point, if it may be.
    fn other_near(&self, low: bool, high: bool) -> Near {
        match (low, high) {
            (true, false) if self.may_be_near(1) && self.is_in_one_room() => Near::High,
            (false, true) if self.may_be_near(0) && self.is_in_one_room() => Near::Low,
            _ => Near::Neither,
        }
    }

    /// The same where only one host answers, if any: where all holes came about on its side, the other is next to the capture point.
    fn near_by_holes(&self, low: bool, high: bool) -> (Near, VantageBasis) {
        let [a, b] = self
            .hosts
            .each_ref()
            .map(|host| host.pace.answer_ns.is_some());
        let holes = self.hosts.each_ref().map(|host| host.gaps.holes_between);
        let near = match (low, high) {
            (false, false) => return (Near::Neither, VantageBasis::Unknown),
            (true, false) if a && holes[1] == 0 => Near::High,
            (false, true) if b && holes[0] == 0 => Near::Low,
            _ => self.other_near(low, high),
        };
        (near, VantageBasis::Missing)
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
        let is_near = |i: usize| {
            self.hosts[i]
                .pace
                .answer_ns
                .is_some_and(|ns| ns <= MAX_NEAR_NS)
        };
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
                .pace
                .answer_ns
                .is_some_and(|ns| ns <= MAX_OWN_DELAY_NS)
        };
        match (self.hosts[0].is_far(), self.hosts[1].is_far()) {
            (false, true) if self.may_be_near(0) || ratio < 0.2 => Near::Low,
            (true, false) if self.may_be_near(1) || ratio > 0.8 => Near::High,
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

    /// The only host from which no router lies, if its few answers may have been slow because it acknowledges data only after a while
    /// (RFC 9293 section 3.8.6.3). An answer to a SYN is not delayed.
    fn near_though_slow(&self) -> Near {
        let near = self.near_by_ttl();
        let pace = match near {
            Near::Low => &self.hosts[0].pace,
            Near::High => &self.hosts[1].pace,
            Near::Neither => return near,
        };
        let few = !self.handshake && pace.timed < MIN_ANSWERS_NOT_ALL_SLOW;
        let delayed = |ns| (MIN_DELAYED_ACK_NS..=MAX_DELAYED_ACK_NS).contains(&ns);
        match few && pace.answer_ns.is_some_and(delayed) {
            true => near,
            false => Near::Neither,
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
                .pace
                .answer_ns
                .is_some_and(|ns| ns <= MAX_ROUND_TRIP_OF_NONE_NS);
            soon && host.pace.timed > 1
        };
        match self.hosts.each_ref().map(next) {
            [true, false] => (Near::Low, VantageBasis::Timing),
            [false, true] => (Near::High, VantageBasis::Timing),
            _ if self.hosts.iter().all(Host::is_routed) => (Near::Neither, VantageBasis::Ttl),
            _ => (Near::Neither, VantageBasis::Unknown),
        }
    }

    /// The vantage point for data that goes `dir`; `answered` says that ACKs were seen.
    pub fn choose(&self, dir: Dir, forced: Option<Vantage>, answered: bool) -> VantageChoice {
        let (near, basis) = match self.out_of_order() {
            true => self.in_order().near(),
            false => self.near(),
        };
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
            to_receiver_ns: self.hosts[dir.reverse().index()].pace.answer_ns,
            to_sender_ns: self.answer_time(dir),
        }
    }
}
