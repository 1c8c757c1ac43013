//! The declarations of all impairments, and at the end the list of them.

use super::link::{Buffer, Device, Framing, Line, Link};
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Count32, Duration, DurationOrOff, Flag, List, Number, Packets, Rate, Share, Size, Size32,
};
use crate::quantity::require;
use crate::reader::{Reader, Table, Variant};
use crate::schema::{Keys, Section};

keys! {
    /// Delays each packet by an independent random time, as netem does; packets with shorter delays overtake others.
    pub struct Delay in "delay" {
        /// Mean delay.
        delay_ns as "delay": Duration, required;
        /// Standard deviation of a normal jitter, or half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "normal";
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Maximum number of packets delayed at the same time; netem's own limit is 1000.
        limit_packets as "limit": Packets, unset "none";
    }
}

impl Delay {
    /// A constant delay, without limit.
    pub fn constant(delay_ns: i64) -> Self {
        Delay {
            delay_ns,
            jitter_ns: 0,
            distribution: Distribution::Uniform,
            correlation: 0.0,
            limit_packets: None,
        }
    }

    /// Normal jitter, without limit.
    pub fn normal(delay_ns: i64, jitter_ns: i64) -> Self {
        Delay {
            jitter_ns,
            distribution: Distribution::Normal,
            ..Delay::constant(delay_ns)
        }
    }
}

choices! {
    /// Shape of random delays, by the names of `inorder-path`.
    pub enum Distribution {
        /// Uniform distribution over the jitter's range.
        Uniform = "uniform",
        /// Uniform distribution with the jitter as its standard deviation.
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
    /// Drops packets.
    pub enum Loss in "loss", check Loss::check {
        /// How losses depend on each other.
        by model, default "uniform";
        /// Each packet independently.
        Uniform = "uniform" {
            /// Probability that a packet is lost.
            probability: Share, required;
            /// Correlation of each random draw with the one before.
            correlation: Share, default "0 %";
        },
        /// The two-state model of Gilbert and Elliott.
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
        /// The four-state model of netem.
        Markov = "markov" {
            /// Probability that a burst of losses begins.
            p13: Share, required;
            /// Probability that a burst of losses ends.
            p31: Share, unset "1 - p13";
            /// Probability that a packet within a burst arrives.
            p32: Share, default "0 %";
            /// Probability that the packet after it is lost again.
            p23: Share, default "100 %";
            /// Probability of an isolated loss.
            p14: Share, default "0 %";
        },
    }
}

impl Loss {
    /// Each state of the four is left for one other at most, so what leads out of one is not more than certain.
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let Loss::Markov(Markov {
            p13, p31, p32, p14, ..
        }) = *self
        else {
            return Ok(());
        };
        require(
            p13 + p14 <= CERTAIN,
            r.place("p14"),
            "p13 and p14 are more than 100 % together",
            "at most 100 %",
        )?;
        require(
            p31.unwrap_or(1.0 - p13) + p32 <= CERTAIN,
            r.place("p32"),
            "p31 (1 - p13 unless it is given) and p32 are more than 100 % together",
            "at most 100 %",
        )
    }
}

/// A sum of shares that are 100 % together, with room for the rounding of 60 % + 40 %.
const CERTAIN: f64 = 1.0 + 1e-9;

keys! {
    /// Duplicates packets.
    pub struct Duplicate in "duplicate" {
        /// Probability of a second copy.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Delay of the copy after the original.
        copy_delay_ns as "copy_delay": Duration, default "0 s";
    }
}

keys! {
    /// Drops every packet for a time: the path is interrupted.
    pub struct Outage in "outage", check Outage::check {
        /// When it begins.
        from_ns as "from": Duration, required;
        /// When it ends.
        until_ns as "until": Duration, required;
        /// It begins again this long after it began.
        every_ns as "every": DurationOrOff, default "off", above "0 s";
    }
}

impl Outage {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        require(
            self.from_ns < self.until_ns,
            r.place("until"),
            "an outage that ends before it begins",
            "until after from",
        )?;
        let lasts_ns = self.until_ns - self.from_ns;
        require(
            self.every_ns.is_none_or(|every_ns| lasts_ns < every_ns),
            r.place("every"),
            "an outage that begins again before it ends",
            "more than the time from `from` to `until`",
        )
    }
}

keys! {
    /// Damages packets.
    pub struct Corrupt in "corrupt" {
        /// Probability that a packet is damaged.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Drops damaged packets here; otherwise the receiver's checksum detects them.
        discard: Flag, default "false";
    }
}

keys! {
    /// Lets some packets skip a delay, as netem's `reorder P gap N` does.
    pub struct Reorder in "reorder" {
        /// Probability that a packet skips the delay if it is eligible.
        probability: Share, default "100 %";
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// A packet is eligible after gap - 1 delayed packets.
        gap: Count32, default "1";
        /// Delay of the packets that do not skip it.
        delay_ns as "delay": Duration, required;
    }
}

