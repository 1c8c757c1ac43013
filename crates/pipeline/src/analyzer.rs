//! The options of an analysis, and the three ways to start one.

use std::sync::Arc;

use inorder_capture::CaptureError;
use inorder_detect::Config;

use crate::detector::{Detectors, Recorder};
use crate::engine::{Consumed, consume};
use crate::{Analysis, Error, Input, Selection, Unwatched, Watch};

/// Analyses captures. Create one, set the options that differ from the default, and use it for any number of
/// captures.
///
/// ```
/// use inorder_pipeline::{Analyzer, Config};
///
/// let analyzer = Analyzer::new().config(Config::default().keep_events(true));
/// let analysis = analyzer.run("../../testdata/captures/gro-jitter-a.rcv.pcap.gz")?;
/// let events: usize = analysis.flows.iter().map(|flow| flow.records.events.len()).sum();
/// # assert_eq!(analysis.format, "pcap (nanoseconds) in gzip");
/// # let _ = events;
/// # Ok::<(), inorder_pipeline::Error>(())
/// ```
#[derive(Clone)]
pub struct Analyzer {
    config: Config,
    threads: usize,
    selection: Selection,
    watch: Arc<dyn Watch>,
}

impl Default for Analyzer {
    fn default() -> Self {
        Analyzer::new()
    }
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyzer")
            .field("config", &self.config)
            .field("threads", &self.threads)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

impl Analyzer {
    /// The default configuration, on one thread, without a [`Watch`].
    pub fn new() -> Self {
        Analyzer {
            config: Config::default(),
            threads: 1,
            selection: Selection::default(),
            watch: Arc::new(Unwatched),
        }
    }

    /// Sets what to look for and what to keep.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets how many threads share one capture, at least 1. The result is the same for any number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets which packets are analysed, by default all. With [`compare`](Self::compare) this applies to the first
    /// capture; the other one is read whole, because its addresses and its clock may differ.
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Sets who is informed of the progress and may stop the reading.
    #[must_use]
    pub fn watch(mut self, watch: Arc<dyn Watch>) -> Self {
        self.watch = watch;
        self
    }

    /// Analyses a capture: a path, `-` for the standard input, or any [`Input`].
    ///
    /// Files are read a second time where one connection shows how its host numbers what it sends again, and another one of the same host
    /// leaves that open ([`Config::taught_by`]).
    pub fn run(&self, capture: impl Into<Input>) -> Result<Analysis, Error> {
        self.run_with(capture.into(), None)
    }

    /// Analyses a capture and compares the result with `peer`, the same traffic captured at the other end. The
    /// comparison shows what really happened, and how many conclusions from the first capture were right.
    ///
    /// The comparison packet by packet needs single events: set `keep_events` in the configuration. All flows are
    /// compared and reported, for any [`Config::max_flows`].
    pub fn compare(
        &self,
        capture: impl Into<Input>,
        peer: impl Into<Input>,
    ) -> Result<Analysis, Error> {
        self.run_with(capture.into(), Some(peer.into()))
    }

    fn run_with(&self, capture: Input, peer: Option<Input>) -> Result<Analysis, Error> {
        let again = capture.again();
        let mut here = self.read(capture, &self.config, peer.is_some())?;
        if let Some(again) = again.filter(|_| !here.stopped) {
            self.read_again(again, &mut here, peer.is_some());
        }
        let name_there = peer.as_ref().map(|peer| peer.name().to_owned());
        let compares = peer.is_some();
        let there = match peer {
            Some(peer) if !self.watch.stop() => Some(self.record(peer)),
            _ => None,
        };
        let (there, damage) = match there {
            // What was not read of either capture would count as lost in a comparison.
            _ if self.watch.stop() => (None, None),
            Some(there) => match there? {
                Err(damage) => (None, Some(damage)),
                Ok(recorder) => (name_there.map(|name| (name, recorder)), None),
            },
            None => (None, None),
        };
        let mut analysis = here.analysis;
        if let Some((name, there)) = there {
            let recorded = here.recorded;
            recorded.compare(&there, name, &self.selection, &mut analysis);
        }
        let stopped = here.stopped || compares && self.watch.stop();
        let done = Error::unless_whole(analysis, here.error, stopped);
        match damage {
            Some(damage) => Error::not_compared(done, damage),
            None => done,
        }
    }

    /// Reads a capture. With `record`, what a comparison needs is kept, too.
    fn read(&self, capture: Input, config: &Config, record: bool) -> Result<Done, Error> {
        let name = capture.name().to_owned();
        let detectors = Detectors::new(config, &self.selection, record);
        let sink = || detectors.make();
        let watch = Arc::clone(&self.watch);
        let Consumed {
            sinks,
            mut tally,
            error,
            format,
        } = consume(capture, &self.selection, self.threads, watch, sink).map_err(Error::Open)?;
        sinks.iter().for_each(|sink| tally.unproved(sink.gate()));
        let mut analysis = Analysis::of(name, format, &tally);
        let recorded = detectors.finish(sinks, &mut analysis);
        Ok(Done {
            analysis,
            recorded,
            error,
            stopped: self.watch.stop(),
        })
    }

    /// Reads the capture once more where one connection shows what another one leaves open about their host. What was said before holds
    /// if that ends early.
    fn read_again(&self, capture: Input, first: &mut Done, record: bool) {
        let Some(config) = self.config.taught_by(&first.analysis.flows) else {
            return;
        };
        match self.read(capture, &config, record) {
            Ok(second) if !second.stopped => *first = second,
            _ => {}
        }
    }

    /// Records the packets of the capture from the other end, to be compared; the damage if it cannot be read to its end.
    fn record(&self, peer: Input) -> Result<Result<Recorder, CaptureError>, Error> {
        let watch = Arc::clone(&self.watch);
        let everything = Selection::default();
        let done = consume(peer, &everything, self.threads, watch, Recorder::default);
        let done = done.map_err(Error::Peer)?;
        Ok(match done.error {
            Some(damage) => Err(damage),
            // A translated connection may hash to another shard than its counterpart, so the lookup searches all
            // shards.
            None => Ok(Recorder::join(done.sinks)),
        })
    }
}

/// What one reading of a capture gave.
struct Done {
    analysis: Analysis,
    recorded: Recorder,
    /// What ended it before the end of the capture.
    error: Option<CaptureError>,
    /// The user ended it.
    stopped: bool,
}
