//! A software forwarder that sprays packets over its cores and works in bursts, as nets on the same engine.
//!
//! ```text
//! line -> core's ring -> burst of up to 32 -> out line -> receiver's ring -> interrupt -> stack
//!                                           \-> reorder buffer -/          \-> sorter -/
//! ```
//!
//! The network card distributes packets over the rings of the cores in turn (receive-side scaling is off, or the flow
//! is one tunnel). A core polls its ring, takes up to a burst of packets, works on each packet, and sends the burst
//! as a whole; sometimes the operating system takes the core away for a while. The model is not calibrated against a
//! real machine: it shows how bursts, spraying and the ways to restore order interact, not what a product achieves.

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

/// Ticks of these nets per nanosecond: a tick is a picosecond.
const TICKS_PER_NS: f64 = 1000.0;

/// The token of the nets: a packet, or a core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Number within its flow; packets dropped at a full ring have none.
    seq: u32,
    /// Number among all packets.
    order: u32,
    flow: u16,
    core: u16,
    /// Time of arrival, ticks.
    arrived: u64,
}

/// The places at which packets are observed.
pub(crate) struct Sights {
    /// They leave the forwarder.
    pub(crate) sent: Queue,
    /// They reach the stack.
    pub(crate) stack: Queue,
    /// They were dropped at a full ring.
    pub(crate) dropped: Queue,
}

/// Runs a forwarder until enough packets have reached the stack, or until `go_on` returns false; it is called now and
/// then with the number of packets so far.
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

/// Converts nanoseconds to ticks.
fn ticks(ns: f64) -> u64 {
    (ns * TICKS_PER_NS + 0.5) as u64
}
