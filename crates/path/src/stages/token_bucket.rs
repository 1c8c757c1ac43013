//! Token buckets: the effect of Linux's TBF and HTB on one class.

use super::link::Framing;
use crate::busy::BusyLog;
use crate::counters::Reason;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::queue::Backlog;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::elapsed;
use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, Charge};

/// Passes packets at once while there are tokens, then at the rate.
///
/// It has no line rate of its own: a burst passes in one instant. A [`crate::Link`] behind it spreads the burst over
/// time.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Bucket,
    peak: Option<Bucket>,
    charge: Charge,
    backlog: Backlog,
    /// When packets waited for tokens.
    pub(crate) log: BusyLog,
    framing: Framing,
    /// When the last packet passed.
    last_ns: i64,
}

/// Nanobits: a bucket with r bit/s gains r nanobits per nanosecond.
#[derive(Clone, Debug)]
struct Bucket {
    per_ns: i128,
    full: i128,
    level: i128,
    at_ns: i64,
}

const NANOBITS_PER_BYTE: i128 = 8_000_000_000;

impl Bucket {
    fn new(bits_per_s: u64, bytes: u64) -> Self {
        let full = i128::from(bytes) * NANOBITS_PER_BYTE;
        Bucket {
            per_ns: bits_per_s.into(),
            full,
            level: full,
            at_ns: 0,
        }
    }

    fn level_at(&self, now_ns: i64) -> i128 {
        let gained = i128::from(elapsed(now_ns, self.at_ns)).saturating_mul(self.per_ns);
        self.level.saturating_add(gained).min(self.full)
    }

    /// When the level reaches `wanted`, not before `now_ns`; `None` if never.
    fn when(&self, now_ns: i64, wanted: i128) -> Option<i64> {
        let missing = wanted - self.level_at(now_ns);
        if missing <= 0 {
            return Some(now_ns);
        }
        if wanted > self.full || self.per_ns == 0 {
            return None;
        }
        let wait_ns = (missing + self.per_ns - 1) / self.per_ns;
        now_ns.checked_add(i64::try_from(wait_ns).ok()?)
    }

    fn take(&mut self, now_ns: i64, tokens: i128) {
        self.level = self.level_at(now_ns) - tokens;
        self.at_ns = now_ns;
    }
}

impl TokenBucket {
    /// Full buckets and an empty queue.
    pub fn new(config: &plain::TokenBucket) -> Self {
        let peak = |rate| Bucket::new(rate, config.peak_burst_bytes);
        TokenBucket {
            rate: Bucket::new(config.bits_per_s, config.burst_bytes),
            peak: config.peak_bits_per_s.map(peak),
            charge: config.charge,
            backlog: Backlog::new(config.buffer.queue(config.bits_per_s)),
            log: BusyLog::default(),
            framing: config.framing.into(),
            last_ns: i64::MIN,
        }
    }

    #[inline]
    fn let_go(&mut self, now_ns: i64, bytes: u32) -> Result<i64, Reason> {
        let frame = self.framing.frame_bytes(bytes);
        let tokens = i128::from(frame) * NANOBITS_PER_BYTE;
        let wanted = match self.charge {
            Charge::Before => tokens,
            Charge::After => 0,
        };
        let buckets = [Some(&self.rate), self.peak.as_ref()];
        if buckets.iter().flatten().any(|bucket| wanted > bucket.full) {
            return Err(Reason::TooLarge);
        }
        let mut at_ns = now_ns.max(self.last_ns);
        for bucket in buckets.iter().flatten() {
            at_ns = bucket.when(at_ns, wanted).ok_or(Reason::NoService)?;
        }
        if at_ns > now_ns {
            if !self.backlog.admits(now_ns, frame) {
                return Err(Reason::QueueFull);
            }
            self.backlog.add(at_ns, frame);
            self.log.note(now_ns, at_ns);
        }
        self.rate.take(at_ns, tokens);
        if let Some(peak) = &mut self.peak {
            peak.take(at_ns, tokens);
        }
        self.last_ns = at_ns;
        Ok(at_ns)
    }
}

