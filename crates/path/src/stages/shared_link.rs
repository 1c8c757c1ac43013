//! A link shared with cross traffic.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, OnOff, Pattern};

use super::link::Link;
use crate::busy::BusyLog;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// After a long time without packets, cross traffic is simulated only from this long before now, or for this many
/// packets: earlier packets have left the queue, or the queue is full anyway.
const LOOK_BACK_NS: i64 = 10_000_000_000;
const LOOK_BACK_PACKETS: f64 = 1e6;

/// A source of cross traffic. Many sources that alternate between a constant rate and silence, both with Pareto-distributed
/// durations, are self-similar together (Willinger, Taqqu, Sherman, Wilson, "Self-similarity through high-variability", 1997).
#[derive(Clone, Debug)]
struct Source {
    pattern: Pattern,
    packet_bytes: u32,
    /// Mean interval between packets, nanoseconds.
    gap_ns: f64,
    random: Random,
    next_ns: i64,
    /// End of the current burst of an on-off source.
    on_until_ns: i64,
}

impl Source {
    fn new(config: &plain::CrossSource, random: Random) -> Self {
        let bits = f64::from(config.packet_bytes) * 8.0;
        let mut source = Source {
            gap_ns: (bits * 1e9 / config.bits_per_s as f64).max(1.0),
            pattern: config.pattern.clone(),
            packet_bytes: config.packet_bytes,
            random,
            next_ns: 0,
            on_until_ns: 0,
        };
        source.begin(0);
        source
    }

    /// Skips packets sent too long ago to matter.
    fn skip(&mut self, now_ns: i64) {
        let packets_ns = (self.gap_ns * LOOK_BACK_PACKETS) as i64;
        let from_ns = now_ns.saturating_sub(packets_ns.min(LOOK_BACK_NS));
        if self.next_ns < from_ns {
            self.begin(from_ns);
        }
    }

    /// Starts sending in a random phase.
    fn begin(&mut self, now_ns: i64) {
        self.on_until_ns = now_ns;
        self.next_ns = after(now_ns, self.gap_ns * self.random.unit());
    }

    /// The packet that was due has been sent: sets the time of the next one.
    fn step(&mut self) {
        let gap_ns = match self.pattern {
            Pattern::Poisson => self.gap_ns * self.random.exponential(),
            Pattern::Constant | Pattern::OnOff(_) => self.gap_ns,
        };
        // The time must increase, at any rate.
        let next_ns = after(self.next_ns, gap_ns).max(self.next_ns.saturating_add(1));
        self.next_ns = match self.pattern {
            Pattern::OnOff(OnOff {
                on_ns,
                off_ns,
                shape,
            }) if next_ns > self.on_until_ns => {
                let start_ns = self.on_until_ns.max(self.next_ns);
                let off_ns = self.pareto(off_ns, shape);
                let resumed_ns = after(start_ns, off_ns).max(next_ns);
                self.on_until_ns = after(resumed_ns, self.pareto(on_ns, shape));
                resumed_ns
            }
            _ => next_ns,
        };
    }

    /// A Pareto variate with this mean; its minimum is (shape - 1) / shape times the mean.
    fn pareto(&mut self, mean_ns: i64, shape: f64) -> f64 {
        let shape = if shape > 1.0 { shape } else { 1.000_001 };
        let least = mean_ns as f64 * (shape - 1.0) / shape;
        least / libm::pow(1.0 - self.random.unit(), 1.0 / shape)
    }
}

/// The cast saturates; a negative time counts as 0.
fn after(now_ns: i64, wait_ns: f64) -> i64 {
    now_ns.saturating_add(wait_ns.max(0.0) as i64)
}

/// A shared link with its queue. Packets of cross traffic leave at its end.
#[derive(Clone, Debug)]
pub struct SharedLink {
    link: Link,
    sources: Vec<Source>,
    /// Packets of cross traffic sent, and dropped.
    carried: (u64, u64),
}

impl SharedLink {
    /// When it is busy, cross traffic included.
    pub(crate) fn log(&mut self) -> &mut BusyLog {
        self.link.log()
    }

    /// Each source uses a stream of its own from `random`.
    pub fn new(config: &plain::SharedLink, random: &Random) -> Self {
        let sends = |source: &&plain::CrossSource| source.bits_per_s > 0 && source.packet_bytes > 0;
        let streams = (0..).map(|number| random.fork(number));
        let sources = config.cross.iter().filter(sends).zip(streams);
        SharedLink {
            link: Link::new(&config.link),
            sources: sources
                .map(|(source, random)| Source::new(source, random))
                .collect(),
            carried: (0, 0),
        }
    }

