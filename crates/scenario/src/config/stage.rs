//! Stages of a path: the declaration of every impairment.

use super::link::{Buffer, Framing, Link};
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Count32, Duration, DurationOrOff, Flag, Kind, List, Number, Packets, Rate, Share, Size, Size32,
    Text,
};
use crate::quantity::{self, require};
use crate::reader::{Context, Reader, Table, Variant, tables};
use crate::schema::{Form, Keys, Section};
use crate::value::Node;

keys! {
    /// Each packet is delayed by a draw of its own, as netem does; what is drawn shorter overtakes.
    pub struct Delay in "delay" {
        /// Mean.
        delay_ns as "delay": Duration, required;
        /// Standard deviation of a normal jitter, half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "normal";
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// Packets delayed at once at most; netem's own is 1000.
        limit_packets as "limit": Packets, unset "none";
    }
}

choices! {
    /// Shape of random delays, by the names of `inorder-path`.
    pub enum Distribution {
        /// Every value within the jitter is as likely.
        Uniform = "uniform",
        /// Uniform with the jitter as its standard deviation.
        UniformUnit = "uniform-unit",
        /// iproute2's table `normal`.
        Normal = "normal",
        /// An exponential distribution.
        Exponential = "exponential",
        /// iproute2's table `pareto`.
        Pareto = "pareto",
        /// iproute2's table `paretonormal`.
        ParetoNormal = "pareto-normal",
    }
}

keys! {
    /// Packets are lost.
    pub enum Loss in "loss" {
        /// How losses depend on each other.
        by model, default "uniform";
        /// Each packet for itself.
        Uniform = "uniform" {
            /// Of the loss of a packet.
            probability: Share, required;
            /// Of each draw with the one before.
            correlation: Share, default "0 %";
        },
        /// Two states, as Gilbert and Elliott have them.
        GilbertElliott = "gilbert-elliott" {
            /// From good to bad (p).
            to_bad: Share, required;
            /// From bad to good (r).
            to_good: Share, unset "1 - to_bad";
            /// Of a packet in the bad state (1 - h).
            loss_in_bad: Share, default "100 %";
            /// Of a packet in the good state (1 - k).
            loss_in_good: Share, default "0 %";
        },
        /// netem's four states.
        Markov = "markov" {
            /// A burst begins.
            p13: Share, required;
            /// A burst ends.
            p31: Share, unset "1 - p13";
            /// A good packet within a burst.
            p32: Share, default "0 %";
            /// Lost again after a good packet within a burst.
            p23: Share, default "100 %";
            /// Lost alone.
            p14: Share, default "0 %";
        },
    }
}

keys! {
    /// Packets come twice.
    pub struct Duplicate in "duplicate" {
        /// Of a second copy.
        probability: Share, required;
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// From the original to its copy.
        copy_delay_ns as "copy_delay": Duration, default "0 s";
    }
}

keys! {
    /// Packets are damaged.
    pub struct Corrupt in "corrupt" {
        /// Of damage.
        probability: Share, required;
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// Damaged packets end here; otherwise the receiver's checksum finds them.
        discard: Flag, default "false";
    }
}

keys! {
    /// Some packets skip a delay, as with netem's `reorder P gap N`.
    pub struct Reorder in "reorder" {
        /// Of skipping, when it is a packet's turn.
        probability: Share, default "100 %";
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// A packet's turn comes after gap - 1 delayed packets.
        gap: Count32, default "1";
        /// Of those that do not skip.
        delay_ns as "delay": Duration, required;
    }
}

keys! {
    /// A share of the packets comes later by a fixed time (the mobile paper's change to netem).
    pub struct Late in "late" {
        /// Of being late.
        probability: Share, required;
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// Later by so much.
        delay_ns as "delay": Duration, required;
    }
}

keys! {
    /// A box on the way that takes packets by interrupt: what has come since the last one goes on in one instant.
    pub struct Batch in "batch" {
        /// From the first packet that waits to the interrupt.
        delay_ns as "delay": Duration, default "0 s";
        /// From one interrupt to the next at least (interrupt throttling).
        gap_ns as "gap": Duration, default "250 us";
    }
}

keys! {
    /// A link whose queue moves its head back (Fukuda and others, ICN 2018).
    pub struct Periodic in "periodic" {
        /// RI: the packet at the head is moved behind so many others; 0: never.
        interval_packets as "interval": Packets, required;
        /// The link.
        link: Link, flat;
    }
}

