//! The result of one direction, and its columns.

use inorder_metrics::{COUNTS, METRICS, Metrics, Reordering};
use inorder_report::{Value, columns};

use super::Protocol;

/// What arrived in one direction.
#[derive(Clone, Debug)]
pub struct Direction {
    /// `forward`, `reverse` or `round trip`.
    pub name: &'static str,
    /// Packets sent in this direction, as far as is known.
    pub sent: u64,
    /// Packets lost in this direction.
    pub lost: u64,
    /// Copies.
    pub duplicates: u64,
    /// Every metric of the order.
    pub order: Reordering,
    /// Delays above the smallest one, ascending, nanoseconds.
    above_ns: Vec<i64>,
    /// Smallest delay. For one direction it contains the difference of the clocks, so only that of the round trip is
    /// printed.
    min_ns: Option<i64>,
}

/// A direction while packets arrive.
pub(super) struct Arriving {
    pub sent: u64,
    name: &'static str,
    metrics: Metrics,
    delays_ns: Vec<i64>,
}

impl Direction {
    fn above(&self, quantile: f64) -> Value<'static> {
        let last = self.above_ns.len().saturating_sub(1);
        let at = (last as f64 * quantile).round() as usize;
        self.above_ns.get(at).copied().into()
    }
}

impl Arriving {
    pub(super) fn new(name: &'static str, sent: u64) -> Self {
        Arriving {
            sent,
            name,
            metrics: Metrics::default(),
            delays_ns: Vec::new(),
        }
    }

    /// Packet `number`, counted from 0, arrived at `at_ns`.
    pub(super) fn arrived(&mut self, number: u64, at_ns: i64, delay_ns: i64) {
        // The metrics count from 1 on.
        self.metrics.update(number.saturating_add(1), at_ns, 0);
        self.delays_ns.push(delay_ns);
    }

    /// `unknown`: packets that arrived, but of which it is unknown which ones they are.
    pub(super) fn finish(mut self, unknown: u64) -> Direction {
        let summary = self.metrics.finish();
        self.delays_ns.sort_unstable();
        let min_ns = self.delays_ns.first().copied();
        let least = min_ns.unwrap_or(0);
        self.delays_ns
            .iter_mut()
            .for_each(|delay| *delay = delay.saturating_sub(least));
        Direction {
            name: self.name,
            sent: self.sent,
            lost: self
                .sent
                .saturating_sub(summary.order.received)
                .saturating_sub(unknown),
            duplicates: summary.counts.duplicates,
            order: summary.order,
            above_ns: self.delays_ns,
            min_ns,
        }
    }
}

/// The names of the directions.
const NAMES: &[&str] = &["forward", "reverse", "round trip"];

columns! {
    /// The columns of a direction: counts, delays, and every metric of `inorder-metrics`.
    pub DIRECTION: Direction, |d|
    "direction": Choice(NAMES), "Forward: to the peer. Reverse: its answers. Round trip: answers in the order of the packets they answer."
        => d.name, shown("direction", 0);
    "sent": Count, "Packets sent in this direction, as far as is known: answers behind the last one that arrived are unknown."
        => d.sent, shown("sent", 0);
    "counts": Part(COUNTS), "Received and reordered packets." => &d.order;
    "lost": Count, "Packets lost in this direction; forward, packets whose answers were lost do not count."
        => d.lost, shown("lost", 0);
    "duplicates": Count, "Copies of packets that had arrived before." => d.duplicates, shown("copies", 5);
    "min_delay_ms": Duration, "Smallest round-trip time without the time inside the peer; absent for one direction, because the clocks differ."
        => (d.name == "round trip").then_some(d.min_ns).flatten(), optional(), in_group("delay", "min", 3);
    "median_above_min_ms": Duration, "Median of the delays above the smallest one of the direction."
        => d.above(0.5), optional(), in_group("above the min", "median", 4);
    "p99_above_min_ms": Duration, "99th percentile of the delays above the smallest one."
        => d.above(0.99), optional(), in_group("above the min", "p99", 3);
    "max_above_min_ms": Duration, "Greatest delay above the smallest one."
        => d.above(1.0), optional(), in_group("above the min", "max", 4);
    "metrics": Part(METRICS), "The metrics that are single numbers." => &d.order;
}

/// The result of a probe.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The peer, as given.
    pub host: String,
    /// How it was asked.
    pub protocol: Protocol,
    /// Size of the UDP payload or ICMP message, bytes.
    pub bytes: u64,
    /// False if the probe was interrupted.
    pub complete: bool,
    /// The directions that can be distinguished.
    pub directions: Vec<Direction>,
}

columns! {
    /// The columns of the result.
    pub PROBED: Probed, |p|
    "host": Text, "The peer." => &p.host;
    "protocol": Choice(Protocol::NAMES), "STAMP (RFC 8762) or ICMP echo." => p.protocol.name();
    "size": Bytes, "Size of the UDP payload or ICMP message." => p.bytes, unit("bytes");
    "complete": Flag, "False if the probe was interrupted." => p.complete;
    "directions": Rows(DIRECTION), "Each direction that can be distinguished." => &p.directions;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(DIRECTION), Vec::<String>::new());
        assert_eq!(inorder_report::problems(PROBED), Vec::<String>::new());
    }
}
