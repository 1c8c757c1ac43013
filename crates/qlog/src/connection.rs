//! A connection from the side of one end.

use std::collections::HashMap;
use std::sync::Arc;

use inorder_metrics::Metrics;
use serde_json::Value;

use crate::ack::{only_acknowledges, ranges};
use crate::cost::bytes_missing;
use crate::event::{About, Clock, Event, SPACES, TimeFormat, about};
use crate::lost::{Transfer, lost};
use crate::result::{Arrivals, LossRow, Report, Thresholds, Trigger};
use crate::space::{Sent, Space};
use crate::value::member;
use crate::window::Window;

/// Names of the packet number spaces.
const SPACE_NAMES: [&str; SPACES] = ["initial", "handshake", "application"];

/// Nanoseconds in a millisecond, the unit of most logs.
const MS: i64 = 1_000_000;

/// What a sender takes for the round trip before the first measurement (RFC 9002 section 6.2.2), nanoseconds.
const INITIAL_RTT_NS: i64 = 333_000_000;

/// What a trace says.
#[derive(Clone, Default, Debug)]
pub struct Connection {
    pub(crate) title: String,
    /// Original destination connection identifier, or the group of the trace: the same at both ends.
    id: String,
    vantage: String,
    pub(crate) clock: Clock,
    spaces: [Space; SPACES],
    window: Window,
    /// Smoothed round trip whenever the log says it.
    smoothed: Vec<(i64, i64)>,
    latest_ns: i64,
    /// Least round trip that was measured.
    least_ns: Option<i64>,
    first_ns: Option<i64>,
    last_ns: i64,
    /// True if the log has acknowledgements: some programs write packets without their frames.
    acknowledges: bool,
    /// True if the first packet of the log was sent, not received: a client begins (RFC 9000 section 7).
    begins: Option<bool>,
    /// What the other end received, by space, with the highest number that had arrived before, if its log is known.
    arrived: Option<Box<[Arrived; SPACES]>>,
    /// When application data arrived there, by the clock of the other end, and how many bytes.
    arrived_there: Vec<(i64, u64)>,
}

/// Numbers that arrived, each with the highest one before it.
type Arrived = HashMap<u64, Option<u64>>;

impl Connection {
    /// Another connection in the same trace.
    pub(crate) fn sibling(&self) -> Connection {
        Connection {
            title: self.title.clone(),
            vantage: self.vantage.clone(),
            clock: self.clock,
            ..Connection::default()
        }
    }

    /// What identifies it, unless that is known.
    pub(crate) fn set_id(&mut self, id: &str) {
        if self.id.is_empty() {
            id.clone_into(&mut self.id);
        }
    }

    /// The end that wrote the log, or, if the log does not say, the one that it must be: a client sends first.
    fn vantage(&self) -> &str {
        match (self.vantage.as_str(), self.begins) {
            ("" | "unknown", Some(true)) => "client",
            ("" | "unknown", Some(false)) => "server",
            (said, _) => said,
        }
    }

    pub(crate) fn set_vantage(&mut self, kind: &str) {
        kind.clone_into(&mut self.vantage);
    }

    /// Fields that all events share.
    pub(crate) fn set_common(&mut self, common: &Value) {
        let text = |name: &str| common.get(name).and_then(Value::as_str);
        let id = text("ODCID")
            .or_else(|| text("odcid"))
            .or_else(|| text("group_id"));
        id.unwrap_or_default().clone_into(&mut self.id);
        if text("time_format").is_some_and(|format| {
            format.starts_with("delta") || format == "relative_to_previous_event"
        }) {
            self.clock.format = TimeFormat::Delta;
        }
        if text("time_units") == Some("us") {
            self.clock.units_ns = 1e3;
        }
    }

    /// Packets sent and received so far.
    pub(crate) fn packets(&self) -> usize {
        self.spaces
            .iter()
            .map(|s| s.sent.len() + s.received.len())
            .sum()
    }

    /// The next event, at this time of the trace.
    pub(crate) fn event(&mut self, event: &Event, now_ns: i64) {
        self.first_ns.get_or_insert(now_ns);
        self.last_ns = self.last_ns.max(now_ns);
        match event.kind() {
            "packet_sent" => self.sent(&event.data, now_ns),
            "packet_received" => self.received(&event.data, now_ns),
            "packet_lost" => self.lost(&event.data, now_ns),
            "metrics_updated" | "recovery_metrics_updated" | "metric_update" => {
                self.metrics(&event.data, now_ns);
            }
            _ => {}
        }
    }

