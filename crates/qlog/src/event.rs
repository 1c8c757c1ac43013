//! One event, in the words of any draft.

use serde_json::Value;

use crate::value::{number, whole};

/// An event as it stands in the log.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Event {
    /// Time in the units and the format of the trace.
    pub time: Option<f64>,
    /// Category and type, or the type alone, in small letters: `transport:packet_sent`, `quic:packet_sent`, `packet_sent`.
    pub name: String,
    /// What the event belongs to, if it says so: a connection, where all connections share a trace.
    pub group: Option<String>,
    /// Everything else.
    pub data: Value,
    /// There is a time that is no number.
    pub has_odd_time: bool,
}

impl Event {
    /// Reads an event that is an object, or (drafts 00 and 01) a list with these names of its members.
    pub(crate) fn of(value: Value, fields: &[String]) -> Option<Event> {
        match value {
            Value::Object(mut members) => Some(Event {
                time: members.get("time").and_then(number),
                has_odd_time: members.get("time").is_some_and(is_odd),
                name: members.get("name")?.as_str()?.to_ascii_lowercase(),
                group: members.get("group_id").and_then(text),
                data: members.remove("data").unwrap_or_default(),
            }),
            Value::Array(mut members) => {
                let place = |names: &[&str]| {
                    let is_one =
                        |field: &String| names.iter().any(|n| n.eq_ignore_ascii_case(field));
                    fields.iter().position(is_one)
                };
                let at = |members: &[Value], i: Option<usize>| members.get(i?).cloned();
                let times = ["relative_time", "delta_time", "time", "absolute_time"];
                let time = at(&members, place(&times));
                Some(Event {
                    time: time.as_ref().and_then(number),
                    has_odd_time: time.as_ref().is_some_and(is_odd),
                    name: at(&members, place(&["event", "event_type", "name"]))?
                        .as_str()?
                        .to_ascii_lowercase(),
                    group: at(&members, place(&["group_id"])).as_ref().and_then(text),
                    data: place(&["data"])
                        .and_then(|i| members.get_mut(i))
                        .map(Value::take)
                        .unwrap_or_default(),
                })
            }
            _ => None,
        }
    }

    /// True of the first packet of a connection.
    pub(crate) fn begins(&self) -> bool {
        let first = |about: About| (about.space, about.number) == (0, 0);
        matches!(self.kind(), "packet_sent" | "packet_received")
            && about(&self.data).is_some_and(first)
    }

    /// True of a packet that has a number (RFC 9000 section 17) which the event does not say.
    pub(crate) fn lacks_number(&self) -> bool {
        matches!(self.kind(), "packet_sent" | "packet_received")
            && space(&self.data).is_some()
            && about(&self.data).is_none()
    }

    /// The type without its category.
    pub(crate) fn kind(&self) -> &str {
        self.name.rsplit(':').next().unwrap_or_default()
    }
}

/// Whether a time is there and no number.
pub(crate) fn is_odd(time: &Value) -> bool {
    !time.is_null() && number(time).is_none()
}

/// How the times of a trace are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum TimeFormat {
    /// Since some instant, the same for all events.
    #[default]
    Since,
    /// Since the event before.
    Delta,
}

/// The clock of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) format: TimeFormat,
    /// Nanoseconds in a unit: milliseconds, unless the trace says microseconds.
    pub(crate) units_ns: f64,
    /// Nanoseconds in a unit of round trips: as above, or a second.
    pub(crate) rtt_units_ns: Option<f64>,
    /// The first time: absolute ones have too many digits for a product.
    base: Option<f64>,
    now_ns: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            format: TimeFormat::Since,
            units_ns: 1e6,
            rtt_units_ns: None,
            base: None,
            now_ns: 0,
        }
    }
}

impl Clock {
    /// A round trip of the log in nanoseconds. Before the first measurement a sender takes 333 ms (RFC 9002 section
    /// 6.2.2): a log that begins with 0.333 writes round trips in seconds, as quinn 0.11 does, whatever its times are in.
    pub(crate) fn round_trip(&mut self, value: f64) -> f64 {
        let in_seconds = value == 0.333;
        let default = if in_seconds { 1e9 } else { self.units_ns };
        value * *self.rtt_units_ns.get_or_insert(default)
    }

    /// The time of an event, nanoseconds after the first one; that of the event before if it has none.
    pub(crate) fn at(&mut self, time: Option<f64>) -> i64 {
        if let Some(time) = time {
            // Saturates for absurd numbers.
            let ns = |time: f64| (time * self.units_ns).round() as i64;
            self.now_ns = match self.format {
                TimeFormat::Since => {
                    let base = *self.base.get_or_insert(time);
                    ns(time - base)
                }
                TimeFormat::Delta => self.now_ns.saturating_add(ns(time)),
            };
        }
        self.now_ns
    }
}

/// The packet that an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct About {
    pub(crate) space: usize,
    pub(crate) number: u64,
    /// `None` if the log does not say.
    pub(crate) bytes: Option<u64>,
}

/// Packet number spaces (RFC 9000 section 12.3): Initial, Handshake, application data with 0-RTT.
pub(crate) const SPACES: usize = 3;

/// The space of the packet; `None` if it has none (Retry, version negotiation).
fn space(data: &Value) -> Option<usize> {
    // aioquic calls it `type` in losses.
    let kind = either(data, "packet_type").or_else(|| data.get("type"));
    let kind = kind.and_then(Value::as_str).unwrap_or("1RTT");
    match kind.to_ascii_lowercase().as_str() {
        "initial" => Some(0),
        "handshake" => Some(1),
        "retry" | "version_negotiation" | "stateless_reset" => None,
        _ => Some(2),
    }
}

/// The member of the header, or of the event itself.
fn either<'a>(data: &'a Value, name: &str) -> Option<&'a Value> {
    let header = data.get("header").unwrap_or(&Value::Null);
    header.get(name).or_else(|| data.get(name))
}

/// Reads type, number and size of the packet; `None` if it has no number.
pub(crate) fn about(data: &Value) -> Option<About> {
    let space = space(data)?;
    let raw = data.get("raw").and_then(|raw| raw.get("length"));
    // quinn writes the length of the packet into its header.
    let bytes = raw
        .or_else(|| either(data, "packet_size"))
        .or_else(|| data.get("header").and_then(|header| header.get("length")));
    let bytes = bytes.and_then(number);
    Some(About {
        space,
        number: whole(either(data, "packet_number")?)?,
        bytes: bytes.map(|bytes| bytes as u64),
    })
}

/// A text that is not empty.
fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
