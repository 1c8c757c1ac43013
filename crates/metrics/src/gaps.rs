//! Gaps between reordering discontinuities (RFC 4737 section 4.5).

use crate::Distribution;

/// A reordering discontinuity (RFC 4737 section 4.5.3): the first arrival that overtook a packet which arrived later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discontinuity {
    /// Position among the first copies received, from 1.
    pub position: u64,
    /// Arrival time, nanoseconds.
    pub time_ns: i64,
}

/// Distances between successive discontinuities, in packets and in time (RFC 4737 section 4.5.4).
///
/// The first discontinuity has the gap 0 by definition and is not part of the
/// distributions.
#[derive(Clone, Default, Debug)]
pub struct Gaps {
    count: u64,
    first: Option<Discontinuity>,
    last: Option<Discontinuity>,
    packets: Distribution,
    time_ns: Distribution,
}

inorder_base::heap!(Gaps: packets, time_ns);

impl Gaps {
    /// No discontinuity yet.
    pub fn new() -> Self {
        Gaps::default()
    }

    /// Takes the next discontinuity in order of position, or one before all others: a stream's first arrival becomes
    /// a discontinuity only when a packet sent before it arrives. Other positions are out of order and ignored.
    ///
    /// Returns the gap to its neighbour in packets and nanoseconds; (0, 0) for the first.
    pub fn update(&mut self, d: Discontinuity) -> (u64, i64) {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            (self.first, self.last, self.count) = (Some(d), Some(d), 1);
            return (0, 0);
        };
        if d.position > last.position {
            self.last = Some(d);
            self.record(last, d)
        } else if d.position < first.position {
            self.first = Some(d);
            self.record(d, first)
        } else {
            (0, 0)
        }
    }

    fn record(&mut self, from: Discontinuity, to: Discontinuity) -> (u64, i64) {
        let packets = to.position - from.position;
        let time = to.time_ns.saturating_sub(from.time_ns);
        self.count += 1;
        self.packets.update(packets);
        self.time_ns.update(time.max(0) as u64);
        (packets, time)
    }

    /// Number of discontinuities.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gaps in packets.
    pub fn packets(&self) -> &Distribution {
        &self.packets
    }

    /// Gaps in nanoseconds; 0 if the clock stepped back.
    pub fn time_ns(&self) -> &Distribution {
        &self.time_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u64) -> Discontinuity {
        Discontinuity {
            position,
            time_ns: 10 * position as i64,
        }
    }

    #[test]
    fn discontinuities_may_be_appended_or_put_first() {
        let mut gaps = Gaps::new();
        assert_eq!(gaps.update(at(4)), (0, 0));
        assert_eq!(gaps.update(at(11)), (7, 70));
        assert_eq!(gaps.update(at(1)), (3, 30));
        assert_eq!(gaps.update(at(5)), (0, 0));
        assert_eq!((gaps.count(), gaps.packets().sum()), (3, 10));
    }
}
