//! The machine under test: connections in virtual time, and the packets they have sent.

use std::collections::VecDeque;

use inorder_tcp::config::EcnOptionUse;
use inorder_tcp::{Endpoint, Flags, Nanos, Segment, State};

use super::limits::Limits;
use super::packets::DEFAULT_MSS;
use super::wire;
use crate::fast_open::CookieOption;
use crate::fast_open::client::{Cache, Offer};

/// Start of virtual time, chosen so that no timestamp is 0 (a zero echo is none: RFC 7323 section 3.2).
pub(super) const ORIGIN: Nanos = 1_000_000_000_000;
/// Maximum number of segments sent for one event; more indicates an endless loop.
const BURST: usize = 1 << 20;
/// Maximum number of timer expiries in a script.
const EXPIRIES: u32 = 1 << 20;

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    /// Returned by `accept`, or created by `connect`.
    pub(super) taken: bool,
    /// The application has closed it: no process will read data that still arrives.
    pub(super) orphan: bool,
    /// Initial sequence numbers: ours and the peer's.
    isn: (u32, u32),
    /// The option of TCP Fast Open of the next SYN or SYN-ACK; a repeated one has none.
    pub(super) cookie: Option<CookieOption>,
    /// How it was opened with TCP Fast Open, if it was.
    pub(super) offer: Option<Offer>,
    pub(super) limits: Limits,
    /// The script has gone on to another one.
    left: bool,
}

/// A segment on the wire, with sequence numbers as scripts write them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) at: Nanos,
    pub(super) connection: usize,
    pub(super) segment: Segment,
    /// Its option of TCP Fast Open.
    pub(super) cookie: Option<CookieOption>,
}

