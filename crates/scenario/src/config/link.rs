//! Links and their queues.

use crate::error::Problem;
use crate::quantity::{QueueLimit, duration, queue_limit, rate, require};
use crate::reader::Reader;
use crate::value::Node;

/// A link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Bits per second on the wire, from time 0 on.
    pub bits_per_s: u64,
    /// Changes of the rate, in the order of their times.
    pub changes: Vec<RateStep>,
    /// They repeat so often, nanoseconds.
    pub period_ns: Option<i64>,
    /// Propagation, nanoseconds.
    pub delay_ns: i64,
    /// What waits at most.
    pub queue: Queue,
    /// Bytes beside the IP packet.
    pub framing: Framing,
}

/// From `at_ns` on, the rate is `bits_per_s`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateStep {
    /// Nanoseconds.
    pub at_ns: i64,
    /// Bits per second; 0 is an outage.
    pub bits_per_s: u64,
}

/// What a queue holds at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// All that comes.
    Unlimited,
    /// Packets.
    Packets(u64),
    /// Bytes on the wire.
    Bytes(u64),
}

/// Bytes on the wire beside the IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// 38 with preamble and gap.
    Ethernet,
    /// 14.
    EthernetHeader,
    /// 2.
    Ppp,
    /// None.
    None,
}

impl Link {
    pub(crate) fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        let bits_per_s = r.get("rate", rate)?;
        let changes = r.maybe("rate_changes", steps)?.unwrap_or_default();
        let some = bits_per_s > 0 || !changes.is_empty();
        require(
            some,
            r.place("rate"),
            "a link without a rate",
            "more than 0 bit/s",
        )?;
        Ok(Link {
            bits_per_s,
            changes,
            period_ns: r.maybe("rate_period", duration)?,
            delay_ns: r.get("delay", duration)?,
            queue: queue(r, bits_per_s)?,
            framing: framing(r)?,
        })
    }
}

pub(super) fn framing(r: &Reader<'_>) -> Result<Framing, Problem> {
    Ok(match r.choice("framing")? {
        0 => Framing::Ethernet,
        1 => Framing::EthernetHeader,
        2 => Framing::Ppp,
        _ => Framing::None,
    })
}

pub(super) fn queue(r: &Reader<'_>, bits_per_s: u64) -> Result<Queue, Problem> {
    Ok(match r.get("queue", queue_limit)? {
        QueueLimit::Unlimited => Queue::Unlimited,
        QueueLimit::Packets(packets) => Queue::Packets(packets),
        QueueLimit::Bytes(bytes) => Queue::Bytes(bytes),
        QueueLimit::Bdp(times) => {
            let rtt_ns = r.maybe("rtt", duration)?.ok_or_else(|| r.missing("rtt"))?;
            let bdp = u128::from(bits_per_s) * u128::from(rtt_ns.cast_unsigned()) / 8_000_000_000;
            Queue::Bytes((bdp as f64 * times) as u64)
        }
    })
}

/// `[["5 s", "30 Mbit/s"], ...]`.
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