    /// Sends all cross traffic that is due by `now_ns`, in order of time.
    fn catch_up(&mut self, now_ns: i64) {
        self.sources
            .iter_mut()
            .for_each(|source| source.skip(now_ns));
        while let Some(source) = self.sources.iter_mut().min_by_key(|s| s.next_ns)
            && source.next_ns <= now_ns
            && source.next_ns < i64::MAX
        {
            let (at_ns, bytes) = (source.next_ns, source.packet_bytes);
            source.step();
            match self.link.carry(at_ns, bytes) {
                Ok(_) => self.carried.0 += 1,
                Err(_) => self.carried.1 += 1,
            }
        }
    }
}

impl<P: Packet> Stage<P> for SharedLink {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        self.catch_up(now_ns);
        self.link.pass(now_ns, packet, out)
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::SharedLink {
    type Stage = SharedLink;

    fn build(&self, random: Random) -> SharedLink {
        SharedLink::new(self, &random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use inorder_scenario::config::{Framing, QueueLimit};

    const S: i64 = 1_000_000_000;

    fn shared(pattern: Pattern, bits_per_s: u64) -> SharedLink {
        let config = plain::SharedLink {
            link: plain::Line {
                framing: Framing::None,
                buffer: QueueLimit::Packets(100).into(),
                ..plain::Line::new(100_000_000)
            },
            cross: vec![plain::CrossSource {
                pattern,
                bits_per_s,
                packet_bytes: 1000,
            }],
        };
        SharedLink::new(&config, &Random::new(1, "cross"))
    }

    /// Mean waiting time of 100-byte probes sent every millisecond for `seconds`, microseconds. Sending a probe takes
    /// 8 us.
    fn mean_wait_us(link: &mut SharedLink, seconds: u64) -> f64 {
        let mut out = Outbox::new();
        let probes = seconds * 1000;
        let mut sum = 0;
        for n in 0..probes {
            let now = n as i64 * 1_000_000;
            link.push(now, Probe::new(n, 100), &mut out);
            sum += out.take().map(|(t, _)| t - now - 8_000).sum::<i64>();
        }
        sum as f64 / probes as f64 / 1000.0
    }

    #[test]
    fn poisson_traffic_gives_an_m_d_1_queue() {
        // Pollaczek-Khinchine: rho / (1 - rho) * service / 2, service 80 us; at rho 0.5, 40 us.
        // (The probes themselves add 0.8 % to the load.)
        let mut link = shared(Pattern::Poisson, 50_000_000);
        let wait = mean_wait_us(&mut link, 20);
        assert!((wait - 40.5).abs() < 3.0, "{wait}");
        let (carried, dropped) = link.carried;
        assert!((124_000..126_000).contains(&carried), "{carried}");
        assert_eq!(dropped, 0);
    }

    #[test]
    fn constant_traffic_leaves_the_remaining_rate() {
        // A packet every 160 us takes 80 us: half of the probes wait, 40 us on average, so the mean is 20 us, or less
        // depending on the phases of 1 ms and 160 us; never more than 80 us.
        let mut link = shared(Pattern::Constant, 50_000_000);
        let wait = mean_wait_us(&mut link, 2);
        assert!((10.0..30.0).contains(&wait), "{wait}");
    }

    #[test]
    fn on_off_sources_send_in_the_share_of_time_they_are_on() {
        let pattern = Pattern::OnOff(OnOff {
            on_ns: S / 100,
            off_ns: S / 50,
            shape: 1.9,
        });
        let mut link = shared(pattern, 90_000_000);
        mean_wait_us(&mut link, 60);
        let sent = link.carried.0 as f64 / (60.0 * 11_250.0);
        assert!((sent - 1.0 / 3.0).abs() < 0.05, "{sent}");
    }

    #[test]
    fn excess_traffic_is_dropped() {
        let mut link = shared(Pattern::Constant, 200_000_000);
        mean_wait_us(&mut link, 1);
        let (carried, dropped) = link.carried;
        assert!(
            (carried as f64 / dropped as f64 - 1.0).abs() < 0.05,
            "{carried} {dropped}"
        );
    }

    #[test]
    fn a_long_silence_is_skipped() {
        let mut link = shared(Pattern::Poisson, u64::MAX);
        let mut out = Outbox::new();
        let mut slow = shared(Pattern::Constant, 1_000);
        for t in [0, i64::MAX / 2, i64::MAX] {
            slow.push(t, Probe::new(0, 100), &mut out);
        }
        link.push(3, Probe::new(0, 100), &mut out);
        assert!(slow.carried.0 < 100);
    }
}
