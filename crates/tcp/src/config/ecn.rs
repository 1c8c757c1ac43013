//! Explicit congestion notification.

/// Explicit congestion notification. Ignored if the loss detection controls the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EcnSettings {
    /// Which kind is requested and accepted.
    pub usage: EcnUse,
    /// Details of accurate ECN.
    pub accurate: AccurateEcn,
    /// Requests that are lost with their SYN are given up, and a path that changes marks in the handshake as no router may
    /// is not trusted with any (Linux `tcp_ecn_fallback`).
    pub fallback: bool,
    /// What can be marked carries ECT(1) instead of ECT(0): it asks for L4S service, which only congestion controls that
    /// react to each mark a little may do (RFC 9331).
    pub ect1: bool,
}

/// Explicit congestion notification: classic (RFC 3168) or accurate (RFC 9768). Linux's `tcp_ecn` has the numbers in
/// parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnUse {
    /// Never (0).
    Off,
    /// Classic, if the peer requests it (2, the default).
    Accept,
    /// Classic: requested with every SYN, and accepted (1).
    Request,
    /// Accurate: requested with every SYN; what the peer requests, accurate or classic, is accepted (3).
    Accurate,
    /// Accurate or classic, if the peer requests it (5).
    AcceptAccurate,
    /// Classic is requested with every SYN; what the peer requests, accurate or classic, is accepted (4).
    RequestAcceptAccurate,
}

impl EcnUse {
    /// A SYN requests ECN, accurate or classic.
    pub(crate) fn requests(self) -> bool {
        matches!(
            self,
            Self::Request | Self::Accurate | Self::RequestAcceptAccurate
        )
    }

    /// A request of accurate ECN is accepted.
    pub(crate) fn accepts_accurate(self) -> bool {
        matches!(
            self,
            Self::Accurate | Self::AcceptAccurate | Self::RequestAcceptAccurate
        )
    }
}

/// When segments carry the option of accurate ECN (Linux `tcp_ecn_option`, with its numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnOptionUse {
    /// Never (0): the peer learns only the number of marked packets.
    Never,
    /// After marks, with changes, and as often in a round trip as [`AccurateEcn::beacon`] says (1).
    Demand,
    /// With every segment (2), unless it turns out that the path drops segments with it.
    Always,
    /// With every segment, whatever happens (3).
    Persist,
}

/// Accurate ECN (RFC 9768), where [`EcnUse`] allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// When the option is sent, to a peer that sends it too.
    pub option: EcnOptionUse,
    /// How many segments of a round trip carry it at least, if it is not sent with all (Linux `tcp_ecn_option_beacon`).
    pub beacon: u32,
}

impl Default for AccurateEcn {
    /// The settings of Linux 7.
    fn default() -> Self {
        Self {
            option: EcnOptionUse::Always,
            beacon: 3,
        }
    }
}
