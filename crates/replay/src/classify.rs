//! What the sorter needs to know about a frame.

use inorder_filter::Filter;
use inorder_sort::{Meta, hash_words};
use inorder_whatif::sorting_facts;
use inorder_wire::{Dir, FlowKey, Frame, Gate, Numbered, Packet, Segment, StreamKey, parse};

/// One direction of a connection, or one stream of another service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Flow {
    Tcp(FlowKey, Dir),
    Numbered(StreamKey),
}

impl inorder_sort::FlowKey for Flow {
    fn hash64(&self, seed: u64) -> u64 {
        match self {
            Flow::Tcp(key, dir) => hash_words(&key.words(*dir), seed),
            Flow::Numbered(key) => {
                let (ends, dir) = FlowKey::new(key.src, key.dst, key.overlay);
                let [a, b, c, d, e] = ends.words(dir);
                let id = u64::from(key.id) << 8 | key.service as u64;
                hash_words(&[a, b, c, d, e, id], seed)
            }
        }
    }
}

/// A frame that belongs to a flow.
#[derive(Clone, Copy)]
pub(crate) struct Classified {
    pub meta: Meta<Flow>,
    /// Its position in the flow for the metrics; `None` if it carries no data.
    pub placed: Option<Placed>,
}

/// The position of a packet with a sequence number.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub flow: Flow,
    /// As on the wire, `bits` wide.
    pub number: u64,
    pub bits: u32,
    pub bytes: u32,
}

/// Assigns frames to flows and decides which ones may be sorted.
pub(crate) struct Classifier {
    /// Recognises numbered services other than TCP; `None` if they are not sorted.
    services: Option<Gate>,
    literal: bool,
    /// Which flows are sorted; all if `None`.
    filter: Option<Filter>,
}

impl Classifier {
    pub(crate) fn new(services: bool, literal: bool, filter: Option<Filter>) -> Self {
        Classifier {
            services: services.then(Gate::new),
            literal,
            filter,
        }
    }

    /// `None` for a frame that belongs to no sorted flow: it passes at once.
    pub(crate) fn classify(&mut self, frame: &Frame<'_>) -> Option<Classified> {
        let filter = self.filter.as_ref();
        match &parse(frame) {
            Packet::Tcp(key, dir, segment) | Packet::FirstFragment(key, dir, segment, _) => filter
                .is_none_or(|filter| filter.direction(key, *dir))
                .then(|| self.tcp(*key, *dir, segment)),
            Packet::Numbered(key, _) if filter.is_some_and(|filter| !filter.stream(key)) => None,
            Packet::Numbered(key, packet) => self.numbered(*key, *packet),
            Packet::LaterFragment(_) | Packet::Other(_) => None,
        }
    }

    fn tcp(&self, key: FlowKey, dir: Dir, segment: &Segment) -> Classified {
        let flow = Flow::Tcp(key, dir);
        let facts = sorting_facts(segment);
        let mut meta = facts.meta(flow, segment.seq);
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
        // An RTP stream is confirmed by its first packets. Those pass before the confirmation, so they are not held.
        let mut proved = false;
        self.services.as_mut()?.push(key, packet, |_, let_through| {
            proved |= let_through.frame == packet.frame;
        });
        let flow = Flow::Numbered(key);
        let bits = key.service.bits();
        proved.then(|| Classified {
            meta: Meta::numbered(flow, packet.seq, bits),
            placed: Some(Placed {
                flow,
                number: packet.seq,
                bits,
                bytes: packet.payload_len,
            }),
        })
    }
}
