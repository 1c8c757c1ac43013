//! The file as a whole, the run and its outputs.

use super::Default::{Is, Unset};
use super::Kind::{Count, DurationOrOff, Flag, Other, Share, Size, Stages, Table, Tables, Text};
use super::{CARD, FLOW, Field, Kind, PROBE, Section, field};

/// The file.
pub static SCENARIO: Section = Section {
    name: "scenario",
    about: "The file as a whole. Flows and probes share both paths.",
    fields: &[
        field("title", Text, Is(""), "One line for people."),
        field(
            "run",
            Table(&RUN),
            Unset("its defaults"),
            "How long and how often.",
        ),
        field(
            "flow",
            Tables(&FLOW),
            Unset("none"),
            "TCP flows, `[[flow]]` each kind of them.",
        ),
        field(
            "probe",
            Tables(&PROBE),
            Unset("none"),
            "Numbered packets without TCP.",
        ),
        field(
            "forward",
            Stages,
            Unset("an ideal path"),
            "What packets pass from A to B, in order.",
        ),
        field(
            "reverse",
            Stages,
            Unset("an ideal path"),
            "What packets pass from B to A, in order.",
        ),
        field(
            "receiver_card",
            Table(&CARD),
            Unset("none: packets are taken one by one, at once"),
            "B's network card.",
        ),
        field(
            "sender_card",
            Table(&CARD),
            Unset("none"),
            "A's network card.",
        ),
        field(
            "output",
            Table(&OUTPUT),
            Unset("its defaults"),
            "What is recorded.",
        ),
        field(
            "grid",
            Other("a table of lists"),
            Unset("one cell"),
            "Keys of this file, dotted, and lists of values: every combination is a cell.",
        ),
    ],
};

/// `[run]`.
pub static RUN: Section = Section {
    name: "run",
    about: "How long a run lasts, and how often it is repeated.",
    fields: DURATIONS,
};

const DURATIONS: &[Field] = &[
    field(
        "duration",
        Kind::Duration,
        Is("10 s"),
        "Simulated time of a run.",
    ),
    field(
        "warm_up",
        Kind::Duration,
        Is("0 s"),
        "Measures count from here on; at least 1 ns shorter than `duration`.",
    ),
    field(
        "seed",
        Count,
        Is("1"),
        "Of all random streams; repetition n runs with a seed derived from it and n.",
    ),
    field("repetitions", Count, Is("1"), "Runs of each cell."),
    field(
        "confidence",
        Share,
        Is("95 %"),
        "Of the intervals over repetitions (Student's t).",
    ),
];

/// `[output]`.
pub static OUTPUT: Section = Section {
    name: "output",
    about: "What is recorded beside the counters.",
    fields: &[
        field(
            "trace_interval",
            DurationOrOff,
            Is("off"),
            "Window, threshold, throughput and more of each flow so often.",
        ),
        field(
            "events",
            Flag,
            Is("false"),
            "Every change of the window, every retransmission with its delay, every round-trip time.",
        ),
        field(
            "metrics",
            Flag,
            Is("false"),
            "All metrics of RFC 4737 and RFC 5236 before and after the receiver's card, not only the share reordered.",
        ),
        field(
            "snap_length",
            Size,
            Is("128 B"),
            "Bytes kept of each packet in captures, from the IP header on.",
        ),
    ],
};
