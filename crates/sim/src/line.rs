//! A path or a card, connected to the event queue.

use inorder_path::nic::Account;
use inorder_path::{AnyStage, Driver, Fate, Mark, Path, Place};

use crate::event::{Event, PATH, WAKE};
use crate::oracle::Knowledge;
use crate::packet::{Channel, LineId, Packet};
use crate::queue::Queue;

/// A path and the time of its next call.
pub(crate) struct Line {
    id: LineId,
    path: Path<Box<Packet>>,
    /// Its first stage is the sending host's own device.
    device: bool,
    /// Of a run with an oracle: it is told of drops.
    knowledge: Option<Knowledge>,
    /// Time of the earliest call in the queue.
    wake_ns: i64,
}

/// Puts packets sent by a path into the queue.
struct Transfers<'a> {
    queue: &'a mut Queue<Event>,
    line: LineId,
}

impl Driver<Box<Packet>> for Transfers<'_> {
    #[inline]
    fn transfer(&mut self, time_ns: i64, place: Place, packet: Box<Packet>) {
        let line = self.line;
        let event = Event::Transfer {
            line,
            place,
            packet,
        };
        self.queue.push_from(line.0, time_ns, PATH, event);
    }
}

/// The same, and tells the oracle what is dropped: the path then copies each packet something happens to.
struct Watched<'a> {
    transfers: Transfers<'a>,
    knowledge: &'a Knowledge,
}

impl Driver<Box<Packet>> for Watched<'_> {
    const WATCHES: bool = true;

    #[inline]
    fn transfer(&mut self, time_ns: i64, place: Place, packet: Box<Packet>) {
        self.transfers.transfer(time_ns, place, packet);
    }

    fn watch(&mut self, mark: Mark<Box<Packet>>) {
        if let Fate::Dropped(_) = mark.fate {
            self.knowledge.dropped(&mark.packet);
        }
    }
}

/// Calls the path with the driver that this run needs.
macro_rules! drive {
    ($line:expr, $queue:expr, |$path:ident, $driver:ident| $call:expr) => {{
        let Line {
            id,
            path: $path,
            knowledge,
            ..
        } = $line;
        let mut transfers = Transfers {
            queue: $queue,
            line: *id,
        };
        match knowledge {
            None => {
                let $driver = &mut transfers;
                $call
            }
            Some(knowledge) => {
                let $driver = &mut Watched {
                    transfers,
                    knowledge,
                };
                $call
            }
        }
    }};
}

impl Line {
    /// An idle line.
    pub(crate) fn new(id: LineId, path: Path<Box<Packet>>) -> Self {
        Line {
            id,
            device: path.begins_with_device(),
            path,
            knowledge: None,
            wake_ns: i64::MAX,
        }
    }

    /// From now on `knowledge` is told what is dropped here.
    pub(crate) fn tell(&mut self, knowledge: Knowledge) {
        self.knowledge = Some(knowledge);
    }

    /// From now on it is kept when its links are busy.
    pub(crate) fn keep_busy_times(&mut self) {
        self.path.keep_busy_times();
    }

    /// When each of its links was busy.
    pub(crate) fn busy_times(&mut self) -> impl Iterator<Item = &[inorder_path::Busy]> {
        self.path.busy_times()
    }

    /// The counters of packets, stage by stage.
    pub(crate) fn path(&self) -> &Path<Box<Packet>> {
        &self.path
    }

    /// The counters of its card since the start, if it has one.
    pub(crate) fn account(&self) -> Option<&Account> {
        self.path.stages().find_map(|stage| match stage {
            AnyStage::Nic(nic) => Some(nic.account()),
            _ => None,
        })
    }

    /// Of its card, if it has one: the longest hold of a packet of this channel, nanoseconds, and packets held.
    pub(crate) fn holding(&self, channel: Channel) -> (i64, u32) {
        let of = |stage: &AnyStage<Box<Packet>>| match stage {
            AnyStage::Nic(nic) => Some((nic.hold_ns(channel.0).unwrap_or(0), nic.held() as u32)),
            _ => None,
        };
        self.path.stages().find_map(of).unwrap_or_default()
    }

    /// True if it begins with the sending host's own device.
    #[inline]
    pub(crate) fn begins_with_device(&self) -> bool {
        self.device
    }

    /// True if the host's own device, with which it begins, is full for a packet of `bytes`.
    pub(crate) fn refuses(&mut self, now_ns: i64, bytes: u32) -> bool {
        self.device && !self.path.has_room(now_ns, bytes)
    }

    /// A packet enters the line.
    #[inline]
    pub(crate) fn push(&mut self, now_ns: i64, packet: Box<Packet>, queue: &mut Queue<Event>) {
        drive!(self, queue, |path, driver| path
            .push(now_ns, packet, driver));
        self.arrange_wake(now_ns, queue);
    }

    /// A packet continues inside the line.
    pub(crate) fn resume(
        &mut self,
        now_ns: i64,
        place: Place,
        packet: Box<Packet>,
        queue: &mut Queue<Event>,
    ) {
        drive!(self, queue, |path, driver| path
            .resume(now_ns, place, packet, driver));
        self.arrange_wake(now_ns, queue);
    }

    /// The line is called; a call that was replaced by an earlier one has no effect.
    pub(crate) fn wake(&mut self, now_ns: i64, queue: &mut Queue<Event>) {
        if now_ns != self.wake_ns {
            return;
        }
        self.wake_ns = i64::MAX;
        drive!(self, queue, |path, driver| path.wake(now_ns, driver));
        self.arrange_wake(now_ns, queue);
    }

    #[inline(always)]
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
