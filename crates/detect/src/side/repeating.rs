//! What a host does when it sends data again, and how soon it can: as this connection shows it, and as others of its do.

use crate::arrival::Arrival;
use crate::copies::RoundTrip;
use crate::habits::{Identification, Repeats};
use crate::hosts;
use crate::kept::Kept;

/// What is known of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeating {
    /// Does it send packets again with the identification that they had before?
    kept: Kept,
    /// That is known for sure.
    sure: bool,
    /// Some data was late, or sent again with its old identification.
    suspected: bool,
    /// The shortest round trip from the capture point to it that another connection has shown, microseconds.
    near_us: Option<u32>,
}

impl Repeating {
    /// Other connections have shown this, or the user knows how the host numbers its packets.
    pub(super) fn new(known: hosts::Known, assumed: Identification) -> Self {
        let kept = match assumed {
            Identification::Kept => Kept::Yes,
            _ => known.kept,
        };
        let near_us = known.round_trip_ns.map(|ns| ns / 1_000);
        Repeating {
            kept,
            sure: kept != Kept::Unknown,
            suspected: false,
            near_us: near_us.and_then(|us| u32::try_from(us).ok()),
        }
    }

    #[inline]
    pub(super) fn kept(self) -> Kept {
        self.kept
    }

    /// What the arrivals of its data have shown so far.
    #[inline]
    pub(super) fn learn(&mut self, arrival: &Arrival) {
        if !self.sure {
            self.kept = arrival.kept();
            self.suspected |= arrival.perhaps_kept();
        }
    }

    /// What came again with its old identification is perhaps no duplicate frame.
    pub(super) fn suspect(&mut self) {
        self.suspected = true;
    }

    /// It is none.
    pub(super) fn seen(&mut self) {
        (self.kept, self.sure) = (Kept::Yes, true);
    }

    /// The habit that is reported.
    pub(super) fn habit(self) -> Repeats {
        match self.kept {
            Kept::Yes => Repeats::Kept,
            Kept::No => Repeats::Renewed,
            Kept::Unknown if self.suspected => Repeats::InDoubt,
            Kept::Unknown => Repeats::Unknown,
        }
    }

    /// The round trip to it that this connection has shown, with what others have.
    #[inline]
    pub(super) fn round_trip(self, own: Option<RoundTrip>) -> Option<RoundTrip> {
        match self.near_us {
            Some(us) => own.map(|rtt| rtt.or_as_short_as(i64::from(us) * 1_000)),
            None => own,
        }
    }
}
