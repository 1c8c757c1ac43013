//! Original or retransmission: what a copy of data below the highest seen gives away.
//!
//! An original was sent before any transmission of higher data, a retransmission after. Whatever
//! the sender counts up a packet (IPv4 identification) or by time (timestamps) tells them apart.

use inorder_vantage::Measured;
use inorder_wire::{Has, Segment};

use crate::collect::Basis;
use crate::kept::Kept;
use crate::prompt::MIN_TIMEOUT_NS;
use crate::result::{Evidence, Reason};

/// What is known of the transmissions of higher data, kept with each hole.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Above {
    pub(crate) ip_id: u16,
    pub(crate) tsval: u32,
    pub(crate) at_ns: i64,
}

impl Above {
    pub(crate) fn of(seg: &Segment) -> Self {
        Above {
            ip_id: seg.ip_id,
            tsval: seg.tsval,
            at_ns: seg.ts_ns,
        }
    }
}

/// What a copy is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copy {
    /// The first transmission of its bytes.
    Original(Basis),
    /// A later one.
    Retransmission(Basis),
}

/// How soon the sender of data answers at best, as the capture point sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RoundTrip {
    /// From the capture point to the sender and back, nanoseconds.
    pub(crate) ns: i64,
    /// It may be as short as this, nanoseconds: that of another connection between the same hosts, where few answers measured this one.
    pub(crate) least_ns: i64,
    /// Few answers measured it. A single one, to a SYN, may have been slow, and the round trip far shorter.
    pub(crate) seldom: bool,
}

impl RoundTrip {
    pub(crate) fn new(ns: i64, seldom: bool) -> Self {
        RoundTrip {
            ns,
            least_ns: ns,
            seldom,
        }
    }

    /// The same, where another connection has shown one of `ns`.
    pub(crate) fn or_as_short_as(mut self, ns: i64) -> Self {
        if self.seldom {
            self.least_ns = ns.min(self.ns);
        }
        self
    }
}

impl From<Measured> for RoundTrip {
    fn from(measured: Measured) -> Self {
        RoundTrip::new(measured.ns, measured.seldom)
    }
}

/// What packets of one sender bear that tells originals from copies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// The identification counts ([`IdCounter::trusted`]), and is another one where a packet is sent again.
    pub(crate) ip_id: bool,
    /// Whether the sender keeps it when it sends a packet again.
    pub(crate) kept: Kept,
    /// Its identification is the one after that of the packet captured before it, which carried
    /// higher data: it left after that one, even where the counter serves many connections or none.
    pub(crate) follows: bool,
    /// Both ends use timestamps.
    pub(crate) timestamps: bool,
    /// Its timestamp clock ticks no sooner, nanoseconds.
    pub(crate) tick_ns: i64,
    pub(crate) to_sender: Option<RoundTrip>,
}

impl Marks {
    /// From the capture point to the sender and back, nanoseconds.
    pub(crate) fn rtt_ns(&self) -> Option<i64> {
        self.to_sender.map(|rtt| rtt.ns)
    }
}

/// What can be used to tell copies of the same bytes apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Means {
    pub(crate) marks: Marks,
    /// When the sender can first have known of the hole, nanoseconds.
    pub(crate) news_ns: i64,
    /// Packets that came above the hole since it opened, where the path is known to make packets late. Elsewhere few of them say nothing: a sender
    /// repeats what it lost behind other lost packets, or near the end of its data, with less reason than three.
    pub(crate) overtaken_by: Option<u64>,
    /// An old identification is likelier that of a late original than that of a host which keeps them: some data has come sooner than a
    /// retransmission can, or few packets have come so late.
    pub(crate) likelier_late: bool,
    /// The path delivers packets late by about a round trip: some data has come hardly sooner than a retransmission can.
    pub(crate) delays: bool,
    /// Nothing has come so far that must be late.
    pub(crate) only_losses: bool,
}

/// A single answer takes up to this number of round trips where the host was busy. If it was lost, and what passed next went for it, it may have
/// taken any time: then nothing is known of the round trip.
const SLOW_ANSWER: i64 = 8;

