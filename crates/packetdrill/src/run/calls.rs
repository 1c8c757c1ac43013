//! The socket calls of a script, executed on endpoints.
//!
//! A call either returns at once, or blocks and is tried again after every event ([`Answer::Wait`]). The semantics
//! follow POSIX, and `tcp(7)` of Linux where POSIX leaves them open.

use inorder_tcp::{Nanos, State};

use super::Stop;
use super::fast_open::is_unspecified;
use super::host::Host;
use super::options;
use super::sending::{flags, nowhere};
use super::sockets::{self, Answer, Kind, Socket, Table};
use crate::script::{Call, Value};
use crate::setup::Setup;

/// What the rest of the script shows of a connection that a call opens.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peer {
    /// Our initial sequence number.
    pub(super) isn: u32,
    /// The MSS that the peer will announce.
    pub(super) mss: u32,
}

/// The state that a call can access.
pub(super) struct Calls<'a> {
    pub(super) host: &'a mut Host,
    pub(super) table: &'a mut Table,
    /// The system's settings, for new sockets.
    pub(super) setup: &'a Setup,
    /// What the script will show of the next connection.
    pub(super) peer: Peer,
    /// When the call was made.
    pub(super) since: Nanos,
    /// False if a blocked call is tried again.
    pub(super) first: bool,
}

type Result = std::result::Result<Answer, Stop>;

pub(super) fn unsupported(what: impl Into<String>) -> Result {
    Err(Stop::Unsupported(what.into()))
}