    fn sent(&mut self, data: &Value, now_ns: i64) {
        if let Some(About {
            space,
            number,
            bytes,
        }) = about(data)
        {
            self.begins.get_or_insert(true);
            let in_flight = !only_acknowledges(data);
            self.spaces[space].sent(number, now_ns, bytes, in_flight);
        }
    }

    fn received(&mut self, data: &Value, now_ns: i64) {
        let Some(packet) = about(data) else {
            return;
        };
        let rtt_ns = self.rtt_ns().max(self.latest_ns);
        self.begins.get_or_insert(false);
        let acknowledged = ranges(data);
        self.acknowledges |= !acknowledged.is_empty();
        let space = &mut self.spaces[packet.space];
        space.received.push((packet.number, now_ns, packet.bytes));
        space.acked(&acknowledged, now_ns, rtt_ns);
    }

    fn lost(&mut self, data: &Value, now_ns: i64) {
        let Some(packet) = about(data) else {
            return;
        };
        let trigger = Trigger::of(data.get("trigger").and_then(Value::as_str));
        self.declare(packet.space, packet.number, now_ns, trigger);
    }

    fn declare(&mut self, space: usize, number: u64, now_ns: i64, trigger: Trigger) {
        if let Some(sent) = self.spaces[space].lost(number, now_ns, trigger) {
            self.window.lost(space, number, sent.at_ns, now_ns);
        }
    }

    /// The log counts losses and does not name the packets (quiche): they are the oldest that may be.
    fn counted_lost(&mut self, count: u64, now_ns: i64) {
        for _ in 0..count {
            let of_space = |i: usize| Some((i, self.spaces[i].next_lost().next()?));
            let next = (0..SPACES)
                .filter_map(of_space)
                .min_by_key(|(_, (_, sent_ns))| *sent_ns);
            let Some((space, (number, _))) = next else {
                self.spaces[SPACES - 1].unknown += 1;
                continue;
            };
            self.declare(space, number, now_ns, Trigger::Unknown);
        }
    }

    fn metrics(&mut self, data: &Value, now_ns: i64) {
        let mut ns =
            |name: &str| member(data, name).map(|value| self.clock.round_trip(value) as i64);
        let (smoothed, latest, least) = (ns("smoothed_rtt"), ns("latest_rtt"), ns("min_rtt"));
        if let Some(smoothed_ns) = smoothed.filter(|ns| *ns > 0) {
            self.smoothed.push((now_ns, smoothed_ns));
        }
        if let Some(latest_ns) = latest {
            self.latest_ns = latest_ns;
        }
        let measured = [least, latest].into_iter().flatten();
        let measured = measured.filter(|ns| *ns > 0 && *ns != INITIAL_RTT_NS);
        self.least_ns = self.least_ns.into_iter().chain(measured).min();
        if let Some(count) = data
            .get("cf_lost_packets")
            .and_then(|lost| member(lost, "delta"))
        {
            self.counted_lost(count as u64, now_ns);
        }
        let window = member(data, "congestion_window").or_else(|| member(data, "cwnd"));
        let in_flight = member(data, "bytes_in_flight");
        let rtt_ns = self.rtt_ns().max(self.latest_ns);
        self.window.set(now_ns, window, in_flight, rtt_ns);
    }

    fn rtt_ns(&self) -> i64 {
        self.smoothed.last().map_or(0, |(_, ns)| *ns)
    }

    /// The smoothed round trip at a time, or the first one known.
    fn rtt_at(&self, at_ns: i64) -> i64 {
        let after = self.smoothed.partition_point(|(when, _)| *when <= at_ns);
        let known = self.smoothed.get(after.saturating_sub(1));
        known.map_or(0, |(_, ns)| *ns)
    }

    /// True if the packet arrived at the other end; `None` if neither acknowledgements nor the other end's log tell.
    fn is_delivered(&self, space: usize, number: u64, sent: &Sent) -> Option<bool> {
        let there = self.arrived.as_ref();
        let arrived =
            sent.acked.is_some() || there.is_some_and(|there| there[space].contains_key(&number));
        (self.acknowledges || there.is_some()).then_some(arrived)
    }

    /// True if something tells which packets were delivered.
    pub fn knows_deliveries(&self) -> bool {
        self.acknowledges || self.arrived.is_some()
    }

