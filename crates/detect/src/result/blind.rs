//! What a capture does not show of a flow, or no memory holds.

use inorder_base::named;

named! {
    /// Something that is not known of a flow. Verdicts that depend on it are ambiguous (likely at most, where it is
    /// [`NotSeen::SackOptions`]), and [`FlowReport::rough`](super::FlowReport::rough) is set. Outputs have its name and its sentence.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum NotSeen {
        /// Where the capture was made.
        Vantage = "vantage",
        /// TCP options of acknowledgements: they did not fit the snap length, SACK blocks are missing.
        SackOptions = "sack-options",
        /// The receiver's packets.
        OneWay = "one-way",
        /// The order of the packets: some were captured before what they answer, or their times contradict their order (two
        /// clocks, or a file that is not in the order of arrival).
        Order = "order",
        /// When the packets came: the capture has the times at which they were fetched, many at once.
        Times = "times",
        /// Whether the receiver would have sent a SACK block: neither the handshake nor one was captured.
        Sack = "sack",
        /// The lowest of the missing ranges: there were more at once than are remembered.
        Holes = "holes",
    }
}

impl NotSeen {
    /// What is so where this is not known, as a main clause.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Vantage => "nothing shows where the capture was made",
            Self::SackOptions => "the snap length cuts off SACK options",
            Self::OneWay => "the receiver's packets are missing",
            Self::Order => "times and order of the frames contradict each other",
            Self::Times => "the capture has the times at which packets were fetched, many at once",
            Self::Sack => "neither a whole handshake nor a SACK block was captured",
            Self::Holes => "more ranges were missing at once than are remembered",
        }
    }
}

/// What is not known of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Blind(u8);

impl Blind {
    /// True if anything of the flow is not known.
    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// True if `what` is not known.
    pub fn has(self, what: NotSeen) -> bool {
        self.0 & (1 << what as u8) != 0
    }

    /// The same, and `what` is not known either.
    #[must_use]
    pub fn with(self, what: NotSeen) -> Self {
        Blind(self.0 | 1 << what as u8)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = NotSeen> {
        NotSeen::ALL.into_iter().filter(move |&what| self.has(what))
    }
}

impl FromIterator<NotSeen> for Blind {
    fn from_iter<T: IntoIterator<Item = NotSeen>>(all: T) -> Self {
        all.into_iter().fold(Blind::default(), Blind::with)
    }
}

/// Numbers of flows of which something is not known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BlindFlows {
    /// Flows of which anything is not known.
    pub any: u64,
    by: [u64; NotSeen::NAMES.len()],
    /// Flows of which all is seen, and counts are approximate, because they have no SACK.
    pub rough: u64,
}

impl BlindFlows {
    /// Flows of which this is not known. Where the receiver's packets are missing, that SACK is not seen says nothing more, and
    /// is not counted.
    pub fn of(&self, what: NotSeen) -> u64 {
        self.by[what as usize]
    }

    pub(super) fn add(&mut self, flow: Blind, rough: bool) {
        self.any += u64::from(flow.any());
        self.rough += u64::from(rough && !flow.any());
        let telling = |&what: &NotSeen| what != NotSeen::Sack || !flow.has(NotSeen::OneWay);
        for what in flow.iter().filter(telling) {
            self.by[what as usize] += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &BlindFlows) {
        self.any += other.any;
        self.rough += other.rough;
        for (sum, more) in self.by.iter_mut().zip(other.by) {
            *sum += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_counted_by_what_is_not_seen_of_them() {
        let all: Blind = [NotSeen::OneWay, NotSeen::Sack].into_iter().collect();
        let mut flows = BlindFlows::default();
        flows.add(all, true);
        flows.add(Blind::default(), true);
        let mut sum = flows;
        sum.merge(&flows);
        assert_eq!((sum.any, sum.rough, sum.of(NotSeen::OneWay)), (2, 2, 2));
        assert_eq!(sum.of(NotSeen::Sack), 0, "the receiver says nothing at all");
        assert!(all.iter().eq([NotSeen::OneWay, NotSeen::Sack]));
    }
}
