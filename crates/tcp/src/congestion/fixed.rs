//! A constant window, for tests of loss detection that changes of the window would disturb, and as the sender with a
//! constant window that analyses of reordering assume.

use super::{AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, Start, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "fixed",
    about: "the window the connection starts with, whatever happens",
    source: "-",
    build: || Box::new(Fixed::default()),
};

/// A constant window.
#[derive(Debug, Clone, Default)]
pub struct Fixed {
    segments: u32,
}

impl Fixed {
    /// A window of `segments`; 0 for the initial window of the connection.
    pub fn new(segments: u32) -> Self {
        Self { segments }
    }

    fn restore(&self, window: &mut Window) {
        window.cwnd = self.segments.min(window.clamp).max(1);
        window.ssthresh = window.cwnd.max(2);
        window.count = 0;
    }
}

impl CongestionControl for Fixed {
    fn start(&mut self, window: &mut Window, _start: &Start) {
        if self.segments == 0 {
            self.segments = window.cwnd;
        }
        self.restore(window);
    }

    fn grow(&mut self, window: &mut Window, _ack: &AckEvent) {
        self.restore(window);
    }

    fn ssthresh(&mut self, _window: &Window, _loss: &LossEvent) -> u32 {
        self.segments.max(2)
    }

    fn undo_cwnd(&mut self, _window: &Window) -> u32 {
        self.segments.max(1)
    }

    fn event(&mut self, window: &mut Window, event: Event, _now: Nanos) {
        // The rules for idle times and for the end of recovery may have reduced it.
        if !matches!(event, Event::DupAck { .. }) {
            self.restore(window);
        }
    }
}
