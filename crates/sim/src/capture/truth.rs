//! The truth about each data segment between the two captures.
//!
//! The definitions are those of `testdata/lab/truth`, which compares two captures packet by packet. Here no matching
//! is needed, because the simulator numbers the transmissions.

use std::collections::HashMap;
use std::io::{self, Write};

use super::addresses;
use super::pairs::{Fate as Taken, Pairs};
use super::phases::{Fate, Phases};
use super::told::{TruthEvent, TruthFlow};
use crate::packet::{Channel, End, Packet};
use crate::ranges::Ranges;

/// The truth about all channels that carried data.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// In the order in which they first sent data.
    ways: Vec<Way>,
    /// Position in `ways` and initial sequence number of each channel.
    channels: HashMap<u32, Known>,
    /// Which frame is which at the other end, if asked for.
    pairs: Option<Pairs>,
    /// The habits of the sender and of the receiver of each flow, as JSON, if asked for.
    habits: Vec<String>,
    /// The captures with defects, as JSON.
    captures: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    way: Option<usize>,
    isn: Option<u32>,
}

/// One direction of a flow.
#[derive(Clone, Debug)]
struct Way {
    channel: Channel,
    from: End,
    sent: Vec<Sent>,
    /// The FIN, where it is a packet of its own. It takes a sequence number (RFC 9293 section 3.4), the highest, and can overtake data
    /// (RFC 4737 section 3) though it carries none.
    fin: Option<Sent>,
    /// Index in `sent` by number of the packet.
    by_id: HashMap<u32, usize>,
    arrivals: u64,
    /// Indices in `sent` of the last arrival; several if they were merged.
    latest: Vec<usize>,
    copies: u64,
    /// Bytes acknowledged according to the sender's capture.
    acked: u64,
}

/// One transmission of data.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Its number.
    id: u32,
    start: u64,
    end: u64,
    /// Bytes acknowledged at the sender by then.
    acked: u64,
    /// Position among the arrivals, and time.
    arrived: Option<(u64, i64)>,
    /// The receiver discarded it although the bytes were missing.
    refused: bool,
}

impl Sent {
    /// True if it arrived and was not refused.
    fn taken(&self) -> bool {
        self.arrived.is_some() && !self.refused
    }
}

impl Truth {
    /// Which frame is which at the other end is recorded from now on; `habits` are those of each flow, `captures`
    /// those with defects.
    pub(crate) fn pair(&mut self, habits: Vec<String>, captures: String) {
        self.pairs = Some(Pairs::default());
        self.captures = captures;
        self.habits = habits;
    }

    /// Records a packet that leaves `from`, as this frame of the capture there.
    pub(crate) fn sent(&mut self, from: End, packet: &Packet, frame: u64) {
        if let Some(pairs) = &mut self.pairs {
            pairs.sent(from, packet, frame);
        }
        let Some(segment) = packet.segment() else {
            return;
        };
        let known = self.channels.entry(packet.channel.0).or_default();
        if segment.flags.has(inorder_tcp::Flags::SYN) {
            known.isn.get_or_insert(segment.seq);
        }
        if segment.payload == 0 {
            if segment.flags.has(inorder_tcp::Flags::FIN)
                && let Some(way) = known.way.and_then(|at| self.ways.get_mut(at))
            {
                way.ends(packet.id);
            }
            return;
        }
        let at = *known.way.get_or_insert(self.ways.len());
        if at == self.ways.len() {
            self.ways.push(Way::new(packet.channel, from));
        }
        if let Some(way) = self.ways.get_mut(at) {
            way.sent(packet.id, packet.offset, segment.payload);
        }
    }

