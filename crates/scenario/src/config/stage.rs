//! Stages of a path.

use super::link::{Framing, Link, Queue, framing, queue};
use super::list;
use crate::Registries;
use crate::error::Problem;
use crate::quantity::{
    duration, duration_or_off, flag, number, packets, rate, require, share, size, small_count,
    small_size, text,
};
use crate::reader::Reader;
use crate::schema::{CROSS, LANE, STAGES};
use crate::value::Node;

type Read<T> = Result<T, Problem>;

/// A stage and its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// For keys of the grid; may be empty.
    pub name: String,
    /// What it does.
    pub kind: StageKind,
}

/// What a stage does.
#[derive(Clone, PartialEq, Debug)]
pub enum StageKind {
    /// Rate, propagation, drop-tail queue.
    Link(Link),
    /// Delay with jitter.
    Delay(Delay),
    /// Loss.
    Loss(Loss),
    /// Duplication.
    Duplicate {
        /// Of a second copy.
        probability: f64,
        /// Of each draw with the one before.
        correlation: f64,
        /// From the original to its copy, nanoseconds.
        copy_delay_ns: i64,
    },
    /// Damage.
    Corrupt {
        /// Of damage.
        probability: f64,
        /// Of each draw with the one before.
        correlation: f64,
        /// Damaged packets end here.
        discard: bool,
    },
    /// Some packets skip a delay.
    Reorder {
        /// Of skipping.
        probability: f64,
        /// Of each draw with the one before.
        correlation: f64,
        /// Its turn comes after gap - 1 delayed packets.
        gap: u32,
        /// Of those that do not skip, nanoseconds.
        delay_ns: i64,
    },
    /// A share comes late.
    Late {
        /// Of being late.
        probability: f64,
        /// Of each draw with the one before.
        correlation: f64,
        /// Later by so much, nanoseconds.
        delay_ns: i64,
    },
    /// A box on the way takes packets by interrupt.
    Batch {
        /// From the first packet that waits to the interrupt, nanoseconds.
        delay_ns: i64,
        /// From one interrupt to the next at least, nanoseconds.
        gap_ns: i64,
    },
    /// A link whose queue moves its head back.
    Periodic {
        /// RI, packets.
        interval: u64,
        /// The link.
        link: Link,
    },
    /// Several paths.
    Spray {
        /// Who goes where.
        policy: Policy,
        /// The paths.
        lanes: Vec<Link>,
    },
    /// Bursts of late packets.
    Radio(Radio),
    /// A link shared with cross traffic.
    SharedLink {
        /// The link.
        link: Link,
        /// Its other users.
        cross: Vec<CrossSource>,
    },
    /// A token bucket.
    TokenBucket(TokenBucket),
    /// All of netem.
    Netem(Netem),
}

/// Shape of random delays, by the names of `inorder-path`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Distribution {
    Uniform,
    UniformUnit,
    Normal,
    Exponential,
    Pareto,
    ParetoNormal,
}

/// Delay with jitter, times in nanoseconds.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Delay {
    pub delay_ns: i64,
    pub jitter_ns: i64,
    pub distribution: Distribution,
    pub correlation: f64,
    pub limit_packets: Option<u64>,
}

/// Loss.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Loss {
    Uniform {
        probability: f64,
        correlation: f64,
    },
    /// `None`: the complement of to_bad.
    GilbertElliott {
        to_bad: f64,
        to_good: Option<f64>,
        loss_in_bad: f64,
        loss_in_good: f64,
    },
    /// `None`: the complement of p13.
    Markov {
        p13: f64,
        p31: Option<f64>,
        p32: f64,
        p23: f64,
        p14: f64,
    },
}

/// How a path is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Each packet for itself.
    Random,
    /// One after another.
    RoundRobin,
    /// By flow.
    Flow,
    /// By flow, anew after a pause of so many nanoseconds.
    Flowlet(i64),
}

/// A radio link; see the schema.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Radio {
    pub tti_ns: i64,
    pub block_error: f64,
    pub block_error_again: f64,
    pub retransmission_error: f64,
    pub harq_rtt_ns: i64,
    pub harq_retransmissions: u32,
    pub rlc_delay_ns: Option<i64>,
    pub in_order: bool,
}

