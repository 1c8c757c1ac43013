//! Distributes the packets of one flow over several unequal paths.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, Policy};
use inorder_sort::FlowKey;

use super::delay::DelayDraws;
use super::link::Link;
use crate::chance::Dice;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// A path in use.
#[derive(Clone, Debug)]
struct Lane {
    link: Link,
    propagation_ns: i64,
    jitter: DelayDraws,
    loss: Dice,
}

impl Lane {
    fn new(lane: &plain::Lane, random: &Random) -> Self {
        let jitter = plain::Delay::normal(0, lane.jitter_ns);
        Lane {
            link: Link::new(&lane.link),
            propagation_ns: lane.link.delay_ns.max(0),
            jitter: DelayDraws::new(&jitter, random.fork(0)),
            loss: Dice::of_shares(lane.loss, 0.0, random.fork(1)),
        }
    }

    /// A packet leaves it at this time, or is lost. Jitter takes away the propagation
    /// delay at most.
    fn carry(&mut self, now_ns: i64, bytes: u32) -> Result<i64, Reason> {
        let at_ns = self.link.carry(now_ns, bytes)?;
        if self.loss.roll() {
            return Err(Reason::Loss);
        }
        let jitter_ns = self.jitter.draw_ns().max(-self.propagation_ns);
        at_ns.checked_add(jitter_ns).ok_or(Reason::NoService)
    }

    fn keeps_order(&self) -> bool {
        self.jitter.is_constant()
    }
}

/// Number of hash bits that distinguish flows, as in switches' flowlet tables.
const FLOWLET_BITS: u32 = 10;

/// The path of a flow, or of all flows with the same table entry.
#[derive(Clone, Copy, Default, Debug)]
struct Flowlet {
    lane: usize,
    last_ns: i64,
    used: bool,
}

/// Sprays packets over paths.
///
/// One path for each flow keeps the order (ECMP, RFC 2992). Flowlets are chosen again at random after a pause (FLARE:
/// Kandula, Katabi, Sinha, Berger, "Dynamic Load Balancing Without Packet Reordering", 2007); they keep it if the pause is
/// longer than the difference of the paths' delays.
#[derive(Clone, Debug)]
pub struct Spray {
    lanes: Vec<Lane>,
    policy: Policy,
    flowlet_gap_ns: i64,
    random: Random,
    next: usize,
    flowlets: Vec<Flowlet>,
    seed: u64,
}

impl Spray {
    /// `random` is the stream of this stage. Without any path packets pass at once.
    pub fn new(config: &plain::Spray, mut random: Random) -> Self {
        let flowlets = match config.policy {
            Policy::Flowlet => 1 << FLOWLET_BITS,
            _ => 0,
        };
        let lanes = (0..).zip(&config.lanes);
        let lanes = lanes.map(|(number, lane)| Lane::new(lane, &random.fork(number)));
        Spray {
            lanes: lanes.collect(),
            policy: config.policy,
            flowlet_gap_ns: config.flowlet_gap_ns,
            seed: random.next_u64(),
            random,
            next: 0,
            flowlets: vec![Flowlet::default(); flowlets],
        }
    }

    #[inline]
    fn choose<P: Packet>(&mut self, now_ns: i64, packet: &P) -> usize {
        let lanes = self.lanes.len() as u64;
        match self.policy {
            Policy::Random => self.random.below(lanes) as usize,
            Policy::RoundRobin => {
                let lane = self.next;
                self.next = (lane + 1) % self.lanes.len().max(1);
                lane
            }
            Policy::Flow => (packet.flow().hash64(self.seed) % lanes.max(1)) as usize,
            Policy::Flowlet => {
                let place = packet.flow().hash64(self.seed) >> (64 - FLOWLET_BITS);
                let Some(flowlet) = self.flowlets.get_mut(place as usize) else {
                    return 0;
                };
                let paused = now_ns.saturating_sub(flowlet.last_ns) > self.flowlet_gap_ns;
                if paused || !flowlet.used {
                    flowlet.lane = self.random.below(lanes) as usize;
                }
                flowlet.last_ns = now_ns;
                flowlet.used = true;
                flowlet.lane
            }
        }
    }
}

