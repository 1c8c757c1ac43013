//! The three serialisations, read event by event: a JSON document, JSON-SEQ (RFC 7464), a JSON value in each line.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, Value};

use inorder_base::heap::Heap;
use inorder_report::number::plural;

use crate::connection::Connection;
use crate::event::{Event, TimeFormat, is_odd};
use crate::readable::is_readable;
use crate::room::{Room, Text};
use crate::value::number;

/// Members of an event that is a list, at most: drafts 00 and 01 have four, and `common_fields` may take some away.
const MAX_FIELDS: usize = 64;

/// Why a log could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct ReadError {
    /// What was found and what was expected.
    pub problem: String,
    /// What came before the damage.
    pub connections: Vec<Connection>,
}

/// Reads all traces of a log.
///
/// # Errors
/// If the input is no qlog, damaged, or cannot be read; the error contains what came before.
pub fn read(input: impl Read) -> Result<Vec<Connection>, ReadError> {
    read_within(input, &mut Room::new(None))
}

/// Reads all traces of a log until the room is used up: what comes behind is left out.
///
/// # Errors
/// As of [`read`], and if an event is too long for the memory.
pub fn read_within(input: impl Read, room: &mut Room) -> Result<Vec<Connection>, ReadError> {
    let since_event = Cell::new(0);
    let text = Text::new(BufReader::with_capacity(1 << 16, input), &since_event, room);
    let mut json = Deserializer::from_reader(text);
    let mut log = Log::new(room, &since_event);
    let problem = loop {
        match json.end() {
            Ok(()) => break None,
            Err(error) if error.is_io() => break Some(error.to_string()),
            Err(_) => {}
        }
        if let Err(error) = (Top { log: &mut log }).deserialize(&mut json) {
            if log.room.is_used_up() {
                break None;
            }
            break Some(match log.is_qlog {
                true if error.is_eof() => format!(
                    "it ends within an event, in line {}, column {}; expected the rest of it: the log was cut off, or is still written",
                    error.line(),
                    error.column()
                ),
                true => error.to_string(),
                false => format!(
                    "no qlog; expected a JSON object with `qlog_version` or `file_schema` ({error})"
                ),
            });
        }
    };
    let problem = problem.or_else(|| log.problem());
    let connections = log.finish();
    match problem {
        None => Ok(connections),
        Some(problem) => Err(ReadError {
            problem,
            connections,
        }),
    }
}

/// What has been read.
struct Log<'a> {
    room: &'a mut Room,
    /// Bytes of text since the last event.
    since_event: &'a Cell<usize>,
    connections: Vec<Connection>,
    /// Index of the connection that has the header of the trace that is being read.
    trace: usize,
    /// Indices of the connections whose events have these groups, in this trace.
    groups: HashMap<String, usize>,
    /// Index of the connection of the event before.
    last: usize,
    /// The header said that this is a qlog.
    is_qlog: bool,
    /// There is anything at all.
    has_content: bool,
    events: u64,
}

impl<'a> Log<'a> {
    fn new(room: &'a mut Room, since_event: &'a Cell<usize>) -> Self {
        Log {
            room,
            since_event,
            connections: Vec::new(),
            trace: 0,
            groups: HashMap::new(),
            last: 0,
            is_qlog: false,
            has_content: false,
            events: 0,
        }
    }

    fn problem(&self) -> Option<String> {
        if !self.has_content {
            return Some("it is empty; expected a qlog file".to_owned());
        }
        if !self.is_qlog {
            return Some(
                "no qlog; expected a JSON object with `qlog_version` or `file_schema`".to_owned(),
            );
        }
        if self.unreadable() > 0 && self.connections.iter().all(|c| c.packets() == 0) {
            let events = plural(self.unreadable(), "event");
            return Some(format!(
                "no packet of a connection; {events} with members of types that no draft of qlog has"
            ));
        }
        let unnumbered: u64 = self.connections.iter().map(|c| c.unnumbered).sum();
        if unnumbered > 0 && self.connections.iter().all(|c| c.packets() == 0) {
            let packets = plural(unnumbered, "packet");
            return Some(format!(
                "none of its {packets} has a number: nothing can be said of losses or order (qh3 2.1 writes such logs)"
            ));
        }
        (self.events == 0).then(|| "no events".to_owned())
    }

    /// A new trace begins.
    fn begin(&mut self) {
        self.trace = self.connections.len();
        self.last = self.trace;
        self.groups.clear();
        self.connections.push(Connection::default());
        self.since_event.set(0);
    }

    /// Counts what a connection takes. Errors if there is no room for more.
    fn count<E: serde::de::Error>(&mut self, index: usize) -> Result<(), E> {
        if let Some(connection) = self.connections.get_mut(index) {
            let bytes = connection.bytes();
            let before = std::mem::replace(&mut connection.counted, bytes);
            self.room.change(before, bytes);
        }
        match self.room.is_used_up() {
            true => Err(E::custom("the memory is used up")),
            false => Ok(()),
        }
    }

    /// The trace that is being read.
    fn current(&mut self) -> &mut Connection {
        if self.trace >= self.connections.len() {
            self.begin();
        }
        &mut self.connections[self.trace]
    }

