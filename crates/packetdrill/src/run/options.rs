//! Socket options, and the state that `poll` reports.

use inorder_tcp::config::Nagle;
use inorder_tcp::{Endpoint, State};

use super::Stop;
use super::host::Host;
use super::sockets::{self, Kind, Socket, Table};
use crate::fast_open;
use crate::script::Value;

/// Options without an observable effect here. The send buffer accepts all data, and IP headers are not examined.
const WITHOUT_EFFECT: [&str; 10] = [
    "IP_MTU_DISCOVER",
    "IP_TOS",
    "IP_TTL",
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_DEBUG",
    "SO_BUSY_POLL",
    "SO_PRIORITY",
    "SO_MARK",
    "SO_SNDBUF",
];

/// `setsockopt`. Returns the error with which Linux refuses the value, if it does.
pub(super) fn set(
    socket: &mut Socket,
    host: &mut Host,
    level: &str,
    option: &str,
    value: Option<&Value>,
) -> Result<Option<&'static str>, Stop> {
    let unsupported = || Err(Stop::Unsupported(format!("setsockopt {level} {option}")));
    let number = first_integer(value);
    let endpoint = match socket.kind {
        Kind::Connection(connection) => Some(&mut host.connections[connection].endpoint),
        _ => None,
    };
    let connected = endpoint.is_some();
    match (option, number) {
        ("SO_LINGER", _) => socket.resets = lingers_not(value),
        ("TCP_NODELAY", Some(on)) => {
            socket.setup.set_no_delay(on != 0);
            if let Some(endpoint) = endpoint {
                endpoint.set_nagle(socket.setup.config.send.nagle);
            }
        }
        ("TCP_CORK", Some(on)) => {
            if let Some(endpoint) = endpoint {
                endpoint.set_cork(on != 0);
            } else if on != 0 {
                return unsupported();
            }
        }
        ("TCP_USER_TIMEOUT", Some(ms)) => {
            socket.user_timeout = (ms > 0).then(|| ms.saturating_mul(1_000_000));
            if let Some(endpoint) = endpoint {
                endpoint.set_user_timeout(socket.user_timeout);
            }
        }
        // 2^32 - 1 removes the limit; a paced socket stays paced.
        ("SO_MAX_PACING_RATE", Some(rate)) => {
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            let unbounded = rate >= u64::from(u32::MAX);
            if !unbounded || socket.setup.config.send.pacing.is_some() {
                let max_rate = if unbounded { u64::MAX } else { rate };
                socket.setup.set_pacing(Some(max_rate));
            }
            if let Some(endpoint) = endpoint {
                endpoint.set_pacing(socket.setup.config.send.pacing);
            }
        }
        // Before the handshake these options influence it; afterwards they would change a running connection.
        ("SO_RCVBUF", Some(bytes)) if !connected => {
            let bytes = u64::try_from(bytes).unwrap_or(0);
            socket.setup.set_receive_buffer(bytes);
        }
        ("TCP_MAXSEG", Some(mss)) if !connected => {
            socket.setup.config.mss = u32::try_from(mss).unwrap_or(0).max(1);
        }
        ("TCP_CONGESTION", _) if !connected => match value {
            Some(Value::Text(name)) => {
                socket
                    .setup
                    .set_congestion(name)
                    .map_err(Stop::Unsupported)?;
            }
            _ => return unsupported(),
        },
        ("TCP_FASTOPEN", Some(backlog)) => {
            socket.setup.fast_open.backlog = u32::try_from(backlog).ok();
        }
        ("TCP_FASTOPEN_KEY", _) => match value {
            Some(Value::Text(text)) => match fast_open::key_of_bytes(text) {
                Some(key) => socket.setup.fast_open.own_key = Some(key),
                None => return Ok(Some("EINVAL")),
            },
            _ => return unsupported(),
        },
        ("TCP_FASTOPEN_CONNECT", Some(on)) => socket.setup.fast_open.connect_later = on != 0,
        ("TCP_FASTOPEN_NO_COOKIE", Some(on)) => socket.setup.fast_open.without_cookie = on != 0,
        ("SO_TIMESTAMPING", _) => match value {
            Some(Value::List(list)) => match list.first() {
                Some(Value::Name(flags)) => socket.stamps.ask(flags, socket.written),
                _ => return unsupported(),
            },
            _ => return unsupported(),
        },
        ("SO_ZEROCOPY", Some(on)) => socket.zerocopy.on = on != 0,
        ("TCP_INQ", Some(on)) => socket.tells_rest = on != 0,
        (option, _) if WITHOUT_EFFECT.contains(&option) => {}
        _ => return unsupported(),
    }
    Ok(None)
}

/// `{onoff=1, linger=0}`, with any prefix: closing then resets the connection.
fn lingers_not(value: Option<&Value>) -> bool {
    let Some(Value::Struct(fields)) = value else {
        return false;
    };
    let field = |name: &str, place: usize| {
        let named = fields.iter().find(|(field, _)| field.ends_with(name));
        first_integer(named.or(fields.get(place)).map(|(_, value)| value))
    };
    field("onoff", 0) == Some(1) && field("linger", 1) == Some(0)
}

