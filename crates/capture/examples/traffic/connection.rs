//! One bulk transfer: the sender is far away, the receiver is next to the capture point.

use super::Random;
use super::frame::{MSS, Packet};

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Time the receiver takes to answer.
const ANSWER_NS: i64 = 4_000;
/// The delayed ACK timer of Linux.
const DELAYED_ACK_NS: i64 = 40_000_000;
/// Initial window (RFC 6928).
const INITIAL_WINDOW: u64 = 10;
/// Maximum number of segments that a late segment falls behind.
const MAX_BEHIND: u64 = 8;

/// What may happen to a connection at the capture point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A SYN arrives.
    Syn,
    /// The receiver answers it.
    SynAck,
    /// The handshake's last ACK arrives.
    Established,
    /// Data segment number `index` arrives; `tsval` is when it was sent.
    Data {
        index: u64,
        ip_id: u16,
        tsval: u32,
    },
    /// The receiver sends an ACK, created when the segment that caused it arrived.
    Ack {
        ack: u32,
        tsecr: u32,
        sack: Vec<(u32, u32)>,
    },
    /// The delayed ACK timer; ignored if ACKs were sent after it was set.
    Timer {
        acks: u64,
    },
    /// The receiver's FIN, then the last ACK.
    Fin,
    LastAck,
}

/// What follows from an event.
#[derive(Default)]
pub(super) struct Outcome {
    pub packet: Option<Packet>,
    pub follow: Vec<(i64, Event)>,
}

pub(super) struct Connection {
    sender: (u32, u16),
    receiver: (u32, u16),
    rtt_ns: i64,
    /// Time between segments at the bottleneck.
    gap_ns: i64,
    segments: u64,
    max_window: u64,
    sender_isn: u32,
    receiver_isn: u32,
    clock_offset_ms: u32,

    /// Sender: segments sent, window, arrival time of the last one, next IP identification.
    sent: u64,
    window: u64,
    last_arrival_ns: i64,
    sender_id: u16,

    /// Receiver: the next segment expected, segments beyond it as `[from, to)` with the latest first, segments not
    /// acknowledged yet, ACKs sent.
    expected: u64,
    beyond: Vec<(u64, u64)>,
    unacked: u32,
    acks: u64,
    receiver_id: u16,
    /// TS.Recent and Last.ACK.sent of RFC 7323 section 4.3, the latter as a segment number.
    ts_recent: u32,
    last_ack_sent: u64,
}

impl Connection {
    pub(super) fn new(number: u32, segments: u64, random: &mut Random) -> Connection {
        Connection {
            sender: (
                0x0a00_0002 + (number % 50_000),
                40_000 + (number / 50_000) as u16,
            ),
            receiver: (0x0ac8_0001, 5001),
            rtt_ns: 5_000_000 + random.below(75_000_000).cast_signed(),
            gap_ns: 12_000 + random.below(100_000).cast_signed(),
            segments,
            max_window: 32 + random.below(224),
            sender_isn: random.next() as u32,
            receiver_isn: random.next() as u32,
            clock_offset_ms: random.next() as u32 >> 1,
            sent: 0,
            window: INITIAL_WINDOW,
            last_arrival_ns: 0,
            sender_id: random.next() as u16,
            expected: 0,
            beyond: Vec::new(),
            unacked: 0,
            acks: 0,
            receiver_id: random.next() as u16,
            ts_recent: 0,
            last_ack_sent: 0,
        }
    }

    /// Lets `event` happen at `at_ns`. Each data segment sent in consequence is late with probability `late`.
    pub(super) fn happen(
        &mut self,
        at_ns: i64,
        event: Event,
        late: f64,
        random: &mut Random,
    ) -> Outcome {
        match event {
            Event::Syn => self.syn(at_ns),
            Event::SynAck => self.syn_ack(at_ns),
            Event::Established => self.established(at_ns, late, random),
            Event::Data {
                index,
                ip_id,
                tsval,
            } => self.data(at_ns, index, ip_id, tsval),
            Event::Ack { ack, tsecr, sack } => self.ack(at_ns, ack, tsecr, sack, late, random),
            Event::Timer { acks } if acks == self.acks && self.unacked > 0 => Outcome {
                follow: vec![self.make_ack(at_ns)],
                ..Outcome::default()
            },
            Event::Timer { .. } => Outcome::default(),
            Event::Fin => self.fin(at_ns),
            Event::LastAck => Outcome {
                packet: Some(Packet {
                    seq: self.seq(self.segments).wrapping_add(1),
                    ack: self.receiver_isn.wrapping_add(2),
                    flags: ACK,
                    ..self.sender_packet(at_ns)
                }),
                ..Outcome::default()
            },
        }
    }

