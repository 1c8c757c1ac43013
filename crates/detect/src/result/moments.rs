//! Sums of the numbers by which captures are judged and compared, exact over flows that are not kept.

use super::FlowReport;

/// Number of measures.
const MEASURES: usize = PARTS.len();

/// The part of a flow in a measure: numerator and denominator; `None` if the flow does not have the number.
type Part = fn(&FlowReport) -> Option<(u64, u64)>;

/// Nanoseconds in the unit of files.
const PER_MS: f64 = 1e6;

/// The measures with the divisor that makes the unit of files from their numerators. These are whole numbers, so that
/// sums do not depend on the order of the flows.
const PARTS: [(&str, f64, Part); 11] = [
    ("late", 1.0, |f| {
        Some((f.reordering.reordered, f.reordering.received))
    }),
    ("lost", 1.0, |f| {
        Some((f.originals.lost, f.originals.packets))
    }),
    ("refused", 1.0, |f| {
        Some((f.originals.refused, f.originals.packets))
    }),
    ("retransmitted", 1.0, |f| {
        Some((f.retransmissions.total, f.originals.packets))
    }),
    ("spurious", 1.0, |f| {
        Some((f.retransmissions.spurious, f.originals.packets))
    }),
    ("unnecessary", 1.0, |f| {
        Some((f.recoveries.spurious, f.originals.packets))
    }),
    ("ambiguous", 1.0, |f| {
        Some((f.reordering.ambiguous, f.originals.packets))
    }),
    ("extent", 1.0, |f| {
        let order = &f.reordering;
        of_late(order.extents.mean(), order.reordered)
    }),
    ("late_ms", PER_MS, |f| {
        let order = &f.reordering;
        of_late(order.late_ns.mean(), order.reordered)
    }),
    ("rate_bps", 1.0, |f| Some((f.rate_bps()?, 1))),
    ("min_rtt_ms", PER_MS, |f| {
        Some((u64::try_from(f.min_rtt_ns?).ok()?, 1))
    }),
];

/// A mean over late packets, as a sum over them.
fn of_late(mean: Option<f64>, late: u64) -> Option<(u64, u64)> {
    Some((libm::round(mean? * late as f64) as u64, late))
}

/// The sums of one measure over flows. Its value is the sum of numerators over the sum of denominators; the sums of
/// products tell how much the flows differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Moments {
    /// Name of the measure.
    pub measure: &'static str,
    /// Flows that have the number.
    pub flows: u64,
    of: u128,
    per: u128,
    of_of: u128,
    of_per: u128,
    per_per: u128,
    at: usize,
}

impl Moments {
    fn add(&mut self, flow: &FlowReport) {
        let Some((of, per)) = PARTS[self.at].2(flow).filter(|(_, per)| *per > 0) else {
            return;
        };
        let (of, per) = (u128::from(of), u128::from(per));
        self.flows += 1;
        self.of += of;
        self.per += per;
        self.of_of = self.of_of.saturating_add(of * of);
        self.of_per = self.of_per.saturating_add(of * per);
        self.per_per = self.per_per.saturating_add(per * per);
    }

    fn merge(&mut self, other: &Moments) {
        self.flows += other.flows;
        self.of += other.of;
        self.per += other.per;
        self.of_of = self.of_of.saturating_add(other.of_of);
        self.of_per = self.of_per.saturating_add(other.of_per);
        self.per_per = self.per_per.saturating_add(other.per_per);
    }

    fn in_files(&self, sum: u128, numerators: i32) -> f64 {
        sum as f64 / libm::pow(PARTS[self.at].1, f64::from(numerators))
    }

    /// Sum of the numerators, in the unit of files.
    pub fn of(&self) -> f64 {
        self.in_files(self.of, 1)
    }

    /// Sum of the denominators.
    pub fn per(&self) -> f64 {
        self.in_files(self.per, 0)
    }

    /// Sum of the squares of the numerators.
    pub fn of_of(&self) -> f64 {
        self.in_files(self.of_of, 2)
    }

    /// Sum of the products of numerator and denominator.
    pub fn of_per(&self) -> f64 {
        self.in_files(self.of_per, 1)
    }

    /// Sum of the squares of the denominators.
    pub fn per_per(&self) -> f64 {
        self.in_files(self.per_per, 0)
    }
}

/// The sums of all measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllMoments([Moments; MEASURES]);

impl Default for AllMoments {
    fn default() -> Self {
        AllMoments(std::array::from_fn(|at| Moments {
            measure: PARTS[at].0,
            flows: 0,
            of: 0,
            per: 0,
            of_of: 0,
            of_per: 0,
            per_per: 0,
            at,
        }))
    }
}

impl AllMoments {
    /// One for each measure.
    pub fn all(&self) -> &[Moments] {
        &self.0
    }

    pub(super) fn add(&mut self, flow: &FlowReport) {
        self.0.iter_mut().for_each(|one| one.add(flow));
    }

    pub(super) fn merge(&mut self, other: &AllMoments) {
        let pairs = self.0.iter_mut().zip(&other.0);
        pairs.for_each(|(one, other)| one.merge(other));
    }
}
