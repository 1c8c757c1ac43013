//! A path or a card, connected to the event queue.

use inorder_path::nic::Account;
use inorder_path::{AnyStage, Driver, Path, Place};

use crate::event::{Event, PATH, WAKE};
use crate::packet::{LineId, Packet};
use crate::queue::Queue;

/// A path and the time of its next call.
pub struct Line {
    id: LineId,
    path: Path<Packet>,
    /// Time of the earliest call in the queue.
    wake_ns: i64,
}

/// Puts packets sent by a path into the queue.
struct Transfers<'a> {
    queue: &'a mut Queue<Event>,
    line: LineId,
}

impl Driver<Packet> for Transfers<'_> {
    #[inline]
    fn transfer(&mut self, time_ns: i64, place: Place, packet: Packet) {
        let line = self.line;
        let event = Event::Transfer {
            line,
            place,
            packet,
        };
        self.queue.push_from(line.0, time_ns, PATH, event);
    }
}

impl Line {
    /// An idle line.
    pub fn new(id: LineId, path: Path<Packet>) -> Self {
        Line {
            id,
            path,
            wake_ns: i64::MAX,
        }
    }

    /// The counters of packets, stage by stage.
    pub fn path(&self) -> &Path<Packet> {
        &self.path
    }

    /// The counters of its card since the start, if it has one.
    pub fn account(&self) -> Option<&Account> {
        self.path.stages().find_map(|stage| match stage {
            AnyStage::Nic(nic) => Some(nic.account()),
            _ => None,
        })
    }

    /// A packet enters the line.
    #[inline]
    pub fn push(&mut self, now_ns: i64, packet: Packet, queue: &mut Queue<Event>) {
        let line = self.id;
        self.path
            .push(now_ns, packet, &mut Transfers { queue, line });
        self.arrange_wake(now_ns, queue);
    }

    /// A packet continues inside the line.
    pub fn resume(&mut self, now_ns: i64, place: Place, packet: Packet, queue: &mut Queue<Event>) {
        let line = self.id;
        let mut driver = Transfers { queue, line };
        self.path.resume(now_ns, place, packet, &mut driver);
        self.arrange_wake(now_ns, queue);
    }

    /// The line is called; a call that was replaced by an earlier one has no effect.
    pub fn wake(&mut self, now_ns: i64, queue: &mut Queue<Event>) {
        if now_ns != self.wake_ns {
            return;
        }
        self.wake_ns = i64::MAX;
        let line = self.id;
        self.path.wake(now_ns, &mut Transfers { queue, line });
        self.arrange_wake(now_ns, queue);
    }

    #[inline]
    fn arrange_wake(&mut self, now_ns: i64, queue: &mut Queue<Event>) {
        if let Some(due_ns) = self.path.next_wake_ns() {
            let due_ns = due_ns.max(now_ns);
            if due_ns < self.wake_ns {
                self.wake_ns = due_ns;
                queue.push(due_ns, WAKE, Event::Wake { line: self.id });
            }
        }
    }
}
