//! Stages and cards.

use inorder_path::{
    AnyStage, Batch, BatchConfig, Charge, Coalesce, Corrupt, CorruptConfig, CrossTraffic, Delay,
    DelayConfig, Distribution, Duplicate, DuplicateConfig, Framing, GilbertElliott, Late,
    LateConfig, Limit, Link, LinkConfig, Loss, LossConfig, Markov, MergeConfig, Netem, NetemConfig,
    Nic, NicConfig, Path, Pattern, PeriodicConfig, PeriodicReorder, Probability, Radio,
    RadioConfig, Rate, Reorder, ReorderConfig, SharedLink, SharedLinkConfig, Spray, SprayConfig,
    SprayPolicy, Step, Steps, TokenBucket, TokenBucketConfig,
};
use inorder_random::Random;
use inorder_scenario::config as plain;
use inorder_scenario::config::{Stage, StageKind};

use crate::error::Error;
use crate::packet::Packet;

/// A path through `stages`; `name` is part of the names of its random streams.
pub fn path(stages: &[Stage], name: &str, seed: u64) -> Path<Packet> {
    let stages = stages.iter().enumerate();
    let built = stages.map(|(at, stage)| {
        // By position, so that a name given or taken changes no result.
        let random = Random::new(seed, &format!("{name}/{at}"));
        build(&stage.kind, random)
    });
    Path::new(built.collect())
}

/// A path through a card alone.
pub fn card(card: &plain::Card) -> Result<Path<Packet>, Error> {
    let ring = clamp(card.ring_packets);
    let sorter = card.srpic_block.map(|block| inorder_sort::srpic::Config {
        literal: card.literal,
        ..inorder_sort::srpic::Config::new(clamp(block), ring)
    });
    let merge = card.merge.map(|(bytes, frames)| MergeConfig {
        max_bytes: bytes,
        max_frames: u32::try_from(frames).unwrap_or(u32::MAX),
        ..MergeConfig::default()
    });
    let config = NicConfig {
        ring_packets: ring,
        coalesce: Coalesce {
            delay_ns: card.coalesce_ns,
            frames: card.coalesce_packets.map(clamp),
            gap_ns: card.coalesce_gap_ns,
        },
        service_ns: card.packet_ns,
        sort_ns: card.sorter_ns,
        sorter,
        merge,
    };
    let nic = Nic::new(&config).map_err(|error| Error::Sorter(error.to_string()))?;
    Ok(Path::new(vec![nic.into()]))
}

