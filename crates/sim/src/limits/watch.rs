//! What is recorded of a sender while it runs.

use inorder_tcp::{CaState, Endpoint, Held, Nanos};

use super::{Delays, Time};
use crate::spurious::Spurious;

/// The sender's state from a time on; the part that needs no hindsight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub at_ns: i64,
    pub base: Base,
}

/// What holds the sender back, apart from recoveries and timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    Handshake,
    /// True once the application has written all.
    Application(bool),
    SendBuffer,
    ReceiverWindow,
    /// The congestion window or pacing.
    Window(Level),
}

/// Why the congestion window is what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Nothing has reduced it.
    Start,
    /// This recovery has.
    Recovery(usize),
    /// A congestion mark, or the host's own full device.
    Mark,
    /// BBR follows what it has measured of the path.
    Measured,
    /// BBR has found a policer.
    Policed,
    /// BBR empties the queue to measure the round trip.
    Probe,
}

/// From a first retransmission until what had been sent then is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    pub start_ns: i64,
    pub end_ns: Option<i64>,
    /// What had been sent: bytes below this position.
    pub recover: u64,
    /// What the window was due to before.
    before: Level,
}

/// A wait that a timer ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub time: Time,
    pub kind: Timer,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// A time-out, which began this recovery.
    Timeout(usize),
    /// A probe of the tail: this transmission.
    Probe(u32),
}

/// A time in which nothing arrived at either end, and how many time-outs there were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    pub time: Time,
    pub timeouts: u32,
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resent {
    pub at_ns: i64,
    pub id: u32,
    pub start: u64,
}

/// The record of one direction.
#[derive(Debug)]
pub(crate) struct Watch {
    pub moments: Vec<Moment>,
    pub recoveries: Vec<Recovery>,
    pub waits: Vec<Wait>,
    pub silences: Vec<Silence>,
    pub resent: Vec<Resent>,
    pub spurious: Spurious,
    pub delays: Delays,
    /// First packet, and the last one so far, at this end.
    pub life: Option<Time>,
    level: Level,
    last: Last,
}