    /// Sequence number of segment `index`.
    fn seq(&self, index: u64) -> u32 {
        self.sender_isn
            .wrapping_add(1)
            .wrapping_add((index as u32).wrapping_mul(MSS))
    }

    fn clock(&self, at_ns: i64) -> u32 {
        self.clock_offset_ms
            .wrapping_add((at_ns / 1_000_000) as u32)
    }

    /// A packet that arrives now.
    fn sender_packet(&mut self, at_ns: i64) -> Packet {
        self.sender_id = self.sender_id.wrapping_add(1);
        Packet {
            src: self.sender,
            dst: self.receiver,
            ip_id: self.sender_id,
            ttl: 57,
            window: 502,
            tsval: self.clock(at_ns.saturating_sub(self.rtt_ns / 2)),
            tsecr: self
                .clock(at_ns.saturating_sub(self.rtt_ns))
                .wrapping_add(7_777),
            ..Packet::default()
        }
    }

    /// A packet the receiver sends now.
    fn receiver_packet(&mut self, at_ns: i64) -> Packet {
        self.receiver_id = self.receiver_id.wrapping_add(1);
        Packet {
            src: self.receiver,
            dst: self.sender,
            ip_id: self.receiver_id,
            ttl: 64,
            window: 4096,
            tsval: self.clock(at_ns).wrapping_add(7_777),
            tsecr: self.ts_recent,
            seq: self.receiver_isn.wrapping_add(1),
            flags: ACK,
            ..Packet::default()
        }
    }

    fn syn(&mut self, at_ns: i64) -> Outcome {
        let packet = Packet {
            seq: self.sender_isn,
            flags: SYN,
            syn: true,
            window: 64_240,
            tsecr: 0,
            ..self.sender_packet(at_ns)
        };
        self.ts_recent = packet.tsval;
        Outcome {
            packet: Some(packet),
            follow: vec![(at_ns + ANSWER_NS, Event::SynAck)],
        }
    }

    fn syn_ack(&mut self, at_ns: i64) -> Outcome {
        let packet = Packet {
            seq: self.receiver_isn,
            ack: self.sender_isn.wrapping_add(1),
            flags: SYN | ACK,
            syn: true,
            window: 65_160,
            ..self.receiver_packet(at_ns)
        };
        Outcome {
            packet: Some(packet),
            follow: vec![(at_ns + self.rtt_ns, Event::Established)],
        }
    }

    fn established(&mut self, at_ns: i64, late: f64, random: &mut Random) -> Outcome {
        let packet = Packet {
            seq: self.seq(0),
            ack: self.receiver_isn.wrapping_add(1),
            flags: ACK,
            ..self.sender_packet(at_ns)
        };
        // The first data segments leave with this ACK, so they arrive one round trip before the next answer.
        Outcome {
            packet: Some(packet),
            follow: self.send(at_ns, late, random),
        }
    }

    /// Sends what the window allows; the segments arrive from `from_ns` on.
    fn send(&mut self, from_ns: i64, late: f64, random: &mut Random) -> Vec<(i64, Event)> {
        let beyond: u64 = self.beyond.iter().map(|(from, to)| to - from).sum();
        let mut follow = Vec::new();
        while self.sent < self.segments && self.sent - self.expected - beyond < self.window {
            let nominal = from_ns.max(self.last_arrival_ns + self.gap_ns);
            self.last_arrival_ns = nominal;
            self.sender_id = self.sender_id.wrapping_add(1);
            let data = Event::Data {
                index: self.sent,
                ip_id: self.sender_id,
                tsval: self.clock((nominal - self.rtt_ns / 2).max(0)),
            };
            // The last segment is never late, because it carries the FIN.
            let behind = if self.sent + 1 < self.segments && random.chance(late) {
                (1 + random.below(MAX_BEHIND)).cast_signed() * self.gap_ns + self.gap_ns / 2
            } else {
                0
            };
            follow.push((nominal + behind, data));
            self.sent += 1;
        }
        follow
    }

