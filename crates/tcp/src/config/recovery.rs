//! What a sender does around a loss.

/// What a sender does around a loss, apart from its loss detection: before, during and after a recovery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossRecovery {
    /// New data on duplicate acknowledgements before recovery.
    pub limited_transmit: LimitedTransmit,
    /// In recovery without new data, also retransmits segments below the highest SACK that are missing but not
    /// considered lost (RFC 6675 section 4 rule (3) of NextSeg).
    pub forward_retransmit: bool,
    /// Whether F-RTO looks for spurious timeouts (RFC 5682 section 3.1).
    pub frto: bool,
    /// By which rules it does.
    pub frto_rules: FrtoRules,
    /// Without SACK a duplicate in recovery marks the oldest segment as lost (Linux until 4.17 `tcp_update_scoreboard`), which a partial
    /// acknowledgement of an original has left unmarked. RFC 6582 section 3.2 step 3 and later kernels mark it at partial acknowledgements
    /// only.
    pub duplicates_mark: bool,
    /// Which tail loss probe is sent.
    pub loss_probe: LossProbe,
    /// Undoing reductions that turn out to be unnecessary.
    pub undo: Undo,
    /// Departures from the standards in recovery without SACK.
    pub departures: Departures,
}

/// Rules of F-RTO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrtoRules {
    /// RFC 5682 sections 2.1 and 3.1: a duplicate before the first progress ends it, then two segments more than are in flight may be
    /// sent (step 2.b), and the second acknowledgement decides.
    Rfc5682,
    /// Linux since 3.10 (`tcp_process_loss`). Duplicates end it only when new data was sent, so those of data that was in flight at the
    /// timeout do not. The window grows as in slow start by what is acknowledged. If no new data can go out at once, lost
    /// segments do (`tcp_xmit_recovery`). Any acknowledgement of data that was never sent again undoes the timeout, without SACK only
    /// if it covers nothing that was (`FLAG_ORIG_SACK_ACKED`).
    Linux,
}

/// How much new data duplicate acknowledgements allow before recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// None: everything outstanding counts as in flight.
    Off,
    /// RFC 3042: one segment for each of the first two.
    Rfc3042,
    /// One segment for each of the first two, however much is outstanding already, as ns-3.26 did: RFC 3042 allows two segments more than the window.
    Always,
    /// As in Linux: data reported as received no longer counts as in flight.
    Pipe,
}

/// Tail loss probe: what is sent if the last segments of a flight are not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossProbe {
    /// None.
    Off,
    /// RFC 8985 section 7.2.
    Rfc8985,
    /// Linux: `2 SRTT` plus 200 ms with one segment outstanding, else 2 ms.
    Linux,
}

/// Undoing unnecessary reductions of the congestion window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// Eifel detection by timestamps (RFC 3522 section 3.2).
    pub eifel: bool,
    /// All retransmissions of a recovery reported by DSACK (RFC 3708, Linux).
    pub dsack: bool,
    /// After a spurious timeout, adapts the retransmission timer as RFC 4015 section 3.1 does and uses its window:
    /// the data outstanding plus a little more. Otherwise the window is restored and the timer is unchanged.
    pub rfc4015: bool,
    /// A partial acknowledgement of an original restores the window but not the threshold, and recovery continues
    /// (Linux 2.6). Otherwise recovery ends there if no retransmission is outstanding.
    pub partial_within_recovery: bool,
    /// What an acknowledgement shows while the time of no retransmission is known.
    pub unstamped: Unstamped,
    /// While a retransmission is outstanding, the time of the first one is kept, also when a recovery ends and the next
    /// one begins with the same acknowledgement (Linux `retrans_stamp`). What is sent meanwhile echoes later times, so
    /// that Eifel detection fails until no retransmission is outstanding. RFC 3522 section 3.2 step (2) takes the time
    /// anew in each recovery.
    pub stamp_outlives_recovery: bool,
    /// A partial acknowledgement of an original that waits because a retransmission is outstanding, or with `partial_within_recovery`
    /// each, marks nothing as lost (Linux `tcp_try_undo_partial`, which skips `tcp_identify_packet_loss`).
    pub hold_marks: bool,
}

/// What an acknowledgement shows while the time of no retransmission of the recovery is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unstamped {
    /// Nothing.
    Nothing,
    /// That an original arrived, because nothing was sent again yet, as when pacing holds the retransmission back; but not once without
    /// SACK all that was outstanding is acknowledged, where the time is forgotten (Linux 6.1.y since 2025, `tcp_packet_delayed`).
    Partial,
    /// Always that an original arrived (Linux 2.6 `tcp_packet_delayed`); a partial undo forgets the time if nothing retransmitted is
    /// outstanding (`tcp_try_undo_partial`).
    Original,
}

/// Rules in which ns-3 departs from the standards or chooses among what they allow, mostly of recovery without SACK. All are
/// off in the other profiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Departures {
    /// Fast recovery ends, and the next one may begin, with an acknowledgement of exactly what was outstanding when it
    /// began. RFC 6582 section 3.2 step 2 wants more than that for another one, so that duplicates which the recovery's
    /// own retransmissions caused do not start it.
    pub reenter_at_recover: bool,
    /// A duplicate takes one segment out of flight, as a SACK would, in recovery and (with limited transmit) before, and
    /// what is then in flight decides the slow-start threshold and what may be sent. RFC 5681 section 3.2
    /// inflates the window instead (step 4), and halves what is outstanding (step 2).
    pub duplicates_leave_flight: bool,
    /// The window also grows while it is not filled. RFC 9293 and Linux forbid it, RFC 7661 limits it.
    pub grow_when_unused: bool,
    /// Only the first partial acknowledgement of a recovery restarts the retransmission timer (RFC 6582 section 3.2
    /// step 3; "Impatient" in RFC 3782 section 4); otherwise each one does ("Slow-but-Steady").
    pub timer_at_first_partial: bool,
    /// The first segment of a connection is acknowledged at once, whatever the rule for the others.
    pub first_ack_at_once: bool,
    /// How much the acknowledgement that ends fast recovery lets the window grow.
    pub growth_at_end: GrowthAtEnd,
}

/// For how many segments the acknowledgement that ends fast recovery lets the window grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrowthAtEnd {
    /// As any other: for those that it acknowledges.
    #[default]
    Acknowledged,
    /// For those sent after recovery began; the congestion control is called for none, too (ns-3.26).
    Beyond,
    /// For none (ns-3.27).
    Nothing,
}
