//! The machine under test: connections in virtual time, and the packets they have sent.

use std::collections::VecDeque;

use inorder_tcp::config::EcnOptionUse;
use inorder_tcp::{Endpoint, Flags, Nanos, Segment, State};

/// Start of virtual time, chosen so that no timestamp is 0 (RFC 7323 gives a zero echo no meaning).
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
    /// The script has gone on to another one.
    left: bool,
}

/// A segment on the wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) at: Nanos,
    pub(super) connection: usize,
    pub(super) segment: Segment,
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
            expiries: 0,
        }
    }

    /// The connection to which segments belong: the latest one.
    pub(super) fn current(&self) -> Option<&Connection> {
        self.connections.last()
    }

    /// Adds a connection; returns its number.
    pub(super) fn add(&mut self, endpoint: Endpoint, taken: bool) -> usize {
        self.connections.push(Connection {
            endpoint,
            taken,
            orphan: false,
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
        }
        self.sent.clear();
    }

    /// A segment arrives for the current connection.
    pub(super) fn inject(&mut self, segment: &Segment) {
        let now = self.now;
        let Some(connection) = self.connections.last_mut() else {
            return;
        };
        let endpoint = &mut connection.endpoint;
        endpoint.on_segment(now, segment);
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
        if self.device_full {
            return;
        }
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
        let sent = Sent {
            at: self.now,
            connection,
            segment,
        };
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
