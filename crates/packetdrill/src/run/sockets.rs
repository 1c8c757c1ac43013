//! The socket table: file descriptors and their meaning. The calls themselves are in [`super::calls`].

use std::collections::BTreeMap;

use inorder_tcp::{Endpoint, Error, Nanos, State};

use super::host::Host;
use super::stamps::Stamps;
use super::watched::Epoll;
use super::zerocopy::ZeroCopy;
use crate::setup::Setup;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It returned.
    Value(i64),
    /// It returned -1 with this `errno`.
    Errno(&'static str),
    /// It blocks.
    Wait,
}

/// The state of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Neither listening nor connected.
    Fresh,
    /// `listen` was called.
    Listener,
    /// `connect` was called, but the SYN waits for data to carry (TCP Fast Open).
    Deferred,
    /// One end of a connection, by number.
    Connection(usize),
}

/// A descriptor.
#[derive(Debug, Clone)]
pub(super) struct Socket {
    pub(super) kind: Kind,
    pub(super) nonblocking: bool,
    /// Initial settings of a connection: those of the system and the socket's own options.
    pub(super) setup: Setup,
    /// `SO_LINGER` with a time of 0: closing resets.
    pub(super) resets: bool,
    /// `shutdown` for reading.
    pub(super) deaf: bool,
    /// `TCP_USER_TIMEOUT`, ns.
    pub(super) user_timeout: Option<Nanos>,
    /// Bytes written to it.
    pub(super) written: u64,
    /// How many of them the current call wrote; it may wait for room for the rest.
    pub(super) sending: u64,
    /// `TCP_INQ`: reading also tells how much more can be read.
    pub(super) tells_rest: bool,
    pub(super) zerocopy: ZeroCopy,
    pub(super) stamps: Stamps,
    /// True if its error was reported; it is reported only once.
    pub(super) error_told: bool,
}

impl Socket {
    pub(super) fn new(setup: &Setup, nonblocking: bool) -> Self {
        Self {
            kind: Kind::Fresh,
            nonblocking,
            setup: setup.clone(),
            resets: false,
            deaf: false,
            user_timeout: None,
            written: 0,
            sending: 0,
            tells_rest: false,
            zerocopy: ZeroCopy::default(),
            stamps: Stamps::default(),
            error_told: false,
        }
    }
}

/// All descriptors.
#[derive(Debug, Default)]
pub(super) struct Table {
    open: BTreeMap<i64, Socket>,
    /// A socket listens to which no SYN has come yet.
    pub(super) fresh_listener: bool,
    /// Descriptors of `epoll_create`.
    pub(super) polls: BTreeMap<i64, Epoll>,
}

impl Table {
    pub(super) fn insert(&mut self, fd: i64, socket: Socket) {
        self.open.insert(fd, socket);
    }

    /// How many open sockets are in this state.
    pub(super) fn count(&self, host: &Host, state: State) -> usize {
        self.open
            .values()
            .filter(|socket| match socket.kind {
                Kind::Fresh | Kind::Deferred => state == State::Closed,
                Kind::Listener => state == State::Listen,
                Kind::Connection(number) => host.connections[number].endpoint.state() == state,
            })
            .count()
    }

    /// Tells the sockets what was sent and what the peers have acknowledged.
    pub(super) fn acknowledge(&mut self, host: &Host) {
        for socket in self.open.values_mut() {
            if let Kind::Connection(number) = socket.kind {
                let endpoint = &host.connections[number].endpoint;
                let end = socket.written.saturating_sub(endpoint.unacknowledged());
                let sent = socket.written.saturating_sub(endpoint.info().notsent_bytes);
                socket.zerocopy.acknowledged(end);
                socket.stamps.progress(host.now, sent, end);
            }
        }
    }

    pub(super) fn remove(&mut self, fd: i64) -> Option<Socket> {
        self.open.remove(&fd)
    }

    pub(super) fn get(&self, fd: i64) -> Option<&Socket> {
        self.open.get(&fd)
    }

    pub(super) fn get_mut(&mut self, fd: i64) -> Option<&mut Socket> {
        self.open.get_mut(&fd)
    }

    /// The settings that a listening socket passes to its connections.
    pub(super) fn listener(&self) -> Option<&Setup> {
        self.open
            .values()
            .find(|socket| socket.kind == Kind::Listener)
            .map(|socket| &socket.setup)
    }
}

/// The number of a connection that waits to be accepted.
pub(super) fn acceptable(host: &Host) -> Option<usize> {
    host.connections
        .iter()
        .position(|connection| !connection.taken && connection.endpoint.has_opened())
}

/// The `errno` for the error that ended the connection.
pub(super) fn errno(endpoint: &Endpoint) -> Option<&'static str> {
    endpoint.error().map(|error| match error {
        Error::Refused => "ECONNREFUSED",
        Error::Reset => "ECONNRESET",
        Error::TimedOut => "ETIMEDOUT",
        Error::Aborted => "ECONNABORTED",
    })
}

/// The error of a connection, on the first request.
pub(super) fn take_error(socket: &mut Socket, endpoint: &Endpoint) -> Option<&'static str> {
    if socket.error_told {
        return None;
    }
    let errno = errno(endpoint)?;
    socket.error_told = true;
    Some(errno)
}

/// Linux's numbers of the errors a socket can hold.
pub(super) fn errno_number(name: &str) -> i64 {
    match name {
        "EPIPE" => 32,
        "ECONNABORTED" => 103,
        "ECONNRESET" => 104,
        "ETIMEDOUT" => 110,
        "ECONNREFUSED" => 111,
        _ => 0,
    }
}
