//! `write`, `send` and `sendto`: what the send buffer takes, and when a call waits for room.

use inorder_tcp::State;

use super::Stop;
use super::calls::{Calls, integer, unsupported};
use super::fast_open::is_unspecified;
use super::host::Host;
use super::sockets::{self, Answer, Kind, Socket};
use crate::script::{Call, Value};

/// The flags of a call that matter here.
#[derive(Debug, Clone, Copy)]
struct How {
    fast_open: bool,
    without_copy: bool,
    more: bool,
    end: bool,
    /// The call returns at once, by its flag or its socket.
    at_once: bool,
}

impl Calls<'_> {
    pub(super) fn write(&mut self, call: &Call) -> Result<Answer, Stop> {
        let bytes = u64::try_from(integer(call, 2)?).unwrap_or(0);
        let flags = flags(call, 3);
        if nowhere(call, 1) && bytes > 0 {
            return self.refuse_address(call);
        }
        self.send(call, bytes, &flags)
    }

    /// The buffer has no address.
    pub(super) fn refuse_address(&mut self, call: &Call) -> Result<Answer, Stop> {
        Ok(match self.table.get(integer(call, 0)?) {
            Some(_) => Answer::Errno("EFAULT"),
            None => Answer::Errno("EBADF"),
        })
    }

    /// Writes `bytes`: as many as there is room for, or all of them if the call may wait.
    pub(super) fn send(&mut self, call: &Call, bytes: u64, flags: &str) -> Result<Answer, Stop> {
        if flags.contains("MSG_OOB") {
            return unsupported(format!("{} with MSG_OOB", call.name));
        }
        let fd = integer(call, 0)?;
        let Some(socket) = self.table.get_mut(fd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let how = How {
            fast_open: flags.contains("MSG_FASTOPEN"),
            without_copy: flags.contains("MSG_ZEROCOPY") && socket.zerocopy.on,
            more: flags.contains("MSG_MORE"),
            end: flags.contains("MSG_EOR"),
            at_once: socket.nonblocking || flags.contains("MSG_DONTWAIT"),
        };
        if self.first {
            socket.sending = 0;
        }
        match socket.kind {
            Kind::Listener => Ok(Answer::Errno("EPIPE")),
            Kind::Fresh if !how.fast_open => Ok(Answer::Errno("EPIPE")),
            Kind::Fresh if is_unspecified(call, 4) => Ok(Answer::Errno("EOPNOTSUPP")),
            Kind::Fresh | Kind::Deferred => self.open_and_send(fd, bytes, how),
            Kind::Connection(number) => {
                let opening = self.host.connections[number].endpoint.state() == State::SynSent;
                if how.fast_open && self.first {
                    let errno = if opening { "EALREADY" } else { "EISCONN" };
                    return Ok(Answer::Errno(errno));
                }
                let answer = append(self.host, socket, number, bytes, how);
                self.host.flush();
                Ok(answer)
            }
        }
    }

    fn open_and_send(&mut self, fd: i64, bytes: u64, how: How) -> Result<Answer, Stop> {
        let answer = self.open_with(fd, bytes)?;
        if let (Answer::Value(_), Some(socket)) = (&answer, self.table.get_mut(fd))
            && how.without_copy
        {
            socket.zerocopy.sent(socket.written);
        }
        Ok(match answer {
            Answer::Value(_) | Answer::Errno("EINPROGRESS") if !how.at_once => Answer::Wait,
            answer => answer,
        })
    }
}

/// Appends what a call has not written yet.
fn append(host: &mut Host, socket: &mut Socket, number: usize, bytes: u64, how: How) -> Answer {
    let endpoint = &mut host.connections[number].endpoint;
    if let Some(errno) = sockets::take_error(socket, endpoint) {
        return Answer::Errno(errno);
    }
    let open = matches!(endpoint.state(), State::Established | State::CloseWait);
    if !open && !endpoint.is_early() {
        return match endpoint.state() {
            State::SynSent | State::SynReceived if how.at_once => Answer::Errno("EAGAIN"),
            State::SynSent | State::SynReceived => Answer::Wait,
            _ => Answer::Errno("EPIPE"),
        };
    }
    let rest = bytes - socket.sending.min(bytes);
    let taken = endpoint.write_with(rest, how.more, how.end);
    socket.written += taken;
    socket.sending += taken;
    if taken > 0 && how.without_copy {
        socket.zerocopy.sent(socket.written);
    }
    let answer = match socket.sending {
        sent if sent >= bytes => Answer::Value(bytes as i64),
        _ if !how.at_once => Answer::Wait,
        0 => Answer::Errno("EAGAIN"),
        sent => Answer::Value(sent as i64),
    };
    if matches!(answer, Answer::Value(_)) && socket.sending > 0 {
        socket.stamps.wrote(socket.written);
    }
    answer
}

/// The buffer of the call is `NULL`.
pub(super) fn nowhere(call: &Call, place: usize) -> bool {
    matches!(call.arguments.get(place), Some(Value::Name(name)) if name == "NULL")
}

/// The names of the flags, also if they are written as a number (those of Linux).
pub(super) fn flags(call: &Call, place: usize) -> String {
    const NUMBERS: [(i64, &str); 7] = [
        (0x1, "MSG_OOB"),
        (0x2, "MSG_PEEK"),
        (0x40, "MSG_DONTWAIT"),
        (0x80, "MSG_EOR"),
        (0x8000, "MSG_MORE"),
        (0x400_0000, "MSG_ZEROCOPY"),
        (0x2000_0000, "MSG_FASTOPEN"),
    ];
    match call.arguments.get(place) {
        Some(Value::Name(names)) => names.clone(),
        Some(Value::Integer(number)) => {
            let set = NUMBERS.iter().filter(|(bit, _)| number & bit != 0);
            set.map(|(_, name)| *name).collect::<Vec<_>>().join("|")
        }
        _ => String::new(),
    }
}
