//! One analysis: packets through the detector, results in a fixed order.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_capture::CaptureError;
use inorder_detect::{Config, PeerRecorder, Streams, Tracker};
use inorder_report::{Analysis, PeerComparison};
use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};

use crate::engine::{self, Progress, Sink};

/// How to read and what to look for.
pub struct Job<'a> {
    /// Threads to use.
    pub threads: usize,
    /// What the detector looks for and keeps.
    pub config: Config,
    /// Set when the user wants to stop.
    pub stop: &'static AtomicBool,
    /// Told how far reading is.
    pub progress: &'a dyn Progress,
    /// The same traffic captured at the other end.
    pub peer: Option<&'a Path>,
}

/// Analyses `files` as one capture. An error that ended the reading early comes beside the
/// analysis of what was read before.
pub fn analyze(
    files: &[PathBuf],
    job: &Job<'_>,
) -> Result<(Analysis, Option<CaptureError>), CaptureError> {
    let sink = || Detector::new(job.config.clone(), job.peer.is_some());
    let done = engine::run(files, job.threads, job.stop, job.progress, sink)?;
    let (first_ns, last_ns) = done.tally.all.span_ns();
    let mut analysis = Analysis {
        file: name(files),
        format: done.format,
        frames: done.tally.all.count,
        bytes: done.tally.all.bytes,
        first_ns,
        last_ns,
        skipped: done.tally.skipped(),
        ..Analysis::default()
    };
    let there = match job.peer {
        Some(peer) => {
            analysis.peer = Some(PeerComparison {
                file: name(&[peer.to_owned()]),
                ..PeerComparison::default()
            });
            record(peer, job)?
        }
        None => Recorder::default(),
    };
    let mut here = Recorder::default();
    for sink in done.sinks {
        here.0.absorb(sink.finish(&mut analysis).0);
    }
    analysis
        .flows
        .sort_by_key(|flow| (flow.first_ns, flow.flow));
    if let Some(peer) = &mut analysis.peer {
        peer.extend(&inorder_detect::compare(&here.0, &there.0, &analysis.flows));
    }
    warn(&mut analysis, done.error.as_ref(), job.stop);
    Ok((analysis, done.error))
}

/// The other end's capture.
fn record(peer: &Path, job: &Job<'_>) -> Result<Recorder, CaptureError> {
    let files = [peer.to_owned()];
    let done = engine::run(
        &files,
        job.threads,
        job.stop,
        job.progress,
        Recorder::default,
    )?;
    match done.error {
        Some(error) => Err(error),
        // Translated connections are in another shard than their other end.
        None => Ok(done
            .sinks
            .into_iter()
            .fold(Recorder::default(), |mut all, shard| {
                all.0.absorb(shard.0);
                all
            })),
    }
}

fn warn(analysis: &mut Analysis, error: Option<&CaptureError>, stop: &AtomicBool) {
    let read = analysis.frames;
    if let Some(error) = error {
        analysis.warnings.push(format!(
            "{error}; only the {read} frames before were analysed"
        ));
    }
    if stop.load(Ordering::Relaxed) {
        analysis.warnings.push(format!(
            "interrupted: only the first {read} frames were analysed"
        ));
    }
}

/// The files as one name.
fn name(files: &[PathBuf]) -> String {
    let show = |path: &Path| match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => path.display().to_string(),
    };
    match files {
        [] => String::new(),
        [one] => show(one),
        [first, rest @ ..] => format!("{} and {} more", show(first), rest.len()),
    }
}

/// The detector of one shard.
struct Detector {
    tracker: Tracker,
    streams: Streams,
    recorder: Option<Recorder>,
}

/// What is kept of a capture for the comparison with one from the other end.
#[derive(Default)]
struct Recorder(PeerRecorder);

impl Sink for Recorder {
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.0.push(key, dir, segment);
    }

    fn numbered(&mut self, _: StreamKey, _: &Numbered) {}
}

impl Detector {
    fn new(config: Config, record: bool) -> Self {
        Detector {
            recorder: record.then(Recorder::default),
            tracker: Tracker::new(config),
            streams: Streams::new(),
        }
    }

    /// Adds what was found to `analysis`; returns what was recorded.
    fn finish(self, analysis: &mut Analysis) -> Recorder {
        analysis.flows.extend(self.tracker.finish());
        let left_out = self.streams.left_out();
        // One packet has no order.
        let streams = self.streams.finish().into_iter();
        let ordered = streams.filter(|s| s.received + s.duplicates > 1);
        analysis.streams.extend(ordered);
        if left_out > 0 {
            analysis.warnings.push(format!(
                "too many numbered streams: {left_out} packets belong to streams not followed"
            ));
        }
        self.recorder.unwrap_or_default()
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