impl Means {
    /// Is `seg` perhaps a retransmission that has kept its old identification? It comes no sooner than one can, and no timestamp
    /// tells that it left before higher data.
    pub(crate) fn perhaps_again(&self, seg: &Segment, above: &Above) -> bool {
        let soonest = self.soonest_ns().unwrap_or(MIN_RETRANSMISSION_DELAY_NS);
        self.perhaps_behind(soonest, seg, above)
    }

    /// The same, if the round trip may be far shorter than it is said to be.
    pub(crate) fn perhaps_soon_again(&self, seg: &Segment, above: &Above) -> bool {
        let seldom = self.marks.to_sender.filter(|rtt| rtt.seldom);
        seldom.is_some_and(|rtt| {
            let soonest = (rtt.ns / SLOW_ANSWER).min(MIN_RETRANSMISSION_DELAY_NS);
            self.perhaps_behind(soonest, seg, above)
        })
    }

    fn perhaps_behind(&self, soonest: i64, seg: &Segment, above: &Above) -> bool {
        let stamped = self.marks.timestamps && seg.has(Has::TIMESTAMPS);
        let older = stamped && (seg.tsval.wrapping_sub(above.tsval) as i32) < 0;
        let old_number = (seg.ip_id.wrapping_sub(above.ip_id) as i16) < 0;
        // Within one tick of a clock that ticks sooner than a retransmission comes, nothing was sent again.
        let same_tick = stamped
            && seg.tsval == above.tsval
            && self.rtt_ns().is_some_and(|rtt| rtt >= self.tick());
        seg.has(Has::IP_ID) && old_number && !older && !same_tick && self.elapsed(seg) >= soonest
    }

    fn rtt_ns(&self) -> Option<i64> {
        self.marks.rtt_ns()
    }

    /// A retransmission comes no sooner after its sender can have known of the hole, nanoseconds.
    fn soonest_ns(&self) -> Option<i64> {
        let rtt = self.marks.to_sender?.least_ns;
        Some(rtt - rtt / 8)
    }

    /// Since the sender can first have known of the hole, nanoseconds.
    fn elapsed(&self, seg: &Segment) -> i64 {
        seg.ts_ns.saturating_sub(self.news_ns)
    }

    /// It comes sooner than a retransmission, as the round trip tells.
    pub(crate) fn is_early(&self, seg: &Segment) -> bool {
        self.soonest_ns().is_some_and(|ns| self.elapsed(seg) < ns)
    }

    /// It comes at the end of the time in which nothing but a late packet can.
    pub(crate) fn is_nearly_a_round_trip(&self, seg: &Segment) -> bool {
        self.rtt_ns()
            .is_some_and(|rtt| self.elapsed(seg) >= rtt - rtt / 4)
    }

    /// No sender has reason to send it again: too few packets came above it, and no timer has expired.
    fn is_not_asked_for(&self, elapsed: i64) -> bool {
        self.overtaken_by.is_some_and(|n| n < DUPLICATE_THRESHOLD) && elapsed < MIN_TIMEOUT_NS
    }

    /// It comes no sooner than a retransmission, and its sender may have had reason to send it again.
    pub(crate) fn may_be_asked_for(&self, seg: &Segment) -> bool {
        let elapsed = self.elapsed(seg);
        let in_time = self.rtt_ns().is_some_and(|rtt| elapsed >= rtt - rtt / 8);
        in_time && !self.is_not_asked_for(elapsed)
    }

    /// The sender's timestamps may stay the same for as long, nanoseconds.
    fn tick(&self) -> i64 {
        self.marks.tick_ns.max(MAX_USUAL_TICK_NS)
    }
}

impl Copy {
    /// The same, where a timestamp could have told more if its clock were finer.
    fn despite_coarse_clock(self) -> Self {
        let coarse = |basis: Basis| Basis {
            reason: Some(Reason::CoarseClock),
            ..basis
        };
        match self {
            Copy::Original(basis) => Copy::Original(coarse(basis)),
            Copy::Retransmission(basis) => Copy::Retransmission(coarse(basis)),
        }
    }
}

