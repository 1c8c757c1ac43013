//! A connection from the side of one end.

use inorder_base::heap::Heap;
use serde_json::Value;

use crate::ack::{only_acknowledges, ranges};
use crate::arrivals::Unused;
use crate::event::{About, Clock, Event, SPACES, TimeFormat, about};
use crate::join::{Heard, JoinedBy};
use crate::order::{Evidence, Order, PROCESSING_NS};
use crate::resent::Streams;
use crate::result::{LossRow, Report, Trigger};
use crate::space::{Lost, Received, Sent, Space};
use crate::trigger::Word;
use crate::trips::RoundTrips;
use crate::value::member;
use crate::window::Window;

/// What a sender takes for the round trip before the first measurement (RFC 9002 section 6.2.2), nanoseconds.
const INITIAL_RTT_NS: i64 = 333_000_000;

/// Rounding error of the time of sending that follows from a round trip and the time of its measurement, nanoseconds: logs
/// have microseconds.
const ROUNDING_NS: u64 = 1_000;

/// How the program writes its log.
#[derive(Clone, Copy, Default, Debug)]
struct Manner {
    /// Whether acknowledgements stand before or behind what follows from them.
    order: Evidence,
    /// The log has acknowledgements: some programs write packets without their frames.
    acknowledges: bool,
    /// It has the frames of packets that were sent.
    has_frames: bool,
    /// An event other than an arrival had the time of the arrival before it.
    clock_stands: bool,
}

/// What a trace says.
#[derive(Clone, Default, Debug)]
pub struct Connection {
    pub(crate) title: String,
    /// Original destination connection identifier, or the group of the trace: the same at both ends.
    pub(crate) id: String,
    vantage: String,
    pub(crate) clock: Clock,
    pub(crate) spaces: [Space; SPACES],
    pub(crate) window: Window,
    /// Stream data in packets that were sent.
    pub(crate) streams: Streams,
    pub(crate) trips: RoundTrips,
    /// Least round trip that was measured.
    pub(crate) least_ns: Option<i64>,
    first_ns: Option<i64>,
    pub(crate) last_ns: i64,
    /// When the last packet was received.
    received_ns: Option<i64>,
    /// Packets that were declared lost at the time of the last event, by space and number.
    just_lost: Vec<(usize, u64)>,
    /// Packets that were declared lost within the time of processing a packet, by space and number.
    lost_lately: Vec<(usize, u64)>,
    manner: Manner,
    /// True if the first packet of the log was sent, not received: a client begins (RFC 9000 section 7).
    begins: Option<bool>,
    /// Events some of which could not be read, since a member has a type that no draft gives it.
    pub(crate) unreadable: u64,
    /// Packets whose events have no number although such packets have one.
    pub(crate) unnumbered: u64,
    /// What [`Connection::bytes`] was when the memory was counted last.
    pub(crate) counted: usize,
    /// What the log of the other end says, if it is known.
    pub(crate) heard: Option<Box<Heard>>,
}

