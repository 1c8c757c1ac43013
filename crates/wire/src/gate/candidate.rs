//! The first packets of what may be a stream, and the evidence that they are one.

use crate::Service;
use crate::numbered::Numbered;

/// Number of packets with nearly consecutive numbers that confirm a stream. A random packet follows another one this
/// closely with probability 1/2000, three in a row with probability 10^-10.
const PROOF: usize = 4;
/// Number of such packets where a clock is part of the evidence: between them it makes four steps.
const PROOF_BY_CLOCK: usize = 5;
/// Maximum number of packets that are held. More of them come without a step of the clock where one picture of a video
/// is longer; of such a stream the first packets are left out.
const MAX_HELD: usize = 24;
/// Maximum distance of a number from the highest one before it, in either direction (RFC 3550 A.1 allows 100
/// backwards for a stream that is already confirmed).
const NEAR: u64 = 16;
/// Fastest clock of RTP in use, Hz: audio of 192 kHz (the registered clocks are those of RFC 3551 table 4 and 5, most
/// of them 8,000 to 90,000 Hz).
const MAX_CLOCK_HZ: i64 = 200_000;
/// Slowest one, Hz: text (RFC 4103) counts milliseconds; a sender may hold it still for most of the time.
const MIN_CLOCK_HZ: i64 = 250;
/// Least mean step of the clock, ticks: packets of 125 us at 48 kHz have 6. What counts packets has 1.
const MIN_TICKS: i64 = 5;
/// By how much packets may have been delayed, or sent in advance, while the clock ran evenly, nanoseconds.
const MAX_JITTER_NS: i64 = 500_000_000;
/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Packets of one key that may be a stream.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    first: Numbered,
    /// Those behind the first one, duplicates included; no memory is allocated for a single packet.
    others: Vec<Numbered>,
    highest: u64,
}

/// What a further packet does to a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// It is held as well.
    More,
    /// It does not continue the candidate.
    Against,
    /// Together with those before it proves the stream.
    Proof,
}

/// By how much `to` follows `from`, negative if it comes before; both wrap at `bits`.
fn ahead(from: u64, to: u64, bits: u32) -> i64 {
    (to.wrapping_sub(from) << (64 - bits)).cast_signed() >> (64 - bits)
}

impl Candidate {
    pub(super) fn new(first: Numbered) -> Self {
        Candidate {
            first,
            others: Vec::new(),
            highest: first.seq,
        }
    }

    /// The packets that are held, in the order of arrival.
    pub(super) fn held(&self) -> impl Iterator<Item = &Numbered> + Clone {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Takes the next packet, which is held unless it is evidence against the stream.
    pub(super) fn push(&mut self, packet: Numbered, service: Service) -> Evidence {
        let ahead = ahead(self.highest, packet.seq, service.bits());
        if ahead.unsigned_abs() > NEAR {
            return Evidence::Against;
        }
        let same = self.held().find(|held| held.seq == packet.seq);
        if let Some(same) = same {
            // A copy neither confirms nor refutes a stream. Two packets with one number are no copies of each other:
            // the number is something else, as a length.
            if !are_copies(same, &packet) {
                return Evidence::Against;
            }
            self.hold(packet);
            return Evidence::More;
        }
        if ahead > 0 {
            self.highest = packet.seq;
        }
        self.hold(packet);
        if self.is_proved(service) {
            Evidence::Proof
        } else {
            Evidence::More
        }
    }

    fn hold(&mut self, packet: Numbered) {
        if self.others.len() + 1 == MAX_HELD {
            self.first = self.others.remove(0);
        }
        self.others.push(packet);
    }

    fn is_proved(&self, service: Service) -> bool {
        if !service.has_clock() {
            return self.others.len() + 1 >= PROOF && self.distinct(service.bits()).len() >= PROOF;
        }
        self.others.len() + 1 >= PROOF_BY_CLOCK && {
            let packets = self.distinct(service.bits());
            packets.len() >= PROOF_BY_CLOCK && advances(&packets) && runs(packets)
        }
    }

    /// The packets without copies in the order of arrival, each with its distance from the first number.
    fn distinct(&self, bits: u32) -> Vec<(i64, Numbered)> {
        let mut all: Vec<(i64, Numbered)> = Vec::with_capacity(MAX_HELD);
        for held in self.held() {
            let at = ahead(self.first.seq, held.seq, bits);
            if all.iter().all(|(other, _)| *other != at) {
                all.push((at, *held));
            }
        }
        all
    }
}

/// Same content, as far as it is known.
fn are_copies(a: &Numbered, b: &Numbered) -> bool {
    (a.stamp, a.kind, a.payload_len) == (b.stamp, b.kind, b.payload_len)
}

/// True if the numbers go forward by small steps: at least half of those passed have come, and most in their order.
fn advances(packets: &[(i64, Numbered)]) -> bool {
    let came = packets.len() as i64;
    let mut highest = i64::MIN;
    let late = packets.iter().filter(|(at, _)| {
        let is_late = *at < highest;
        highest = highest.max(*at);
        is_late
    });
    let late = late.count() as i64;
    let lowest = packets.iter().map(|(at, _)| *at).min().unwrap_or(0);
    highest - lowest < 2 * came + 2 && 2 * late <= came && 2 * highest >= came - 1
}

/// True if the timestamps run with time, as those of a clock that RTP knows.
fn runs(mut packets: Vec<(i64, Numbered)>) -> bool {
    packets.sort_unstable_by_key(|(at, _)| *at);
    let (Some((_, oldest)), Some((_, newest))) = (packets.first(), packets.last()) else {
        return false;
    };
    let ticks =
        |packet: &Numbered| i64::from(packet.stamp.wrapping_sub(oldest.stamp).cast_signed());
    let elapsed_ns = |packet: &Numbered| packet.ts_ns.saturating_sub(oldest.ts_ns).saturating_abs();
    // Pictures of a video are not sent in the order of their times: stamps may step back by as much as packets jitter.
    let most = |packet: &Numbered| {
        let time_ns = elapsed_ns(packet).saturating_add(MAX_JITTER_NS);
        i128::from(time_ns) * i128::from(MAX_CLOCK_HZ) / i128::from(SECOND_NS)
    };
    let mut steps = 0;
    for pair in packets.windows(2) {
        steps += i64::from(pair[0].1.stamp != pair[1].1.stamp);
    }
    let possible = packets.iter().all(|(_, packet)| {
        let ticks = i128::from(ticks(packet));
        ticks <= most(packet) && -ticks <= most(oldest)
    });
    let advance = i128::from(ticks(newest));
    let elapsed = i128::from(elapsed_ns(newest));
    let least = elapsed * i128::from(MIN_CLOCK_HZ) / i128::from(SECOND_NS);
    // Over a longer time the clock runs evenly; random values between two bounds do not.
    let is_even = elapsed < 2 * i128::from(MAX_JITTER_NS)
        || packets.iter().all(|(_, packet)| {
            let difference =
                i128::from(ticks(packet)) * elapsed - advance * i128::from(elapsed_ns(packet));
            difference.abs() <= advance * i128::from(MAX_JITTER_NS)
        });
    let enough = advance >= i128::from(MIN_TICKS * steps) && advance >= least;
    steps > 0 && possible && enough && is_even
}
