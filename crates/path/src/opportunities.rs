//! A link that can send only at recorded times: Mahimahi's traces.
//!
//! Each opportunity carries 1,500 bytes. As in `mm-link`, several packets may share one, a packet may use parts of
//! several and arrives with the last of them, and what no packet waits for is lost.

use inorder_scenario::{OPPORTUNITY_BYTES, Trace};

use crate::service::Service;

const MS: i64 = 1_000_000;

/// Serves one packet after another at the opportunities of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    trace: Trace,
    /// The first opportunity that is not used up, counted over all periods, and the bytes left in it.
    next: u64,
    left: u32,
}

impl Opportunities {
    pub(crate) fn new(trace: &Trace) -> Self {
        Opportunities {
            trace: trace.clone(),
            next: 0,
            left: OPPORTUNITY_BYTES,
        }
    }

    /// When the next packet can be sent if it is there now; `None` after the largest time.
    pub(crate) fn next_ns(&mut self, now_ns: i64) -> Option<i64> {
        self.skip(now_ns)?;
        self.time_ns(self.next)
    }

    /// Serves `bytes` after all earlier packets; `None` after the largest time.
    pub(crate) fn serve(&mut self, now_ns: i64, bytes: u32) -> Option<Service> {
        self.skip(now_ns)?;
        let start_ns = self.time_ns(self.next)?;
        // A packet without bytes needs an opportunity, too.
        let bytes = bytes.max(1);
        let (mut last, mut used) = (self.next, OPPORTUNITY_BYTES - self.left + bytes);
        if bytes > self.left {
            let further = (bytes - self.left - 1) / OPPORTUNITY_BYTES + 1;
            last += u64::from(further);
            used = bytes - self.left - (further - 1) * OPPORTUNITY_BYTES;
        }
        let end_ns = self.time_ns(last)?;
        (self.next, self.left) = match OPPORTUNITY_BYTES - used {
            0 => (last + 1, OPPORTUNITY_BYTES),
            left => (last, left),
        };
        Some(Service { start_ns, end_ns })
    }

    /// Gives up the opportunities before now.
    fn skip(&mut self, now_ns: i64) -> Option<()> {
        if self.time_ns(self.next)? < now_ns {
            (self.next, self.left) = (self.at_or_after(now_ns), OPPORTUNITY_BYTES);
        }
        Some(())
    }

    fn time_ns(&self, index: u64) -> Option<i64> {
        let count = self.trace.times_ms.len() as u64;
        let within = self.trace.times_ms.get((index % count) as usize)?;
        let periods = i64::try_from(index / count).ok()?;
        let ms = periods.checked_mul(i64::from(self.trace.period_ms()))?;
        ms.checked_add(i64::from(*within))?.checked_mul(MS)
    }

    /// The first opportunity at this time or later.
    fn at_or_after(&self, now_ns: i64) -> u64 {
        let ms = now_ns.div_euclid(MS) + i64::from(now_ns.rem_euclid(MS) > 0);
        let ms = ms.max(0).cast_unsigned();
        let period = u64::from(self.trace.period_ms());
        // A period contains its end, not its beginning; only the first one may begin with opportunities at 0.
        let periods = ms.saturating_sub(1) / period;
        let within = ms - periods * period;
        let times = &self.trace.times_ms;
        let before = times.partition_point(|&time| u64::from(time) < within);
        periods * times.len() as u64 + before as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trace(times: &[u32]) -> Trace {
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        Trace::parse("test", &text).unwrap()
    }

    fn ends(times: &[u32], packets: &[(i64, u32)]) -> Vec<i64> {
        let mut link = Opportunities::new(&trace(times));
        let served = packets
            .iter()
            .map(|&(ms, bytes)| link.serve(ms * MS, bytes));
        served.map(|service| service.unwrap().end_ns / MS).collect()
    }

    #[test]
    fn each_line_sends_1500_bytes_and_the_trace_repeats() {
        assert_eq!(ends(&[2, 2, 5], &[(0, 1500); 7]), [2, 2, 5, 7, 7, 10, 12]);
    }

    #[test]
    fn packets_share_opportunities_and_are_carried_over() {
        // 500 + 1000 bytes at 2 ms; 2000 bytes from 4 ms to 6 ms; the rest at 6 ms.
        let packets = [(0, 500), (0, 1000), (0, 2000), (0, 900), (0, 200)];
        assert_eq!(ends(&[2, 4, 6, 8], &packets), [2, 2, 6, 6, 8]);
    }

    #[test]
    fn what_nobody_waits_for_is_lost() {
        // Opportunities at 1 to 4 ms pass; the packet of 3.5 ms takes the one at 4 ms.
        let mut link = Opportunities::new(&trace(&[1, 2, 3, 4, 10]));
        let end = |link: &mut Opportunities, ns| link.serve(ns, 1500).unwrap().end_ns / MS;
        assert_eq!(end(&mut link, 3_500_000), 4);
        assert_eq!(end(&mut link, 4_000_001), 10);
        assert_eq!(end(&mut link, 10 * MS), 11);
        assert_eq!(end(&mut link, 1_000_000 * MS), 1_000_000);
    }

    /// The straightforward twin: one opportunity after another, as `mm-link` does it.
    fn slow(times: &[u32], packets: &[(i64, u32)]) -> Vec<i64> {
        let period = i64::from(*times.last().unwrap());
        let mut out = Vec::new();
        let mut rest = packets[0].1.max(1);
        let mut begin = 0;
        loop {
            for &time in times {
                let now = begin + i64::from(time);
                let mut bytes = OPPORTUNITY_BYTES;
                while bytes > 0 && packets[out.len()].0 <= now {
                    let used = bytes.min(rest);
                    (bytes, rest) = (bytes - used, rest - used);
                    if rest > 0 {
                        continue;
                    }
                    out.push(now);
                    match packets.get(out.len()) {
                        None => return out,
                        Some(next) => rest = next.1.max(1),
                    }
                }
            }
            begin += period;
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_one_opportunity_after_another(
            mut times in prop::collection::vec(0u32..30, 1..12),
            gaps in prop::collection::vec((0i64..12, 0u32..5000), 1..60),
        ) {
            times.push(1);
            times.sort_unstable();
            let mut now = 0;
            let packets: Vec<_> = gaps.iter().map(|&(gap, bytes)| { now += gap; (now, bytes) }).collect();
            prop_assert_eq!(ends(&times, &packets), slow(&times, &packets));
        }
    }
}
