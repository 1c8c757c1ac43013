//! One direction of an emulated path: frames in, frames out at their times. Sockets and the clock are in [`crate::os`].

use inorder_base::stats::Distribution;
use inorder_path::{Path, Reason, Timeline};
use inorder_report::{Value, columns};

use crate::frame::Frame;
use crate::frame::split::split;
use crate::lane::Lane;

/// Bytes of frames in transit; further frames are dropped. A path without limits would fill the memory otherwise.
pub(crate) const MAX_BYTES_IN_TRANSIT: usize = 256 << 20;

/// A path in one direction with what happened on it.
pub struct Emulated {
    timeline: Timeline<Frame>,
    bytes: usize,
    last_ns: i64,
    seen: Seen,
}

/// What one direction did so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// `forward` or `reverse`.
    pub name: &'static str,
    /// Frames received; a super-packet is one.
    pub received: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets after super-packets were split.
    pub packets: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets that the path dropped.
    pub dropped: u64,
    /// Packets that overtook one sent earlier, over all stages.
    pub overtook: u64,
    /// Packets on which the path marked congestion.
    pub marked: u64,
    /// Packets dropped because there were too many in transit, or malformed.
    pub refused: u64,
    /// Frames that the kernel dropped before we saw them.
    pub missed: u64,
    /// Frames that the kernel refused to send.
    pub unsent: u64,
    /// How much later than due packets were delivered, nanoseconds.
    pub error_ns: Distribution,
}

impl Emulated {
    /// An empty path.
    pub fn new(name: &'static str, path: Path<Frame>) -> Self {
        Emulated {
            timeline: Timeline::new(path),
            bytes: 0,
            last_ns: 0,
            seen: Seen {
                name,
                ..Seen::default()
            },
        }
    }

    /// What happened so far.
    pub fn seen(&self) -> Seen {
        let counters = self.timeline.counters();
        Seen {
            dropped: counters
                .iter()
                .map(|c| Reason::ALL.iter().map(|&r| c.dropped_for(r)).sum::<u64>())
                .sum(),
            overtook: counters.iter().map(|c| c.overtook).sum(),
            marked: counters.iter().map(|c| c.marked).sum(),
            ..self.seen.clone()
        }
    }
}

impl Lane for Emulated {
    fn arrive(&mut self, frame: Frame, _: i64) {
        self.seen.received += 1;
        self.seen.bytes += frame.bytes.len() as u64;
        // Time stamps of different processors may differ a little; a path needs them in order.
        self.last_ns = self.last_ns.max(frame.arrived_ns);
        let Emulated {
            timeline,
            bytes,
            last_ns,
            seen,
        } = self;
        let whole = split(frame, &mut |packet| {
            seen.packets += 1;
            if *bytes + packet.bytes.len() > MAX_BYTES_IN_TRANSIT {
                seen.refused += 1;
                return;
            }
            *bytes += packet.bytes.len();
            let mut gone = 0;
            timeline.push_watched(*last_ns, packet, |mark| gone += lost_bytes(&mark));
            *bytes = bytes.saturating_add_signed(gone);
        });
        self.seen.refused += u64::from(!whole);
    }

    fn take(&mut self, now_ns: i64) -> Option<Frame> {
        let mut gone = 0;
        let (due_ns, frame) = self
            .timeline
            .pop_watched(now_ns, |mark| gone += lost_bytes(&mark))?;
        self.bytes = self
            .bytes
            .saturating_add_signed(gone)
            .saturating_sub(frame.bytes.len());
        self.seen.delivered += 1;
        let error_ns = now_ns.saturating_sub(due_ns).max(0).cast_unsigned();
        self.seen.error_ns.update(error_ns);
        Some(frame)
    }

    fn next_ns(&self) -> Option<i64> {
        self.timeline.next_wake_ns()
    }

    fn count(&mut self, missed: u64, unsent: u64) {
        self.seen.missed += missed;
        self.seen.unsent += unsent;
    }
}