keys! {
    /// Packets over several unequal paths.
    pub struct Spray in "spray", check Spray::check {
        /// Which packet takes which path.
        policy: Policy, default "random";
        /// A pause after which a flow may change its path.
        flowlet_gap_ns as "flowlet_gap": Duration, default "50 ms", with policy = "flowlet";
        /// The paths.
        lanes as "lane": List<Lane>, required;
    }
}

impl Spray {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let some = !self.lanes.is_empty();
        require(
            some,
            r.place("lane"),
            "a spray without lanes",
            "at least one lane",
        )
    }
}

keys! {
    /// One of the paths packets are sprayed over.
    pub struct Lane in "lane" {
        /// The link it consists of.
        link: Link, flat;
    }
}

choices! {
    /// Which packet takes which path.
    pub enum Policy {
        /// Each packet for itself, by chance.
        Random = "random",
        /// One path after another.
        RoundRobin = "round-robin",
        /// By flow.
        Flow = "flow",
        /// By flow, anew after a pause.
        Flowlet = "flowlet",
    }
}

keys! {
    /// Bursts of late packets, as LTE's retransmissions make them.
    pub struct Radio in "radio" {
        /// Transmission time interval; its packets share a block.
        tti_ns as "tti": Duration, default "1 ms", above "0 s";
        /// A block fails, the one before having succeeded.
        block_error: Share, default "10 %";
        /// The same, the one before having failed.
        block_error_again: Share, default "10 %";
        /// A retransmission fails.
        retransmission_error: Share, default "10 %";
        /// From a transmission to the next of the same block.
        harq_rtt_ns as "harq_rtt": Duration, default "8 ms";
        /// Retransmissions by HARQ, before RLC's.
        harq_retransmissions: Count32, default "4";
        /// More when RLC retransmits; off: the block is lost.
        rlc_delay_ns as "rlc_delay": DurationOrOff, default "20 ms";
        /// RLC releases in order.
        in_order: Flag, default "false";
    }
}

keys! {
    /// A link shared with cross traffic.
    pub struct SharedLink in "shared-link" {
        /// The link.
        link: Link, flat;
        /// Sources of cross traffic.
        cross: List<CrossSource>, required;
    }
}

keys! {
    /// A source of cross traffic.
    pub struct CrossSource in "cross" {
        /// When it sends.
        pattern: Pattern, flat;
        /// While it sends, of IP packets.
        bits_per_s as "rate": Rate, required;
        /// Of each packet.
        packet_bytes as "size": Size32, default "1500 B", from "1 B";
    }
}

keys! {
    /// When a source of cross traffic sends.
    pub enum Pattern in "cross" {
        /// When it sends.
        by pattern, default "poisson";
        /// Always, at equal distances.
        Constant = "constant",
        /// As a Poisson process.
        Poisson = "poisson",
        /// Now and then, with Pareto times.
        OnOff = "on-off" {
            /// Mean time on.
            on_ns as "on": Duration, default "500 ms";
            /// Mean time off.
            off_ns as "off": Duration, default "500 ms";
            /// Index of both times; below 2 the variance is infinite.
            shape: Number, default "1.5", above "1";
        },
    }
}

keys! {
    /// Tokens as in TBF or HTB.
    pub struct TokenBucket in "token-bucket" {
        /// Of tokens.
        bits_per_s as "rate": Rate, required, above "0 bit/s";
        /// Tokens the bucket holds.
        burst_bytes as "burst": Size, required;
        /// Of a second bucket that limits bursts.
        peak_bits_per_s as "peak_rate": Rate, unset "no second bucket";
        /// Tokens the second bucket holds.
        peak_burst_bytes as "peak_burst": Size, default "1514 B", with peak_rate;
        /// When a packet's tokens must be there.
        charge: Charge, default "before";
        /// What waits for tokens.
        buffer: Buffer, flat;
        /// What is charged beside the IP packet.
        framing: Framing, default "ethernet-header";
    }
}

choices! {
    /// When a packet's tokens must be there.
    pub enum Charge {
        /// Before it is sent (TBF).
        Before = "before",
        /// Afterwards: a debt may stay (HTB).
        After = "after",
    }
}

