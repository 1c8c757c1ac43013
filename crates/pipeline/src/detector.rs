//! The sinks of an analysis: they track the connections and streams of one shard.

use inorder_detect::{Config, FlowId, PeerRecorder, SinglePackets, Streams, Tracker};
use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};

use crate::engine::Sink;
use crate::{Analysis, PeerComparison, Selection};

/// The detector of one shard.
pub(crate) struct Detector {
    tracker: Tracker,
    streams: Streams,
    recorder: Option<Recorder>,
}

impl Detector {
    /// With `record`, also keeps what a comparison with the other end's capture needs.
    pub(crate) fn new(config: Config, record: bool) -> Self {
        Detector {
            recorder: record.then(Recorder::default),
            tracker: Tracker::new(config),
            streams: Streams::new(),
        }
    }

    /// Adds the results to `analysis`. Returns the recording for the comparison, and the flows that were counted but
    /// not reported.
    fn finish(self, analysis: &mut Analysis) -> (Recorder, SinglePackets) {
        let (flows, counted) = self.tracker.finish_counting();
        if analysis.flows.is_empty() {
            analysis.flows = flows;
        } else {
            analysis.flows.extend(flows);
        }
        let left_out = self.streams.left_out();
        // A stream of a single packet has no order to report.
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
    // Inlined because it is called from one loop only: a function call would cost as much as finding the connection.
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

/// Adds the results of all shards to `analysis`, in the order of the capture: those of the directions that are
/// selected. Returns their recordings for the comparison.
pub(crate) fn finish(
    shards: Vec<Detector>,
    selection: &Selection,
    analysis: &mut Analysis,
) -> Recorder {
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
    if let Some(filter) = &selection.filter {
        let is_selected = |flow: &FlowId| filter.flow(flow.src, flow.dst, flow.overlay);
        analysis.flows.retain(|flow| is_selected(&flow.flow));
    }
    analysis
        .flows
        .sort_unstable_by_key(|flow| (flow.first_ns, flow.flow));
    Recorder::join(recorded)
}

/// The recording of a capture, kept for the comparison with the capture from the other end.
#[derive(Default)]
pub(crate) struct Recorder(PeerRecorder);

impl Recorder {
    /// Joins the recordings of several shards.
    pub(crate) fn join(shards: Vec<Recorder>) -> Recorder {
        let mut all = Recorder::default();
        for shard in shards {
            all.0.absorb(shard.0);
        }
        all
    }

    /// Compares with the recording of `file`, the capture from the other end, and adds the result to `analysis`.
    ///
    /// The other capture is read whole, because a device on the path may have translated addresses: flows that only it
    /// has are listed if they are selected by the names they have there.
    pub(crate) fn compare(
        &self,
        there: &Recorder,
        file: String,
        selection: &Selection,
        analysis: &mut Analysis,
    ) {
        let mut peer = PeerComparison {
            file,
            ..PeerComparison::default()
        };
        peer.extend(&inorder_detect::compare(&self.0, &there.0, &analysis.flows));
        if let Some(filter) = &selection.filter {
            let is_selected = |flow: &FlowId| filter.flow(flow.src, flow.dst, flow.overlay);
            peer.flows.retain(|flow| is_selected(&flow.flow));
            peer.only_here.retain(is_selected);
            peer.only_there.retain(is_selected);
            peer.ambiguous.retain(is_selected);
        }
        analysis.peer = Some(peer);
    }
}

impl Sink for Recorder {
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.0.push(key, dir, segment);
    }

    fn numbered(&mut self, _: StreamKey, _: &Numbered) {}
}
