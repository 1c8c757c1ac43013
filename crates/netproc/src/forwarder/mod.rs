//! A software forwarder that sprays packets over its cores and works in bursts: the net `forwarder.net`.
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
//!
//! A sorter of `inorder-sort` gets the packets that the driver of the net hands up, and the ends of its batches. It never
//! stops the driver, so it need not be a part of the net.

mod config;
mod outcome;
mod sorter;

pub use self::config::{ForwarderConfig, Order, Spray};
pub use self::outcome::ForwarderOutcome;
use self::outcome::{EXITS, Watch};
use crate::error::NetprocError;
use crate::model::forwarder;
use crate::run::warm_up;

/// Ticks of the net per nanosecond: a tick is a picosecond.
const TICKS_PER_NS: u64 = 1000;

/// A packet behind the forwarder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Packet {
    /// Number within its flow; packets dropped at a full ring have none.
    seq: u32,
    flow: u16,
    /// Time of arrival, ticks.
    arrived: u64,
}

/// Runs a forwarder until enough packets have reached the stack, or until `go_on` returns false; it is called now and
/// then with the number of packets so far.
pub fn run_forwarder(
    config: &ForwarderConfig,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<ForwarderOutcome, NetprocError> {
    let mut net = forwarder(config)?.live(config.seed, &[], &EXITS)?;
    let mut watch = Watch::new(config);
    watch.advance(&mut net, warm_up(config.packets))?;
    let (warm_ticks, warm_packets) = (net.now(), watch.left());
    watch.warmed_up();
    let step = (config.packets / 100).max(1_000);
    while watch.left() < config.packets && go_on(watch.left()) {
        let target = watch.left().saturating_add(step).min(config.packets);
        watch.advance(&mut net, target)?;
    }
    let us = (net.now() - warm_ticks) as f64 / (1000 * TICKS_PER_NS) as f64;
    let packets = (watch.left() - warm_packets) as f64;
    Ok(watch.outcome(if us > 0.0 { packets / us } else { 0.0 }))
}
