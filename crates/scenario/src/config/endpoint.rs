//! TCP endpoints: a profile, and the settings that differ from it.

use super::habits::Habits;
use crate::declare::{choices, keys};
use crate::error::Problem;
use crate::kind::{
    Congestion, Duration, Flag, LossDetection, Pace, Packets32, Profile, Size, Size32,
};
use crate::quantity::require;
use crate::reader::Reader;

keys! {
    /// A TCP endpoint: a profile, and the settings that differ from it. `[flow.receiver]` has the same keys.
    pub struct Endpoint in "flow.sender", check Endpoint::check {
        /// The profile that defines all other defaults.
        profile: Profile, default "linux-6";
        /// What stacks do differently.
        habits: Habits, flat;
        /// Congestion control.
        congestion: Congestion, unset "of the profile";
        /// Loss detection, including its tolerance of reordering.
        loss_detection: LossDetection, unset "of the profile";
        /// Number of duplicate acknowledgements that indicate a loss; only with loss_detection = "static".
        dupthresh: Packets32, unset "of the loss detection", from "1";
        /// Maximum segment size, without options.
        mss: Size32, unset "of the profile", in "64 B"..="65495 B";
        /// Initial congestion window.
        initial_window: Packets32, unset "of the profile", from "1";
        /// Initial slow-start threshold.
        initial_ssthresh: Packets32, unset "of the profile";
        /// Upper bound of the congestion window.
        cwnd_clamp: Packets32, unset "of the profile", from "1";
        /// Selective acknowledgements (RFC 2018 section 2).
        sack: Flag, unset "of the profile";
        /// Reports of duplicate segments (RFC 2883 section 4).
        dsack: Flag, unset "of the profile";
        /// Timestamps option (RFC 7323 section 3.2).
        timestamps: Flag, unset "of the profile";
        /// Protection against wrapped sequence numbers (RFC 7323 section 5).
        paws: Flag, unset "of the profile";
        /// Receive buffer.
        receive_buffer: Size, unset "of the profile";
        /// Offers window scaling (RFC 7323 section 2); without it no window is larger than 65,535 bytes.
        window_scaling: Flag, unset "of the profile";
        /// The receive buffer starts with this size and grows with the rate at which data is read, up to
        /// `receive_buffer` (Linux's dynamic right-sizing).
        receive_autotuning: Size, unset "none";
        /// Part of the receive buffer that is advertised at first, at most. The rest follows with what arrives, two segments for each, and
        /// each is acknowledged at once until then. Linux does so from 65,535 B on.
        receive_offer: Size, unset "all of it";
        /// Maximum number of bytes written and not acknowledged.
        send_buffer: Size, unset "of the profile";
        /// The send buffer grows with the congestion window, up to `send_buffer`, and a full one takes data again when a third of it is
        /// free (Linux where the application sets no size). This is the memory for a full segment by which it is sized: 4,352 bytes
        /// in kernels of distributions, 2,304 in the lab's, which has no wireless networks.
        send_autotuning: Size, unset "none";
        /// When data in order is acknowledged.
        delayed_ack: DelayedAck, unset "of the profile";
        /// Number of segments that force an acknowledgement.
        delayed_ack_segments: Packets32, default "2", with delayed_ack = "rfc";
        /// Maximum wait for further segments.
        delayed_ack_timeout_ns as "delayed_ack_timeout": Duration, default "200 ms", with delayed_ack = "rfc" | "linux";
        /// Delays acknowledgements that only report new SACK blocks (Linux since 4.18).
        sack_compression: Flag, unset "of the profile";
        /// Which small segments are delayed.
        nagle: Nagle, unset "of the profile";
        /// Number of segments that segmentation offload sends at once (45 in Linux): new data waits until it fills a
        /// burst of up to one millisecond at the pacing rate. 0: no wait.
        tso_segments: Packets32, unset "of the profile";
        /// Sends data at a rate instead of as fast as the window allows, as under Linux's `fq`. A rate given here is
        /// its upper bound (`SO_MAX_PACING_RATE`), counted in bytes of TCP payload.
        pacing: Pace, unset "of the profile", above "0 bit/s";
        /// Explicit congestion notification: classic (RFC 3168), or accurate (RFC 9768), whose segments no sorter holds back.
        ecn: Ecn, unset "of the profile";
        /// What a segment that can be marked carries. ECT(1) asks for low latency (L4S), which only `congestion = "dctcp"`
        /// may do among those here.
        ecn_codepoint: EcnCodepoint, default "ect0";
        /// How the retransmission timeout is computed from round-trip times.
        rto_style: RtoStyle, unset "of the profile";
        /// Retransmission timeout before the first measurement.
        rto_initial_ns as "rto_initial": Duration, unset "of the profile";
        /// Lower bound of the retransmission timeout.
        rto_min_ns as "rto_min": Duration, unset "of the profile";
        /// Upper bound of the retransmission timeout.
        rto_max_ns as "rto_max": Duration, unset "of the profile";
        /// How much an acknowledgement lets the window grow.
        growth: Growth, unset "of the profile";
        /// Sending of new data on duplicate acknowledgements.
        limited_transmit: LimitedTransmit, unset "of the profile";
        /// How the window is reduced in fast recovery.
        reduction: Reduction, unset "of the profile";
        /// In recovery without new data, also retransmits segments that are missing but not considered lost (RFC 6675
        /// section 4 rule (3) of NextSeg).
        forward_retransmit: Flag, unset "of the profile";
        /// Without SACK, another recovery may begin with an acknowledgement of exactly what the last one repaired (ns-3;
        /// RFC 6582 section 3.2 step 2 wants more).
        reenter_at_recover: Flag, unset "of the profile";
        /// Without SACK, each duplicate takes a segment out of flight instead of inflating the window (ns-3).
        duplicates_leave_flight: Flag, unset "of the profile";
        /// The window also grows while it is not filled (ns-3).
        grow_when_unused: Flag, unset "of the profile";
        /// Without SACK, only the first partial acknowledgement restarts the retransmission timer (RFC 6582 section 3.2 step 3, ns-3).
        timer_at_first_partial: Flag, unset "of the profile";
        /// The first segment is acknowledged at once (ns-3).
        first_ack_at_once: Flag, unset "of the profile";
        /// How much the acknowledgement that ends fast recovery lets the window grow.
        growth_at_end: GrowthAtEnd, unset "of the profile";
        /// Limits the window to about the data in flight in the Disorder state and after an undo (Linux 2.6).
        moderate_cwnd: Flag, unset "of the profile";
        /// F-RTO (RFC 5682 section 3.1).
        frto: Flag, unset "of the profile";
        /// Tail loss probe.
        loss_probe: LossProbe, unset "of the profile";
        /// Undoes unnecessary reductions of the congestion window that timestamps reveal (RFC 3522 section 3.2).
        undo_eifel: Flag, unset "of the profile";
        /// Undoes unnecessary reductions of the congestion window that DSACK reveals (RFC 3708).
        undo_dsack: Flag, unset "of the profile";
        /// After a spurious timeout, adapts the timer as in RFC 4015 section 3.1.
        undo_rfc4015: Flag, unset "of the profile";
        /// Reduces the window after idle times (RFC 5681 section 4.1).
        restart_after_idle: Flag, unset "of the profile";
    }
}

