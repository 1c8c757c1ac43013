//! `sendmsg` and `recvmsg`: buffers in pieces, control messages, the notifications of zero-copy sends, and timestamps.
//!
//! Nothing is copied here, so the code of a notification is not compared.

use inorder_tcp::Nanos;
use inorder_tcp::config::SECOND;

use super::Stop;
use super::calls::{Calls, integer, name, unsupported};
use super::host::ORIGIN;
use super::options::{compare, field, first_integer};
use super::sockets::{Answer, Kind, Socket};
use super::stamps::Stamp;
use super::wire;
use crate::script::{Call, Value};

/// `MAX_SKB_FRAGS`: maximum number of pieces in a packet that are not copied; how Linux cuts more is not modelled.
const PIECES_OF_A_PACKET: usize = 17;

type Fields = [(String, Value)];

impl Calls<'_> {
    pub(super) fn sendmsg(&mut self, call: &Call) -> Result<Answer, Stop> {
        let message = message(call)?;
        let pieces = pieces(message)?;
        let flags = name(call, 2);
        if flags.contains("MSG_ZEROCOPY") && pieces.len() > PIECES_OF_A_PACKET {
            return unsupported("zero copy of more pieces than a packet holds");
        }
        if let Some(Value::List(list)) = field(message, "msg_control")
            && !list.is_empty()
        {
            return unsupported("sendmsg with control messages");
        }
        self.send(call, pieces.iter().sum(), flags)
    }

    pub(super) fn recvmsg(&mut self, call: &Call) -> Result<Answer, Stop> {
        let message = message(call)?;
        let flags = name(call, 2);
        if flags.contains("MSG_ERRQUEUE") {
            return self.notification(call, message);
        }
        let wanted = pieces(message)?.iter().sum();
        let answer = self.receive(call, wanted, flags)?;
        if matches!(answer, Answer::Value(_)) {
            self.check_control(call, message)?;
        }
        Ok(answer)
    }

    /// Reads the oldest timestamp, or else the oldest range of finished zero-copy sends.
    fn notification(&mut self, call: &Call, message: &[(String, Value)]) -> Result<Answer, Stop> {
        let Some(socket) = self.table.get_mut(integer(call, 0)?) else {
            return Ok(Answer::Errno("EBADF"));
        };
        if let Some(stamp) = socket.stamps.read() {
            check_stamp(message, &stamp, self.setup.tolerance)?;
            return Ok(Answer::Value(0));
        }
        let Some((from, to)) = socket.zerocopy.read() else {
            return Ok(Answer::Errno("EAGAIN"));
        };
        let Some(Value::Struct(data)) = control(message).and_then(|c| field(c, "cmsg_data")) else {
            return unsupported("recvmsg of a notification without its data");
        };
        compare("ee_info", first_integer(field(data, "ee_info")), from)?;
        compare("ee_data", first_integer(field(data, "ee_data")), to)?;
        Ok(Answer::Value(0))
    }

    /// The control messages of received data: `TCP_CM_INQ` tells how much more can be read, 1 at the end of the stream.
    fn check_control(&mut self, call: &Call, message: &[(String, Value)]) -> Result<(), Stop> {
        let Some(control) = control(message) else {
            return Ok(());
        };
        let Some(Value::Name(kind)) = field(control, "cmsg_type") else {
            return Err(Stop::Unsupported("a control message without type".into()));
        };
        let fd = integer(call, 0)?;
        match self.table.get(fd) {
            Some(Socket {
                kind: Kind::Connection(number),
                tells_rest: true,
                ..
            }) if kind == "TCP_CM_INQ" => {
                let endpoint = &self.host.connections[*number].endpoint;
                let rest = endpoint.readable().max(u64::from(endpoint.peer_closed()));
                compare(
                    kind,
                    first_integer(field(control, "cmsg_data")),
                    i64::try_from(rest).unwrap_or(i64::MAX),
                )
            }
            _ => Err(Stop::Unsupported(format!("control message {kind}"))),
        }
    }
}

/// A timestamp comes in two control messages: the time, and what happened then to which byte.
fn check_stamp(message: &Fields, stamp: &Stamp, tolerance: Nanos) -> Result<(), Stop> {
    let data = |kinds: [&str; 3]| {
        let found = controls(message).find(|control| {
            matches!(field(control, "cmsg_type"), Some(Value::Name(kind)) if kinds.contains(&kind.as_str()))
        });
        match found.and_then(|control| field(control, "cmsg_data")) {
            Some(Value::Struct(data)) => Ok(data),
            _ => Err(Stop::Unsupported(
                "recvmsg of a timestamp without its data".into(),
            )),
        }
    };
    let happened = data(["IP_RECVERR", "IPV6_RECVERR", "CMSG_TYPE_RECVERR"])?;
    let byte = i64::try_from(stamp.byte).unwrap_or(i64::MAX);
    compare("ee_data", first_integer(field(happened, "ee_data")), byte)?;
    let written = match field(happened, "ee_info") {
        Some(Value::Name(event)) => event,
        _ => return Err(Stop::Unsupported("a timestamp without ee_info".into())),
    };
    if written != stamp.event {
        let found = stamp.event;
        return Err(Stop::Failed(format!(
            "ee_info: expected {written}, found {found}"
        )));
    }
    let time = data(["SCM_TIMESTAMPING"; 3])?;
    let part = |name: &str| first_integer(field(time, name)).unwrap_or(0);
    let expected = part("scm_sec")
        .saturating_mul(SECOND)
        .saturating_add(part("scm_nsec"));
    let found = stamp.at - ORIGIN;
    match (expected - found).abs() <= tolerance {
        true => Ok(()),
        false => Err(Stop::Failed(format!(
            "time of {}: expected {}, found {}",
            stamp.event,
            wire::show_time(expected.into()),
            wire::show_time(found.into())
        ))),
    }
}

/// The structure that describes the message.
fn message(call: &Call) -> Result<&[(String, Value)], Stop> {
    match call.arguments.get(1) {
        Some(Value::Struct(fields)) => Ok(fields),
        _ => Err(Stop::Unsupported(format!(
            "{} without a structure as argument 2",
            call.name
        ))),
    }
}

/// Lengths of the pieces of the buffer, bytes.
fn pieces(message: &[(String, Value)]) -> Result<Vec<u64>, Stop> {
    let unsupported = || Stop::Unsupported("a message whose buffers have no length".to_owned());
    let Some(Value::List(list)) = field(message, "msg_iov") else {
        return Err(unsupported());
    };
    list.iter()
        .map(|piece| match piece {
            Value::Struct(parts) => match parts.last() {
                Some((_, Value::Integer(bytes))) => u64::try_from(*bytes).ok(),
                _ => None,
            },
            _ => None,
        })
        .collect::<Option<_>>()
        .ok_or_else(unsupported)
}

/// The first control message.
fn control(message: &Fields) -> Option<&Fields> {
    controls(message).next()
}

fn controls(message: &Fields) -> impl Iterator<Item = &Fields> {
    let list: &[Value] = match field(message, "msg_control") {
        Some(Value::List(list)) => list,
        _ => &[],
    };
    list.iter().filter_map(|control| match control {
        Value::Struct(fields) => Some(fields.as_slice()),
        _ => None,
    })
}
