//! Original or retransmission: what a copy of data below the highest seen gives away.
//!
//! An original was sent before any transmission of higher data, a retransmission after. Whatever
//! the sender counts up a packet (IPv4 identification) or by time (timestamps) tells them apart.

use std::collections::VecDeque;

use inorder_wire::{Has, Segment, TcpFlags};

use crate::collect::Basis;
use crate::result::{Evidence, Reason};

/// Whether a host's IPv4 identification counts its packets.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct IdCounter {
    /// There was a packet, the last with this number.
    begun: bool,
    last: u16,
    trusted: bool,
    good: u32,
    bad: u32,
    /// Packets in a row that each went one step, not yet counted below or as good.
    run: u64,
    /// Sum of the good steps, and how many were just the packets seen in between.
    steps: u64,
    exact: u32,
    /// Wire packets the last frame stood for.
    packets: u16,
}

/// Packets that each went just one step show so surely that a counter serves no other connection.
const SURE_TO_BE_OWN: u32 = 16;
/// So many make it likely.
const LIKELY_OWN: u32 = 3;
/// Packets of a flow's first flights that may be lost.
const MAX_LOST_AT_FIRST: u64 = 24;
/// Steps up to this are a counter's (packets to others, lost ones, super-segments in between).
const MAX_COUNTER_STEP: i16 = 1_024;

/// What the identification of a packet tells of its place among those of its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// How far the counter went from the highest so far, if the field is there.
    pub(crate) step: Option<i16>,
    /// How many packets of the host vanished before this one: 0 unless the counter is the connection's own, so that
    /// every number not seen is a packet lost.
    pub(crate) vanished: u8,
    /// Some may have, as far as few packets tell.
    pub(crate) gap: bool,
    /// More than that it follows on the frame before is to be said: there is a gap, or it [overlaps](Self::overlaps).
    pub(crate) unusual: bool,
    /// Packets on the wire that the frame before stood for; 0 before the first.
    before: u16,
    /// Packets that the frame begins with and that have come before.
    pub(crate) repeated: u16,
}

impl Numbering {
    const UNKNOWN: Numbering = Numbering {
        step: None,
        vanished: 0,
        gap: false,
        unusual: false,
        before: 0,
        repeated: 0,
    };

    /// The numbers of the frame begin with some that the frames before may have borne.
    pub(crate) fn overlaps(self) -> bool {
        self.step
            .is_some_and(|step| i32::from(step) < i32::from(self.before))
    }

    /// The same for what is left of a frame whose first `packets` have come before: it follows on them.
    pub(crate) fn behind(self, packets: u16) -> Numbering {
        Numbering {
            step: Some(1),
            before: 1,
            repeated: packets,
            unusual: true,
            ..Numbering::UNKNOWN
        }
    }

    /// How many packets this one was sent after the one before; 0 if that is not known, less if it was sent before.
    pub(crate) fn packets_ahead(self) -> i16 {
        // The frame before may have stood for several packets.
        let more = i16::try_from(self.before.max(1) - 1).unwrap_or(i16::MAX);
        match self.step {
            Some(ahead @ 1..) => ahead.saturating_sub(more).max(1),
            other => other.unwrap_or(0),
        }
    }
}

impl IdCounter {
    /// The next packet of this host in capture order, standing for `packets` on the wire (more
    /// than one for super-segments).
    #[inline(always)]
    pub(crate) fn observe(&mut self, seg: &Segment, packets: u16) -> Numbering {
        if !seg.has(Has::IP_ID) {
            return Numbering::UNKNOWN;
        }
        let follows = seg.ip_id.wrapping_sub(self.last) == 1;
        if follows && self.trusted && self.packets == 1 && packets == 1 {
            self.last = seg.ip_id;
            self.run += 1;
            return Numbering {
                step: Some(1),
                before: 1,
                ..Numbering::UNKNOWN
            };
        }
        self.observe_any(seg.ip_id, packets)
    }

