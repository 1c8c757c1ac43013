//! How fast the path passes packets on that follow each other: the bottleneck's rate.
//!
//! Packets sent in one go leave the bottleneck one behind the other, and arrive as far apart as it takes to send one
//! ("packet trains": Jain and Routhier 1986; Dovrolis, Ramanathan and Moore, INFOCOM 2001). The capture shows
//! arrivals directly at a receiver, and by acknowledgements at a sender. Gaps between the flights of a sender make
//! trains slow, by any amount; packets that come late and held-back acknowledgements make some fast. What the line
//! itself spaces has one rate: of the rates of short trains those count that stand out as a peak, and of several peaks
//! the fast ones, since a sender's own rhythm can only be slower. Where jitter blurs every peak, longer trains give a
//! bound from below and short ones a bound from above. Only what arrives for the first time counts: a late packet and
//! its retransmission together took one place more on the line than in a train that has either.

use inorder_metrics::Distribution;

/// Lengths of trains, bytes: 8 and 32 full segments of Ethernet.
const LENGTHS: [i64; 2] = [8 * 1_448, 32 * 1_448];
/// Fewest trains of a length that tell a rate.
const MIN_TRAINS: u64 = 4;
/// Shorter trains tell how hosts and captures bundle packets (interrupts, offloads), not how a line spaces them,
/// nanoseconds.
const MIN_TRAIN_NS: i64 = 25_000;
/// Minimum share of all trains that a peak of their rates has.
const MIN_PEAK: f64 = 0.015;
/// Its width, as a share of its rate: twice the resolution of the distribution.
const PEAK_WIDTH: f64 = 0.045;
/// The first trains, of a flow's first flights.
const MAX_EARLY: u64 = 16;
/// Their peak has at least this share of them: most follow each other without a gap.
const MIN_EARLY_PEAK: f64 = 0.25;
/// Their peak counts if it is faster than that of all trains by this factor: it is another one then.
const EARLY_FASTER: f64 = 1.25;
/// Half of its trains are no denser beside it, on the side of the faster ones; on the other side two thirds are.
const ABOVE_PEAK: f64 = 2.0;
const BELOW_PEAK: f64 = 1.5;
/// The distribution tells the upper ends of intervals 1/32 of an octave wide: their middle is lower by this factor.
const MIDDLE: f64 = 0.985;
/// How far off a peak may be.
const PEAK_ERROR: f64 = 0.03;
/// Without a peak, the quantiles of long and of short trains between which the rate lies.
const LONG_QUANTILE: f64 = 0.95;
const SHORT_QUANTILE: f64 = 0.85;
const NS_PER_S: u64 = 1_000_000_000;
/// How far off the bounds may be.
const BLUR: f64 = 0.08;

/// The rate of the bottleneck, bytes a second unless it says segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LineRate {
    /// No less than this.
    pub low: f64,
    /// The estimate.
    pub likely: f64,
    /// No more than this.
    pub high: f64,
}

/// Trains of one length.
#[derive(Debug, Default)]
struct Trains {
    begun_ns: i64,
    from: i64,
    /// Bytes a second.
    rates: Distribution,
}

heap!(Trains: rates);

/// The rates of the trains of one flow.
#[derive(Debug)]
pub struct Dispersion {
    /// The first train that ends does so with this many bytes; the least number before the first one begins.
    next: i64,
    lengths: [Trains; LENGTHS.len()],
    /// Rates of the first short trains.
    early: Distribution,
}

heap!(Dispersion: lengths, early);

impl Default for Dispersion {
    fn default() -> Self {
        Dispersion {
            next: i64::MIN,
            lengths: Default::default(),
            early: Distribution::default(),
        }
    }
}

impl Dispersion {
    /// `total` bytes have arrived by `now`: never fewer than before.
    #[inline]
    pub fn arrived(&mut self, now: i64, total: i64) {
        if total >= self.next {
            self.end_trains(now, total);
        }
    }

    /// Ends the trains that are long enough by now, or begins the first ones.
    #[inline(never)]
    fn end_trains(&mut self, now: i64, total: i64) {
        if self.next == i64::MIN {
            for trains in &mut self.lengths {
                (trains.begun_ns, trains.from) = (now, total);
            }
        }
        self.next = i64::MAX;
        for (trains, length) in self.lengths.iter_mut().zip(LENGTHS) {
            if total.wrapping_sub(trains.from) >= length {
                let rate = trains.end(now, total);
                if length == LENGTHS[0] && self.early.count() < MAX_EARLY {
                    rate.into_iter().for_each(|rate| self.early.update(rate));
                }
            }
            self.next = self.next.min(trains.from.saturating_add(length));
        }
    }