fn clamp(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn build(kind: &StageKind, random: Random) -> AnyStage<Packet> {
    match kind {
        StageKind::Link(config) => Link::new(&link(config)).into(),
        StageKind::Delay(config) => Delay::new(&delay(config), random).into(),
        StageKind::Loss(config) => Loss::new(&loss(config), random).into(),
        StageKind::Radio(config) => Radio::new(&radio(config), random).into(),
        StageKind::TokenBucket(config) => TokenBucket::new(&bucket(config)).into(),
        StageKind::Netem(config) => Netem::new(&netem(config), &random).into(),
        StageKind::Periodic {
            interval,
            link: config,
        } => PeriodicReorder::new(&periodic(*interval, config)).into(),
        StageKind::Spray { policy, lanes } => Spray::new(&spray(*policy, lanes), random).into(),
        StageKind::SharedLink {
            link: config,
            cross,
        } => SharedLink::new(&shared(config, cross), &random).into(),
        chance => by_chance(chance, random),
    }
}

/// Stages that roll dice for each packet.
fn by_chance(kind: &StageKind, random: Random) -> AnyStage<Packet> {
    match *kind {
        StageKind::Duplicate {
            probability,
            correlation,
            copy_delay_ns,
        } => {
            let config = DuplicateConfig {
                probability: Probability::ratio(probability),
                correlation: Probability::ratio(correlation),
                copy_delay_ns,
            };
            Duplicate::new(&config, random).into()
        }
        StageKind::Corrupt {
            probability,
            correlation,
            discard,
        } => {
            let config = corrupt(probability, correlation, discard);
            Corrupt::new(&config, random).into()
        }
        StageKind::Reorder {
            probability,
            correlation,
            gap,
            delay_ns,
        } => {
            let config = reorder(probability, correlation, gap);
            Reorder::new(&config, &DelayConfig::constant(delay_ns), random).into()
        }
        StageKind::Batch { delay_ns, gap_ns } => {
            Batch::new(BatchConfig { delay_ns, gap_ns }).into()
        }
        StageKind::Late {
            probability,
            correlation,
            delay_ns,
        } => {
            let config = LateConfig {
                probability: Probability::ratio(probability),
                correlation: Probability::ratio(correlation),
                delay_ns,
            };
            Late::new(&config, random).into()
        }
        // All others are built by `build`; a delay of nothing changes nothing.
        _ => Delay::new(&DelayConfig::constant(0), random).into(),
    }
}

fn link(config: &plain::Link) -> LinkConfig {
    LinkConfig {
        rate: rate(config),
        propagation_ns: config.delay_ns,
        queue: limit(config.queue),
        framing: framing(config.framing),
    }
}

fn rate(config: &plain::Link) -> Rate {
    if config.changes.is_empty() {
        return Rate::Constant(config.bits_per_s);
    }
    let first = Step {
        at_ns: 0,
        bits_per_s: config.bits_per_s,
    };
    let later = config.changes.iter().map(|change| Step {
        at_ns: change.at_ns,
        bits_per_s: change.bits_per_s,
    });
    Rate::Steps(Steps {
        steps: std::iter::once(first).chain(later).collect(),
        period_ns: config.period_ns,
    })
}

fn limit(queue: plain::Queue) -> Limit {
    match queue {
        plain::Queue::Unlimited => Limit::Unlimited,
        plain::Queue::Packets(packets) => Limit::Packets(packets),
        plain::Queue::Bytes(bytes) => Limit::Bytes(bytes),
    }
}

fn framing(framing: plain::Framing) -> Framing {
    match framing {
        plain::Framing::Ethernet => Framing::ETHERNET,
        plain::Framing::EthernetHeader => Framing::ETHERNET_HEADER,
        plain::Framing::Ppp => Framing::PPP,
        plain::Framing::None => Framing::NONE,
    }
}

fn delay(config: &plain::Delay) -> DelayConfig {
    DelayConfig {
        delay_ns: config.delay_ns,
        jitter_ns: config.jitter_ns,
        distribution: match config.distribution {
            plain::Distribution::Uniform => Distribution::Uniform,
            plain::Distribution::UniformUnit => Distribution::UniformOfUnitDeviation,
            plain::Distribution::Normal => Distribution::Normal,
            plain::Distribution::Exponential => Distribution::Exponential,
            plain::Distribution::Pareto => Distribution::Pareto,
            plain::Distribution::ParetoNormal => Distribution::ParetoNormal,
        },
        correlation: Probability::ratio(config.correlation),
        limit_packets: config.limit_packets.map(clamp),
    }
}

fn loss(config: &plain::Loss) -> LossConfig {
    let p = Probability::ratio;
    let or_rest = |given: Option<f64>, of: f64| p(given.unwrap_or(1.0 - of));
    match *config {
        plain::Loss::Uniform {
            probability,
            correlation,
        } => LossConfig::Uniform {
            probability: p(probability),
            correlation: p(correlation),
        },
        plain::Loss::GilbertElliott {
            to_bad,
            to_good,
            loss_in_bad,
            loss_in_good,
        } => LossConfig::GilbertElliott(GilbertElliott {
            to_bad: p(to_bad),
            to_good: or_rest(to_good, to_bad),
            loss_in_bad: p(loss_in_bad),
            loss_in_good: p(loss_in_good),
        }),
        plain::Loss::Markov {
            p13,
            p31,
            p32,
            p23,
            p14,
        } => LossConfig::Markov(Markov {
            p13: p(p13),
            p31: or_rest(p31, p13),
            p32: p(p32),
            p23: p(p23),
            p14: p(p14),
        }),
    }
}

fn corrupt(probability: f64, correlation: f64, discard: bool) -> CorruptConfig {
    CorruptConfig {
        probability: Probability::ratio(probability),
        correlation: Probability::ratio(correlation),
        discard,
    }
}

fn reorder(probability: f64, correlation: f64, gap: u32) -> ReorderConfig {
    ReorderConfig {
        probability: Probability::ratio(probability),
        correlation: Probability::ratio(correlation),
        gap,
    }
}

fn radio(config: &plain::Radio) -> RadioConfig {
    RadioConfig {
        tti_ns: config.tti_ns,
        block_error: Probability::ratio(config.block_error),
        block_error_again: Probability::ratio(config.block_error_again),
        retransmission_error: Probability::ratio(config.retransmission_error),
        harq_rtt_ns: config.harq_rtt_ns,
        harq_retransmissions: config.harq_retransmissions,
        rlc_delay_ns: config.rlc_delay_ns,
        in_order: config.in_order,
    }
}

fn bucket(config: &plain::TokenBucket) -> TokenBucketConfig {
    TokenBucketConfig {
        rate_bits_per_s: config.bits_per_s,
        burst_bytes: config.burst_bytes,
        peak: config.peak,
        charge: if config.charge_after {
            Charge::After
        } else {
            Charge::Before
        },
        queue: limit(config.queue),
        framing: framing(config.framing),
    }
}

fn periodic(interval: u64, config: &plain::Link) -> PeriodicConfig {
    PeriodicConfig {
        reorder_interval_packets: clamp(interval),
        link: link(config),
    }
}

fn spray(policy: plain::Policy, lanes: &[plain::Link]) -> SprayConfig {
    SprayConfig {
        lanes: lanes.iter().map(link).collect(),
        policy: match policy {
            plain::Policy::Random => SprayPolicy::Random,
            plain::Policy::RoundRobin => SprayPolicy::RoundRobin,
            plain::Policy::Flow => SprayPolicy::Flow,
            plain::Policy::Flowlet(gap_ns) => SprayPolicy::Flowlet { gap_ns },
        },
    }
}

fn shared(config: &plain::Link, cross: &[plain::CrossSource]) -> SharedLinkConfig {
    let source = |source: &plain::CrossSource| CrossTraffic {
        pattern: match source.pattern {
            plain::Pattern::Constant => Pattern::Constant,
            plain::Pattern::Poisson => Pattern::Poisson,
            plain::Pattern::OnOff {
                on_ns,
                off_ns,
                shape,
            } => Pattern::OnOffPareto {
                on_ns,
                off_ns,
                shape,
            },
        },
        bits_per_s: source.bits_per_s,
        packet_bytes: source.packet_bytes,
    };
    SharedLinkConfig {
        link: link(config),
        sources: cross.iter().map(source).collect(),
    }
}

fn netem(config: &plain::Netem) -> NetemConfig {
    let p = Probability::ratio;
    NetemConfig {
        delay: delay(&config.delay),
        duplicate: p(config.duplicate.0),
        duplicate_correlation: p(config.duplicate.1),
        loss: LossConfig::Uniform {
            probability: p(config.loss.0),
            correlation: p(config.loss.1),
        },
        corrupt: corrupt(config.corrupt.0, config.corrupt.1, false),
        reorder: reorder(config.reorder.0, config.reorder.1, config.gap),
        rate_bits_per_s: config.bits_per_s,
        framing: Framing::ETHERNET_HEADER,
    }
}
