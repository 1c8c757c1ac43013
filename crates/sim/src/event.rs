//! The events of a simulation, and their order at equal times.

use inorder_path::Place;

use crate::flow::Role;
use crate::packet::{LineId, Packet};
use crate::queue::Priority;

/// An event.
#[derive(Debug)]
pub(crate) enum Event {
    /// A packet leaves a line, or continues inside it.
    Transfer {
        /// The line.
        line: LineId,
        /// The next stage, or the end of the line.
        place: Place,
        /// The packet.
        packet: Box<Packet>,
    },
    /// A packet has passed the access delay and enters the first line of its route.
    Enter {
        /// The packet.
        packet: Box<Packet>,
    },
    /// A line must be called.
    Wake {
        /// The line.
        line: LineId,
    },
    /// The timer of an endpoint.
    Timer {
        /// The flow.
        flow: u32,
        /// Which of its endpoints.
        role: Role,
    },
    /// A flow opens.
    Open(u32),
    /// A flow's application must be called.
    Application(u32),
    /// A probe is sent.
    Probe(u32),
    /// The warm-up ends: measures count from here on.
    WarmUp,
    /// The state of the senders is sampled.
    Sample,
}

impl Event {
    /// The flow whose endpoints may have changed with it.
    pub(crate) fn flow(&self) -> Option<u32> {
        match self {
            Event::Transfer { packet, .. } | Event::Enter { packet } => Some(packet.channel.0 / 2),
            Event::Timer { flow, .. } | Event::Open(flow) | Event::Application(flow) => Some(*flow),
            Event::Wake { .. } | Event::Probe(_) | Event::WarmUp | Event::Sample => None,
        }
    }
}

/// Packets, before all other events at the same time.
pub(crate) const PATH: Priority = 0;
/// Calls of paths, after the packets at the same time.
pub(crate) const WAKE: Priority = 1;
/// Timers of endpoints.
pub(crate) const TIMER: Priority = 2;
/// Applications.
pub(crate) const APPLICATION: Priority = 3;
/// Observation, after all other events.
pub(crate) const OBSERVE: Priority = 4;