    /// Records a packet that reaches the other end, as this frame of the capture there.
    pub(crate) fn received(&mut self, now_ns: i64, end: End, packet: &Packet, frame: u64) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let way_of = |channel: u32| self.channels.get(&channel).copied().unwrap_or_default();
        let (own, back) = (way_of(packet.channel.0), way_of(packet.channel.0 ^ 1));
        if let Some(way) = own.way.and_then(|at| self.ways.get_mut(at))
            && segment.payload > 0
        {
            way.received(now_ns, packet);
            if let Some(pairs) = &mut self.pairs {
                pairs.received(end, packet, way.merged(packet.id), frame);
            }
        } else {
            if let Some(way) = own.way.and_then(|at| self.ways.get_mut(at)) {
                way.end_received(now_ns, packet.id);
            }
            if let Some(pairs) = &mut self.pairs {
                pairs.received(end, packet, vec![packet.id], frame);
            }
        }
        if let (Some(at), Some(isn)) = (back.way, back.isn)
            && let Some(way) = self.ways.get_mut(at)
            && segment.flags.has(inorder_tcp::Flags::ACK)
        {
            way.acknowledged(segment.ack.wrapping_sub(isn.wrapping_add(1)));
        }
    }

    /// The receiver discards the packet that reached it last, although the data was missing.
    pub(crate) fn refused(&mut self, packet: &Packet) {
        let known = self.channels.get(&packet.channel.0);
        let way = known.and_then(|known| self.ways.get_mut(known.way?));
        if let Some(way) = way {
            way.refused();
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.mark(Taken::Refused);
        }
    }

    /// With this packet the receiver has discarded everything that it held out of order.
    pub(crate) fn reneged(&mut self) {
        if let Some(pairs) = &mut self.pairs {
            pairs.mark(Taken::Reneged);
        }
    }

    /// The end that sent a packet, and its frame in the capture there; nothing if pairs were not asked for.
    pub(crate) fn frame_sent(&self, packet: &Packet) -> Option<(End, u64)> {
        self.pairs.as_ref()?.frame_sent(packet)
    }

    /// Which frame of one end is which of the other, as CSV; nothing if that was not asked for.
    pub fn pairs(&self) -> Option<&Pairs> {
        self.pairs.as_ref()
    }

    /// Computes the result.
    pub fn flows(&self) -> Vec<TruthFlow> {
        let isn = |way: &Way| self.channels.get(&way.channel.0)?.isn;
        let finish = |way: &Way| TruthFlow {
            isn: isn(way),
            habits: self.habits.get((way.channel.0 / 2) as usize).cloned(),
            ..way.finish()
        };
        self.ways.iter().map(finish).collect()
    }

    /// Writes the result as JSON, in the format of `testdata/lab/truth`.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"flows\": [")?;
        for (number, flow) in self.flows().iter().enumerate() {
            write!(out, "{}", if number == 0 { "\n " } else { ",\n " })?;
            flow.write(out)?;
        }
        write!(out, "]")?;
        if !self.captures.is_empty() {
            write!(out, ", \"captures\": {}", self.captures)?;
        }
        writeln!(out, "}}")
    }
}

impl Way {
    fn new(channel: Channel, from: End) -> Self {
        Way {
            channel,
            from,
            sent: Vec::new(),
            fin: None,
            by_id: HashMap::new(),
            arrivals: 0,
            latest: Vec::new(),
            copies: 0,
            acked: 0,
        }
    }

    fn sent(&mut self, id: u32, start: u64, payload: u32) {
        self.by_id.insert(id, self.sent.len());
        self.sent.push(Sent {
            id,
            start,
            end: start + u64::from(payload),
            acked: self.acked,
            arrived: None,
            refused: false,
        });
    }

    /// The FIN leaves, alone, with this number; copies of it do not count.
    fn ends(&mut self, id: u32) {
        self.fin.get_or_insert(Sent {
            id,
            start: u64::MAX,
            end: u64::MAX,
            acked: self.acked,
            arrived: None,
            refused: false,
        });
    }

    /// The packet `id`, without data, arrives: it may be the FIN.
    fn end_received(&mut self, now_ns: i64, id: u32) {
        let fin = self.fin.as_mut().filter(|fin| fin.id == id);
        if let Some(fin) = fin.filter(|fin| fin.arrived.is_none()) {
            fin.arrived = Some((self.arrivals, now_ns));
            self.arrivals += 1;
        }
    }

