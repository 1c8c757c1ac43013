//! What happens, and what comes first at one time.

use inorder_path::Place;

use crate::flow::Role;
use crate::packet::{LineId, Packet};
use crate::queue::Priority;

/// Something that is due.
#[derive(Debug)]
pub enum Event {
    /// A packet leaves a line, or goes on inside it.
    Transfer {
        /// The line.
        line: LineId,
        /// Out of it, or a stage.
        place: Place,
        /// The packet.
        packet: Packet,
    },
    /// A packet has come over the access and enters the first line of its route.
    Enter {
        /// The packet.
        packet: Packet,
    },
    /// A line is to be woken.
    Wake {
        /// The line.
        line: LineId,
    },
    /// An endpoint's timer.
    Timer {
        /// The flow.
        flow: u32,
        /// Which end of it.
        role: Role,
    },
    /// A flow opens.
    Open(u32),
    /// A flow's application has something to do.
    Application(u32),
    /// A probe leaves.
    Probe(u32),
    /// Measures count from here on.
    WarmUp,
    /// Windows are sampled.
    Sample,
}

/// Packets, before everything else of their time.
pub const PATH: Priority = 0;
/// Wakes of paths, after the packets of their time.
pub const WAKE: Priority = 1;
/// Timers of endpoints.
pub const TIMER: Priority = 2;
/// Applications.
pub const APPLICATION: Priority = 3;
/// Observation, after everything that happens.
pub const OBSERVE: Priority = 4;