/// A source of cross traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct CrossSource {
    /// When it sends.
    pub pattern: Pattern,
    /// Bits per second while it sends.
    pub bits_per_s: u64,
    /// Bytes of each packet.
    pub packet_bytes: u32,
}

/// When a source of cross traffic sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// Always.
    Constant,
    /// As a Poisson process.
    Poisson,
    /// Now and then, with Pareto times.
    OnOff {
        /// Mean time on, nanoseconds.
        on_ns: i64,
        /// Mean time off, nanoseconds.
        off_ns: i64,
        /// Index of both.
        shape: f64,
    },
}

/// A token bucket; see the schema.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct TokenBucket {
    pub bits_per_s: u64,
    pub burst_bytes: u64,
    pub peak: Option<(u64, u64)>,
    /// A debt may stay, as with HTB.
    pub charge_after: bool,
    pub queue: Queue,
    pub framing: Framing,
}

/// All of netem; see the schema. A rate of 0 is none.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Netem {
    pub delay: Delay,
    pub duplicate: (f64, f64),
    pub loss: (f64, f64),
    pub corrupt: (f64, f64),
    pub reorder: (f64, f64),
    pub gap: u32,
    pub bits_per_s: u64,
}

impl Stage {
    pub(crate) fn read(node: &Node, names: &Registries) -> Read<Self> {
        let kind = node.get("kind");
        let kinds = || STAGES.iter().map(|section| section.name);
        let listed = || kinds().collect::<Vec<_>>().join(", ");
        let Some(kind) = kind else {
            node.entries("a stage")?;
            let expected = format!("kind = one of {}", listed());
            return Err(Problem::new(&node.place, "a stage without kind", expected));
        };
        let word = text(kind)?;
        let Some(section) = STAGES.iter().find(|section| section.name == word) else {
            let what = format!("unknown kind of stage \"{word}\"");
            let problem = Problem::new(&kind.place, what, format!("one of {}", listed()));
            return Err(problem.nearest(&word, kinds()));
        };
        let r = Reader::new(section, node, names)?;
        Ok(Stage {
            name: r.get("name", text)?,
            kind: read_kind(&word, &r)?,
        })
    }
}

fn read_kind(kind: &str, r: &Reader<'_>) -> Read<StageKind> {
    let probability = || r.get("probability", share);
    let correlation = || r.get("correlation", share);
    Ok(match kind {
        "link" => StageKind::Link(Link::read(r)?),
        "delay" => StageKind::Delay(delay(r)?),
        "loss" => StageKind::Loss(loss(r)?),
        "duplicate" => StageKind::Duplicate {
            probability: probability()?,
            correlation: correlation()?,
            copy_delay_ns: r.get("copy_delay", duration)?,
        },
        "corrupt" => StageKind::Corrupt {
            probability: probability()?,
            correlation: correlation()?,
            discard: r.get("discard", flag)?,
        },
        "reorder" => StageKind::Reorder {
            probability: probability()?,
            correlation: correlation()?,
            gap: r.get("gap", small_count)?,
            delay_ns: r.get("delay", duration)?,
        },
        "late" => StageKind::Late {
            probability: probability()?,
            correlation: correlation()?,
            delay_ns: r.get("delay", duration)?,
        },
        "batch" => StageKind::Batch {
            delay_ns: r.get("delay", duration)?,
            gap_ns: r.get("gap", duration)?,
        },
        "periodic" => StageKind::Periodic {
            interval: r.get("interval", packets)?,
            link: Link::read(r)?,
        },
        "spray" => spray(r)?,
        "radio" => StageKind::Radio(radio(r)?),
        "shared-link" => StageKind::SharedLink {
            link: Link::read(r)?,
            cross: list(r.child("cross"), |node| {
                cross(&Reader::new(&CROSS, node, r.names())?)
            })?,
        },
        "token-bucket" => StageKind::TokenBucket(token_bucket(r)?),
        _ => StageKind::Netem(netem(r)?),
    })
}

