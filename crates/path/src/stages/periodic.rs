//! A router that periodically moves the packet at the head of its queue back.

use crate::declared::{Declared, length};
use inorder_base::random::Random;
use inorder_scenario::config as plain;
use std::collections::VecDeque;

use super::link::Framing;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::queue::admits;
use crate::rate::{Rate, Server};
use crate::stage::{Fate, Outbox, Stage};
use crate::time::later;
use inorder_scenario::config::Queue as Limit;

/// A link that moves the head of its queue back, after Fukuda, Nobayashi, Ikenaga, "Performance
/// Evaluation of TCP Variants with Packet Reordering" (ICN 2018), section III:
///
/// "if the buffer size of R1 is larger than the predetermined variable RI (Reorder Interval),
/// then the head of line packet in R1 is moved behind by the RI packet size. Note that other
/// packets are not reordered until transmission of the moved packet is completed."
///
/// So with RI 4, packets 10 to 20 waiting leave as 11 12 13 14 10, then 16 17 18 19 15, then 20.
/// If RI packets or fewer are waiting, none is moved: the queue continues to be served, so there is no reason to wait
/// and no timeout. The packet being sent no longer waits.
pub struct PeriodicReorder<P> {
    interval: usize,
    device: usize,
    queue: VecDeque<P>,
    bytes: u64,
    limit: Limit,
    server: Server,
    propagation_ns: i64,
    framing: Framing,
    /// Number of packets that leave before the one that was moved back, and that packet, while there is one.
    until_moved: usize,
    /// Time at which the packet being sent is out.
    free_ns: Option<i64>,
}

impl<P: Packet> PeriodicReorder<P> {
    /// An idle link.
    pub fn new(config: &plain::Periodic) -> Self {
        let line = &config.link;
        PeriodicReorder {
            interval: length(config.interval_packets),
            device: config.device_queue_packets.map_or(usize::MAX, length),
            queue: VecDeque::new(),
            bytes: 0,
            limit: line.queue(),
            server: Server::new(&Rate::from(line)),
            propagation_ns: line.delay_ns,
            framing: Framing::of(line),
            until_moved: 0,
            free_ns: None,
        }
    }

    fn frame_bytes(&self, packet: &P) -> u32 {
        self.framing.frame_bytes(packet.wire_bytes())
    }

    fn admits(&self, frame: u32) -> bool {
        admits(self.limit, self.queue.len(), self.bytes, frame)
    }

    /// The link is free: sends the next packet, if any.
    fn serve(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        self.move_head(out);
        self.free_ns = None;
        while let Some(packet) = self.queue.pop_front() {
            let frame = self.frame_bytes(&packet);
            self.bytes -= u64::from(frame);
            self.until_moved = self.until_moved.saturating_sub(1);
            if self.send(now_ns, packet, frame, out) {
                return;
            }
        }
    }

    fn send(&mut self, now_ns: i64, packet: P, frame: u32, out: &mut Outbox<P>) -> bool {
        let end = self.server.serve(now_ns, frame);
        let arrives = end.and_then(|s| later(s.end_ns, self.propagation_ns));
        let (Some(service), Some(at_ns)) = (end, arrives) else {
            out.drop(packet, Reason::NoService);
            return false;
        };
        out.send(at_ns, packet);
        self.free_ns = Some(service.end_ns);
        true
    }

    fn move_head(&mut self, out: &mut Outbox<P>) {
        let visible = self.queue.len().min(self.device);
        let due = self.interval > 0 && self.until_moved == 0 && visible > self.interval;
        if !due {
            return;
        }
        if let Some(head) = self.queue.pop_front() {
            out.mark(&head, Fate::HeldBack(None));
            self.queue.insert(self.interval, head);
            self.until_moved = self.interval + 1;
        }
    }
}