/// Tells whether `seg` is an original, given the transmission of higher data that opened its hole.
pub(crate) fn tell(seg: &Segment, above: &Above, means: &Means) -> Copy {
    let marks = &means.marks;
    if marks.ip_id && seg.has(Has::IP_ID) {
        return by_ip_id(seg, above, means);
    }
    if marks.timestamps && seg.has(Has::TIMESTAMPS) {
        let basis = Basis::certain(Evidence::ArrivalTimestamps);
        match seg.tsval.wrapping_sub(above.tsval) as i32 {
            ..0 => return Copy::Original(basis),
            0 => return same_tick(seg, means),
            _ => return Copy::Retransmission(basis),
        }
    }
    if marks.follows && seg.has(Has::IP_ID) && seg.ip_id != 0 {
        return Copy::Retransmission(Basis::certain(Evidence::ArrivalIpId));
    }
    if marks.kept != Kept::Yes && just_before(seg, above) {
        return match by_ip_id(seg, above, means) {
            Copy::Original(basis) => Copy::Original(basis.weaker(Reason::LoneCopy)),
            copy => copy,
        };
    }
    by_timing(seg, means)
}

/// Its identification is one of the few before that of the higher data: so soon behind each other few hosts give them by chance, even where
/// the counter serves many connections, or too few packets have come to know how it counts.
fn just_before(seg: &Segment, above: &Above) -> bool {
    let before = above.ip_id.wrapping_sub(seg.ip_id);
    seg.has(Has::IP_ID) && seg.ip_id != 0 && (1..=MAX_JUST_BEFORE).contains(&before)
}

fn by_ip_id(seg: &Segment, above: &Above, means: &Means) -> Copy {
    let basis = Basis::certain(Evidence::ArrivalIpId);
    let before = (seg.ip_id.wrapping_sub(above.ip_id) as i16) < 0;
    let stamped = means.marks.timestamps && seg.has(Has::TIMESTAMPS);
    let open = means.marks.kept == Kept::Unknown;
    let ticks = if stamped {
        seg.tsval.wrapping_sub(above.tsval) as i32
    } else {
        0
    };
    match (before, ticks) {
        // The counter has come round while the packet was under way.
        (true, 1..) => Copy::Retransmission(Basis::certain(Evidence::ArrivalTimestamps)),
        (false, ..0) => Copy::Original(Basis::certain(Evidence::ArrivalTimestamps)),
        (true, _) if open && means.perhaps_again(seg, above) => {
            Copy::Original(match means.likelier_late {
                true => basis.weaker(Reason::LoneCopy),
                false => Basis::ambiguous(basis.evidence, Reason::LoneCopy),
            })
        }
        (true, _) if open && means.perhaps_soon_again(seg, above) => {
            Copy::Original(basis.weaker(Reason::LoneCopy))
        }
        (true, _) => Copy::Original(basis),
        (false, _) => Copy::Retransmission(basis),
    }
}

/// Sent within one tick of higher data: a retransmission would need a round trip in between. Where that is shorter than a
/// tick, the timestamp says nothing.
fn same_tick(seg: &Segment, means: &Means) -> Copy {
    let tick_ns = means.tick();
    let elapsed = means.elapsed(seg);
    match means.rtt_ns() {
        Some(rtt) if rtt < tick_ns => by_timing(seg, means).despite_coarse_clock(),
        None if elapsed > tick_ns => Copy::Retransmission(Basis::ambiguous(
            Evidence::ArrivalTimestamps,
            Reason::CoarseClock,
        )),
        _ => Copy::Original(Basis::certain(Evidence::ArrivalTimestamps)),
    }
}

/// How far apart identifications are at most that say that one packet left just before another: of a thousand random ones one is as near.
const MAX_JUST_BEFORE: u16 = 64;

/// The clocks of common stacks tick every millisecond; a tick and the jitter of hosts fit into this, nanoseconds.
pub(crate) const MAX_USUAL_TICK_NS: i64 = 2_000_000;

