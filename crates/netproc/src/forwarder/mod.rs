//! A software forwarder that sprays packets over its cores and works in bursts, as nets on the same engine.
//!
//! ```text
//! line -> core's ring -> burst of up to 32 -> out line -> receiver's ring -> interrupt -> stack
//!                                           \-> reorder buffer -/          \-> sorter -/
//! ```
//!
//! The network card deals packets to the rings of the cores in turn (receive-side scaling is off, or the flow is one
//! tunnel). A core polls its ring, takes what is there up to a burst, works on each packet, and sends the burst as a
//! whole; now and then the system takes the core away for a while. Nothing in this room is calibrated against a
//! machine: it tells what bursts, spraying and the ways to repair them do to each other, not what a product reaches.

mod config;
mod net;
mod outcome;
mod receiver;
mod reorder;
mod sorter;

use inorder_petri::coloured::{Engine, Model, Queue};

pub use self::config::{ForwarderConfig, Order, Spray};
pub use self::outcome::ForwarderOutcome;
use self::outcome::Watch;
use crate::error::NetprocError;
use crate::run::warm_up;

/// Ticks of these nets in a nanosecond: picoseconds.
const TICKS_PER_NS: f64 = 1000.0;

/// The token: a packet, or a core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Number within its flow; packets dropped at a full ring get none.
    seq: u32,
    /// Number among all.
    order: u32,
    flow: u16,
    core: u16,
    /// When it came in, ticks.
    arrived: u64,
}

/// Where packets can be looked at.
pub(crate) struct Sights {
    /// They leave the forwarder.
    pub(crate) sent: Queue,
    /// They reach the stack.
    pub(crate) stack: Queue,
    /// They were dropped at a full ring.
    pub(crate) dropped: Queue,
}

/// Runs a forwarder until enough packets have reached the stack, or `go_on`, asked now and then with the number that
/// have, says no.
pub fn run_forwarder(
    config: &ForwarderConfig,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<ForwarderOutcome, NetprocError> {
    config.validate()?;
    let mut net = Model::new();
    let sights = net::build(&mut net, config);
    let mut engine = Engine::new(net, config.seed)?;
    let mut watch = Watch::new(config, &sights);
    watch.advance(&mut engine, warm_up(config.packets))?;
    let (warm_ticks, warm_packets) = (engine.now(), watch.left);
    watch.is_warm = true;
    let step = (config.packets / 100).max(1_000);
    while watch.left < config.packets && go_on(watch.left) {
        let target = watch.left.saturating_add(step).min(config.packets);
        watch.advance(&mut engine, target)?;
    }
    let us = (engine.now() - warm_ticks) as f64 / (1000.0 * TICKS_PER_NS);
    let packets = (watch.left - warm_packets) as f64;
    Ok(watch.outcome(if us > 0.0 { packets / us } else { 0.0 }))
}

/// Nanoseconds as ticks.
fn ticks(ns: f64) -> u64 {
    (ns * TICKS_PER_NS + 0.5) as u64
}
