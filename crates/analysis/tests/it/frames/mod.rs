//! Captures made frame by frame: a client and its server, and what passes between them.

// Each test file uses only some of these.
#![allow(dead_code)]

use std::io::Cursor;

use inorder_analysis::Analysis;
use inorder_pipeline::{Analyzer, Input};

pub(crate) const CLIENT: [u8; 4] = [192, 0, 2, 10];
pub(crate) const SERVER: [u8; 4] = [198, 51, 100, 20];
pub(crate) const ROUTER: [u8; 4] = [203, 0, 113, 1];
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;
/// Initial numbers of client and server.
pub(crate) const A: u32 = 1_000_000;
pub(crate) const B: u32 = 9_000_000;

/// Frames with their times in microseconds.
#[derive(Default)]
pub(crate) struct Capture {
    pub frames: Vec<(u32, Vec<u8>)>,
    /// Bytes that the file has of each frame at most.
    pub snap: Option<usize>,
}

/// A TCP segment: what tests vary.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub from_client: bool,
    pub port: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub payload: u16,
    pub id: u16,
    pub window: u16,
    /// The first SACK block; none where it is empty.
    pub sack: (u32, u32),
    /// Timestamp and echo; none where both are 0.
    pub stamp: (u32, u32),
}

pub(crate) fn client(seq: u32, ack: u32, flags: u8, payload: u16) -> Segment {
    Segment {
        from_client: true,
        port: 40_000,
        seq,
        ack,
        flags,
        payload,
        id: 0,
        window: 0xffff,
        sack: (0, 0),
        stamp: (0, 0),
    }
}

pub(crate) fn server(seq: u32, ack: u32, flags: u8, payload: u16) -> Segment {
    Segment {
        from_client: false,
        ..client(seq, ack, flags, payload)
    }
}

pub(crate) fn ip(
    src: [u8; 4],
    dst: [u8; 4],
    protocol: u8,
    (id, ttl): (u16, u8),
    body: &[u8],
) -> Vec<u8> {
    let len = (20 + body.len() as u16).to_be_bytes();
    let id = id.to_be_bytes();
    let head = [
        0x45, 0, len[0], len[1], id[0], id[1], 0x40, 0, ttl, protocol, 0, 0,
    ];
    [&head[..], &src, &dst, body].concat()
}

impl Segment {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (ports, ends, ttl) = match self.from_client {
            true => ([self.port, 443], [CLIENT, SERVER], 64),
            false => ([443, self.port], [SERVER, CLIENT], 52),
        };
        let mut options = match self.flags & SYN {
            0 => Vec::new(),
            _ => vec![2, 4, 5, 180, 4, 2, 1, 1],
        };
        if self.stamp != (0, 0) {
            options.extend([1, 1, 8, 10]);
            options.extend([self.stamp.0, self.stamp.1].map(u32::to_be_bytes).concat());
        }
        if self.sack != (0, 0) {
            options.extend([1, 1, 5, 10]);
            options.extend([self.sack.0, self.sack.1].map(u32::to_be_bytes).concat());
        }
        let window = self.window.to_be_bytes();
        let mut tcp = ports.map(u16::to_be_bytes).concat();
        tcp.extend([self.seq, self.ack].map(u32::to_be_bytes).concat());
        tcp.extend([
            ((20 + options.len()) / 4 * 16) as u8,
            self.flags,
            window[0],
            window[1],
            0,
            0,
            0,
            0,
        ]);
        tcp.extend(options);
        tcp.resize(tcp.len() + usize::from(self.payload), 7);
        ip(ends[0], ends[1], 6, (self.id, ttl), &tcp)
    }
}

impl Capture {
    pub(crate) fn frame(&mut self, ms: f64, vlan: Option<u16>, packet: &[u8]) {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        if let Some(vlan) = vlan {
            frame.extend([0x81, 0]);
            frame.extend(vlan.to_be_bytes());
        }
        frame.extend([8, 0]);
        frame.extend(packet);
        self.frames.push(((ms * 1_000.0) as u32, frame));
    }

    pub(crate) fn send(&mut self, ms: f64, segment: Segment) {
        self.send_in(ms, None, segment);
    }

    /// Identifications count the frames, so that no two packets have the same.
    pub(crate) fn send_in(&mut self, ms: f64, vlan: Option<u16>, segment: Segment) {
        let id = 100 + self.frames.len() as u16;
        self.frame(ms, vlan, &Segment { id, ..segment }.bytes());
    }

    /// With the identification that it has.
    pub(crate) fn send_as(&mut self, ms: f64, segment: Segment) {
        self.frame(ms, None, &segment.bytes());
    }

    /// Three packets that open the connection, next to the client.
    pub(crate) fn shake(&mut self, at: f64, rtt: f64) {
        self.send(at, client(A, 0, SYN, 0));
        self.send(at + rtt, server(B, A + 1, SYN | ACK, 0));
        self.send(at + rtt + 0.1, client(A + 1, B + 1, ACK, 0));
    }

    pub(crate) fn analyse(mut self) -> Analysis {
        self.frames.sort_by_key(|(us, _)| *us);
        let mut file = vec![
            0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0,
        ];
        for (us, frame) in &self.frames {
            let kept = &frame[..self.snap.unwrap_or(usize::MAX).min(frame.len())];
            let lens = [kept.len(), frame.len()].map(|len| len as u32);
            let record = [
                1_700_000_000 + us / 1_000_000,
                us % 1_000_000,
                lens[0],
                lens[1],
            ];
            file.extend(record.map(u32::to_le_bytes).concat());
            file.extend(kept);
        }
        analyse("capture.pcap", file)
    }
}

pub(crate) fn analyse(name: &str, file: Vec<u8>) -> Analysis {
    let input = Input::reader(name, Cursor::new(file));
    Analyzer::new().run(input).expect("a capture")
}
