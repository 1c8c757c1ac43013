//! What passes the gate: drawn UDP of many protocols must not be taken for RTP, drawn RTP must be recognised.

use inorder_wire::{Frame, Gate, LinkType, Packet, Service};

use crate::build::*;

/// A linear congruential generator: the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        let multiplier = 6_364_136_223_846_793_005;
        self.0 = self
            .0
            .wrapping_mul(multiplier)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    /// True with this probability in percent.
    fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }
}

/// Milliseconds and payload of the packets of one direction.
type Stream = Vec<(f64, Vec<u8>)>;

/// 2024-05-01T12:00:00Z.
const START_NS: i64 = 1_714_564_800_000_000_000;

/// Packets that pass as RTP, by the index of those pushed.
fn pass(ports: (u16, u16), packets: &Stream) -> Vec<u64> {
    let (mut gate, mut passed) = (Gate::new(), Vec::new());
    for (number, (ms, payload)) in (1..).zip(packets) {
        let bytes = ipv4(17, &udp(ports.0, ports.1, payload));
        let frame = Frame {
            ts_ns: START_NS + (ms * 1e6) as i64,
            number,
            link: LinkType::RAW,
            orig_len: bytes.len() as u32,
            data: &bytes,
        };
        if let Packet::Numbered(key, packet) = inorder_wire::parse(&frame) {
            gate.push(key, packet, |key, packet| {
                if key.service == Service::Rtp {
                    passed.push(packet.frame);
                }
            });
        }
    }
    passed
}

/// Times of `n` packets at intervals drawn from a list of milliseconds, with jitter.
fn times(dice: &mut Dice, n: u64) -> Vec<f64> {
    let every = [0.1, 1.0, 5.0, 16.6, 20.0, 60.0, 1_000.0, 20_000.0][dice.below(8) as usize];
    let mut at = 0.0;
    let mut next = || {
        at += every * (0.5 + dice.below(1_000) as f64 / 1_000.0);
        at
    };
    (0..n).map(|_| next()).collect()
}

/// Protocols that are no RTP: their names and a payload of the n-th packet. The second number is drawn once a stream.
type Draw = fn(&mut Dice, u64, u64) -> Vec<u8>;

