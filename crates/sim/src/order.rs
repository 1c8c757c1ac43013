//! Reordering of a stream of numbered packets: always the share of late packets, all metrics on request.

use inorder_metrics::{Config, Metrics, Summary};

/// Counts late packets.
#[derive(Clone, Debug, Default)]
pub struct Order {
    received: u64,
    reordered: u64,
    highest: u32,
    metrics: Option<Box<Metrics>>,
}

impl Order {
    /// Counts only, or all metrics with this displacement threshold; packet numbers start at 1.
    pub fn new(threshold: Option<u16>) -> Self {
        let config = |threshold| Config {
            displacement_threshold: threshold,
            buffer_threshold: threshold,
            start: Some(1),
            ..Config::default()
        };
        Order {
            metrics: threshold.map(|threshold| Box::new(Metrics::new(config(threshold)))),
            ..Order::default()
        }
    }

    /// Counts the next arrival.
    #[inline]
    pub fn update(&mut self, number: u32, now_ns: i64, bytes: u32) {
        self.received += 1;
        // RFC 4737 section 3.3: reordered if an earlier arrival has a larger number.
        if number < self.highest {
            self.reordered += 1;
        } else {
            self.highest = number;
        }
        if let Some(metrics) = &mut self.metrics {
            metrics.update(number.into(), now_ns, bytes);
        }
    }

    /// Number of packets counted.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Of those, late ones.
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// All metrics, if requested.
    pub fn finish(self) -> Option<Box<Summary>> {
        self.metrics.map(|metrics| Box::new(metrics.finish()))
    }
}