    /// The same for a number alone, of a packet that may stand for any number.
    pub(crate) fn observe_number(&mut self, ip_id: u16) {
        let seen = self.observe_any(ip_id, 1);
        self.repeats(seen);
    }

    #[inline(never)]
    fn observe_any(&mut self, ip_id: u16, packets: u16) -> Numbering {
        let before = std::mem::replace(&mut self.packets, packets);
        if !std::mem::replace(&mut self.begun, true) {
            self.last = ip_id;
            return Numbering::UNKNOWN;
        }
        let step = ip_id.wrapping_sub(self.last) as i16;
        self.judge(step, ip_id, before);
        let gap = self.vanished(step, before, LIKELY_OWN) > 0;
        let seen = Numbering {
            step: Some(step),
            vanished: self.vanished(step, before, SURE_TO_BE_OWN),
            before,
            gap,
            ..Numbering::UNKNOWN
        };
        Numbering {
            unusual: gap || seen.overlaps(),
            ..seen
        }
    }

    /// `least` numbers that were just the packets seen show that the counter is the connection's own.
    fn vanished(&self, step: i16, before: u16, least: u32) -> u8 {
        let own = self.exact >= least && self.exact * 9 / 8 >= self.good;
        let missing = i32::from(step) - i32::from(before);
        if own { missing.clamp(0, 64) as u8 } else { 0 }
    }

    /// True when few numbers are missing, so that a missing one is a missing packet of this
    /// connection and not one to another host.
    #[inline]
    pub(crate) fn dense(&self) -> bool {
        let run = self.run;
        self.trusted && self.steps + run <= 3 * (u64::from(self.good) + run)
    }

    /// The same, as far as few packets tell: a burst that was lost makes numbers rare, too.
    pub(crate) fn perhaps_dense(&self) -> bool {
        let run = self.run;
        let packets = u64::from(self.good) + run;
        self.trusted && self.steps + run <= 3 * packets + MAX_LOST_AT_FIRST
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let count = u32::try_from(run).unwrap_or(u32::MAX);
        self.good = self.good.saturating_add(count);
        self.exact = self.exact.saturating_add(count);
        self.steps += run;
    }

    fn judge(&mut self, step: i16, ip_id: u16, before: u16) {
        self.end_run();
        match step {
            1..=MAX_COUNTER_STEP => {
                self.good = self.good.saturating_add(1);
                self.steps += step as u64;
                self.exact += u32::from(step as u16 == before);
                self.last = ip_id;
            }
            // A late or duplicated packet says nothing about the counter.
            ..=0 if step >= -MAX_COUNTER_STEP => {}
            _ => {
                self.bad = self.bad.saturating_add(1);
                self.last = ip_id;
            }
        }
        self.weigh();
    }

    fn weigh(&mut self) {
        self.trusted = self.good >= 3 && u64::from(self.bad) * 16 <= u64::from(self.good);
    }

    /// The packet just observed is no second capture of another: a number that comes twice is not counted up.
    pub(crate) fn repeats(&mut self, seen: Numbering) {
        if seen.step == Some(0) {
            self.bad = self.bad.saturating_add(1);
            self.weigh();
        }
    }

    /// True when the field has behaved as a counter so far.
    #[inline]
    pub(crate) fn trusted(&self) -> bool {
        self.trusted
    }
}

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

/// What can be used to tell copies of one flow apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Means {
    /// The identification counts ([`IdCounter::trusted`]).
    pub(crate) ip_id: bool,
    /// Its identification is the one after that of the packet captured before it, which carried
    /// higher data: it left after that one, even where the counter serves many connections or none.
    pub(crate) follows: bool,
    /// Both ends use timestamps.
    pub(crate) timestamps: bool,
    /// Capture point to sender and back, nanoseconds.
    pub(crate) to_sender_ns: Option<i64>,
    /// When the sender can first have known of the hole, nanoseconds.
    pub(crate) news_ns: i64,
}

