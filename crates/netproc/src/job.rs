//! The token of the nets: a packet, the thread that works on it, and how far it has come.

/// What a thread does with a packet, in order; each step runs instructions and then waits for a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Receive buffer to DRAM, one transfer for each mpacket.
    #[default]
    Receive,
    /// The header out of DRAM.
    HeaderRead,
    /// The route out of SRAM, several accesses.
    Lookup,
    /// The header back to DRAM.
    HeaderWrite,
    /// DRAM to the transmit buffer, one transfer for each mpacket.
    Transmit,
}

/// Bytes of an mpacket, the unit of the receive and transmit buffers.
pub const MPACKET: u32 = 64;

/// A packet in work. Tokens of threads and of pointers use the fields they need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Job {
    /// Number of the flow; never used again.
    pub flow: u32,
    /// Number of the packet within its flow, from 0.
    pub seq: u32,
    /// Number of the packet among all flows of its lane, from 0.
    pub turn: u32,
    /// Number given by an ordering scheme.
    pub order: u32,
    /// Which of the concurrent flows: a lane carries one flow after the other.
    pub lane: u16,
    /// Length, bytes.
    pub bytes: u16,
    /// Slot of the transmit buffer.
    pub slot: u16,
    /// Thread that works on it, counted over all engines.
    pub thread: u16,
    /// Engine of that thread.
    pub engine: u8,
    /// Accesses of the present step still to come.
    pub left: u8,
    /// The present step.
    pub step: Step,
    /// Of a thread with two slots: whether the second is next.
    pub second: bool,
}

impl Job {
    /// Mpackets it fills.
    pub fn units(&self) -> u32 {
        u32::from(self.bytes).div_ceil(MPACKET).max(1)
    }

    /// The same packet at the start of `step`, with `accesses` to come.
    #[must_use]
    pub fn at(self, step: Step, accesses: u32) -> Self {
        Self {
            step,
            left: accesses.min(255) as u8,
            ..self
        }
    }

    /// One access done.
    #[must_use]
    pub fn accessed(self) -> Self {
        Self {
            left: self.left.saturating_sub(1),
            ..self
        }
    }

    /// The packet in the hands of `thread`.
    #[must_use]
    pub fn held_by(self, thread: &Job) -> Self {
        Self {
            engine: thread.engine,
            thread: thread.thread,
            ..self
        }
    }
}
