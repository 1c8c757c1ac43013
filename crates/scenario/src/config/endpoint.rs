//! A TCP endpoint: what differs from its profile.

use crate::error::Problem;
use crate::quantity::{duration, flag, require, size, small_packets, small_size};
use crate::reader::Reader;

/// What is given overrides the profile. Times are nanoseconds, windows segments, sizes bytes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Endpoint {
    /// Where everything else comes from.
    pub profile: String,
    /// Congestion control.
    pub congestion: Option<String>,
    /// Loss detection.
    pub loss_detection: Option<String>,
    /// Threshold of duplicate acknowledgements.
    pub dupthresh: Option<u32>,
    /// Largest segment without options.
    pub mss: Option<u32>,
    /// Initial window.
    pub initial_window: Option<u32>,
    /// Initial slow-start threshold.
    pub initial_ssthresh: Option<u32>,
    /// Upper bound of the window.
    pub cwnd_clamp: Option<u32>,
    /// Selective acknowledgements.
    pub sack: Option<bool>,
    /// Duplicates are reported.
    pub dsack: Option<bool>,
    /// Timestamps.
    pub timestamps: Option<bool>,
    /// Protection against wrapped sequence numbers.
    pub paws: Option<bool>,
    /// Receive buffer.
    pub receive_buffer: Option<u64>,
    /// First size of a receive buffer that follows what is read.
    pub receive_autotuning: Option<u64>,
    /// Send buffer.
    pub send_buffer: Option<u64>,
    /// Acknowledging what comes in order.
    pub delayed_ack: Option<DelayedAck>,
    /// Segments that force an acknowledgement.
    pub delayed_ack_segments: u32,
    /// Longest wait.
    pub delayed_ack_timeout_ns: i64,
    /// SACK news are held back.
    pub sack_compression: Option<bool>,
    /// Position in `off`, `rfc896`, `minshall`.
    pub nagle: Option<usize>,
    /// Segments that go together.
    pub tso_segments: Option<u32>,
    /// Position in `rfc`, `linux`.
    pub rto_style: Option<usize>,
    /// Timeout before the first measurement.
    pub rto_initial_ns: Option<i64>,
    /// Its lower bound.
    pub rto_min_ns: Option<i64>,
    /// Its upper bound.
    pub rto_max_ns: Option<i64>,
    /// Position in `per-ack`, `segments`.
    pub growth: Option<usize>,
    /// Position in `off`, `rfc3042`, `linux`.
    pub limited_transmit: Option<usize>,
    /// Position in `immediate`, `rate-halving`, `prr-conservative`, `prr-slow-start`, `prr-linux`.
    pub reduction: Option<usize>,
    /// RFC 6675 NextSeg rule 3.
    pub forward_retransmit: Option<bool>,
    /// Linux 2.6's moderation of the window.
    pub moderate_cwnd: Option<bool>,
    /// F-RTO.
    pub frto: Option<bool>,
    /// Position in `off`, `rfc8985`, `linux`.
    pub loss_probe: Option<usize>,
    /// Undo by timestamps.
    pub undo_eifel: Option<bool>,
    /// Undo by DSACK.
    pub undo_dsack: Option<bool>,
    /// RFC 4015's timer.
    pub undo_rfc4015: Option<bool>,
    /// RFC 5681 section 4.1.
    pub restart_after_idle: Option<bool>,
}

/// Acknowledging what comes in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayedAck {
    /// Each segment at once.
    Off,
    /// RFC 5681 section 4.2.
    Rfc,
    /// As Linux does.
    Linux,
}

impl Endpoint {
    pub(crate) fn read(r: &Reader<'_>) -> Result<Self, Problem> {
        let styles = [DelayedAck::Off, DelayedAck::Rfc, DelayedAck::Linux];
        let delayed_ack = r.maybe_choice("delayed_ack")?;
        let endpoint = Endpoint {
            profile: r.name("profile")?.unwrap_or_default(),
            congestion: r.name("congestion")?,
            loss_detection: r.name("loss_detection")?,
            dupthresh: r.maybe("dupthresh", small_packets)?,
            mss: r.maybe("mss", small_size)?,
            initial_window: r.maybe("initial_window", small_packets)?,
            initial_ssthresh: r.maybe("initial_ssthresh", small_packets)?,
            cwnd_clamp: r.maybe("cwnd_clamp", small_packets)?,
            sack: r.maybe("sack", flag)?,
            dsack: r.maybe("dsack", flag)?,
            timestamps: r.maybe("timestamps", flag)?,
            paws: r.maybe("paws", flag)?,
            receive_buffer: r.maybe("receive_buffer", size)?,
            receive_autotuning: r.maybe("receive_autotuning", size)?,
            send_buffer: r.maybe("send_buffer", size)?,
            delayed_ack: delayed_ack.and_then(|at| styles.get(at).copied()),
            delayed_ack_segments: r.get("delayed_ack_segments", small_packets)?,
            delayed_ack_timeout_ns: r.get("delayed_ack_timeout", duration)?,
            sack_compression: r.maybe("sack_compression", flag)?,
            nagle: r.maybe_choice("nagle")?,
            tso_segments: r.maybe("tso_segments", small_packets)?,
            rto_style: r.maybe_choice("rto_style")?,
            rto_initial_ns: r.maybe("rto_initial", duration)?,
            rto_min_ns: r.maybe("rto_min", duration)?,
            rto_max_ns: r.maybe("rto_max", duration)?,
            growth: r.maybe_choice("growth")?,
            limited_transmit: r.maybe_choice("limited_transmit")?,
            reduction: r.maybe_choice("reduction")?,
            forward_retransmit: r.maybe("forward_retransmit", flag)?,
            moderate_cwnd: r.maybe("moderate_cwnd", flag)?,
            frto: r.maybe("frto", flag)?,
            loss_probe: r.maybe_choice("loss_probe")?,
            undo_eifel: r.maybe("undo_eifel", flag)?,
            undo_dsack: r.maybe("undo_dsack", flag)?,
            undo_rfc4015: r.maybe("undo_rfc4015", flag)?,
            restart_after_idle: r.maybe("restart_after_idle", flag)?,
        };
        endpoint.check(r)?;
        Ok(endpoint)
    }

    fn check(&self, r: &Reader<'_>) -> Result<(), Problem> {
        // 65495 is what an IP packet of 65535 bytes has room for; 64 leaves room beside options.
        let mss = self.mss.is_none_or(|mss| (64..=65_495).contains(&mss));
        require(
            mss,
            r.place("mss"),
            "an impossible segment",
            "64 B to 65495 B",
        )?;
        let window = self.initial_window != Some(0);
        require(
            window,
            r.place("initial_window"),
            "nothing may be sent",
            "1 packet or more",
        )?;
        let clamp = self.cwnd_clamp != Some(0);
        require(
            clamp,
            r.place("cwnd_clamp"),
            "nothing may be sent",
            "1 packet or more",
        )?;
        let thresh = self.dupthresh != Some(0);
        require(
            thresh,
            r.place("dupthresh"),
            "every packet is lost",
            "1 packet or more",
        )?;
        let ordered = self
            .rto_min_ns
            .zip(self.rto_max_ns)
            .is_none_or(|(min, max)| min <= max);
        require(
            ordered,
            r.place("rto_min"),
            "rto_min above rto_max",
            "a smaller rto_min",
        )
    }
}
