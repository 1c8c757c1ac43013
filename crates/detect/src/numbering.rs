//! The IPv4 identifications of a host's packets: do they count, and what does each tell of its place among the others?

use inorder_wire::{Has, Segment, TcpFlags};

use crate::habits::Identification;

/// Whether a host's IPv4 identification counts its packets.
#[derive(Clone, Copy, Default, Debug)]
pub struct IdCounter {
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
    /// How often numbers were missing while the bytes went on where they had ended: packets to others had these numbers.
    foreign: u32,
    /// The sequence number that follows on the last frame.
    next: u32,
    /// Wire packets the last frame stood for.
    packets: u16,
    /// Packets that are no SYN had none.
    zeros: bool,
    /// How often it went on by one in the other byte order, up to [`MIN_SWAPPED`], which tells that it counts so.
    swapped: u8,
}

/// Single steps in the other byte order, and none in that of the network, which show a host that writes its counter as it stands in its
/// memory (old Windows).
const MIN_SWAPPED: u8 = 4;
/// Such a step, if it does not carry.
const SWAPPED_STEP: i16 = 256;

/// Number of single steps after which the counter is probably the connection's own.
const LIKELY_OWN: u32 = 3;
/// Number of exact steps for each missing identification that belongs to no missing byte: it may be that of a retransmission
/// which was not captured.
const EXACT_PER_FOREIGN: u32 = 64;
/// Steps after which a field that is no counter is taken for random.
const MIN_STEPS_TO_KNOW: u32 = 8;
/// Packets of a flow's first flights that may be lost.
const MAX_LOST_AT_FIRST: u64 = 24;
/// Steps up to this are a counter's (packets to others, lost ones, super-segments in between): one that all connections of a busy server share goes on
/// by some thousand from one burst to the next.
const MAX_COUNTER_STEP: i16 = 4_096;

/// What the identification of a packet tells of its place among those of its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// How far the counter went from the highest so far, if the field is there.
    pub(crate) step: Option<i16>,
    /// Packets of the connection may be missing before this one: there are numbers that were not seen, and the counter
    /// seems to be the connection's own.
    pub(crate) gap: bool,
    /// The packet does not simply follow on the one before: there is a gap, or it [overlaps](Self::overlaps).
    pub(crate) unusual: bool,
    /// Packets on the wire that the frame before stood for; 0 before the first.
    before: u16,
    /// Packets that the frame begins with and that have come before.
    pub(crate) repeated: u16,
}

impl Numbering {
    const UNKNOWN: Numbering = Numbering {
        step: None,
        gap: false,
        unusual: false,
        before: 0,
        repeated: 0,
    };

    /// The number is the one after that of the packet before.
    #[inline(always)]
    pub(crate) fn follows(self) -> bool {
        self.step == Some(1) && self.before == 1
    }

    /// The numbers of the frame begin with some that the frames before may have borne.
    pub(crate) fn overlaps(self) -> bool {
        self.step
            .is_some_and(|step| i32::from(step) < i32::from(self.before))
    }

    /// The numbering of the rest of a merged frame whose first `packets` packets have come before.
    pub(crate) fn behind(packets: u16) -> Numbering {
        Numbering {
            step: Some(1),
            before: 1,
            repeated: packets,
            unusual: true,
            ..Numbering::UNKNOWN
        }
    }

    /// How many packets of the sender lie between this one and the frame before, by their identifications: positive if this one was sent
    /// later, negative if it was sent earlier, 0 if that is not known.
    pub(crate) fn packets_ahead(self) -> i16 {
        // The frame before may have stood for several packets.
        let more = i16::try_from(self.before.max(1) - 1).unwrap_or(i16::MAX);
        match self.step {
            Some(ahead @ 1..) => ahead.saturating_sub(more).max(1),
            other => other.unwrap_or(0),
        }
    }
}

/// Number of the first byte of data: a SYN takes one before it.
#[inline]
pub(crate) fn first_byte(seg: &Segment) -> u32 {
    let syn = u32::from(seg.flags.any(TcpFlags::SYN));
    seg.seq.wrapping_add(syn)
}

impl IdCounter {
    /// The next packet of this host in capture order, standing for `packets` on the wire (more
    /// than one for super-segments).
    #[inline(always)]
    pub(crate) fn observe(&mut self, seg: &Segment, packets: u16) -> Numbering {
        if !seg.has(Has::IP_ID) {
            return Numbering::UNKNOWN;
        }
        let next = first_byte(seg).wrapping_add(seg.payload_len);
        let contiguous = std::mem::replace(&mut self.next, next) == seg.seq;
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
        if seg.ip_id == 0 {
            // Most hosts leave it so where nothing is to be fragmented (RFC 6864 section 4.1), and Linux on its SYN-ACKs.
            self.zeros |= !seg.flags.any(TcpFlags::SYN);
            return Numbering::UNKNOWN;
        }
        let foreign = contiguous && self.begun;
        self.observe_any(seg.ip_id, packets, foreign)
    }

    /// The number that an identification stands for, in the byte order in which the host counts.
    pub fn number(&self, ip_id: u16) -> u16 {
        match self.is_swapped() {
            true => ip_id.swap_bytes(),
            false => ip_id,
        }
    }

    /// The next frame of this host, of which only the identification is known, and not for how many packets it stands.
    pub fn observe_number(&mut self, ip_id: u16) {
        let seen = self.observe_any(self.number(ip_id), 1, false);
        self.repeats(seen);
    }

