//! What a network does to packets, one impairment a file, in simulated and in real time.
//!
//! A [`Path`] is a list of stages. It owns neither a clock nor a queue of events: a [`Driver`]
//! does, the simulator or the loop of a live tool, and is told when to deliver each packet. What
//! can be told ahead exactly is told ahead, so that a link and netem's delay together cost one
//! event a packet. [`Timeline`] is a path with a queue, for tests and live tools.
//!
//! ```
//! use inorder_path::{Delay, DelayConfig, Link, LinkConfig, Path, Probe, Timeline};
//! use inorder_random::Random;
//!
//! let link = Link::new(&LinkConfig::new(1_000_000_000));
//! let jitter = DelayConfig::normal(2_500_000, 250_000);
//! let delay = Delay::new(&jitter, Random::new(1, "forward/delay"));
//! let mut line = Timeline::new(Path::new(vec![link.into(), delay.into()]));
//!
//! (0..1000).for_each(|number| line.push(0, Probe::new(number, 1500)));
//! let arrived: Vec<u64> = std::iter::from_fn(|| line.pop(i64::MAX))
//!     .map(|(_, packet)| packet.number)
//!     .collect();
//! assert_eq!(arrived.len(), 1000);
//! assert!(!arrived.is_sorted());
//! ```
//!
//! Times are nanoseconds, rates bits per second on the wire; draws come from streams handed in, so
//! that a path is a function of its settings, its packets and a seed.
//!
//! [`AnyStage`] lists the impairments and what each does. One's own goes in as [`AnyStage::Custom`]; [`REGISTRY`]
//! names them all with their sources.
//!
//! # Driving a path
//!
//! Where packets meet other things in time, as in a simulator, the path is driven by its owner:
//! [`Path::push`] and [`Path::resume`] say through [`Driver::transfer`] what is to happen when, and
//! [`Path::next_wake_ns`] says when [`Path::wake`] is due. At equal times transfers come first, in
//! the order they were asked for. A driver that sets [`Driver::WATCHES`] is told what happened to
//! which packet where.
//!
//! Put stages with draws (loss, duplication) before those that reorder: after jitter each needs an
//! event of its own, since which packet a draw is for depends on the order.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod any;
mod chance;
mod counters;
mod declared;
mod distribution;
pub mod nic;
mod packet;
mod path;
mod queue;
mod rate;
mod stage;
mod stages;
mod time;
mod timeline;

pub use any::Impairment;
pub use chance::{Correlated, Dice, Probability};
pub use counters::{Counters, Reason};
pub use distribution::{DISTRIBUTIONS, Distribution, SCALE, Table};
pub use nic::{Card, Coalesce, MergeConfig, Nic, NicConfig};
pub use packet::{Packet, Probe};
pub use path::{Driver, Mark, Path, Place};
pub use queue::Limit;
pub use rate::{Rate, Step, Steps};
pub use stage::{Fate, Outbox, Pass, Stage};
pub use stages::*;
pub use timeline::Timeline;
