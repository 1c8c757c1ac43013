//! A transfer between the simulator's own endpoints over a path of arbitrary fates, captured at both ends, with
//! what truly became of every original.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex};

use inorder_tcp::config::SECOND;
use inorder_tcp::{Departure, Endpoint, Flags, Nanos, Pair, Side, profiles};
use inorder_wire::{Has, NO_WSCALE, Segment, TcpFlags};
use proptest::prelude::*;

/// What becomes of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Drop,
    /// It arrives later by this time, microseconds.
    Late(i64),
    /// A duplicate of it arrives later by this time, microseconds.
    Twice(i64),
}

/// The connection and its path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub profile: &'static str,
    pub sack: bool,
    pub dsack: bool,
    pub timestamps: bool,
    /// The hosts count their packets in the IPv4 identification.
    pub ip_id: bool,
    /// One-way delay, microseconds.
    pub delay_us: i64,
    pub kilobytes: i64,
    /// Fates of packets with data, by number, retransmissions included; all others pass.
    pub data: BTreeMap<u64, Fate>,
    /// Fates of the receiver's packets, numbered after its SYN/ACK; all others pass.
    pub acks: BTreeMap<u64, Fate>,
}

fn fates(most: usize) -> impl Strategy<Value = BTreeMap<u64, Fate>> {
    let one = prop_oneof![
        3 => Just(Fate::Drop),
        5 => (1i64..60_000).prop_map(Fate::Late),
        2 => (1i64..400).prop_map(Fate::Late),
        2 => (1i64..60_000).prop_map(Fate::Twice),
    ];
    proptest::collection::btree_map(0u64..160, one, 0..most)
}

impl Path {
    pub(crate) fn any() -> impl Strategy<Value = Path> {
        let connection = (
            prop_oneof![Just("linux-6"), Just("rfc")],
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        );
        let path = (1_000i64..40_000, 10i64..150);
        let fates = (fates(8), fates(4));
        (connection, path, fates).prop_map(|(c, p, f)| Path {
            profile: c.0,
            sack: c.1,
            dsack: c.2,
            timestamps: c.3,
            ip_id: c.4,
            delay_us: p.0,
            kilobytes: p.1,
            data: f.0,
            acks: f.1,
        })
    }
}

/// A packet with data that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: i64,
    to: i64,
}

/// What happened to an original. Extents are those of RFC 4737 section 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    InOrder,
    Reordered {
        extent: u32,
    },
    Lost {
        gap: bool,
    },
    Refused,
    /// It never arrived, and its bytes were not acknowledged.
    Undecided,
}

/// A transfer as it went.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub at_sender: Vec<(Side, Segment)>,
    pub at_receiver: Vec<(Side, Segment)>,
    /// Of every packet that left: its place among those with data.
    data: Vec<Option<Sent>>,
    packets: Vec<Segment>,
    /// Arrivals at the receiver: the packet, and whether it was refused.
    arrivals: Vec<(usize, bool)>,
    flying: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    launched: u64,
    line_free: Nanos,
    sent: [u64; 2],
    have: BTreeMap<i64, i64>,
    isn: u32,
    /// First bytes of retransmissions that the path doubled: a DSACK for the second copy looks like one for a
    /// late original (RFC 2883 section 5).
    pub doubled: Vec<i64>,
    /// How often the sender's retransmission timer expired, as it counts itself.
    pub expiries: u64,
    highest: i64,
}

const DATA_ISN: u32 = 0xffff_8000;
/// Time that a packet with data takes on the line, nanoseconds.
const SPACING_NS: i64 = 12_000;

pub(crate) fn on_the_wire(seg: &inorder_tcp::Segment, ip_id: Option<u16>) -> Segment {
    let mut has = 0;
    if seg.timestamps.is_some() {
        has |= Has::TIMESTAMPS;
    }
    if ip_id.is_some() {
        has |= Has::IP_ID;
    }
    if seg.sack_permitted {
        has |= Has::SACK_PERMITTED;
    }
    let times = seg.timestamps.unwrap_or_default();
    let blocks = seg.sack.as_slice();
    let mut wire = Segment {
        seq: seg.seq,
        ack: seg.ack,
        payload_len: seg.payload,
        tsval: times.val,
        tsecr: times.ecr,
        window: seg.window,
        ip_id: ip_id.unwrap_or(0),
        mss: seg.mss.unwrap_or(0),
        // The ninth bit, AE, is no part of them.
        flags: TcpFlags(seg.flags.bits() as u8),
        has,
        ttl: 64,
        wscale: seg.window_scale.unwrap_or(NO_WSCALE),
        sack_len: blocks.len() as u8,
        ..Segment::default()
    };
    wire.sack[..blocks.len()].copy_from_slice(blocks);
    wire
}

