//! All features of netem in the kernel's order: duplicate, loss, corrupt, limit, delay.
//!
//! Follows sch_netem of Linux 6.12 with unlimited service below it: a packet leaves as soon as its departure time has
//! come.

use crate::declared::{Declared, length};
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use super::corrupt::Corrupt;
use super::delay::DelayDraws;
use super::link::Framing;
use super::loss::Loss;
use super::reorder::Jumps;
use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::queue::Census;
use crate::stage::{Fate, Outbox, Pass, Stage};
use crate::time::later;

/// Settings of [`Netem`].
#[derive(Clone, PartialEq, Debug)]
pub struct NetemConfig {
    /// `delay`, `distribution` and `limit`, which counts packets.
    pub delay: plain::Delay,
    /// `duplicate`.
    pub duplicate: Probability,
    /// Correlation of duplication.
    pub duplicate_correlation: Probability,
    /// `loss`.
    pub loss: plain::Loss,
    /// `corrupt`.
    pub corrupt: plain::Corrupt,
    /// `reorder`: a packet is sent at once, if it is eligible.
    pub reorder: Probability,
    /// Correlation of `reorder`.
    pub reorder_correlation: Probability,
    /// `gap`: a packet is eligible after one less delayed packets; 0: never.
    pub gap: u32,
    /// `rate`, here in bit/s (a multiple of 8, because the kernel counts bytes/s); 0 for none. Each packet is timed
    /// relative to the last one queued, so jitter causes no reordering.
    pub rate_bits_per_s: u64,
    /// The bytes that `rate` counts for a packet.
    pub framing: plain::Framing,
}

impl NetemConfig {
    /// `tc qdisc add ... netem` with only a delay.
    pub fn delay(delay: plain::Delay) -> Self {
        NetemConfig {
            delay,
            duplicate: Probability::NEVER,
            duplicate_correlation: Probability::NEVER,
            loss: plain::Loss::Uniform(plain::Uniform {
                probability: 0.0,
                correlation: 0.0,
            }),
            corrupt: plain::Corrupt {
                probability: 0.0,
                correlation: 0.0,
                discard: false,
            },
            reorder: Probability::NEVER,
            reorder_correlation: Probability::NEVER,
            gap: 0,
            rate_bits_per_s: 0,
            framing: plain::Framing::EthernetHeader,
        }
    }
}

/// netem.
#[derive(Clone, Debug)]
pub struct Netem {
    duplicate: Dice,
    loss: Loss,
    corrupt: Corrupt,
    census: Census,
    jumps: Jumps,
    draws: DelayDraws,
    bytes_per_s: u64,
    framing: Framing,
    /// Latest departure time of any packet; packets whose time is not later than now have been sent.
    last_ns: i64,
}

impl Netem {
    /// Uses one stream from `random` for each feature, so that switching one on does not change the random numbers of
    /// the others.
    pub fn new(config: &NetemConfig, random: &Random) -> Self {
        Netem {
            duplicate: Dice::new(
                config.duplicate,
                config.duplicate_correlation,
                random.fork(1),
            ),
            loss: Loss::new(&config.loss, random.fork(2)),
            corrupt: Corrupt::new(&config.corrupt, random.fork(3)),
            census: Census::new(config.delay.limit_packets.map(length)),
            jumps: Jumps::new(
                config.gap,
                Dice::new(config.reorder, config.reorder_correlation, random.fork(4)),
            ),
            draws: DelayDraws::new(&config.delay, random.fork(5)),
            bytes_per_s: config.rate_bits_per_s / 8,
            framing: config.framing.into(),
            last_ns: i64::MIN,
        }
    }

    /// Sends a single packet: a copy, or one without a copy.
    #[inline]
    fn enqueue<P: Packet>(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        if self.loss.roll() {
            return Pass::Dropped(Reason::Loss);
        }
        if !self.corrupt.damage(packet, out) {
            return Pass::Dropped(Reason::Corrupted);
        }
        if !self.census.admits(now_ns) {
            return Pass::Dropped(Reason::QueueFull);
        }
        self.time_to_send(now_ns, packet)
    }

    /// Sends a packet with a copy. The copy passes all features except duplication once more, and is queued before
    /// its original.
    fn enqueue_twice<P: Packet>(&mut self, now_ns: i64, mut packet: P, out: &mut Outbox<P>) {
        // If a packet is duplicated and lost, one of the two remains.
        let copy = (!self.loss.roll()).then(|| packet.clone());
        let whole = self.corrupt.damage(&mut packet, out);
        if whole && !self.census.admits(now_ns) {
            // The kernel also drops the copy.
            return out.drop(packet, Reason::QueueFull);
        }
        if let Some(mut copy) = copy {
            out.mark(&copy, Fate::Duplicated);
            let pass = self.enqueue(now_ns, &mut copy, out);
            out.settle(copy, pass);
        }
        let pass = match whole {
            true => self.time_to_send(now_ns, &packet),
            false => Pass::Dropped(Reason::Corrupted),
        };
        out.settle(packet, pass);
    }

