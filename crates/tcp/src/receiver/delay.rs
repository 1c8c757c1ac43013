//! When an acknowledgement is sent: at once, later, or with the next segment.

use std::sync::Arc;

use crate::Nanos;
use crate::config::{Config, DelayedAck, MS, SackCompression};
use crate::counters::Counters;
use crate::habits::{AckOfFill, AnswerDuplicates};
use crate::seq::Seq;
use crate::time::{elapsed, first};

/// Number of acknowledgements with the same `rcv_nxt` that Linux sends at once before it starts to compress.
const UNCOMPRESSED_DUPLICATES: u32 = 3;
/// Time between two answers to duplicates where they are answered seldom.
const SELDOM: Nanos = 500 * MS;

/// The properties of an arrival that matter for acknowledgements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// It begins at or below the next expected number.
    pub(super) in_order: bool,
    /// It closed a gap to data that was waiting.
    pub(super) filled: bool,
    /// Data is missing now, or was missing before.
    pub(super) missing: bool,
    /// Next sequence number expected.
    pub(super) rcv_nxt: Seq,
    /// Bytes in order that are not acknowledged yet.
    pub(super) waiting: u64,
    /// Payload of a full segment, bytes.
    pub(super) mss: u32,
    /// Round-trip time, 0 if not known.
    pub(super) rtt: Nanos,
    /// SACK is in use.
    pub(super) sack: bool,
}

impl SackCompression {
    /// A twentieth of the round-trip time, bounded; the timer has some slack (Linux `__tcp_ack_snd_check`).
    fn wait(&self, rtt: Nanos) -> Nanos {
        let wait = if rtt == 0 {
            self.delay
        } else {
            self.delay.min(rtt / 20)
        };
        wait.saturating_add(self.slack)
    }
}

/// Decides when to acknowledge.
#[derive(Debug, Clone)]
pub(super) struct AckDelay {
    config: Arc<Config>,
    /// Nothing has arrived yet, and the first segment is acknowledged at once.
    first_at_once: bool,
    /// Segments in order since the last acknowledgement, counted where what fills a hole waits as others do.
    in_turn: u32,
    /// One acknowledgement answers all that comes until then.
    batch_until: Option<Nanos>,
    /// When a duplicate was last answered.
    duplicate_at: Option<Nanos>,
    /// An acknowledgement must be sent with the next poll.
    pub(super) due: bool,
    timer: Option<Nanos>,
    /// Number of acknowledgements still to be sent at once (quick-ACK mode).
    quick: u32,
    /// Linux `ato`: how long to wait, derived from the intervals between arrivals; 0 before the first data.
    ato: Nanos,
    last_data: Nanos,
    /// Compression: timer, acknowledgements held back, and duplicates sent for this `rcv_nxt`.
    compress_until: Option<Nanos>,
    held: u32,
    duplicates: u32,
    duplicates_at: Seq,
}

impl AckDelay {
    pub(super) fn new(config: &Arc<Config>) -> Self {
        let quick = match config.acks.delayed {
            DelayedAck::Linux { quick, .. } => quick,
            _ => 0,
        };
        Self {
            config: Arc::clone(config),
            first_at_once: config.recovery.departures.first_ack_at_once,
            in_turn: 0,
            batch_until: None,
            duplicate_at: None,
            due: false,
            timer: None,
            quick,
            ato: 0,
            last_data: 0,
            compress_until: None,
            held: 0,
            duplicates: 0,
            duplicates_at: 0,
        }
    }

    /// Linux averages the interval between arrivals with the previous estimate.
    pub(super) fn data_arrives(&mut self, now: Nanos, rtt: Nanos) {
        let before = std::mem::replace(&mut self.last_data, now);
        let DelayedAck::Linux { min, max, quick } = self.config.acks.delayed else {
            return;
        };
        let gap = elapsed(now, before);
        if self.ato == 0 {
            self.ato = min;
            self.quick = quick;
        } else if gap <= min / 2 {
            self.ato = self.ato / 2 + min / 2;
        } else if gap < self.ato {
            self.ato = (self.ato / 2 + gap).min(max);
        } else if gap > rtt.max(max) {
            // After a pause the sender may start again with a small window.
            self.quick = quick;
        }
    }

    /// When data last arrived; 0 if it never did.
    pub(super) fn last_data(&self) -> Nanos {
        self.last_data
    }

    /// Forgets the times between segments, so that the state is as before the first data.
    pub(super) fn forget_intervals(&mut self) {
        self.ato = 0;
    }

    /// New data arrived, or data above a gap.
    pub(super) fn arrived(&mut self, now: Nanos, arrival: &Arrival) {
        if self.waits_for_batch(now) {
            return;
        }
        let as_others = self.config.habits.ack_of_fill == AckOfFill::Delayed && arrival.in_order;
        let at_once = match as_others {
            true => self.is_turn(),
            false => self.at_once(arrival),
        };
        if std::mem::take(&mut self.first_at_once) || at_once {
            self.due = true;
        } else if arrival.missing && !as_others {
            self.while_missing(now, arrival);
        } else {
            self.wait(now, arrival.rtt);
        }
    }

    /// The acknowledgement waits for the end of a batch, if this receiver answers batches.
    fn waits_for_batch(&mut self, now: Nanos) -> bool {
        let Some(wait) = self.config.habits.ack_batch else {
            return false;
        };
        self.batch_until.get_or_insert(now.saturating_add(wait));
        true
    }

    /// Counts a segment in order: is it the one that is acknowledged at once?
    fn is_turn(&mut self) -> bool {
        self.in_turn += 1;
        let segments = match self.config.acks.delayed {
            DelayedAck::Off => 1,
            DelayedAck::Rfc { segments, .. } => segments.max(1),
            DelayedAck::Linux { .. } if self.quick > 0 => 1,
            DelayedAck::Linux { .. } => 2,
        };
        self.in_turn >= segments
    }