const FOREIGN: &[(&str, Draw)] = &[
    ("random", |dice, _, _| {
        let len = dice.below(200) as usize;
        dice.bytes(len)
    }),
    ("random behind a first byte as RTP's", |dice, _, _| {
        join(&[0x80, 96], &dice.bytes(60))
    }),
    ("random with a constant identifier", |dice, _, of| {
        let mut all = join(&[0x80, 0], &dice.bytes(60));
        all[8..12].copy_from_slice(&(of as u32).to_be_bytes());
        all
    }),
    ("DNS", |dice, _, of| {
        let id = (dice.next() as u16).to_be_bytes();
        let flags = [[1, 0], [0x81, 0x80]][of as usize % 2];
        [
            &id[..],
            &flags,
            &[0, 1, 0, 0, 0, 0, 0, 0, 3, b'w', b'w', b'w', 0, 0, 1, 0, 1],
        ]
        .concat()
    }),
    ("BACnet/IP", |dice, n, _| {
        let len = 25 + dice.below(8) as u16;
        let head = [
            0x81, 0x0a, 0, len as u8, 1, 0x0c, 0, 0x0c, 2, 0, 0x3d, 2, n as u8,
        ];
        let mut all = head.to_vec();
        all.resize(usize::from(len), 0);
        all
    }),
    ("lengths that grow one by one", |_, n, _| {
        let len = 12 + n as u16;
        let mut all = [
            &[0x81, 0x0a],
            &len.to_be_bytes()[..],
            &[1, 4, 0, 5, 1, 0x0c, 0x0c, 2],
        ]
        .concat();
        all.resize(usize::from(len), 0);
        all
    }),
    ("SIP", |_, n, _| {
        format!("OPTIONS sip:a@b SIP/2.0\r\nCSeq: {n} OPTIONS\r\n\r\n").into_bytes()
    }),
    ("STUN", |dice, _, of| {
        let transaction = dice.bytes(12);
        [
            &[[0, 1], [1, 1]][of as usize % 2][..],
            &[0, 0, 0x21, 0x12, 0xa4, 0x42],
            &transaction,
        ]
        .concat()
    }),
    ("TURN channel data", |dice, _, _| {
        join(&[0x40, 1, 0, 160], &dice.bytes(160))
    }),
    ("QUIC, fixed bit cleared", |dice, _, of| {
        // Long headers with a version, and short ones with a connection identifier (RFC 9287 clears the bit).
        let id = of.to_be_bytes();
        match dice.below(3) {
            0 => [
                &[0x80 | dice.below(0x40) as u8, 0, 0, 0, 1, 8],
                &id[..],
                &dice.bytes(100),
            ]
            .concat(),
            _ => [&[dice.below(0x40) as u8], &id[..], &dice.bytes(100)].concat(),
        }
    }),
    ("QUIC with random first bytes", |dice, _, of| {
        [
            &[dice.next() as u8],
            &of.to_be_bytes()[..],
            &dice.bytes(100),
        ]
        .concat()
    }),
    ("DTLS 1.3", |dice, n, _| {
        join(&[0x2c, n as u8, 0, 80], &dice.bytes(80))
    }),
    ("RTCP on the port of RTP", |dice, n, of| {
        let head = [
            0x80 | dice.below(4) as u8,
            200 + dice.below(7) as u8,
            0,
            n as u8,
        ];
        [&head[..], &(of as u32).to_be_bytes(), &dice.bytes(40)].concat()
    }),
    ("SRT control", |dice, n, of| {
        let acknowledged = (n as u32).to_be_bytes();
        [
            &[0x80, dice.below(9) as u8, 0, 0][..],
            &acknowledged,
            &(of as u32).to_be_bytes(),
            &[0; 16],
        ]
        .concat()
    }),
    ("a game: 16-bit counter and fixed fields", |dice, n, of| {
        let counter = (n as u16).to_be_bytes();
        [
            &[0x80, 3][..],
            &counter,
            &[0, 0, 0, 7],
            &(of as u32).to_be_bytes(),
            &dice.bytes(20),
        ]
        .concat()
    }),
    ("a game: two counters", |dice, n, of| {
        let (counter, tick) = (
            (n as u16).to_be_bytes(),
            (of as u32).wrapping_add(n as u32).to_be_bytes(),
        );
        [
            &[0x90 & 0x8f, 3][..],
            &counter,
            &tick,
            &[0, 0, 0, 1],
            &dice.bytes(20),
        ]
        .concat()
    }),
    ("ENet: time in milliseconds, then commands", |dice, n, _| {
        let time = ((n * 16) as u16).to_be_bytes();
        let command = (n as u16).to_be_bytes();
        [
            &[0x80, 5][..],
            &time,
            &[0x86, 0],
            &command,
            &[0, 20],
            &[0, 1],
            &dice.bytes(20),
        ]
        .concat()
    }),
    ("RakNet: little-endian counter of 24 bits", |dice, n, _| {
        let counter = (n as u32).to_le_bytes();
        [
            &[0x84][..],
            &counter[..3],
            &[0x60, 1, 0, 0],
            &counter,
            &dice.bytes(30),
        ]
        .concat()
    }),
    ("telemetry: counter and float", |dice, n, of| {
        let value = (20.0 + dice.below(1_000) as f32 / 100.0).to_be_bytes();
        [
            &[0x80, 0][..],
            &(n as u16).to_be_bytes(),
            &value,
            &(of as u32).to_be_bytes(),
        ]
        .concat()
    }),
];