impl Calls<'_> {
    /// Executes a call, or tries a blocked call again.
    pub(super) fn answer(&mut self, call: &Call) -> Result {
        match call.name.as_str() {
            "socket" => self.socket(call),
            "bind" => self.known(call, |_, _| Answer::Value(0)),
            "listen" => self.listen(call),
            "accept" | "accept4" => self.accept(call),
            "connect" => self.connect(call),
            "read" | "recv" | "recvfrom" => self.read(call),
            "write" | "send" | "sendto" => self.write(call),
            "close" => self.close(call),
            "shutdown" => self.shutdown(call),
            "fcntl" => self.fcntl(call),
            "ioctl" => self.ioctl(call),
            "setsockopt" => self.set_option(call),
            "getsockopt" => self.get_option(call),
            "poll" => self.poll(call),
            "sendmsg" => self.sendmsg(call),
            "recvmsg" => self.recvmsg(call),
            "epoll_create" | "epoll_create1" => self.epoll_create(call),
            "epoll_ctl" => self.epoll_ctl(call),
            "epoll_wait" => self.epoll_wait(call),
            name => unsupported(format!("call {name}")),
        }
    }

    fn known(
        &mut self,
        call: &Call,
        then: impl FnOnce(&mut Host, &mut Socket) -> Answer,
    ) -> Result {
        let fd = integer(call, 0)?;
        Ok(match self.table.get_mut(fd) {
            Some(socket) => then(self.host, socket),
            None => Answer::Errno("EBADF"),
        })
    }

    fn socket(&mut self, call: &Call) -> Result {
        let kind = name(call, 1);
        let (kind, flags) = kind.split_once('|').unwrap_or((kind, ""));
        if kind != "SOCK_STREAM" {
            return unsupported(format!("socket of type {kind}"));
        }
        let nonblocking = flags.contains("SOCK_NONBLOCK");
        // The script chooses its descriptors by the result it expects.
        let fd = call.result.filter(|&fd| fd >= 0).unwrap_or(3);
        self.table.insert(fd, Socket::new(self.setup, nonblocking));
        Ok(Answer::Value(fd))
    }

    fn listen(&mut self, call: &Call) -> Result {
        self.table.fresh_listener = true;
        self.known(call, |_, socket| {
            if matches!(socket.kind, Kind::Connection(_)) {
                return Answer::Errno("EINVAL");
            }
            socket.kind = Kind::Listener;
            Answer::Value(0)
        })
    }

    fn accept(&mut self, call: &Call) -> Result {
        let Some(listener) = self.table.get(integer(call, 0)?).cloned() else {
            return Ok(Answer::Errno("EBADF"));
        };
        if listener.kind != Kind::Listener {
            return Ok(Answer::Errno("EINVAL"));
        }
        let Some(number) = sockets::acceptable(self.host) else {
            return Ok(would_block(listener.nonblocking));
        };
        let connection = &mut self.host.connections[number];
        connection.taken = true;
        connection.endpoint.set_user_timeout(listener.user_timeout);
        let fd = call.result.filter(|&fd| fd >= 0).unwrap_or(4);
        let nonblocking = name(call, 3).contains("SOCK_NONBLOCK");
        let socket = Socket {
            kind: Kind::Connection(number),
            nonblocking,
            ..listener
        };
        self.table.insert(fd, socket);
        Ok(Answer::Value(fd))
    }

    fn connect(&mut self, call: &Call) -> Result {
        let (peer, now) = (self.peer, self.host.now);
        let fd = integer(call, 0)?;
        let Some(socket) = self.table.get_mut(fd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        if is_unspecified(call, 1) {
            return Ok(self.disconnect(fd));
        }
        match socket.kind {
            Kind::Listener | Kind::Deferred => return Ok(Answer::Errno("EISCONN")),
            Kind::Fresh => {
                if let Some(answer) = self.connect_later(fd) {
                    return answer;
                }
                let Some(socket) = self.table.get_mut(fd) else {
                    return Ok(Answer::Errno("EBADF"));
                };
                let mut endpoint = socket
                    .setup
                    .endpoint(peer.isn, peer.mss)
                    .map_err(Stop::Unsupported)?;
                endpoint.set_user_timeout(socket.user_timeout);
                endpoint.connect(now);
                socket.kind = Kind::Connection(self.host.add(endpoint, true));
                self.host.flush();
                return Ok(in_progress(socket.nonblocking));
            }
            Kind::Connection(_) => {}
        }
        let Kind::Connection(number) = socket.kind else {
            return Ok(Answer::Errno("EINVAL"));
        };
        let endpoint = &self.host.connections[number].endpoint;
        if let Some(errno) = sockets::errno(endpoint).filter(|_| !socket.error_told) {
            socket.error_told = true;
            return Ok(Answer::Errno(errno));
        }
        Ok(match endpoint.state() {
            State::SynSent | State::SynReceived if socket.nonblocking => Answer::Errno("EALREADY"),
            State::SynSent | State::SynReceived => Answer::Wait,
            // A call that blocked has succeeded; a new call on a nonblocking socket finds it connected.
            _ if self.first && !socket.nonblocking => Answer::Errno("EISCONN"),
            _ => Answer::Value(0),
        })
    }

    /// `connect` without an address: the connection ends with RST, and the socket can open another one.
    fn disconnect(&mut self, fd: i64) -> Answer {
        let Some(socket) = self.table.get_mut(fd) else {
            return Answer::Errno("EBADF");
        };
        if let Kind::Connection(number) = socket.kind {
            self.host.connections[number].endpoint.abort();
            self.host.flush();
        }
        socket.kind = Kind::Fresh;
        socket.error_told = false;
        Answer::Value(0)
    }

    fn read(&mut self, call: &Call) -> Result {
        let wanted = u64::try_from(integer(call, 2)?).unwrap_or(0);
        if nowhere(call, 1) && wanted > 0 {
            return self.refuse_address(call);
        }
        self.receive(call, wanted, &flags(call, 3))
    }

    /// Reads up to `wanted` bytes.
    pub(super) fn receive(&mut self, call: &Call, wanted: u64, flags: &str) -> Result {
        if flags.contains("MSG_OOB") || flags.contains("MSG_WAITALL") {
            return unsupported(format!("{} with {flags}", call.name));
        }
        let now_or_never = flags.contains("MSG_DONTWAIT");
        let peeks = flags.contains("MSG_PEEK");
        self.known(call, |host, socket| {
            let number = match socket.kind {
                Kind::Connection(number) => number,
                Kind::Deferred => return would_block(socket.nonblocking || now_or_never),
                _ => return Answer::Errno("ENOTCONN"),
            };
            let endpoint = &mut host.connections[number].endpoint;
            if peeks && endpoint.readable() > 0 {
                return Answer::Value(wanted.min(endpoint.readable()) as i64);
            }
            if endpoint.readable() > 0 && wanted > 0 {
                let taken = endpoint.read(wanted);
                host.flush();
                return Answer::Value(taken as i64);
            }
            if let Some(errno) = sockets::take_error(socket, endpoint) {
                return Answer::Errno(errno);
            }
            let ended = endpoint.peer_closed() || endpoint.error().is_some() || socket.deaf;
            if ended || wanted == 0 || endpoint.state() == State::Closed {
                return Answer::Value(0);
            }
            would_block(socket.nonblocking || now_or_never)
        })
    }

    fn close(&mut self, call: &Call) -> Result {
        let fd = integer(call, 0)?;
        if self.table.polls.remove(&fd).is_some() {
            return Ok(Answer::Value(0));
        }
        let Some(socket) = self.table.remove(fd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        match socket.kind {
            Kind::Fresh | Kind::Deferred => {}
            Kind::Listener => {
                self.host.refuse_waiting();
            }
            Kind::Connection(number) => {
                let connection = &mut self.host.connections[number];
                connection.orphan = true;
                // RFC 2525 section 2.17: data that no process will read must not appear to be delivered.
                if socket.resets || connection.endpoint.readable() > 0 {
                    connection.endpoint.abort();
                } else {
                    connection.endpoint.close();
                }
            }
        }
        self.host.flush();
        Ok(Answer::Value(0))
    }

    fn shutdown(&mut self, call: &Call) -> Result {
        let how = name(call, 1).to_owned();
        self.known(call, |host, socket| {
            let Kind::Connection(number) = socket.kind else {
                return Answer::Errno("ENOTCONN");
            };
            let endpoint = &mut host.connections[number].endpoint;
            if matches!(endpoint.state(), State::Closed | State::TimeWait) {
                return Answer::Errno("ENOTCONN");
            }
            socket.deaf |= how != "SHUT_WR";
            if how != "SHUT_RD" {
                endpoint.close();
            }
            host.flush();
            Answer::Value(0)
        })
    }

    fn fcntl(&mut self, call: &Call) -> Result {
        let command = name(call, 1).to_owned();
        let flags = name(call, 2).to_owned();
        if !matches!(command.as_str(), "F_GETFL" | "F_SETFL") {
            return unsupported(format!("fcntl {command}"));
        }
        self.known(call, |_, socket| {
            if command == "F_GETFL" {
                // O_RDWR is 2, O_NONBLOCK 0x800 on Linux.
                return Answer::Value(2 | if socket.nonblocking { 0x800 } else { 0 });
            }
            socket.nonblocking = flags.contains("O_NONBLOCK");
            Answer::Value(0)
        })
    }

    fn ioctl(&mut self, call: &Call) -> Result {
        let request = name(call, 1).to_owned();
        let expected = options::first_integer(call.arguments.get(2));
        let mut found = None;
        let answer = self.known(call, |host, socket| {
            let Kind::Connection(number) = socket.kind else {
                return Answer::Errno("EINVAL");
            };
            let endpoint = &host.connections[number].endpoint;
            found = match request.as_str() {
                "SIOCINQ" | "FIONREAD" => Some(endpoint.readable()),
                "SIOCOUTQ" => Some(endpoint.unacknowledged()),
                _ => None,
            };
            Answer::Value(0)
        })?;
        let Some(found) = found else {
            return unsupported(format!("ioctl {request}"));
        };
        options::compare(&request, expected, found as i64)?;
        Ok(answer)
    }

    fn set_option(&mut self, call: &Call) -> Result {
        let Some(socket) = self.table.get_mut(integer(call, 0)?) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let refused = options::set(
            socket,
            self.host,
            name(call, 1),
            name(call, 2),
            call.arguments.get(3),
        )?;
        self.host.flush();
        Ok(refused.map_or(Answer::Value(0), Answer::Errno))
    }

    fn get_option(&mut self, call: &Call) -> Result {
        let Some(socket) = self.table.get_mut(integer(call, 0)?) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let option = name(call, 2);
        let found = options::get(socket, self.host, option)?;
        options::compare(option, options::first_integer(call.arguments.get(3)), found)?;
        Ok(Answer::Value(0))
    }

    fn poll(&mut self, call: &Call) -> Result {
        let timeout = integer(call, 2)?;
        let Some(Value::List(list)) = call.arguments.first() else {
            return unsupported("poll without a list");
        };
        let mut ready = 0;
        for entry in list {
            let Value::Struct(fields) = entry else {
                return unsupported("poll of something else than structures");
            };
            ready += i64::from(options::poll(self.table, self.host, fields)?);
        }
        let patience = match timeout {
            ..0 => Nanos::MAX,
            ms => ms.saturating_mul(1_000_000),
        };
        let over = self.host.now >= self.since.saturating_add(patience);
        if ready == 0 && !over {
            return Ok(Answer::Wait);
        }
        options::check_poll(self.table, self.host, list)?;
        Ok(Answer::Value(ready))
    }
}

fn would_block(nonblocking: bool) -> Answer {
    if nonblocking {
        Answer::Errno("EAGAIN")
    } else {
        Answer::Wait
    }
}

fn in_progress(nonblocking: bool) -> Answer {
    if nonblocking {
        Answer::Errno("EINPROGRESS")
    } else {
        Answer::Wait
    }
}

pub(super) fn integer(call: &Call, index: usize) -> std::result::Result<i64, Stop> {
    match call.arguments.get(index) {
        Some(Value::Integer(number)) => Ok(*number),
        _ => Err(Stop::Unsupported(format!(
            "{} without a number as argument {}",
            call.name,
            index + 1
        ))),
    }
}

/// The constant written as an argument; empty for other arguments.
pub(super) fn name(call: &Call, index: usize) -> &str {
    match call.arguments.get(index) {
        Some(Value::Name(name)) => name,
        _ => "",
    }
}