/// Tells whether `seg` is an original, given the transmission of higher data that opened its hole.
pub(crate) fn tell(seg: &Segment, above: &Above, means: &Means) -> Copy {
    if means.ip_id && seg.has(Has::IP_ID) {
        return by_ip_id(seg, above, means);
    }
    if means.timestamps && seg.has(Has::TIMESTAMPS) {
        let basis = Basis::certain(Evidence::ArrivalTimestamps);
        match seg.tsval.wrapping_sub(above.tsval) as i32 {
            ..0 => return Copy::Original(basis),
            0 => return same_tick(seg, means),
            _ => return Copy::Retransmission(basis),
        }
    }
    if means.follows && seg.has(Has::IP_ID) && seg.ip_id != 0 {
        return Copy::Retransmission(Basis::certain(Evidence::ArrivalIpId));
    }
    by_timing(seg, means)
}

fn by_ip_id(seg: &Segment, above: &Above, means: &Means) -> Copy {
    let basis = Basis::certain(Evidence::ArrivalIpId);
    let before = (seg.ip_id.wrapping_sub(above.ip_id) as i16) < 0;
    let stamped = means.timestamps && seg.has(Has::TIMESTAMPS);
    let ticks = if stamped {
        seg.tsval.wrapping_sub(above.tsval) as i32
    } else {
        0
    };
    match (before, ticks) {
        // The counter has come round while the packet was under way.
        (true, 1..) => Copy::Retransmission(Basis::certain(Evidence::ArrivalTimestamps)),
        (false, ..0) => Copy::Original(Basis::certain(Evidence::ArrivalTimestamps)),
        (true, _) => Copy::Original(basis),
        (false, _) => Copy::Retransmission(basis),
    }
}

/// Sent within one tick of higher data: a retransmission would need a round trip in between.
fn same_tick(seg: &Segment, means: &Means) -> Copy {
    /// The clocks of common stacks tick every 1, 4 or 10 ms.
    const MAX_TICK_NS: i64 = 10_000_000;
    match means.to_sender_ns {
        Some(rtt) if seg.ts_ns - means.news_ns >= rtt && rtt < 2_000_000 => Copy::Retransmission(
            Basis::ambiguous(Evidence::ArrivalTimestamps, Reason::CoarseClock),
        ),
        None if seg.ts_ns - means.news_ns > MAX_TICK_NS => Copy::Retransmission(Basis::ambiguous(
            Evidence::ArrivalTimestamps,
            Reason::CoarseClock,
        )),
        _ => Copy::Original(Basis::certain(Evidence::ArrivalTimestamps)),
    }
}

/// Where no round trip is known: few retransmissions come sooner after the news than this.
const MIN_RETRANSMISSION_DELAY_NS: i64 = 1_000_000;

/// A retransmission needs news of the hole at the sender and a trip back.
///
/// The round trip known is often the handshake's alone, and data may be faster: through an emptier queue,
/// or because the other host took its time to answer a SYN. So nothing is certain by it.
fn by_timing(seg: &Segment, means: &Means) -> Copy {
    let evidence = Evidence::ArrivalTiming;
    let elapsed = seg.ts_ns - means.news_ns;
    let Some(rtt) = means.to_sender_ns else {
        if elapsed < MIN_RETRANSMISSION_DELAY_NS {
            return Copy::Original(Basis::certain(evidence).weaker(Reason::LoneCopy));
        }
        return Copy::Retransmission(Basis::ambiguous(evidence, Reason::LoneCopy));
    };
    if elapsed < rtt / 2 {
        return Copy::Original(Basis::certain(evidence).weaker(Reason::LoneCopy));
    }
    if elapsed < rtt - rtt / 10 {
        return Copy::Original(Basis::ambiguous(evidence, Reason::LoneCopy));
    }
    if elapsed > rtt.saturating_mul(3) {
        // Later than a prompt retransmission comes; a time-out would be later still.
        return Copy::Original(Basis::ambiguous(evidence, Reason::LoneCopy));
    }
    Copy::Retransmission(Basis::ambiguous(evidence, Reason::LoneCopy))
}

