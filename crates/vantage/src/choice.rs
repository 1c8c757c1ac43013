//! Where on the path a capture was taken, and what told.

use inorder_base::named;
use inorder_base::vantage::Vantage;

named! {
    /// What told the vantage point.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum VantageBasis {
        /// The user said so.
        Forced = "forced",
        /// The gaps between the three packets of the handshake.
        Handshake = "handshake",
        /// How soon ACKs follow data and data follow ACKs.
        Timing = "timing",
        /// An initial TTL or hop limit that no router has touched.
        Ttl = "ttl",
        /// On which side of the capture point the packets were lost or late that the receiver reported as missing.
        Missing = "missing",
        /// Other connections of a host, whose packets were captured beside it.
        Others = "other-connections",
        /// Nothing did; this is the default.
        Unknown = "unknown",
    }
}

/// The vantage point and how it was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VantageChoice {
    /// Where.
    pub vantage: Vantage,
    /// What told it.
    pub basis: VantageBasis,
    /// Time from capture point to the receiver and back, nanoseconds; `None` if never seen.
    pub to_receiver_ns: Option<i64>,
    /// Time from capture point to the sender and back, nanoseconds; `None` if never seen.
    pub to_sender_ns: Option<i64>,
}
