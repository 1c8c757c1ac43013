//! The events that a sender reports during a run.

use std::sync::{Arc, Mutex};

use inorder_tcp::observe::{Observer, Retransmission, Snapshot};
use inorder_tcp::{CaState, Nanos};

/// An event at a sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderEvent {
    /// Time, nanoseconds.
    pub time_ns: i64,
    /// The event.
    pub kind: EventKind,
}

/// The kinds of events at a sender.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// The window, the threshold, the duplicate-ACK threshold or the state changed.
    Window(Snapshot),
    /// A segment was retransmitted.
    Retransmission(Retransmission),
    /// A round-trip time was measured, nanoseconds.
    Rtt(i64),
    /// A reduction of the congestion window was undone; the resulting window, segments.
    Undo(u32),
    /// The duplicate-ACK threshold changed; the new value, segments.
    Dupthresh(u32),
    /// The state changed; the new one. Several changes may belong to one acknowledgement.
    State(CaState),
}

/// The events of a sender.
#[derive(Clone, Debug, Default)]
struct Log {
    /// In order.
    events: Vec<SenderEvent>,
    last: Option<Snapshot>,
}

/// A log that an endpoint writes and the simulation reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLog(Arc<Mutex<Log>>);

impl SharedLog {
    /// An observer that writes to this log.
    pub(crate) fn observer(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// The events so far, which are taken out.
    pub(crate) fn take(&self) -> Vec<SenderEvent> {
        self.with(|log| std::mem::take(&mut log.events))
    }

    /// Reads or changes the log.
    fn with<T>(&self, use_it: impl FnOnce(&mut Log) -> T) -> T {
        // No code panics while holding the lock, and even then the numbers would be consistent.
        let mut log = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        use_it(&mut log)
    }
}

impl Log {
    fn keep(&mut self, time_ns: i64, kind: EventKind) {
        self.events.push(SenderEvent { time_ns, kind });
    }

    fn snapshot(&mut self, now: &Snapshot) {
        let shown = |s: &Snapshot| (s.cwnd, s.ssthresh, s.dupthresh, s.state);
        if self.last.as_ref().map(shown) != Some(shown(now)) {
            self.last = Some(*now);
            self.keep(now.now, EventKind::Window(*now));
        }
    }
}

impl Observer for SharedLog {
    fn state(&mut self, snapshot: &Snapshot) {
        self.with(|log| log.snapshot(snapshot));
    }

    fn rtt(&mut self, now: Nanos, sample: Nanos) {
        self.with(|log| log.keep(now, EventKind::Rtt(sample)));
    }

    fn retransmitted(&mut self, event: &Retransmission) {
        self.with(|log| log.keep(event.now, EventKind::Retransmission(*event)));
    }

    fn ca_state(&mut self, now: Nanos, _from: CaState, to: CaState) {
        self.with(|log| log.keep(now, EventKind::State(to)));
    }

    fn undo(&mut self, now: Nanos, cwnd: u32) {
        self.with(|log| log.keep(now, EventKind::Undo(cwnd)));
    }

    fn dupthresh(&mut self, now: Nanos, _from: u32, to: u32) {
        self.with(|log| log.keep(now, EventKind::Dupthresh(to)));
    }
}