inorder_base::heap!(Connection: title, id, vantage, spaces, window, streams, trips, just_lost, lost_lately);

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

    /// True if a packet with this number was sent or received before: no number is used twice (RFC 9000 section 12.3), so
    /// that the event is of another connection.
    pub(crate) fn has_packet_of(&mut self, event: &Event) -> bool {
        let Some(packet) = about(&event.data) else {
            return false;
        };
        let space = &mut self.spaces[packet.space];
        match event.kind() {
            "packet_sent" => space.sent.contains_key(&packet.number),
            "packet_received" => space.has_received(packet.number),
            _ => false,
        }
    }

    /// What identifies it, unless that is known.
    pub(crate) fn set_id(&mut self, id: &str) {
        if self.id.is_empty() {
            id.clone_into(&mut self.id);
        }
    }

    /// The end that wrote the log, or, if the log does not say, the one that it must be: a client sends first.
    pub(crate) fn vantage(&self) -> &str {
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

    /// Bytes that it takes, with what its report will take: a row for each loss, and while the report is made, times and
    /// numbers of all packets. They are capacities and lengths, so that asking is cheap.
    pub(crate) fn bytes(&self) -> usize {
        /// Of a packet that was sent: when and how many bytes it, its acknowledgement and its arrival were, and its number.
        const OF_SENT: usize = 3 * 16 + 8;
        /// Of a packet that was received: its number, which one was the highest before, its time and its bytes.
        const OF_RECEIVED: usize = 64;
        /// Of a round trip: a copy of it.
        const OF_ROUND_TRIP: usize = 16;
        let lost: usize = self.spaces.iter().map(|space| space.lost.len()).sum();
        let sent: usize = self.spaces.iter().map(|space| space.sent.len()).sum();
        let received: usize = self.spaces.iter().map(|space| space.received.len()).sum();
        let reported = size_of::<Report>()
            + self.title.len()
            + self.id.len()
            + lost * 2 * size_of::<LossRow>()
            + sent * OF_SENT
            + received * OF_RECEIVED
            + self.trips.all().len() * OF_ROUND_TRIP;
        // A list that is full is copied into one of twice its size with the next element.
        let copied = 2 * (self.window.heap_bytes() + self.trips.heap_bytes());
        3 * size_of::<Connection>() + self.heap_bytes() + copied + reported
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
        self.unnumbered += u64::from(event.lacks_number());
        match event.kind() {
            "packet_sent" => self.sent(&event.data, now_ns),
            "packet_received" => self.received(&event.data, now_ns),
            "packet_dropped" => self.dropped(&event.data, now_ns),
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
            self.manner.has_frames |= data.get("frames").is_some();
            let in_flight = !only_acknowledges(data);
            self.spaces[space].sent(number, now_ns, bytes.unwrap_or(0), in_flight);
            if space == SPACES - 1 {
                let lost = &self.spaces[space].lost;
                let is_lost = |number| lost.contains_key(&number);
                self.streams.sent(number, data, is_lost);
            }
        }
    }

    fn received(&mut self, data: &Value, now_ns: i64) {
        let Some(packet) = about(data) else {
            return;
        };
        let rtt_ns = self.trips.greater_ns();
        self.begins.get_or_insert(false);
        self.received_ns = Some(now_ns);
        let acknowledged = ranges(data);
        self.manner.acknowledges |= !acknowledged.is_empty();
        let space = &mut self.spaces[packet.space];
        space.received(packet.received(now_ns, false));
        let measured_ns = space.measures(&acknowledged, now_ns);
        space.acked(&acknowledged, now_ns, rtt_ns);
        if let Some(measured_ns) = measured_ns {
            self.manner
                .order
                .acknowledged(measured_ns, self.trips.latest_ns());
        }
        if !acknowledged.is_empty() {
            self.explains(now_ns);
        }
    }

    /// A packet with acknowledgements may explain the losses that stand right before it.
    fn explains(&mut self, now_ns: i64) {
        for (space, number) in std::mem::take(&mut self.lost_lately) {
            let space = &mut self.spaces[space];
            let highest = space.largest_acked;
            if let Some(lost) = space.lost.get_mut(&number)
                && now_ns.saturating_sub(lost.at_ns) <= PROCESSING_NS
            {
                lost.soon_acked = highest;
            }
        }
    }

    /// Whether the log has acknowledgements before or behind what follows from them.
    pub(crate) fn order(&self) -> Order {
        self.manner.order.order()
    }

    /// A packet was dropped. An end that has forgotten which old numbers came takes a late packet for a duplicate.
    fn dropped(&mut self, data: &Value, now_ns: i64) {
        let is_duplicate = data.get("trigger").and_then(Value::as_str) == Some("duplicate");
        if let Some(packet) = about(data).filter(|_| is_duplicate) {
            self.spaces[packet.space].received(packet.received(now_ns, true));
        }
    }

    fn lost(&mut self, data: &Value, now_ns: i64) {
        let Some(packet) = about(data) else {
            return;
        };
        let trigger = Trigger::of(data.get("trigger").and_then(Value::as_str));
        // quinn writes how many bytes in flight were lost: none of a packet that only acknowledges.
        let in_flight = packet.bytes != Some(0);
        self.declare(packet.space, packet.number, now_ns, trigger, in_flight);
    }

    fn declare(&mut self, space: usize, number: u64, now_ns: i64, said: Trigger, in_flight: bool) {
        let rtt_ns = self.trips.greater_ns();
        let on_arrival = self.received_ns == Some(now_ns);
        self.manner.clock_stands |= on_arrival;
        let of_space = &mut self.spaces[space];
        let lost = Lost {
            at_ns: now_ns,
            said,
            on_arrival,
            highest_acked: of_space.largest_acked.map(|largest| (largest, largest)),
            soon_acked: None,
            heard: of_space.largest_received,
            acknowledgeable: None,
            rtt_ns,
        };
        let Some(sent) = of_space.lost(number, lost) else {
            return;
        };
        sent.in_flight &= in_flight;
        let Sent {
            at_ns, in_flight, ..
        } = *sent;
        if in_flight {
            self.window.lost(space, number, at_ns, now_ns, rtt_ns);
        }
        self.lost_lately.push((space, number));
        if !self.manner.acknowledges {
            self.just_lost.push((space, number));
        }
    }

    /// The log counts losses and does not name the packets (quiche): they are the oldest that may be.
    fn counted_lost(&mut self, count: u64, now_ns: i64) {
        for counted in 0..count {
            let of_space = |i: usize| Some((i, self.spaces[i].next_lost().next()?));
            let next = (0..SPACES)
                .filter_map(of_space)
                .min_by_key(|(_, (_, sent_ns))| *sent_ns);
            let Some((space, (number, _))) = next else {
                let unknown = &mut self.spaces[SPACES - 1].unknown;
                *unknown = unknown.saturating_add(count - counted);
                break;
            };
            self.declare(space, number, now_ns, Trigger::Unknown, true);
        }
    }

    /// A round trip was measured: the packet that was sent one round trip ago is the highest one acknowledged (RFC 9002 section
    /// 5.1). Logs without acknowledgements show it in no other way. Programs measure before they declare packets lost, and
    /// write it behind them.
    fn measured(&mut self, latest_ns: i64, now_ns: i64) {
        let greater_ns = self.trips.greater_ns();
        for (space, number) in std::mem::take(&mut self.just_lost) {
            let space = &mut self.spaces[space];
            let acked = space.sent_at(now_ns.saturating_sub(latest_ns), ROUNDING_NS);
            if let Some(lost) = space.lost.get_mut(&number).filter(|l| l.at_ns == now_ns) {
                lost.highest_acked = acked;
                lost.rtt_ns = greater_ns;
            }
        }
    }

    fn metrics(&mut self, data: &Value, now_ns: i64) {
        let mut ns =
            |name: &str| member(data, name).map(|value| self.clock.round_trip(value) as i64);
        let (smoothed, latest, least) = (ns("smoothed_rtt"), ns("latest_rtt"), ns("min_rtt"));
        if let Some(smoothed_ns) = smoothed.filter(|ns| *ns > 0) {
            self.trips.smoothed(now_ns, smoothed_ns);
        }
        if let Some(latest_ns) = latest {
            self.trips.measured(now_ns, latest_ns);
            self.measured(latest_ns, now_ns);
        }
        self.just_lost.clear();
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
        let rtt_ns = self.trips.greater_ns();
        self.window.set(now_ns, window, in_flight, rtt_ns);
    }

    /// Time from the first to the last event, nanoseconds.
    pub(crate) fn lasted_ns(&self) -> i64 {
        self.last_ns
            .saturating_sub(self.first_ns.unwrap_or(self.last_ns))
    }

    /// Title and identifier.
    pub(crate) fn name(&self) -> String {
        match (self.title.as_str(), self.id.as_str()) {
            (title, "") => title.to_owned(),
            ("", id) => id.to_owned(),
            (title, id) => format!("{title} {id}"),
        }
    }

    /// True if the packet was delivered to the other end, which processed it; `None` if neither acknowledgements nor the
    /// other end's log tell.
    pub(crate) fn is_delivered(&self, space: usize, number: u64, sent: &Sent) -> Option<bool> {
        let there = self.heard.as_ref();
        let arrived = sent.acked.is_some()
            || there.is_some_and(|there| there.arrived[space].contains_key(&number));
        self.knows_deliveries().then_some(arrived)
    }

    /// True if the packet came so late that the other end took it for a duplicate; `None` without that end's log.
    pub(crate) fn is_dropped_there(&self, space: usize, number: u64) -> Option<bool> {
        let there = self.heard.as_ref()?;
        Some(there.dropped[space].contains(&number))
    }

    /// Events of which something could not be read and is left out, since it has a type that no draft gives it.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// True if the log has the frames of packets that were sent.
    pub(crate) fn has_frames(&self) -> bool {
        self.manner.has_frames
    }

    /// True if something tells which packets were delivered.
    pub fn knows_deliveries(&self) -> bool {
        self.manner.acknowledges || self.heard.is_some()
    }

    /// How far the reasons of declared losses in this log can be relied on.
    pub(crate) fn word(&self) -> Word {
        let mut said = self.spaces.iter().flat_map(|space| space.lost.values());
        let constant = said.all(|lost| lost.said == Trigger::PacketThreshold);
        match constant && !self.manner.acknowledges {
            true => Word::Constant {
                clock_stands: self.manner.clock_stands,
            },
            false => Word::Chosen,
        }
    }

    /// How the log of the other end was found.
    pub(crate) fn joined_by(&self) -> Option<JoinedBy> {
        self.heard.as_ref().map(|heard| heard.joined_by)
    }

    /// The numbers that the other end did not use, if its log is known.
    pub(crate) fn unused_there(&self) -> Option<&Unused> {
        self.heard.as_ref().map(|heard| &heard.unused)
    }
}

impl About {
    fn received(self, at_ns: i64, dropped: bool) -> Received {
        Received {
            number: self.number,
            at_ns,
            bytes: self.bytes.unwrap_or(0),
            dropped,
        }
    }
}
