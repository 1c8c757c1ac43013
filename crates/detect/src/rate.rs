//! Reordering by sending rate, averaged over intervals of 250 ms.
//!
//! A reordering counts where its original was sent. A sender's capture tells of it a round trip
//! later or more, in an interval whose packets have nothing to do with it; so intervals stay open
//! to verdicts for a while before they go to the class of their rate.

use std::collections::VecDeque;

use crate::result::RateClass;
use inorder_base::heap::Heap;
use inorder_metrics::by_bytes::Late;

/// The mobile-network paper averages the sending rate over this long ("250 ms", section V).
const RATE_INTERVAL_NS: i64 = 250_000_000;
/// Intervals before the present one that are open to verdicts: 16 s of sending. What becomes known
/// later still counts in the flow's sums, but in no class.
const MAX_OPEN_INTERVALS: usize = 64;

/// Reordered packets by the octave of their extent in bytes: at `n` those from 2^n to 2^(n+1), at 0 also none.
type Octaves = [u32; 40];

#[derive(Clone, Default, Debug)]
struct Interval {
    start_ns: i64,
    bytes: u64,
    packets: u64,
    reordered: u64,
    extents: u64,
    late_ns: i64,
    /// Only with a reordered packet whose extent is known: most intervals have none.
    octaves: Option<Box<Octaves>>,
}

#[derive(Clone, Default, Debug)]
struct Class {
    intervals: u64,
    sum: Interval,
}

/// `now` lies in the interval that begins at `start_ns`.
#[inline(always)]
pub(crate) fn same_interval(start_ns: i64, now: i64) -> bool {
    // Before it or after it: one comparison for both.
    (now.wrapping_sub(start_ns) as u64) < RATE_INTERVAL_NS as u64
}

fn start_of(now: i64) -> i64 {
    now.wrapping_sub(now.rem_euclid(RATE_INTERVAL_NS))
}

/// Originals and the reordered among them, by the rate at which they were sent.
#[derive(Debug)]
pub(crate) struct Rates {
    present: Interval,
    /// Intervals with packets, other than the present one, ascending.
    open: VecDeque<Interval>,
    /// The latest interval that is no longer open.
    closed_ns: i64,
    /// By class, ascending. (Few: no map of a kilobyte for flows with one.)
    classes: Vec<(i32, Class)>,
}

impl Heap for Rates {
    fn heap_bytes(&self) -> usize {
        let sums = self.classes.iter().map(|(_, class)| &class.sum);
        let open = self.open.iter().chain([&self.present]).chain(sums);
        let octaves = open.filter(|interval| interval.octaves.is_some()).count();
        self.open.heap_bytes() + self.classes.heap_bytes() + octaves * size_of::<Octaves>()
    }
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            present: Interval::default(),
            open: VecDeque::new(),
            closed_ns: i64::MIN,
            classes: Vec::new(),
        }
    }
}

impl Rates {
    /// An original of `bytes` was sent (or, at a receiver, came by) at `now`.
    #[inline]
    pub(crate) fn sent(&mut self, now: i64, bytes: u32) {
        if !same_interval(self.present.start_ns, now) {
            self.turn_to(start_of(now));
        }
        self.sent_on(1, u64::from(bytes));
    }

    /// More originals in the same interval.
    #[inline]
    pub(crate) fn sent_on(&mut self, packets: u64, bytes: u64) {
        self.present.packets += packets;
        self.present.bytes += bytes;
    }

    /// When the interval that the last original fell into begins, nanoseconds.
    pub(crate) fn interval_ns(&self) -> i64 {
        self.present.start_ns
    }

    /// Originals so far, and their bytes.
    pub(crate) fn all_sent(&self) -> (u64, u64) {
        let closed = self.classes.iter().map(|(_, class)| &class.sum);
        let intervals = closed.chain(&self.open).chain([&self.present]);
        intervals.fold((0, 0), |(packets, bytes), i| {
            (packets + i.packets, bytes + i.bytes)
        })
    }

    /// The original sent at `sent_ns` was reordered; `late` says how far, where that is known.
    /// To be called once for an original at most.
    pub(crate) fn reordered(&mut self, sent_ns: i64, late: Option<&Late>) {
        let Some(interval) = self.interval_of(sent_ns) else {
            return;
        };
        interval.reordered += 1;
        if let Some(late) = late {
            interval.extents += u64::from(late.extent);
            interval.late_ns = interval.late_ns.saturating_add(late.late_ns.max(0));
            let octaves = interval.octaves.get_or_insert_with(|| Box::new([0; 40]));
            let octave = late.bytes.max(1).ilog2() as usize;
            octaves[octave.min(octaves.len() - 1)] += 1;
        }
    }

