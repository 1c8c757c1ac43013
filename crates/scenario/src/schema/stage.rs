//! Stages of a path, by kind.

use super::Default::{Is, Required, Unset};
use super::Kind::{
    Choice, Count, Duration, Flag, Number, Packets, Queue, Rate, RateSteps, Share, Size, Tables,
    Text,
};
use super::{Field, Section, field};

const DISTRIBUTIONS: &[&str] = &[
    "uniform",
    "uniform-unit",
    "normal",
    "exponential",
    "pareto",
    "pareto-normal",
];

const NAME: Field = field("name", Text, Is(""), "For keys of the grid.");
const KIND: Field = field("kind", Text, Required, "Which stage.");
const CORRELATION: Field = field(
    "correlation",
    Share,
    Is("0 %"),
    "Of each draw with the one before.",
);

const RATE: Field = field("rate", Rate, Required, "Bits per second on the wire.");
const RATE_CHANGES: Field = field(
    "rate_changes",
    RateSteps,
    Unset("none"),
    "`[[\"5 s\", \"30 Mbit/s\"], ...]`: from then on this rate; \"0 bit/s\" is an outage.",
);
const RATE_PERIOD: Field = field(
    "rate_period",
    Duration,
    Unset("once"),
    "The changes repeat so often.",
);
const PROPAGATION: Field = field("delay", Duration, Is("0 s"), "Propagation.");
const QUEUE: Field = field(
    "queue",
    Queue,
    Is("unlimited"),
    "What waits at most; the packet being sent does not wait.",
);
const RTT: Field = field(
    "rtt",
    Duration,
    Unset("needed by a queue in BDP"),
    "Round-trip time of a bandwidth-delay product.",
);
const FRAMING: Field = field(
    "framing",
    Choice(&["ethernet", "ethernet-header", "ppp", "none"]),
    Is("ethernet"),
    "Bytes on the wire beside the IP packet: 38 of Ethernet with preamble and gap, 14, 2, 0.",
);