    /// What the trace says about the loss detection of this end.
    pub fn report(&self) -> Report {
        let name = match (self.title.as_str(), self.id.as_str()) {
            (title, "") => title.to_owned(),
            ("", id) => id.to_owned(),
            (title, id) => format!("{title} {id}"),
        };
        let losses = self.losses(&name.as_str().into());
        let wrong: Vec<&LossRow> = losses
            .iter()
            .filter(|loss| loss.delivered == Some(true))
            .collect();
        let known = self.knows_deliveries();
        let by = |trigger| losses.iter().filter(|loss| loss.trigger == trigger).count() as u64;
        let sent = || self.spaces.iter().flat_map(|space| space.sent.values());
        let needless: Vec<bool> = self
            .window
            .episodes
            .iter()
            .map(|e| self.is_needless(&e.losses))
            .collect();
        let reduced = || {
            self.window
                .episodes
                .iter()
                .zip(&needless)
                .filter(|(e, _)| e.fell.is_some())
        };
        let is_needless = |i: usize| needless.get(i) == Some(&true);
        let kept = || {
            bytes_missing(&self.window, is_needless, self.last_ns, |at| {
                self.rtt_at(at)
            })
        };
        let sent_bytes: u64 = sent().map(|packet| packet.bytes).sum();
        let lost = lost(&self.window, &needless, &self.transfer(&losses));
        let cost = lost.map_or_else(kept, |l| l.share / (1.0 - l.share) * sent_bytes as f64);
        Report {
            vantage: self.vantage().to_owned(),
            sent: sent().count() as u64,
            received: self.spaces.iter().map(|s| s.received.len() as u64).sum(),
            sent_bytes,
            declared_lost: losses.len() as u64,
            by_packets: by(Trigger::PacketThreshold),
            by_time: by(Trigger::TimeThreshold),
            delivered: known.then_some(wrong.len() as u64),
            delivered_bytes: known.then(|| wrong.iter().map(|loss| loss.bytes).sum()),
            other_end: self.arrived.is_some(),
            half: sufficient(&wrong, 0.5),
            most: sufficient(&wrong, 0.95),
            all: sufficient(&wrong, 1.0),
            reductions: reduced().count() as u64,
            needless: known.then(|| reduced().filter(|(_, needless)| **needless).count() as u64),
            cost_bytes: (known && !self.window.history.is_empty()).then_some(cost),
            lost: lost.filter(|_| known),
            lasted_ns: self
                .last_ns
                .saturating_sub(self.first_ns.unwrap_or(self.last_ns)),
            unknown: self.spaces.iter().map(|space| space.unknown).sum(),
            arrivals: self.arrivals(),
            name,
            losses,
        }
    }

    /// What went over the path with application data.
    fn transfer(&self, losses: &[LossRow]) -> Transfer {
        let data = &self.spaces[SPACES - 1];
        let arrived = match self.arrived_there.as_slice() {
            [] => {
                let acked = data.sent.values();
                let acked = acked.filter_map(|sent| Some((sent.acked?.at_ns, sent.bytes)));
                let mut acked: Vec<_> = acked.collect();
                acked.sort_unstable();
                // Whole milliseconds say nothing of a line that needs less for a packet.
                if acked.iter().all(|(at_ns, _)| at_ns % MS == 0) {
                    acked.clear();
                }
                acked
            }
            there => there.to_vec(),
        };
        Transfer {
            sent: data.sent.values().map(|s| (s.at_ns, s.bytes)).collect(),
            arrived,
            // What was lost came again, and what was not came twice.
            wasted: losses.iter().map(|loss| loss.bytes).sum(),
            rtt_ns: self.least_ns.unwrap_or(0),
        }
    }

    /// True if every one of the packets was delivered.
    fn is_needless(&self, losses: &[(usize, u64)]) -> bool {
        losses.iter().all(|&(space, number)| {
            let sent = self.spaces[space].sent.get(&number);
            sent.is_some_and(|sent| self.is_delivered(space, number, sent) == Some(true))
        })
    }