fn delay(r: &Reader<'_>) -> Read<Delay> {
    Ok(Delay {
        delay_ns: r.get("delay", duration)?,
        jitter_ns: r.get("jitter", duration)?,
        distribution: match r.choice("distribution")? {
            0 => Distribution::Uniform,
            1 => Distribution::UniformUnit,
            2 => Distribution::Normal,
            3 => Distribution::Exponential,
            4 => Distribution::Pareto,
            _ => Distribution::ParetoNormal,
        },
        correlation: r.get("correlation", share)?,
        limit_packets: r.maybe("limit", packets)?,
    })
}

fn loss(r: &Reader<'_>) -> Read<Loss> {
    let needed = |key| r.maybe(key, share)?.ok_or_else(|| r.missing(key));
    Ok(match r.choice("model")? {
        0 => Loss::Uniform {
            probability: needed("probability")?,
            correlation: r.get("correlation", share)?,
        },
        1 => Loss::GilbertElliott {
            to_bad: needed("to_bad")?,
            to_good: r.maybe("to_good", share)?,
            loss_in_bad: r.get("loss_in_bad", share)?,
            loss_in_good: r.get("loss_in_good", share)?,
        },
        _ => Loss::Markov {
            p13: needed("p13")?,
            p31: r.maybe("p31", share)?,
            p32: r.get("p32", share)?,
            p23: r.get("p23", share)?,
            p14: r.get("p14", share)?,
        },
    })
}

fn spray(r: &Reader<'_>) -> Read<StageKind> {
    let lanes = list(r.child("lane"), |node| {
        Link::read(&Reader::new(&LANE, node, r.names())?)
    })?;
    require(
        !lanes.is_empty(),
        r.place("lane"),
        "a spray without lanes",
        "at least one lane",
    )?;
    Ok(StageKind::Spray {
        policy: match r.choice("policy")? {
            0 => Policy::Random,
            1 => Policy::RoundRobin,
            2 => Policy::Flow,
            _ => Policy::Flowlet(r.get("flowlet_gap", duration)?),
        },
        lanes,
    })
}

fn radio(r: &Reader<'_>) -> Read<Radio> {
    Ok(Radio {
        tti_ns: r.get("tti", duration)?,
        block_error: r.get("block_error", share)?,
        block_error_again: r.get("block_error_again", share)?,
        retransmission_error: r.get("retransmission_error", share)?,
        harq_rtt_ns: r.get("harq_rtt", duration)?,
        harq_retransmissions: r.get("harq_retransmissions", small_count)?,
        rlc_delay_ns: r.get("rlc_delay", duration_or_off)?,
        in_order: r.get("in_order", flag)?,
    })
}

fn cross(r: &Reader<'_>) -> Read<CrossSource> {
    let shape = r.get("shape", number)?;
    require(shape > 1.0, r.place("shape"), "no mean", "a shape above 1")?;
    Ok(CrossSource {
        pattern: match r.choice("pattern")? {
            0 => Pattern::Constant,
            1 => Pattern::Poisson,
            _ => Pattern::OnOff {
                on_ns: r.get("on", duration)?,
                off_ns: r.get("off", duration)?,
                shape,
            },
        },
        bits_per_s: r.get("rate", rate)?,
        packet_bytes: r.get("size", small_size)?,
    })
}

fn token_bucket(r: &Reader<'_>) -> Read<TokenBucket> {
    let bits_per_s = r.get("rate", rate)?;
    let peak_burst = r.get("peak_burst", size)?;
    require(
        bits_per_s > 0,
        r.place("rate"),
        "no tokens",
        "more than 0 bit/s",
    )?;
    Ok(TokenBucket {
        bits_per_s,
        burst_bytes: r.get("burst", size)?,
        peak: r.maybe("peak_rate", rate)?.map(|rate| (rate, peak_burst)),
        charge_after: r.choice("charge")? == 1,
        queue: queue(r, bits_per_s)?,
        framing: framing(r)?,
    })
}

fn netem(r: &Reader<'_>) -> Read<Netem> {
    let pair = |what: &str| {
        let correlation = format!("{what}_correlation");
        Ok((r.get(what, share)?, r.get(&correlation, share)?))
    };
    Ok(Netem {
        delay: delay(r)?,
        duplicate: pair("duplicate")?,
        loss: pair("loss")?,
        corrupt: pair("corrupt")?,
        reorder: pair("reorder")?,
        gap: r.get("gap", small_count)?,
        bits_per_s: r.maybe("rate", rate)?.unwrap_or(0),
    })
}