    #[inline]
    fn time_to_send<P: Packet>(&mut self, now_ns: i64, packet: &P) -> Pass {
        let at_ns = if self.jumps.roll() {
            Some(now_ns)
        } else {
            let delay_ns = self.draws.draw_ns();
            match self.bytes_per_s {
                0 => later(now_ns, delay_ns),
                rate => self.paced(now_ns, delay_ns, packet.wire_bytes(), rate),
            }
        };
        let Some(at_ns) = at_ns else {
            return Pass::Dropped(Reason::NoService);
        };
        self.last_ns = self.last_ns.max(at_ns);
        self.census.add(at_ns);
        Pass::Leaves(at_ns)
    }

    /// With a rate: sending starts when the last packet is sent, and only the part of the delay that exceeds this
    /// wait is added.
    fn paced(&self, now_ns: i64, delay_ns: i64, bytes: u32, bytes_per_s: u64) -> Option<i64> {
        let frame = u128::from(self.framing.frame_bytes(bytes));
        let sending_ns = i64::try_from(frame * 1_000_000_000 / u128::from(bytes_per_s)).ok()?;
        if self.last_ns <= now_ns {
            return later(now_ns, delay_ns.checked_add(sending_ns)?);
        }
        let waited_ns = self.last_ns.checked_sub(now_ns)?;
        let left_ns = delay_ns.saturating_sub(waited_ns).max(0);
        later(self.last_ns, left_ns.checked_add(sending_ns)?)
    }
}

impl<P: Packet> Stage<P> for Netem {
    #[inline]
    fn push(&mut self, now_ns: i64, mut packet: P, out: &mut Outbox<P>) {
        if self.duplicate.roll() {
            return self.enqueue_twice(now_ns, packet, out);
        }
        let pass = self.enqueue(now_ns, &mut packet, out);
        out.settle(packet, pass);
    }

    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        match self.duplicate.is_never() {
            true => self.enqueue(now_ns, packet, out),
            false => Pass::Otherwise,
        }
    }

    fn keeps_order(&self) -> bool {
        // With a rate, departure times never decrease, unless the queue is empty after a negative delay: such a
        // packet leaves now, and later ones not before it.
        self.jumps.is_never() && (self.draws.is_constant() || self.bytes_per_s > 0)
    }
}

impl<P: Packet> Declared<P> for plain::Netem {
    type Stage = Netem;

