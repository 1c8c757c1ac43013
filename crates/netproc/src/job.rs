//! The token of the nets: a packet, the thread that works on it, and its progress.

/// The steps of a thread for a packet, in order; each step executes instructions and then waits for a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// From the receive buffer to DRAM, one transfer for each mpacket.
    #[default]
    Receive,
    /// Read the header from DRAM.
    HeaderRead,
    /// Read the route from SRAM, several accesses.
    Lookup,
    /// Write the header back to DRAM.
    HeaderWrite,
    /// From DRAM to the transmit buffer, one transfer for each mpacket.
    Transmit,
}

/// Bytes of an mpacket, the unit of the receive and transmit buffers.
pub const MPACKET: u32 = 64;

/// A packet in progress. Tokens of threads and of pointers use only some of the fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Job {
    /// Number of the flow; never reused.
    pub flow: u32,
    /// Number of the packet within its flow, from 0.
    pub seq: u32,
    /// Number of the packet among all flows of its lane, from 0.
    pub turn: u32,
    /// Number assigned by an ordering scheme.
    pub order: u32,
    /// The lane of concurrent flows: a lane carries one flow after the other.
    pub lane: u16,
    /// Length, bytes.
    pub bytes: u16,
    /// Slot of the transmit buffer.
    pub slot: u16,
    /// Thread that works on it, counted over all engines.
    pub thread: u16,
    /// Engine of that thread.
    pub engine: u8,
    /// Remaining accesses of the current step.
    pub left: u8,
    /// The current step.
    pub step: Step,
    /// For a thread with two slots: true if the second one is next.
    pub second: bool,
}

impl Job {
    /// Number of mpackets of the packet.
    pub fn units(&self) -> u32 {
        u32::from(self.bytes).div_ceil(MPACKET).max(1)
    }

    /// The same packet at the start of `step`, with `accesses` remaining.
    #[must_use]
    pub fn at(self, step: Step, accesses: u32) -> Self {
        Self {
            step,
            left: accesses.min(255) as u8,
            ..self
        }
    }

    /// The packet after one more access.
    #[must_use]
    pub fn accessed(self) -> Self {
        Self {
            left: self.left.saturating_sub(1),
            ..self
        }
    }

    /// The packet, held by `thread`.
    #[must_use]
    pub fn held_by(self, thread: &Job) -> Self {
        Self {
            engine: thread.engine,
            thread: thread.thread,
            ..self
        }
    }
}
