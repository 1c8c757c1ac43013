//! The rate of the line behind which a sender's packets wait.

use std::collections::BTreeMap;

use inorder_cost::{Dispersion, LineRate};

use crate::lost::Transfer;

/// Number of round trips over which a rate of delivery is measured.
const SUSTAINED_RTTS: i64 = 4;
/// Share by which a sustained rate may exceed the rate measured by trains. If it exceeds more, the trains are wrong, because
/// no sustained rate exceeds that of the line.
const SUSTAINED_ERROR: f64 = 0.05;
/// While a queue stands, even the least round trip is at least this many times as long as the path's.
const MIN_QUEUED_RTT: f64 = 1.25;
/// From this share of the greatest rate of delivery on, a time shows what the line can do.
const MIN_SHARE_OF_MOST: f64 = 0.75;
/// Least share of such times in which a queue stood, and the least number of these.
const MIN_QUEUED_SHARE: f64 = 0.8;
const MIN_QUEUED_TIMES: usize = 4;

/// A time of a few round trips: bytes a second that were acknowledged, and whether a queue stood all the while.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    rate: f64,
    queued: bool,
}

impl Transfer {
    /// Rate of the bottleneck, segments a second.
    pub(crate) fn line(&self, segment: f64) -> Option<LineRate> {
        let rate = match (self.behind_queue(), self.by_trains()) {
            // Receivers that read in bursts make trains fast; a queue tells what the line can do at most.
            (Some(queue), trains) if trains.is_none_or(|trains| trains.likely > queue.high) => {
                queue
            }
            (_, trains) => trains?,
        };
        (rate.low > 0.0).then_some(LineRate {
            low: rate.low / segment,
            likely: rate.likely / segment,
            high: rate.high / segment,
        })
    }

    /// From packets that arrive one behind the other, bytes a second.
    fn by_trains(&self) -> Option<LineRate> {
        let (mut dispersion, mut total) = (Dispersion::default(), 0);
        for &(at_ns, bytes) in &self.arrived {
            total = i64::saturating_add(total, i64::try_from(bytes).unwrap_or(0));
            dispersion.arrived(at_ns, total);
        }
        let mut rate = dispersion.rate()?;
        let sustained = self.sustained(self.span_ns());
        if sustained > rate.likely * (1.0 + SUSTAINED_ERROR) {
            rate.likely = sustained;
            rate.high = rate.high.max(sustained * (1.0 + SUSTAINED_ERROR));
        }
        Some(rate)
    }

    /// What a line delivers while a queue stands before it is its rate, bytes a second (Cardwell et al., ACM Queue 14(5), 2016).
    /// `None` unless a queue stood for nearly all of the time in which most was delivered: the least round trip of a
    /// stretch is then longer than the path's, which single late packets or acknowledgements cannot bring about.
    fn behind_queue(&self) -> Option<LineRate> {
        let stretches = self.stretches();
        let most = stretches.iter().fold(0.0, |most: f64, s| most.max(s.rate));
        let near = stretches
            .iter()
            .filter(|s| s.rate >= MIN_SHARE_OF_MOST * most);
        let near: Vec<&Stretch> = near.collect();
        let queued = near.iter().filter(|s| s.queued).map(|s| s.rate);
        let (count, sum) = queued.fold((0, 0.0), |(n, sum), rate| (n + 1, sum + rate));
        let stands =
            count >= MIN_QUEUED_TIMES && count as f64 >= MIN_QUEUED_SHARE * near.len() as f64;
        stands.then(|| LineRate {
            low: MIN_SHARE_OF_MOST * most,
            likely: sum / count as f64,
            high: most,
        })
    }

    /// The transfer in stretches of the same length, as far as something was acknowledged in them; without the last one, which is shorter.
    fn stretches(&self) -> Vec<Stretch> {
        let (Some(first), Some(last)) = (self.acked.first(), self.acked.last()) else {
            return Vec::new();
        };
        let span_ns = self.span_ns();
        let number = |at_ns: i64| at_ns.saturating_sub(first.0).div_euclid(span_ns);
        let mut least: BTreeMap<i64, i64> = BTreeMap::new();
        for &(at_ns, rtt_ns) in &self.round_trips {
            let least = least.entry(number(at_ns)).or_insert(rtt_ns);
            *least = rtt_ns.min(*least);
        }
        let long = MIN_QUEUED_RTT * self.rtt_ns as f64;
        let whole = |stretch: &&[(i64, u64)]| number(stretch[0].0) < number(last.0);
        let of = |stretch: &[(i64, u64)]| Stretch {
            rate: stretch.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>() * 1e9
                / span_ns as f64,
            queued: least
                .get(&number(stretch[0].0))
                .is_some_and(|least| *least as f64 >= long),
        };
        let stretches = self.acked.chunk_by(|a, b| number(a.0) == number(b.0));
        stretches.filter(whole).map(of).collect()
    }

    fn span_ns(&self) -> i64 {
        self.rtt_ns.saturating_mul(SUSTAINED_RTTS).max(1)
    }

    /// The most that arrived within `span_ns`, bytes a second.
    fn sustained(&self, span_ns: i64) -> f64 {
        let (mut most, mut sum, mut from) = (0, 0, 0);
        for &(at_ns, bytes) in &self.arrived {
            sum = u64::saturating_add(sum, bytes);
            while at_ns.saturating_sub(self.arrived[from].0) > span_ns {
                sum = sum.saturating_sub(self.arrived[from].1);
                from += 1;
            }
            most = most.max(sum);
        }
        most as f64 * 1e9 / span_ns.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// 10 Mbit/s: a packet of 1,250 bytes is acknowledged each millisecond, for 2 s, over a path of 20 ms. The receiver reads
    /// twenty at a time, 0.1 ms apart.
    fn read_in_bursts(round_trip_ms: impl Fn(i64) -> i64) -> Transfer {
        let mut transfer = Transfer {
            rtt_ns: 20 * MS,
            ..Transfer::default()
        };
        for i in 0..2_000 {
            transfer.acked.push((i * MS, 1_250));
            transfer.round_trips.push((i * MS, round_trip_ms(i) * MS));
            let read = (i / 20 + 1) * 20 * MS + i % 20 * MS / 10;
            transfer.arrived.push((read, 1_250));
        }
        transfer
    }

    fn mbits(transfer: &Transfer) -> f64 {
        transfer.line(1_250.0).unwrap().likely * 1_250.0 * 8.0 / 1e6
    }

    #[test]
    fn a_queue_tells_the_rate_where_the_receiver_reads_in_bursts() {
        let queued = mbits(&read_in_bursts(|_| 30));
        assert!((9.5..10.5).contains(&queued), "{queued}");
    }

    /// Without a queue, the sender may not have filled the line. A packet in each stretch that finds no queue tells so.
    #[test]
    fn late_packets_are_no_queue() {
        let late = mbits(&read_in_bursts(|i| if i % 50 == 0 { 20 } else { 30 }));
        assert!(late > 50.0, "{late}");
    }

    #[test]
    fn any_times_are_read() {
        let mut transfer = read_in_bursts(|_| 30);
        transfer.acked.push((i64::MAX, u64::MAX));
        transfer.round_trips.push((i64::MIN, i64::MIN));
        for rtt_ns in [0, 1, i64::MAX] {
            transfer.rtt_ns = rtt_ns;
            let _ = transfer.line(1_250.0);
        }
    }
}
