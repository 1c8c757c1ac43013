//! The configuration of a simulation.

use inorder_report::number::plural;
use thiserror::Error;

use crate::calibration::Calibration;

/// Ticks of the nets per cycle of the engines.
pub(crate) const TICKS_PER_CYCLE: f64 = 1000.0;

/// Which of several waiting requests is served next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arbitration {
    /// The earliest request.
    #[default]
    Fifo,
    /// The earliest request of a random engine.
    RandomEngine,
    /// A random request.
    Random,
}

/// How the transmit buffer is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dequeue {
    /// Slot by slot; an unfilled slot blocks all later ones (as in the hardware).
    Strict,
    /// In the order in which the slots were filled.
    Completion,
}

/// A packet length and its frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    /// Bytes.
    pub bytes: u16,
    /// Relative frequency.
    pub share: f64,
}

/// The arriving packets.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Lengths, drawn independently for each packet.
    pub lengths: Vec<Length>,
    /// Number of concurrent flows.
    pub flows: u32,
    /// Packets per flow; `None` if flows never end.
    pub flow_packets: Option<u32>,
    /// Mean number of consecutive packets of one flow (geometric distribution).
    pub train: f64,
}

impl Default for Traffic {
    /// 64-byte packets, 32 flows of 100 packets, 1.5 consecutive packets on average.
    fn default() -> Self {
        Self {
            lengths: vec![Length {
                bytes: 64,
                share: 1.0,
            }],
            flows: 32,
            flow_packets: Some(100),
            train: 1.5,
        }
    }
}

/// A network processor, or a chain of equal ones, and its load.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Name of the ordering scheme in [`SCHEMES`](crate::scheme::SCHEMES).
    pub scheme: String,
    /// Micro-engines, 1 to 8.
    pub engines: u32,
    /// Threads of each engine, 1 to 8.
    pub threads: u32,
    /// Number of processors in the chain.
    pub hops: u32,
    /// Number of packets that leave the last processor before the run ends.
    pub packets: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The load.
    pub traffic: Traffic,
    /// Arbiter of the DRAM and of locks.
    pub arbitration: Arbitration,
    /// How the transmit buffer is emptied; `None` for the scheme's default.
    pub dequeue: Option<Dequeue>,
    /// The constants of the model.
    pub calibration: Calibration,
}

impl Default for Config {
    /// The base model: 8 engines of 8 threads, one hop, contiguous transmit buffers.
    fn default() -> Self {
        Self {
            scheme: "contiguous".to_owned(),
            engines: 8,
            threads: 8,
            hops: 1,
            packets: 100_000,
            seed: 1,
            traffic: Traffic::default(),
            // Section 3.4.1: equal probabilities for access to shared resources; the net's colour is the engine.
            arbitration: Arbitration::RandomEngine,
            dequeue: None,
            calibration: Calibration::default(),
        }
    }
}

/// An invalid configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}: expected {expected}, found {found}")]
pub struct ConfigError {
    /// The setting.
    pub what: &'static str,
    /// The valid range.
    pub expected: String,
    /// The value found.
    pub found: String,
}

impl Config {
    /// What was run, for people.
    pub fn title(&self, runs: usize) -> String {
        format!(
            "{}, {} of {}, {}, {}",
            self.scheme,
            plural(self.engines.into(), "engine"),
            plural(self.threads.into(), "thread"),
            plural(self.hops.into(), "hop"),
            plural(runs as u64, "run")
        )
    }

    /// Checks ranges.
    pub fn validate(&self) -> Result<(), ConfigError> {
        range("engines", self.engines, 1, 8)?;
        range("threads", self.threads, 1, 8)?;
        range("hops", self.hops, 1, 64)?;
        range("flows", self.traffic.flows, 1, 4096)?;
        if let Some(packets) = self.traffic.flow_packets {
            range("packets of a flow", packets, 1, u32::MAX)?;
        }
        let fault = |what, expected: &str, found: String| {
            Err(ConfigError {
                what,
                expected: expected.to_owned(),
                found,
            })
        };
        if self.packets == 0 {
            return fault("packets", "at least 1", "0".to_owned());
        }
        if !(self.traffic.train >= 1.0 && self.traffic.train.is_finite()) {
            return fault(
                "train",
                "a mean of at least 1",
                self.traffic.train.to_string(),
            );
        }
        let most = (self.calibration.buffer_bytes as u64).min(9_000);
        for length in &self.traffic.lengths {
            if length.bytes == 0 || u64::from(length.bytes) > most {
                return fault(
                    "packet length",
                    &format!("1 to {most} bytes"),
                    length.bytes.to_string(),
                );
            }
            if !(length.share.is_finite() && length.share >= 0.0) {
                return fault(
                    "share of a packet length",
                    "a number from 0",
                    length.share.to_string(),
                );
            }
        }
        if self.traffic.lengths.iter().map(|l| l.share).sum::<f64>() <= 0.0 {
            return fault(
                "packet lengths",
                "at least one with a share above 0",
                "none".to_owned(),
            );
        }
        Ok(())
    }
}

fn range(what: &'static str, value: u32, low: u32, high: u32) -> Result<(), ConfigError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let expected = if high == u32::MAX {
        format!("at least {low}")
    } else {
        format!("{low} to {high}")
    };
    Err(ConfigError {
        what,
        expected,
        found: value.to_string(),
    })
}
