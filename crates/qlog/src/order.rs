//! Whether a log has an acknowledgement before or behind what the sender did for it.
//!
//! aioquic and golang.org/x/net write a packet before they process it, quic-go and ngtcp2 behind that: there the losses and the
//! round trip that an acknowledgement showed stand before it.

/// Which comes first in a log.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Order {
    /// The packet that was received, then what follows from it.
    #[default]
    CauseFirst,
    /// What follows from a packet, then the packet.
    CauseLast,
}

/// Maximum time between both, nanoseconds: ends process a packet in less.
pub(crate) const PROCESSING_NS: i64 = 1_000_000;

/// Maximum disagreement of one measurement, nanoseconds, so that a few strange ones decide nothing.
const MAX_ERROR_NS: i64 = 10_000_000;

/// Factor by which the usual order has to fit worse: where round trips hardly change, both fit.
const MARGIN: i64 = 2;

/// Learns the order from the round trips: an acknowledgement measures the time since its highest packet was sent (RFC 9002
/// section 5.1), and the log has that value before or behind it.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Evidence {
    /// What the acknowledgement before measured.
    measured_ns: Option<i64>,
    /// Sums of the differences between what was measured and the latest round trip in the log, by both orders.
    first_ns: i64,
    last_ns: i64,
}

impl Evidence {
    /// An acknowledgement that measures this round trip arrives; `latest_ns` is the latest round trip that the log has so far.
    pub(crate) fn acknowledged(&mut self, measured_ns: i64, latest_ns: i64) {
        if latest_ns <= 0 {
            return;
        }
        let off = |measured_ns: i64| {
            let off = measured_ns.saturating_sub(latest_ns).saturating_abs();
            off.min(MAX_ERROR_NS)
        };
        if let Some(before_ns) = self.measured_ns {
            self.first_ns = self.first_ns.saturating_add(off(before_ns));
            self.last_ns = self.last_ns.saturating_add(off(measured_ns));
        }
        self.measured_ns = Some(measured_ns);
    }

    /// The order that fits, if one fits clearly better.
    pub(crate) fn order(&self) -> Order {
        match self.last_ns.saturating_mul(MARGIN) < self.first_ns {
            true => Order::CauseLast,
            false => Order::CauseFirst,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn the_latest_round_trip_shows_the_order() {
        let measured = [20, 27, 22, 31].map(|ms| ms * MS);
        let (mut behind, mut before) = (Evidence::default(), Evidence::default());
        assert_eq!(before.order(), Order::CauseFirst);
        for (i, ns) in measured.into_iter().enumerate() {
            behind.acknowledged(ns, ns + 1_000);
            let earlier = i.checked_sub(1).map_or(0, |i| measured[i]);
            before.acknowledged(ns, earlier);
        }
        assert_eq!(behind.order(), Order::CauseLast);
        assert_eq!(before.order(), Order::CauseFirst);
    }
}
