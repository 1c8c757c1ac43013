//! Distributes the packets of one flow over several unequal paths.

use crate::declared::Declared;
use inorder_random::Random;
use inorder_scenario::config as plain;
use inorder_sort::FlowKey;

use super::link::{Link, LinkConfig};
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// Settings of a [`Spray`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SprayConfig {
    /// The paths, each with its own queue.
    pub lanes: Vec<LinkConfig>,
    /// How a path is chosen.
    pub policy: SprayPolicy,
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
    lanes: Vec<Link>,
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
        Spray {
            lanes: config.lanes.iter().map(Link::new).collect(),
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
    fn push(&mut self, now_ns: i64, mut packet: P, out: &mut Outbox<P>) {
        let pass = self.pass(now_ns, &mut packet, out);
        out.settle(packet, pass);
    }

    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, _: &mut Outbox<P>) -> Pass {
        let lane = self.choose(now_ns, packet);
        match self.lanes.get_mut(lane) {
            Some(link) => link.carry(now_ns, packet.wire_bytes()).into(),
            None => Pass::Leaves(now_ns),
        }
    }

    fn keeps_order(&self) -> bool {
        self.lanes.len() < 2
    }
}

impl<P: Packet> Declared<P> for plain::Spray {
    type Stage = Spray;

    fn build(&self, random: Random) -> Spray {
        let lanes = self.lanes.iter().map(|lane| LinkConfig::from(&lane.link));
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

    fn lanes(delays_ms: &[i64]) -> Vec<LinkConfig> {
        let lane = |&ms: &i64| LinkConfig {
            propagation_ns: ms * MS,
            ..LinkConfig::new(1_000_000_000_000)
        };
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