keys! {
    /// Delays a share of the packets by an additional fixed time (the mobile paper's change to netem).
    pub struct Late in "late", check Late::check {
        /// Probability that a packet is late.
        probability: Share, required;
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// The additional delay.
        delay_ns as "delay": Duration, required;
        /// Time from which packets are late.
        from_ns as "from": Duration, default "0 s";
        /// Time from which no packet is late any more.
        until_ns as "until": DurationOrOff, default "off";
    }
}

impl Late {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        require(
            self.until_ns.is_none_or(|until_ns| self.from_ns < until_ns),
            r.place("until"),
            "a time of lateness that ends before it begins",
            "until after from",
        )
    }
}

keys! {
    /// A device on the path that receives packets by interrupt: all packets that arrived since the last interrupt are
    /// forwarded together.
    pub struct Batch in "batch" {
        /// Time from the first waiting packet to the interrupt.
        delay_ns as "delay": Duration, default "0 s";
        /// Minimum time between two interrupts (interrupt throttling).
        gap_ns as "gap": Duration, default "250 us";
        /// Time that its processor takes to forward a packet; 0: all of an interrupt at the same instant.
        packet_ns as "packet_time": Duration, default "0 s";
    }
}

keys! {
    /// A link that periodically moves the head of its queue back (Fukuda and others, ICN 2018).
    pub struct Periodic in "periodic" {
        /// RI: the packet at the head of the queue is moved behind this many others; 0: never.
        interval_packets as "interval": Packets, required;
        /// Packets of the queue that are in the device: one is moved only if more than RI of these wait. The others wait
        /// above it, as with the device queues of 100 packets of ns-3.
        device_queue_packets as "device_queue": Packets, unset "all", from "1";
        /// The link.
        link: Line, flat;
    }
}

keys! {
    /// A network processor, the IXP 2400 of `inorder netproc`: its threads finish packets out of order, and an ordering scheme
    /// decides in which order they leave. Other traffic shares its threads and memories.
    pub struct Processor in "processor", check Processor::check {
        /// How threads get positions in the transmit buffer, and what keeps packets in order.
        scheme: OrderingScheme, required;
        /// In which order the slots of the transmit buffer are emptied.
        dequeue: Dequeue, default "scheme";
        /// Micro-engines, for schemes that are not pipelines; those (AISR and packet sort) always use 8.
        engines: Count32, default "8", in "1"..="8";
        /// Threads of each engine.
        threads: Count32, default "8", in "1"..="8";
        /// Longest IP packet, which decides how many fit in its buffers of 8 KB; longer ones are dropped.
        longest_bytes as "longest": Size, default "1500 B", in "64 B"..="8000 B";
        /// Rate of the other traffic, whose packets come at random times (Poisson). It keeps the threads busy and fills slots
        /// for which the path has no packet.
        background_bits_per_s as "background": Rate, unset "none", above "0 bit/s";
        /// Length of its IP packets.
        background_bytes as "background_size": Size, unset "longest", in "20 B"..="8000 B";
        /// Packets that may wait before its receive buffer.
        queue_packets as "queue": Packets, default "1000 packets", from "1";
    }
}

impl Processor {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        let fits = self.background_bytes <= Some(self.longest_bytes);
        require(
            fits || self.background_bits_per_s.is_none(),
            r.place("background_size"),
            "packets longer than the longest",
            "at most longest",
        )?;
        require(
            self.background_bits_per_s.is_some() || !self.waits_for_others(),
            r.place("scheme"),
            "slots that are emptied in turn, without other traffic that fills those of idle threads",
            "a background rate, or dequeue = \"completion\"",
        )
    }

    /// Whether a packet may wait until other packets fill the slots before its own.
    fn waits_for_others(&self) -> bool {
        let by_thread = matches!(
            self.scheme,
            OrderingScheme::Contiguous | OrderingScheme::Strided
        );
        match self.dequeue {
            Dequeue::Scheme => by_thread,
            Dequeue::Strict => by_thread || self.scheme == OrderingScheme::Local,
            Dequeue::Completion => false,
        }
    }
}

choices! {
    /// In which order a network processor empties the slots of its transmit buffer.
    pub enum Dequeue {
        /// As in `inorder netproc`: local allocation by completion, all others strictly.
        Scheme = "scheme",
        /// Slot by slot: an unfilled slot keeps all later ones waiting, as in the hardware.
        Strict = "strict",
        /// In the order in which they were filled.
        Completion = "completion",
    }
}

choices! {
    /// Ordering schemes of network processors, by the names of `inorder netproc`.
    pub enum OrderingScheme {
        /// Every thread has its own slots; the threads of an engine are adjacent.
        Contiguous = "contiguous",
        /// Every thread has its own slots; the engines alternate.
        Strided = "strided",
        /// An engine's threads compete for its slots under a lock.
        Local = "local",
        /// All threads compete for all slots under one lock.
        Global = "global",
        /// Inter-thread signalling: threads receive and transmit in turn.
        Its = "its",
        /// Numbered on arrival, released by number (AISR).
        Aisr = "aisr",
        /// AISR with two engines that receive.
        AisrWide = "aisr-wide",
        /// A pipeline with an engine that sorts each flow.
        PacketSort = "packet-sort",
    }
}

