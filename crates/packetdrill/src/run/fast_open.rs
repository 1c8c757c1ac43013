//! Opening a connection with data (TCP Fast Open): `MSG_FASTOPEN`, and `TCP_FASTOPEN_CONNECT`, with which `connect` waits for
//! the first data if the server's cookie is known (Linux `tcp_sendmsg_fastopen`, `tcp_fastopen_defer_connect`).

use super::Stop;
use super::calls::{Calls, name};
use super::sockets::{Answer, Kind};
use crate::fast_open::{Settings, client::Offer};
use crate::script::{Call, Value};

impl Calls<'_> {
    /// The SYN takes as much of `bytes` as it may carry; returns what a call on a nonblocking socket returns.
    pub(super) fn open_with(&mut self, fd: i64, bytes: u64) -> Result<Answer, Stop> {
        let (peer, now) = (self.peer, self.host.now);
        let Some(socket) = self.table.get_mut(fd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let settings = socket.setup.fast_open.under(&self.setup.fast_open);
        if !settings.has(Settings::CLIENT) {
            return Ok(Answer::Errno("EOPNOTSUPP"));
        }
        let offer = self.host.cache.offer(&settings, socket.setup.config.mss);
        let taken = bytes.min(offer.room.into());
        let mut endpoint = socket
            .setup
            .endpoint(peer.isn, peer.mss)
            .map_err(Stop::Unsupported)?;
        endpoint.connect_with(now, taken);
        let number = self.host.add(endpoint, true);
        socket.kind = Kind::Connection(number);
        socket.written += taken;
        socket.sending = taken;
        let connection = &mut self.host.connections[number];
        connection.cookie = offer.option;
        connection.offer = Some(Offer {
            room: taken as u32,
            ..offer
        });
        self.host.flush();
        Ok(match taken {
            0 => Answer::Errno("EINPROGRESS"),
            taken => Answer::Value(taken as i64),
        })
    }

    /// `connect` with `TCP_FASTOPEN_CONNECT`; `None` if it is an ordinary one.
    pub(super) fn connect_later(&mut self, fd: i64) -> Option<Result<Answer, Stop>> {
        let socket = self.table.get_mut(fd)?;
        let settings = socket.setup.fast_open.under(&self.setup.fast_open);
        if !settings.connect_later || !settings.has(Settings::CLIENT) {
            return None;
        }
        if self.host.cache.allows_data(&settings) {
            socket.kind = Kind::Deferred;
            return Some(Ok(Answer::Value(0)));
        }
        let nonblocking = socket.nonblocking;
        Some(self.open_with(fd, 0).map(|answer| match answer {
            Answer::Errno("EINPROGRESS") if !nonblocking => Answer::Wait,
            answer => answer,
        }))
    }
}

/// The call names no address: `connect` then ends the connection, and `sendto` cannot open one.
pub(super) fn is_unspecified(call: &Call, place: usize) -> bool {
    match call.arguments.get(place) {
        Some(Value::Struct(fields)) => fields.iter().any(|(field, value)| {
            field == "sa_family" && matches!(value, Value::Name(name) if name == "AF_UNSPEC")
        }),
        _ => name(call, place) == "AF_UNSPEC",
    }
}
