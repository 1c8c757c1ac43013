//! A rate, constant or changing over time, and the exact time that sending takes at this rate.
//!
//! Work is counted in nanobits: at r bit/s, r nanobits are done in each nanosecond. The end of a packet is then an
//! integer number of nanoseconds plus an integer number of nanobits in the next one. Both are exact, so rounding
//! errors do not accumulate over many packets.

use inorder_scenario::Trace;
use inorder_scenario::config::{Line, RateStep as Step};

use crate::busy::BusyLog;
use crate::opportunities::Opportunities;
use crate::service::Service;
use crate::time::elapsed;

/// Bits per second over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Rate {
    /// A constant rate, bit/s.
    Constant(u64),
    /// Changes at given times; see [`Steps`].
    Steps(Steps),
    /// Opportunities to send 1,500 bytes at recorded times (Mahimahi).
    Trace(Trace),
}

/// A rate that changes at given times. If the rate changes while a packet is sent, the remaining bits are sent at the
/// new rate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Steps {
    /// From `at_ns` on, the rate is `bits_per_s`; 0 is an outage. The first step also holds before its time.
    pub steps: Vec<Step>,
    /// Repeats from the start after this many nanoseconds; steps at or after that time are ignored.
    pub period_ns: Option<i64>,
}

impl Rate {
    /// The rate at `now_ns`, bit/s; of a trace its mean.
    pub(crate) fn at(&self, now_ns: i64) -> u64 {
        match self {
            Rate::Constant(rate) => *rate,
            Rate::Steps(steps) => Segments::new(steps).find(now_ns).rate,
            Rate::Trace(trace) => trace.mean_bits_per_s(),
        }
    }
}

impl From<&Line> for Rate {
    fn from(line: &Line) -> Self {
        if let Some(trace) = &line.trace {
            return Rate::Trace(trace.clone());
        }
        if line.changes.is_empty() {
            return Rate::Constant(line.bits_per_s);
        }
        let first = Step {
            at_ns: 0,
            bits_per_s: line.bits_per_s,
        };
        let later = line.changes.iter().copied();
        Rate::Steps(Steps {
            steps: std::iter::once(first).chain(later).collect(),
            period_ns: line.period_ns,
        })
    }
}

/// An exact time: nanoseconds, and nanobits done in the next nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Moment {
    ns: i64,
    done: u64,
}

impl Moment {
    /// The first whole nanosecond that is not before this time.
    fn ceil(self) -> Option<i64> {
        self.ns.checked_add(i64::from(self.done > 0))
    }
}

/// Serves one packet after another at a rate.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    rate: u64,
    steps: Option<Segments>,
    opportunities: Option<Opportunities>,
    busy: Moment,
    /// When it was busy, if anybody wants to know.
    pub(crate) log: BusyLog,
    /// Last size that was served, and the time it takes: whole nanoseconds and remaining nanobits.
    cached: (u32, i64, u64),
}

const NANO: u64 = 1_000_000_000;

impl Server {
    pub(crate) fn new(rate: &Rate) -> Self {
        let (rate, steps, opportunities) = match rate {
            Rate::Constant(rate) => (*rate, None, None),
            Rate::Steps(steps) => (0, Some(Segments::new(steps)), None),
            Rate::Trace(trace) => (0, None, Some(Opportunities::new(trace))),
        };
        Server {
            rate,
            steps,
            opportunities,
            busy: Moment {
                ns: i64::MIN,
                done: 0,
            },
            log: BusyLog::default(),
            cached: (0, 0, 0),
        }
    }

    /// True if a packet that arrives now has to wait.
    #[inline]
    pub(crate) fn is_busy(&self, now_ns: i64) -> bool {
        self.opportunities.is_some()
            || self.busy.ns > now_ns
            || (self.busy.ns == now_ns && self.busy.done > 0)
    }

    /// When a packet that is taken from the queue now is sent, if that is later: the queue should keep it until then.
    pub(crate) fn waits_until(&mut self, now_ns: i64) -> Option<i64> {
        let next_ns = self.opportunities.as_mut()?.next_ns(now_ns)?;
        (next_ns > now_ns).then_some(next_ns)
    }

