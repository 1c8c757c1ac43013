//! The result from which all metrics are read, and the list of metrics that every output has.

use inorder_report::{Digits, Value, columns};

use crate::order::Reordered;
use crate::{Bursts, Displacements, Distribution, NReordering, ReorderDensity, Runs};

/// Default displacement threshold DT, packets: the value with which Torres and Ribeiro (2020) measured
/// (RFC 5236 section 5 leaves the choice open).
pub const DEFAULT_THRESHOLD: u16 = 200;
/// Default for the largest n of n-reordering that is counted separately.
pub const DEFAULT_N_MAX: usize = 1024;

/// The order of one stream of packets, or the sum over several streams.
///
/// Built by a [`Tally`]. The caller decides which packets are late: [`Metrics`](crate::Metrics) by sequence numbers,
/// an analysis of TCP by the evidence in a capture. [`COUNTS`] and [`METRICS`] define the numbers that outputs read
/// from it, and their names.
#[derive(Clone, PartialEq, Debug)]
pub struct Reordering {
    /// First copies that arrived, L of RFC 4737 section 4.1.
    pub received: u64,
    /// Of these, reordered (RFC 4737 section 3.3); ambiguous packets are not counted.
    pub reordered: u64,
    /// Packets for which it is unknown whether they are reordered.
    pub ambiguous: u64,
    /// Extents of the reordered packets (RFC 4737 section 4.2), packets.
    pub extents: Distribution,
    /// Their late times (RFC 4737 section 4.3), nanoseconds; 0 if the clock stepped back.
    pub late_ns: Distribution,
    /// Their byte offsets (RFC 4737 section 4.4), bytes.
    pub extent_bytes: Distribution,
    /// Reordering-free runs (RFC 4737 section 4.6).
    pub runs: Runs,
    /// Lengths of the bursts of reordered packets, packets.
    pub bursts: Distribution,
    /// n-reordering (RFC 4737 section 5), and the packets that take part in reordering.
    pub n_reordering: NReordering,
    /// Displacements, the basis of reorder density (RFC 5236 section 3.6).
    pub displacements: Displacements,
}

inorder_base::heap!(Reordering: extents, late_ns, extent_bytes, runs, bursts, n_reordering, displacements);

impl Default for Reordering {
    /// A result without packets, with a threshold of [`DEFAULT_THRESHOLD`].
    fn default() -> Self {
        Reordering {
            received: 0,
            reordered: 0,
            ambiguous: 0,
            extents: Distribution::new(),
            late_ns: Distribution::new(),
            extent_bytes: Distribution::new(),
            runs: Runs::new(),
            bursts: Distribution::new(),
            n_reordering: NReordering::new(DEFAULT_N_MAX, 0),
            displacements: Displacements::new(DEFAULT_THRESHOLD),
        }
    }
}

impl Reordering {
    /// Reordered packets divided by received ones (RFC 4737 section 4.1); 0 if none was received.
    pub fn reordered_ratio(&self) -> f64 {
        self.share(self.reordered)
    }

    /// Share of the received packets that overtook another or were overtaken, 0 to 1.
    ///
    /// This is another meaning of "percentage of reordered packets": it is one half for 1 2 5 4 3 6, while
    /// [`reordered_ratio`](Self::reordered_ratio) counts only late packets and is one third.
    pub fn involved_ratio(&self) -> f64 {
        self.share(self.n_reordering.involved())
    }

    /// Share of the received packets whose `n` immediate predecessors all have larger numbers: the degree of
    /// n-reordering (RFC 4737 section 5.3).
    pub fn degree(&self, n: usize) -> f64 {
        let largest = self.n_reordering.largest();
        let from = largest.get(n.saturating_sub(1)..).unwrap_or_default();
        self.share(from.iter().sum())
    }

    /// Adds another stream; a run of packets in order ends with its stream.
    pub fn merge(&mut self, other: &Reordering) {
        self.received += other.received;
        self.reordered += other.reordered;
        self.ambiguous += other.ambiguous;
        self.extents.merge(&other.extents);
        self.late_ns.merge(&other.late_ns);
        self.extent_bytes.merge(&other.extent_bytes);
        self.runs.merge(&other.runs);
        self.bursts.merge(&other.bursts);
        self.n_reordering.merge(&other.n_reordering);
        self.displacements.merge(&other.displacements);
    }

