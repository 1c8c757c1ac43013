//! Coloured timed nets with typed tokens, guards and delays in Rust, for fast simulation.
//!
//! # Semantics
//!
//! Places hold tokens of a type defined by the modeller ([`Queue`]) or plain tokens ([`Counter`]). An enabled
//! transition starts at once: it takes its input tokens, holds them for the firing time, and deposits its outputs at
//! the end (firing with reservation, as in W. M. Zuberek, "Timed Petri nets: definitions, properties and
//! applications", Microelectronics and Reliability 31(4), 1991). An immediate transition does all this without time.
//! Enabled transitions start by priority, and among equal priorities at random by weight.
//!
//! Time is counted in ticks, whose length the modeller chooses.
//!
//! ```
//! use inorder_petri::coloured::{CounterSpec, Delay, Engine, Model, QueueSpec, Stop};
//!
//! /// A job and the engine it belongs to.
//! #[derive(Clone, Copy, Default)]
//! struct Job { engine: u32, steps: u32 }
//!
//! let mut net = Model::new();
//! let jobs = (0..8).map(|n| Job { engine: n % 2, steps: 0 });
//! let ready = net.queue("ready", QueueSpec::fifo().keyed(2, |job: &Job| job.engine).tokens(jobs));
//! let engine = net.counter("engine", CounterSpec::keyed(2, 1));
//! let waiting = net.queue("waiting", QueueSpec::fifo());
//! // Each engine works on one job at a time: `ready` and `engine` have keys, and so `execute` has a colour.
//! net.transition("execute")
//!     .take(ready)
//!     .spend(engine, 1)
//!     .delay(Delay::exponential(20_000.0))
//!     .give(engine, 1)
//!     .put(waiting, |firing| Job { steps: firing[0].steps + 1, ..firing[0] });
//! // Memory answers any number of jobs at once.
//! let memory = net.transition("memory").take(waiting).delay(Delay::Deterministic(90_000)).pass(ready, 0).id();
//!
//! let mut run = Engine::new(net, 1)?;
//! assert_eq!(run.run_until(10_000_000, &mut ())?, Stop::TimeReached);
//! assert!(run.firings(memory) > 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod afresh;
mod bind;
mod bound;
mod check;
mod delay;
mod engine;
mod error;
mod flights;
mod handle;
mod model;
mod observer;
mod picture;
pub(crate) mod place;
mod repeats;
mod rule;
mod space;
mod spec;
mod state;
mod trace;
mod transition;
mod waiting;
mod wakes;

pub use bound::Bound;
pub use delay::{Delay, Empirical};
pub use engine::{Engine, Stop};
pub use error::{ModelError, RunError};
pub use handle::{Counter, PlaceId, Queue, Token, TransitionId};
pub use model::{CounterSpec, Model, QueueSpec};
pub use observer::{Change, Marking, Observer};
pub use space::{Outside, Space, Unit};
pub use spec::Which;
pub use trace::Tracer;
pub use transition::TransitionBuilder;
pub use waiting::Waiting;