    fn interval_of(&mut self, sent_ns: i64) -> Option<&mut Interval> {
        let start_ns = start_of(sent_ns);
        // A clock that goes back can open such an interval once more, but not for packets that
        // went to their class with it the first time.
        if start_ns <= self.closed_ns {
            return None;
        }
        if start_ns == self.present.start_ns {
            return Some(&mut self.present);
        }
        let found = self.open.binary_search_by_key(&start_ns, |i| i.start_ns);
        self.open.get_mut(found.ok()?)
    }

    /// Makes the interval that begins at `start_ns` the present one. The clock may go back.
    #[cold]
    fn turn_to(&mut self, start_ns: i64) {
        let fresh = Interval {
            start_ns,
            ..Interval::default()
        };
        let found = self.open.binary_search_by_key(&start_ns, |i| i.start_ns);
        let next = found.ok().and_then(|i| self.open.remove(i));
        let last = std::mem::replace(&mut self.present, next.unwrap_or(fresh));
        if last.packets > 0 {
            let at = self.open.partition_point(|i| i.start_ns < last.start_ns);
            self.open.insert(at, last);
        }
        if self.open.len() > MAX_OPEN_INTERVALS {
            self.close_first();
        }
    }

    fn close_first(&mut self) {
        if let Some(first) = self.open.pop_front() {
            self.close(&first);
        }
    }

    fn close(&mut self, interval: &Interval) {
        self.closed_ns = self.closed_ns.max(interval.start_ns);
        let number = class_of(interval.bytes);
        let place = self.classes.partition_point(|c| c.0 < number);
        if self.classes.get(place).is_none_or(|c| c.0 != number) {
            self.classes.insert(place, (number, Class::default()));
        }
        let class = &mut self.classes[place].1;
        class.intervals += 1;
        class.sum.bytes += interval.bytes;
        class.sum.packets += interval.packets;
        class.sum.reordered += interval.reordered;
        class.sum.extents += interval.extents;
        class.sum.late_ns = class.sum.late_ns.saturating_add(interval.late_ns);
        if let Some(octaves) = &interval.octaves {
            let sums = class.sum.octaves.get_or_insert_with(|| Box::new([0; 40]));
            for (sum, packets) in sums.iter_mut().zip(&**octaves) {
                *sum = sum.saturating_add(*packets);
            }
        }
    }

    /// The classes that had packets, ascending.
    pub(crate) fn finish(&mut self) -> Vec<RateClass> {
        if self.open.is_empty() && self.classes.is_empty() {
            return self.finish_single();
        }
        while !self.open.is_empty() {
            self.close_first();
        }
        if self.present.packets > 0 {
            let present = std::mem::take(&mut self.present);
            self.close(&present);
        }
        self.classes.iter().map(rate_class).collect()
    }

    /// The same, where there is but one interval, as in most short flows: its class needs no place among others.
    fn finish_single(&mut self) -> Vec<RateClass> {
        let sum = std::mem::take(&mut self.present);
        if sum.packets == 0 {
            return Vec::new();
        }
        let class = Class { intervals: 1, sum };
        vec![rate_class(&(class_of(class.sum.bytes), class))]
    }
}

/// Where the second, third and fourth class of an octave begin: 2^(1/4), 2^(1/2), 2^(3/4), as the 52 bits of a 64-bit
/// float behind the leading one.
const CLASSES_OF_OCTAVE: [u64; 3] = [0x3_06fe_0a31_b716, 0x6_a09e_667f_3bcd, 0xa_e89f_995a_d3ae];

/// Four classes an octave, by the rate in bits/s.
fn class_of(bytes: u64) -> i32 {
    let intervals_per_s = (1_000_000_000 / RATE_INTERVAL_NS) as u64;
    let rate = bytes.saturating_mul(8 * intervals_per_s).max(1);
    let bits = (rate as f64).to_bits();
    let octave = (bits >> 52) as i32 - 1_023;
    let within = bits & ((1 << 52) - 1);
    let classes = CLASSES_OF_OCTAVE.iter().filter(|&&from| within >= from);
    4 * octave + classes.count() as i32
}

