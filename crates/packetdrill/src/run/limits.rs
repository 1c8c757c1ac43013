//! How long a connection had data that was not acknowledged, and how much of this time the peer's window was in the way (Linux
//! `tcp_chrono_start`; `tcpi_busy_time` and `tcpi_rwnd_limited` of `tcp_get_info`).

use inorder_tcp::{Endpoint, Nanos};

/// The times of a connection, up to `since`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    since: Nanos,
    busy_now: bool,
    limited_now: bool,
    pub(super) busy: Nanos,
    pub(super) by_window: Nanos,
}

impl Limits {
    /// The times up to `now`, if nothing has happened since the last [`Limits::note`].
    pub(super) fn at(&self, now: Nanos) -> Self {
        let more = |runs: bool| if runs { now - self.since } else { 0 };
        Self {
            since: now,
            busy: self.busy + more(self.busy_now),
            by_window: self.by_window + more(self.limited_now),
            ..*self
        }
    }

    /// Something may have changed just now, and what could be sent has been.
    pub(super) fn note(&mut self, now: Nanos, endpoint: &Endpoint) {
        *self = Self {
            busy_now: endpoint.unacknowledged() > 0,
            limited_now: is_limited(endpoint),
            ..self.at(now)
        };
    }
}

/// The congestion window allows the next segment and the peer's does not (Linux `tcp_write_xmit`, `tcp_snd_wnd_test`).
fn is_limited(endpoint: &Endpoint) -> bool {
    let info = endpoint.info();
    let next = info.notsent_bytes.min(info.snd_mss.into());
    let outstanding = endpoint.unacknowledged().saturating_sub(info.notsent_bytes);
    let in_flight = (info.flight.unacked + info.flight.retrans)
        .saturating_sub(info.flight.sacked + info.flight.lost);
    next > 0 && in_flight < info.cwnd && outstanding + next > info.snd_wnd
}