impl<P: Packet> Stage<P> for TokenBucket {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, _: &mut Outbox<P>) -> Pass {
        self.let_go(now_ns, packet.wire_bytes()).into()
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::TokenBucket {
    type Stage = TokenBucket;

    fn build(&self, _: Random) -> TokenBucket {
        TokenBucket::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use proptest::prelude::*;

    fn config(charge: Charge) -> plain::TokenBucket {
        plain::TokenBucket {
            bits_per_s: 8_000_000, // a byte a microsecond
            burst_bytes: 3000,
            peak_bits_per_s: None,
            peak_burst_bytes: 0,
            charge,
            buffer: plain::QueueLimit::Packets(4).into(),
            framing: plain::Framing::None,
        }
    }

    fn run(config: &plain::TokenBucket, packets: &[(i64, u32)]) -> Vec<Option<i64>> {
        let (mut bucket, mut out) = (TokenBucket::new(config), Outbox::new());
        let mut sent = Vec::new();
        for &(t_us, bytes) in packets {
            bucket.push(t_us * 1000, Probe::new(0, bytes), &mut out);
            sent.push(out.take().next().map(|(t, _)| t / 1000));
        }
        sent
    }

    #[test]
    fn a_burst_passes_then_the_rate() {
        let sent = run(&config(Charge::Before), &[(0, 1000); 8]);
        let expected = [0, 0, 0, 1000, 2000, 3000, 4000].map(Some);
        assert_eq!(sent[..7], expected);
        assert_eq!(sent[7], None); // Four packets are waiting already.
    }

    #[test]
    fn htb_allows_a_negative_bucket() {
        let sent = run(
            &config(Charge::After),
            &[(0, 2500), (0, 2500), (0, 1), (5000, 9000)],
        );
        assert_eq!(sent, [Some(0), Some(0), Some(2000), Some(5000)]);
        let sent = run(&config(Charge::Before), &[(0, 9000)]);
        assert_eq!(sent, [None]);
    }

    #[test]
    fn a_peak_rate_spreads_the_burst() {
        let config = plain::TokenBucket {
            peak_bits_per_s: Some(80_000_000),
            peak_burst_bytes: 1000,
            ..config(Charge::Before)
        };
        let sent = run(&config, &[(0, 1000); 5]);
        assert_eq!(sent, [0, 100, 200, 1000, 2000].map(Some));
    }

    /// The straightforward twin: a bucket that gains one byte per nanosecond, and a queue that holds packets. Returns
    /// number and time of each packet that passes.
    fn slow(config: &plain::TokenBucket, packets: &[(i64, u32)]) -> Vec<(usize, i64)> {
        let plain::QueueLimit::Packets(limit) = config.buffer.limit else {
            return Vec::new();
        };
        let full = config.burst_bytes as i64;
        let (mut level, mut queue, mut gone) =
            (full, std::collections::VecDeque::new(), Vec::new());
        let mut next = 0;
        for now in 0..=packets.iter().map(|p| p.0 + i64::from(p.1)).sum() {
            level = (level + i64::from(now > 0)).min(full);
            let may_go = |level: i64, bytes: u32| match config.charge {
                Charge::Before => level >= bytes.into(),
                Charge::After => level >= 0,
            };
            while let Some(&(number, bytes)) =
                queue.front().filter(|p: &&(_, u32)| may_go(level, p.1))
            {
                queue.pop_front();
                level -= i64::from(bytes);
                gone.push((number, now));
            }
            while let Some(&(_, bytes)) = packets.get(next).filter(|p| p.0 == now) {
                let fits = config.charge == Charge::After || i64::from(bytes) <= full;
                if fits && queue.is_empty() && may_go(level, bytes) {
                    level -= i64::from(bytes);
                    gone.push((next, now));
                } else if fits && (queue.len() as u64) < limit {
                    queue.push_back((next, bytes));
                }
                next += 1;
            }
        }
        gone
    }

    proptest! {
        #[test]
        fn a_bucket_is_filled_and_emptied(
            burst_bytes in 0u64..60,
            limit in 0u64..4,
            charge in prop::sample::select(vec![Charge::Before, Charge::After]),
            gaps in prop::collection::vec((0i64..40, 1u32..70), 1..30),
        ) {
            let mut now = 0;
            let packets: Vec<_> = gaps.iter().map(|&(gap, b)| { now += gap; (now, b) }).collect();
            let config = plain::TokenBucket {
                bits_per_s: 8_000_000_000, // a byte a nanosecond
                burst_bytes,
                buffer: plain::QueueLimit::Packets(limit).into(),
                ..config(charge)
            };
            let (mut bucket, mut out) = (TokenBucket::new(&config), Outbox::new());
            let mut gone = Vec::new();
            for (number, &(t, bytes)) in packets.iter().enumerate() {
                bucket.push(t, Probe::new(number as u64, bytes), &mut out);
                gone.extend(out.take().map(|(t, p)| (p.number as usize, t)));
            }
            prop_assert_eq!(gone, slow(&config, &packets));
        }

        #[test]
        fn never_more_than_burst_and_rate(
            gaps in prop::collection::vec((0i64..3000, 1u32..3000), 1..50),
        ) {
            let mut now = 0;
            let packets: Vec<_> = gaps.iter().map(|&(gap, b)| { now += gap; (now, b) }).collect();
            let config = plain::TokenBucket { buffer: plain::QueueLimit::Unlimited.into(), ..config(Charge::Before) };
            let sent = run(&config, &packets);
            let sent: Vec<(i64, u32)> = sent.iter().zip(&packets).filter_map(|(t, p)| Some(((*t)?, p.1))).collect();
            prop_assert_eq!(sent.len(), packets.len());
            prop_assert!(sent.is_sorted_by_key(|s| s.0));
            for from in 0..sent.len() {
                let mut bytes = 0;
                for &(t, b) in &sent[from..] {
                    bytes += i64::from(b);
                    // One byte per microsecond; times were rounded down to it.
                    prop_assert!(bytes <= 3000 + t - sent[from].0 + 1);
                }
            }
        }
    }
}
