//! Flows, what they carry, and probes.

use super::Default::{Is, Required, Unset};
use super::Kind::{
    Choice, Count, Duration, Flag, Frequency, Rate, Size, SizeOrUnlimited, Table, Text,
};
use super::{ENDPOINT, Section, field};

/// `[[flow]]`.
pub static FLOW: Section = Section {
    name: "flow",
    about: "TCP connections of one kind.",
    fields: &[
        field(
            "name",
            Text,
            Is("flow"),
            "For tables, and for keys of the grid.",
        ),
        field("count", Count, Is("1"), "How many."),
        field(
            "direction",
            Choice(&["forward", "reverse"]),
            Is("forward"),
            "Data goes from A to B, or from B to A.",
        ),
        field("start", Duration, Is("0 s"), "The first one opens."),
        field(
            "stagger",
            Duration,
            Is("0 s"),
            "From one opening to the next.",
        ),
        field(
            "arrivals",
            Frequency,
            Unset("`stagger`"),
            "Openings as a Poisson process with this mean rate instead.",
        ),
        field(
            "stop",
            Duration,
            Unset("with the run"),
            "It writes no more from here on.",
        ),
        field(
            "size",
            SizeOrUnlimited,
            Is("unlimited"),
            "Data of each connection; then it is closed.",
        ),
        field(
            "application",
            Table(&APPLICATION),
            Unset("writes whatever TCP takes"),
            "When data is written.",
        ),
        field(
            "sender",
            Table(&ENDPOINT),
            Unset("its defaults"),
            "The endpoint that sends the data.",
        ),
        field(
            "receiver",
            Table(&ENDPOINT),
            Unset("as the sender"),
            "The endpoint that receives it; what is not given is as at the sender.",
        ),
        field(
            "access_delay",
            Duration,
            Is("0 s"),
            "Added each way for these connections alone.",
        ),
        field(
            "path",
            Choice(&["shared", "own"]),
            Is("shared"),
            "own: a host of its own, whose packets pass nothing but `access_delay` and meet the others' at the cards.",
        ),
        field(
            "events",
            Flag,
            Is("false"),
            "Events of these senders are recorded, whatever `output.events` says.",
        ),
    ],
};

/// `[flow.application]`.
pub static APPLICATION: Section = Section {
    name: "flow.application",
    about: "When data is written.",
    fields: &[
        field(
            "kind",
            Choice(&["bulk", "paced", "interactive"]),
            Is("bulk"),
            "Whatever TCP takes; a constant rate; one request after another, each answered.",
        ),
        field(
            "rate",
            Rate,
            Unset("needed by paced"),
            "Of a paced one, payload.",
        ),
        field(
            "write",
            Size,
            Is("1448 B"),
            "What a paced one writes at once.",
        ),
        field("request", Size, Is("100 B"), "Of an interactive one."),
        field("response", Size, Is("1000 B"), "Of an interactive one."),
        field(
            "think",
            Duration,
            Is("10 ms"),
            "From a response's last byte to the next request.",
        ),
        field(
            "think_times",
            Choice(&["constant", "exponential"]),
            Is("constant"),
            "How think times vary round their mean.",
        ),
    ],
};

/// `[[probe]]`.
pub static PROBE: Section = Section {
    name: "probe",
    about: "Numbered packets without TCP, as ping or UDP tools send them.",
    fields: &[
        field(
            "name",
            Text,
            Is("probe"),
            "For tables, and for keys of the grid.",
        ),
        field(
            "direction",
            Choice(&["forward", "reverse"]),
            Is("forward"),
            "From A to B, or from B to A.",
        ),
        field("rate", Rate, Required, "Of their IP packets."),
        field("size", Size, Is("1500 B"), "Each, from the IP header on."),
        field("count", Count, Unset("until the run ends"), "How many."),
        field("start", Duration, Is("0 s"), "The first one leaves."),
        field(
            "gaps",
            Choice(&["constant", "exponential"]),
            Is("constant"),
            "Distances of departures.",
        ),
        field(
            "metrics_threshold",
            super::Kind::Packets,
            Is("200 packets"),
            "Displacement threshold DT of reorder density (RFC 5236).",
        ),
    ],
};