    fn data(&mut self, at_ns: i64, index: u64, ip_id: u16, tsval: u32) -> Outcome {
        let last = index + 1 == self.segments;
        let packet = Packet {
            src: self.sender,
            dst: self.receiver,
            ip_id,
            ttl: 57,
            seq: self.seq(index),
            ack: self.receiver_isn.wrapping_add(1),
            flags: if last { FIN | PSH | ACK } else { ACK },
            window: 502,
            tsval,
            tsecr: self
                .clock(at_ns.saturating_sub(self.rtt_ns))
                .wrapping_add(7_777),
            payload_len: MSS,
            ..Packet::default()
        };
        if index <= self.last_ack_sent && tsval.wrapping_sub(self.ts_recent) < 1 << 31 {
            self.ts_recent = tsval;
        }
        Outcome {
            packet: Some(packet),
            follow: vec![self.receive(at_ns, index)],
        }
    }

    /// The receiver takes a segment and either sends an ACK at once or sets the timer.
    fn receive(&mut self, at_ns: i64, index: u64) -> (i64, Event) {
        let in_order = index == self.expected;
        let had_gap = !self.beyond.is_empty();
        if in_order {
            self.expected += 1;
            if let Some(at) = self
                .beyond
                .iter()
                .position(|block| block.0 == self.expected)
            {
                self.expected = self.beyond.remove(at).1;
            }
        } else {
            self.put_beyond(index);
        }
        self.unacked += 1;
        // RFC 5681 section 4.2: send an ACK at once for a segment out of order, while a gap is open, and when a gap
        // is filled.
        if !in_order || had_gap || self.unacked >= 2 || self.expected == self.segments {
            return self.make_ack(at_ns);
        }
        (at_ns + DELAYED_ACK_NS, Event::Timer { acks: self.acks })
    }

    /// Adds a segment to the blocks beyond the gap; its block is reported first (RFC 2018 section 4).
    fn put_beyond(&mut self, index: u64) {
        let (mut from, mut to) = (index, index + 1);
        self.beyond.retain(|&(left, right)| {
            let touches = right == from || left == to;
            if touches {
                (from, to) = (from.min(left), to.max(right));
            }
            !touches
        });
        self.beyond.insert(0, (from, to));
    }

    fn make_ack(&mut self, at_ns: i64) -> (i64, Event) {
        self.unacked = 0;
        self.acks += 1;
        self.last_ack_sent = self.expected;
        let fin = u32::from(self.expected == self.segments);
        let edges = |&(from, to): &(u64, u64)| (self.seq(from), self.seq(to));
        let ack = Event::Ack {
            ack: self.seq(self.expected).wrapping_add(fin),
            tsecr: self.ts_recent,
            // With timestamps there is room for three blocks.
            sack: self.beyond.iter().take(3).map(edges).collect(),
        };
        (at_ns + ANSWER_NS, ack)
    }

    fn ack(
        &mut self,
        at_ns: i64,
        ack: u32,
        tsecr: u32,
        sack: Vec<(u32, u32)>,
        late: f64,
        random: &mut Random,
    ) -> Outcome {
        self.window = (self.window + 1).min(self.max_window);
        let mut follow = self.send(at_ns + self.rtt_ns, late, random);
        if ack == self.seq(self.segments).wrapping_add(1) {
            follow.push((at_ns + ANSWER_NS, Event::Fin));
        }
        let packet = Packet {
            ack,
            tsecr,
            sack,
            ..self.receiver_packet(at_ns)
        };
        Outcome {
            packet: Some(packet),
            follow,
        }
    }

    fn fin(&mut self, at_ns: i64) -> Outcome {
        let packet = Packet {
            ack: self.seq(self.segments).wrapping_add(1),
            flags: FIN | ACK,
            ..self.receiver_packet(at_ns)
        };
        Outcome {
            packet: Some(packet),
            follow: vec![(at_ns + self.rtt_ns, Event::LastAck)],
        }
    }
}