impl Trace {
    /// A packet leaves; `copies` become the delays of what arrives.
    fn leaves(&mut self, path: &Path, d: &Departure<'_>, copies: &mut Vec<Nanos>) {
        let side = d.from as usize;
        let number = self.sent[side] as u16;
        self.sent[side] += 1;
        let mut seg = on_the_wire(d.segment, path.ip_id.then_some(number.wrapping_add(60_000)));
        seg.ts_ns = d.now;
        let from = i64::from(seg.seq.wrapping_sub(self.isn.wrapping_add(1)) as i32);
        let data = d.from == Side::Client && seg.payload_len > 0;
        let to = from + i64::from(seg.payload_len);
        let id = self.packets.len();
        self.data.push(data.then_some(Sent { from, to }));
        self.packets.push(seg);
        if d.from == Side::Client {
            self.captured(true, Side::Client, seg, d.now);
        } else {
            self.captured(false, Side::Server, seg, d.now);
        }
        let fate = match (d.from, data) {
            (Side::Client, true) => path.data.get(&d.data_index),
            (Side::Server, _) if d.index > 0 => path.acks.get(&(d.index - 1)),
            _ => None,
        };
        let mut queued = 0;
        if data {
            self.line_free = self.line_free.max(d.now) + SPACING_NS;
            queued = self.line_free - d.now;
        }
        let us = |us: i64| queued + us * 1_000;
        match fate {
            None => copies.push(queued),
            Some(Fate::Drop) => {}
            Some(&Fate::Late(by)) => copies.push(us(by)),
            Some(&Fate::Twice(by)) => copies.extend([queued, us(by)]),
        }
        if data && from < self.highest && copies.len() > 1 {
            self.doubled.push(from);
        }
        if data {
            self.highest = self.highest.max(to);
        }
        for &extra in copies.iter() {
            self.launched += 1;
            let at = d.now + path.delay_us * 1_000 + extra;
            self.flying.push(Reverse((at, self.launched, id)));
        }
    }

    fn captured(&mut self, at_sender: bool, from: Side, mut seg: Segment, now: Nanos) {
        let capture = if at_sender {
            &mut self.at_sender
        } else {
            &mut self.at_receiver
        };
        seg.ts_ns = now;
        seg.frame = capture.len() as u64 + 1;
        capture.push((from, seg));
    }

    /// A packet has arrived at `to`, which has dealt with it.
    fn arrived(&mut self, to: Side, end: &Endpoint) {
        let Some(Reverse((at, _, id))) = self.flying.pop() else {
            return;
        };
        let seg = self.packets[id];
        self.captured(to == Side::Client, to.peer(), seg, at);
        let Some(sent) = self.data[id].filter(|_| to == Side::Server) else {
            return;
        };
        let lacked = !self.holds(sent.from, sent.to);
        let accepted: Vec<(u64, u64)> = end.accepted().collect();
        for &(a, b) in &accepted {
            self.take(a as i64, b as i64);
        }
        let refused = lacked && !self.holds(sent.from, sent.to);
        self.arrivals.push((id, refused));
    }

    fn holds(&self, from: i64, to: i64) -> bool {
        let below = self.have.range(..=from).next_back();
        below.is_some_and(|(_, &end)| end >= to)
    }

    fn take(&mut self, mut from: i64, mut to: i64) {
        let touching: Vec<(i64, i64)> = self
            .have
            .range(..=to)
            .filter(|(_, end)| **end >= from)
            .map(|(&a, &b)| (a, b))
            .collect();
        for (a, b) in touching {
            self.have.remove(&a);
            from = from.min(a);
            to = to.max(b);
        }
        self.have.insert(from, to);
    }