impl Endpoint {
    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        match self.habits.dialect {
            Some(_) => r.idle("profile", "with a dialect", "one of the two"),
            None => r.used("profile"),
        }
        self.check_dupthresh(r);
        let bounds = self.rto_min_ns.zip(self.rto_max_ns);
        require(
            bounds.is_none_or(|(min, max)| min <= max),
            r.place("rto_min"),
            "rto_min above rto_max",
            "a smaller rto_min",
        )
    }

    /// Only the loss detection "static" has a configurable threshold. The profile may select it.
    fn check_dupthresh(&self, r: &Reader<'_>) {
        let named = self.habits.dialect.as_ref().unwrap_or(&self.profile);
        let of_profile = || r.names().loss_of(named);
        let detection = self.loss_detection.as_deref().or_else(of_profile);
        match detection {
            Some("static") | None => r.used("dupthresh"),
            Some(other) => {
                let state = format!("with loss_detection = \"{other}\"");
                r.idle("dupthresh", &state, "loss_detection = \"static\"");
            }
        }
    }
}

choices! {
    /// When data in order is acknowledged.
    pub enum DelayedAck {
        /// Each segment at once.
        Off = "off",
        /// Every second segment, or after a time-out (RFC 5681 section 4.2).
        Rfc = "rfc",
        /// As in Linux.
        Linux = "linux",
    }
}

