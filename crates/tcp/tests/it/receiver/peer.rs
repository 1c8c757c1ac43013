//! The other side, controlled by the test: data in units of segments, and the acknowledgements that answer it.

use inorder_tcp::config::MS;
use inorder_tcp::{Config, Endpoint, Flags, Nanos, Segment, State, Timestamps, profiles};

/// Payload of a segment, bytes.
pub(crate) const MSS: u32 = 1000;

/// A receiver under test and its peer.
pub(crate) struct Peer {
    pub end: Endpoint,
    pub now: Nanos,
}

/// A basic configuration: acknowledges every second segment or after 200 ms, no timestamps.
pub(crate) fn config(profile: &str) -> Config {
    (profiles::find(profile).unwrap().build)().with(|config| {
        config.mss = MSS;
        config.options.timestamps = false;
    })
}

impl Peer {
    /// A connection that the receiver listened for, opened.
    pub(crate) fn new(config: &Config) -> Self {
        let mut peer = Self {
            end: Endpoint::with_names(config, "reno", "static").unwrap(),
            now: 100 * MS,
        };
        peer.end.listen();
        let syn = Segment {
            seq: 0,
            flags: Flags::SYN,
            window: u16::MAX,
            window_scale: Some(8),
            mss: Some(MSS as u16),
            sack_permitted: true,
            timestamps: config
                .options
                .timestamps
                .then_some(Timestamps { val: 1, ecr: 0 }),
            ..Segment::default()
        };
        let answer = peer.deliver(&syn);
        assert_eq!(answer.len(), 1);
        assert!(answer[0].flags.has(Flags::SYN.with(Flags::ACK)));
        assert_eq!(answer[0].ack, 1);
        assert_eq!(peer.deliver(&peer.bare(1, Flags::ACK)), []);
        assert_eq!(peer.end.state(), State::Established);
        peer
    }

    /// A segment without payload at this sequence number.
    pub(crate) fn bare(&self, seq: u32, flags: Flags) -> Segment {
        Segment {
            seq,
            ack: 1,
            flags,
            window: u16::MAX,
            timestamps: self
                .end
                .config()
                .options
                .timestamps
                .then_some(Timestamps { val: 1, ecr: 0 }),
            ..Segment::default()
        }
    }

    /// The shift of the windows that the receiver advertises.
    pub(crate) fn scale(&self) -> u32 {
        u32::from(self.end.config().options.window_scale.unwrap_or(0))
    }

    /// Delivers a segment and returns the answers.
    pub(crate) fn deliver(&mut self, segment: &Segment) -> Vec<Segment> {
        self.end.on_segment(self.now, segment);
        self.out()
    }

    pub(crate) fn out(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.end.poll_transmit(self.now)).collect()
    }

    /// Segments `from..to` of the stream arrive as one segment.
    pub(crate) fn data(&mut self, from: u32, to: u32) -> Vec<Segment> {
        let segment = Segment {
            payload: (to - from) * MSS,
            ..self.bare(1 + from * MSS, Flags::ACK)
        };
        self.deliver(&segment)
    }

    /// A segment with a timestamp arrives.
    pub(crate) fn data_at(&mut self, from: u32, val: u32) -> Vec<Segment> {
        let segment = Segment {
            payload: MSS,
            timestamps: Some(Timestamps { val, ecr: 0 }),
            ..self.bare(1 + from * MSS, Flags::ACK)
        };
        self.deliver(&segment)
    }

    /// Advances time; returns what timers send.
    pub(crate) fn wait(&mut self, time: Nanos) -> Vec<Segment> {
        let until = self.now + time;
        let mut sent = Vec::new();
        while let Some(at) = self.end.next_timer().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.end.on_timer(self.now);
            sent.extend(self.out());
        }
        self.now = until;
        sent
    }
}

/// The content of an acknowledgement: the next expected segment, and the SACK ranges.
pub(crate) fn says(segment: &Segment) -> (u32, Vec<(u32, u32)>) {
    let unit = |seq: u32| (seq - 1) / MSS;
    let blocks = segment.sack.as_slice().iter();
    (
        unit(segment.ack),
        blocks
            .map(|&(start, end)| (unit(start), unit(end)))
            .collect(),
    )
}

/// The single acknowledgement among these; panics and prints them otherwise.
pub(crate) fn only(segments: &[Segment]) -> (u32, Vec<(u32, u32)>) {
    match segments {
        [segment] => says(segment),
        _ => panic!("{segments:?}"),
    }
}