impl<P: Packet> Stage<P> for PeriodicReorder<P> {
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        // A packet that arrives at the very moment at which the link becomes free waits when the head is chosen, as in ns-3,
        // where arrivals were scheduled before. With acknowledgements as the clock that is the usual case, not a rare one.
        if self.free_ns.is_some_and(|free_ns| free_ns < now_ns) {
            self.serve(now_ns, out);
        }
        let frame = self.frame_bytes(&packet);
        if self.free_ns.is_none() {
            self.send(now_ns, packet, frame, out);
        } else if self.admits(frame) {
            self.bytes += u64::from(frame);
            self.queue.push_back(packet);
        } else {
            out.drop(packet, Reason::QueueFull);
        }
    }

    fn next_wake_ns(&self) -> Option<i64> {
        self.free_ns
    }

    fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
        if self.free_ns.is_some_and(|free_ns| free_ns <= now_ns) {
            self.serve(now_ns, out);
        }
    }

    fn keeps_order(&self) -> bool {
        // Packets are moved before they are sent, so departure times never decrease.
        true
    }
}

impl<P: Packet> Declared<P> for plain::Periodic {
    type Stage = PeriodicReorder<P>;

    fn build(&self, _: Random) -> PeriodicReorder<P> {
        PeriodicReorder::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, Probe, Timeline};
    use std::ops::RangeInclusive;

    /// Packet numbers in the order of departure; all are sent at time 0, except the first, which is a little earlier.
    fn order(interval_packets: u64, numbers: RangeInclusive<u64>) -> Vec<u64> {
        order_with_device(interval_packets, None, numbers)
    }

    fn order_with_device(
        interval_packets: u64,
        device_queue_packets: Option<u64>,
        numbers: RangeInclusive<u64>,
    ) -> Vec<u64> {
        let mut line = line(&plain::Periodic {
            interval_packets,
            device_queue_packets,
            link: link(0),
        });
        numbers.for_each(|n| line.push(0, Probe::new(n, 1500)));
        std::iter::from_fn(|| line.pop(i64::MAX))
            .map(|(_, p)| p.number)
            .collect()
    }

    fn link(delay_ns: i64) -> plain::Line {
        plain::Line {
            framing: plain::Framing::None,
            delay_ns,
            ..plain::Line::new(10_000_000)
        }
    }

    fn line(config: &plain::Periodic) -> Timeline<Probe> {
        Timeline::new(Path::new(vec![PeriodicReorder::new(config).into()]))
    }

    #[test]
    fn figure_2() {
        // Packet 9 is being sent while 10 to 20 start to wait.
        let expected = [9, 11, 12, 13, 14, 10, 16, 17, 18, 19, 15, 20];
        assert_eq!(order(4, 9..=20), expected);
    }

    #[test]
    fn nothing_moves_unless_more_than_ri_wait() {
        assert_eq!(order(4, 1..=5), [1, 2, 3, 4, 5]);
        assert_eq!(order(4, 1..=6), [1, 3, 4, 5, 6, 2]);
        assert_eq!(order(0, 1..=6), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn only_what_is_in_the_device_counts() {
        // As in the paper with RI 100: a device that holds 4 of the packets that wait never has more than RI.
        assert_eq!(
            order_with_device(4, Some(4), 1..=12),
            (1..=12).collect::<Vec<_>>()
        );
        assert_eq!(order_with_device(4, Some(5), 1..=12), order(4, 1..=12));
    }

    #[test]
    fn every_ri_plus_first_packet_is_late_by_ri_as_long_as_the_queue_lasts() {
        let order = order(8, 0..=900);
        let mut metrics = inorder_metrics::Order::new();
        let mut extents = Vec::new();
        for &n in &order {
            if let inorder_metrics::Arrival::Reordered(late) = metrics.update(n, 0, 1) {
                extents.push(late.extent);
            }
        }
        assert_eq!(extents, vec![8; 100]); // 900 packets waited, and one of nine was moved.
    }

    #[test]
    fn reordering_does_not_change_the_rate() {
        let mut line = line(&plain::Periodic {
            interval_packets: 4,
            device_queue_packets: None,
            link: link(5_000_000),
        });
        (0..20).for_each(|n| line.push(0, Probe::new(n, 1500)));
        let times: Vec<i64> = std::iter::from_fn(|| line.pop(i64::MAX))
            .map(|(t, _)| t)
            .collect();
        // 1.2 ms per packet, as in the paper.
        let expected: Vec<i64> = (1..=20).map(|i| 5_000_000 + i * 1_200_000).collect();
        assert_eq!(times, expected);
    }
}