    /// Serves `bytes` after all earlier packets; `None`, without any change, if that never ends.
    #[inline]
    pub(crate) fn serve(&mut self, now_ns: i64, bytes: u32) -> Option<Service> {
        if let Some(opportunities) = &mut self.opportunities {
            let service = opportunities.serve(now_ns, bytes)?;
            self.log.note(now_ns, service.end_ns);
            return Some(service);
        }
        let start = if self.is_busy(now_ns) {
            self.busy
        } else {
            Moment {
                ns: now_ns,
                done: 0,
            }
        };
        let end = if self.steps.is_none() {
            self.at_constant_rate(start, bytes)?
        } else {
            self.at_changing_rate(start, bytes)?
        };
        let service = Service {
            start_ns: start.ceil()?,
            end_ns: end.ceil()?,
        };
        self.busy = end;
        self.log.note(service.start_ns, service.end_ns);
        Some(service)
    }

    #[inline]
    fn at_constant_rate(&mut self, start: Moment, bytes: u32) -> Option<Moment> {
        if self.cached.0 != bytes {
            let work = u128::from(bytes) * u128::from(8 * NANO);
            let whole = work.checked_div(self.rate.into())?;
            let over = work % u128::from(self.rate);
            self.cached = (bytes, i64::try_from(whole).ok()?, over as u64);
        } else if self.rate == 0 {
            return None;
        }
        let (_, ns, over) = self.cached;
        // `done` and `over` are both below the rate, so this is at most one more nanosecond.
        let (sum, wrapped) = start.done.overflowing_add(over);
        let carry = wrapped || sum >= self.rate;
        Some(Moment {
            ns: start.ns.checked_add(ns)?.checked_add(i64::from(carry))?,
            done: if carry {
                sum.wrapping_sub(self.rate)
            } else {
                sum
            },
        })
    }

    fn at_changing_rate(&mut self, start: Moment, bytes: u32) -> Option<Moment> {
        let work = u128::from(bytes) * u128::from(8 * NANO);
        self.steps.as_mut()?.work(start, work)
    }
}

/// An interval of constant rate.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from_ns: i64,
    until_ns: i64,
    rate: u64,
}

#[derive(Clone, Debug)]
struct Segments {
    /// In order of time, with distinct times before the end of the period.
    steps: Vec<Step>,
    period_ns: Option<i64>,
    /// Nanobits done in one period.
    per_period: u128,
    last: Option<Segment>,
}

impl Segments {
    fn new(config: &Steps) -> Self {
        let period_ns = config.period_ns.filter(|&p| p > 0);
        let mut steps = config.steps.clone();
        if period_ns.is_some() {
            // A period begins at time 0.
            steps
                .iter_mut()
                .for_each(|step| step.at_ns = step.at_ns.max(0));
        }
        steps.sort_by_key(|step| step.at_ns);
        // Of several steps at the same time, the last one given counts.
        steps.reverse();
        steps.dedup_by_key(|step| step.at_ns);
        steps.reverse();
        steps.retain(|step| period_ns.is_none_or(|period| step.at_ns < period));
        let mut segments = Segments {
            steps,
            period_ns,
            per_period: 0,
            last: None,
        };
        segments.per_period = segments.sum_of_period();
        segments
    }

    fn sum_of_period(&self) -> u128 {
        let Some(period_ns) = self.period_ns else {
            return 0;
        };
        let ends = self.steps.iter().skip(1).map(|step| step.at_ns);
        let ends = ends.chain([period_ns]);
        let mut from_ns = 0;
        let mut sum = 0u128;
        for (step, until_ns) in self.steps.iter().zip(ends) {
            sum += u128::from(elapsed(until_ns, from_ns)) * u128::from(step.bits_per_s);
            from_ns = until_ns;
        }
        sum
    }

