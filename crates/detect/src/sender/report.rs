//! One segment in the report of an ACK.

use super::board::{Copies, Sent};
use crate::result::Reason;

/// A segment reported for the first time by an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) sent: Sent,
    pub(super) copies: Option<Copies>,
    pub(super) unsure: Option<Reason>,
    /// It certainly arrived last of what its ACK reports: it is alone in the block listed first.
    pub(super) told: bool,
    pub(super) left_edge: bool,
    /// It came at some time before its ACK: what told of it was cut off.
    pub(super) lags: bool,
    /// And in its turn, most likely.
    pub(super) in_turn: bool,
    /// It is taken for the last arrival that its ACK reports.
    pub(super) came_last: bool,
    /// It begins a block of which nothing had been SACKed before.
    pub(super) opens: bool,
}

impl Report {
    pub(super) fn new(sent: Sent, copies: Option<Copies>) -> Self {
        Report {
            sent,
            copies,
            unsure: None,
            told: false,
            left_edge: false,
            lags: false,
            in_turn: false,
            came_last: false,
            opens: false,
        }
    }
}
