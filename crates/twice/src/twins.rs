//! Does the capture hold every frame twice, or three times? On several interfaces of one host, or on both sides of a mirrored port, each
//! frame is captured once more. An IPv4 identification shows that frame by frame ([`crate::Recent::contains`]);
//! where there is none (IPv6, or 0 with hosts that never fragment), a frame that comes again may as well be a
//! retransmission or a further duplicate ACK. Only that nearly all of them come twice tells.

use inorder_wire::{Dir, Segment};

use crate::requests::Requests;
use crate::{MAX_APART_NS, MIN_PAIRS, are_too_many};

/// First frames of a connection that are compared, and waited for where they come twice so far.
pub const MAX_FRAMES_COMPARED: usize = 64;
/// Minimum time between data and its retransmission, if that was asked for, nanoseconds.
const MIN_ASKED_APART_NS: i64 = 1_000_000;

/// Maximum time between two captures of a frame where those of the other direction come once, nanoseconds: no sender repeats anything so soon.
const MAX_APART_OF_ONE_NS: i64 = 1_000_000;

/// What the first frames show.
#[derive(PartialEq, Debug)]
pub enum Twins {
    /// Each comes once, or there are identifications.
    None,
    /// Frames came twice so far; more of them are needed to decide.
    Perhaps,
    /// Each frame came this number of times so far, and most may come once more.
    SoFar(Copies),
    /// Each frame comes this number of times.
    All(Copies),
}

/// How often the frames of each direction come, where they come several times; 0 for the others.
pub type Copies = [u8; 2];

/// A frame that came again.
struct Pair {
    frame: (Dir, Segment),
    /// How often, and when first, nanoseconds.
    again: usize,
    second_ns: i64,
    /// The two have different times to live.
    routed: bool,
}

/// Frames without an identification of their own, as they come.
#[derive(Default)]
struct Pairing {
    single: Vec<(Dir, Segment)>,
    /// Frames that came twice.
    pairs: Vec<Pair>,
    /// Frames whose second capture should have come.
    lone: usize,
    longest_ns: i64,
    /// What each host asked for.
    requests: [Requests; 2],
}

impl Pairing {
    fn push(&mut self, frame: (Dir, Segment)) {
        let Some(at) = self.single.iter().position(|s| are_twins(s, &frame)) else {
            let known = |pair: &Pair| are_twins(&pair.frame, &frame);
            let Some(at) = self.pairs.iter().rposition(known) else {
                return self.single.push(frame);
            };
            let apart_ns = frame.1.ts_ns - self.pairs[at].second_ns;
            if !self.was_asked_for(&frame, apart_ns) {
                self.pairs[at].again += 1;
            }
            return;
        };
        if self.was_asked_for(&frame, frame.1.ts_ns - self.single[at].1.ts_ns) {
            return;
        }
        let (dir, first) = self.single.remove(at);
        self.pairs.push(Pair {
            frame: (dir, first),
            again: 1,
            second_ns: frame.1.ts_ns,
            routed: frame.1.ttl != first.ttl,
        });
        self.longest_ns = self.longest_ns.max(frame.1.ts_ns - first.ts_ns);
        // Second captures come in the order of the first ones.
        let mut place = 0..;
        let passed = |s: &mut (Dir, Segment)| place.next() < Some(at) && s.0 == dir;
        self.lone += self.single.extract_if(.., passed).count();
    }

    /// Data that comes again `apart_ns` later because the other host lacked it is no second capture.
    fn was_asked_for(&self, (dir, data): &(Dir, Segment), apart_ns: i64) -> bool {
        let requests = &self.requests[dir.reverse().index()];
        data.payload_len > 0 && apart_ns >= MIN_ASKED_APART_NS && requests.are_for(data, apart_ns)
    }

    fn verdict(&self, last_ns: i64, compared: usize) -> Twins {
        let overdue_ns = last_ns.saturating_sub(2 * self.longest_ns);
        let due = self.single.iter().rev().skip(1);
        let lone = self.lone + due.filter(|(_, s)| s.ts_ns <= overdue_ns).count();
        let open = compared < MAX_FRAMES_COMPARED;
        // A third capture comes as long after the second as that after the first.
        let due = |pair: &&Pair| last_ns.saturating_sub(pair.second_ns) > self.longest_ns;
        let all_due = 2 * self.pairs.iter().filter(due).count() >= self.pairs.len();
        let judged = |pair: &&Pair| due(pair) || !all_due;
        let (judged, more) = self
            .pairs
            .iter()
            .filter(judged)
            .fold((0, 0), |(n, more), p| {
                (n + 1, more + usize::from(p.again > 1))
            });
        // A few may be alike for another reason: duplicate acknowledgements, for one.
        let copies = if 2 * more > judged { 3 } else { 2 };
        let pairs = self.pairs.len();
        let routed = self.pairs.iter().filter(|pair| pair.routed).count();
        match pairs + routed {
            0 => Twins::None,
            _ if are_too_many(lone, pairs) => Twins::None,
            MIN_PAIRS.. if open && !all_due => Twins::SoFar([copies; 2]),
            MIN_PAIRS.. => Twins::All([copies; 2]),
            _ if open => Twins::Perhaps,
            _ => Twins::None,
        }
    }
}