    fn losses(&self, name: &Arc<str>) -> Vec<LossRow> {
        let mut rows = Vec::new();
        for (space, of) in self.spaces.iter().enumerate() {
            for (&number, sent) in &of.sent {
                let Some(lost) = sent.lost else {
                    continue;
                };
                let delivered = self.is_delivered(space, number, sent);
                let acked = sent.acked.filter(|acked| acked.at_ns >= lost.at_ns);
                rows.push(LossRow {
                    connection: Arc::clone(name),
                    space: SPACE_NAMES[space],
                    number,
                    bytes: sent.bytes,
                    sent_ns: sent.at_ns,
                    declared_after_ns: lost.at_ns.saturating_sub(sent.at_ns),
                    trigger: lost.trigger,
                    delivered,
                    acked_after_ns: sent
                        .acked
                        .map(|acked| acked.at_ns.saturating_sub(sent.at_ns)),
                    needed_packets: acked
                        .as_ref()
                        .and_then(|acked| overtaken(acked.largest_before, number))
                        .or_else(|| self.overtaken_there(space, number, sent))
                        // One more than the largest distance there was before the acknowledgement.
                        .map(|distance| distance + 1),
                    needed_rtts: acked
                        .as_ref()
                        .filter(|acked| {
                            acked.rtt_ns > 0 && overtaken(acked.largest_before, number).is_some()
                        })
                        .map(|acked| {
                            acked.at_ns.saturating_sub(sent.at_ns) as f64 / acked.rtt_ns as f64
                        }),
                });
            }
        }
        rows.sort_by_key(|row| row.sent_ns);
        rows
    }

    /// The order of what arrived in the space of application data.
    fn arrivals(&self) -> Arrivals {
        let mut metrics = Metrics::default();
        for &(number, at_ns, bytes) in &self.spaces[SPACES - 1].received {
            metrics.update(number, at_ns, u32::try_from(bytes).unwrap_or(u32::MAX));
        }
        let summary = metrics.finish();
        Arrivals {
            order: summary.order,
            missing: summary.counts.missing,
            duplicates: summary.counts.duplicates,
        }
    }

    /// Tells this end what the other one received.
    fn hear(&mut self, other: &Connection) {
        let received = |space: &Space| {
            let (mut arrived, mut largest) = (Arrived::new(), None);
            for &(number, ..) in &space.received {
                arrived.entry(number).or_insert(largest);
                largest = largest.max(Some(number));
            }
            arrived
        };
        self.arrived = Some(Box::new([0, 1, 2].map(|i| received(&other.spaces[i]))));
        let data = other.spaces[SPACES - 1].received.iter();
        self.arrived_there = data.map(|&(_, at_ns, bytes)| (at_ns, bytes)).collect();
    }

    /// How far the highest number that the other end had was above this one when it came, for packets of which no
    /// acknowledgement is known. No acknowledgement without this packet can have reported a higher one.
    fn overtaken_there(&self, space: usize, number: u64, sent: &Sent) -> Option<u64> {
        let there = self.arrived.as_ref().filter(|_| sent.acked.is_none())?;
        overtaken(*there[space].get(&number)?, number)
    }
}

/// How far the highest number known before was above this one; `None` if it was below: then no threshold declared it
/// lost, but a probe time-out.
fn overtaken(largest_before: Option<u64>, number: u64) -> Option<u64> {
    largest_before?
        .checked_sub(number)
        .filter(|distance| *distance > 0)
}

/// The thresholds that would have declared at most the rest of these packets lost.
fn sufficient(wrong: &[&LossRow], share: f64) -> Thresholds {
    let rank = |n: usize| ((share * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
    let mut packets: Vec<u64> = wrong
        .iter()
        .filter_map(|loss| loss.needed_packets)
        .collect();
    packets.sort_unstable();
    let mut rtts: Vec<f64> = wrong.iter().filter_map(|loss| loss.needed_rtts).collect();
    rtts.sort_by(f64::total_cmp);
    Thresholds {
        packets: packets.get(rank(packets.len())).copied(),
        rtts: rtts.get(rank(rtts.len())).copied(),
    }
}

/// Joins the two ends of each connection: traces with the same identifier, or the only two, of which one is the client's
/// and one the server's.
pub fn join(connections: &mut [Connection]) {
    let only_two = connections.len() == 2;
    for i in 0..connections.len() {
        let me = &connections[i];
        let other = connections.iter().enumerate().find(|(j, c)| {
            let opposite = matches!(
                (me.vantage(), c.vantage()),
                ("client", "server") | ("server", "client")
            );
            let same = only_two || !me.id.is_empty() && me.id.eq_ignore_ascii_case(&c.id);
            *j != i && opposite && same
        });
        if let Some(other) = other.map(|(_, other)| other.clone()) {
            connections[i].hear(&other);
        }
    }
}
