//! What a sender tells of itself while it runs.

use std::sync::{Arc, Mutex};

use inorder_tcp::Nanos;
use inorder_tcp::observe::{Observer, Retransmission, Snapshot};

/// Something that happened at a sender.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderEvent {
    /// Time, nanoseconds.
    pub time_ns: i64,
    /// What.
    pub kind: EventKind,
}

/// What happened at a sender.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// The window, the threshold, the duplicate-ACK threshold or the state changed.
    Window(Snapshot),
    /// A segment was sent again.
    Retransmission(Retransmission),
    /// A round-trip time was measured, nanoseconds.
    Rtt(i64),
    /// A reduction was taken back; the window then, segments.
    Undo(u32),
    /// The duplicate-ACK threshold is this now, segments.
    Dupthresh(u32),
}

/// Sum, number and bounds of round-trip times, and events if asked for.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Round-trip times measured.
    pub rtts: u64,
    /// Their sum, nanoseconds.
    pub rtt_sum_ns: i64,
    /// Events, in order; empty unless asked for.
    pub events: Vec<SenderEvent>,
    last: Option<Snapshot>,
    detailed: bool,
}

/// A log that an endpoint writes and the world reads.
#[derive(Clone, Debug)]
pub struct SharedLog(Arc<Mutex<Log>>);

impl SharedLog {
    /// Empty; `detailed` keeps every event.
    pub fn new(detailed: bool) -> Self {
        SharedLog(Arc::new(Mutex::new(Log {
            detailed,
            ..Log::default()
        })))
    }

    /// An observer that writes into it.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// Looks at it, or changes it.
    pub fn with<T>(&self, use_it: impl FnOnce(&mut Log) -> T) -> T {
        // Nobody panics while holding it; if somebody did, the numbers are still whole.
        let mut log = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        use_it(&mut log)
    }
}

impl Log {
    fn keep(&mut self, time_ns: i64, kind: EventKind) {
        if self.detailed {
            self.events.push(SenderEvent { time_ns, kind });
        }
    }

    fn snapshot(&mut self, now: &Snapshot) {
        let shown = |s: &Snapshot| (s.cwnd, s.ssthresh, s.dupthresh, s.state);
        if self.detailed && self.last.as_ref().map(shown) != Some(shown(now)) {
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
        self.with(|log| {
            log.rtts += 1;
            log.rtt_sum_ns = log.rtt_sum_ns.saturating_add(sample);
            log.keep(now, EventKind::Rtt(sample));
        });
    }

    fn retransmitted(&mut self, event: &Retransmission) {
        self.with(|log| log.keep(event.now, EventKind::Retransmission(*event)));
    }

    fn undo(&mut self, now: Nanos, cwnd: u32) {
        self.with(|log| log.keep(now, EventKind::Undo(cwnd)));
    }

    fn dupthresh(&mut self, now: Nanos, _from: u32, to: u32) {
        self.with(|log| log.keep(now, EventKind::Dupthresh(to)));
    }
}
