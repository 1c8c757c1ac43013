//! Drawn paths.

use inorder_base::random::Random;

/// Bytes of a full packet.
const PACKET_BYTES: f64 = 1500.0;

/// A path with one thing that reorders.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// Rate of the bottleneck, bit/s.
    pub(super) rate: f64,
    /// Round-trip time without queues, seconds.
    pub(super) rtt: f64,
    what: What,
}

/// What reorders, with times in nanoseconds.
#[derive(Debug, Clone)]
enum What {
    /// A share of the packets is late.
    Late {
        share: f64,
        by: i64,
    },
    Jitter {
        of: &'static str,
        by: i64,
    },
    /// Packets take one of two lanes at random or in turn.
    Lanes {
        policy: &'static str,
        apart: i64,
    },
    /// Blocks of a radio link that fail are sent again 8 ms later.
    Radio {
        error: f64,
    },
}

impl Path {
    pub(super) fn drawn(random: &mut Random) -> Self {
        let rate = between(random, 10e6, 100e6).round();
        let rtt = between(random, 0.010, 0.080);
        let ns =
            |random: &mut Random, low: f64, high: f64| (between(random, low, high) * 1e9) as i64;
        let what = match random.below(4) {
            0 => What::Late {
                share: between(random, 0.0005, 0.1),
                by: ns(random, 100e-6, 40e-3),
            },
            1 => What::Jitter {
                of: ["normal", "uniform", "pareto"][random.below(3) as usize],
                by: ns(random, 20e-6, 5e-3),
            },
            2 => What::Lanes {
                policy: ["random", "round-robin"][random.below(2) as usize],
                apart: ns(random, 50e-6, 10e-3),
            },
            _ => What::Radio {
                error: between(random, 0.002, 0.2),
            },
        };
        Self { rate, rtt, what }
    }

    /// Packets that fill the path.
    pub(super) fn bdp_packets(&self) -> f64 {
        self.rate * self.rtt / (8.0 * PACKET_BYTES)
    }

    /// Overrides of a transfer without reordering.
    pub(super) fn in_order(&self) -> Vec<String> {
        let mean = match &self.what {
            What::Late { .. } => 0,
            What::Jitter { by, .. } => middle(*by),
            What::Lanes { apart, .. } => apart / 2,
            What::Radio { .. } => 1_000_000,
        };
        self.transfer(&format!("{{ kind = \"delay\", delay = \"{mean} ns\" }}"))
    }

    /// Overrides of a transfer with reordering.
    pub(super) fn reordering(&self) -> Vec<String> {
        self.transfer(&self.stage())
    }

    /// Overrides of the probes.
    pub(super) fn probing(&self) -> Vec<String> {
        vec![
            format!("probe.rate={:.0} bit/s", 0.9 * self.rate),
            self.forward(&self.stage()),
        ]
    }

    fn transfer(&self, stage: &str) -> Vec<String> {
        let buffer = (2.0 * self.bdp_packets() * PACKET_BYTES).max(64_000.0);
        let half_ns = (self.rtt / 2.0 * 1e9) as i64;
        vec![
            self.forward(stage),
            format!("reverse.back.delay={half_ns} ns"),
            format!("flow.receiver.receive_buffer={buffer:.0} B"),
        ]
    }

    /// The bottleneck, half of the round trip, and a stage behind them.
    fn forward(&self, stage: &str) -> String {
        let half_ns = (self.rtt / 2.0 * 1e9) as i64;
        format!(
            "forward=[{{ kind = \"link\", rate = \"{:.0} bit/s\", delay = \"{half_ns} ns\", queue = \"4000 packets\" }}, {stage}]",
            self.rate
        )
    }

    fn stage(&self) -> String {
        match &self.what {
            What::Late { share, by } => {
                format!("{{ kind = \"late\", probability = {share:.6}, delay = \"{by} ns\" }}")
            }
            What::Jitter { of, by } => {
                let delay = middle(*by);
                format!(
                    "{{ kind = \"delay\", delay = \"{delay} ns\", jitter = \"{by} ns\", distribution = \"{of}\" }}"
                )
            }
            What::Lanes { policy, apart } => format!(
                "{{ kind = \"spray\", policy = \"{policy}\", lane = [{{ rate = \"10 Gbit/s\" }}, {{ rate = \"10 Gbit/s\", delay = \"{apart} ns\" }}] }}"
            ),
            What::Radio { error } => {
                let error = format!("{error:.6}");
                format!(
                    "{{ kind = \"radio\", block_error = {error}, block_error_again = {error} }}"
                )
            }
        }
    }
}

/// Mean delay of a jitter: large enough that hardly any delay would be negative.
fn middle(jitter_ns: i64) -> i64 {
    4 * jitter_ns
}

/// Evenly distributed in its logarithm.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * libm::exp(random.unit() * libm::log(high / low))
}