/// A sender takes a packet for lost once this number of packets above it have been reported (RFC 5681 section 3.2, RFC 6675 section 2).
const DUPLICATE_THRESHOLD: u64 = 3;

/// Minimum time from the report of a hole to the arrival of its retransmission where no round trip is known, nanoseconds.
const MIN_RETRANSMISSION_DELAY_NS: i64 = 1_000_000;

/// A retransmission takes a report of the hole to the sender, and the way back.
///
/// The round trip known is often the handshake's alone, and data may be faster: through an emptier queue,
/// or because the other host took its time to answer a SYN. So nothing is certain by it.
pub(crate) fn by_timing(seg: &Segment, means: &Means) -> Copy {
    let evidence = Evidence::ArrivalTiming;
    let elapsed = means.elapsed(seg);
    let Some(RoundTrip {
        ns: rtt,
        least_ns: least,
        ..
    }) = means.marks.to_sender
    else {
        if elapsed < MIN_RETRANSMISSION_DELAY_NS {
            return Copy::Original(Basis::certain(evidence).weaker(Reason::LoneCopy));
        }
        return Copy::Retransmission(Basis::ambiguous(evidence, Reason::LoneCopy));
    };
    if elapsed < least / 2 || means.is_not_asked_for(elapsed) {
        return Copy::Original(Basis::certain(evidence).weaker(Reason::LoneCopy));
    }
    if elapsed < least - least / 10 {
        return Copy::Original(Basis::ambiguous(evidence, Reason::LoneCopy));
    }
    if elapsed < rtt - rtt / 10 {
        return Copy::Retransmission(Basis::ambiguous(evidence, Reason::LoneCopy));
    }
    if means.only_losses {
        return Copy::Retransmission(Basis::certain(evidence).weaker(Reason::LoneCopy));
    }
    if elapsed > rtt.saturating_mul(3) {
        // Later than a prompt retransmission comes; a time-out would be later still.
        return Copy::Original(Basis::ambiguous(evidence, Reason::LoneCopy));
    }
    let prompt = (rtt..=rtt + rtt / 8).contains(&elapsed);
    if !means.delays && prompt && !counts_milliseconds([rtt, elapsed]) {
        // A prompt retransmission comes after a round trip or a little more, as this one; where late packets come just before that, they come then, too.
        return Copy::Retransmission(Basis::certain(evidence).weaker(Reason::LoneCopy));
    }
    Copy::Retransmission(Basis::ambiguous(evidence, Reason::LoneCopy))
}

