//! Links and their queues.

use super::discipline::Discipline;
use crate::context::Context;
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{Duration, Kind, Limit, Rate, TraceFile};
use crate::quantity::{Queue, QueueLimit, duration, rate, require};
use crate::reader::Reader;
use crate::schema::Form;
use crate::trace::Trace;
use crate::value::Node;

keys! {
    /// A link with a rate, a propagation delay and a queue.
    pub struct Link in "link" {
        /// The line.
        line: Line, flat;
        /// Which packets of its queue are dropped.
        discipline: Discipline, flat;
    }
}

keys! {
    /// The sending host's own network device, as the first stage of a path: what its full queue does not take is not
    /// lost. TCP keeps the segment and reduces its window once, as after a congestion mark (Linux, local congestion).
    /// Acknowledgements without data are dropped, and so is everything of hosts that are not next to it.
    pub struct Device in "device" {
        /// The line.
        line: Line, flat;
    }
}

keys! {
    /// Rate, propagation delay and the size of the queue.
    pub struct Line in "link", check Line::check {
        /// Bits per second on the wire. Needed unless `trace` is given.
        bits_per_s as "rate": Rate, default "0 bit/s";
        /// `[["5 s", "30 Mbit/s"], ...]`: the rate from each time on; "0 bit/s" is an outage.
        changes as "rate_changes": RateSteps, blank "none";
        /// Period with which the changes repeat.
        period_ns as "rate_period": Duration, unset "once", above "0 s", with rate_changes;
        /// A file in Mahimahi's format instead of a rate: on each line the time in milliseconds of an opportunity to send
        /// 1,500 bytes of IP packets, repeated after the last one. A packet may use parts of several opportunities; what is not
        /// used is lost.
        trace: TraceFile, unset "none";
        /// Propagation delay.
        delay_ns as "delay": Duration, default "0 s";
        /// Size of the queue.
        buffer: Buffer, flat;
        /// Bytes on the wire in addition to the IP packet.
        framing: Framing, default "ethernet";
    }
}

impl Line {
    /// Ethernet of this rate, without propagation delay or limit of its queue.
    pub fn new(bits_per_s: u64) -> Self {
        Line {
            bits_per_s,
            changes: Vec::new(),
            period_ns: None,
            trace: None,
            delay_ns: 0,
            buffer: QueueLimit::Unlimited.into(),
            framing: Framing::Ethernet,
        }
    }

    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        const OF_A_RATE: [&str; 4] = ["rate", "rate_changes", "rate_period", "framing"];
        if self.trace.is_some() {
            let given = OF_A_RATE.iter();
            given.for_each(|key| r.idle(key, "with a trace", "either a rate or a trace"));
            return Ok(());
        }
        ["rate", "rate_changes", "framing"]
            .iter()
            .for_each(|key| r.used(key));
        if r.child("rate").is_none() {
            return Err(r.missing("rate", "Bits per second on the wire, or a trace"));
        }
        require(
            self.bits_per_s > 0 || !self.changes.is_empty(),
            r.place("rate"),
            "a link without a rate",
            "more than 0 bit/s",
        )?;
        let last_ns = self.changes.last().map_or(0, |change| change.at_ns);
        require(
            self.period_ns.is_none_or(|period_ns| last_ns < period_ns),
            r.place("rate_period"),
            "rate_period ends before the last of rate_changes, which never comes",
            "a period that contains all changes",
        )
    }

    /// Maximum content of the queue.
    pub fn queue(&self) -> Queue {
        let mean = self.trace.as_ref().map(Trace::mean_bits_per_s);
        self.buffer.queue(mean.unwrap_or(self.bits_per_s))
    }
}

keys! {
    /// Maximum content of a queue.
    pub struct Buffer in "queue", check Buffer::check {
        /// Maximum content; the packet being sent does not count.
        limit as "queue": Limit, default "unlimited";
        /// Round-trip time of a bandwidth-delay product.
        rtt_ns as "rtt": Duration, unset "needed by a queue in BDP";
    }
}

impl From<QueueLimit> for Buffer {
    /// Without a round-trip time.
    fn from(limit: QueueLimit) -> Self {
        let rtt_ns = None;
        Buffer { limit, rtt_ns }
    }
}

impl Buffer {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        match (self.limit, self.rtt_ns) {
            (QueueLimit::Bdp(_), None) => {
                Err(r.missing("rtt", "the round-trip time of its queue in BDP"))
            }
            (QueueLimit::Bdp(_), Some(_)) => {
                r.used("rtt");
                Ok(())
            }
            (_, _) => {
                r.idle("rtt", "without a queue in BDP", "queue = \"1 BDP\"");
                Ok(())
            }
        }
    }

    /// The limit for a link or bucket of this rate.
    pub fn queue(&self, bits_per_s: u64) -> Queue {
        self.limit.resolve(bits_per_s, self.rtt_ns.unwrap_or(0))
    }
}

choices! {
    /// Bytes on the wire in addition to the IP packet.
    pub enum Framing {
        /// 38 bytes: Ethernet with preamble and inter-packet gap.
        Ethernet = "ethernet",
        /// 14 bytes: only the Ethernet header.
        EthernetHeader = "ethernet-header",
        /// 2 bytes.
        Ppp = "ppp",
        /// 0 bytes.
        None = "none",
    }
}

/// From `at_ns` on, the rate is `bits_per_s`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateStep {
    /// Nanoseconds.
    pub at_ns: i64,
    /// Bits per second; 0 is an outage.
    pub bits_per_s: u64,
}

/// `[["5 s", "30 Mbit/s"], ...]`.
#[derive(Clone, Copy, Debug)]
pub enum RateSteps {}

impl Kind for RateSteps {
    type Value = Vec<RateStep>;
    const FORM: Form = Form::RateSteps;
    fn read(node: &Node, _: &Context<'_>) -> Result<Vec<RateStep>, Problem> {
        steps(node)
    }
    fn blank() -> Node {
        crate::kind::blank_list()
    }
}

fn steps(node: &Node) -> Result<Vec<RateStep>, Problem> {
    let mut steps: Vec<RateStep> = Vec::new();
    for pair in node.elements() {
        let [at, to] = pair.elements() else {
            let expected = "pairs of a time and a rate, [[\"5 s\", \"30 Mbit/s\"], ...]";
            return Err(pair.wrong("a change", expected));
        };
        let step = RateStep {
            at_ns: duration(at)?,
            bits_per_s: rate(to)?,
        };
        let later = steps.last().is_none_or(|last| last.at_ns < step.at_ns);
        require(
            later,
            &at.place,
            "a change before the last one",
            "later and later times",
        )?;
        steps.push(step);
    }
    Ok(steps)
}