    /// The rate of the bottleneck, as far as trains tell it.
    pub fn rate(&self) -> Option<LineRate> {
        let [short, long] = &self.lengths;
        let usual = peak(&short.rates, MIN_PEAK);
        // A flow that was slowed down early fills the line at its start only.
        let early = peak(&self.early, MIN_EARLY_PEAK)
            .filter(|early| usual.is_none_or(|usual| *early > EARLY_FASTER * usual));
        if let Some(likely) = early.or(usual) {
            let (low, high) = (likely * (1.0 - PEAK_ERROR), likely * (1.0 + PEAK_ERROR));
            return Some(LineRate { low, likely, high });
        }
        if short.rates.count() < MIN_TRAINS {
            return None;
        }
        let fast = short.rates.quantile(SHORT_QUANTILE)? as f64;
        let slow = long
            .rates
            .quantile(LONG_QUANTILE)
            .map_or(fast, |rate| rate as f64);
        Some(LineRate {
            low: slow.min(fast) * (1.0 - BLUR),
            likely: libm::sqrt(slow * fast),
            high: slow.max(fast) * (1.0 + BLUR),
        })
    }
}

/// The peak of the distribution that weighs most: trains count by the square of their rate, for the line's own
/// peak is small where the sender hardly ever filled it. At least the share `least` of all trains is in it.
fn peak(rates: &Distribution, least: f64) -> Option<f64> {
    let all = rates.count() as f64;
    let buckets: Vec<(f64, f64)> = rates.buckets().map(|(r, n)| (r as f64, n as f64)).collect();
    // Those above `from` up to `to`: the buckets ascend.
    let between = |from: f64, to: f64| {
        let upto = |rate: f64| buckets.partition_point(|(r, _)| *r <= rate);
        let within = buckets.get(upto(from)..upto(to)).unwrap_or_default();
        within
            .iter()
            .fold((0.0, 0.0), |(count, sum), (r, n)| (count + n, sum + n * r))
    };
    let peaks = buckets.iter().filter_map(|&(top, _)| {
        let bottom = top * (1.0 - PEAK_WIDTH);
        let (count, sum) = between(bottom, top);
        // Twice as wide on either side.
        let above = between(top, top * (1.0 + 2.0 * PEAK_WIDTH)).0 / 2.0;
        let below = between(bottom * (1.0 - 2.0 * PEAK_WIDTH), bottom).0 / 2.0;
        let enough = count >= (least * all).max(MIN_TRAINS as f64);
        let stands_out = count >= ABOVE_PEAK * above && count >= BELOW_PEAK * below;
        (enough && stands_out).then(|| (count * top * top, sum / count * MIDDLE))
    });
    peaks
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, rate)| rate)
}

impl Trains {
    /// Ends a train and begins the next; returns its rate, bytes a second.
    fn end(&mut self, now: i64, total: i64) -> Option<u64> {
        let ns = now.saturating_sub(self.begun_ns);
        let bytes = total.wrapping_sub(self.from).max(0).cast_unsigned();
        (self.begun_ns, self.from) = (now, total);
        if ns < MIN_TRAIN_NS {
            return None;
        }
        let ns = ns.cast_unsigned();
        let rate = match bytes.checked_mul(NS_PER_S) {
            Some(product) => product / ns,
            None => u64::try_from(u128::from(bytes) * u128::from(NS_PER_S) / u128::from(ns))
                .unwrap_or(u64::MAX),
        };
        self.rates.update(rate);
        Some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flights of `flight` segments every 10 ms, 100 us apart.
    fn flights(flight: i64) -> Option<f64> {
        let mut dispersion = Dispersion::default();
        let mut total = 0;
        for start in 0..40 {
            for i in 0..flight {
                total += 1_448;
                dispersion.arrived(start * 10_000_000 + i * 100_000, total);
            }
        }
        dispersion.rate().map(|r| r.likely / 14_480_000.0)
    }

    #[test]
    fn gaps_between_flights_do_not_hide_the_rate_of_the_line() {
        for flight in [32, 50, 90] {
            let rate = flights(flight).unwrap();
            assert!((0.96..1.04).contains(&rate), "{flight}: {rate}");
        }
    }

    #[test]
    fn nothing_is_said_from_little() {
        let mut dispersion = Dispersion::default();
        for i in 0..20 {
            dispersion.arrived(i * 1_000, i * 1_448);
        }
        assert_eq!(dispersion.rate(), None);
    }
}