    fn build(&self, random: Random) -> Netem {
        let p = Probability::ratio;
        let config = NetemConfig {
            delay: plain::Delay {
                delay_ns: self.delay_ns,
                jitter_ns: self.jitter_ns,
                distribution: self.distribution,
                correlation: self.correlation,
                limit_packets: Some(self.limit_packets),
            },
            duplicate: p(self.duplicate),
            duplicate_correlation: p(self.duplicate_correlation),
            loss: plain::Loss::Uniform(plain::Uniform {
                probability: self.loss,
                correlation: self.loss_correlation,
            }),
            corrupt: plain::Corrupt {
                probability: self.corrupt,
                correlation: self.corrupt_correlation,
                discard: false,
            },
            reorder: p(self.reorder),
            reorder_correlation: p(self.reorder_correlation),
            gap: self.gap,
            // A rate of 0 means no rate.
            rate_bits_per_s: self.bits_per_s.unwrap_or(0),
            framing: plain::Framing::EthernetHeader,
        };
        Netem::new(&config, &random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use inorder_scenario::config::Distribution;

    const MS: i64 = 1_000_000;

    fn run(config: &NetemConfig, n: u64, gap_ns: i64) -> (Vec<(i64, u64)>, Outbox<Probe>) {
        let mut netem = Netem::new(config, &Random::new(1, "netem"));
        let mut out = Outbox::new();
        (0..n).for_each(|n| netem.push(n as i64 * gap_ns, Probe::new(n, 1500), &mut out));
        let sent = out.take().map(|(t, p)| (t, p.number)).collect();
        (sent, out)
    }

    /// Number of packets that arrive after one sent later.
    fn reordered(mut sent: Vec<(i64, u64)>) -> usize {
        sent.sort_by_key(|&(t, _)| t);
        let mut highest = 0;
        sent.iter()
            .filter(|&&(_, n)| {
                highest = highest.max(n);
                n < highest
            })
            .count()
    }

    fn jitter() -> NetemConfig {
        NetemConfig::delay(plain::Delay::normal(10 * MS, MS))
    }

    #[test]
    fn rate_switches_reordering_off() {
        let (without, _) = run(&jitter(), 2000, 12_000);
        let rate = NetemConfig {
            rate_bits_per_s: 1_000_000_000,
            ..jitter()
        };
        let (with, _) = run(&rate, 2000, 12_000);
        assert!(reordered(without) > 1000);
        assert_eq!(reordered(with), 0);
    }

    #[test]
    fn rate_times_each_packet_from_the_last_one() {
        // 1514 bytes at 12.112 Mbit/s take 1 ms; the delay is added only once.
        let config = NetemConfig {
            rate_bits_per_s: 12_112_000,
            ..NetemConfig::delay(plain::Delay::constant(5 * MS))
        };
        let (sent, _) = run(&config, 4, 0);
        let times: Vec<i64> = sent.iter().map(|&(t, _)| t / MS).collect();
        assert_eq!(times, [6, 7, 8, 9]);
        let (sent, _) = run(&config, 3, 4 * MS);
        let times: Vec<i64> = sent.iter().map(|&(t, _)| t / MS).collect();
        assert_eq!(times, [6, 10, 14]);
    }

    #[test]
    fn the_default_limit_drops_packets_if_rate_times_delay_exceeds_it() {
        // 1 Gbit/s times 50 ms are about 4100 packets of 1500 bytes.
        let config = NetemConfig::delay(plain::Delay {
            limit_packets: Some(1000),
            ..plain::Delay::constant(50 * MS)
        });
        let (sent, out) = run(&config, 8200, 12_000);
        assert_eq!(
            out.counters().dropped_for(Reason::QueueFull),
            8200 - sent.len() as u64
        );
        assert!((1900..2100).contains(&sent.len()), "{}", sent.len());
    }

    #[test]
    fn a_copy_has_its_own_delay_and_is_queued_first() {
        let config = NetemConfig {
            duplicate: Probability::ratio(1.0),
            ..jitter()
        };
        let (sent, out) = run(&config, 1000, 0);
        assert_eq!((sent.len(), out.counters().duplicated), (2000, 1000));
        let same = sent.chunks(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(same < 20, "{same}");
    }

    #[test]
    fn loss_takes_one_of_two_copies() {
        // Half of the packets are duplicated and all are lost: of a duplicated packet the original continues.
        let config = NetemConfig {
            duplicate: Probability::ratio(0.5),
            loss: plain::Loss::Uniform(plain::Uniform {
                probability: 1.0,
                correlation: 0.0,
            }),
            ..jitter()
        };
        let (sent, out) = run(&config, 10_000, 0);
        assert_eq!(
            out.counters().dropped_for(Reason::Loss),
            10_000 - sent.len() as u64
        );
        assert!((4_800..5_200).contains(&sent.len()), "{}", sent.len());
        assert_eq!(out.counters().duplicated, 0);
    }

    #[test]
    fn packets_that_skip_the_delay_leave_at_once() {
        let config = NetemConfig {
            reorder: Probability::ratio(1.0),
            gap: 4,
            ..NetemConfig::delay(plain::Delay::constant(9))
        };
        let (sent, _) = run(&config, 8, 0);
        assert_eq!(
            sent.iter().map(|s| s.0).collect::<Vec<_>>(),
            [9, 9, 9, 0, 9, 9, 9, 0]
        );
    }

    #[test]
    fn switching_loss_on_leaves_the_delays_of_the_others_as_they_were() {
        let lossy = NetemConfig {
            loss: plain::Loss::GilbertElliott(plain::GilbertElliott {
                to_bad: 0.1,
                to_good: None,
                loss_in_bad: 1.0,
                loss_in_good: 0.0,
            }),
            ..jitter()
        };
        let (all, _) = run(&jitter(), 100, 0);
        let (some, _) = run(&lossy, 100, 0);
        // Lost packets use no random delay, so the sequence of delays is the same, but shifted.
        let times = |v: &[(i64, u64)]| v.iter().map(|x| x.0).collect::<Vec<_>>();
        assert_eq!(times(&all)[..some.len()], times(&some));
    }

    #[test]
    fn a_paced_queue_never_goes_back_in_time() {
        let config = NetemConfig {
            rate_bits_per_s: 100_000_000,
            delay: plain::Delay {
                distribution: Distribution::Uniform,
                ..plain::Delay::normal(MS, 5 * MS)
            },
            ..jitter()
        };
        for gap_ns in [0, 50_000, 130_000, 10 * MS] {
            assert!(run(&config, 3000, gap_ns).0.is_sorted(), "{gap_ns}");
        }
    }
}