/// The least rate of a class, bits/s: 2^(class/4), of which the quarters are as `libm::exp2` has them. That is itself exact in the power
/// of two, and takes longer than all else that is done with a class.
fn rate_of(class: i32) -> u64 {
    const QUARTERS: [u64; 4] = [
        0x3ff0_0000_0000_0000,
        0x3ff3_06fe_0a31_b715,
        0x3ff6_a09e_667f_3bcd,
        0x3ffa_e89f_995a_d3ad,
    ];
    let quarter = QUARTERS[class.rem_euclid(4) as usize];
    let octave = i64::from(class.div_euclid(4));
    f64::from_bits(quarter.wrapping_add_signed(octave << 52)) as u64
}

fn rate_class((class, Class { intervals, sum }): &(i32, Class)) -> RateClass {
    let per = |total: f64| {
        if sum.reordered == 0 {
            0.0
        } else {
            total / sum.reordered as f64
        }
    };
    RateClass {
        rate_bps: rate_of(*class),
        intervals: *intervals,
        packets: sum.packets,
        reordered: sum.reordered,
        mean_extent: per(sum.extents as f64),
        mean_late_ns: per(sum.late_ns as f64),
        extent_bytes: sum.octaves.as_deref().map_or_else(Vec::new, by_octave),
    }
}