    #[inline(never)]
    fn observe_any(&mut self, ip_id: u16, packets: u16, contiguous: bool) -> Numbering {
        if !std::mem::replace(&mut self.begun, true) {
            (self.last, self.packets) = (ip_id, packets);
            return Numbering::UNKNOWN;
        }
        let step = ip_id.wrapping_sub(self.last) as i16;
        let before = self.packets;
        self.judge(step, ip_id, before);
        self.packets = packets.max(self.still_borne(step, before));
        let missing = i32::from(step) > i32::from(before);
        self.foreign += u32::from(missing && contiguous);
        let gap = missing && self.is_own();
        let seen = Numbering {
            step: Some(step),
            before,
            gap,
            ..Numbering::UNKNOWN
        };
        Numbering {
            unusual: gap || seen.overlaps(),
            ..seen
        }
    }

    /// How many numbers from the last one on a frame of `before` packets bore that came `step` before this one: a frame that repeats some of
    /// them leaves the others as they are.
    fn still_borne(&self, step: i16, before: u16) -> u16 {
        match u16::try_from(step) {
            Ok(behind) => before.saturating_sub(behind),
            Err(_) if step >= -MAX_COUNTER_STEP => before,
            Err(_) => 0,
        }
    }

    /// The counter seems to serve this connection alone.
    fn is_own(&self) -> bool {
        let exact = self.exact >= LIKELY_OWN && self.exact * 9 / 8 >= self.good;
        exact && self.foreign <= 1 + self.exact / EXACT_PER_FOREIGN
    }

    /// True when few numbers are missing, so that a missing one is a missing packet of this
    /// connection and not one to another host.
    #[inline]
    pub(crate) fn dense(&self) -> bool {
        let run = self.run;
        self.trusted && self.steps + run <= 3 * (u64::from(self.good) + run)
    }

    /// As [`Self::dense`], with room for a lost burst: at the beginning one burst makes as many numbers missing as other hosts would.
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
            // A counter in the other byte order goes by 256 here, and comes round after 256 packets: which of two was first does not show.
            _ if self.may_be_swapped() && step != 0 && step % SWAPPED_STEP == 0 => {
                self.last = ip_id;
                self.swapped += u8::from(step == SWAPPED_STEP);
                if self.is_swapped() {
                    (self.last, self.good, self.bad, self.steps) = (ip_id.swap_bytes(), 0, 0, 0);
                }
            }
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

    /// No single step was seen in the order of the network.
    fn may_be_swapped(&self) -> bool {
        self.exact == 0 && !self.is_swapped()
    }

    /// The numbers are to be read in the other byte order.
    #[inline]
    pub(crate) fn is_swapped(&self) -> bool {
        self.swapped >= MIN_SWAPPED
    }

    /// The packet just observed is no second capture of another: a number that comes twice is not counted up.
    pub(crate) fn repeats(&mut self, seen: Numbering) {
        if seen.step == Some(0) {
            self.bad = self.bad.saturating_add(1);
            self.weigh();
        }
    }

    /// The user knows that others share the counter.
    pub(crate) fn assume(&mut self, identification: Identification) {
        if identification == Identification::Host {
            self.foreign = u32::MAX / 2;
        }
    }

    /// How the host numbers its packets.
    pub(crate) fn habit(&self) -> Identification {
        let packets = self.good + self.bad;
        match self.trusted {
            true if self.is_own() => Identification::Own,
            true if self.foreign > 1 => Identification::Host,
            false if !self.begun && self.zeros => Identification::Zero,
            false if packets >= MIN_STEPS_TO_KNOW => Identification::Random,
            _ => Identification::Unknown,
        }
    }

    /// True when the field has behaved as a counter so far.
    #[inline]
    pub fn trusted(&self) -> bool {
        self.trusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_trusted_and_a_random_field_is_not() {
        let mut counter = IdCounter::default();
        let mut random = IdCounter::default();
        for i in 0..50u16 {
            counter.observe(&seg(65_520u16.wrapping_add(i * 2)), 1);
            random.observe(&seg(i.wrapping_mul(40_503)), 1);
        }
        assert!(counter.trusted());
        assert!(!random.trusted());
        assert!(!counter.is_swapped() && !random.is_swapped());
    }

    /// A busy server's counter, which goes on by some thousand from one flight of ten packets to the next.
    #[test]
    fn a_counter_that_many_share_is_trusted() {
        let mut counter = IdCounter::default();
        for nth in 0..200u16 {
            counter.observe(&seg((nth / 10).wrapping_mul(2_400) + nth + 1), 1);
        }
        assert!(counter.trusted());
        assert!(!counter.perhaps_dense());
    }

    #[test]
    fn a_counter_in_the_other_byte_order_counts_once_it_is_known() {
        let mut counter = IdCounter::default();
        let mut steps = Vec::new();
        for n in 0x70fa_u16..0x7110 {
            let ip_id = match counter.is_swapped() {
                true => n,
                false => n.swap_bytes(),
            };
            steps.push(counter.observe(&seg(ip_id), 1).step);
        }
        assert!(counter.is_swapped() && counter.trusted());
        // In the fifth packet it shows, and from then on it goes on by one, also where it carries.
        assert!(steps[5..].iter().all(|step| *step == Some(1)), "{steps:?}");
        let late = counter.observe(&seg(0x7101), 1).step;
        assert_eq!(late, Some(-14));
        // Where only numbers are given, they are as they were sent.
        let mut numbers = IdCounter::default();
        (0x70fa_u16..0x7110).for_each(|n| numbers.observe_number(n.swap_bytes()));
        assert!(numbers.is_swapped() && numbers.trusted());
    }

    fn seg(ip_id: u16) -> Segment {
        segment!(ip_id, has: Has::IP_ID)
    }
}
