//! Models of what a network does to packets, one impairment per file, in simulated and in real time.
//!
//! A [`Path`] is a list of stages. It has neither a clock nor an event queue: these belong to a [`Driver`] (the
//! simulator, or the loop of a live tool), which is told when to deliver each packet. Delivery times are computed as
//! early as this is exactly possible, so that a link and netem's delay together cost one event per packet.
//! [`Timeline`] is a path with a queue, for tests and live tools.
//!
//! ```
//! use inorder_path::config::{self, Line};
//! use inorder_path::{Delay, Link, Path, Probe, Timeline};
//! use inorder_base::random::Random;
//!
//! let link = Link::new(&Line::new(1_000_000_000));
//! let jitter = config::Delay::normal(2_500_000, 250_000);
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
//! Times are nanoseconds, rates are bits per second on the wire. Random numbers come from streams that are passed in,
//! so a path is a function of its settings, its packets and a seed.
//!
//! [`AnyStage`] lists the impairments with descriptions; the file of each names the source of its rules. A stage defined
//! elsewhere is used as [`AnyStage::Custom`].
//!
//! # Driving a path
//!
//! If packets interact with other events, as in a simulator, the owner of the clock drives the path. [`Path::push`]
//! and [`Path::resume`] call [`Driver::transfer`] with the time of the next step of a packet, and
//! [`Path::next_wake_ns`] returns the time of the next call of [`Path::wake`]. At equal times transfers come first,
//! in the order of the calls. A driver that sets [`Driver::WATCHES`] is told what happened to each packet at each
//! stage.
//!
//! Put stages with random decisions (loss, duplication) before those that reorder. Behind jitter each of them needs
//! an event of its own, because the order of packets decides which random number belongs to which packet.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod any;
mod busy;
mod chance;
mod counters;
mod declared;
mod distribution;
pub mod nic;
mod opportunities;
mod packet;
mod path;
mod queue;
mod rate;
mod service;
mod stage;
mod stages;
mod time;
mod timeline;

pub use busy::Busy;
pub use chance::{Correlated, Dice, Probability};
pub use counters::{Counters, Reason};
pub use distribution::{SCALE, Table};
/// The settings of stages: the tables of a scenario.
pub use inorder_scenario::config;
/// Maximum content of a drop-tail queue. The packet being sent is no longer in the queue.
pub use inorder_scenario::config::Queue as Limit;
pub use nic::{Card, Coalesce, MergeConfig, Nic, NicConfig};
pub use packet::{Packet, Probe};
pub use path::{Driver, Mark, Path, Place};
pub use stage::{Fate, Outbox, Pass, Stage};
pub use stages::*;
pub use timeline::Timeline;