/// See the description of the module.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) now: Nanos,
    pub(super) connections: Vec<Connection>,
    /// Packets sent that the script has not expected yet.
    pub(super) sent: VecDeque<Sent>,
    /// Everything sent since the last trace output.
    pub(super) fresh: Vec<Sent>,
    /// The device accepts nothing, so endpoints are not asked for packets to send.
    pub(super) device_full: bool,
    /// What is known of the peer as a server of TCP Fast Open.
    pub(super) cache: Cache,
    last_sent: Option<Nanos>,
    expiries: u32,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            now: ORIGIN,
            connections: Vec::new(),
            sent: VecDeque::new(),
            fresh: Vec::new(),
            device_full: false,
            cache: Cache::default(),
            last_sent: None,
            expiries: 0,
        }
    }

    /// The connection to which segments belong: the latest one.
    pub(super) fn current(&self) -> Option<&Connection> {
        self.connections.last()
    }

    /// Adds a connection; returns its number. One that the application opens (`taken`) has another port than those before.
    pub(super) fn add(&mut self, endpoint: Endpoint, taken: bool) -> usize {
        if taken {
            self.leave_connections();
        }
        self.connections.push(Connection {
            isn: (endpoint.config().isn, 0),
            endpoint,
            taken,
            orphan: false,
            cookie: None,
            offer: None,
            limits: Limits::default(),
            left: false,
        });
        self.connections.len() - 1
    }

    /// True if the segment starts a new connection: no existing connection could accept it.
    pub(super) fn is_vacant(&self) -> bool {
        self.current()
            .is_none_or(|connection| connection.endpoint.state() == State::Closed)
    }

    /// True if the application has closed the current connection.
    pub(super) fn is_orphan(&self) -> bool {
        self.current().is_some_and(|connection| connection.orphan)
    }

    /// The script goes on to another connection: what the earlier ones send is no longer looked at, as packetdrill does.
    pub(super) fn leave_connections(&mut self) {
        for connection in &mut self.connections {
            connection.left = true;
            connection.taken = true;
        }
        self.sent.clear();
    }

    /// No application will accept the connections that wait for it: those that are open are reset, the others are forgotten.
    pub(super) fn refuse_waiting(&mut self) {
        for connection in self.connections.iter_mut().filter(|c| !c.taken) {
            connection.taken = true;
            connection.left |= !connection.endpoint.has_opened();
            connection.endpoint.abort();
        }
    }

    /// A segment arrives for the current connection, with this option of TCP Fast Open.
    pub(super) fn inject(&mut self, segment: &Segment, cookie: Option<CookieOption>) {
        let now = self.now;
        let Some(connection) = self.connections.last_mut() else {
            return;
        };
        let endpoint = &mut connection.endpoint;
        if segment.flags.has(Flags::SYN) && !endpoint.state().is_synchronized() {
            connection.isn.1 = segment.seq;
        }
        let (ours, theirs) = connection.isn;
        let segment = &wire::shifted(segment, theirs, ours);
        // Even the fastest answer takes time: one to what was sent at this very moment comes a microsecond later.
        if self.last_sent == Some(now) {
            self.now += 1_000;
        }
        let now = self.now;
        let opening = endpoint.state() == State::SynSent;
        endpoint.on_segment(now, segment);
        if opening
            && endpoint.has_opened()
            && let Some(offer) = connection.offer
        {
            let mss = segment.mss.map_or(DEFAULT_MSS, u32::from);
            let repeated = endpoint.info().total_retrans > 0;
            let data = offer.room > 0;
            self.cache.learn(offer.option, cookie, mss, data, repeated);
        }
        if connection.orphan && endpoint.readable() > 0 {
            self.refuse_data(segment);
        }
        self.flush();
    }

    /// Data for a closed socket is answered with RST (RFC 9293 section 3.6.1), as a stray segment would be.
    fn refuse_data(&mut self, segment: &Segment) {
        let number = self.connections.len() - 1;
        let endpoint = &mut self.connections[number].endpoint;
        endpoint.abort();
        // It is sent in the form of section 3.5.2, not in that of an application's abort.
        while endpoint.poll_transmit(self.now).is_some() {}
        self.record(
            number,
            Segment {
                seq: segment.ack,
                flags: Flags::RST,
                ..Segment::default()
            },
        );
    }

    /// Takes all packets that the connections have to send.
    pub(super) fn flush(&mut self) {
        if !self.device_full {
            self.poll_all();
        }
        for connection in &mut self.connections {
            connection.limits.note(self.now, &connection.endpoint);
        }
    }

    fn poll_all(&mut self) {
        for number in 0..self.connections.len() {
            for _ in 0..BURST {
                let now = self.now;
                let Some(segment) = self.connections[number].endpoint.poll_transmit(now) else {
                    break;
                };
                self.record(number, segment);
            }
        }
    }

    fn record(&mut self, connection: usize, segment: Segment) {
        if self.connections[connection].left {
            return;
        }
        let cookie = match segment.flags.has(Flags::SYN) {
            true => self.connections[connection].cookie.take(),
            false => None,
        };
        let (ours, theirs) = self.connections[connection].isn;
        let back = (ours.wrapping_neg(), theirs.wrapping_neg());
        let sent = Sent {
            at: self.now,
            connection,
            segment: wire::shifted(&segment, back.0, back.1),
            cookie,
        };
        self.last_sent = Some(self.now);
        self.sent.push_back(sent);
        self.fresh.push(sent);
    }

    /// Changes the option of accurate ECN for all connections.
    pub(super) fn set_ecn_option(&mut self, option: EcnOptionUse) {
        for connection in &mut self.connections {
            connection.endpoint.set_ecn_option(option);
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        self.connections
            .iter()
            .filter_map(|connection| connection.endpoint.next_timer())
            .min()
    }

    /// Advances to the next timer that expires before `limit`; false if there is none.
    pub(super) fn step(&mut self, limit: Nanos) -> bool {
        let Some(at) = self.next_timer().filter(|&at| at <= limit) else {
            return false;
        };
        if self.expiries == EXPIRIES {
            return false;
        }
        self.expiries += 1;
        self.now = self.now.max(at);
        let now = self.now;
        for connection in &mut self.connections {
            if connection.endpoint.next_timer().is_some_and(|at| at <= now) {
                connection.endpoint.on_timer(now);
            }
        }
        self.flush();
        true
    }
}
