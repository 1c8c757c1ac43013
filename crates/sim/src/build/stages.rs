//! Stages and cards.

use inorder_path::{
    AnyStage, Batch, BatchConfig, Charge, Coalesce, CodelConfig, CodelLink, Corrupt, CorruptConfig,
    CrossTraffic, Delay, DelayConfig, Distribution, Duplicate, DuplicateConfig, Framing,
    GilbertElliott, Late, LateConfig, Limit, Link, LinkConfig, Loss, LossConfig, Markov,
    MergeConfig, Netem, NetemConfig, Nic, NicConfig, Path, Pattern, PeriodicConfig,
    PeriodicReorder, Probability, Radio, RadioConfig, Rate, Reorder, ReorderConfig, SharedLink,
    SharedLinkConfig, Spray, SprayConfig, SprayPolicy, Step, Steps, TokenBucket, TokenBucketConfig,
};
use inorder_random::Random;
use inorder_scenario::config as plain;
use inorder_scenario::config::{Stage, StageKind};
use inorder_sort::{SorterConfig, srpic};

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
    let mut sorter: SorterConfig = card.sorter.parse().map_err(|error| Error::sorter(&error))?;
    if card.sorter == srpic::ENTRY.name {
        // These have keys of their own beside the sorter's.
        sorter = sorter
            .with(&srpic::BLOCK_SIZE, card.block_packets)
            .with(&srpic::LITERAL, u64::from(card.literal));
    }
    let merge = card.merge.then(|| MergeConfig {
        max_bytes: card.merge_bytes,
        max_frames: card.merge_packets,
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
    let nic = Nic::new(&config).map_err(|error| Error::sorter(&error))?;
    Ok(Path::new(vec![nic.into()]))
}

fn clamp(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Every kind of stage has its arm: one that is forgotten does not compile.
fn build(kind: &StageKind, random: Random) -> AnyStage<Packet> {
    match kind {
        StageKind::Link(config) => queued(config),
        StageKind::Delay(config) => Delay::new(&delay(config), random).into(),
        StageKind::Loss(config) => Loss::new(&loss(config), random).into(),
        StageKind::Duplicate(config) => Duplicate::new(&duplicate(config), random).into(),
        StageKind::Corrupt(config) => {
            let config = corrupt(config.probability, config.correlation, config.discard);
            Corrupt::new(&config, random).into()
        }
        StageKind::Reorder(config) => {
            let jump = reorder(config.probability, config.correlation, config.gap);
            Reorder::new(&jump, &DelayConfig::constant(config.delay_ns), random).into()
        }
        StageKind::Late(config) => Late::new(&late(config), random).into(),
        StageKind::Batch(config) => Batch::new(BatchConfig {
            delay_ns: config.delay_ns,
            gap_ns: config.gap_ns,
        })
        .into(),
        StageKind::Periodic(config) => PeriodicReorder::new(&periodic(config)).into(),
        StageKind::Spray(config) => Spray::new(&spray(config), random).into(),
        StageKind::Radio(config) => Radio::new(&radio(config), random).into(),
        StageKind::SharedLink(config) => SharedLink::new(&shared(config), &random).into(),
        StageKind::TokenBucket(config) => TokenBucket::new(&bucket(config)).into(),
        StageKind::Netem(config) => Netem::new(&netem(config), &random).into(),
    }
}

/// A link, its queue by its discipline.
fn queued(config: &plain::Link) -> AnyStage<Packet> {
    let line = link(&config.line);
    match config.discipline {
        plain::Discipline::DropTail => Link::new(&line).into(),
        plain::Discipline::Codel {
            target_ns,
            interval_ns,
            mark,
        } => AnyStage::Custom(Box::new(CodelLink::new(&CodelConfig {
            link: line,
            target_ns,
            interval_ns,
            mark,
        }))),
    }
}

fn link(config: &plain::Line) -> LinkConfig {
    LinkConfig {
        rate: rate(config),
        propagation_ns: config.delay_ns,
        queue: limit(config.queue()),
        framing: framing(config.framing),
    }
}

fn rate(config: &plain::Line) -> Rate {
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

fn distribution(shape: plain::Distribution) -> Distribution {
    match shape {
        plain::Distribution::Uniform => Distribution::Uniform,
        plain::Distribution::UniformUnit => Distribution::UniformOfUnitDeviation,
        plain::Distribution::Normal => Distribution::Normal,
        plain::Distribution::Exponential => Distribution::Exponential,
        plain::Distribution::Pareto => Distribution::Pareto,
        plain::Distribution::ParetoNormal => Distribution::ParetoNormal,
    }
}

fn delay(config: &plain::Delay) -> DelayConfig {
    DelayConfig {
        delay_ns: config.delay_ns,
        jitter_ns: config.jitter_ns,
        distribution: distribution(config.distribution),
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

fn duplicate(config: &plain::Duplicate) -> DuplicateConfig {
    DuplicateConfig {
        probability: Probability::ratio(config.probability),
        correlation: Probability::ratio(config.correlation),
        copy_delay_ns: config.copy_delay_ns,
    }
}

fn late(config: &plain::Late) -> LateConfig {
    LateConfig {
        probability: Probability::ratio(config.probability),
        correlation: Probability::ratio(config.correlation),
        delay_ns: config.delay_ns,
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
        peak: config
            .peak_bits_per_s
            .map(|rate| (rate, config.peak_burst_bytes)),
        charge: match config.charge {
            plain::Charge::Before => Charge::Before,
            plain::Charge::After => Charge::After,
        },
        queue: limit(config.buffer.queue(config.bits_per_s)),
        framing: framing(config.framing),
    }
}

fn periodic(config: &plain::Periodic) -> PeriodicConfig {
    PeriodicConfig {
        reorder_interval_packets: clamp(config.interval_packets),
        link: link(&config.link),
    }
}

fn spray(config: &plain::Spray) -> SprayConfig {
    SprayConfig {
        lanes: config.lanes.iter().map(|lane| link(&lane.link)).collect(),
        policy: match config.policy {
            plain::Policy::Random => SprayPolicy::Random,
            plain::Policy::RoundRobin => SprayPolicy::RoundRobin,
            plain::Policy::Flow => SprayPolicy::Flow,
            plain::Policy::Flowlet => SprayPolicy::Flowlet {
                gap_ns: config.flowlet_gap_ns,
            },
        },
    }
}

fn shared(config: &plain::SharedLink) -> SharedLinkConfig {
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
        link: link(&config.link),
        sources: config.cross.iter().map(source).collect(),
    }
}

fn netem(config: &plain::Netem) -> NetemConfig {
    let p = Probability::ratio;
    NetemConfig {
        delay: DelayConfig {
            delay_ns: config.delay_ns,
            jitter_ns: config.jitter_ns,
            distribution: distribution(config.distribution),
            correlation: p(config.correlation),
            limit_packets: Some(clamp(config.limit_packets)),
        },
        duplicate: p(config.duplicate),
        duplicate_correlation: p(config.duplicate_correlation),
        loss: LossConfig::Uniform {
            probability: p(config.loss),
            correlation: p(config.loss_correlation),
        },
        corrupt: corrupt(config.corrupt, config.corrupt_correlation, false),
        reorder: reorder(config.reorder, config.reorder_correlation, config.gap),
        // A rate of 0 is none.
        rate_bits_per_s: config.bits_per_s.unwrap_or(0),
        framing: Framing::ETHERNET_HEADER,
    }
}

#[cfg(test)]
mod tests {
    /// A scenario calls an impairment as `inorder-path` does. The card alone has a table of its own.
    #[test]
    fn scenarios_and_paths_have_the_same_impairments() {
        let of_paths = inorder_path::REGISTRY.iter().map(|entry| entry.name);
        let mut of_paths: Vec<&str> = of_paths.filter(|name| *name != "nic").collect();
        let of_scenarios = inorder_scenario::config::STAGES.iter();
        let mut of_scenarios: Vec<&str> = of_scenarios.map(|section| section.name).collect();
        of_paths.sort_unstable();
        of_scenarios.sort_unstable();
        assert_eq!(of_paths, of_scenarios);
    }
}
