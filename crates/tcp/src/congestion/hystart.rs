//! HyStart: leaves slow start before the queue overflows, as Linux's CUBIC does.
//!
//! Source: Ha, Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks 55(9), 2011; thresholds
//! as in Linux 5.8 and later, in microseconds.
//!
//! One of two signals, for windows from 16 on, ends slow start:
//!
//! 1. Train: acknowledgements at most 2 ms apart have come for longer than half of
//!    `RTTmin + min(1 ms, 4 * 65536 B / pacing rate)` since the round began. The second term allows for
//!    segmentation offload; the pacing rate is `2 cwnd MSS / SRTT`, 1.2 times it above `ssthresh / 2`.
//! 2. Delay: the smallest of the round's RTTs, of more than 8, exceeds RTTmin by more than
//!    `RTTmin / 8`, held within 4 and 16 ms.
//!
//! A round lasts until the data outstanding at its start is acknowledged. Linux 5.16 to 6.13 noticed the end only
//! with acknowledgements that may increase the window: not in recovery, nor while the application limits sending. If
//! the end goes unnoticed, a train can have any length, and reordering ends slow start early ([`Rounds`]). Linux
//! before 5.6 measured the train in milliseconds and without the offload term, and before 5.8 used only the first 8
//! RTTs for the delay (`Clock`).
//!
//! The signal takes effect at once: if the same acknowledgement reveals a loss, the loss stores the new threshold,
//! and an undo restores it.

use super::{AckEvent, Window, micros, usual_pacing_rate};

/// Smallest window at which HyStart is active.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements further apart than this end a train, microseconds.
const TRAIN_GAP_US: u64 = 2000;
/// Number of RTTs of a round before its minimum is used.
const SAMPLES: u32 = 8;
/// Bounds of the tolerated increase of the RTT, microseconds.
const DELAY_US: (u64, u64) = (4000, 16_000);
/// Bytes that segmentation offload may delay: four times its maximum.
const OFFLOAD_BYTES: u64 = 4 * 65_536;
/// Maximum delay allowed for it, microseconds.
const MAX_OFFLOAD_DELAY_US: u64 = 1000;

/// When the end of a round is noticed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Rounds {
    /// With every acknowledgement: Linux until 5.15, from 6.14 on, and stable kernels such as 6.1.129 and
    /// later.
    #[default]
    Acknowledged,
    /// With acknowledgements that may increase the window: Linux 5.16 to 6.13.
    Growing,
}

/// How both signals are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Clock {
    /// In microseconds, with time for segmentation offload, and all RTTs of a round: Linux 5.8 and later.
    #[default]
    Microseconds,
    /// The train in milliseconds without time for offload, RTTs in eighths of a millisecond, and only the first 8 RTTs
    /// of a round: Linux 3.2 to 5.5.
    Milliseconds,
}

/// The state of one slow start.
#[derive(Debug, Clone, Default)]
pub(super) struct HyStart {
    rounds: Rounds,
    clock: Clock,
    /// True if a signal was found; HyStart is then inactive.
    found: bool,
    round_end: u64,
    round_start_us: u64,
    last_ack_us: u64,
    samples: u32,
    min_us: u64,
}

impl HyStart {
    /// A fresh slow start.
    pub(super) fn new(rounds: Rounds) -> Self {
        Self {
            rounds,
            ..Self::default()
        }
    }

    /// A fresh slow start as before Linux 5.6.
    pub(super) fn in_milliseconds() -> Self {
        Self {
            rounds: Rounds::Growing,
            clock: Clock::Milliseconds,
            ..Self::default()
        }
    }

    /// A new slow start of the same kind.
    pub(super) fn renewed(&self) -> Self {
        Self {
            rounds: self.rounds,
            clock: self.clock,
            ..Self::default()
        }
    }

    /// An acknowledgement in slow start that may increase the window.
    pub(super) fn growing(&mut self, ack: &AckEvent) {
        if self.rounds == Rounds::Growing && ack.snd_una > self.round_end {
            self.begin_round(micros(ack.now), ack.snd_nxt);
        }
    }

    /// An acknowledgement in slow start with a round-trip time of `rtt_us`; `min_us` is the minimum so far. Sets the
    /// threshold to the window if slow start must end.
    pub(super) fn update(&mut self, window: &mut Window, ack: &AckEvent, rtt_us: u64, min_us: u64) {
        if self.found || !window.in_slow_start() {
            return;
        }
        let now = micros(ack.now);
        if self.rounds == Rounds::Acknowledged && ack.snd_una > self.round_end {
            self.begin_round(now, ack.snd_nxt);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        self.found = match self.clock {
            Clock::Microseconds => {
                self.train(now, min_us, offload_us(window, ack)) | self.delay(rtt_us, min_us)
            }
            Clock::Milliseconds => self.train_ms(now, min_us) | self.early_delay(rtt_us, min_us),
        };
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    fn begin_round(&mut self, now: u64, snd_nxt: u64) {
        self.round_start_us = now;
        self.last_ack_us = now;
        self.round_end = snd_nxt;
        self.samples = 0;
        self.min_us = u64::MAX;
    }

    /// The first signal.
    fn train(&mut self, now: u64, min_us: u64, offload_us: u64) -> bool {
        if now.saturating_sub(self.last_ack_us) > TRAIN_GAP_US {
            return false;
        }
        self.last_ack_us = now;
        now.saturating_sub(self.round_start_us) > min_us.saturating_add(offload_us) / 2
    }

    /// The second signal.
    fn delay(&mut self, rtt_us: u64, min_us: u64) -> bool {
        self.min_us = self.min_us.min(rtt_us);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let tolerated = (min_us / 8).clamp(DELAY_US.0, DELAY_US.1);
        self.min_us > min_us.saturating_add(tolerated)
    }
}

impl HyStart {
    /// The first signal in whole milliseconds: the train is longer than half of the smallest RTT.
    fn train_ms(&mut self, now: u64, min_us: u64) -> bool {
        let ms = |us: u64| us / 1000;
        if ms(now).saturating_sub(ms(self.last_ack_us)) > ms(TRAIN_GAP_US) {
            return false;
        }
        self.last_ack_us = now;
        ms(now).saturating_sub(ms(self.round_start_us)) > eighths(min_us) >> 4
    }

    /// The second signal by the first RTTs of the round alone.
    fn early_delay(&mut self, rtt_us: u64, min_us: u64) -> bool {
        if self.samples < SAMPLES {
            self.min_us = self.min_us.min(rtt_us);
            self.samples += 1;
            return false;
        }
        let least = eighths(min_us);
        let tolerated = (least / 8).clamp(eighths(DELAY_US.0), eighths(DELAY_US.1));
        eighths(self.min_us) > least + tolerated
    }
}

/// Microseconds as eighths of a millisecond, at least one.
fn eighths(us: u64) -> u64 {
    (us.saturating_mul(8) / 1000).max(1)
}

/// Maximum time for which segmentation offload may delay acknowledgements, microseconds.
fn offload_us(window: &Window, ack: &AckEvent) -> u64 {
    let flight = window.cwnd.max(ack.in_flight);
    match usual_pacing_rate(window, flight, ack.mss, ack.srtt) {
        0 => 0,
        rate => (OFFLOAD_BYTES * 1_000_000 / rate).min(MAX_OFFLOAD_DELAY_US),
    }
}
