//! Distributes the packets of one flow over several unequal paths.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;
use inorder_sort::FlowKey;

use super::delay::{DelayConfig, DelayDraws};
use super::link::{Link, LinkConfig};
use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// Settings of a [`Spray`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SprayConfig {
    /// The paths, each with its own queue.
    pub lanes: Vec<LaneConfig>,
    /// How a path is chosen.
    pub policy: SprayPolicy,
}

/// One of the paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneConfig {
    /// Its rate, delay and queue.
    pub link: LinkConfig,
    /// Standard deviation of a normal jitter behind the link, nanoseconds.
    pub jitter_ns: i64,
    /// A packet is lost behind the link.
    pub loss: Probability,
}

impl From<LinkConfig> for LaneConfig {
    /// Neither jitter nor loss.
    fn from(link: LinkConfig) -> Self {
        LaneConfig {
            link,
            jitter_ns: 0,
            loss: Probability::NEVER,
        }
    }
}

/// A path in use.
#[derive(Clone, Debug)]
struct Lane {
    link: Link,
    propagation_ns: i64,
    jitter: DelayDraws,
    loss: Dice,
}

impl Lane {
    fn new(config: &LaneConfig, random: &Random) -> Self {
        let jitter = DelayConfig::normal(0, config.jitter_ns);
        Lane {
            link: Link::new(&config.link),
            propagation_ns: config.link.propagation_ns.max(0),
            jitter: DelayDraws::new(&jitter, random.fork(0)),
            loss: Dice::new(config.loss, Probability::NEVER, random.fork(1)),
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

/// How a path is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SprayPolicy {
    /// A random path for each packet, with equal probabilities.
    Random,
    /// Round robin.
    RoundRobin,
    /// One path per flow: no reordering (ECMP, RFC 2992).
    Flow,
    /// One path per flow, chosen again at random after a pause of the flow (FLARE: Kandula, Katabi, Sinha, Berger,
    /// "Dynamic Load Balancing Without Packet Reordering", 2007). The order is kept if the pause is longer than the
    /// difference of the paths' delays.
    Flowlet {
        /// The pause, nanoseconds.
        gap_ns: i64,
    },
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
#[derive(Clone, Debug)]
pub struct Spray {
    lanes: Vec<Lane>,
    policy: SprayPolicy,
    random: Random,
    next: usize,
    flowlets: Vec<Flowlet>,
    seed: u64,
}

impl Spray {
    /// `random` is the stream of this stage. Without any path packets pass at once.
    pub fn new(config: &SprayConfig, mut random: Random) -> Self {
        let flowlets = match config.policy {
            SprayPolicy::Flowlet { .. } => 1 << FLOWLET_BITS,
            _ => 0,
        };
        let lanes = (0..).zip(&config.lanes);
        let lanes = lanes.map(|(number, lane)| Lane::new(lane, &random.fork(number)));
        Spray {
            lanes: lanes.collect(),
            policy: config.policy,
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
            SprayPolicy::Random => self.random.below(lanes) as usize,
            SprayPolicy::RoundRobin => {
                let lane = self.next;
                self.next = (lane + 1) % self.lanes.len().max(1);
                lane
            }
            SprayPolicy::Flow => (packet.flow().hash64(self.seed) % lanes.max(1)) as usize,
            SprayPolicy::Flowlet { gap_ns } => {
                let place = packet.flow().hash64(self.seed) >> (64 - FLOWLET_BITS);
                let Some(flowlet) = self.flowlets.get_mut(place as usize) else {
                    return 0;
                };
                let paused = now_ns.saturating_sub(flowlet.last_ns) > gap_ns;
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
        let lanes = self.lanes.iter().map(|lane| LaneConfig {
            link: LinkConfig::from(&lane.link),
            jitter_ns: lane.jitter_ns,
            loss: Probability::ratio(lane.loss),
        });
        let config = SprayConfig {
            lanes: lanes.collect(),
            policy: match self.policy {
                plain::Policy::Random => SprayPolicy::Random,
                plain::Policy::RoundRobin => SprayPolicy::RoundRobin,
                plain::Policy::Flow => SprayPolicy::Flow,
                plain::Policy::Flowlet => SprayPolicy::Flowlet {
                    gap_ns: self.flowlet_gap_ns,
                },
            },
        };
        Spray::new(&config, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    const MS: i64 = 1_000_000;

    fn lanes(delays_ms: &[i64]) -> Vec<LaneConfig> {
        let link = |ms: i64| LinkConfig {
            propagation_ns: ms * MS,
            ..LinkConfig::new(1_000_000_000_000)
        };
        let lane = |&ms: &i64| LaneConfig::from(link(ms));
        delays_ms.iter().map(lane).collect()
    }

    /// Delays in milliseconds of packets of flow `n % flows` sent every `gap_ns`.
    fn delays(policy: SprayPolicy, flows: u32, n: u32, gap_ns: i64) -> Vec<i64> {
        let lanes = lanes(&[10, 20, 40]);
        let mut spray = Spray::new(&SprayConfig { lanes, policy }, Random::new(1, "spray"));
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
        assert_eq!(
            delays(SprayPolicy::RoundRobin, 1, 5, MS),
            [10, 20, 40, 10, 20]
        );
    }

    #[test]
    fn random_choice_is_uniform() {
        let delays = delays(SprayPolicy::Random, 1, 30_000, MS);
        for lane in [10, 20, 40] {
            let share = delays.iter().filter(|&&d| d == lane).count();
            assert!((9_700..10_300).contains(&share), "{lane}: {share}");
        }
    }

    #[test]
    fn a_lane_may_jitter_and_lose() {
        let lane = LaneConfig {
            jitter_ns: MS,
            loss: Probability::percent(10.0),
            ..LaneConfig::from(LinkConfig {
                propagation_ns: 20 * MS,
                ..LinkConfig::new(1_000_000_000_000)
            })
        };
        let lanes = vec![lane];
        let policy = SprayPolicy::RoundRobin;
        let mut spray = Spray::new(&SprayConfig { lanes, policy }, Random::new(1, "spray"));
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
        let delays = delays(SprayPolicy::Flow, 8, 80, MS);
        assert!((0..72).all(|i| delays[i] == delays[i + 8]));
        assert!(delays.iter().any(|d| d != &delays[0]));
    }

    #[test]
    fn a_flowlet_stays_until_it_pauses() {
        let policy = SprayPolicy::Flowlet { gap_ns: 5 * MS };
        let steady = delays(policy, 1, 200, 5 * MS);
        assert!(steady.iter().all(|d| d == &steady[0]));
        let pausing = delays(policy, 1, 200, 5 * MS + 1);
        assert!([10, 20, 40].iter().all(|d| pausing.contains(d)));
    }
}
