//! The names results carry in machine-readable output: kebab-case, stable.

use crate::{AfterTimeout, Duplicates, Echo, Identification, Repeats, TooOld};
use crate::{
    Bound, Evidence, FastOpen, Half, Host, Kind, NotSeen, Outcome, PointKind, Reason, Verdict,
};

use inorder_report::names;

names!(Kind { Reordered => "reordered", Lost => "lost", Refused => "refused" });
names!(Bound { Exact => "exact", AtMost => "at-most", AtLeast => "at-least", About => "about" });
names!(Evidence {
    Sack => "sack",
    Dsack => "dsack",
    Timestamps => "timestamps",
    TimestampsDsack => "timestamps-dsack",
    Timing => "timing",
    Paws => "paws",
    Window => "window",
    CumulativeAck => "cumulative-ack",
    Silence => "silence",
    ArrivalIpId => "arrival-ip-id",
    ArrivalTimestamps => "arrival-timestamps",
    ArrivalTiming => "arrival-timing",
    Peer => "peer",
    Icmp => "icmp",
});
names!(FastOpen { Accepted => "accepted", Refused => "refused" });
names!(Host { Sender => "sender", Receiver => "receiver" });
names!(all Outcome {
    Unanswered => "unanswered",
    Refused => "refused",
    Unreachable => "unreachable",
    Unfinished => "unfinished",
    Open => "open",
    Traced => "traced",
});
names!(Reason {
    AckCompression => "ack-compression",
    BlockLimit => "block-limit",
    AcksMissing => "acks-missing",
    WhichCopy => "which-copy",
    NoSack => "no-sack",
    LoneCopy => "lone-copy",
    CoarseClock => "coarse-clock",
    NotSeen => "not-seen",
    Unanswered => "unanswered",
});
names!(all NotSeen {
    Vantage => "vantage",
    SackOptions => "sack-options",
    OneWay => "one-way",
    Order => "order",
    Times => "times",
    Sack => "sack",
    Holes => "holes",
});
names!(Half { EndToEnd => "end-to-end", Upstream => "upstream" });
names!(Verdict { Needed => "needed", Spurious => "spurious", Ambiguous => "ambiguous" });
names!(PointKind { Data => "data", Retransmission => "retransmission", Ack => "ack" });
names!(Identification {
    Unknown => "unknown",
    Own => "own",
    Host => "host",
    Zero => "zero",
    Random => "random",
    Kept => "kept",
});
names!(Repeats {
    Unknown => "unknown",
    InDoubt => "in-doubt",
    Renewed => "renewed",
    Kept => "kept",
});
names!(Duplicates { Unknown => "unknown", Reported => "reported", Unreported => "unreported" });
names!(TooOld { Unknown => "unknown", Reported => "reported", Taken => "taken" });
names!(Echo { Unknown => "unknown", LeftEdge => "left-edge", Newest => "newest" });
names!(AfterTimeout { Unknown => "unknown", Everything => "everything" });