/// The capture's clock counts milliseconds, and these times are so few of them that equal ones may differ by more than an eighth.
fn counts_milliseconds(times_ns: [i64; 2]) -> bool {
    const MS: i64 = 1_000_000;
    times_ns.iter().all(|ns| ns % MS == 0 && *ns < 8 * MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Confidence;

    #[test]
    fn few_milliseconds_of_a_clock_that_counts_them_are_not_prompt() {
        let likely = |rtt_ns, elapsed_ns| {
            let told = by_timing(&seg(0, 0, elapsed_ns), &away(rtt_ns));
            matches!(told, Copy::Retransmission(basis) if basis.confidence == Confidence::Likely)
        };
        assert!(likely(2_000_001, 2_100_000));
        assert!(!likely(2_000_000, 2_000_000));
        assert!(likely(20_000_000, 21_000_000));
    }

    fn seg(ip_id: u16, tsval: u32, ts_ns: i64) -> Segment {
        segment!(ip_id, tsval, ts_ns, has: Has::IP_ID | Has::TIMESTAMPS)
    }

    fn means(marks: Marks) -> Means {
        Means {
            marks,
            ..Means::default()
        }
    }

    /// No marks, and a sender so far away, nanoseconds, as many answers tell.
    fn away(ns: i64) -> Means {
        let seldom = false;
        means(Marks {
            to_sender: Some(RoundTrip::new(ns, seldom)),
            ..Marks::default()
        })
    }

    #[test]
    fn the_identification_tells_original_from_copy_across_its_wrap() {
        let above = Above::of(&seg(3, 100, 0));
        let means = means(Marks {
            ip_id: true,
            timestamps: true,
            ..Marks::default()
        });
        assert!(matches!(
            tell(&seg(65_534, 100, 10), &above, &means),
            Copy::Original(_)
        ));
        assert!(matches!(
            tell(&seg(9, 105, 10), &above, &means),
            Copy::Retransmission(_)
        ));
        // 40,000 packets late: the timestamp, not the wrapped counter, is right.
        assert!(matches!(
            tell(&seg(30_000, 90, 10), &above, &means),
            Copy::Original(_)
        ));
    }

    #[test]
    fn without_marks_only_a_copy_sooner_than_the_round_trip_is_an_original() {
        let bare = |ts_ns| segment!(ts_ns);
        let means = away(1_000);
        let above = Above::default();
        let lone = Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy);
        let likely = Basis::certain(Evidence::ArrivalTiming).weaker(Reason::LoneCopy);
        assert_eq!(tell(&bare(400), &above, &means), Copy::Original(likely));
        assert_eq!(tell(&bare(800), &above, &means), Copy::Original(lone));
        let open = tell(&bare(1_500), &above, &means);
        assert_eq!(open, Copy::Retransmission(lone));
        assert_eq!(
            tell(&bare(1_050), &above, &means),
            Copy::Retransmission(likely)
        );
        let delays = Means {
            delays: true,
            ..means
        };
        let late = tell(&bare(1_050), &above, &delays);
        assert_eq!(late, Copy::Retransmission(lone), "others were late, too");
    }

    #[test]
    fn a_sender_has_reason_to_send_again_behind_three_packets_or_a_timer() {
        let told = |ms: i64, overtaken_by, only_losses| {
            let means = Means {
                overtaken_by: Some(overtaken_by),
                only_losses,
                ..away(20_000_000)
            };
            tell(&segment!(ts_ns: ms * 1_000_000), &Above::default(), &means)
        };
        let lone = Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy);
        let likely = Basis::certain(Evidence::ArrivalTiming).weaker(Reason::LoneCopy);
        assert_eq!(told(30, 2, false), Copy::Original(likely));
        assert_eq!(told(30, 3, false), Copy::Retransmission(lone));
        assert_eq!(told(200, 2, false), Copy::Original(lone), "a timer");
        // Where nothing has come that must be late, this need not be late either.
        assert_eq!(told(30, 3, true), Copy::Retransmission(likely));
        assert_eq!(told(200, 2, true), Copy::Retransmission(likely));
    }

    #[test]
    fn an_old_identification_proves_nothing_a_round_trip_later_while_the_host_may_keep_them() {
        let above = Above::of(&seg(30, 0, 0));
        let timed = |at_ns, kept, seldom| {
            let ns = 10_000_000;
            let means = means(Marks {
                ip_id: true,
                to_sender: Some(RoundTrip::new(ns, seldom)),
                kept,
                ..Marks::default()
            });
            tell(&seg(20, 0, at_ns), &above, &means)
        };
        let told = |at_ns, kept| timed(at_ns, kept, false);
        let certain = Copy::Original(Basis::certain(Evidence::ArrivalIpId));
        assert_eq!(told(5_000_000, Kept::Unknown), certain, "too soon");
        // By one answer alone the round trip may be far shorter.
        let likely = Copy::Original(Basis::certain(Evidence::ArrivalIpId).weaker(Reason::LoneCopy));
        assert_eq!(timed(5_000_000, Kept::Unknown, true), likely);
        assert_eq!(timed(900_000, Kept::Unknown, true), certain);
        assert_eq!(timed(5_000_000, Kept::No, true), certain);
        assert_eq!(told(11_000_000, Kept::No), certain);
        let either = Basis::ambiguous(Evidence::ArrivalIpId, Reason::LoneCopy);
        assert_eq!(told(11_000_000, Kept::Unknown), Copy::Original(either));
    }
}