    fn find(&self, now_ns: i64) -> Segment {
        let (base_ns, offset_ns) = match self.period_ns {
            Some(period) => {
                let offset_ns = now_ns.rem_euclid(period);
                (now_ns.saturating_sub(offset_ns), offset_ns)
            }
            None => (0, now_ns),
        };
        let after = self.steps.partition_point(|step| step.at_ns <= offset_ns);
        let at = after.saturating_sub(1);
        let end = |at_ns| base_ns.saturating_add(at_ns);
        let next = self.steps.get(after.max(1)).map(|step| step.at_ns);
        Segment {
            from_ns: match at {
                0 if self.period_ns.is_none() => i64::MIN,
                0 => base_ns,
                _ => end(self.steps.get(at).map_or(0, |step| step.at_ns)),
            },
            until_ns: next.or(self.period_ns).map_or(i64::MAX, end),
            rate: self.steps.get(at).map_or(0, |step| step.bits_per_s),
        }
    }

    /// The time at which `work` started at `start` is done; `None` if never.
    fn work(&mut self, start: Moment, mut work: u128) -> Option<Moment> {
        let mut at = start;
        if let Some(period_ns) = self.period_ns {
            // Skips whole periods at once, in any phase. Some work is left for the last period, so that the result is
            // the end of the work and not the end of the period.
            let periods = work.saturating_sub(1).checked_div(self.per_period)?;
            work -= periods * self.per_period;
            let periods = i64::try_from(periods).ok()?;
            at.ns = at.ns.checked_add(periods.checked_mul(period_ns)?)?;
        }
        loop {
            let segment = self.segment(at.ns);
            let rate = u128::from(segment.rate);
            let left = u128::from(elapsed(segment.until_ns, at.ns)) * rate;
            // The remaining work would end after the largest time.
            let left = left.checked_sub(at.done.into())?;
            if rate > 0 && work <= left {
                let done = u128::from(at.done) + work;
                return Some(Moment {
                    ns: at.ns.checked_add(i64::try_from(done / rate).ok()?)?,
                    done: (done % rate) as u64,
                });
            }
            if segment.until_ns == i64::MAX {
                return None;
            }
            work -= left;
            at = Moment {
                ns: segment.until_ns,
                done: 0,
            };
        }
    }

