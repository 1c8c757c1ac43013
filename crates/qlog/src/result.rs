//! What is found, as plain data.

use inorder_base::named;
use inorder_metrics::Reordering;

use crate::join::JoinedBy;
use crate::lost::Lost;

named! {
    /// Why a packet was declared lost: as the log says, or by numbers and times where a program writes the same reason always.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Trigger {
        /// A later packet was acknowledged, and its number was higher by the threshold (RFC 9002 section 6.1.1).
        PacketThreshold = "packet-threshold",
        /// A later packet was acknowledged, and the time threshold had passed since it was sent (section 6.1.2).
        TimeThreshold = "time-threshold",
        /// Something else: a probe time-out, or a rule of the sender's own.
        Other = "other",
        /// The log does not say, and numbers and times do not tell.
        Unknown = "unknown",
    }
}

impl Trigger {
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
    /// The end that declared it lost: `client`, `server`, or what the log says.
    pub vantage: std::sync::Arc<str>,
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
    /// True if it arrived so late that the other end took it for a duplicate and dropped it; `None` without that end's log.
    pub dropped: Option<bool>,
    /// How long after its sending the acknowledgement came, nanoseconds; `None` if none came.
    pub acked_after_ns: Option<i64>,
    /// The packet threshold that would not have declared it lost.
    pub needed_packets: Option<Threshold>,
    /// The time threshold that would not have, in round trips.
    pub needed_rtts: Option<f64>,
}

impl LossRow {
    /// True if it is known which packet threshold and which time threshold would not have declared it lost.
    pub(crate) fn knows_thresholds(&self) -> bool {
        self.needed_packets.is_some() && self.needed_rtts.is_some()
    }
}

/// A packet threshold that would have sufficed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threshold {
    /// kPacketThreshold (RFC 9002 section 6.1.1), packets.
    pub packets: u64,
    /// A smaller one may have sufficed, too: it follows from the order of arrival at the other end, which need not have
    /// acknowledged each packet by itself.
    pub at_most: bool,
}

/// Thresholds that would have sufficed for a share of the packets that were declared lost and delivered.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Thresholds {
    /// kPacketThreshold (RFC 9002 section 6.1.1).
    pub packets: Option<Threshold>,
    /// kTimeThreshold (RFC 9002 section 6.1.2), in the greater of smoothed and latest round trip.
    pub rtts: Option<f64>,
}

/// Arrivals at this end.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Arrivals {
    /// Their order: QUIC never sends a number again, so every late packet is reordered (RFC 4737 section 3.3).
    pub order: Reordering,
    /// Numbers below others that never arrived although they were sent; `None` if it is not known which ones were sent.
    pub missing: Option<u64>,
    /// The same with those that the sender may have skipped on purpose (RFC 9000 section 21.4).
    pub missing_at_most: u64,
    /// Numbers between those that arrived which the sender did not use; `None` without its log.
    pub skipped: Option<u64>,
    /// Packets that arrived more than once.
    pub duplicates: u64,
}

/// Stream data that was sent again although no packet with it had been declared lost since, as probes do and senders on a
/// new path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Resent {
    /// Packets with data that was sent again.
    pub packets: u64,
    /// Bytes of that data.
    pub bytes: u64,
    /// Packets whose data had all been delivered in earlier packets; `None` if the log does not show it.
    pub spurious_packets: Option<u64>,
    /// Bytes that had been delivered in earlier packets; `None` if the log does not show it.
    pub spurious_bytes: Option<u64>,
}

/// What one end sent and received.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Traffic {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Time from the first to the last event, nanoseconds.
    pub lasted_ns: i64,
}

/// Packets that the end declared lost, and what became of them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Declared {
    /// Packets declared lost.
    pub lost: u64,
    /// Of these, by packet threshold.
    pub by_packets: u64,
    /// By time threshold.
    pub by_time: u64,
    /// Of the packets declared lost, those that were delivered; `None` if the log has no acknowledgements and the other
    /// end's log is not there.
    pub delivered: Option<u64>,
    /// Their bytes: what was sent again in vain, at most.
    pub delivered_bytes: Option<u64>,
    /// Of the packets declared lost and not delivered, those that arrived so late that the other end took them for
    /// duplicates and dropped them; `None` without that end's log.
    pub dropped_there: Option<u64>,
    /// How the log of the other end was found, which tells what was delivered; `None` if only acknowledgements do.
    pub joined_by: Option<JoinedBy>,
    /// Declarations about packets whose sending the log lacks.
    pub unknown: u64,
}

/// Thresholds that would have sufficed for packets that were declared lost and delivered.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Sufficient {
    /// Of the packets declared lost and delivered, those for which both thresholds are known. What is said of the others is
    /// the packet threshold alone, or nothing.
    pub known: u64,
    /// Thresholds that would have sufficed for half of the delivered ones.
    pub half: Thresholds,
    /// For 95 %.
    pub most: Thresholds,
    /// For all.
    pub all: Thresholds,
}

/// Reductions of the congestion window, and the cost of those without a loss.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Reduced {
    /// Reductions of the congestion window after losses.
    pub reductions: u64,
    /// Of these, those whose losses had all arrived, also if the other end dropped some because they came so late.
    pub needless: Option<u64>,
    /// Bytes that could have been sent in addition without the needless ones; `None` if the log does not say the window.
    pub cost_bytes: Option<f64>,
    /// The same with the growth of the window, as a share; `None` where that is not known, and `cost_bytes` then what a
    /// window as large as before would have carried.
    pub lost: Option<Lost>,
}

/// Everything said of one connection from the side of one end.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    /// Title of the trace and what identifies the connection.
    pub name: String,
    /// `client`, `server`, or what the log says.
    pub vantage: String,
    /// What went over the connection.
    pub traffic: Traffic,
    /// Packets declared lost.
    pub declared: Declared,
    /// Thresholds that would have sufficed.
    pub sufficient: Sufficient,
    /// Reductions of the window.
    pub reduced: Reduced,
    /// Stream data that was sent again without a loss; `None` if the log has no frames.
    pub resent: Option<Resent>,
    /// What arrived here.
    pub arrivals: Arrivals,
    /// Every packet declared lost.
    pub losses: Vec<LossRow>,
}

impl Report {
    /// What needless reductions cost, as a share of that and what was sent, 0 to 1; `None` if it is not known.
    pub fn cost_ratio(&self) -> Option<f64> {
        let cost = self.reduced.cost_bytes?;
        let all = cost + self.traffic.sent_bytes as f64;
        (all > 0.0).then(|| cost / all)
    }
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
