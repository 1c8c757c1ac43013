//! Which frame of the capture at one end is which of the capture at the other end.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::packet::{End, Packet};

/// The frames of both ends that are the same packet.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Frames of what was sent, by channel and number.
    sent: HashMap<(u32, u32), (End, u64)>,
    rows: Vec<Row>,
    /// The rows of the last arrival begin here.
    latest: usize,
}

/// What the receiver did with what arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Nothing out of the ordinary.
    Taken,
    /// It was discarded although data was missing.
    Refused,
    /// With it everything was discarded that was held out of order.
    Reneged,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    to: End,
    frame: u64,
    arrived: u64,
    fate: Fate,
}

impl Pairs {
    pub(super) fn sent(&mut self, from: End, packet: &Packet, frame: u64) {
        let key = (packet.channel.0, packet.id);
        self.sent.insert(key, (from, frame));
    }

    /// The end that sent a packet, and its frame there.
    pub(super) fn frame_sent(&self, packet: &Packet) -> Option<(End, u64)> {
        self.sent.get(&(packet.channel.0, packet.id)).copied()
    }

    /// Frame `arrived` of the capture at `end` consists of the packets `ids`.
    pub(super) fn received(&mut self, end: End, packet: &Packet, ids: Vec<u32>, arrived: u64) {
        self.latest = self.rows.len();
        for id in ids {
            if let Some(&(_, frame)) = self.sent.get(&(packet.channel.0, id)) {
                self.rows.push(Row {
                    to: end,
                    frame,
                    arrived,
                    fate: Fate::Taken,
                });
            }
        }
    }

    /// What became of the last arrival.
    pub(super) fn mark(&mut self, fate: Fate) {
        let latest = self.rows.get_mut(self.latest..).unwrap_or_default();
        latest.iter_mut().for_each(|row| row.fate = fate);
    }

    /// Writes a line for each arrival: where it comes from, its frame there, its frame where it arrives, and `refused` or
    /// `reneged` if the receiver did so.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "from,frame,arrived,fate")?;
        for row in &self.rows {
            let from = match row.to {
                End::A => "rcv",
                End::B => "snd",
            };
            let fate = match row.fate {
                Fate::Taken => "",
                Fate::Refused => "refused",
                Fate::Reneged => "reneged",
            };
            writeln!(out, "{from},{},{},{fate}", row.frame, row.arrived)?;
        }
        Ok(())
    }
}