/// `getsockopt`.
pub(super) fn get(socket: &mut Socket, host: &Host, option: &str) -> Result<i64, Stop> {
    let endpoint = match socket.kind {
        Kind::Connection(number) => Some(&host.connections[number].endpoint),
        _ => None,
    };
    Ok(match (option, endpoint) {
        ("SO_ERROR", Some(endpoint)) => {
            sockets::take_error(socket, endpoint).map_or(0, sockets::errno_number)
        }
        ("SO_ERROR", None) => 0,
        ("TCP_MAXSEG", Some(endpoint)) => i64::from(endpoint.info().snd_mss),
        ("TCP_NODELAY", _) => i64::from(socket.setup.config.send.nagle == Nagle::Off),
        ("SO_RCVBUF", endpoint) => {
            let factor = 1 + i64::from(socket.setup.doubles_buffers);
            let bytes = match endpoint {
                Some(endpoint) if endpoint.state().is_synchronized() => {
                    endpoint.config().receive.buffer
                }
                _ => socket.setup.config.receive.buffer,
            };
            i64::try_from(bytes).map_or(i64::MAX, |bytes| bytes * factor)
        }
        ("SO_ACCEPTCONN", _) => i64::from(socket.kind == Kind::Listener),
        // SOCK_STREAM and IPPROTO_TCP.
        ("SO_TYPE", _) => 1,
        ("SO_PROTOCOL", _) => 6,
        _ => return Err(Stop::Unsupported(format!("getsockopt {option}"))),
    })
}

/// Fails if the value stored by a call differs from the expected one.
pub(super) fn compare(what: &str, expected: Option<i64>, found: i64) -> Result<(), Stop> {
    match expected {
        Some(expected) if expected != found => Err(Stop::Failed(format!(
            "{what}: expected {expected}, found {found}"
        ))),
        _ => Ok(()),
    }
}

/// The number of `[5]` or `5`.
pub(super) fn first_integer(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Integer(number) => Some(*number),
        Value::List(list) => match list.first()? {
            Value::Integer(number) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn field<'a>(fields: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    fields
        .iter()
        .find(|(field, _)| field == name)
        .map(|(_, value)| value)
}

/// What `poll` reports for one entry.
fn events(table: &Table, host: &Host, fields: &[(String, Value)]) -> Result<Vec<String>, Stop> {
    let unsupported = |what: &str| Stop::Unsupported(format!("poll with {what}"));
    let fd = first_integer(field(fields, "fd")).ok_or_else(|| unsupported("no descriptor"))?;
    let Some(Value::Name(wanted)) = field(fields, "events") else {
        return Err(unsupported("no events"));
    };
    let socket = table
        .get(fd)
        .ok_or_else(|| unsupported("a closed descriptor"))?;
    Ok(ready(socket, host)
        .into_iter()
        .map(|(event, always)| (format!("POLL{event}"), always))
        .filter(|(event, always)| *always || wanted.split('|').any(|name| name == event))
        .map(|(event, _)| event)
        .collect())
}

/// The events that a socket has, without the prefix `POLL` or `EPOLL`, and whether each one is told unasked.
pub(super) fn ready(socket: &Socket, host: &Host) -> Vec<(&'static str, bool)> {
    let Kind::Connection(number) = socket.kind else {
        if socket.kind == Kind::Deferred {
            return vec![("OUT", false)];
        }
        let ready = socket.kind == Kind::Listener && sockets::acceptable(host).is_some();
        return if ready {
            vec![("IN", false)]
        } else {
            Vec::new()
        };
    };
    let endpoint = &host.connections[number].endpoint;
    let state = endpoint.state();
    let closed = state == State::Closed;
    let ended = endpoint.peer_closed() || closed || socket.deaf;
    let erred = (endpoint.error().is_some() && !socket.error_told)
        || socket.zerocopy.notifies()
        || socket.stamps.notifies();
    let all = [
        ("IN", false, endpoint.readable() > 0 || ended),
        ("OUT", false, writable(endpoint) || closed),
        ("RDHUP", false, ended),
        ("ERR", true, erred),
        ("HUP", true, closed || (ended && state == State::TimeWait)),
    ];
    all.into_iter()
        .filter(|(_, _, set)| *set)
        .map(|(event, always, _)| (event, always))
        .collect()
}

/// True if the connection takes data.
pub(super) fn writable(endpoint: &Endpoint) -> bool {
    matches!(endpoint.state(), State::Established | State::CloseWait)
}

/// True if the entry has an event to report.
pub(super) fn poll(table: &Table, host: &Host, fields: &[(String, Value)]) -> Result<bool, Stop> {
    Ok(!events(table, host, fields)?.is_empty())
}

/// Compares what `poll` reports with the `revents` of the script.
pub(super) fn check_poll(table: &Table, host: &Host, list: &[Value]) -> Result<(), Stop> {
    for entry in list {
        let Value::Struct(fields) = entry else {
            continue;
        };
        let mut found = events(table, host, fields)?;
        let mut expected: Vec<&str> = match field(fields, "revents") {
            Some(Value::Name(names)) => names.split('|').collect(),
            Some(Value::Integer(0)) => Vec::new(),
            _ => continue,
        };
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            return Err(Stop::Failed(format!(
                "poll: expected revents {}, found {}",
                expected.join("|"),
                found.join("|")
            )));
        }
    }
    Ok(())
}
