//! What is found, as plain data.

use inorder_metrics::Reordering;

use crate::lost::Lost;

/// Why a packet was declared lost, as the log says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// As many packets sent after it had been acknowledged (RFC 9002 section 6.1.1).
    PacketThreshold,
    /// So long after it was sent a later one had been acknowledged (section 6.1.2).
    TimeThreshold,
    /// Something else: a probe time-out, or a rule of the sender's own.
    Other,
    /// The log does not say.
    Unknown,
}

impl Trigger {
    /// All names.
    pub const NAMES: &[&str] = &["packet-threshold", "time-threshold", "other", "unknown"];

    /// Its name in output.
    pub fn name(self) -> &'static str {
        Trigger::NAMES[self as usize]
    }

    /// Of the word in a log.
    pub(crate) fn of(word: Option<&str>) -> Trigger {
        match word {
            None | Some("") => Trigger::Unknown,
            Some("reordering_threshold" | "packet_threshold") => Trigger::PacketThreshold,
            Some("time_threshold") => Trigger::TimeThreshold,
            Some(_) => Trigger::Other,
        }
    }
}

/// A packet that was declared lost.
#[derive(Clone, PartialEq, Debug)]
pub struct LossRow {
    /// Name of the connection.
    pub connection: std::sync::Arc<str>,
    /// Initial, Handshake or application data.
    pub space: &'static str,
    /// Packet number.
    pub number: u64,
    /// Bytes; 0 if the log does not say.
    pub bytes: u64,
    /// When it was sent, nanoseconds after the first event of the log.
    pub sent_ns: i64,
    /// How long after that it was declared lost, nanoseconds.
    pub declared_after_ns: i64,
    /// Why.
    pub trigger: Trigger,
    /// True if it was delivered; `None` if nothing tells.
    pub delivered: Option<bool>,
    /// How long after its sending the acknowledgement came, nanoseconds; `None` if none came.
    pub acked_after_ns: Option<i64>,
    /// The packet threshold that would not have declared it lost.
    pub needed_packets: Option<u64>,
    /// The time threshold that would not have, in round trips.
    pub needed_rtts: Option<f64>,
}

/// Thresholds that would have sufficed for a share of the packets that were declared lost and delivered.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Thresholds {
    /// kPacketThreshold of RFC 9002, packets.
    pub packets: Option<u64>,
    /// kTimeThreshold, in the greater of smoothed and latest round trip.
    pub rtts: Option<f64>,
}

/// Arrivals at this end.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Arrivals {
    /// Their order: QUIC never sends a number again, so every late packet is reordered (RFC 4737).
    pub order: Reordering,
    /// Numbers skipped that never arrived: lost, or skipped by the sender.
    pub missing: u64,
    /// Packets that arrived more than once.
    pub duplicates: u64,
}

/// Everything said of one connection from the side of one end.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    /// Title of the trace and what identifies the connection.
    pub name: String,
    /// `client`, `server`, or what the log says.
    pub vantage: String,
    /// Packets sent and received.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets declared lost.
    pub declared_lost: u64,
    /// Of these, by packet threshold.
    pub by_packets: u64,
    /// By time threshold.
    pub by_time: u64,
    /// Of the packets declared lost, those that were delivered; `None` if the log has no acknowledgements and the other
    /// end's log is not there.
    pub delivered: Option<u64>,
    /// Their bytes: what was sent again in vain, at most.
    pub delivered_bytes: Option<u64>,
    /// True if the log of the other end tells what was delivered; otherwise its acknowledgements do.
    pub other_end: bool,
    /// Thresholds that would have sufficed for half of the delivered ones.
    pub half: Thresholds,
    /// For 95 %.
    pub most: Thresholds,
    /// For all.
    pub all: Thresholds,
    /// Reductions of the congestion window after losses.
    pub reductions: u64,
    /// Of these, those whose losses were all delivered.
    pub needless: Option<u64>,
    /// Bytes that could have been sent in addition without the needless ones; `None` if the log does not say the window.
    pub cost_bytes: Option<f64>,
    /// The same with the growth of the window, as a share; `None` where that is not known, and `cost_bytes` then what a
    /// window as large as before would have carried.
    pub lost: Option<Lost>,
    /// Time from the first to the last event, nanoseconds.
    pub lasted_ns: i64,
    /// Declarations about packets whose sending the log lacks.
    pub unknown: u64,
    /// What arrived here.
    pub arrivals: Arrivals,
    /// Every packet declared lost.
    pub losses: Vec<LossRow>,
}

/// All connections of all logs.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Document {
    /// Names of the files.
    pub files: Vec<String>,
    /// A report for each end of a connection that was logged.
    pub connections: Vec<Report>,
    /// What limits the result.
    pub warnings: Vec<String>,
}
