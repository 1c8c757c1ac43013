//! Bursts of late packets, as caused by LTE's retransmissions.
//!
//! Schulte and others, "I'll be a bit late: Packet Reordering in Mobile Networks" (section V-B),
//! found "that a lot of reordering happens in bursts,
//! where a chunk of packets arrive late" and "transmitted shortly after one another", with
//! reordering delays that level off around 30 ms and grow again around 50 ms. That is what the
//! radio link's two layers of retransmission do when nothing puts packets in order after them:
//! data travels in transport blocks, one each TTI of 1 ms (3GPP TS 36.321); a block that fails is
//! sent again 8 ms later (HARQ, FDD), a few times at most; then RLC asks for it again (TS 36.322),
//! which takes longer. RLC can also release in order: then nothing is reordered, and everything
//! behind a failed block comes in one lump.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::Probability;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};

/// Sends packets in blocks, some of which need several transmissions.
#[derive(Clone, Debug)]
pub struct Radio {
    config: plain::Radio,
    block_error: Probability,
    block_error_again: Probability,
    retransmission_error: Probability,
    random: Random,
    /// The block being filled.
    block: Option<Block>,
    failed_before: bool,
    released_ns: i64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// End of its TTI; it contains packets up to then.
    end_ns: i64,
    /// Additional delay by retransmissions; `None` if the block was given up.
    extra_ns: Option<i64>,
}

impl Radio {
    /// `random` is the stream of this stage.
    pub fn new(config: &plain::Radio, random: Random) -> Self {
        Radio {
            block_error: Probability::ratio(config.block_error),
            block_error_again: Probability::ratio(config.block_error_again),
            retransmission_error: Probability::ratio(config.retransmission_error),
            config: config.clone(),
            random,
            block: None,
            failed_before: false,
            released_ns: i64::MIN,
        }
    }

    #[inline]
    fn block_of(&mut self, now_ns: i64) -> Block {
        let end_ns = match self.config.tti_ns {
            ..=0 => now_ns,
            tti => end_of_interval(now_ns, tti),
        };
        match self.block {
            Some(block) if block.end_ns == end_ns && self.config.tti_ns > 0 => block,
            _ => {
                let block = Block {
                    end_ns,
                    extra_ns: self.transmit(),
                };
                self.block = Some(block);
                block
            }
        }
    }

    /// The additional delay of a block by retransmissions.
    fn transmit(&mut self) -> Option<i64> {
        let error = match self.failed_before {
            true => self.block_error_again,
            false => self.block_error,
        };
        self.failed_before = error.hits(self.random.next_u32());
        if !self.failed_before {
            return Some(0);
        }
        let harq_ns = self.config.harq_rtt_ns.max(0);
        for attempt in 1..=self.config.harq_retransmissions {
            if !self.retransmission_error.hits(self.random.next_u32()) {
                return Some(harq_ns.saturating_mul(attempt.into()));
            }
        }
        let all_ns = harq_ns.saturating_mul(self.config.harq_retransmissions.into());
        self.config
            .rlc_delay_ns
            .map(|ns| all_ns.saturating_add(ns.max(0)))
    }
}

/// The end of the interval of `tti_ns` that contains `now_ns`; intervals begin at time 0.
fn end_of_interval(now_ns: i64, tti_ns: i64) -> i64 {
    let into_ns = now_ns.rem_euclid(tti_ns);
    match into_ns {
        0 => now_ns,
        _ => now_ns.saturating_add(tti_ns - into_ns),
    }
}

impl<P: Packet> Stage<P> for Radio {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        let block = self.block_of(now_ns);
        let Some(extra_ns) = block.extra_ns else {
            return Pass::Dropped(Reason::RadioFailure);
        };
        let Some(mut at_ns) = block.end_ns.checked_add(extra_ns) else {
            return Pass::Dropped(Reason::NoService);
        };
        if self.config.in_order {
            at_ns = at_ns.max(self.released_ns);
            self.released_ns = at_ns;
        } else if extra_ns > 0 {
            out.mark(packet, Fate::HeldBack(Some(extra_ns)));
        }
        Pass::Leaves(at_ns)
    }

    fn keeps_order(&self) -> bool {
        self.config.in_order
    }
}

impl<P: Packet> Declared<P> for plain::Radio {
    type Stage = Radio;

    fn build(&self, random: Random) -> Radio {
        Radio::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    const MS: i64 = 1_000_000;

    /// LTE FDD with the usual target of one failed block in ten, without reordering by RLC.
    const LTE: plain::Radio = plain::Radio {
        tti_ns: MS,
        block_error: 0.1,
        block_error_again: 0.1,
        retransmission_error: 0.1,
        harq_rtt_ns: 8 * MS,
        harq_retransmissions: 4,
        rlc_delay_ns: Some(20 * MS),
        in_order: false,
    };

    /// Times sent and received in milliseconds, for packets every 0.2 ms from 0.1 ms on.
    fn run(config: &plain::Radio, n: u64) -> (Vec<(f64, f64)>, Outbox<Probe>) {
        let mut radio = Radio::new(config, Random::new(1, "radio"));
        let mut out = Outbox::new();
        for n in 0..n {
            radio.push(n as i64 * MS / 5 + MS / 10, Probe::new(n, 1500), &mut out);
        }
        let ms = |ns: i64| ns as f64 / 1e6;
        let times = out
            .take()
            .map(|(t, p)| (0.1 + 0.2 * p.number as f64, ms(t)));
        (times.collect(), out)
    }

    #[test]
    fn packets_of_a_tti_arrive_together_by_a_multiple_of_8_ms() {
        let (times, out) = run(&LTE, 50_000);
        for block in times.chunks(5) {
            assert!(block.iter().all(|(_, received)| received == &block[0].1));
            let late = block[0].1 - block[4].0.ceil();
            assert!(
                [0.0, 8.0, 16.0, 24.0, 32.0, 52.0].contains(&late.round()),
                "{late}"
            );
        }
        let held = out.counters().held_back;
        assert!((4_500..5_500).contains(&held), "{held}");
    }

    #[test]
    fn in_order_delivery_causes_bursts_and_no_reordering() {
        let config = plain::Radio {
            in_order: true,
            ..LTE
        };
        let (times, _) = run(&config, 50_000);
        assert!(times.is_sorted_by_key(|t| t.1));
        // The eight blocks after a block that is 8 ms late wait for it.
        let lumps = times
            .chunk_by(|a, b| a.1 == b.1)
            .filter(|lump| lump.len() == 45);
        assert!(lumps.count() > 100);
    }

    #[test]
    fn failures_come_in_runs() {
        let fading = plain::Radio {
            block_error: 0.01,
            block_error_again: 0.8,
            retransmission_error: 0.0,
            ..LTE
        };
        let (times, _) = run(&fading, 500_000);
        let late: Vec<bool> = times.chunks(5).map(|b| b[0].1 - b[0].0 > 8.0).collect();
        let lengths: Vec<usize> = late
            .chunk_by(|a, b| a == b)
            .filter(|c| c[0])
            .map(<[_]>::len)
            .collect();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
        assert!((mean - 5.0).abs() < 0.4, "{mean}"); // 1 / (1 - 0.8)
    }

    #[test]
    fn a_block_may_be_given_up() {
        let config = plain::Radio {
            block_error: 1.0,
            block_error_again: 1.0,
            retransmission_error: 1.0,
            rlc_delay_ns: None,
            ..LTE
        };
        let (times, out) = run(&config, 100);
        assert!(times.is_empty());
        assert_eq!(out.counters().dropped_for(Reason::RadioFailure), 100);
    }
}