/// The octaves that have packets, by their lower bounds in bytes.
fn by_octave(octaves: &Octaves) -> Vec<(u64, u64)> {
    let octaves = octaves.iter().enumerate();
    let present = octaves.filter(|(_, packets)| **packets > 0);
    present
        .map(|(octave, packets)| (1 << octave, u64::from(*packets)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;

    fn late(extent: u32) -> Late {
        Late {
            extent,
            bytes: u64::from(extent) * 1_000,
            late_ns: i64::from(extent) * MS,
            opener_unsure: false,
            label: 0,
        }
    }

    #[test]
    fn what_an_ack_tells_later_counts_where_the_packet_was_sent() {
        let mut rates = Rates::default();
        // A burst, a round trip of 300 ms, one packet more: the ACKs come in its interval.
        for at in 0..8 {
            rates.sent(at * MS, 1_000);
        }
        rates.sent(300 * MS, 100);
        rates.reordered(2 * MS, Some(&late(3)));
        rates.reordered(5 * MS, Some(&late(1)));
        let told: Vec<_> = rates
            .finish()
            .iter()
            .map(|c| (c.rate_bps, c.packets, c.reordered, c.mean_extent))
            .collect();
        // 400 bytes/s and 32,000 bytes/s, in bits/s, down to the quarter octave.
        assert_eq!(told, [(2_896, 1, 0, 0.0), (220_435, 8, 2, 2.0)]);
    }

    #[test]
    fn extents_are_counted_by_octave_at_the_rate_of_their_packets() {
        let mut rates = Rates::default();
        for interval in 0..2 {
            for at in 0..8 {
                rates.sent(interval * RATE_INTERVAL_NS + at * MS, 1_000);
            }
        }
        rates.reordered(MS, Some(&late(1)));
        rates.reordered(RATE_INTERVAL_NS + MS, Some(&late(1)));
        rates.reordered(RATE_INTERVAL_NS + 2 * MS, Some(&late(5)));
        // Reordered by how much is not known.
        rates.reordered(RATE_INTERVAL_NS + 3 * MS, None);
        rates.sent(4 * RATE_INTERVAL_NS, 1_000_000);
        let extents: Vec<_> = rates.finish().into_iter().map(|c| c.extent_bytes).collect();
        assert_eq!(extents, [vec![(512, 2), (4_096, 1)], vec![]]);
    }

    #[test]
    fn a_reordering_of_long_ago_counts_in_no_class() {
        let mut rates = Rates::default();
        let seconds_18 = 18 * 4;
        for i in 0..seconds_18 {
            rates.sent(i * RATE_INTERVAL_NS, 1_000);
        }
        rates.reordered(0, Some(&late(1)));
        // The clock goes back: the packet of then is still another one.
        rates.sent(1, 1_000);
        rates.reordered(0, Some(&late(1)));
        rates.reordered((seconds_18 - 60) * RATE_INTERVAL_NS, Some(&late(1)));
        let classes = rates.finish();
        assert_eq!((classes[0].packets, classes[0].reordered), (73, 1));
    }

    #[test]
    fn rates_of_classes_are_the_powers_of_two() {
        for class in 0..=259 {
            let rate = libm::exp2(f64::from(class) / 4.0) as u64;
            assert_eq!(rate_of(class), rate, "{class}");
        }
    }

    #[test]
    fn a_class_begins_at_its_rate() {
        for bytes in (1..100_000u64).chain((17..58).map(|octave| 1 << octave)) {
            let rate = bytes * 32;
            let class = class_of(bytes);
            let from = |class: i32| libm::exp2(f64::from(class) / 4.0);
            assert!(from(class) <= rate as f64 && (rate as f64) < from(class + 1));
        }
        // What the logarithm says.
        let logarithm = |rate: u64| libm::floor(libm::log2(rate as f64) * 4.0) as i32;
        for rate in (0..30_000).map(|i| (i * i * i) << 5) {
            assert_eq!(class_of(rate / 32), logarithm(rate.max(1)));
        }
        assert_eq!(class_of(0), 0);
        assert_eq!(class_of(u64::MAX), 256);
    }

    /// What happens in turn: time passes (or goes back), a packet is sent, one sent before turns
    /// out to have been reordered.
    #[derive(Clone, Debug)]
    enum Step {
        Wait(i64),
        Send(u32),
        Reordered(prop::sample::Index),
    }

    fn steps(most_ms: i64) -> impl Strategy<Value = Vec<Step>> {
        let wait = prop_oneof![4 => 0..most_ms, 1 => -most_ms..0];
        let step = prop_oneof![
            1 => wait.prop_map(|ms| Step::Wait(ms * MS)),
            3 => (1..3_000u32).prop_map(Step::Send),
            2 => any::<prop::sample::Index>().prop_map(Step::Reordered),
        ];
        prop::collection::vec(step, 0..600)
    }

    /// Sent packets as (time, bytes, reordered), and what the clever structure makes of them.
    fn play(steps: &[Step]) -> (Vec<(i64, u32, bool)>, Rates) {
        let (mut now, mut sent, mut rates) = (0, Vec::new(), Rates::default());
        for step in steps {
            match step {
                Step::Wait(ns) => now += ns,
                Step::Send(bytes) => {
                    rates.sent(now, *bytes);
                    sent.push((now, *bytes, false));
                }
                Step::Reordered(which) if !sent.is_empty() => {
                    let (at, _, known) = which.get_mut(&mut sent);
                    if !std::mem::replace(known, true) {
                        rates.reordered(*at, Some(&late(2)));
                    }
                }
                Step::Reordered(_) => {}
            }
        }
        (sent, rates)
    }

    /// Looks at everything at the end: (rate, intervals, packets, reordered).
    fn dumb(sent: &[(i64, u32, bool)]) -> Vec<(u64, u64, u64, u64)> {
        let mut intervals: BTreeMap<i64, (u64, u64, u64)> = BTreeMap::new();
        for &(at, bytes, reordered) in sent {
            let sum = intervals
                .entry(at.div_euclid(RATE_INTERVAL_NS))
                .or_default();
            sum.0 += u64::from(bytes);
            sum.1 += 1;
            sum.2 += u64::from(reordered);
        }
        let mut classes: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
        for (bytes, packets, reordered) in intervals.into_values() {
            let rate = libm::exp2(f64::from(class_of(bytes)) / 4.0) as u64;
            let sum = classes.entry(rate).or_default();
            sum.0 += 1;
            sum.1 += packets;
            sum.2 += reordered;
        }
        let flat = classes.into_iter().map(|(r, s)| (r, s.0, s.1, s.2));
        flat.collect()
    }

    proptest! {
        #[test]
        fn the_classes_are_those_of_the_dumb_twin(steps in steps(100)) {
            let (sent, mut rates) = play(&steps);
            let classes = rates.finish();
            let told: Vec<_> = classes
                .iter()
                .map(|c| (c.rate_bps, c.intervals, c.packets, c.reordered))
                .collect();
            prop_assert_eq!(told, dumb(&sent));
        }

        #[test]
        fn never_more_reordered_than_packets(steps in steps(2_000)) {
            let (sent, mut rates) = play(&steps);
            let bytes = sent.iter().map(|s| u64::from(s.1)).sum();
            prop_assert_eq!(rates.all_sent(), (sent.len() as u64, bytes));
            let classes = rates.finish();
            prop_assert!(classes.iter().all(|c| c.reordered <= c.packets), "{:?}", classes);
            let packets: u64 = classes.iter().map(|c| c.packets).sum();
            prop_assert_eq!(packets, sent.len() as u64);
        }
    }
}
