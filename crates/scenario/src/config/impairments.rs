//! The declaration of every impairment, and at the end the list of them.

use super::link::{Buffer, Framing, Line, Link};
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Count32, Duration, DurationOrOff, Flag, List, Number, Packets, Rate, Share, Size, Size32,
};
use crate::quantity::require;
use crate::reader::{Reader, Table, Variant};
use crate::schema::{Keys, Section};

keys! {
    /// Each packet is delayed by a draw of its own, as netem does; what is drawn shorter overtakes.
    pub struct Delay in "delay" {
        /// Mean delay.
        delay_ns as "delay": Duration, required;
        /// Standard deviation of a normal jitter, half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "normal";
        /// Correlation of each random draw with the one before.
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
            /// Probability that a packet is lost.
            probability: Share, required;
            /// Correlation of each random draw with the one before.
            correlation: Share, default "0 %";
        },
        /// Two states, as Gilbert and Elliott have them.
        GilbertElliott = "gilbert-elliott" {
            /// Probability of going from the good state to the bad one (p).
            to_bad: Share, required;
            /// Probability of going from the bad state to the good one (r).
            to_good: Share, unset "1 - to_bad";
            /// Probability that a packet is lost in the bad state (1 - h).
            loss_in_bad: Share, default "100 %";
            /// Probability that a packet is lost in the good state (1 - k).
            loss_in_good: Share, default "0 %";
        },
        /// netem's four states.
        Markov = "markov" {
            /// Probability that a burst of losses begins.
            p13: Share, required;
            /// Probability that it ends.
            p31: Share, unset "1 - p13";
            /// Probability that a packet within a burst arrives.
            p32: Share, default "0 %";
            /// Probability that the next packet after it is lost again.
            p23: Share, default "100 %";
            /// Probability of a loss that stands alone.
            p14: Share, default "0 %";
        },
    }
}

keys! {
    /// Packets come twice.
    pub struct Duplicate in "duplicate" {
        /// Probability of a second copy.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Time from the original to its copy.
        copy_delay_ns as "copy_delay": Duration, default "0 s";
    }
}

keys! {
    /// Packets are damaged.
    pub struct Corrupt in "corrupt" {
        /// Probability that a packet is damaged.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Damaged packets end here; otherwise the receiver's checksum finds them.
        discard: Flag, default "false";
    }
}

keys! {
    /// Some packets skip a delay, as with netem's `reorder P gap N`.
    pub struct Reorder in "reorder" {
        /// Probability that a packet skips the delay when it is its turn.
        probability: Share, default "100 %";
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// A packet's turn comes after gap - 1 delayed packets.
        gap: Count32, default "1";
        /// Delay of the packets that do not skip it.
        delay_ns as "delay": Duration, required;
    }
}

keys! {
    /// A share of the packets comes later by a fixed time (the mobile paper's change to netem).
    pub struct Late in "late" {
        /// Probability that a packet is late.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// How much later it is.
        delay_ns as "delay": Duration, required;
    }
}

keys! {
    /// A box on the way that takes packets by interrupt: what has come since the last one goes on in one instant.
    pub struct Batch in "batch" {
        /// Time from the first packet that waits to the interrupt.
        delay_ns as "delay": Duration, default "0 s";
        /// Shortest time between two interrupts (interrupt throttling).
        gap_ns as "gap": Duration, default "250 us";
    }
}

keys! {
    /// A link whose queue moves its head back (Fukuda and others, ICN 2018).
    pub struct Periodic in "periodic" {
        /// RI: the packet at the head is moved behind so many others; 0: never.
        interval_packets as "interval": Packets, required;
        /// The link.
        link: Line, flat;
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
        link: Line, flat;
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
        /// Probability that a block fails after one that succeeded.
        block_error: Share, default "10 %";
        /// Probability that a block fails after one that failed.
        block_error_again: Share, default "10 %";
        /// Probability that a retransmission fails.
        retransmission_error: Share, default "10 %";
        /// Time from a transmission of a block to its next one.
        harq_rtt_ns as "harq_rtt": Duration, default "8 ms";
        /// Retransmissions by HARQ before RLC retransmits.
        harq_retransmissions: Count32, default "4";
        /// Additional delay when RLC retransmits; off: the block is lost.
        rlc_delay_ns as "rlc_delay": DurationOrOff, default "20 ms";
        /// RLC hands packets on in order.
        in_order: Flag, default "false";
    }
}

keys! {
    /// A link shared with cross traffic.
    pub struct SharedLink in "shared-link" {
        /// The link.
        link: Line, flat;
        /// Sources of cross traffic.
        cross: List<CrossSource>, required;
    }
}

keys! {
    /// A source of cross traffic.
    pub struct CrossSource in "cross" {
        /// When it sends.
        pattern: Pattern, flat;
        /// Rate of its IP packets while it sends.
        bits_per_s as "rate": Rate, required;
        /// Size of each packet.
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
            /// Mean duration of a period in which it sends.
            on_ns as "on": Duration, default "500 ms";
            /// Mean duration of a pause.
            off_ns as "off": Duration, default "500 ms";
            /// Index of the Pareto distribution of both; below 2 the variance is infinite.
            shape: Number, default "1.5", above "1";
        },
    }
}

keys! {
    /// Tokens as in TBF or HTB.
    pub struct TokenBucket in "token-bucket" {
        /// Rate at which tokens come.
        bits_per_s as "rate": Rate, required, above "0 bit/s";
        /// Tokens the bucket holds.
        burst_bytes as "burst": Size, required;
        /// Rate of a second bucket that limits bursts.
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
        /// Mean delay.
        delay_ns as "delay": Duration, default "0 s";
        /// Standard deviation of a normal jitter, half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "uniform";
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Packets in it at once at most.
        limit_packets as "limit": Packets, default "1000 packets";
        /// Probability of a second copy.
        duplicate: Share, default "0 %";
        /// Correlation of each random draw with the one before.
        duplicate_correlation: Share, default "0 %";
        /// Probability of loss.
        loss: Share, default "0 %";
        /// Correlation of each random draw with the one before.
        loss_correlation: Share, default "0 %";
        /// Probability of damage.
        corrupt: Share, default "0 %";
        /// Correlation of each random draw with the one before.
        corrupt_correlation: Share, default "0 %";
        /// Probability of being sent at once.
        reorder: Share, default "0 %";
        /// Correlation of each random draw with the one before.
        reorder_correlation: Share, default "0 %";
        /// A packet's turn to be sent at once comes after gap - 1 delayed ones.
        gap: Count32, default "1";
        /// `rate`: each packet is timed from the last one queued.
        bits_per_s as "rate": Rate, unset "none";
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

        pub(super) const READERS: &[Variant<StageKind>] = &[
            $((<$name as Keys>::SECTION.name, |r| Ok(StageKind::$name($name::read(r)?)))),+
        ];
    };
}

stages! {
    Link, Delay, Loss, Duplicate, Corrupt, Reorder, Late, Batch, Periodic, Spray, Radio, SharedLink,
    TokenBucket, Netem,
}
