//! `epoll`: level-triggered, edge-triggered (`EPOLLET`) and for one event (`EPOLLONESHOT`), as epoll(7) describes them.
//!
//! An edge is new data, a finished zero-copy send, a change of the connection's state, or room in a send buffer that was
//! full. An edge-triggered entry reports everything that is ready after each edge, once.

use super::Stop;
use super::calls::{Calls, integer, unsupported};
use super::options::{self, field, first_integer};
use super::sockets::{Answer, Kind, Table};
use super::watched::{Edges, Entry, Epoll};
use super::{Nanos, host::Host};
use crate::script::{Call, Value};

impl Calls<'_> {
    pub(super) fn epoll_create(&mut self, call: &Call) -> Result<Answer, Stop> {
        let fd = call.result.filter(|&fd| fd >= 0).unwrap_or(3);
        self.table.polls.insert(fd, Epoll::default());
        Ok(Answer::Value(fd))
    }

    pub(super) fn epoll_ctl(&mut self, call: &Call) -> Result<Answer, Stop> {
        let (epfd, fd) = (integer(call, 0)?, integer(call, 2)?);
        let events = match call.arguments.get(3) {
            Some(Value::Struct(fields)) => match field(fields, "events") {
                Some(Value::Name(names)) => names.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        if self.table.get(fd).is_none() {
            return Ok(Answer::Errno("EBADF"));
        }
        let Some(epoll) = self.table.polls.get_mut(&epfd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let known = epoll.entries.iter().position(|entry| entry.fd == fd);
        let entry = Entry {
            fd,
            events,
            reported: None,
            spent: false,
        };
        match (super::calls::name(call, 1), known) {
            ("EPOLL_CTL_ADD", Some(_)) => return Ok(Answer::Errno("EEXIST")),
            ("EPOLL_CTL_ADD", None) => epoll.entries.push(entry),
            ("EPOLL_CTL_MOD" | "EPOLL_CTL_DEL", None) => return Ok(Answer::Errno("ENOENT")),
            ("EPOLL_CTL_MOD", Some(at)) => epoll.entries[at] = entry,
            ("EPOLL_CTL_DEL", Some(at)) => drop(epoll.entries.remove(at)),
            (operation, _) => return unsupported(format!("epoll_ctl {operation}")),
        }
        Ok(Answer::Value(0))
    }

    pub(super) fn epoll_wait(&mut self, call: &Call) -> Result<Answer, Stop> {
        let epfd = integer(call, 0)?;
        let most = usize::try_from(integer(call, 2)?).unwrap_or(0);
        let patience = match integer(call, 3)? {
            ..0 => Nanos::MAX,
            ms => ms.saturating_mul(1_000_000),
        };
        let Some(mut epoll) = self.table.polls.remove(&epfd) else {
            return Ok(Answer::Errno("EBADF"));
        };
        let found = report(&mut epoll, self.table, self.host, most);
        self.table.polls.insert(epfd, epoll);
        if found.is_empty() && self.host.now < self.since.saturating_add(patience) {
            return Ok(Answer::Wait);
        }
        check(call.arguments.get(1), &found)?;
        Ok(Answer::Value(found.len() as i64))
    }
}

/// The descriptors with events, at most `most`, and these events.
fn report(epoll: &mut Epoll, table: &Table, host: &Host, most: usize) -> Vec<(i64, Vec<String>)> {
    let mut found = Vec::new();
    for entry in &mut epoll.entries {
        if found.len() == most || entry.spent {
            continue;
        }
        let Some(socket) = table.get(entry.fd) else {
            continue;
        };
        let edges = edges(table, host, entry.fd);
        if entry.has("EPOLLET") && edges.is_some() && entry.reported == edges {
            continue;
        }
        let ready: Vec<_> = options::ready(socket, host)
            .into_iter()
            .map(|(event, always)| (format!("EPOLL{event}"), always))
            .filter(|(event, always)| *always || entry.has(event))
            .map(|(event, _)| event)
            .collect();
        if ready.is_empty() {
            continue;
        }
        entry.reported = edges;
        entry.spent = entry.has("EPOLLONESHOT");
        found.push((entry.fd, ready));
    }
    found
}

fn edges(table: &Table, host: &Host, fd: i64) -> Option<Edges> {
    let socket = table.get(fd)?;
    let Kind::Connection(number) = socket.kind else {
        return None;
    };
    let endpoint = &host.connections[number].endpoint;
    Some(Edges {
        received: endpoint.counters().received.bytes_received,
        told: socket.zerocopy.told,
        closed: endpoint.peer_closed() || endpoint.error().is_some(),
        writable: options::writable(endpoint),
    })
}

/// Compares the events with those that the script expects.
fn check(expected: Option<&Value>, found: &[(i64, Vec<String>)]) -> Result<(), Stop> {
    let expected: Vec<_> = match expected {
        Some(Value::Struct(fields)) => vec![fields],
        Some(Value::List(list)) => list
            .iter()
            .filter_map(|value| match value {
                Value::Struct(fields) => Some(fields),
                _ => None,
            })
            .collect(),
        _ => return Ok(()),
    };
    for (place, fields) in expected.into_iter().enumerate() {
        let mut wanted: Vec<&str> = match field(fields, "events") {
            Some(Value::Name(names)) => names.split('|').collect(),
            _ => Vec::new(),
        };
        let none = (0, Vec::new());
        let (fd, events) = found.get(place).unwrap_or(&none);
        let mut events: Vec<&str> = events.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        events.sort_unstable();
        if wanted != events {
            return Err(Stop::Failed(format!(
                "epoll_wait: expected {}, found {}",
                wanted.join("|"),
                events.join("|")
            )));
        }
        options::compare("fd", first_integer(field(fields, "fd")), *fd)?;
    }
    Ok(())
}
