//! Classes of rates, four an octave, and what is said of one.

use super::{Class, Octaves, RATE_INTERVAL_NS};

/// Reordering at one sending rate, averaged over intervals of 250 ms.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct RateClass {
    /// Lower bound of the rate, bits/s; classes are a quarter octave wide.
    pub rate_bps: u64,
    /// Intervals seen in this class.
    pub intervals: u64,
    /// Original segments sent in them; at a receiver, which only sees them come, that came in them.
    pub packets: u64,
    /// Of these, reordered, whenever that became known (16 s of sending later at most).
    pub reordered: u64,
    /// Mean extent of these, packets.
    pub mean_extent: f64,
    /// Mean late time of these, nanoseconds.
    pub mean_late_ns: f64,
    /// These by the octave of their extent in bytes (RFC 4737 section 4.4): its lower bound and packets, ascending.
    /// Packets whose extent is not known are missing.
    pub extent_bytes: Vec<(u64, u64)>,
}

/// Where the second, third and fourth class of an octave begin: 2^(1/4), 2^(1/2), 2^(3/4), as the 52 bits of a 64-bit
/// float behind the leading one.
const CLASSES_OF_OCTAVE: [u64; 3] = [0x3_06fe_0a31_b716, 0x6_a09e_667f_3bcd, 0xa_e89f_995a_d3ae];

/// Four classes an octave, by the rate in bits/s.
pub(super) fn class_of(bytes: u64) -> i32 {
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
pub(super) fn rate_of(class: i32) -> u64 {
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

pub(super) fn rate_class((class, Class { intervals, sum }): &(i32, Class)) -> RateClass {
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
