//! What is kept of a capture.

use inorder_wire::Frame;
use std::collections::HashMap;

use crate::diff::fingerprint::{Datagram, Fingerprint, Keep, Layer, Range, fingerprint};
use crate::diff::flow::Flow;
use crate::diff::tunnels::Tunnels;

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) hash: u128,
    pub(crate) ts_ns: i64,
    pub(crate) frame: u64,
    /// Index of its flow.
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    pub(crate) ttl: u8,
    pub(crate) range: Range,
    pub(crate) datagram: Option<Datagram>,
    /// Which piece of its frame this is.
    pub(crate) place: u32,
}

/// What the snap length left of the packets of both captures.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Bytes from the network header on of the packet that was cut most; `usize::MAX` without a cut one.
    pub outermost: usize,
    /// The same of the packets in tunnels.
    pub innermost: usize,
    /// True if packets are in tunnels.
    pub has_tunnels: bool,
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts {
            outermost: usize::MAX,
            innermost: usize::MAX,
            has_tunnels: false,
        }
    }
}

impl Cuts {
    /// The next frame of either capture.
    pub fn note(&mut self, frame: &Frame<'_>) {
        let cut = |print: &Fingerprint| match print.captured < print.bytes {
            true => print.captured as usize,
            false => usize::MAX,
        };
        let outer = fingerprint(frame, Layer::Outermost, 0, Keep::Bytes);
        self.outermost = self.outermost.min(cut(&outer));
        // Nothing is in TCP.
        let inner = match outer.flow.is_ip && outer.flow.protocol == 6 {
            true => outer,
            false => fingerprint(frame, Layer::Innermost, 0, Keep::Bytes),
        };
        self.innermost = self.innermost.min(cut(&inner));
        self.has_tunnels |= inner.tunnel.is_some();
    }

    /// The bytes to compare of the packets of this layer.
    pub fn of(&self, layer: Layer) -> usize {
        match layer {
            Layer::Outermost => self.outermost,
            Layer::Innermost => self.innermost,
        }
    }
}

/// The packets of a capture, in its order.
#[derive(Debug)]
pub struct Trace {
    pub(crate) packets: Vec<Seen>,
    pub(crate) flows: Vec<Flow>,
    known: HashMap<Flow, u32>,
    limit: usize,
    layer: Layer,
    keep: Keep,
    largest: u32,
    /// The overlay networks in which packets were that are compared, and of how many.
    pub(crate) tunnels: Tunnels,
    /// Packets that were not compared.
    pub(crate) bare: u64,
}

impl Trace {
    /// No packets yet. Of each, at most `limit` bytes from the network header on are compared: as many as the shorter of
    /// the two captures has of the packets that it cut ([`Cuts`]).
    pub fn new(limit: usize, keep: Keep) -> Self {
        Self::of_layer(Layer::Outermost, limit, keep)
    }

    /// The same of the packets in tunnels.
    pub fn of_layer(layer: Layer, limit: usize, keep: Keep) -> Self {
        Trace {
            packets: Vec::new(),
            flows: Vec::new(),
            known: HashMap::default(),
            limit,
            layer,
            keep,
            largest: 0,
            tunnels: Tunnels::default(),
            bare: 0,
        }
    }

    /// The next frame of the capture.
    pub fn push(&mut self, frame: &Frame<'_>) {
        let print = fingerprint(frame, self.layer, self.limit, self.keep);
        if self.keep == Keep::Payload && print.payload == 0 {
            self.bare += 1;
            return;
        }
        if let Some(overlay) = print.tunnel {
            self.tunnels.note(overlay);
        }
        let flow = *self.known.entry(print.flow).or_insert_with(|| {
            self.flows.push(print.flow);
            (self.flows.len() - 1) as u32
        });
        self.largest = self.largest.max(print.bytes);
        self.packets.push(Seen {
            hash: print.hash,
            ts_ns: frame.ts_ns,
            frame: frame.number,
            flow,
            bytes: print.bytes,
            ttl: print.ttl,
            range: print.range,
            datagram: print.datagram,
            place: 0,
        });
    }

    /// Packets of each capture for which there is room in `memory`, bytes, while both are compared.
    pub fn room(memory: usize) -> usize {
        /// What a packet takes with its row: two captures of 678,000 packets took 489 MB.
        const BYTES_OF_PACKET: usize = 361;
        memory / (2 * BYTES_OF_PACKET)
    }

    /// Frames so far.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// True without frames.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes of the largest packet: super-packets of offloading match nothing in the other capture.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    pub(crate) fn flow_of(&self, packet: &Seen) -> Flow {
        self.flows
            .get(packet.flow as usize)
            .copied()
            .unwrap_or(Flow::of(0, &[]))
    }
}