keys! {
    /// Distributes packets over several unequal paths.
    pub struct Spray in "spray", check Spray::check {
        /// Which packet takes which path.
        policy: Policy, default "random";
        /// A pause after which a flow may move to another path.
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
    /// One of the paths over which packets are sprayed.
    pub struct Lane in "lane" {
        /// The link of this path.
        link: Line, flat;
        /// Standard deviation of a normal jitter behind the link.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Probability that a packet is lost behind the link.
        loss: Share, default "0 %";
    }
}

choices! {
    /// Which packet takes which path.
    pub enum Policy {
        /// A random path for each packet.
        Random = "random",
        /// Round robin.
        RoundRobin = "round-robin",
        /// One path for each flow.
        Flow = "flow",
        /// One path for each flow, chosen again after a pause.
        Flowlet = "flowlet",
    }
}

keys! {
    /// Bursts of late packets, as caused by LTE's retransmissions.
    pub struct Radio in "radio" {
        /// Transmission time interval; the packets of one interval share a block.
        tti_ns as "tti": Duration, default "1 ms", above "0 s";
        /// Probability that a block fails if the previous one succeeded.
        block_error: Share, default "10 %";
        /// Probability that a block fails if the previous one failed.
        block_error_again: Share, default "10 %";
        /// Probability that a retransmission fails.
        retransmission_error: Share, default "10 %";
        /// Time between two transmissions of the same block.
        harq_rtt_ns as "harq_rtt": Duration, default "8 ms";
        /// Number of HARQ retransmissions before RLC retransmits.
        harq_retransmissions: Count32, default "4";
        /// Additional delay when RLC retransmits; off: the block is lost.
        rlc_delay_ns as "rlc_delay": DurationOrOff, default "20 ms";
        /// Whether RLC delivers packets in order.
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
        /// Always, at constant intervals.
        Constant = "constant",
        /// As a Poisson process.
        Poisson = "poisson",
        /// In bursts and pauses with Pareto-distributed durations.
        OnOff = "on-off" {
            /// Mean duration of a burst.
            on_ns as "on": Duration, default "500 ms";
            /// Mean duration of a pause.
            off_ns as "off": Duration, default "500 ms";
            /// Index of both Pareto distributions; below 2 the variance is infinite.
            shape: Number, default "1.5", above "1";
        },
    }
}

keys! {
    /// A token bucket as in TBF or HTB.
    pub struct TokenBucket in "token-bucket" {
        /// Rate at which tokens are added.
        bits_per_s as "rate": Rate, required, above "0 bit/s";
        /// Maximum number of tokens in the bucket; with `charge = "before"` larger packets are dropped (TBF).
        burst_bytes as "burst": Size, required;
        /// Rate of a second bucket that limits bursts.
        peak_bits_per_s as "peak_rate": Rate, unset "no second bucket";
        /// Maximum number of tokens in the second bucket.
        peak_burst_bytes as "peak_burst": Size, default "1514 B", with peak_rate;
        /// When the tokens for a packet must be available.
        charge: Charge, default "before";
        /// The queue for packets that wait for tokens.
        buffer: Buffer, flat;
        /// Bytes charged in addition to the IP packet.
        framing: Framing, default "ethernet-header";
    }
}

choices! {
    /// When the tokens for a packet must be available.
    pub enum Charge {
        /// Before it is sent (TBF).
        Before = "before",
        /// Afterwards: the balance may become negative (HTB).
        After = "after",
    }
}

keys! {
    /// All features of netem in the kernel's order: duplicate, loss, corrupt, limit, delay.
    pub struct Netem in "netem" {
        /// Mean delay.
        delay_ns as "delay": Duration, default "0 s";
        /// Standard deviation of a normal jitter, or half the range of a uniform one.
        jitter_ns as "jitter": Duration, default "0 s";
        /// Shape of the jitter.
        distribution: Distribution, default "uniform";
        /// Correlation of each random draw with the one before.
        correlation: Share, default "0 %";
        /// Maximum number of packets in it at the same time.
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
        /// A packet may be sent at once after gap - 1 delayed ones.
        gap: Count32, default "1";
        /// `rate`: each packet is timed relative to the last one queued.
        bits_per_s as "rate": Rate, unset "none";
    }
}

/// The kinds of stages. Each one is declared above under its own name.
macro_rules! stages {
    ($($name:ident,)+) => {
        /// The action of a stage. The code that builds stages matches all variants, so the compiler reports a missing
        /// one.
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
    Link, Device, Delay, Loss, Outage, Duplicate, Corrupt, Reorder, Late, Batch, Periodic, Processor, Spray, Radio,
    SharedLink, TokenBucket, Netem,
}