    fn share(&self, packets: u64) -> f64 {
        packets as f64 / self.received.max(1) as f64
    }
}

/// Builds a [`Reordering`] while packets arrive.
///
/// Packets in order are only counted, and the metrics receive the whole run when it ends. The cost of such a packet
/// therefore hardly depends on the number of metrics.
///
/// ```
/// use inorder_metrics::{Reordered, Tally};
///
/// let mut tally = Tally::default();
/// tally.in_order(1, 3); // 1 2 3
/// tally.in_order(5, 1); // 5 skips 4
/// tally.late(4, &Reordered { extent: 1, late_ns: 20_000, byte_offset: 100 });
/// let order = tally.finish();
/// assert_eq!((order.received, order.reordered), (5, 1));
/// assert_eq!(order.displacements.mean_displacement(), 0.4);
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    found: Reordering,
    density: ReorderDensity,
    bursts: Bursts,
    /// The packets `next - pending .. next` arrived in order and are not passed to the metrics yet.
    next: u64,
    pending: u64,
}

inorder_base::heap!(Tally: found, density, bursts);

impl Default for Tally {
    fn default() -> Self {
        Tally::new(DEFAULT_THRESHOLD, 0)
    }
}

impl Tally {
    /// Takes the displacement threshold DT, packets, and the number of the first packet sent, 0 if unknown: the
    /// reorder density ignores smaller numbers.
    pub fn new(threshold: u16, start: u64) -> Self {
        /// Minimum number of runs of consecutive numbers that n-reordering remembers. A packet later than that is
        /// counted with a lower bound of its n.
        const MIN_RUNS: usize = 32;
        Tally::with_runs(threshold, start, DEFAULT_N_MAX, MIN_RUNS)
    }

    /// As [`new`](Self::new), with the limits of [`NReordering::new`].
    pub(crate) fn with_runs(threshold: u16, start: u64, n_max: usize, max_runs: usize) -> Self {
        Tally {
            found: Reordering {
                n_reordering: NReordering::new(n_max, max_runs),
                ..Reordering::default()
            },
            density: ReorderDensity::with_start(threshold, start),
            bursts: Bursts::new(),
            next: 0,
            pending: 0,
        }
    }

    /// Counts `packets` packets that arrived in order, numbered from `first` on.
    #[inline]
    pub fn in_order(&mut self, first: u64, packets: u64) {
        if first != self.next {
            self.flush();
        }
        self.next = first.saturating_add(packets);
        self.pending += packets;
    }

    /// Counts a packet that arrived late.
    pub fn late(&mut self, number: u64, how: &Reordered) {
        self.late_unmeasured();
        let found = &mut self.found;
        found.extents.update(how.extent);
        found.late_ns.update(how.late_ns.max(0).cast_unsigned());
        found.extent_bytes.update(how.byte_offset);
        found.n_reordering.update(number);
        self.density.update(number);
    }

    /// Extents (packets) and late times (nanoseconds) of those counted as [`late`](Self::late) so far.
    pub fn lateness(&self) -> (&Distribution, &Distribution) {
        (&self.found.extents, &self.found.late_ns)
    }

    /// Counts a packet that arrived late, if its number and lateness are unknown.
    pub fn late_unmeasured(&mut self) {
        self.flush();
        self.found.received += 1;
        self.found.reordered += 1;
        self.found.runs.reordered();
        self.bursts.reordered();
    }

    /// Counts a packet for which it is unknown whether it was late; its number, if known.
    pub fn late_perhaps(&mut self, number: Option<u64>) {
        self.flush();
        self.found.received += 1;
        self.found.ambiguous += 1;
        if let Some(number) = number {
            self.density.update(number);
        }
    }

    /// Takes a packet out of the count of those received: it was counted as one in order, and was a copy of another that
    /// comes later. What has been computed from its number stays.
    pub fn was_a_copy(&mut self) {
        self.flush();
        self.found.received = self.found.received.saturating_sub(1);
    }

    /// Counts an ambiguity about a packet that did not arrive.
    pub fn ambiguous(&mut self) {
        self.found.ambiguous += 1;
    }

    /// Passes on a copy or a packet that cannot be classified; RFC 5236 section 6 has its own rules for these.
    pub(crate) fn other(&mut self, number: u64) {
        self.flush();
        self.density.update(number);
    }

