//! The truth file of a recording (`NAME.truth.json`, written by `testdata/lab/truth`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

/// What happened to an original.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Fate {
    Reordered,
    Lost,
    Refused,
    /// It did not arrive, and the capture ends before anything in its place was acknowledged.
    Undecided,
}

/// One original that was late, lost or refused.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub fate: Fate,
    pub extent: Option<u64>,
    /// Its frame where it was captured.
    pub frame: Option<u64>,
    /// Why no sender can see it (the rules stand in `testdata/lab/ends/sight.py`).
    pub unseen: Option<String>,
    /// Why a capture with defects cannot tell it, at the receiver or on the path.
    pub hidden: Option<String>,
    /// Of a lost one: something higher reached the receiver before a copy of it did.
    pub gap: bool,
}

/// What a retransmission was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copy {
    Needed,
    Spurious,
    Refused,
    Undecided,
}

/// One retransmission.
#[derive(Clone, Debug)]
pub(crate) struct Retransmission {
    pub start: u64,
    pub end: u64,
    pub kind: Copy,
    pub causes: Vec<String>,
    pub unseen: Option<String>,
}

/// One recovery at the sender.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    /// Of its first retransmission, as the capture has it.
    pub frame: Option<u64>,
    pub at_ns: i64,
    pub seq_offset: u64,
    pub causes: Vec<String>,
    pub unseen: Option<String>,
}

/// Where a capture was made, seen from the data's direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    Sender,
    Receiver,
    Middle,
}

/// One direction of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// The capture at its sender is the one called `snd`.
    pub sender_is_snd: bool,
    /// The first byte that a capture with defects shows, 0 if it shows the SYN.
    pub base: u64,
    /// Where it was captured, if the truth is of one capture with defects alone.
    pub view: Option<View>,
    pub data_packets: u64,
    pub events: HashMap<u64, Event>,
    /// By frame of the sender's capture.
    pub sent: HashMap<u64, Vec<Retransmission>>,
    /// By frame of the receiver's capture.
    pub arrived: HashMap<u64, Vec<Retransmission>>,
    pub recoveries: Vec<Recovery>,
    /// Habits of the endpoints and defects of the capture, in words.
    pub traits: Vec<String>,
}

impl Flow {
    /// This flow with offsets that count from byte `base`; what lies below is left out.
    pub(crate) fn beginning_at(&self, base: u64) -> Flow {
        let mut out = self.clone();
        let events = out.events.drain();
        let above = events.filter_map(|(at, event)| Some((at.checked_sub(base)?, event)));
        out.events = above.collect();
        for copy in out
            .sent
            .values_mut()
            .chain(out.arrived.values_mut())
            .flatten()
        {
            copy.start = copy.start.saturating_sub(base);
            copy.end = copy.end.saturating_sub(base);
        }
        out
    }
}

/// The flows of a recording by name.
pub(crate) fn read(path: &Path) -> io::Result<HashMap<String, Flow>> {
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
    } else {
        File::open(path)?.read_to_string(&mut text)?;
    }
    let json: Value = serde_json::from_str(&text)?;
    let flows = json["flows"].as_array().into_iter().flatten();
    let named = |f: &Value| {
        let name = f["flow"].as_str().unwrap_or_default();
        (numbered(name, number(&f["reuse"])), flow(f))
    };
    Ok(flows.map(named).collect())
}

/// The name of the `n`th flow with these addresses and ports.
pub(crate) fn numbered(name: &str, n: u64) -> String {
    if n == 0 {
        name.to_owned()
    } else {
        format!("{name} #{n}")
    }
}

fn number(v: &Value) -> u64 {
    v.as_u64().unwrap_or_default()
}

fn text(v: &Value) -> Option<String> {
    v.as_str().map(str::to_owned)
}

fn list(v: &Value) -> impl Iterator<Item = &Value> {
    v.as_array().into_iter().flatten()
}

fn flow(f: &Value) -> Flow {
    let mut out = Flow {
        base: number(&f["base"]),
        sender_is_snd: f["sender"] != "rcv",
        view: match f["view"].as_str() {
            Some("sender") => Some(View::Sender),
            Some("receiver") => Some(View::Receiver),
            Some(_) => Some(View::Middle),
            None => None,
        },
        data_packets: number(&f["data_packets"]),
        events: list(&f["events"]).filter_map(event).collect(),
        sent: HashMap::new(),
        arrived: HashMap::new(),
        recoveries: list(&f["recoveries"]).map(recovery).collect(),
        traits: traits(f),
    };
    for c in list(&f["copies"]) {
        let copy = retransmission(c);
        if let Some(frame) = c["frame_rcv"].as_u64() {
            out.arrived.entry(frame).or_default().push(copy.clone());
        }
        if let Some(frame) = c["frame"].as_u64() {
            out.sent.entry(frame).or_default().push(copy);
        }
    }
    out
}

fn traits(f: &Value) -> Vec<String> {
    let named = f["habits"].as_object().into_iter().flatten();
    let word = |(name, word): (&String, &Value)| Some(format!("{name}: {}", word.as_str()?));
    let others = list(&f["traits"]).filter_map(text);
    let all = named.filter_map(word).chain(others);
    // Of a capture with defects these are what it is judged by; endpoints and paths are judged by the whole ones.
    let of_view = |word: &String| f["view"].is_null() || word.starts_with("capture: ");
    all.filter(of_view).collect()
}

fn event(e: &Value) -> Option<(u64, Event)> {
    let fate = match e["kind"].as_str()? {
        "reordered" => Fate::Reordered,
        "lost" => Fate::Lost,
        "refused" => Fate::Refused,
        "undecided" => Fate::Undecided,
        _ => return None,
    };
    let event = Event {
        fate,
        extent: e["extent"].as_u64(),
        frame: e["frame_rcv"].as_u64().or(e["frame"].as_u64()),
        unseen: text(&e["unseen"]),
        hidden: text(&e["hidden"]),
        gap: e["gap"].as_bool().unwrap_or(true),
    };
    Some((number(&e["seq_offset"]), event))
}

fn causes(v: &Value) -> Vec<String> {
    list(&v["causes"]).filter_map(text).collect()
}

fn retransmission(c: &Value) -> Retransmission {
    let start = number(&c["seq_offset"]);
    Retransmission {
        start,
        end: start + number(&c["len"]),
        kind: match c["verdict"].as_str() {
            Some("needed") => Copy::Needed,
            Some("spurious") => Copy::Spurious,
            Some("refused") => Copy::Refused,
            _ => Copy::Undecided,
        },
        causes: causes(c),
        unseen: text(&c["unseen"]),
    }
}

fn recovery(r: &Value) -> Recovery {
    Recovery {
        frame: r["frame"].as_u64(),
        at_ns: r["at_ns"].as_i64().unwrap_or_default(),
        seq_offset: number(&r["seq_offset"]),
        causes: causes(r),
        unseen: text(&r["unseen"]),
    }
}