/// The latest packets of one direction, to recognise a frame that was captured twice.
#[derive(Clone, Debug, Default)]
#[repr(C)] // First what every packet needs: see `Side`.
pub(crate) struct Recent {
    /// Once there were many packets, prints of the latest by their [`place`](Self::place): a frame
    /// may be captured again milliseconds later, hundreds of packets on.
    older: Option<Box<[u32; OLDER_PACKETS]>>,
    packets: u8,
    /// The capture holds each frame twice.
    doubled: bool,
    /// Those of the first packets.
    prints: FirstPrints,
    /// Prints of frames that came once, where each comes twice.
    single: VecDeque<u32>,
}

/// As many of the first packets are remembered as they come.
#[derive(Clone, Debug)]
struct FirstPrints([u32; FIRST_PACKETS]);

impl Default for FirstPrints {
    fn default() -> Self {
        FirstPrints([0; FIRST_PACKETS])
    }
}

/// Packets remembered by their identification; a power of two. Those of a hundred connections fit into a processor's
/// second cache, 4 KiB each.
const OLDER_PACKETS: usize = 1_024;
/// Packets before that: most connections are shorter and need not pay for it.
const FIRST_PACKETS: usize = 48;
/// Frames that wait for their second capture: milliseconds at 1 Gbit/s.
const MAX_SINGLE_FRAMES: usize = 1_024;

impl Recent {
    /// What two captures of one packet share, mixed into 64 bits.
    #[inline]
    fn print_of(seg: &Segment) -> u64 {
        // Pairs that are not neighbours in a segment: of neighbours the compiler makes one load, which must wait until
        // the two stores that have just been made are in the cache.
        let sequence = u64::from(seg.seq) | u64::from(seg.payload_len) << 32;
        let answer = u64::from(seg.ack) | u64::from(seg.tsval) << 32;
        let rest = u64::from(seg.ip_id) << 8 | u64::from(seg.flags.0);
        // What tells duplicate ACKs apart that a host without identifications sends within a tick of its clock.
        let news = match seg.payload_len {
            0 => {
                let reported = seg
                    .sack_blocks()
                    .first()
                    .map_or(0, |&(left, right)| u64::from(left) << 32 | u64::from(right));
                (reported ^ u64::from(seg.window)).wrapping_mul(0xd6e8_feb8_6659_fd93)
            }
            _ => 0,
        };
        // Odd constants with bits spread evenly, so that no part can cancel out another.
        sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ answer.wrapping_mul(0xa409_3822_299f_31d1)
            ^ rest << 36
            ^ news
    }

    /// Where a packet is remembered among the older ones.
    #[inline]
    fn place(seg: &Segment, print: u64) -> usize {
        // Hosts that never fragment may leave the identification at zero: then bits of the print
        // serve: not its lowest, which repeat soon where segments are of equal size.
        let residue = if seg.ip_id == 0 {
            (print >> 20) as u16
        } else {
            seg.ip_id
        };
        usize::from(residue) % OLDER_PACKETS
    }

    /// Remembers a packet.
    #[inline]
    pub(crate) fn push(&mut self, seg: &Segment) {
        let print = Self::print_of(seg);
        if let Some(older) = &mut self.older {
            older[Self::place(seg, print)] = (print >> 32) as u32;
        } else if let Some(first) = self.prints.0.get_mut(usize::from(self.packets)) {
            *first = (print >> 32) as u32;
            self.packets += 1;
        } else {
            self.remember_more(seg, print);
        }
    }

    #[cold]
    fn remember_more(&mut self, seg: &Segment, print: u64) {
        let older = self.older.insert(Box::new([0; OLDER_PACKETS]));
        older[Self::place(seg, print)] = (print >> 32) as u32;
    }