keys! {
    /// All of netem in the kernel's order: duplicate, loss, corrupt, limit, delay.
    pub struct Netem in "netem" {
        /// Mean.
        delay_ns as "delay": Duration, default "0 s";
        /// Standard deviation of a normal jitter, half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "uniform";
        /// Of each draw with the one before.
        correlation: Share, default "0 %";
        /// Packets in it at once at most.
        limit_packets as "limit": Packets, default "1000 packets";
        /// Probability of a second copy.
        duplicate: Share, default "0 %";
        /// Of each draw with the one before.
        duplicate_correlation: Share, default "0 %";
        /// Probability of loss.
        loss: Share, default "0 %";
        /// Of each draw with the one before.
        loss_correlation: Share, default "0 %";
        /// Probability of damage.
        corrupt: Share, default "0 %";
        /// Of each draw with the one before.
        corrupt_correlation: Share, default "0 %";
        /// Probability of being sent at once.
        reorder: Share, default "0 %";
        /// Of each draw with the one before.
        reorder_correlation: Share, default "0 %";
        /// A packet's turn to be sent at once comes after gap - 1 delayed ones.
        gap: Count32, default "1";
        /// `rate`: each packet is timed from the last one queued.
        bits_per_s as "rate": Rate, unset "none";
    }
}

keys! {
    /// What every stage says of itself.
    pub struct Label in "stage" {
        /// Which stage.
        kind: Text, required;
        /// For keys of the grid.
        name: Text, default "";
    }
}

impl Label {
    /// Two stages of one path must not have one name: a key of the grid would mean both.
    pub(super) fn check_names(r: &Reader<'_>, path: &str) -> Result<(), Problem> {
        let nodes = r.child(path).map(Node::elements).unwrap_or_default();
        let names = nodes.iter().filter_map(|node| node.get("name"));
        let mut seen = Vec::new();
        for node in names {
            let name = node.show();
            let what = format!("name: a second stage of [[{path}]] is called \"{name}\"");
            let new = name.is_empty() || !seen.contains(&name);
            require(new, &node.place, &what, "a name of its own")?;
            seen.push(name);
        }
        Ok(())
    }
}

/// A stage and its name.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Stage {
    /// For keys of the grid; may be empty.
    pub name: String,
    /// What it does.
    pub kind: StageKind,
}

impl Stage {
    fn read(node: &Node, context: &Context<'_>) -> Result<Self, Problem> {
        let kinds = || STAGES.iter().map(|section| section.name);
        let listed = || kinds().collect::<Vec<_>>().join(", ");
        let Some(kind) = node.get("kind") else {
            node.entries("a stage")?;
            let expected = format!("kind = one of {}", listed());
            return Err(Problem::new(&node.place, "a stage without kind", expected));
        };
        let word = quantity::text(kind)?;
        let found = STAGES.iter().zip(READERS);
        let mut found = found.filter(|(section, _)| section.name == word);
        let Some((section, (_, read))) = found.next() else {
            let what = format!("unknown kind of stage \"{word}\"");
            let problem = Problem::new(&kind.place, what, format!("one of {}", listed()));
            return Err(problem.nearest(&word, kinds()));
        };
        let sections = [const { &Label::SECTION }, *section];
        let r = Reader::new(&sections, node, context)?;
        Ok(Stage {
            name: Label::read(&r)?.name,
            kind: read(&r)?,
        })
    }
}

/// A list of stages, `[[...]]`.
#[derive(Clone, Copy, Debug)]
pub enum Stages {}

impl Kind for Stages {
    type Value = Vec<Stage>;
    const FORM: Form = Form::Stages;
    fn read(node: &Node, context: &Context<'_>) -> Result<Vec<Stage>, Problem> {
        let nodes = tables(node)?.iter();
        nodes.map(|node| Stage::read(node, context)).collect()
    }
    fn blank() -> Node {
        crate::kind::blank_list()
    }
}

/// The kinds of stages. Each is declared above under its own name.
macro_rules! stages {
    ($($name:ident,)+) => {
        /// What a stage does. Those who build stages match all of it, so that none is forgotten.
        #[derive(Clone, PartialEq, Debug)]
        pub enum StageKind {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)+
        }

        /// The declarations of all stages, in the order of the reference.
        pub const STAGES: &[&Section] = &[$(&<$name as Keys>::SECTION),+];

        const READERS: &[Variant<StageKind>] = &[
            $((<$name as Keys>::SECTION.name, |r| Ok(StageKind::$name($name::read(r)?)))),+
        ];
    };
}

stages! {
    Link, Delay, Loss, Duplicate, Corrupt, Reorder, Late, Batch, Periodic, Spray, Radio, SharedLink,
    TokenBucket, Netem,
}
