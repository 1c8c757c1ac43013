//! The connections of a population, captured at their sender, with the truth about every packet beside them.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_report::Sheet;
use inorder_report::parquet;
use inorder_scenario::population::{Drawable, Drawn, Population};
use inorder_sim::{
    Captures, FlowResult, Own, TruthFlow, registries_with, repetition_seed, run_watched,
};

use crate::error::Error;
use crate::folder::Folder;
use crate::tables::TaskRow;
use crate::work::Work;

mod rows;

use rows::{Connection, TRUTH, TruthRow};

/// The folder of the captures.
const CAPTURES: &str = "captures";
/// The table of connections: labels, settings, sums of the truth.
const CONNECTIONS: &str = "connections";
/// The table of everything that happened to an original.
const EVENTS: &str = "truth";
/// Connections of a task, unless told otherwise.
const PER_TASK: u64 = 64;
/// Compression of the captures: the fastest, which makes headers about eight times shorter.
const ZSTD_LEVEL: i32 = 1;

/// A population that was understood, with the names of its columns.
#[derive(Debug)]
pub(crate) struct Ready {
    drawable: Drawable,
    labels: Vec<String>,
    keys: Vec<String>,
}

impl Ready {
    pub(crate) fn new(population: &Population) -> Result<Self, Error> {
        let names = registries_with(&Own::default());
        let drawable = population.drawable(names).map_err(Error::usage)?;
        Ok(Ready {
            labels: drawable.labels().map(str::to_owned).collect(),
            keys: drawable.keys().map(str::to_owned).collect(),
            drawable,
        })
    }

    pub(crate) fn tasks(&self, per_task: u64) -> Vec<Work> {
        let each = match per_task {
            0 => PER_TASK,
            given => given,
        };
        Work::items(self.drawable.population().connections, each)
    }

    pub(crate) fn write_schemas(&self, folder: &Folder) -> Result<(), Error> {
        folder.write_schema(CONNECTIONS, |out| {
            parquet::write(out, &self.sheet(), [] as [Connection; 0])
        })?;
        folder.write_schema(EVENTS, |out| {
            parquet::write(out, TRUTH, [] as [TruthRow; 0])
        })
    }

    fn sheet(&self) -> Sheet<'_, Connection> {
        rows::sheet(&self.labels, &self.keys)
    }

    /// Simulates the connections of a task and writes captures and truth.
    pub(crate) fn run(
        &self,
        folder: &Folder,
        task: &str,
        numbers: Range<u64>,
        stop: &Arc<AtomicBool>,
    ) -> Result<TaskRow, Error> {
        let items = numbers.end - numbers.start;
        let (mut connections, mut events) = (Vec::new(), Vec::new());
        for number in numbers {
            let seed = repetition_seed(self.drawable.population().seed, number);
            let drawn = self.drawable.connection(number, seed);
            let mut drawn = drawn.map_err(Error::usage)?;
            // For the truth about recoveries.
            drawn.config.output.events = true;
            let file = format!("{number:06}.pcapng.zst");
            let (flow, truth) = simulate(folder, &file, &drawn, seed, stop)?;
            events.extend(rows::events(&file, &truth));
            let labels = self.labels.iter();
            connections.push(Connection {
                labels: labels
                    .map(|name| drawn.network.labels.get(name).cloned().unwrap_or_default())
                    .collect(),
                settings: drawn.settings,
                entered: flow.counts.recoveries + flow.counts.timeouts,
                entered_spurious: rows::spurious_entries(&flow, &truth),
                delivered_bytes: flow.counts.delivered_bytes,
                truth: TruthFlow {
                    events: Vec::new(),
                    ..truth
                },
                file,
            });
        }
        if !events.is_empty() {
            folder.write_part(EVENTS, task, |out| parquet::write(out, TRUTH, &events))?;
        }
        folder.write_part(CONNECTIONS, task, |out| {
            parquet::write(out, &self.sheet(), &connections)
        })?;
        Ok(TaskRow {
            items,
            ..TaskRow::default()
        })
    }
}

/// Where packets at an end are written: into the capture at the sender, nowhere at the receiver.
enum End<'a> {
    Sender(zstd::Encoder<'static, &'a mut (dyn Write + Send)>),
    Receiver,
}

impl Write for End<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            End::Sender(file) => file.write(bytes),
            End::Receiver => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            End::Sender(file) => file.flush(),
            End::Receiver => Ok(()),
        }
    }
}

/// Runs a connection and writes its capture; returns what its sender counted, and the truth.
fn simulate(
    folder: &Folder,
    file: &str,
    drawn: &Drawn<'_>,
    seed: u64,
    stop: &AtomicBool,
) -> Result<(FlowResult, TruthFlow), Error> {
    let mut result = None;
    let path = folder.root().join(CAPTURES).join(file);
    let written = folder.write(&path, |out| {
        let at_sender = End::Sender(zstd::Encoder::new(out, ZSTD_LEVEL)?);
        let snap_bytes = drawn.config.output.snap_bytes;
        let mut tap = Captures::new(at_sender, End::Receiver, 1, snap_bytes)?;
        let mut go_on = |_| !stop.load(Ordering::Relaxed);
        let run = run_watched(&drawn.config, seed, &mut tap, &mut go_on);
        let run = run.map_err(io::Error::other)?;
        let ([at_sender, _], truth) = tap.finish()?;
        if let End::Sender(file) = at_sender {
            file.finish()?;
        }
        let flow = run.flows.into_iter().next();
        let truth = truth.flows().into_iter().next();
        result = flow.zip(truth);
        Ok(())
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Stopped);
    }
    written?;
    result.ok_or_else(|| {
        Error::usage(format!(
            "{file}: this connection sent no data; expected a scenario whose flow does"
        ))
    })
}