/// Do the first frames without an identification come twice? Where they are too few, those with one tell, too; and those of one direction
/// alone, where a filter of the system shows what the host sends once more.
pub fn among<I: Iterator<Item = (Dir, Segment)>>(frames: impl Fn() -> I) -> Twins {
    let few = Compared::of(frames(), |(_, segment)| segment.ip_id == 0);
    let told = few.verdict();
    let open = matches!(told, Twins::None | Twins::Perhaps);
    if open && (1..MIN_PAIRS).contains(&few.pairing.pairs.len()) {
        let all = Compared::of(frames(), |_| true).verdict();
        if matches!(all, Twins::All(_) | Twins::SoFar(_)) {
            return all;
        }
    }
    match told {
        Twins::None => few.of_one_direction(frames),
        told => told,
    }
}

/// The first frames, once they are paired.
struct Compared {
    pairing: Pairing,
    frames: usize,
    last_ns: i64,
}

impl Compared {
    fn of(
        frames: impl Iterator<Item = (Dir, Segment)>,
        counts: impl Fn(&(Dir, Segment)) -> bool,
    ) -> Self {
        let mut all = Compared {
            pairing: Pairing::default(),
            frames: 0,
            last_ns: 0,
        };
        for frame in frames.take(MAX_FRAMES_COMPARED) {
            all.frames += 1;
            all.last_ns = frame.1.ts_ns;
            if counts(&frame) {
                all.pairing.push(frame);
            }
            all.pairing.requests[frame.0.index()].note(&frame.1);
        }
        all
    }

    fn verdict(&self) -> Twins {
        self.pairing.verdict(self.last_ns, self.frames)
    }

    /// Where not all of the frames come twice: does the data of one direction, sooner than anybody sends it again?
    fn of_one_direction<I: Iterator<Item = (Dir, Segment)>>(
        &self,
        frames: impl Fn() -> I,
    ) -> Twins {
        let has_pairs = |dir: &Dir| {
            let mut pairs = self.pairing.pairs.iter();
            pairs.any(|pair| pair.frame.0 == *dir && pair.frame.1.payload_len > 0)
        };
        let ways = [Dir::LowToHigh, Dir::HighToLow]
            .into_iter()
            .filter(has_pairs);
        let mut told = ways.map(|dir| Self::of_data(&frames, dir));
        told.find(|told| *told != Twins::None)
            .unwrap_or(Twins::None)
    }

    fn of_data<I: Iterator<Item = (Dir, Segment)>>(frames: &impl Fn() -> I, dir: Dir) -> Twins {
        let one = Compared::of(frames(), |(way, segment)| {
            *way == dir && segment.ip_id == 0 && segment.payload_len > 0
        });
        let soon = one.pairing.longest_ns <= MAX_APART_OF_ONE_NS;
        let only = |[copies, _]: Copies| {
            let mut of_one = [0; 2];
            of_one[dir.index()] = copies;
            of_one
        };
        match one.verdict() {
            _ if !soon => Twins::None,
            Twins::SoFar(copies) => Twins::SoFar(only(copies)),
            Twins::All(copies) => Twins::All(only(copies)),
            told => told,
        }
    }
}

