//! What TCP-NCR and TCP-aNCR share: the threshold that spans a round trip, and new data let out while it is not
//! known whether segments are lost or late.

use super::{AckNews, Context, Transmission};

/// How much new data goes out during disorder (RFC 4653 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// One new segment for every two that have left the network: the window is halved already while waiting.
    Careful,
    /// One for one: nothing changes before a loss is established.
    Aggressive,
}

impl Variant {
    /// `LT_F`: the share of FlightSize that the threshold amounts to (RFC 4653 section 3): two thirds, or a
    /// half, which with the new data sent in the meantime makes a round trip.
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
    /// Bytes of new data not to be sent, for those that were (careful).
    pub(super) skipped: u64,
}

impl Phase {
    /// Step I.1. A phase that begins with SACKs outstanding, at the end of a recovery, must not take what has left
    /// the network for flight: it would let the window grow by itself.
    pub(super) fn new(ack: &AckNews<'_>, mss: u32) -> Self {
        let arrived = u64::from(ack.prior_sacked) * u64::from(mss);
        Self {
            flight_before: ack.prior_flight_bytes.saturating_sub(arrived),
            skipped: 0,
        }
    }

    /// Step E.2: bytes in the network, and those skipped.
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