#[test]
fn nothing_else_is_taken_for_rtp() {
    const STREAMS: u64 = 250;
    let mut dice = Dice(1);
    for (name, draw) in FOREIGN {
        let mut wrong = 0;
        for _ in 0..STREAMS {
            let of = dice.next();
            let n = 4 + dice.below(76);
            let at = times(&mut dice, n);
            let packets = (0..).zip(at).map(|(n, ms)| (ms, draw(&mut dice, n, of)));
            let packets: Stream = packets.collect();
            wrong += usize::from(!pass((40_000, 47_808), &packets).is_empty());
        }
        assert_eq!(wrong, 0, "{name}: {wrong} of {STREAMS} streams");
    }
}

/// The packets of a sender, in the order of sending: time, number, timestamp, payload type and size.
fn media(dice: &mut Dice, n: u64) -> Vec<(f64, u16, u32, u8, usize)> {
    let (first, base) = (dice.next() as u16, dice.next() as u32);
    // Payload type, clock in kHz, milliseconds and packets of a step.
    let kinds = [
        (0, 8, 20.0, 1),
        (8, 8, 30.0, 1),
        (18, 8, 10.0, 1),
        (111, 48, 20.0, 1),
        (97, 48, 2.5, 1),
        (9, 8, 20.0, 1),
        (33, 90, 1.3, 1),
        (96, 90, 33.3, 7),
        (45, 90, 16.7, 3),
        (98, 1, 300.0, 1),
    ];
    let (kind, khz, every, packets) = kinds[dice.below(kinds.len() as u64) as usize];
    let mut number = 0;
    let mut silence = 0.0;
    (0..n)
        .map(|at| {
            let step = at / packets;
            // Silence suppression and longer pauses: the clock runs on, numbers do not.
            if packets == 1 && dice.percent(1) {
                silence += every * (2.0 + dice.below(300) as f64);
            }
            number += 1;
            let ms = step as f64 * every + silence;
            let stamp = base.wrapping_add((ms * f64::from(khz)) as u32);
            let sent = ms + (at % packets) as f64 * 0.05;
            (
                sent,
                first.wrapping_add(number as u16),
                stamp,
                kind,
                20 + dice.below(900) as usize,
            )
        })
        .collect()
}

#[test]
fn rtp_is_recognised_with_loss_jitter_and_late_packets() {
    const STREAMS: u64 = 600;
    let mut dice = Dice(2);
    let (mut unseen, mut missed) = (Vec::new(), 0);
    for stream in 0..STREAMS {
        let ssrc = (dice.next() as u32).to_be_bytes();
        let (loss, jitter) = (dice.below(25), dice.below(60) as f64);
        let mut packets: Stream = Vec::new();
        for (ms, number, stamp, kind, len) in media(&mut dice, 120) {
            if dice.percent(loss) {
                continue;
            }
            let delay = if dice.percent(10) {
                jitter * dice.below(100) as f64 / 100.0
            } else {
                0.0
            };
            let head = [
                &[0x80, kind][..],
                &number.to_be_bytes(),
                &stamp.to_be_bytes(),
                &ssrc,
            ]
            .concat();
            packets.push((ms + delay, join(&head, &dice.bytes(len))));
        }
        packets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let passed = pass((16_384, 30_000), &packets);
        missed += packets.len() - passed.len();
        if passed.len() < packets.len() / 2 {
            unseen.push((stream, loss, passed.len(), packets.len()));
        }
    }
    println!("{missed} packets at the start of {STREAMS} streams are not recognised");
    assert!(unseen.is_empty(), "{unseen:?}");
    assert!(missed < STREAMS as usize, "{missed}");
}

/// A sender that changes its SSRC begins a new stream, which is recognised by itself.
#[test]
fn a_new_ssrc_is_a_new_stream() {
    let packet = |n: u16, ssrc: u8| {
        let stamp = (u32::from(n) * 160).to_be_bytes();
        [
            &[0x80, 0][..],
            &n.to_be_bytes(),
            &stamp,
            &[0, 0, 0, ssrc],
            &[0xd5; 160],
        ]
        .concat()
    };
    let packets = (0..40).map(|n| (f64::from(n) * 20.0, packet(n, 1 + (n / 20) as u8)));
    assert_eq!(pass((5_004, 5_004), &packets.collect()).len(), 40);
}