    /// Data that is acknowledged at once, whether or not other data is missing (RFC 5681 section 4.2, RFC 6582 section 5).
    fn at_once(&self, arrival: &Arrival) -> bool {
        let mss = u64::from(arrival.mss);
        let Arrival {
            in_order, missing, ..
        } = *arrival;
        match self.config.acks.delayed {
            DelayedAck::Off => in_order,
            DelayedAck::Rfc { segments, .. } => {
                in_order
                    && (missing
                        || arrival.filled
                        || arrival.waiting >= mss * u64::from(segments.max(1)))
            }
            // As in `__tcp_ack_snd_check`; closing the last gap must be reported (RFC 5681 section 4.2).
            DelayedAck::Linux { .. } => {
                arrival.waiting > mss || self.quick > 0 || (arrival.filled && !missing)
            }
        }
    }

    /// One segment waits for the next one.
    fn wait(&mut self, now: Nanos, rtt: Nanos) {
        match self.config.acks.delayed {
            DelayedAck::Off => self.due = true,
            DelayedAck::Rfc { timeout, .. } => {
                self.timer = self.timer.or(Some(now.saturating_add(timeout)));
            }
            DelayedAck::Linux { min, .. } => {
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

    /// RFC 5681 section 4.2 requires an immediate acknowledgement; Linux sends three for the same `rcv_nxt` and then
    /// holds them back.
    fn while_missing(&mut self, now: Nanos, arrival: &Arrival) {
        let Some(compression) = self.config.acks.sack_compression.filter(|_| arrival.sack) else {
            self.due = true;
            return;
        };
        if self.held >= compression.max {
            self.due = true;
            return;
        }
        if self.duplicates_at != arrival.rcv_nxt {
            self.duplicates_at = arrival.rcv_nxt;
            self.duplicates = 0;
        }
        if self.duplicates < UNCOMPRESSED_DUPLICATES {
            self.duplicates += 1;
            self.due = true;
            return;
        }
        self.held += 1;
        if self.compress_until.is_none() {
            self.compress_until = Some(now.saturating_add(compression.wait(arrival.rtt)));
        }
    }

    /// A FIN has arrived on a connection that is open here. Linux expects an answer from the application and waits for it
    /// (`tcp_fin`, `inet_csk_enter_pingpong_mode`), as long as for data; not at all if there never was any. False if the
    /// acknowledgement must be sent at once: `waiting` bytes are unacknowledged.
    pub(super) fn fin_waits(&mut self, now: Nanos, waiting: u64, mss: u32) -> bool {
        if !self.is_linux() || self.ato == 0 || waiting > u64::from(mss) {
            return false;
        }
        self.quick = 0;
        self.due = false;
        let at = now.saturating_add(self.ato);
        self.timer = Some(self.timer.map_or(at, |old| old.min(at)));
        true
    }

    /// It acknowledges as Linux does.
    pub(super) fn is_linux(&self) -> bool {
        matches!(self.config.acks.delayed, DelayedAck::Linux { .. })
    }

    /// An acknowledgement waits for more data.
    pub(super) fn waits(&self) -> bool {
        self.timer.is_some()
    }

    /// New information waits to be reported together with later information.
    pub(super) fn holds_back(&self) -> bool {
        self.held > 0
    }

    /// A duplicate or an unusable segment arrived: acknowledge at once, and without delay for some time.
    pub(super) fn trouble(&mut self, now: Nanos) {
        if self.waits_for_batch(now) {
            return;
        }
        self.due = true;
        if let DelayedAck::Linux { quick, .. } = self.config.acks.delayed {
            self.quick = self.quick.max(quick);
        }
    }

    /// False if a duplicate is passed over, because one was answered a short time ago.
    pub(super) fn answers_duplicate(&mut self, now: Nanos) -> bool {
        if self.config.habits.answer_duplicates == AnswerDuplicates::AtOnce {
            return true;
        }
        let due = self
            .duplicate_at
            .is_none_or(|at| elapsed(now, at) >= SELDOM);
        if due {
            self.duplicate_at = Some(now);
        }
        due
    }

    /// The next acknowledgement goes out at once (Linux sets `quick |= 1`).
    pub(super) fn quicken(&mut self) {
        self.quick = self.quick.max(1);
    }

    pub(super) fn now(&mut self) {
        self.due = true;
    }

    pub(super) fn stop(&mut self) {
        self.due = false;
        self.timer = None;
        self.compress_until = None;
        self.batch_until = None;
    }

    pub(super) fn next_timer(&self) -> Option<Nanos> {
        first(first(self.timer, self.compress_until), self.batch_until)
    }

    pub(super) fn on_timer(&mut self, now: Nanos, counters: &mut Counters) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.due = true;
            counters.acks.delayed_acks += 1;
            if let DelayedAck::Linux { max, .. } = self.config.acks.delayed {
                self.ato = (self.ato * 2).min(max);
            }
        }
        if self.compress_until.is_some_and(|at| at <= now) {
            self.compress_until = None;
            self.due = true;
        }
        if self.batch_until.is_some_and(|at| at <= now) {
            self.batch_until = None;
            self.due = true;
        }
    }

    /// An acknowledgement is sent.
    pub(super) fn sent(&mut self, counters: &mut Counters) {
        self.due = false;
        self.timer = None;
        self.batch_until = None;
        self.in_turn = 0;
        self.quick = self.quick.saturating_sub(1);
        if self.held > 0 {
            // It also replaces all that were held back.
            counters.acks.tcp_ack_compressed += u64::from(self.held - 1);
            self.held = 0;
        }
        self.compress_until = None;
    }
}