    /// Runs the transfer.
    pub(crate) fn of(path: &Path) -> Trace {
        let profile = profiles::find(path.profile).unwrap();
        let mut config = (profile.build)();
        config.options.sack = path.sack;
        config.options.dsack = path.dsack;
        config.options.timestamps = path.timestamps;
        let (mut client, mut server) = (config.clone(), config);
        client.isn = DATA_ISN;
        server.isn = 7;
        let make = |config| Endpoint::with_names(config, profile.congestion, profile.loss).unwrap();
        let trace = Arc::new(Mutex::new(Trace {
            isn: DATA_ISN,
            ..Trace::default()
        }));
        let (fates, hook) = (Arc::clone(&trace), Arc::clone(&trace));
        let own = path.clone();
        let mut pair = Pair::new(make(&client), make(&server), path.delay_us * 1_000)
            .with_fate(move |d, copies| fates.lock().unwrap().leaves(&own, &d, copies));
        pair.on_arrival = Some(Box::new(move |to, end, _, _| {
            hook.lock().unwrap().arrived(to, end);
        }));
        pair.transfer(path.kilobytes.cast_unsigned() * 1_000, 300 * SECOND);
        let expiries = pair.client.counters().recoveries.tcp_timeouts;
        drop(pair);
        Trace {
            expiries,
            ..Arc::try_unwrap(trace).unwrap().into_inner().unwrap()
        }
    }

    /// The packets of first transmissions; `None` if any packet repeats old bytes and brings new ones, too.
    pub(crate) fn originals(&self) -> Option<Vec<usize>> {
        let (mut highest, mut originals) = (0, Vec::new());
        for (id, sent) in self.data.iter().enumerate() {
            let Some(sent) = sent else { continue };
            if sent.from >= highest {
                originals.push(id);
                highest = sent.to;
            } else if sent.to > highest {
                return None;
            }
        }
        Some(originals)
    }

    /// What happened to each original, by first byte, as far as `capture` shows that it was acknowledged.
    pub(crate) fn truth(&self, capture: &[(Side, Segment)]) -> Option<BTreeMap<i64, Truth>> {
        let originals = self.originals()?;
        let una = self.acknowledged(capture);
        let mut first: Vec<(i64, usize, bool)> = Vec::new();
        for &(id, refused) in &self.arrivals {
            if originals.binary_search(&id).is_ok() && first.iter().all(|f| f.1 != id) {
                first.push((self.data[id]?.from, id, refused));
            }
        }
        let mut truth = BTreeMap::new();
        for &id in &originals {
            let sent = self.data[id]?;
            let what = match first.iter().position(|f| f.1 == id) {
                Some(i) if first[i].2 => Truth::Refused,
                Some(i) => match first[..i].iter().position(|f| f.0 > sent.from) {
                    Some(j) => Truth::Reordered {
                        extent: (i - j) as u32,
                    },
                    None => Truth::InOrder,
                },
                None if sent.to > una => Truth::Undecided,
                None => Truth::Lost {
                    gap: self.left_a_gap(sent),
                },
            };
            truth.insert(sent.from, what);
        }
        Some(truth)
    }

    /// Did anything sent later arrive before the first copy of these bytes?
    fn left_a_gap(&self, sent: Sent) -> bool {
        let mut arrivals = self.arrivals.iter().filter_map(|a| self.data[a.0]);
        let first = arrivals.find(|a| a.to > sent.from);
        first.is_some_and(|a| a.from >= sent.to)
    }

    fn acknowledged(&self, capture: &[(Side, Segment)]) -> i64 {
        let acks = capture.iter().filter(|(from, seg)| {
            *from == Side::Server && seg.flags.any(TcpFlags::ACK) && !seg.flags.any(TcpFlags::RST)
        });
        let first = self.isn.wrapping_add(1);
        let offsets = acks.map(|(_, seg)| i64::from(seg.ack.wrapping_sub(first) as i32));
        offsets.max().unwrap_or(0)
    }

    /// A transfer that failed: some packets answer a connection that was gone.
    pub(crate) fn was_reset(&self) -> bool {
        let mut all = self.at_sender.iter().chain(&self.at_receiver);
        all.any(|(_, seg)| u16::from(seg.flags.0) & Flags::RST.bits() != 0)
    }
}
