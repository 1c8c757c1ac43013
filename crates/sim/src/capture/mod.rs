//! Captures at both ends, and the truth about the packets in them.

mod defects;
mod frame;
mod further;
mod habits;
mod identification;
mod pairs;
mod phases;
mod routers;
mod told;
mod truth;

use std::io::{self, Write};

use inorder_capture::{Interface, InterfaceId, PcapNgWriter};
use inorder_scenario::Config;
use inorder_scenario::config::CapturePoint;
use inorder_wire::{Frame, LinkType};

use crate::error::Error;
use crate::packet::{Channel, End, Packet};
use crate::tap::Tap;

pub use defects::Captured;
pub use further::Damaged;
use further::Further;
use identification::Identifications;
pub use pairs::Pairs;
use routers::Routers;
pub use told::{TruthEvent, TruthFlow};
pub use truth::Truth;

/// Bytes of Ethernet before the IP header.
const ETHERNET: u32 = 14;
/// Time at which all runs begin: 2020-01-01 00:00:00 UTC, nanoseconds since the epoch.
pub(crate) const BEGIN_NS: i64 = 1_577_836_800_000_000_000;

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
    identifications: Option<Identifications>,
    routers: Routers,
    further: Further,
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
            identifications: None,
            routers: Routers::default(),
            further: Further::default(),
            error: None,
        })
    }

    /// The same of a run of `config` with `seed`: with the identifications that its hosts choose, and the pairs of frames if it
    /// asks for them.
    ///
    /// # Errors
    /// If a name in `config` is unknown.
    pub fn of_run(mut self, config: &Config, seed: u64) -> Result<Self, Error> {
        self.identifications = Some(Identifications::of_run(config, seed)?);
        self.routers = Routers::of_run(config);
        self.further = Further::new(&config.captures, seed);
        if config.output.pairs || !self.further.is_empty() {
            self.truth
                .pair(habits::of_flows(config)?, self.further.json());
        }
        Ok(self)
    }

    /// The captures with defects that the scenario asks for.
    pub fn damaged(&self) -> Vec<Damaged> {
        self.further.captures().collect()
    }

    /// Writes one of them as a pcapng file.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_damaged(&self, capture: &Damaged, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = Writer::new(out, &capture.name, self.snap_bytes)?;
        for (frame, number) in capture.frames.iter().zip(1..) {
            let frame = Frame {
                ts_ns: BEGIN_NS.saturating_add(frame.ts_ns),
                number,
                link: LinkType::ETHERNET,
                orig_len: frame.length,
                data: &frame.bytes,
            };
            writer.file.write(writer.interface, &frame, None)?;
        }
        Ok(())
    }

    /// Writes which frames of the whole capture those of a capture with defects are.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_frames(&self, capture: &Damaged, out: &mut dyn Write) -> io::Result<()> {
        further::write_frames(&capture.frames, BEGIN_NS, out)
    }

    /// The same of all that passed between the lines of routes.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_between(&self, out: &mut dyn Write) -> io::Result<()> {
        further::write_frames(self.further.between(), BEGIN_NS, out)
    }

    /// True if there is a capture between the lines of routes.
    pub fn has_between(&self) -> bool {
        self.further.wants(CapturePoint::Between)
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

    /// Number of the frame that is written next at `end`.
    fn next_frame(&self, end: End) -> u64 {
        self.ends[end as usize].frames + 1
    }

    /// Writes the packet's frame to the buffer, as it is captured; returns its length from the IP header on.
    fn frame_of(&mut self, packet: &Packet, from: End) -> u32 {
        let identification = match &self.identifications {
            Some(all) => all.of(packet),
            None => packet.id as u16,
        };
        let header = frame::Ip {
            identification,
            time_to_live: self.routers.time_to_live(packet),
        };
        let (out, channels) = (&mut self.frame, self.flow_channels);
        let ip_bytes = frame::build(out, packet, from, header, channels);
        self.frame.truncate((self.snap_bytes + ETHERNET) as usize);
        ip_bytes
    }

    fn write(&mut self, now_ns: i64, at: End, from: End, packet: &Packet) {
        if self.error.is_some() {
            return;
        }
        let ip_bytes = self.frame_of(packet, from);
        let writer = &mut self.ends[at as usize];
        writer.frames += 1;
        let point = match at {
            End::A => CapturePoint::A,
            End::B => CapturePoint::B,
        };
        if self.further.wants(point) {
            let frame = Captured {
                ts_ns: now_ns,
                from,
                flow: packet.channel.0 / 2,
                originals: vec![writer.frames],
                bytes: self.frame.clone(),
                length: ip_bytes + ETHERNET,
            };
            self.further.keep(point, frame);
        }
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
        self.truth.sent(end, packet, self.next_frame(end));
        if let Some(identifications) = &mut self.identifications {
            identifications.sent(end, packet);
        }
        self.write(now_ns, end, end, packet);
    }

    fn received(&mut self, now_ns: i64, end: End, packet: &Packet) {
        self.truth
            .received(now_ns, end, packet, self.next_frame(end));
        self.write(now_ns, end, end.other(), packet);
    }

    fn between(&mut self, now_ns: i64, packet: &Packet) {
        if !self.further.wants(CapturePoint::Between) {
            return;
        }
        let Some((from, original)) = self.truth.frame_sent(packet) else {
            return;
        };
        let ip_bytes = self.frame_of(packet, from);
        self.further.keep(
            CapturePoint::Between,
            Captured {
                ts_ns: now_ns,
                from,
                flow: packet.channel.0 / 2,
                originals: vec![original],
                bytes: self.frame.clone(),
                length: ip_bytes + ETHERNET,
            },
        );
    }

    fn refused(&mut self, packet: &Packet) {
        self.truth.refused(packet);
    }

    fn reneged(&mut self, _packet: &Packet) {
        self.truth.reneged();
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
