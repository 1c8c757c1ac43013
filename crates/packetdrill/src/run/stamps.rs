//! Timestamps of what a socket sends (`SO_TIMESTAMPING`).
//!
//! The error queue tells when the last byte of each call was handed to the device, left it, and was acknowledged (Linux
//! `Documentation/networking/timestamping.rst`). A device here takes no time, so the first two are one moment.

use std::collections::VecDeque;

use inorder_tcp::Nanos;

/// One entry of the error queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// `ee_info`: what happened.
    pub(super) event: &'static str,
    /// `ee_data`: the last byte, counted from when timestamps were asked for; 0 without `SOF_TIMESTAMPING_OPT_ID`.
    pub(super) byte: u64,
    pub(super) at: Nanos,
}

/// The timestamps of a socket.
#[derive(Debug, Clone, Default)]
pub(super) struct Stamps {
    scheduled: bool,
    sent: bool,
    acknowledged: bool,
    counts: bool,
    /// Bytes written before timestamps were asked for.
    from: u64,
    /// Where calls ended in the stream, bytes: those not sent, and those sent and not acknowledged.
    unsent: VecDeque<u64>,
    unacknowledged: VecDeque<u64>,
    ready: VecDeque<Stamp>,
}

impl Stamps {
    /// `SO_TIMESTAMPING` with these flags, after `written` bytes. Nothing is reported without `SOF_TIMESTAMPING_SOFTWARE`.
    pub(super) fn ask(&mut self, flags: &str, written: u64) {
        let has = |name: &str| {
            let mut flags = flags.split('|');
            flags.any(|flag| flag.strip_prefix("SOF_TIMESTAMPING_") == Some(name))
        };
        let told = has("SOFTWARE");
        self.scheduled = told && has("TX_SCHED");
        self.sent = told && has("TX_SOFTWARE");
        self.acknowledged = told && has("TX_ACK");
        self.counts = has("OPT_ID");
        self.from = written;
    }

    /// A call ended at `end` in the stream.
    pub(super) fn wrote(&mut self, end: u64) {
        if self.scheduled || self.sent || self.acknowledged {
            self.unsent.push_back(end);
        }
    }

    /// The stream has been sent and acknowledged up to these places.
    pub(super) fn progress(&mut self, now: Nanos, sent: u64, acknowledged: u64) {
        while self.unsent.front().is_some_and(|&end| end <= sent) {
            let Some(end) = self.unsent.pop_front() else {
                return;
            };
            self.note(self.scheduled, "SCM_TSTAMP_SCHED", end, now);
            self.note(self.sent, "SCM_TSTAMP_SND", end, now);
            self.unacknowledged.push_back(end);
        }
        while self
            .unacknowledged
            .front()
            .is_some_and(|&end| end <= acknowledged)
        {
            let Some(end) = self.unacknowledged.pop_front() else {
                return;
            };
            self.note(self.acknowledged, "SCM_TSTAMP_ACK", end, now);
        }
    }

    fn note(&mut self, wanted: bool, event: &'static str, end: u64, at: Nanos) {
        if wanted {
            let byte = match self.counts {
                true => end.saturating_sub(self.from + 1),
                false => 0,
            };
            self.ready.push_back(Stamp { event, byte, at });
        }
    }

    /// The oldest entry, which is read by this.
    pub(super) fn read(&mut self) -> Option<Stamp> {
        self.ready.pop_front()
    }

    /// True if an entry waits to be read.
    pub(super) fn notifies(&self) -> bool {
        !self.ready.is_empty()
    }
}
