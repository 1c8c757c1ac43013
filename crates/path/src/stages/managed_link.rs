//! A link whose queue decides which packet is sent next and which are dropped: active queue management.

use inorder_scenario::config::Line;

use super::link::Framing;
use crate::busy::BusyLog;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::rate::{Rate, Server};
use crate::stage::{Outbox, Stage};

/// A packet that arrives at a queue.
pub struct Arrival<P> {
    /// The packet.
    pub packet: P,
    /// Bytes that it takes on the link.
    pub frame_bytes: u32,
    /// The queue is empty and the link is free: the packet is taken out at once, so that no limit applies to it.
    pub idle: bool,
}

/// A queue in front of a link.
pub trait Discipline<P> {
    /// A packet arrives. Packets for which there is no room go to `out` as dropped.
    fn enqueue(&mut self, now_ns: i64, arrival: Arrival<P>, out: &mut Outbox<P>);

    /// The link is free: takes out the packet to send next. Packets dropped before it go to `out`.
    fn dequeue(&mut self, now_ns: i64, out: &mut Outbox<P>) -> Option<P>;
}

/// A link with a queue discipline.
pub struct ManagedLink<D> {
    queue: D,
    server: Server,
    propagation_ns: i64,
    framing: Framing,
    /// When the last bit of the packet being sent is out.
    free_ns: Option<i64>,
}

impl<D> ManagedLink<D> {
    /// An idle link with an empty queue.
    pub fn new(line: &Line, queue: D) -> Self {
        ManagedLink {
            queue,
            server: Server::new(&Rate::from(line)),
            propagation_ns: line.delay_ns,
            framing: Framing::of(line),
            free_ns: None,
        }
    }

    /// When it is busy.
    pub(crate) fn log(&mut self) -> &mut BusyLog {
        &mut self.server.log
    }

    fn frame_bytes<P: Packet>(&self, packet: &P) -> u32 {
        self.framing.frame_bytes(packet.wire_bytes())
    }

    /// The link is free: sends the next packet, if any.
    fn serve<P: Packet>(&mut self, now_ns: i64, out: &mut Outbox<P>)
    where
        D: Discipline<P>,
    {
        self.free_ns = self.server.waits_until(now_ns);
        if self.free_ns.is_some() {
            return;
        }
        while let Some(packet) = self.queue.dequeue(now_ns, out) {
            if self.send(now_ns, packet, out) {
                return;
            }
        }
    }

    fn send<P: Packet>(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) -> bool {
        let service = self.server.serve(now_ns, self.frame_bytes(&packet));
        let arrives = service.and_then(|s| s.end_ns.checked_add(self.propagation_ns));
        let (Some(service), Some(at_ns)) = (service, arrives) else {
            out.drop(packet, Reason::NoService);
            return false;
        };
        out.send(at_ns, packet);
        self.free_ns = Some(service.end_ns);
        true
    }
}

impl<P: Packet, D: Discipline<P>> Stage<P> for ManagedLink<D> {
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        // The link may have become free at exactly this time.
        self.wake(now_ns, out);
        let idle = self.free_ns.is_none();
        let arrival = Arrival {
            frame_bytes: self.frame_bytes(&packet),
            packet,
            idle,
        };
        self.queue.enqueue(now_ns, arrival, out);
        if idle {
            self.serve(now_ns, out);
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
        true
    }
}