impl<P: Packet> Stage<P> for Spray {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, _: &mut Outbox<P>) -> Pass {
        let lane = self.choose(now_ns, packet);
        match self.lanes.get_mut(lane) {
            Some(lane) => lane.carry(now_ns, packet.wire_bytes()).into(),
            None => Pass::Leaves(now_ns),
        }
    }

    fn keeps_order(&self) -> bool {
        self.lanes.len() < 2 && self.lanes.iter().all(Lane::keeps_order)
    }
}

impl<P: Packet> Declared<P> for plain::Spray {
    type Stage = Spray;

    fn build(&self, random: Random) -> Spray {
        Spray::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    const MS: i64 = 1_000_000;

    fn lane(delay_ms: i64) -> plain::Lane {
        let link = plain::Line {
            delay_ns: delay_ms * MS,
            ..plain::Line::new(1_000_000_000_000)
        };
        plain::Lane {
            link,
            jitter_ns: 0,
            loss: 0.0,
        }
    }

    fn spray(policy: Policy, lanes: Vec<plain::Lane>) -> Spray {
        let config = plain::Spray {
            policy,
            flowlet_gap_ns: 5 * MS,
            lanes,
        };
        Spray::new(&config, Random::new(1, "spray"))
    }

    /// Delays in milliseconds of packets of flow `n % flows` sent every `gap_ns`.
    fn delays(policy: Policy, flows: u32, n: u32, gap_ns: i64) -> Vec<i64> {
        let mut spray = spray(policy, [10, 20, 40].map(lane).into());
        let mut out = Outbox::new();
        let mut delays = Vec::new();
        for i in 0..n {
            let now = i64::from(i) * gap_ns;
            spray.push(now, Probe::of_flow(i % flows, u64::from(i), 1000), &mut out);
            delays.extend(out.take().map(|(t, _)| (t - now) / MS));
        }
        delays
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(delays(Policy::RoundRobin, 1, 5, MS), [10, 20, 40, 10, 20]);
    }

    #[test]
    fn random_choice_is_uniform() {
        let delays = delays(Policy::Random, 1, 30_000, MS);
        for lane in [10, 20, 40] {
            let share = delays.iter().filter(|&&d| d == lane).count();
            assert!((9_700..10_300).contains(&share), "{lane}: {share}");
        }
    }

    #[test]
    fn a_lane_may_jitter_and_lose() {
        let lossy = plain::Lane {
            jitter_ns: MS,
            loss: 0.1,
            ..lane(20)
        };
        let mut spray = spray(Policy::RoundRobin, vec![lossy]);
        assert!(!Stage::<Probe>::keeps_order(&spray));
        let mut out = Outbox::new();
        let mut delays_ns = Vec::new();
        for i in 0..10_000u32 {
            let now_ns = i64::from(i) * 10 * MS;
            spray.push(now_ns, Probe::new(u64::from(i), 1000), &mut out);
            delays_ns.extend(out.take().map(|(at_ns, _)| at_ns - now_ns));
        }
        assert!((8_900..9_100).contains(&delays_ns.len()));
        let mean_ns = delays_ns.iter().sum::<i64>() / delays_ns.len() as i64;
        assert!((mean_ns - 20 * MS).abs() < MS / 20, "{mean_ns}");
        assert!(delays_ns.iter().any(|&ns| ns < 18 * MS));
    }

    #[test]
    fn a_flow_stays_on_its_path() {
        let delays = delays(Policy::Flow, 8, 80, MS);
        assert!((0..72).all(|i| delays[i] == delays[i + 8]));
        assert!(delays.iter().any(|d| d != &delays[0]));
    }

    #[test]
    fn a_flowlet_stays_until_it_pauses() {
        let steady = delays(Policy::Flowlet, 1, 200, 5 * MS);
        assert!(steady.iter().all(|d| d == &steady[0]));
        let pausing = delays(Policy::Flowlet, 1, 200, 5 * MS + 1);
        assert!([10, 20, 40].iter().all(|d| pausing.contains(d)));
    }
}
