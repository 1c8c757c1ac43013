//! Measures how late segments were: draft-zimmermann-tcpm-reordering-detection-02 section 4, and section III of the
//! mobile-network paper. Distinguishes late originals from retransmissions by timestamps and DSACKs.
//!
//! An acknowledgement that newly covers one segment below the highest data known to have arrived is evidence. If the
//! segment was never retransmitted, it was late. If it was, the echoed timestamp identifies the transmission that
//! arrived (only for cumulative coverage: for an out-of-order arrival an older timestamp is echoed). Without
//! timestamps a later DSACK shows it; with both, a DSACK also reveals an original later than a round trip.

use std::collections::BTreeMap;

use super::{AckNews, Context, Delivered};
use crate::Nanos;
use crate::seq::{Seq, ts_before};

/// Maximum number of samples that wait for a DSACK; far more than are retransmitted within two round trips.
const MAX_SAMPLES: usize = 1024;

/// How far a segment was late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// In segments: `ExtA`.
    pub absolute: u32,
    /// As a share of the flight to which it belonged: `ExtR`.
    pub relative: f64,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    extent: Extent,
    /// A DSACK will reveal an original later than a round trip: the extent is then measured relative to this flight.
    measure_at_dsack: Option<u64>,
    at: Nanos,
}

/// The detector of the draft.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// The receiver has shown that it sends DSACKs (`Dsack`).
    dsack: bool,
    samples: BTreeMap<Seq, Sample>,
    flight_before: u64,
    /// End of the flight to which `flight_before` belongs.
    refresh_at: Seq,
}

impl Detector {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Processes an acknowledgement and returns the extents that it proves.
    pub fn on_ack(&mut self, cx: &Context<'_>, ack: &AckNews<'_>) -> [Option<Extent>; 2] {
        // Step A.1, and once per window while disorder lasts.
        if (ack.has_sack && ack.prior_sacked == 0) || cx.snd_una >= self.refresh_at {
            self.flight_before = ack.prior_flight_bytes;
            self.refresh_at = cx.snd_nxt;
        }
        let late = match ack.delivered {
            [only] if only.record.start < ack.prior_fack => self.step_s(cx, ack, only),
            _ => None,
        };
        [late, ack.dsack.and_then(|block| self.step_d(cx, block))]
    }

    /// Step E: distance from the highest sequence number known received.
    fn extent(cx: &Context<'_>, start: Seq, fack: Seq, flight: u64) -> Extent {
        let distance = fack.saturating_sub(start);
        Extent {
            absolute: u32::try_from(distance.div_ceil(u64::from(cx.mss))).unwrap_or(u32::MAX),
            relative: distance as f64 / flight.max(u64::from(cx.mss)) as f64,
        }
    }

    /// Steps S.1 to S.5.
    fn step_s(&mut self, cx: &Context<'_>, ack: &AckNews<'_>, item: &Delivered) -> Option<Extent> {
        let record = &item.record;
        let extent = Self::extent(cx, record.start, ack.prior_fack, self.flight_before);
        if !record.ever_retransmitted() {
            return Some(extent);
        }
        if cx.timestamps && !item.by_sack {
            let echo = ack.tsecr?;
            if ts_before(echo, record.tsval) {
                return Some(extent);
            }
            if record.transmissions == 2 && echo == record.tsval {
                self.remember(cx, record.start, extent, Some(self.flight_before));
            }
        } else if !cx.timestamps {
            // DSACK support is known only after the first DSACK, so samples are kept from the beginning.
            self.remember(cx, record.start, extent, None);
        }
        None
    }

    fn remember(&mut self, cx: &Context<'_>, start: Seq, extent: Extent, flight: Option<u64>) {
        let lifetime = cx.srtt.saturating_mul(4);
        if self.samples.len() >= MAX_SAMPLES {
            self.samples
                .retain(|_, sample| sample.at.saturating_add(lifetime) > cx.now);
        }
        if self.samples.len() < MAX_SAMPLES {
            let sample = Sample {
                extent,
                measure_at_dsack: flight,
                at: cx.now,
            };
            self.samples.insert(start, sample);
        }
    }

    /// Steps D.1 to D.3: a duplicate was reported.
    fn step_d(&mut self, cx: &Context<'_>, block: (Seq, Seq)) -> Option<Extent> {
        let first = !std::mem::replace(&mut self.dsack, true);
        let sample = self.samples.remove(&block.0)?;
        if first && !cx.timestamps {
            // D.1: samples from before the first DSACK prove nothing.
            return None;
        }
        match sample.measure_at_dsack {
            None => Some(sample.extent),
            Some(flight) => {
                let fack = cx.board.highest_sack_end().unwrap_or(cx.snd_una);
                Some(Self::extent(cx, block.0, fack.max(cx.snd_una), flight))
            }
        }
    }

    /// A retransmission timeout: the samples collected so far are unreliable.
    pub fn on_timeout(&mut self) {
        self.samples.clear();
        self.flight_before = 0;
        self.refresh_at = 0;
    }
}
