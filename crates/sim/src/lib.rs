//! TCP over paths that reorder.

mod application;
mod build;
mod error;
mod event;
mod flow;
mod line;
mod observer;
mod order;
mod packet;
mod probes;
mod queue;
mod ranges;
mod result;
mod run;
mod spurious;
mod tap;
mod world;

pub use build::registries;
pub use error::Error;
pub use observer::{EventKind, SenderEvent};
pub use packet::{Body, Channel, End, Packet};
pub use result::{Counts, FlowResult, LineResult, ProbeResult, RunResult, Sample};
pub use run::{repetition_seed, run, run_tapped};
pub use tap::{NoTap, Tap};
