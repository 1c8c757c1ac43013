//! Both captures, and which frame of one is which frame of the other.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use inorder_capture::PcapWriter;
use inorder_sort::Meta;
use inorder_sort::classify::tcp_header;
use inorder_wire::{Frame, LinkType};

/// Headers with all options; payloads say nothing.
const SNAPLEN: usize = 96;
const RAW_IP: LinkType = LinkType(101);

/// A packet on the path.
#[derive(Clone, Debug)]
pub struct Packet {
    pub bytes: Vec<u8>,
    /// Where it came from, 0 or 1.
    from: usize,
    /// Its frame in the capture of that end; 0 if it is not captured.
    frame: u64,
}

impl inorder_path::Packet for Packet {
    type Flow = u32;

    fn wire_bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn flow(&self) -> u32 {
        0
    }

    fn meta(&self) -> Meta<u32> {
        let header = usize::from(self.bytes[0] & 15) * 4;
        let segment = self.bytes.get(header..).filter(|_| self.bytes[9] == 6);
        let Some((seq, mut facts)) = segment.and_then(tcp_header) else {
            return Meta::unsuitable(0);
        };
        let offset = usize::from(self.bytes.get(header + 12).map_or(0, |b| b >> 4)) * 4;
        facts.payload_len = self.bytes.len().saturating_sub(header + offset) as u32;
        facts.meta(0, seq)
    }
}

pub struct Record {
    captures: [Capture; 2],
    labels: [&'static str; 2],
    pairs: BufWriter<File>,
    /// Only connections with this port are captured; 0: all.
    port: u16,
}

struct Capture {
    file: PcapWriter<BufWriter<File>>,
    frames: u64,
}

impl Record {
    /// The captures of both ends, in their order, are called by `labels`.
    pub fn create(name: &str, labels: [&'static str; 2], port: u16) -> io::Result<Self> {
        let capture = |label: &str| -> io::Result<Capture> {
            let file = BufWriter::new(File::create(format!("{name}.{label}.pcap"))?);
            Ok(Capture {
                file: PcapWriter::new(file, RAW_IP, SNAPLEN as u32)?,
                frames: 0,
            })
        };
        let mut pairs = BufWriter::new(File::create(format!("{name}.pairs.csv"))?);
        writeln!(pairs, "from,frame,arrived")?;
        Ok(Record {
            captures: [capture(labels[0])?, capture(labels[1])?],
            labels,
            pairs,
            port,
        })
    }

    /// `bytes` left end `from`. Only TCP over IPv4, and ICMP, which may speak of it, pass.
    pub fn sent(&mut self, from: usize, at_ns: i64, bytes: Vec<u8>) -> Option<Packet> {
        let protocol = bytes.get(9).copied()?;
        if bytes[0] >> 4 != 4 || !matches!(protocol, 1 | 6) {
            return None;
        }
        let captured = self.port == 0 || (protocol == 6 && self.has_port(&bytes));
        let frame = if captured {
            self.captures[from].write(at_ns, &bytes)
        } else {
            0
        };
        Some(Packet { bytes, from, frame })
    }

    /// `packet` reached end `to`.
    pub fn arrived(&mut self, to: usize, at_ns: i64, packet: &Packet) {
        if packet.frame == 0 {
            return;
        }
        let frame = self.captures[to].write(at_ns, &packet.bytes);
        self.pair(packet, frame);
    }

    /// A router sent `bytes` to end `to`: the other end has no counterpart of it.
    pub fn told(&mut self, to: usize, at_ns: i64, bytes: &[u8]) {
        self.captures[to].write(at_ns, bytes);
    }

    /// The path dropped `packet`.
    pub fn dropped(&mut self, packet: &Packet) {
        if packet.frame != 0 {
            self.pair(packet, 0);
        }
    }

    fn pair(&mut self, packet: &Packet, arrived: u64) {
        let end = self.labels[packet.from];
        // An error of the disk shows again when the file is flushed.
        let _ = writeln!(self.pairs, "{end},{},{arrived}", packet.frame);
    }

    fn has_port(&self, bytes: &[u8]) -> bool {
        let ports = usize::from(bytes[0] & 15) * 4;
        let port = |at: usize| {
            bytes
                .get(at..at + 2)
                .map(|b| u16::from_be_bytes([b[0], b[1]]))
        };
        port(ports) == Some(self.port) || port(ports + 2) == Some(self.port)
    }

    pub fn finish(self) -> io::Result<()> {
        for capture in self.captures {
            capture.file.into_inner().flush()?;
        }
        self.pairs.into_inner()?.sync_all()
    }
}

impl Capture {
    fn write(&mut self, ts_ns: i64, bytes: &[u8]) -> u64 {
        self.frames += 1;
        let frame = Frame {
            ts_ns,
            number: self.frames,
            link: RAW_IP,
            orig_len: bytes.len() as u32,
            data: &bytes[..bytes.len().min(SNAPLEN)],
        };
        if let Err(error) = self.file.write(&frame) {
            eprintln!("path: {error}");
        }
        self.frames
    }
}