    /// Passes the finished run to the metrics.
    fn flush(&mut self) {
        let packets = std::mem::take(&mut self.pending);
        if packets > 0 {
            self.run(self.next - packets, packets, 0);
        }
    }

    /// Counts a run of packets in order with `bytes` bytes in total.
    pub(crate) fn run(&mut self, first: u64, packets: u64, bytes: u64) {
        self.count_run(first, packets, bytes, NReordering::update_run);
    }

    fn count_run(
        &mut self,
        first: u64,
        packets: u64,
        bytes: u64,
        compare: impl FnOnce(&mut NReordering, u64, u64),
    ) {
        let found = &mut self.found;
        found.received += packets;
        found.runs.in_order(packets, bytes);
        self.bursts.in_order();
        // Estimated numbers may repeat; only increasing ones are passed to n-reordering.
        if found.n_reordering.highest().is_none_or(|most| most < first) {
            compare(&mut found.n_reordering, first, packets);
        }
        self.density.update_run(first, packets);
    }

    /// Number of packets so far, and of reordered ones among them.
    pub fn counts(&self) -> (u64, u64) {
        (self.found.received + self.pending, self.found.reordered)
    }

    /// Ends the stream.
    pub fn finish(mut self) -> Reordering {
        let packets = std::mem::take(&mut self.pending);
        if packets > 0 {
            let first = self.next - packets;
            self.count_run(first, packets, 0, NReordering::update_last_run);
        }
        self.found.n_reordering.forget();
        Reordering {
            bursts: self.bursts.finish(),
            displacements: self.density.finish(),
            ..self.found
        }
    }
}

const PACKETS: Digits = Digits::Fixed(3);

columns! {
    /// The counts to which the shares of [`METRICS`] refer.
    pub COUNTS: Reordering, |r|
    "received": Count, "Packets received, duplicates not counted; for TCP, original transmissions that certainly arrived."
        => r.received;
    "reordered": Count, "Of these, reordered (RFC 4737 section 3.3); ambiguous ones are not counted." => r.reordered;
}

columns! {
    /// Every metric that is a single number, with its name and unit in all outputs. To add a metric, add it here.
    pub METRICS: Reordering, |r|
    "reordered_ratio": Share, "Reordered over received packets, RFC 4737 section 4.1."
        => r.reordered_ratio(), in_group("reordered", "%", 5);
    "involved_ratio": Share, "Packets that overtook another or were overtaken, over received ones."
        => r.if_measured(r.involved_ratio()), optional();
    "max_extent": Count, "Greatest extent, RFC 4737 section 4.2; 0 if no packet was late."
        => r.of_late(r.extents.max()), unit("packets"), optional(), in_group("extent", "max", 4), adapted(if_late);
    "mean_extent": Number(Digits::Mean), "Mean extent of late packets."
        => r.of_late(r.extents.mean()), unit("packets"), optional(), in_group("extent", "mean", 8), adapted(if_late);
    "p99_extent": Count, "Extent that 99 % of the late packets do not exceed; at most 1/32 too high."
        => r.of_late(r.extents.quantile(0.99)), unit("packets"), optional(), adapted(if_late);
    "max_late_ms": Duration, "Greatest late time, RFC 4737 section 4.3; 0 if no packet was late."
        => r.of_late(r.late_ns.max()), optional(), in_group("late", "max", 3), adapted(if_late);
    "mean_late_ms": Duration, "Mean late time of late packets."
        => r.of_late(r.late_ns.mean()), optional(), adapted(if_late);
    "p99_late_ms": Duration, "Late time that 99 % of the late packets do not exceed; at most 1/32 too high."
        => r.of_late(r.late_ns.quantile(0.99)), optional(), adapted(if_late);
    "n1_reordering": Share, "Packets whose predecessor was sent later, RFC 4737 section 5." => r.if_measured(r.degree(1)), optional();
    "n2_reordering": Share, "Packets whose two predecessors were sent later, RFC 4737 section 5." => r.if_measured(r.degree(2)), optional();
    "n3_reordering": Share, "Packets whose three predecessors were sent later, RFC 4737 section 5: TCP considers them lost."
        => r.if_measured(r.degree(3)), optional();
    "run_mean": Number(PACKETS), "Mean length of the runs in order before late packets, RFC 4737 section 4.6."
        => r.runs.mean(), unit("packets"), optional();
    "run_variation": Number(PACKETS), "Variation of these runs, (q / a) / (a / x): 1 if all are equally long, more if late packets come in bursts."
        => r.runs.variation(), optional();
    "mean_burst": Number(PACKETS), "Mean number of late packets in a row, the counterpart of the runs of RFC 4737 section 4.6."
        => r.bursts.mean(), unit("packets"), optional(), shown("late in a row", 8);
    "mean_displacement": Number(PACKETS), "Sum of |displacement| x density of the reorder density, RFC 5236."
        => r.if_measured(r.displacements.mean_displacement()), unit("packets"), optional(), in_group("displacement", "mean", 9), adapted(if_late);
    "entropy": Number(PACKETS), "Entropy of the reorder density, natural logarithm."
        => r.if_measured(r.displacements.entropy()), unit("nats"), optional(), in_group("displacement", "entropy", 10), adapted(if_late);
    "mean_lateness": Number(PACKETS), "Mean displacement of the packets displaced to later positions."
        => r.displacements.mean_lateness(), unit("packets"), optional();
    "mean_earliness": Number(PACKETS), "Mean displacement of the packets displaced to earlier positions."
        => r.displacements.mean_earliness(), unit("packets"), optional();
    "displacement_variance": Number(PACKETS), "Variance of the displacement." => r.if_measured(r.displacements.variance()), optional();
    "late_ratio": Share, "Share of packets displaced to later positions." => r.if_measured(r.displacements.late_ratio()), optional();
    "early_ratio": Share, "Share of packets displaced to earlier positions." => r.if_measured(r.displacements.early_ratio()), optional();
    "displaced_ratio": Share, "Share of packets displaced, early or late." => r.if_measured(r.displacements.displaced_ratio()), optional();
}

