//! The sinks of an analysis: what follows the connections and streams of one shard.

use inorder_detect::{Config, PeerRecorder, SinglePackets, Streams, Tracker};
use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};

use crate::engine::Sink;
use crate::{Analysis, PeerComparison};

/// The detector of one shard.
pub(crate) struct Detector {
    tracker: Tracker,
    streams: Streams,
    recorder: Option<Recorder>,
}

impl Detector {
    /// `record`: keep, too, what a comparison with the other end's capture needs.
    pub(crate) fn new(config: Config, record: bool) -> Self {
        Detector {
            recorder: record.then(Recorder::default),
            tracker: Tracker::new(config),
            streams: Streams::new(),
        }
    }

    /// Adds what was found to `analysis`; returns what was recorded, and the flows that were only counted.
    fn finish(self, analysis: &mut Analysis) -> (Recorder, SinglePackets) {
        let (flows, counted) = self.tracker.finish_counting();
        if analysis.flows.is_empty() {
            analysis.flows = flows;
        } else {
            analysis.flows.extend(flows);
        }
        let left_out = self.streams.left_out();
        // One packet has no order.
        let streams = self.streams.finish().into_iter();
        let ordered = streams.filter(|s| s.order.received + s.duplicates > 1);
        analysis.streams.extend(ordered);
        if left_out > 0 {
            analysis.warnings.push(format!(
                "too many numbered streams: {left_out} packets belong to streams not followed"
            ));
        }
        (self.recorder.unwrap_or_default(), counted)
    }
}

impl Sink for Detector {
    // Called from one loop at a time: a call of its own would cost as much as to find the connection.
    #[inline(always)]
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.tracker.push(key, dir, segment);
        if let Some(recorder) = &mut self.recorder {
            recorder.tcp(key, dir, segment);
        }
    }

    fn numbered(&mut self, key: StreamKey, packet: &Numbered) {
        self.streams.push(&key, packet);
    }

    fn tidy_up(&mut self, now_ns: i64) {
        self.tracker.close_idle(now_ns);
    }
}

/// Adds what the shards found to `analysis`, in the order of the capture; returns what they
/// recorded.
pub(crate) fn finish(shards: Vec<Detector>, analysis: &mut Analysis) -> Recorder {
    let (mut flows, mut bytes) = (0, 0);
    let mut recorded = Vec::with_capacity(shards.len());
    for shard in shards {
        let (recorder, counted) = shard.finish(analysis);
        recorded.push(recorder);
        flows += counted.flows;
        bytes += counted.bytes;
    }
    if flows > 0 {
        analysis.warnings.push(format!(
            "{flows} more flows of a single packet, {bytes} bytes of data in all, are only counted"
        ));
    }
    analysis
        .flows
        .sort_unstable_by_key(|flow| (flow.first_ns, flow.flow));
    Recorder::join(recorded)
}

/// What is kept of a capture for the comparison with one from the other end.
#[derive(Default)]
pub(crate) struct Recorder(PeerRecorder);

impl Recorder {
    /// What several shards recorded.
    pub(crate) fn join(shards: Vec<Recorder>) -> Recorder {
        let mut all = Recorder::default();
        for shard in shards {
            all.0.absorb(shard.0);
        }
        all
    }

    /// Adds to `analysis` how it agrees with the capture `file` from the other end.
    pub(crate) fn compare(&self, there: &Recorder, file: String, analysis: &mut Analysis) {
        let mut peer = PeerComparison {
            file,
            ..PeerComparison::default()
        };
        peer.extend(&inorder_detect::compare(&self.0, &there.0, &analysis.flows));
        analysis.peer = Some(peer);
    }
}

impl Sink for Recorder {
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.0.push(key, dir, segment);
    }

    fn numbered(&mut self, _: StreamKey, _: &Numbered) {}
}
