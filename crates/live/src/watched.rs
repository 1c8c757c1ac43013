//! What `inorder watch` counts over all its intervals.

use inorder_detect::Totals;
use inorder_report::columns;

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

columns! {
    /// The columns of the sums.
    pub WATCHED: Watched, |w|
    "interface": Text, "The interface." => &w.interface;
    "intervals": Count, "Intervals analysed." => w.intervals;
    "unwritten": Count, "Intervals whose flows could not be written into a file." => w.unwritten;
    "frames": Count, "Frames analysed." => w.frames;
    "size": Bytes, "Bytes of these frames on the wire." => w.bytes, unit("bytes");
    "missed": Count, "Frames that the kernel dropped because they were not taken fast enough." => w.missed;
    "flows": Count, "TCP flows that carried data, counted in each interval." => w.flows;
    "reordered_flows": Count, "Flows with late packets, counted in each interval." => w.reordered_flows;
    "arrived": Count, "Original transmissions that certainly arrived." => w.arrived;
    "reordered": Count, "Of these, late ones (RFC 4737)." => w.reordered;
    "losses": Count, "Packets lost." => w.losses;
    "retransmissions": Count, "Retransmissions." => w.retransmissions;
    "spurious_retransmissions": Count, "Retransmissions of data that had arrived." => w.spurious;
    "recoveries": Count, "Recoveries." => w.recoveries;
    "spurious_recoveries": Count, "Recoveries although nothing was lost." => w.spurious_recoveries;
    "timeouts": Count, "Retransmission time-outs." => w.timeouts;
}

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