    /// Marks the last arrival as refused.
    fn refused(&mut self) {
        for at in self.latest.drain(..) {
            if let Some(sent) = self.sent.get_mut(at) {
                sent.refused = true;
            }
        }
    }

    /// Records an arrival; a merged packet stands for all packets merged into it.
    fn received(&mut self, now_ns: i64, packet: &Packet) {
        let end = packet.offset + u64::from(packet.payload());
        let mut next = packet.offset;
        let mut at = self.by_id.get(&packet.id).copied();
        self.latest.clear();
        while next < end
            && let Some(place) = at
            && let Some(sent) = self.sent.get_mut(place)
        {
            next = sent.end;
            if sent.arrived.is_none() {
                sent.arrived = Some((self.arrivals, now_ns));
                self.latest.push(place);
            } else {
                self.copies += 1;
            }
            self.arrivals += 1;
            at = self.continuation(place, next);
        }
    }

    /// Numbers of the transmissions that came with the last arrival, whose first is `id`.
    fn merged(&self, id: u32) -> Vec<u32> {
        if self.latest.is_empty() {
            return vec![id];
        }
        let latest = self.latest.iter().filter_map(|&at| self.sent.get(at));
        latest.map(|sent| sent.id).collect()
    }

    /// The transmission that was merged behind the one at `place`: the first later one that begins where it ends and
    /// has not arrived.
    fn continuation(&self, place: usize, start: u64) -> Option<usize> {
        let later = self.sent.iter().enumerate().skip(place + 1);
        let fits = |sent: &Sent| sent.start == start && sent.arrived.is_none();
        later
            .into_iter()
            .find(|(_, sent)| fits(sent))
            .map(|(at, _)| at)
    }

    fn acknowledged(&mut self, ack: u32) {
        let step = ack.wrapping_sub(self.acked as u32) as i32;
        if step > 0 {
            self.acked += step as u64;
        }
    }

    fn finish(&self) -> TruthFlow {
        let [(source, source_port), (target, target_port)] = addresses(self.channel, self.from);
        let dotted = |a: [u8; 4]| format!("{}.{}.{}.{}", a[0], a[1], a[2], a[3]);
        let mut flow = TruthFlow {
            flow: format!(
                "{}:{source_port}->{}:{target_port}",
                dotted(source),
                dotted(target)
            ),
            data_packets: 0,
            reordered: 0,
            needed: 0,
            spurious: 0,
            spurious_original: 0,
            undecided_retransmissions: 0,
            recoveries: 0,
            recoveries_spurious: 0,
            losses: 0,
            refused: 0,
            undecided: 0,
            network_duplicates: self.copies,
            isn: None,
            events: Vec::new(),
            habits: None,
        };
        let originals = self.originals();
        flow.data_packets = originals.len() as u64;
        flow.events = late_or_refused(originals.iter().chain(&self.fin));
        let refused = |event: &&TruthEvent| matches!(event, TruthEvent::Refused { .. });
        flow.refused = flow.events.iter().filter(refused).count() as u64;
        flow.reordered = flow.events.len() as u64 - flow.refused;
        self.count_losses(&originals, &mut flow);
        self.count_retransmissions(&originals, &mut flow);
        flow
    }

    /// First transmissions, each reduced to the bytes that are new.
    fn originals(&self) -> Vec<Sent> {
        let mut top = 0;
        let mut originals = Vec::new();
        for sent in &self.sent {
            if sent.end > top {
                let start = sent.start.max(top);
                originals.push(Sent { start, ..*sent });
                top = sent.end;
            }
        }
        originals
    }

    fn count_losses(&self, originals: &[Sent], flow: &mut TruthFlow) {
        for sent in originals.iter().filter(|sent| sent.arrived.is_none()) {
            if sent.end > self.acked {
                flow.undecided += 1;
                continue;
            }
            flow.losses += 1;
            flow.events.push(TruthEvent::Lost {
                offset: sent.start,
                length: sent.end - sent.start,
            });
        }
    }

