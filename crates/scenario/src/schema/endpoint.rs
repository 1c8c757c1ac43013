//! A TCP endpoint: a profile and what differs from it.

use super::Default::{Is, Unset};
use super::Kind::{Choice, Duration, Flag, Name, Packets, Size};
use super::{Field, Registry, Section, field};

/// As the profile has it.
const PROFILE: super::Default = Unset("of the profile");

/// `[flow.sender]` and `[flow.receiver]`.
pub static ENDPOINT: Section = Section {
    name: "flow.sender",
    about: "A TCP endpoint: a profile, and what differs from it. `[flow.receiver]` has the same keys.",
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    field(
        "profile",
        Name(Registry::Profile),
        Is("linux-6"),
        "What everything else starts from.",
    ),
    field(
        "congestion",
        Name(Registry::Congestion),
        PROFILE,
        "Congestion control.",
    ),
    field(
        "loss_detection",
        Name(Registry::LossDetection),
        PROFILE,
        "Loss detection and tolerance of reordering.",
    ),
    field(
        "dupthresh",
        Packets,
        Unset("of the loss detection"),
        "Duplicate acknowledgements that mean loss; only with loss_detection = \"static\".",
    ),
    field("mss", Size, PROFILE, "Largest segment, without options."),
    field(
        "initial_window",
        Packets,
        PROFILE,
        "Initial congestion window.",
    ),
    field(
        "initial_ssthresh",
        Packets,
        PROFILE,
        "Initial slow-start threshold.",
    ),
    field(
        "cwnd_clamp",
        Packets,
        PROFILE,
        "Upper bound of the congestion window.",
    ),
    field(
        "sack",
        Flag,
        PROFILE,
        "Selective acknowledgements (RFC 2018).",
    ),
    field(
        "dsack",
        Flag,
        PROFILE,
        "Duplicates are reported (RFC 2883).",
    ),
    field("timestamps", Flag, PROFILE, "Timestamps option (RFC 7323)."),
    field(
        "paws",
        Flag,
        PROFILE,
        "Protection against wrapped sequence numbers (RFC 7323 section 5).",
    ),
    field("receive_buffer", Size, PROFILE, "Receive buffer."),
    field(
        "receive_autotuning",
        Size,
        Unset("none"),
        "The receive buffer begins with this size and follows what is read, up to `receive_buffer` (Linux's dynamic right-sizing).",
    ),
    field(
        "send_buffer",
        Size,
        PROFILE,
        "Bytes written and not acknowledged at most.",
    ),
    field(
        "delayed_ack",
        Choice(&["off", "rfc", "linux"]),
        PROFILE,
        "Acknowledging what comes in order: each segment, by RFC 5681, as Linux.",
    ),
    field(
        "delayed_ack_segments",
        Packets,
        Is("2"),
        "Segments that force an acknowledgement, by `rfc`.",
    ),
    field(
        "delayed_ack_timeout",
        Duration,
        Is("200 ms"),
        "Longest wait, by `rfc` and `linux`.",
    ),
    field(
        "sack_compression",
        Flag,
        PROFILE,
        "Acknowledgements with SACK news only are held back for a while (Linux since 4.18).",
    ),
    field(
        "nagle",
        Choice(&["off", "rfc896", "minshall"]),
        PROFILE,
        "Which small segments wait.",
    ),
    field(
        "tso_segments",
        Packets,
        PROFILE,
        "Segments that segmentation offload takes at once (45 with Linux): new data waits for bursts of up to a millisecond of the pacing rate; 0: no wait.",
    ),
    field(
        "rto_style",
        Choice(&["rfc", "linux"]),
        PROFILE,
        "Retransmission timeout by RFC 6298, or as in Linux.",
    ),
    field(
        "rto_initial",
        Duration,
        PROFILE,
        "Before the first measurement.",
    ),
    field("rto_min", Duration, PROFILE, "Lower bound."),
    field("rto_max", Duration, PROFILE, "Upper bound."),
    field(
        "growth",
        Choice(&["per-ack", "segments"]),
        PROFILE,
        "The window grows by acknowledgements, or by segments acknowledged.",
    ),
    field(
        "limited_transmit",
        Choice(&["off", "rfc3042", "linux"]),
        PROFILE,
        "New data on duplicate acknowledgements.",
    ),
    field(
        "reduction",
        Choice(&[
            "immediate",
            "rate-halving",
            "prr-conservative",
            "prr-slow-start",
            "prr-linux",
        ]),
        PROFILE,
        "How the window comes down in fast recovery.",
    ),
    field(
        "forward_retransmit",
        Flag,
        PROFILE,
        "In recovery without new data, also what is missing but not taken for lost (RFC 6675 NextSeg 3).",
    ),
    field(
        "moderate_cwnd",
        Flag,
        PROFILE,
        "The window stays near what is in flight in Disorder and after an undo (Linux 2.6).",
    ),
    field("frto", Flag, PROFILE, "F-RTO (RFC 5682)."),
    field(
        "loss_probe",
        Choice(&["off", "rfc8985", "linux"]),
        PROFILE,
        "Tail loss probe.",
    ),
    field(
        "undo_eifel",
        Flag,
        PROFILE,
        "Needless reductions found by timestamps are taken back (RFC 3522).",
    ),
    field(
        "undo_dsack",
        Flag,
        PROFILE,
        "The same, found by DSACK (RFC 3708).",
    ),
    field(
        "undo_rfc4015",
        Flag,
        PROFILE,
        "After a spurious timeout the timer adapts as in RFC 4015.",
    ),
    field(
        "restart_after_idle",
        Flag,
        PROFILE,
        "The window shrinks after idle times (RFC 5681 section 4.1).",
    ),
];
