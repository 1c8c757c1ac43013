//! When an acknowledgement goes out: at once, after a while, or with the next segment.

use crate::Nanos;
use crate::config::{Config, DelayedAck, MS, SackCompression};
use crate::counters::Counters;
use crate::seq::Seq;

/// Duplicates that go out at once before Linux begins to compress them.
const UNCOMPRESSED_DUPLICATES: u32 = 3;

/// Decides when to acknowledge.
#[derive(Debug, Clone)]
pub(super) struct AckDelay {
    style: DelayedAck,
    compression: Option<SackCompression>,
    /// An acknowledgement is to go out with the next poll.
    pub(super) due: bool,
    timer: Option<Nanos>,
    /// Acknowledgements still to be sent at once (quick-ACK mode).
    quick: u32,
    /// Linux `ato`: how long to wait, after the gaps between arrivals; 0 before the first data.
    ato: Nanos,
    last_data: Nanos,
    /// Something is missing: every arrival is news.
    missing: bool,
    /// Compression: timer, acknowledgements held, duplicates sent for this `rcv_nxt`.
    compress_until: Option<Nanos>,
    held: u32,
    duplicates: u32,
    duplicates_at: Seq,
}

impl AckDelay {
    pub(super) fn new(config: &Config) -> Self {
        let quick = match config.delayed_ack {
            DelayedAck::Linux { quick, .. } => quick,
            _ => 0,
        };
        Self {
            style: config.delayed_ack,
            compression: config.sack_compression,
            due: false,
            timer: None,
            quick,
            ato: 0,
            last_data: 0,
            missing: false,
            compress_until: None,
            held: 0,
            duplicates: 0,
            duplicates_at: 0,
        }
    }

    /// Linux measures the gap between arrivals: half of it and half of the estimate before.
    pub(super) fn data_arrives(&mut self, now: Nanos, rtt: Nanos) {
        let DelayedAck::Linux { min, max, quick } = self.style else {
            return;
        };
        let gap = now.saturating_sub(self.last_data);
        if self.ato == 0 {
            self.ato = min;
            self.quick = quick;
        } else if gap <= min / 2 {
            self.ato = self.ato / 2 + min / 2;
        } else if gap < self.ato {
            self.ato = (self.ato / 2 + gap).min(max);
        } else if gap > rtt.max(max) {
            // A pause: the sender may be starting over with a small window.
            self.quick = quick;
        }
        self.last_data = now;
    }

    /// Data arrived in order; `waiting` bytes are not acknowledged yet.
    pub(super) fn in_order(&mut self, now: Nanos, waiting: u64, mss: u32, rtt: Nanos) {
        let mss = u64::from(mss);
        match self.style {
            DelayedAck::Off => self.due = true,
            DelayedAck::Rfc { segments, timeout } => {
                if self.missing || waiting >= mss * u64::from(segments.max(1)) {
                    self.due = true;
                } else {
                    self.timer = self.timer.or(Some(now.saturating_add(timeout)));
                }
            }
            DelayedAck::Linux { min, .. } => {
                if self.missing || self.quick > 0 || waiting > mss {
                    self.due = true;
                } else {
                    let longest = if rtt == 0 {
                        self.ato
                    } else {
                        (rtt / 8).max(min)
                    };
                    let at = now.saturating_add(self.ato.min(longest).max(MS));
                    self.timer = Some(self.timer.map_or(at, |old| old.min(at)));
                }
            }
        }
    }

    /// A gap, or part of one, was filled: RFC 5681 section 4.2 wants an acknowledgement at once.
    pub(super) fn gap_filled(&mut self, all: bool) {
        self.due = true;
        self.missing = !all;
        self.duplicates = 0;
    }

    /// Something arrived above a gap.
    pub(super) fn out_of_order(&mut self, now: Nanos, rtt: Nanos, sack: bool, rcv_nxt: Seq) {
        self.missing = true;
        if self.duplicates_at != rcv_nxt {
            self.duplicates_at = rcv_nxt;
            self.duplicates = 0;
        }
        match self.compression {
            Some(compression)
                if sack && self.quick == 0 && self.duplicates >= UNCOMPRESSED_DUPLICATES =>
            {
                self.compress(now, rtt, compression);
            }
            _ => {
                self.duplicates += 1;
                self.due = true;
            }
        }
    }

    /// Linux `tcp_ack_snd_check`: one twentieth of the round-trip time, bounded.
    fn compress(&mut self, now: Nanos, rtt: Nanos, compression: SackCompression) {
        if self.held >= compression.max {
            self.due = true;
            return;
        }
        self.held += 1;
        if self.compress_until.is_none() {
            let wait = if rtt == 0 {
                compression.delay
            } else {
                compression.delay.min(rtt / 20)
            };
            self.compress_until = Some(now.saturating_add(wait));
        }
    }

    /// A duplicate or something unusable came: acknowledge, and for a while without delay.
    pub(super) fn trouble(&mut self) {
        self.due = true;
        if let DelayedAck::Linux { quick, .. } = self.style {
            self.quick = self.quick.max(quick);
        }
    }

    pub(super) fn now(&mut self) {
        self.due = true;
    }

    pub(super) fn stop(&mut self) {
        self.due = false;
        self.timer = None;
        self.compress_until = None;
    }

    pub(super) fn next_timer(&self) -> Option<Nanos> {
        match (self.timer, self.compress_until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(super) fn on_timer(&mut self, now: Nanos, counters: &mut Counters) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.due = true;
            counters.delayed_acks += 1;
            if let DelayedAck::Linux { max, .. } = self.style {
                self.ato = (self.ato * 2).min(max);
            }
        }
        if self.compress_until.is_some_and(|at| at <= now) {
            self.compress_until = None;
            self.due = true;
        }
    }

    /// An acknowledgement goes out.
    pub(super) fn sent(&mut self, counters: &mut Counters) {
        self.due = false;
        self.timer = None;
        self.quick = self.quick.saturating_sub(1);
        if self.held > 0 {
            // The one going out stands for all that were held back.
            counters.tcp_ack_compressed += u64::from(self.held - 1);
            self.held = 0;
        }
        self.compress_until = None;
    }
}
