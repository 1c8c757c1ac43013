//! Three duplicates as ns-3 counted them before it emulated SACKs: 3.26, and 3.27 without SACK.
//!
//! Source: `TcpSocketBase::DupAck`, `ReceivedAck` and `BytesInFlight` of ns-3.26, `ProcessAck` of ns-3.27. Both follow RFC
//! 6582 section 3.2 but for this:
//!
//! 1. In flight is what is outstanding less the duplicates, plus the retransmissions. Half of that is the threshold after a
//!    loss, and one segment more than that bounds the window when recovery ends.
//! 2. Duplicates are also counted in recovery, those that the recovery's own retransmissions cause as well. In 3.26 a
//!    partial acknowledgement takes back only what it covers beyond them, one at least, and what is in flight at the end is
//!    measured before the full acknowledgement is applied. So nothing may seem to be in flight, and the window falls to one
//!    segment. In 3.27 each acknowledgement that advances sets the number to 0, and is applied first.
//! 3. Every partial acknowledgement retransmits the oldest segment.
//!
//! With SACK (3.27) it is RFC 6675 section 5 with a threshold of three, as `static` is.

use super::{AckNews, CaState, Context, Entry, LossDetection, Verdict};
use crate::seq::{self, Seq};

pub(super) const ENTRY_3_26: Entry = Entry {
    name: "ns-3.26",
    about: "three duplicates, with what ns-3.26 took for in flight",
    source: "tcp-socket-base.cc of ns-3.26",
    build: || Box::new(Ns3Old::new(Version::V3_26)),
};
pub(super) const ENTRY_3_27: Entry = Entry {
    name: "ns-3.27",
    about: "three duplicates, with what ns-3.27 took for in flight",
    source: "tcp-socket-base.cc of ns-3.27",
    build: || Box::new(Ns3Old::new(Version::V3_27)),
};

/// `ReTxThreshold`.
const THRESHOLD: u32 = 3;

/// Which ns-3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V3_26,
    V3_27,
}

/// See the module's description.
#[derive(Debug, Clone)]
pub struct Ns3Old {
    version: Version,
    /// `m_dupAckCount`.
    duplicates: u32,
    /// `m_retransOut` of 3.26; 3.27 has none left where it matters.
    retransmitted: u32,
    /// First unacknowledged sequence number at the last acknowledgement.
    una: Seq,
    /// Segments in flight when recovery was decided.
    flight: Option<u32>,
}

impl Ns3Old {
    fn new(version: Version) -> Self {
        Self {
            version,
            duplicates: 0,
            retransmitted: 0,
            una: seq::first(0),
            flight: None,
        }
    }

    /// What counts as in flight of `outstanding` segments.
    fn in_flight(&self, outstanding: u32) -> u32 {
        outstanding
            .saturating_add(self.retransmitted)
            .saturating_sub(self.duplicates)
    }

    fn advanced(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) {
        if self.version == Version::V3_27 || cx.state != CaState::Recovery {
            self.duplicates = 0;
            self.retransmitted = 0;
        } else {
            let acked = ack.delivered.len() as u32;
            let beyond = acked.saturating_sub(self.duplicates).max(1);
            self.duplicates = self.duplicates.saturating_sub(beyond);
            // One has arrived, and the next one is sent.
            self.retransmitted = self.retransmitted.max(1);
        }
        if cx.state == CaState::Recovery {
            mark_head(cx);
        }
    }

    /// True if recovery begins.
    fn duplicate(&mut self, cx: &mut Context<'_>) -> bool {
        self.duplicates += 1;
        let begins = self.duplicates == THRESHOLD && !cx.recovering();
        if begins {
            self.flight = Some(self.in_flight(cx.board.packets_out()));
            mark_head(cx);
        }
        begins
    }
}

/// The oldest segment is lost, or its retransmission, if there was one.
fn mark_head(cx: &mut Context<'_>) {
    let head = cx.board.front_id();
    cx.board.mark_lost(head);
}

impl LossDetection for Ns3Old {
    fn dupthresh(&self) -> u32 {
        THRESHOLD
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &AckNews<'_>) -> Verdict {
        self.una = cx.snd_una;
        self.flight = None;
        let recover = if cx.sack {
            cx.board.mark_by_threshold(THRESHOLD);
            cx.board.lost_out() > 0
        } else if ack.advances() {
            self.advanced(cx, ack);
            false
        } else {
            ack.duplicate && self.duplicate(cx)
        };
        Verdict::recover_if(recover)
    }

    fn flight_at_loss(&self, _mss: u32) -> Option<u32> {
        self.flight
    }

    fn on_recovery(&mut self, _cx: &mut Context<'_>) {
        if self.version == Version::V3_26 {
            self.retransmitted += 1;
        }
    }

    fn on_recovery_end(&mut self, cx: &mut Context<'_>, undone: bool) {
        if !cx.sack && !undone {
            let outstanding = match self.version {
                Version::V3_27 => cx.board.packets_out(),
                Version::V3_26 => {
                    let bytes = (cx.snd_nxt - self.una) / u64::from(cx.mss.max(1));
                    self.in_flight(u32::try_from(bytes).unwrap_or(u32::MAX))
                }
            };
            cx.window.cwnd = cx.window.ssthresh.min(outstanding.saturating_add(1));
        }
        self.duplicates = 0;
        self.retransmitted = 0;
    }

    fn on_timeout(&mut self, _cx: &mut Context<'_>) {
        self.duplicates = 0;
        self.retransmitted += 1;
    }
}
