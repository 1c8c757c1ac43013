//! Is a tunnel seen in part? Its numbers count all that it carries; the TCP in it shows whether any of that is lacking.

use inorder_wire::Numbered;

use crate::{Inside, StreamDoubt, StreamReport};

/// Connections remembered for each stream.
const MAX_CONNECTIONS: usize = 16;
/// Places at which the TCP inside would be expected to lack data before that it does not says anything.
const MIN_EXPECTED: f64 = 5.0;
/// Share of these at which it may lack data for other reasons.
const MAX_LACKING: f64 = 0.25;
/// Maximum share of the numbers that may have been lost, because traffic does not go on with more: calls are given up at a fifth, and TCP
/// comes to a stop.
const MAX_LOST: f64 = 1.0 / 3.0;
/// Minimum number of absent numbers, because fewer may all have been lost.
const MIN_ABSENT: u64 = 16;

impl Inside {
    /// Notes what a packet carries.
    pub(super) fn note(inside: &mut Option<Box<Inside>>, packet: &Numbered) {
        let Some(tcp) = packet.inner.filter(|tcp| tcp.has_data) else {
            return;
        };
        let inside = inside.get_or_insert_default();
        let is_known = inside.connections.contains(&tcp.connection);
        if is_known || inside.connections.len() < MAX_CONNECTIONS {
            inside.data_packets += 1;
        }
        if !is_known && inside.connections.len() < MAX_CONNECTIONS {
            inside.connections.push(tcp.connection);
        }
    }
}

impl StreamReport {
    /// Numbers that are missing in a share that loss does not explain are absent: whether they were lost is unknown.
    pub(super) fn doubt_share(&mut self) {
        let all = self.order.received.saturating_add(self.skipped.missing);
        if self.skipped.missing >= MIN_ABSENT && self.skipped.missing as f64 > MAX_LOST * all as f64
        {
            self.be_absent(StreamDoubt::LostOrElsewhere);
        }
    }

    /// More numbers than `most` are not missing but absent: no more packets can have been lost of those that came by here.
    pub(super) fn doubt_above(&mut self, most: u64) {
        let absent = self.skipped.missing.saturating_sub(most);
        if absent > 0 {
            self.skipped.missing -= absent;
            self.skipped.absent += absent;
            self.skipped.doubt = Some(StreamDoubt::LostOrElsewhere);
        }
    }

    /// Of the missing numbers the receiver acknowledged `unseen`: these packets arrived.
    pub(super) fn spare_acknowledged(&mut self, unseen: u64) {
        let spared = unseen.min(self.skipped.missing);
        if spared > 0 {
            self.skipped.missing -= spared;
            self.skipped.absent += spared;
            self.skipped.doubt = Some(StreamDoubt::NotCaptured);
        }
    }

    fn be_absent(&mut self, doubt: StreamDoubt) {
        self.skipped.absent += std::mem::take(&mut self.skipped.missing);
        self.skipped.doubt = Some(doubt);
    }

    /// At how many of the places where numbers were skipped the TCP inside would lack data, if packets were lost whatever
    /// they carried.
    fn expected_inside(&self) -> f64 {
        let carried = self.inside.as_ref().map_or(0, |inside| inside.data_packets);
        let share = carried as f64 / self.order.received.max(1) as f64;
        let skips = self.skipped.skips as f64;
        let skipped =
            self.skipped.missing.saturating_add(self.skipped.absent) as f64 / skips.max(1.0);
        skips * (share * skipped).min(1.0)
    }

    /// Compares the numbers that a tunnel lacks with what the TCP connections in it lack; `lacking` knows by the name of a
    /// connection how many packets that is, or `None`.
    pub fn compare_inside(&mut self, lacking: impl Fn(u32) -> Option<u64>) {
        let Some(inside) = &self.inside else {
            return;
        };
        let expected = self.expected_inside();
        let lacks: Option<u64> = inside.connections.iter().map(|&name| lacking(name)).sum();
        if let Some(lacks) = lacks
            && expected >= MIN_EXPECTED
            && lacks as f64 <= MAX_LACKING * expected
        {
            self.be_absent(StreamDoubt::OtherTraffic);
        }
    }

    /// The other direction of the tunnel is shared with other traffic. So is this one, if what it carries, such as acknowledgements alone,
    /// cannot show whether it lacks anything.
    pub fn share_with_others(&mut self) {
        let skipped = self.skipped.missing + self.skipped.absent;
        if skipped > 0 && self.expected_inside() < MIN_EXPECTED {
            self.be_absent(StreamDoubt::OtherTraffic);
        }
    }
}