    fn segment(&mut self, now_ns: i64) -> Segment {
        match self.last {
            Some(last) if (last.from_ns..last.until_ns).contains(&now_ns) => last,
            _ => {
                let segment = self.find(now_ns);
                self.last = Some(segment);
                segment
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(at_ns: i64, bits_per_s: u64) -> Step {
        Step { at_ns, bits_per_s }
    }

    fn ends(rate: &Rate, packets: &[(i64, u32)]) -> Vec<Option<i64>> {
        let mut server = Server::new(rate);
        let served = packets.iter().map(|&(t, bytes)| server.serve(t, bytes));
        served.map(|s| s.map(|s| s.end_ns)).collect()
    }

    #[test]
    fn rounding_errors_do_not_accumulate() {
        // 8 bits at 3 bit/s: 2 2/3 s. The third ends at 8 s to the nanosecond.
        let ends = ends(&Rate::Constant(3), &[(0, 1); 3]);
        assert_eq!(
            ends,
            [
                Some(2_666_666_667),
                Some(5_333_333_334),
                Some(8_000_000_000)
            ]
        );
    }

    #[test]
    fn a_rate_change_affects_the_packet_being_sent() {
        // 1000 bits: 500 of them at 1 Mbit/s by 0.5 ms, the rest at 10 Mbit/s.
        let rate = Rate::Steps(Steps {
            steps: vec![step(0, 1_000_000), step(500_000, 10_000_000)],
            period_ns: None,
        });
        assert_eq!(ends(&rate, &[(0, 125)]), [Some(550_000)]);
    }

    #[test]
    fn sending_continues_after_an_outage_unless_it_is_endless() {
        let mut steps = vec![step(0, 1_000_000_000), step(500, 0), step(1_000_000, 8_000)];
        let rate = Rate::Steps(Steps {
            steps: steps.clone(),
            period_ns: None,
        });
        // 1000 bits: 500 before the outage, 500 after it at 8 kbit/s.
        assert_eq!(ends(&rate, &[(0, 125)]), [Some(1_000_000 + 62_500_000)]);
        steps.pop();
        let rate = Rate::Steps(Steps {
            steps,
            period_ns: None,
        });
        assert_eq!(ends(&rate, &[(0, 125), (7, 61)]), [None, Some(495)]);
    }

    #[test]
    fn a_square_wave_repeats() {
        let rate = Rate::Steps(Steps {
            steps: vec![step(0, 1_000_000_000), step(1_000, 0)],
            period_ns: Some(2_000),
        });
        // One period carries 1000 bits (125 bytes); 10 s of periods are skipped without visiting each step.
        assert_eq!(
            ends(&rate, &[(0, 125), (0, 125)]),
            [Some(1_000), Some(3_000)]
        );
        assert_eq!(
            ends(&rate, &[(1_500, 4_000_000)]),
            [Some(1_500 + 32_000 * 2_000 - 500)]
        );
        assert_eq!(
            (rate.at(0), rate.at(1_999), rate.at(2_000)),
            (1_000_000_000, 0, 1_000_000_000)
        );
    }

    /// The straightforward twin: nanosecond by nanosecond.
    fn slow(rate: &Rate, packets: &[(i64, u32)]) -> Vec<Option<i64>> {
        let (mut ns, mut done) = (0, 0);
        packets
            .iter()
            .map(|&(now, bytes)| {
                if now > ns {
                    (ns, done) = (now, 0);
                }
                let mut work = u128::from(bytes) * 8_000_000_000;
                while work > 0 {
                    let free = u128::from(rate.at(ns)) - done;
                    let step = free.min(work);
                    work -= step;
                    done += step;
                    if done == u128::from(rate.at(ns)) {
                        (ns, done) = (ns + 1, 0);
                    }
                }
                Some(ns + i64::from(done > 0))
            })
            .collect()
    }

    prop_compose! {
        fn some_rate()(
            mut steps in prop::collection::vec((0i64..60, 0u64..30_000_000_000), 1..5),
            period_ns in prop::option::of(1i64..80),
        ) -> Rate {
            // In every period, something is sent at some time.
            for (at, rate) in &mut steps {
                *rate += u64::from(*at == 0) * 1_000_000_000;
            }
            steps.push((0, 7_000_000_000));
            steps.push((59, 3_000_000_001));
            let steps = steps.iter().map(|&(at, rate)| step(at, rate)).collect();
            Rate::Steps(Steps { steps, period_ns })
        }
    }

    proptest! {
        #[test]
        fn steps_equal_the_walk_nanosecond_by_nanosecond(
            rate in some_rate(),
            gaps in prop::collection::vec((0i64..40, 1u32..60), 1..20),
        ) {
            let mut now = 0;
            let packets: Vec<_> = gaps.iter().map(|&(gap, bytes)| { now += gap; (now, bytes) }).collect();
            prop_assert_eq!(ends(&rate, &packets), slow(&rate, &packets));
        }

        #[test]
        fn a_constant_rate_equals_steps_that_never_change(
            rate in 1u64..40_000_000_000,
            gaps in prop::collection::vec((0i64..40_000, 0u32..u32::MAX), 1..20),
        ) {
            let mut now = 0;
            let packets: Vec<_> = gaps.iter().map(|&(gap, bytes)| { now += gap; (now, bytes) }).collect();
            let same = Rate::Steps(Steps {
                steps: vec![step(0, rate), step(17, rate), step(40, rate)],
                period_ns: Some(77),
            });
            prop_assert_eq!(ends(&Rate::Constant(rate), &packets), ends(&same, &packets));
        }

        #[test]
        fn extreme_rates_and_times_do_not_panic(
            rate in any::<u64>(),
            at in any::<[i64; 3]>(),
            period_ns in prop::option::of(any::<i64>()),
            packets in prop::collection::vec((any::<i64>(), any::<u32>()), 1..8),
        ) {
            let steps = at.iter().map(|&at_ns| step(at_ns, at_ns.cast_unsigned() ^ rate)).collect();
            for rate in [Rate::Constant(rate), Rate::Steps(Steps { steps, period_ns })] {
                let mut packets = packets.clone();
                packets.sort_unstable();
                for (end, (now, _)) in ends(&rate, &packets).iter().zip(&packets) {
                    prop_assert!(end.is_none_or(|end| end >= *now));
                }
            }
        }
    }
}