    /// Decides each retransmission by comparing it with all earlier transmissions that arrived at any time.
    fn count_retransmissions(&self, originals: &[Sent], flow: &mut TruthFlow) {
        let (mut held, mut of_originals) = (Ranges::default(), Ranges::default());
        for sent in originals.iter().filter(|sent| sent.taken()) {
            of_originals.add(sent.start, sent.end);
        }
        let (mut top, mut phases) = (0, Phases::default());
        for sent in &self.sent {
            let end = sent.end.min(top);
            if sent.start < end {
                let fate = if held.holds(sent.start, end) {
                    flow.spurious += 1;
                    flow.spurious_original += u64::from(of_originals.holds(sent.start, end));
                    Fate::Spurious
                } else if end <= self.acked {
                    flow.needed += 1;
                    Fate::Needed
                } else {
                    flow.undecided_retransmissions += 1;
                    Fate::Undecided
                };
                phases.retransmitted(sent.acked, top, fate);
            }
            if sent.taken() {
                held.add(sent.start, sent.end);
            }
            top = top.max(sent.end);
        }
        flow.recoveries = phases.total;
        flow.recoveries_spurious = phases.spurious();
    }
}

/// RFC 4737 sections 3.3 and 4.2 applied to the arrivals of originals, and of the FIN behind them; refused ones keep their position among them.
fn late_or_refused<'a>(numbered: impl Iterator<Item = &'a Sent>) -> Vec<TruthEvent> {
    let mut arrived: Vec<(u64, i64, &Sent)> = numbered
        .filter_map(|sent| sent.arrived.map(|(place, time_ns)| (place, time_ns, sent)))
        .collect();
    arrived.sort_by_key(|(place, _, sent)| (*place, sent.start));
    let mut events = Vec::new();
    let mut highest: Vec<u64> = Vec::new();
    for (at, (_, time_ns, sent)) in arrived.iter().enumerate() {
        let top = highest.last().copied().unwrap_or(0);
        if sent.refused {
            events.push(TruthEvent::Refused {
                offset: sent.start,
                length: sent.end - sent.start,
            });
        } else if sent.start < top {
            let first = highest.partition_point(|&start| start <= sent.start);
            let since_ns = arrived.get(first).map_or(*time_ns, |earlier| earlier.1);
            events.push(TruthEvent::Reordered {
                offset: sent.start,
                length: sent.end - sent.start,
                extent: (at - first) as u64,
                late_ns: time_ns - since_ns,
            });
        }
        highest.push(top.max(sent.start));
    }
    events
}

#[cfg(test)]
mod tests {
    use inorder_tcp::{Flags, Segment};

    use super::*;
    use crate::packet::Body;

    #[test]
    fn the_end_of_the_data_overtakes_as_any_packet_does() {
        let packet = |id: u32, payload, flags| Packet {
            body: Body::Tcp(Segment {
                payload,
                flags,
                ..Segment::default()
            }),
            sent_ns: 0,
            offset: u64::from(id) * 100 * u64::from(payload > 0),
            channel: Channel(0),
            id,
            original: 0,
            frames: 1,
            passed: 0,
            corrupted: false,
        };
        // Two packets of data, the FIN and a copy of it; the FIN arrives between the two.
        let [first, second] = [0, 1].map(|id| packet(id, 100, Flags::ACK));
        let [end, copy] = [2, 3].map(|id| packet(id, 0, Flags::ACK.with(Flags::FIN)));
        let mut truth = Truth::default();
        for (frame, sent) in (1..).zip([&first, &second, &end, &copy]) {
            truth.sent(End::A, sent, frame);
        }
        for (frame, came) in (1..).zip([&first, &end, &copy, &second]) {
            truth.received(10 * frame as i64, End::B, came, frame);
        }
        let flow = &truth.flows()[0];
        assert_eq!((flow.data_packets, flow.reordered), (2, 1));
        let late = TruthEvent::Reordered {
            offset: 100,
            length: 100,
            extent: 1,
            late_ns: 20,
        };
        assert_eq!(flow.events, [late]);
    }
}
