//! What `inorder watch` counts over all its intervals.

use inorder_detect::Totals;
use inorder_report::{Column, Kind};

/// Sums over all intervals so far.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The interface.
    pub interface: String,
    /// Intervals analysed.
    pub intervals: u64,
    /// Of these, intervals whose flows could not be written into a file.
    pub unwritten: u64,
    /// Frames analysed.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Frames that the kernel dropped because they were not taken fast enough.
    pub missed: u64,
    /// TCP flows with data, counted in each interval.
    pub flows: u64,
    /// Flows with reordering, counted in each interval.
    pub reordered_flows: u64,
    /// Original transmissions that certainly arrived.
    pub arrived: u64,
    /// Of these, reordered.
    pub reordered: u64,
    /// Packets lost.
    pub losses: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Spurious ones.
    pub spurious: u64,
    /// Recoveries.
    pub recoveries: u64,
    /// Spurious ones.
    pub spurious_recoveries: u64,
    /// Time-outs.
    pub timeouts: u64,
}

impl Watched {
    /// Nothing yet.
    pub fn new(interface: &str) -> Self {
        Watched {
            interface: interface.to_owned(),
            ..Watched::default()
        }
    }

    /// Adds an interval.
    pub fn add(&mut self, frames: u64, bytes: u64, totals: &Totals) {
        self.intervals += 1;
        self.frames += frames;
        self.bytes += bytes;
        self.flows += totals.flows;
        self.reordered_flows += totals.reordered_flows;
        self.arrived += totals.order.arrived;
        self.reordered += totals.order.reordered;
        self.losses += totals.originals.lost;
        self.retransmissions += totals.retransmissions.total;
        self.spurious += totals.retransmissions.spurious;
        self.recoveries += totals.recoveries.total;
        self.spurious_recoveries += totals.recoveries.spurious;
        self.timeouts += totals.recoveries.timeouts;
    }
}

type Of = Column<Watched>;

/// The columns of the sums.
pub static WATCHED: &[Of] = &[
    Of::new("interface", Kind::Text, "The interface.", |w| {
        (&w.interface).into()
    }),
    Of::new("intervals", Kind::Count, "Intervals analysed.", |w| {
        w.intervals.into()
    }),
    Of::new(
        "unwritten",
        Kind::Count,
        "Intervals whose flows could not be written into a file.",
        |w| w.unwritten.into(),
    ),
    Of::new("frames", Kind::Count, "Frames analysed.", |w| {
        w.frames.into()
    }),
    Of::new(
        "size",
        Kind::Bytes,
        "Bytes of these frames on the wire.",
        |w| w.bytes.into(),
    )
    .unit("bytes"),
    Of::new(
        "missed",
        Kind::Count,
        "Frames that the kernel dropped because they were not taken fast enough.",
        |w| w.missed.into(),
    ),
    Of::new(
        "flows",
        Kind::Count,
        "TCP flows that carried data, counted in each interval.",
        |w| w.flows.into(),
    ),
    Of::new(
        "reordered_flows",
        Kind::Count,
        "Flows with late packets, counted in each interval.",
        |w| w.reordered_flows.into(),
    ),
    Of::new(
        "arrived",
        Kind::Count,
        "Original transmissions that certainly arrived.",
        |w| w.arrived.into(),
    ),
    Of::new(
        "reordered",
        Kind::Count,
        "Of these, late ones (RFC 4737).",
        |w| w.reordered.into(),
    ),
    Of::new("losses", Kind::Count, "Packets lost.", |w| w.losses.into()),
    Of::new("retransmissions", Kind::Count, "Retransmissions.", |w| {
        w.retransmissions.into()
    }),
    Of::new(
        "spurious_retransmissions",
        Kind::Count,
        "Retransmissions of data that had arrived.",
        |w| w.spurious.into(),
    ),
    Of::new("recoveries", Kind::Count, "Recoveries.", |w| {
        w.recoveries.into()
    }),
    Of::new(
        "spurious_recoveries",
        Kind::Count,
        "Recoveries although nothing was lost.",
        |w| w.spurious_recoveries.into(),
    ),
    Of::new("timeouts", Kind::Count, "Retransmission time-outs.", |w| {
        w.timeouts.into()
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_detect::OrderTotals;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(WATCHED), Vec::<String>::new());
    }

    #[test]
    fn intervals_add_up() {
        let totals = Totals {
            flows: 2,
            order: OrderTotals {
                arrived: 10,
                reordered: 1,
                ..OrderTotals::default()
            },
            ..Totals::default()
        };
        let mut watched = Watched::new("eth0");
        watched.add(20, 3_000, &totals);
        watched.add(5, 1_000, &totals);
        assert_eq!(
            (
                watched.intervals,
                watched.frames,
                watched.arrived,
                watched.reordered
            ),
            (2, 25, 20, 2)
        );
    }
}
