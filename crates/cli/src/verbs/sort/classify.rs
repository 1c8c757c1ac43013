//! What the sorter must know of a frame.

use inorder_detect::sorting_facts;
use inorder_sort::{Hashed, Meta};
use inorder_wire::{Dir, FlowKey, Frame, Numbered, Packet, RtpGate, Segment, StreamKey, parse};

/// One direction of a connection, or one stream of another service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    Tcp(FlowKey, Dir),
    Numbered(StreamKey),
}

/// A frame that belongs to a flow.
#[derive(Clone, Copy)]
pub struct Classified {
    pub meta: Meta<Hashed<Flow>>,
    /// Its place in the flow as the metrics see it; `None` when it carries no data.
    pub placed: Option<Placed>,
}

/// A numbered packet.
#[derive(Clone, Copy)]
pub struct Placed {
    pub flow: Flow,
    /// As on the wire, `bits` wide.
    pub number: u64,
    pub bits: u32,
    pub bytes: u32,
}

/// Tells flows and what may be sorted.
pub struct Classifier {
    /// Other services than TCP, told by their numbers; `None`: they are left alone.
    services: Option<RtpGate>,
    literal: bool,
}

impl Classifier {
    pub fn new(services: bool, literal: bool) -> Self {
        Classifier {
            services: services.then(RtpGate::new),
            literal,
        }
    }

    /// `None` for a frame that belongs to no flow that is sorted: it passes at once.
    pub fn classify(&mut self, frame: &Frame<'_>) -> Option<Classified> {
        match &parse(frame) {
            Packet::Tcp(key, dir, segment) | Packet::FirstFragment(key, dir, segment, _) => {
                Some(self.tcp(*key, *dir, segment))
            }
            Packet::Numbered(key, packet) => self.numbered(*key, *packet),
            Packet::LaterFragment(_) | Packet::Other(_) => None,
        }
    }

    fn tcp(&self, key: FlowKey, dir: Dir, segment: &Segment) -> Classified {
        let flow = Flow::Tcp(key, dir);
        let facts = sorting_facts(segment);
        let hashed = Hashed::new(flow, key.hash64() ^ dir.index() as u64);
        let mut meta = facts.meta(hashed, segment.seq);
        if self.literal {
            meta.kind = facts.kind_literally();
        }
        let placed = Placed {
            flow,
            number: u64::from(segment.seq),
            bits: 32,
            bytes: segment.payload_len,
        };
        Classified {
            meta,
            placed: (segment.payload_len > 0).then_some(placed),
        }
    }

    fn numbered(&mut self, key: StreamKey, packet: Numbered) -> Option<Classified> {
        // Of what may be RTP the first packets prove the stream; they pass, too early to hold.
        let mut proved = false;
        self.services.as_mut()?.push(key, packet, |_, let_through| {
            proved |= let_through.frame == packet.frame;
        });
        let flow = Flow::Numbered(key);
        let (ends, _) = FlowKey::new(key.src, key.dst, key.overlay);
        let hash = ends.hash64() ^ u64::from(key.id).rotate_left(32);
        let bits = key.service.bits();
        proved.then(|| Classified {
            meta: Meta::numbered(Hashed::new(flow, hash), packet.seq, bits),
            placed: Some(Placed {
                flow,
                number: packet.seq,
                bits,
                bytes: packet.payload_len,
            }),
        })
    }
}
