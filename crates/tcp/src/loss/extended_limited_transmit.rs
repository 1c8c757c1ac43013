//! The common parts of TCP-NCR and TCP-aNCR: the threshold that covers a round trip, and new data sent while it is
//! unknown whether segments are lost or late.

use super::{AckNews, Context, Transmission};

/// How much new data is sent during disorder (RFC 4653 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// One new segment for every two that have left the network: the sending rate is halved already while waiting.
    Careful,
    /// One for one: the rate does not change before a loss is established.
    Aggressive,
}

impl Variant {
    /// `LT_F`: the threshold as a share of FlightSize (RFC 4653 section 3): two thirds, or one half, which together
    /// with the new data sent meanwhile makes one round trip.
    pub(super) fn threshold_segments(self, flight_bytes: u64, mss: u32) -> u32 {
        let segments = flight_bytes / u64::from(mss.max(1));
        let share = match self {
            Self::Careful => segments * 2 / 3,
            Self::Aggressive => segments / 2,
        };
        u32::try_from(share).unwrap_or(u32::MAX).max(MIN_THRESHOLD)
    }
}

/// The threshold never falls below the common one.
pub(super) const MIN_THRESHOLD: u32 = 3;

/// One phase of disorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phase {
    /// FlightSize when it began, bytes.
    pub(super) flight_before: u64,
    /// Bytes of new data that must be left unsent because of those that were sent (careful).
    pub(super) skipped: u64,
}

impl Phase {
    /// Step I.1. A phase that starts with SACKs outstanding, at the end of a recovery, must not count data that has
    /// left the network as in flight: the window would grow by itself.
    pub(super) fn new(ack: &AckNews<'_>, mss: u32) -> Self {
        let arrived = u64::from(ack.prior_sacked) * u64::from(mss);
        Self {
            flight_before: ack.prior_flight_bytes.saturating_sub(arrived),
            skipped: 0,
        }
    }

    /// Step E.2: bytes in the network, and those left unsent.
    pub(super) fn load(&self, cx: &Context<'_>) -> u64 {
        u64::from(cx.board.in_flight()) * u64::from(cx.mss) + self.skipped
    }

    pub(super) fn sent(&mut self, variant: Variant, sent: &Transmission) {
        if variant == Variant::Careful && !sent.again {
            self.skipped += sent.end - sent.start;
        }
    }
}

/// Bytes as whole segments, at least one.
pub(super) fn segments(bytes: u64, mss: u32) -> u32 {
    u32::try_from(bytes / u64::from(mss.max(1)))
        .unwrap_or(u32::MAX)
        .max(1)
}