impl Reordering {
    /// A number about the order in which packets arrived; absent if some are known to be late, but of none of them how late.
    fn if_measured(&self, number: f64) -> Option<f64> {
        let unknown = self.reordered > 0 && self.extents.count() == 0;
        (!unknown).then_some(number)
    }

    /// A number about the late packets: 0 if there are none, absent if it was not measured.
    fn of_late<'a, T: Into<Value<'a>> + Default>(&self, measured: Option<T>) -> Value<'a> {
        match self.reordered {
            0 => Some(measured.unwrap_or_default()).into(),
            _ => measured.into(),
        }
    }
}

/// Text output shows a dash if there are no late packets.
fn if_late(order: &Reordering, text: String) -> String {
    match order.reordered {
        0 => "-".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_report::AnyColumn;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(COUNTS), Vec::<String>::new());
        assert_eq!(inorder_report::problems(METRICS), Vec::<String>::new());
    }

    #[test]
    fn text_has_a_dash_for_every_number_about_late_packets_if_there_are_none() {
        let mut tally = Tally::default();
        tally.in_order(1, 5);
        let order = tally.finish();
        for name in [
            "max_extent",
            "mean_extent",
            "p99_extent",
            "max_late_ms",
            "mean_late_ms",
            "p99_late_ms",
        ] {
            let column = METRICS.iter().find(|c| c.field.name == name).unwrap();
            assert_eq!(column.people(&order, &column.value(&order)), "-", "{name}");
        }
    }

    /// One packet was late, but not when it came. What was measured still counts as soon as one is known.
    #[test]
    fn unmeasured_values_are_absent() {
        let mut tally = Tally::default();
        tally.in_order(1, 5);
        tally.late_unmeasured();
        let how = Reordered {
            extent: 1,
            late_ns: 20_000,
            byte_offset: 100,
        };
        let mut measured = tally.clone();
        measured.late(7, &how);
        let (unmeasured, measured) = (tally.finish(), measured.finish());
        for name in [
            "max_late_ms",
            "involved_ratio",
            "n3_reordering",
            "mean_displacement",
            "entropy",
            "displacement_variance",
            "displaced_ratio",
        ] {
            let column = METRICS.iter().find(|c| c.field.name == name).unwrap();
            assert_eq!(column.value(&unmeasured), Value::Absent, "{name}");
            assert_ne!(column.value(&measured), Value::Absent, "{name}");
        }
    }

    #[test]
    fn without_late_packets_the_greatest_lateness_is_zero() {
        let mut tally = Tally::default();
        tally.in_order(1, 5);
        let column = METRICS.iter().find(|c| c.field.name == "max_late_ms");
        assert_eq!(column.unwrap().value(&tally.finish()), Value::Count(0));
    }
}
