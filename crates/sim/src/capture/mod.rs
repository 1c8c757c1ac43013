//! Captures at both ends, and the truth about the packets in them.

mod frame;
mod phases;
mod truth;

use std::io::{self, Write};

use inorder_capture::{Interface, InterfaceId, PcapNgWriter};
use inorder_wire::{Frame, LinkType};

use crate::packet::{Channel, End, Packet};
use crate::tap::Tap;

pub use truth::{Truth, TruthEvent, TruthFlow};

/// Bytes of Ethernet before the IP header.
const ETHERNET: u32 = 14;
/// Time at which all runs begin: 2020-01-01 00:00:00 UTC, nanoseconds since the epoch.
const BEGIN_NS: i64 = 1_577_836_800_000_000_000;

/// Writes pcapng files at both ends during a run, and collects the truth.
///
/// At A, packets are captured when they leave TCP and when they reach TCP; at B likewise, behind the card, where
/// Linux captures. Damaged packets end in the card and are not captured.
pub struct Captures<W: Write> {
    ends: [Writer<W>; 2],
    truth: Truth,
    frame: Vec<u8>,
    snap_bytes: u32,
    /// Channels below this number belong to flows, the others to probes.
    flow_channels: u32,
    /// The first error in writing.
    error: Option<io::Error>,
}

struct Writer<W> {
    file: PcapNgWriter<W>,
    interface: InterfaceId,
    frames: u64,
}

impl<W: Write> Writer<W> {
    fn new(out: W, name: &str, snap_bytes: u32) -> io::Result<Self> {
        let mut file = PcapNgWriter::new(out)?;
        let interface = file.add_interface(Interface {
            link: LinkType::ETHERNET,
            snaplen: snap_bytes + ETHERNET,
            name: Some(name.to_owned()),
            description: None,
        });
        Ok(Writer {
            file,
            interface,
            frames: 0,
        })
    }
}

impl<W: Write> Captures<W> {
    /// Captures at A and B of a run with `flows` flows; keeps `snap_bytes` of each packet, including the IP header.
    ///
    /// # Errors
    /// If a header cannot be written.
    pub fn new(at_a: W, at_b: W, flows: usize, snap_bytes: u32) -> io::Result<Self> {
        Ok(Captures {
            ends: [
                Writer::new(at_a, "A", snap_bytes)?,
                Writer::new(at_b, "B", snap_bytes)?,
            ],
            truth: Truth::default(),
            frame: Vec::new(),
            snap_bytes,
            flow_channels: flows as u32 * 2,
            error: None,
        })
    }

    /// Returns the writers of A and B, and the truth.
    ///
    /// # Errors
    /// The first error in writing.
    pub fn finish(self) -> io::Result<([W; 2], Truth)> {
        if let Some(error) = self.error {
            return Err(error);
        }
        Ok((self.ends.map(|end| end.file.into_inner()), self.truth))
    }

    fn write(&mut self, now_ns: i64, at: End, from: End, packet: &Packet) {
        if self.error.is_some() {
            return;
        }
        let ip_bytes = frame::build(&mut self.frame, packet, from, self.flow_channels);
        self.frame.truncate((self.snap_bytes + ETHERNET) as usize);
        let writer = &mut self.ends[at as usize];
        writer.frames += 1;
        let frame = Frame {
            ts_ns: BEGIN_NS.saturating_add(now_ns),
            number: writer.frames,
            link: LinkType::ETHERNET,
            orig_len: ip_bytes + ETHERNET,
            data: &self.frame,
        };
        self.error = writer.file.write(writer.interface, &frame, None).err();
    }
}

impl<W: Write> Tap for Captures<W> {
    fn sent(&mut self, now_ns: i64, end: End, packet: &Packet) {
        self.truth.sent(end, packet);
        self.write(now_ns, end, end, packet);
    }

    fn received(&mut self, now_ns: i64, end: End, packet: &Packet) {
        self.truth.received(now_ns, packet);
        self.write(now_ns, end, end.other(), packet);
    }

    fn refused(&mut self, packet: &Packet) {
        self.truth.refused(packet);
    }
}

/// Address and port of a channel's source, and of its destination.
pub(crate) fn addresses(channel: Channel, from: End) -> [([u8; 4], u16); 2] {
    let flow = channel.0 / 2;
    // 50,000 flows per address.
    let block = (flow / 50_000) as u8;
    let port = 10_000 + (flow % 50_000) as u16;
    let (a, b) = ([10, 0, 1, 1 + block], [10, 0, 3, 2]);
    match from {
        End::A => [(a, port), (b, 5001)],
        End::B => [(b, 5001), (a, port)],
    }
}