/// The counters and times that are compared with the next ones.
#[derive(Clone, Copy, Default, Debug)]
struct Last {
    state: CaState,
    timeouts: u64,
    recoveries: u64,
    undone: u64,
    probes: u64,
    /// When something arrived here, and when something was sent, the last times before now.
    heard_ns: i64,
    sent_ns: [i64; 2],
    /// When something arrived at either end, and time-outs since.
    arrived_ns: i64,
    unanswered: u32,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch {
            moments: Vec::new(),
            recoveries: Vec::new(),
            waits: Vec::new(),
            silences: Vec::new(),
            resent: Vec::new(),
            spurious: Spurious::remembering(),
            delays: Delays::default(),
            life: None,
            level: Level::Start,
            last: Last::default(),
        }
    }

    /// This end sends a packet; `data` is its payload's first byte and end, and the end of all that was sent before.
    pub(crate) fn sent(&mut self, now_ns: i64, id: u32, data: Option<(u64, u64, u64)>) {
        self.lives(now_ns);
        let Some((start, end, top)) = data else {
            return;
        };
        let [_, latest] = self.last.sent_ns;
        if latest < now_ns {
            self.last.sent_ns = [latest, now_ns];
        }
        if start < top {
            self.spurious.sent_again(now_ns, id, start, end.min(top));
            self.resent.push(Resent {
                at_ns: now_ns,
                id,
                start,
            });
        }
    }

    /// A packet arrives at this end.
    pub(crate) fn heard(&mut self, now_ns: i64) {
        self.lives(now_ns);
        self.last.heard_ns = now_ns;
    }

    fn lives(&mut self, now_ns: i64) {
        self.life
            .get_or_insert(Time {
                start_ns: now_ns,
                end_ns: now_ns,
            })
            .end_ns = now_ns;
    }

    /// A packet of the flow arrives at either end.
    pub(crate) fn arrived(&mut self, now_ns: i64) {
        let last = &mut self.last;
        if std::mem::take(&mut last.unanswered) > 0 {
            self.end_silence(now_ns);
        }
        self.last.arrived_ns = now_ns;
    }

    fn end_silence(&mut self, now_ns: i64) {
        if let Some(silence) = self.silences.last_mut() {
            silence.time.end_ns = now_ns;
        }
    }

    /// The receiver takes the bytes `start..end` of transmission `id`.
    pub(crate) fn taken(&mut self, id: u32, start: u64, end: u64) {
        self.spurious.arrives(id, start, end);
    }

    /// The state of the sender after all that it could send now; `blocked`: its application would write more than its
    /// buffer takes.
    pub(crate) fn note(&mut self, now_ns: Nanos, endpoint: &Endpoint, blocked: bool) {
        let standing = endpoint.standing();
        let counters = endpoint.counters();
        let opened = standing.held != Held::Opening;
        if counters.recoveries.tcp_timeouts > self.last.timeouts && opened {
            self.timed_out(now_ns, standing.recover);
        } else if counters.recoveries.fast_recoveries > self.last.recoveries {
            self.recover(now_ns, standing.recover);
        } else if standing.state == CaState::Cwr && self.last.state != CaState::Cwr {
            self.level = Level::Mark;
        }
        if counters.recoveries.tcp_loss_probes > self.last.probes {
            self.probed(now_ns);
        }
        if counters.undos.undone_recoveries > self.last.undone {
            self.undo(now_ns);
        }
        self.end_recovery(now_ns, standing.una);
        if standing.governed {
            self.govern(endpoint, standing.state);
        }
        self.last.state = standing.state;
        self.last.timeouts = counters.recoveries.tcp_timeouts;
        self.last.recoveries = counters.recoveries.fast_recoveries;
        self.last.undone = counters.undos.undone_recoveries;
        self.last.probes = counters.recoveries.tcp_loss_probes;
        let base = self.base(&standing, blocked);
        if self.moments.last().is_none_or(|last| last.base != base) {
            let at_ns = now_ns;
            self.moments.push(Moment { at_ns, base });
        }
    }

    fn base(&self, standing: &inorder_tcp::Standing, blocked: bool) -> Base {
        let in_flight = standing.nxt - standing.una.min(standing.nxt);
        match standing.held {
            Held::Opening => Base::Handshake,
            Held::Data if blocked => Base::SendBuffer,
            Held::Data => Base::Application(standing.closed),
            Held::Peer => Base::ReceiverWindow,
            // What pacing spreads over the round trip is held by a window or buffer that is nearly full.
            Held::Pace
                if standing.room < standing.peer_window / 4
                    && standing.peer_window < standing.window =>
            {
                Base::ReceiverWindow
            }
            Held::Pace if blocked && standing.unsent < in_flight / 2 => Base::SendBuffer,
            Held::Window | Held::Pace => Base::Window(self.level),
        }
    }

    /// The retransmission timer has expired.
    fn timed_out(&mut self, now_ns: i64, recover: u64) {
        let at = self.recoveries.len();
        self.waited(now_ns, Timer::Timeout(at));
        self.recover(now_ns, recover);
        if self.last.unanswered == 0 {
            self.silences.push(Silence {
                time: Time {
                    start_ns: self.last.arrived_ns,
                    end_ns: i64::MAX,
                },
                timeouts: 0,
            });
        }
        self.last.unanswered += 1;
        if let Some(silence) = self.silences.last_mut() {
            silence.timeouts += 1;
        }
    }

    fn waited(&mut self, now_ns: i64, kind: Timer) {
        let [earlier, latest] = self.last.sent_ns;
        let sent_ns = if latest == now_ns { earlier } else { latest };
        let time = Time {
            start_ns: self.last.heard_ns.max(sent_ns),
            end_ns: now_ns,
        };
        self.waits.push(Wait { time, kind });
    }

    fn probed(&mut self, now_ns: i64) {
        if let Some(resent) = self.resent.last()
            && resent.at_ns == now_ns
        {
            self.waited(now_ns, Timer::Probe(resent.id));
        }
    }

    fn recover(&mut self, now_ns: i64, recover: u64) {
        let mut before = self.level;
        if let Some(last) = self.recoveries.last_mut()
            && last.end_ns.is_none()
        {
            last.end_ns = Some(now_ns);
            before = last.before;
        }
        self.level = Level::Recovery(self.recoveries.len());
        self.recoveries.push(Recovery {
            start_ns: now_ns,
            end_ns: None,
            recover,
            before,
        });
    }

    /// The last reduction counts as none.
    fn undo(&mut self, now_ns: i64) {
        if let Some(last) = self.recoveries.last_mut() {
            last.end_ns.get_or_insert(now_ns);
            self.level = last.before;
        }
    }

    fn end_recovery(&mut self, now_ns: i64, una: u64) {
        if let Some(last) = self.recoveries.last_mut()
            && last.end_ns.is_none()
            && una >= last.recover
        {
            last.end_ns = Some(now_ns);
        }
    }

    /// A control that sets its window by what it measures keeps no reduction beyond a recovery.
    fn govern(&mut self, endpoint: &Endpoint, state: CaState) {
        if state >= CaState::Recovery {
            return;
        }
        let (mut mode, mut policed) = (None, false);
        endpoint.congestion().trace(&mut |name, value| match name {
            "mode" => mode = Some(value as u8),
            "policed" => policed = value > 0.0,
            _ => {}
        });
        self.level = match mode {
            Some(0) => Level::Start,
            Some(3) => Level::Probe,
            Some(_) if policed => Level::Policed,
            _ => Level::Measured,
        };
    }
}
