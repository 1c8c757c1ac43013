//! `inorder.netproc`.

use std::io;

use arrow_schema::SchemaRef;
use inorder_netproc::calibration::Calibration;
use inorder_netproc::{
    Arbitration, Config, Dequeue, Length, Outcome as Ran, Repetitions, Report, Traffic, check,
    repeat, run_while,
};
use inorder_report::arrow::TakeBatch;
use pyo3::prelude::*;

use crate::errors::{malformed, one_of, usage};
use crate::result::{Findings, Outcome};
use crate::work;

/// The options of the model.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    scheme: String,
    engines: u32,
    threads_per_engine: u32,
    packet_bytes: Vec<(u16, f64)>,
    hops: u32,
    flows: u32,
    flow_packets: Option<u32>,
    train: f64,
    packets: u64,
    seed: u64,
    repetitions: u32,
    calibration: Option<String>,
    arbitration: String,
    dequeue: Option<String>,
    threads: Option<usize>,
}

impl Options {
    fn config(&self) -> PyResult<Config> {
        let by = one_of(
            "arbitration",
            &self.arbitration,
            &[
                ("fifo", Arbitration::Fifo),
                ("random-engine", Arbitration::RandomEngine),
                ("random", Arbitration::Random),
            ],
        )?;
        let emptied = [
            ("strict", Dequeue::Strict),
            ("completion", Dequeue::Completion),
        ];
        let dequeue = self.dequeue.as_deref();
        let dequeue = dequeue.map(|name| one_of("dequeue", name, &emptied));
        let calibration = self.calibration.as_deref().map(Calibration::parse);
        let lengths = self.packet_bytes.iter();
        Ok(Config {
            scheme: self.scheme.clone(),
            engines: self.engines,
            threads: self.threads_per_engine,
            hops: self.hops,
            packets: self.packets,
            seed: self.seed,
            traffic: Traffic {
                lengths: lengths
                    .map(|&(bytes, share)| Length { bytes, share })
                    .collect(),
                flows: self.flows,
                flow_packets: self.flow_packets,
                train: self.train,
            },
            arbitration: by,
            dequeue: dequeue.transpose()?,
            calibration: calibration
                .transpose()
                .map_err(malformed)?
                .unwrap_or_default(),
        })
    }
}

/// Simulates a chain of network processors.
#[pyfunction]
pub(crate) fn netproc(py: Python<'_>, options: Options) -> PyResult<Findings> {
    if options.repetitions == 0 {
        return Err(usage("repetitions: expected at least 1, found 0"));
    }
    let config = options.config()?;
    let title = config.title(options.repetitions as usize);
    let rows = work::run(py, |stop| {
        // All configurations are checked before the first run starts.
        check(&config).map_err(usage)?;
        let how = Repetitions {
            times: options.repetitions,
            threads: options.threads.unwrap_or(0),
            progress: &|_| {},
            stop: stop.flag(),
        };
        let ran = repeat(&how, |number, go_on| {
            let seed = inorder_petri::statistics::run_seed(config.seed, number);
            let config = Config {
                seed,
                ..config.clone()
            };
            run_while(&config, go_on)
        });
        Ok(ran
            .map_err(usage)?
            .iter()
            .map(Ran::rows)
            .collect::<Vec<_>>())
    })?;
    Ok(Findings::new(Simulated(Report::of(title, &rows))))
}

struct Simulated(Report);

impl Outcome for Simulated {
    fn tables(&self) -> Vec<&'static str> {
        vec!["results"]
    }

    fn batches(&self, _name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        self.0.batches(size, take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_json(out)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_text(out)
    }
}