/// The kinds of stages, with their keys.
pub static STAGES: &[Section] = &[
    Section {
        name: "link",
        about: "Rate, propagation and a drop-tail queue.",
        fields: &[
            KIND,
            NAME,
            RATE,
            RATE_CHANGES,
            RATE_PERIOD,
            PROPAGATION,
            QUEUE,
            RTT,
            FRAMING,
        ],
    },
    Section {
        name: "delay",
        about: "Each packet is delayed by a draw of its own, as netem does; what is drawn shorter overtakes.",
        fields: &[
            KIND,
            NAME,
            field("delay", Duration, Required, "Mean."),
            field(
                "jitter",
                Duration,
                Is("0 s"),
                "Standard deviation of a normal one, half the range of a uniform one.",
            ),
            field(
                "distribution",
                Choice(DISTRIBUTIONS),
                Is("normal"),
                "Shape of the jitter.",
            ),
            CORRELATION,
            field(
                "limit",
                Packets,
                Unset("none"),
                "Packets delayed at once at most; netem's own is 1000.",
            ),
        ],
    },
    Section {
        name: "loss",
        about: "Packets are lost.",
        fields: &[
            KIND,
            NAME,
            field(
                "model",
                Choice(&["uniform", "gilbert-elliott", "markov"]),
                Is("uniform"),
                "Each for itself; two states; netem's four.",
            ),
            field(
                "probability",
                Share,
                Unset("needed by uniform"),
                "Of the loss of a packet.",
            ),
            CORRELATION,
            field(
                "to_bad",
                Share,
                Unset("needed by gilbert-elliott"),
                "From good to bad (p).",
            ),
            field(
                "to_good",
                Share,
                Unset("1 - to_bad"),
                "From bad to good (r).",
            ),
            field(
                "loss_in_bad",
                Share,
                Is("100 %"),
                "Of a packet in the bad state (1 - h).",
            ),
            field(
                "loss_in_good",
                Share,
                Is("0 %"),
                "Of a packet in the good state (1 - k).",
            ),
            field("p13", Share, Unset("needed by markov"), "A burst begins."),
            field("p31", Share, Unset("1 - p13"), "A burst ends."),
            field("p32", Share, Is("0 %"), "A good packet within a burst."),
            field("p23", Share, Is("100 %"), "Lost again after it."),
            field("p14", Share, Is("0 %"), "Lost alone."),
        ],
    },
    Section {
        name: "duplicate",
        about: "Packets come twice.",
        fields: &[
            KIND,
            NAME,
            field("probability", Share, Required, "Of a second copy."),
            CORRELATION,
            field(
                "copy_delay",
                Duration,
                Is("0 s"),
                "From the original to its copy.",
            ),
        ],
    },
    Section {
        name: "corrupt",
        about: "Packets are damaged.",
        fields: &[
            KIND,
            NAME,
            field("probability", Share, Required, "Of damage."),
            CORRELATION,
            field(
                "discard",
                Flag,
                Is("false"),
                "Damaged packets end here; otherwise the receiver's checksum finds them.",
            ),
        ],
    },
    Section {
        name: "reorder",
        about: "Some packets skip a delay, as with netem's `reorder P gap N`.",
        fields: &[
            KIND,
            NAME,
            field(
                "probability",
                Share,
                Is("100 %"),
                "Of skipping, when it is a packet's turn.",
            ),
            CORRELATION,
            field(
                "gap",
                Count,
                Is("1"),
                "Its turn comes after gap - 1 delayed packets.",
            ),
            field("delay", Duration, Required, "Of those that do not skip."),
        ],
    },
    Section {
        name: "late",
        about: "A share of the packets comes later by a fixed time (the mobile paper's change to netem).",
        fields: &[
            KIND,
            NAME,
            field("probability", Share, Required, "Of being late."),
            CORRELATION,
            field("delay", Duration, Required, "Later by so much."),
        ],
    },
    Section {
        name: "batch",
        about: "A box on the way that takes packets by interrupt: what has come since the last one goes on in one instant.",
        fields: &[
            KIND,
            NAME,
            field(
                "delay",
                Duration,
                Is("0 s"),
                "From the first packet that waits to the interrupt.",
            ),
            field(
                "gap",
                Duration,
                Is("250 us"),
                "From one interrupt to the next at least (interrupt throttling).",
            ),
        ],
    },
    Section {
        name: "periodic",
        about: "A link whose queue moves its head back (Kimura and others, ICN 2018).",
        fields: &[
            KIND,
            NAME,
            field(
                "interval",
                Packets,
                Required,
                "RI: the packet at the head is moved behind so many others; 0: never.",
            ),
            RATE,
            RATE_CHANGES,
            RATE_PERIOD,
            PROPAGATION,
            QUEUE,
            RTT,
            FRAMING,
        ],
    },
    Section {
        name: "spray",
        about: "Packets over several unequal paths.",
        fields: &[
            KIND,
            NAME,
            field(
                "policy",
                Choice(&["random", "round-robin", "flow", "flowlet"]),
                Is("random"),
                "Who goes where.",
            ),
            field(
                "flowlet_gap",
                Duration,
                Is("50 ms"),
                "A pause after which a flow may change its path.",
            ),
            field("lane", Tables(&LANE), Required, "The paths."),
        ],
    },
    Section {
        name: "radio",
        about: "Bursts of late packets, as LTE's retransmissions make them.",
        fields: &[
            KIND,
            NAME,
            field(
                "tti",
                Duration,
                Is("1 ms"),
                "Transmission time interval; its packets share a block.",
            ),
            field(
                "block_error",
                Share,
                Is("10 %"),
                "A block fails, the one before having succeeded.",
            ),
            field(
                "block_error_again",
                Share,
                Is("10 %"),
                "The same, the one before having failed.",
            ),
            field(
                "retransmission_error",
                Share,
                Is("10 %"),
                "A retransmission fails.",
            ),
            field(
                "harq_rtt",
                Duration,
                Is("8 ms"),
                "From a transmission to the next of the same block.",
            ),
            field(
                "harq_retransmissions",
                Count,
                Is("4"),
                "By HARQ, before RLC.",
            ),
            field(
                "rlc_delay",
                super::Kind::DurationOrOff,
                Is("20 ms"),
                "More when RLC retransmits; off: the block is lost.",
            ),
            field("in_order", Flag, Is("false"), "RLC releases in order."),
        ],
    },
    Section {
        name: "shared-link",
        about: "A link shared with cross traffic.",
        fields: &[
            KIND,
            NAME,
            RATE,
            RATE_CHANGES,
            RATE_PERIOD,
            PROPAGATION,
            QUEUE,
            RTT,
            FRAMING,
            field(
                "cross",
                Tables(&CROSS),
                Required,
                "Sources of cross traffic.",
            ),
        ],
    },
    Section {
        name: "token-bucket",
        about: "Tokens as in TBF or HTB.",
        fields: &[
            KIND,
            NAME,
            field("rate", Rate, Required, "Of tokens."),
            field("burst", Size, Required, "Tokens the bucket holds."),
            field(
                "peak_rate",
                Rate,
                Unset("no second bucket"),
                "Of a second bucket that limits bursts.",
            ),
            field(
                "peak_burst",
                Size,
                Is("1514 B"),
                "Tokens the second bucket holds.",
            ),
            field(
                "charge",
                Choice(&["before", "after"]),
                Is("before"),
                "Tokens must be there (TBF), or a debt may stay (HTB).",
            ),
            QUEUE,
            RTT,
            field(
                "framing",
                Choice(&["ethernet", "ethernet-header", "ppp", "none"]),
                Is("ethernet-header"),
                "What is charged beside the IP packet.",
            ),
        ],
    },
    Section {
        name: "netem",
        about: "All of netem in the kernel's order: duplicate, loss, corrupt, limit, delay.",
        fields: &[
            KIND,
            NAME,
            field("delay", Duration, Is("0 s"), "Mean."),
            field(
                "jitter",
                Duration,
                Is("0 s"),
                "Standard deviation of a normal one, half the range of a uniform one.",
            ),
            field(
                "distribution",
                Choice(DISTRIBUTIONS),
                Is("uniform"),
                "Shape of the jitter.",
            ),
            CORRELATION,
            field(
                "limit",
                Packets,
                Is("1000 packets"),
                "Packets in it at once at most.",
            ),
            field(
                "duplicate",
                Share,
                Is("0 %"),
                "Probability of a second copy.",
            ),
            field(
                "duplicate_correlation",
                Share,
                Is("0 %"),
                "Of each draw with the one before.",
            ),
            field("loss", Share, Is("0 %"), "Probability of loss."),
            field(
                "loss_correlation",
                Share,
                Is("0 %"),
                "Of each draw with the one before.",
            ),
            field("corrupt", Share, Is("0 %"), "Probability of damage."),
            field(
                "corrupt_correlation",
                Share,
                Is("0 %"),
                "Of each draw with the one before.",
            ),
            field(
                "reorder",
                Share,
                Is("0 %"),
                "Probability of being sent at once.",
            ),
            field(
                "reorder_correlation",
                Share,
                Is("0 %"),
                "Of each draw with the one before.",
            ),
            field(
                "gap",
                Count,
                Is("1"),
                "A packet's turn to be sent at once comes after gap - 1 delayed ones.",
            ),
            field(
                "rate",
                Rate,
                Unset("none"),
                "`rate`: each packet is timed from the last one queued.",
            ),
        ],
    },
];

/// `[[forward.lane]]`.
pub static LANE: Section = Section {
    name: "lane",
    about: "One of the paths packets are sprayed over.",
    fields: &[
        RATE,
        RATE_CHANGES,
        RATE_PERIOD,
        PROPAGATION,
        QUEUE,
        RTT,
        FRAMING,
    ],
};

/// `[[forward.cross]]`.
pub static CROSS: Section = Section {
    name: "cross",
    about: "A source of cross traffic.",
    fields: &[
        field(
            "pattern",
            Choice(&["constant", "poisson", "on-off"]),
            Is("poisson"),
            "When it sends; on-off with Pareto times.",
        ),
        field("rate", Rate, Required, "While it sends, of IP packets."),
        field("size", Size, Is("1500 B"), "Of each packet."),
        field("on", Duration, Is("500 ms"), "Mean time on."),
        field("off", Duration, Is("500 ms"), "Mean time off."),
        field(
            "shape",
            Number,
            Is("1.5"),
            "Index of both times, above 1; below 2 the variance is infinite.",
        ),
    ],
};