    /// True when the very same packet came by before. The identification proves it, or, where a
    /// host does not use it, the timestamp of data, of a SYN or FIN: a retransmission would be stamped later. Several
    /// duplicate ACKs may bear the same one.
    pub(crate) fn contains(&self, seg: &Segment) -> bool {
        let control = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST;
        let numbered = seg.payload_len > 0 || seg.flags.any(control);
        let marked = seg.ip_id != 0 || (seg.has(Has::TIMESTAMPS) && numbered);
        let print = Self::print_of(seg);
        let short = (print >> 32) as u32;
        let older = || {
            let older = self.older.as_ref();
            older.is_some_and(|o| o[Self::place(seg, print)] == short)
        };
        let first = &self.prints.0[..usize::from(self.packets)];
        seg.has(Has::IP_ID) && marked && (first.contains(&short) || older())
    }

    /// From now on every second one of two like frames without an identification is taken for a frame captured twice.
    pub(crate) fn note_doubled(&mut self) {
        self.doubled = true;
    }

    /// True for the second capture of a frame without an identification, where each was captured twice.
    #[inline]
    pub(crate) fn take_twin(&mut self, seg: &Segment) -> bool {
        self.doubled && seg.ip_id == 0 && self.take(seg)
    }

    /// True when a frame like this one waits for its second capture, and no longer does: what comes in pairs is counted in
    /// pairs, and of four like ACKs two are left.
    #[cold]
    fn take(&mut self, seg: &Segment) -> bool {
        let print = (Self::print_of(seg) >> 32) as u32;
        // They come in the order of the first captures.
        if let Some(at) = self.single.iter().position(|p| *p == print) {
            self.single.remove(at);
            return true;
        }
        if self.single.len() == MAX_SINGLE_FRAMES {
            self.single.pop_front();
        }
        self.single.push_back(print);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seg(ip_id: u16, tsval: u32, ts_ns: i64) -> Segment {
        Segment {
            ip_id,
            tsval,
            ts_ns,
            has: Has::IP_ID | Has::TIMESTAMPS,
            ..Segment::default()
        }
    }

    #[test]
    fn a_counter_is_trusted_and_a_random_field_is_not() {
        let mut counter = IdCounter::default();
        let mut random = IdCounter::default();
        for i in 0..50u16 {
            counter.observe(&seg(65_520u16.wrapping_add(i * 2), 0, 0), 1);
            random.observe(&seg(i.wrapping_mul(40_503), 0, 0), 1);
        }
        assert!(counter.trusted());
        assert!(!random.trusted());
    }

    #[test]
    fn the_identification_tells_original_from_copy_across_its_wrap() {
        let above = Above::of(&seg(3, 100, 0));
        let means = Means {
            ip_id: true,
            timestamps: true,
            ..Means::default()
        };
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
        let bare = |ts_ns| Segment {
            ts_ns,
            ..Segment::default()
        };
        let means = Means {
            to_sender_ns: Some(1_000),
            news_ns: 0,
            ..Means::default()
        };
        let above = Above::default();
        let lone = Basis::ambiguous(Evidence::ArrivalTiming, Reason::LoneCopy);
        let likely = Basis::certain(Evidence::ArrivalTiming).weaker(Reason::LoneCopy);
        assert_eq!(tell(&bare(400), &above, &means), Copy::Original(likely));
        assert_eq!(tell(&bare(800), &above, &means), Copy::Original(lone));
        let open = tell(&bare(1_500), &above, &means);
        assert_eq!(open, Copy::Retransmission(lone));
    }

    #[test]
    fn a_frame_is_known_again_hundreds_of_packets_later_whatever_its_identification() {
        for counts in [true, false] {
            let mut recent = Recent::default();
            let packet = |n: u32| Segment {
                seq: n * 1_000,
                payload_len: 1_000,
                ..seg(if counts { n as u16 } else { 0 }, 7, 0)
            };
            (0..2_000).for_each(|n| recent.push(&packet(n)));
            let known = (1_500..2_000).filter(|&n| recent.contains(&packet(n)));
            // Without a counter the places are random, and later packets may have taken one.
            let least = if counts { 500 } else { 350 };
            let known = known.count();
            assert!(known >= least, "{known}, counts: {counts}");
            assert!((2_000..9_000).all(|n| !recent.contains(&packet(n))));
        }
    }
}