/// What a capture point further on leaves unchanged is the same.
fn are_twins((dir, a): &(Dir, Segment), (dir_b, b): &(Dir, Segment)) -> bool {
    let content = |s: &Segment| (s.seq, s.ack, s.payload_len, s.flags.0, s.window, s.ip_id);
    let stamps = |s: &Segment| (s.tsval, s.tsecr);
    dir == dir_b
        && content(a) == content(b)
        && stamps(a) == stamps(b)
        && a.sack_blocks() == b.sack_blocks()
        && (0..=MAX_APART_NS).contains(&b.ts_ns.saturating_sub(a.ts_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn frame(at_ns: i64, seq: u32, ack: u32) -> (Dir, Segment) {
        let segment = segment!(ts_ns: at_ns, seq, ack);
        (Dir::LowToHigh, segment)
    }

    /// `n` frames, each captured again `apart` later.
    fn twice(n: u32, apart: i64) -> impl Iterator<Item = (Dir, Segment)> {
        (0..n).flat_map(move |i| [0, apart].map(|d| frame(i64::from(i) + d, i, 0)))
    }

    #[test]
    fn frames_that_all_come_twice_are_told_from_a_few_that_do() {
        assert_eq!(among(|| twice(4, 0)), Twins::All([2; 2]));
        assert_eq!(among(|| twice(3, 0)), Twins::Perhaps);
        // The second captures of the last ones are missing yet.
        let mut later: Vec<_> = twice(9, 5 * MS).collect();
        later.sort_by_key(|(_, segment)| segment.ts_ns);
        let some = |n| among(|| later.iter().copied().take(n));
        assert_eq!(some(14), Twins::SoFar([2; 2]), "they may come a third time");
        // Keep-alives a second apart.
        assert_eq!(among(|| twice(8, 1_000 * MS)), Twins::None);
        let duplicate_acks = |before: i64| {
            let acks = (0..before).map(|i| frame(i, i as u32, 0));
            among(|| acks.clone().chain((0..9).map(|n| frame(99 + n, 99, 9))))
        };
        assert_eq!(duplicate_acks(9), Twins::None);
        assert_eq!(duplicate_acks(3), Twins::None);
    }

    #[test]
    fn frames_that_all_come_three_times_are_told_from_those_that_come_twice() {
        let thrice = || (0..8).flat_map(|i| [0, 5, 9].map(|d| frame(i64::from(i) * MS + d, i, 0)));
        assert_eq!(among(thrice), Twins::All([3; 2]));
    }

    #[test]
    fn where_a_burst_comes_a_second_time_a_third_is_waited_for() {
        let burst = |ns: i64| (0..10).map(move |i| frame(ns, i, 0));
        let thrice: Vec<_> = [0, 3, 6].into_iter().flat_map(burst).collect();
        let next = frame(MS, 10, 0);
        let some = |n| among(|| thrice.iter().copied().take(n).chain([next]));
        let first = || thrice.iter().copied().take(20);
        assert_eq!(among(first), Twins::SoFar([2; 2]));
        assert_eq!(some(20), Twins::All([2; 2]));
        assert_eq!(some(30), Twins::All([3; 2]));
    }

    #[test]
    fn a_handshake_that_the_network_delivers_twice_is_waited_past_and_is_not_enough() {
        let data = || (10..20).map(|i| frame(i, i as u32, 0));
        assert_eq!(among(|| twice(3, 0).chain(data())), Twins::None);
    }

    #[test]
    fn data_that_is_sent_again_because_it_was_asked_for_was_not_captured_twice() {
        let data = |ms, n: u32| {
            let (dir, segment) = frame(ms * MS, n * 100, 0);
            (
                dir,
                Segment {
                    payload_len: 100,
                    ..segment
                },
            )
        };
        let ack = |ms, n: u32| {
            let (dir, segment) = frame(ms * MS, 7, n * 100);
            (dir.reverse(), segment)
        };
        let flight = || (0..8).map(|n| data(0, n));
        let again = || (0..8).flat_map(|n| [ack(20 + i64::from(n), n), data(20 + i64::from(n), n)]);
        assert_eq!(among(|| flight().chain(again())), Twins::None);
        let twins = || (0..8).map(|n| data(3, n)).chain([ack(20, 8)]);
        assert_eq!(among(|| flight().chain(twins())), Twins::All([2; 2]));
    }

    #[test]
    fn what_one_host_sends_may_be_captured_twice_and_its_answers_once() {
        let data = |at_ns: i64, n: u32| {
            let (dir, segment) = frame(at_ns, n * 100, 0);
            let payload_len = 100;
            (
                dir,
                Segment {
                    payload_len,
                    ..segment
                },
            )
        };
        let ack = |at_ns: i64, n: u32| (Dir::HighToLow, frame(at_ns, 7, n * 100).1);
        let rounds = |apart: i64| {
            (0..6).flat_map(move |n| {
                let (at, n) = (i64::from(n) * 9 * MS, 2 * n as u32);
                let burst = [0, apart].map(|d| [data(at + d, n), data(at + d, n + 1)]);
                let acks = [ack(at + 5 * MS, n + 1), ack(at + 5 * MS, n + 2)];
                burst.into_iter().flatten().chain(acks)
            })
        };
        assert_eq!(among(|| rounds(9_000)), Twins::All([2, 0]));
        assert_eq!(among(|| rounds(2 * MS)), Twins::None, "sent again");
    }

    #[test]
    fn frames_that_come_again_from_behind_routers_need_fewer_pairs() {
        let routed = |n| {
            twice(n, 0).enumerate().map(|(i, (dir, segment))| {
                let ttl = 64 - 2 * (i % 2) as u8;
                (dir, Segment { ttl, ..segment })
            })
        };
        assert_eq!(among(|| routed(1)), Twins::Perhaps);
        assert_eq!(among(|| routed(2)), Twins::All([2; 2]));
    }

    #[test]
    fn frames_with_an_identification_say_nothing() {
        let numbered = |(dir, segment)| {
            (
                dir,
                Segment {
                    ip_id: 7,
                    ..segment
                },
            )
        };
        assert_eq!(among(|| twice(8, 0).map(numbered)), Twins::None);
    }

    #[test]
    fn where_few_frames_lack_an_identification_those_that_have_one_tell_of_them() {
        // Two of ten frames have none. Each number comes twice, or each frame has one of its own.
        let few = |each: u16| {
            (0..20u16).map(move |at| {
                let n = u32::from(at / 2);
                let (dir, segment) = frame(i64::from(at), n, 0);
                let ip_id = if n < 2 { 0 } else { 100 + at / each };
                (dir, Segment { ip_id, ..segment })
            })
        };
        assert_eq!(among(|| few(2)), Twins::All([2; 2]));
        assert_eq!(among(|| few(1)), Twins::Perhaps);
    }
}