    /// Takes an event. Errors if there is no room for more.
    fn event<E: serde::de::Error>(&mut self, event: &Event) -> Result<(), E> {
        self.since_event.set(0);
        self.events += 1;
        // The times of all events of a trace are on one clock.
        let now_ns = self.current().clock.at(event.time);
        let index = match &event.group {
            None => self.trace,
            Some(group) => self.of_group(group, event),
        };
        self.last = index;
        let connection = &mut self.connections[index];
        connection.unreadable += u64::from(!is_readable(event));
        connection.event(event, now_ns);
        self.count(index)
    }

    /// Something in the place of an event that is none.
    fn no_event(&mut self) {
        self.since_event.set(0);
        self.current().unreadable += 1;
    }

    /// The connection of a group: the first has the one of the header, each further one its own. A group that does not
    /// begin with the first Initial packet, nor with a packet that the connection of the event before has already, is that
    /// connection by another name: quinn's groups change when the other end has chosen its identifier.
    fn of_group(&mut self, group: &str, event: &Event) -> usize {
        if let Some(&index) = self.groups.get(group) {
            return index;
        }
        let is_other = event.begins() || self.connections[self.last].has_packet_of(event);
        let index = match (self.groups.is_empty(), is_other) {
            (true, _) => self.trace,
            (false, false) => self.last,
            (false, true) => {
                let sibling = self.connections[self.trace].sibling();
                self.connections.push(sibling);
                self.connections.len() - 1
            }
        };
        self.connections[index].set_id(group);
        let before = self.groups.heap_bytes();
        self.groups.insert(group.to_owned(), index);
        let now = self.groups.heap_bytes() + 2 * group.len();
        self.room.change(before, now);
        index
    }

    fn unreadable(&self) -> u64 {
        self.connections.iter().map(|c| c.unreadable).sum()
    }

    /// The connections that have packets. What could not be read of others is counted with the first of them.
    fn finish(self) -> Vec<Connection> {
        let mut said = self.connections;
        let mut unreadable = 0;
        said.retain(|connection| {
            let has_packets = connection.packets() > 0;
            unreadable += if has_packets {
                0
            } else {
                connection.unreadable
            };
            has_packets
        });
        if let Some(first) = said.first_mut() {
            first.unreadable += unreadable;
        }
        said
    }
}

/// A value at the top: the whole log, the header of a sequence, or one event of it.
struct Top<'a, 'r> {
    log: &'a mut Log<'r>,
}

impl<'de> DeserializeSeed<'de> for Top<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object of qlog")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        self.log.has_content = true;
        let (mut event, mut is_event) = (Event::default(), false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "qlog_version" | "file_schema" => {
                    self.log.is_qlog = true;
                    map.next_value::<IgnoredAny>()?;
                }
                "traces" => map.next_value_seed(Traces { log: self.log })?,
                "trace" => {
                    self.log.begin();
                    map.next_value_seed(Trace { log: self.log })?;
                }
                "time" => {
                    let time: Value = map.next_value()?;
                    event.time = number(&time);
                    event.has_odd_time = is_odd(&time);
                }
                // picoquic wrote capital letters once.
                "name" => event.name = map.next_value::<String>()?.to_ascii_lowercase(),
                "group_id" => event.group = map.next_value::<Value>()?.as_str().map(str::to_owned),
                "data" => {
                    event.data = map.next_value()?;
                    is_event = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match event.name.is_empty() {
            false => self.log.event(&event)?,
            true if is_event => self.log.no_event(),
            true => {}
        }
        Ok(())
    }
}

struct Traces<'a, 'r> {
    log: &'a mut Log<'r>,
}

impl<'de> DeserializeSeed<'de> for Traces<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of traces")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        loop {
            self.log.begin();
            if seq.next_element_seed(Trace { log: self.log })?.is_none() {
                self.log.connections.pop();
                return Ok(());
            }
            self.log.count(self.log.trace)?;
        }
    }
}

/// A trace: its header, and its events unless they follow by themselves.
struct Trace<'a, 'r> {
    log: &'a mut Log<'r>,
}

impl<'de> DeserializeSeed<'de> for Trace<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace of qlog")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut fields: Vec<String> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "vantage_point" => {
                    let vantage: Value = map.next_value()?;
                    let kind = vantage.get("type").and_then(Value::as_str);
                    self.log.current().set_vantage(kind.unwrap_or_default());
                }
                "title" => {
                    let title: Value = map.next_value()?;
                    self.log.current().title = title.as_str().unwrap_or_default().to_owned();
                }
                "common_fields" => {
                    let common: Value = map.next_value()?;
                    self.log.current().set_common(&common);
                }
                "configuration" => {
                    let configuration: Value = map.next_value()?;
                    if configuration.get("time_units").and_then(Value::as_str) == Some("us") {
                        self.log.current().clock.units_ns = 1e3;
                    }
                }
                "event_fields" => {
                    fields = map.next_value()?;
                    fields.truncate(MAX_FIELDS);
                    if fields.iter().any(|field| field == "delta_time") {
                        self.log.current().clock.format = TimeFormat::Delta;
                    }
                }
                "events" => {
                    let events = Events {
                        log: self.log,
                        fields: &fields,
                    };
                    map.next_value_seed(events)?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Events<'a, 'r> {
    log: &'a mut Log<'r>,
    /// Names of the members of events that are lists (drafts 00 and 01).
    fields: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Events<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        while let Some(value) = seq.next_element::<Value>()? {
            match Event::of(value, self.fields) {
                Some(event) => self.log.event(&event)?,
                None => self.log.no_event(),
            }
        }
        Ok(())
    }
}