choices! {
    /// Explicit congestion notification (RFC 3168; Linux's `tcp_ecn`).
    pub type Ecn = inorder_tcp::config::EcnUse {
        /// Never.
        Off = "off",
        /// If the peer requests it, which is the default of Linux.
        Accept = "accept",
        /// Requested when a connection opens, and accepted.
        Request = "on",
        /// Accurate feedback (RFC 9768) is requested when a connection opens; accurate and classic are accepted.
        Accurate = "accurate",
        /// Accurate or classic, if the peer requests it.
        AcceptAccurate = "accept-accurate",
    }
}

choices! {
    /// The ECN field of a segment that can be marked.
    pub enum EcnCodepoint {
        /// ECT(0), as RFC 3168 says.
        Ect0 = "ect0",
        /// ECT(1), as RFC 9331 says.
        Ect1 = "ect1",
    }
}

choices! {
    /// Which small segments wait for acknowledgements.
    pub type Nagle = inorder_tcp::config::Nagle {
        /// None.
        Off = "off",
        /// Any, while data is outstanding (RFC 896).
        Rfc896 = "rfc896",
        /// Only while a small segment is outstanding, as in Linux.
        Minshall = "minshall",
    }
}

choices! {
    /// How the retransmission timeout is computed from round-trip times.
    pub type RtoStyle = inorder_tcp::config::RtoStyle {
        /// As in RFC 6298 section 2.
        Rfc = "rfc",
        /// As in Linux.
        Linux = "linux",
    }
}

choices! {
    /// How much an acknowledgement lets the window grow.
    pub type Growth = inorder_tcp::config::GrowthUnit {
        /// As for one segment, for any number of acknowledged segments.
        PerAck = "per-ack",
        /// As for all segments that it acknowledges.
        Segments = "segments",
        /// As for all segments that its number covers, also those SACKed before (Linux 3.15 to 4.x).
        Cumulative = "cumulative",
    }
}

choices! {
    /// Growth of the window by the acknowledgement that ends fast recovery.
    pub type GrowthAtEnd = inorder_tcp::config::GrowthAtEnd {
        /// As by any other.
        Acknowledged = "acknowledged",
        /// For the segments sent after recovery began, if it covers some (ns-3.26).
        Beyond = "beyond",
        /// None (ns-3.27).
        Nothing = "nothing",
    }
}

choices! {
    /// Sending of new data on duplicate acknowledgements.
    pub type LimitedTransmit = inorder_tcp::config::LimitedTransmit {
        /// None.
        Off = "off",
        /// One segment for each of the first two (RFC 3042).
        Rfc3042 = "rfc3042",
        /// The same, however much is outstanding (ns-3.26).
        Always = "always",
        /// As in Linux: data reported as received is no longer in flight.
        Pipe = "linux",
    }
}

choices! {
    /// How the window is reduced in fast recovery.
    pub type Reduction = inorder_tcp::config::Reduction {
        /// At once (RFC 6675 section 5; RFC 5681 section 3.2 without SACK).
        Immediate = "immediate",
        /// At once, with inflation of the window itself: a partial acknowledgement may leave it below the threshold (ns-3.26).
        Inflate = "inflate",
        /// One segment for every two acknowledgements, as Linux did until 3.1.
        RateHalving = "rate-halving",
        /// Proportional rate reduction with the conservative bound (RFC 6937).
        PrrConservative = "prr-conservative",
        /// Proportional rate reduction with slow start below the threshold (RFC 6937).
        PrrSlowStart = "prr-slow-start",
        /// Proportional rate reduction as in ns-3, also without SACK.
        PrrNs3 = "prr-ns3",
        /// Proportional rate reduction as in Linux 6.
        PrrLinux = "prr-linux",
    }
}

choices! {
    /// Tail loss probe: what is sent if the last segments of a flight are not acknowledged.
    pub type LossProbe = inorder_tcp::config::LossProbe {
        /// Nothing.
        Off = "off",
        /// A probe as in RFC 8985 section 7.2.
        Rfc8985 = "rfc8985",
        /// A probe as in Linux.
        Linux = "linux",
    }
}
