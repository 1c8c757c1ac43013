//! The sinks of an analysis: they track the connections and streams of one shard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inorder_detect::{Config, EndedEarly, FlowChoice, FlowId, FlowTable, Tracker};
use inorder_pairing::{FlowTruth, PeerRecorder};
use inorder_report::number::plural;
use inorder_streams::{QuicFlows, Streams};
use inorder_whatif::Settings;
use inorder_wire::{Aside, Dir, FlowKey, Gate, Numbered, Segment, StreamKey};

use crate::engine::Sink;
use crate::tunnels;
use crate::{Analysis, PeerComparison, Selection};

/// Makes the detectors of an analysis, one a shard, which share one table of finished flows.
pub(crate) struct Detectors {
    config: Config,
    selection: Selection,
    record: bool,
    table: Arc<Mutex<FlowTable>>,
}

impl Detectors {
    /// Flows that `selection` leaves out are dropped before others are summed. With `record`, the detectors also keep
    /// what a comparison with the other end's capture needs, and report all flows.
    pub(crate) fn new(config: &Config, selection: &Selection, record: bool) -> Self {
        let config = match record {
            true => config.clone().max_flows(usize::MAX).memory(None).only(None),
            false => config.clone(),
        };
        let config = match selection.filter.clone() {
            None => config,
            Some(filter) => {
                let named = config.only.clone();
                let is_selected = move |flow: &FlowId| {
                    filter.flow(flow.src, flow.dst, flow.overlay)
                        && named.as_ref().is_none_or(|only| only.takes(flow))
                };
                config.only(Some(FlowChoice::new(is_selected)))
            }
        };
        Detectors {
            table: Arc::new(Mutex::new(FlowTable::new(&config))),
            config,
            selection: selection.clone(),
            record,
        }
    }

    /// Makes the detector of one more thread.
    pub(crate) fn make(&self) -> Detector {
        let sorters = self.config.what_if.then(|| Settings {
            block_sizes: self.config.block_sizes.clone(),
            coalesce_ns: self.config.coalesce_ns.clone(),
        });
        Detector {
            recorder: self.record.then(Recorder::default),
            tracker: Tracker::new(self.config.clone()),
            streams: Streams::with_sorters(sorters).within(self.config.memory),
            quic: QuicFlows::default(),
            table: Arc::clone(&self.table),
        }
    }

    /// Adds the results of all shards to `analysis`, in the order of the capture. Returns their recordings for the
    /// comparison.
    pub(crate) fn finish(self, shards: Vec<Detector>, analysis: &mut Analysis) -> Recorder {
        let recorded = shards.into_iter().map(|shard| shard.finish(analysis));
        let recorded = Recorder::join(recorded.collect());
        let mut table = lock(&self.table).take();
        analysis.attempts = table.take_attempts();
        analysis.ended_early = table.take_ended_early();
        (analysis.flows, analysis.summed) = table.finish();
        analysis
            .streams
            .retain(|stream| self.selection.stream(&stream.key));
        tunnels::doubt(&mut analysis.streams, &analysis.flows);
        if analysis.summed.flows > 0 {
            analysis.warnings.push(format!(
                "{} reported one by one, those that matter most; {} only summed",
                plural(analysis.flows.len() as u64, "flow"),
                plural(analysis.summed.flows, "other")
            ));
        }
        if let Some(memory) = self.config.memory {
            analysis
                .warnings
                .extend(ended_early(&analysis.ended_early, memory));
        }
        recorded
    }
}

/// What to say of connections that were ended early.
fn ended_early(early: &EndedEarly, memory: usize) -> Option<String> {
    (early.connections > 0).then(|| {
        format!(
            "the memory ({} MiB) was used up; ended early: {}, those in order first; only summed: {} of theirs with {}; only \
             counted: {} that came later",
            memory >> 20,
            plural(early.connections, "connection"),
            plural(early.flows, "flow"),
            plural(early.packets, "data packet"),
            plural(early.later_packets, "packet")
        )
    })
}

/// The detector of one shard.
pub(crate) struct Detector {
    tracker: Tracker,
    streams: Streams,
    quic: QuicFlows,
    recorder: Option<Recorder>,
    /// The flows that have ended, of all shards. Which of them are kept does not depend on their order.
    table: Arc<Mutex<FlowTable>>,
}

impl Detector {
    /// Numbered packets that still wait for proof of their service.
    pub(crate) fn gate(&self) -> &Gate {
        self.streams.gate()
    }

    /// Adds the results to the table and to `analysis`. Returns the recording for the comparison.
    fn finish(self, analysis: &mut Analysis) -> Recorder {
        lock(&self.table).merge(self.tracker.finish_table());
        let left_out = self.streams.left_out();
        analysis.skip(
            "ICMP echo of streams of one packet",
            self.streams.lone_echoes(),
        );
        // A stream of a single packet has no order to report.
        let streams = self.streams.finish().into_iter();
        let ordered = streams.filter(|s| s.order.received + s.twice.duplicates > 1);
        analysis.streams.extend(ordered);
        analysis.add_quic(&self.quic.finish());
        if left_out > 0 {
            analysis.warnings.push(format!(
                "too many numbered streams: {} of streams not followed",
                plural(left_out, "packet")
            ));
        }
        self.recorder.unwrap_or_default()
    }
}

/// A thread that panicked aborts the program (release) or fails the test: the poisoned lock can be used.
fn lock(table: &Mutex<FlowTable>) -> MutexGuard<'_, FlowTable> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn aside(&mut self, aside: &Aside) {
        match aside {
            Aside::Complaint(key, dir, complaint) => self.tracker.complain(key, *dir, complaint),
            Aside::Quic(key, dir, packet) => self.quic.push(key, *dir, packet),
            _ => self.streams.aside(aside),
        }
    }

    fn tidy_up(&mut self, now_ns: i64) {
        self.tracker.close_idle(now_ns);
        self.tracker.move_done(&mut lock(&self.table));
    }
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
        let compared = inorder_pairing::compare(&self.0, &there.0, &analysis.flows);
        peer.extend(&compared);
        // What both captures show takes the place of what one of them suggested, in every output.
        let truth: HashMap<FlowId, &FlowTruth> =
            compared.flows.iter().map(|f| (f.flow, &f.truth)).collect();
        for flow in &mut analysis.flows {
            if let Some(truth) = truth.get(&flow.flow) {
                truth.replace_in(flow);
            }
        }
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