/// The change of the bytes in transit by what happened to a packet.
fn lost_bytes(mark: &inorder_path::Mark<Frame>) -> isize {
    let bytes = mark.packet.bytes.len().cast_signed();
    match mark.fate {
        inorder_path::Fate::Dropped(_) => -bytes,
        inorder_path::Fate::Duplicated => bytes,
        _ => 0,
    }
}

columns! {
    /// The columns of a direction.
    pub SEEN: Seen, |s|
    "direction": Choice(&["forward", "reverse"]), "Forward: from the first interface to the second."
        => s.name, shown("direction", 0);
    "received": Count, "Frames received; a super-packet of offloading is one." => s.received, shown("frames", 4);
    "size": Bytes, "Bytes of these frames." => s.bytes, unit("bytes");
    "packets": Count, "Packets, after super-packets were split." => s.packets, shown("packets", 0);
    "delivered": Count, "Packets delivered, copies included." => s.delivered, shown("delivered", 1);
    "dropped": Count, "Packets that the path dropped." => s.dropped, shown("dropped", 0);
    "overtook": Count, "Packets that overtook an earlier one, over all stages." => s.overtook, shown("overtook", 0);
    "marked": Count, "Packets on which the path marked congestion (ECN)." => s.marked, shown("marked", 5);
    "refused": Count, "Packets dropped because more than 256 MiB were in transit, malformed, or super-packets of a tunnel that is not known."
        => s.refused, shown("refused", 3);
    "missed": Count, "Frames that the kernel dropped because they were not taken fast enough."
        => s.missed, shown("missed", 0);
    "unsent": Count, "Frames that the kernel did not send: too large, or no room." => s.unsent, shown("unsent", 2);
    "median_error_ms": Duration, "Median of how much later than due packets were delivered."
        => s.error(0.5), optional(), in_group("later than due", "median", 3);
    "p99_error_ms": Duration, "99th percentile of that; at most 1/32 too high."
        => s.error(0.99), optional(), in_group("later than due", "p99", 2);
    "max_error_ms": Duration, "Greatest of these." => s.error(1.0), optional(), in_group("later than due", "max", 3);
}

columns! {
    /// The columns of both directions together, which JSON has.
    pub EMULATED: [Seen; 2], |both|
    "directions": Rows(SEEN), "Each direction." => both;
}

impl Seen {
    fn error(&self, quantile: f64) -> Value<'static> {
        self.error_ns.quantile(quantile).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::testing::super_packet;
    use inorder_path::Link;
    use inorder_path::config::Line;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(SEEN), Vec::<String>::new());
    }

    #[test]
    fn a_super_packet_is_delivered_packet_by_packet() {
        // 1,200 bits per us: a packet of 14 + 52 + 1,000 bytes with Ethernet's 38 takes 1,090 * 8 / 100 Mbit/s.
        let link = Line {
            delay_ns: 1_000_000,
            ..Line::new(100_000_000)
        };
        let mut lane = Emulated::new("forward", Path::new(vec![Link::new(&link).into()]));
        let mut frame = super_packet(false, 1, 0x18, &[0; 3_000], 1_000);
        frame.arrived_ns = 5_000;
        lane.arrive(frame, 5_000);
        let mut times = Vec::new();
        while let Some(at_ns) = lane.next_ns() {
            times.extend(lane.take(at_ns).map(|_| at_ns));
        }
        let each = (1_000 + 52 + 38) * 80;
        assert_eq!(times, [1, 2, 3].map(|n| 1_005_000 + n * each));
        assert_eq!(
            (lane.seen().received, lane.seen().packets, lane.bytes),
            (1, 3, 0)
        );
    }

    #[test]
    fn bytes_in_transit_are_limited() {
        let link = Line {
            delay_ns: i64::MAX / 4,
            ..Line::new(1_000_000_000_000)
        };
        let mut lane = Emulated::new("forward", Path::new(vec![Link::new(&link).into()]));
        let frame = super_packet(false, 1, 0x18, &[0; 60_000], 60_000);
        for _ in 0..5_000 {
            lane.arrive(frame.clone(), 0);
        }
        assert!(lane.bytes <= MAX_BYTES_IN_TRANSIT && lane.seen().refused > 0);
    }
}
