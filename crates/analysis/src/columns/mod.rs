//! The columns of captures, of comparisons with the other end, and of the JSON document. The columns of flows, events
//! and streams are defined beside their types ([`inorder_detect::columns`]).

mod frames;
mod lists;
mod peers;

use std::io;

use inorder_detect::columns::{
    ATTEMPTS, ENDED_EARLY, EVENT, FLOW, FLOW_ID, FLOW_PLACE, RECOVERY, RETRANSMISSION, STREAM,
    TOTALS,
};
use inorder_detect::{Event, FlowId, FlowReport, Recovery, Retransmission};
use inorder_pairing::{AGREEMENT, COUNTS, Matched};
use inorder_report::Name;
use inorder_report::json::Json;
use inorder_report::schema::Schema;
use inorder_report::{Column, Element, Kind, List, Maybe, Nested, Object, Sheet, Value};

pub(crate) use self::frames::{frame_rows, frames};
pub(crate) use self::lists::{
    attempt_rows, attempts, bucket_rows, buckets, cause_rows, causes, rate_extent_rows,
    rate_extents, rate_rows, rates, replay_window_rows, replay_windows, skipped, skipped_rows,
    stream_rows, stream_what_if_rows, stream_what_ifs, streams, upstream, upstream_rows,
    what_if_rows, what_ifs,
};
pub(crate) use self::peers::{peer_rows, peers};
use crate::cure::{ACTION, Cure, Why};
use crate::headline::{CLAIM, headline};
use crate::model::Analysis;
use crate::peer::{PeerComparison, PeerFlow};

/// Value of the member `schema`.
pub const SCHEMA: &str = "inorder-analyze/1";

/// All analyses as one JSON object.
pub(crate) static DOCUMENT: &[Column<[Analysis]>] = &[
    Column::format(&[SCHEMA]),
    Column::nested(
        "files",
        "The captures, in the order given.",
        &List {
            columns: FILE,
            of: |all: &[Analysis]| all,
        },
    ),
    Column::nested(
        "flows",
        "The flows of all files, file by file.",
        &FlowsOfAll,
    ),
];

/// The flows of all files, each with the name of its file.
struct FlowsOfAll;

impl Nested<[Analysis]> for FlowsOfAll {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(&flows()))
    }

    fn write(&self, analyses: &[Analysis], json: &mut Json<'_>) -> io::Result<()> {
        json.array(&flows(), flow_rows(analyses))
    }
}

type File = Column<Analysis>;

/// Columns that name the capture to which a flow, an event, ... belongs.
static FILE_NAME: &[Column<Analysis>] = &[Column::new(
    "file",
    Kind::Text,
    "Name of the capture, as it was given.",
    |a| (&a.file).into(),
)];

/// A capture.
pub(crate) static FILE: &[Column<Analysis>] = &[
    FILE_NAME[0],
    File::new("format", Kind::Text, "Format, for people.", |a| {
        (&a.format).into()
    }),
    File::new(
        "frames",
        Kind::Count,
        "Frames analysed: all that were read, or those that --filter, --from and --to select.",
        |a| a.frames.into(),
    ),
    File::new(
        "left_out",
        Kind::Count,
        "Frames that --filter, --from and --to left out; no other number counts them.",
        |a| a.left_out.into(),
    ),
    File::new("bytes", Kind::Bytes, "Their size on the wire.", |a| {
        a.bytes.into()
    }),
    File::new(
        "first_ns",
        Kind::Instant,
        "Earliest frame; 0 without frames.",
        |a| a.first_ns.into(),
    ),
    File::new(
        "last_ns",
        Kind::Instant,
        "Latest frame; 0 without frames.",
        |a| a.last_ns.into(),
    ),
    File::new(
        "flows",
        Kind::Count,
        "How many members of the top-level `flows` belong to this file.",
        |a| a.flows.len().into(),
    ),
    File::new(
        "headline",
        Kind::Text,
        "The result in at most three sentences, the worst trouble first.",
        |a| headline(a).to_string().into(),
    ),
    File::nested(
        "claims",
        "The clauses of the headline in their order, with the numbers by which each can be checked.",
        &Claims,
    ),
    File::nested(
        "summed",
        "Sums over the flows of this file that are not among them: those that matter less (--max-flows).",
        &Object {
            columns: TOTALS,
            of: |a: &Analysis| &a.summed,
        },
    ),
    File::nested(
        "ended_early",
        "Connections that were ended early because the memory was used up (--memory).",
        &Object {
            columns: ENDED_EARLY,
            of: |a: &Analysis| &a.ended_early,
        },
    ),
    File::nested(
        "attempts",
        "Attempts to open connections that carried no data.",
        &Object {
            columns: ATTEMPTS,
            of: |a: &Analysis| &a.attempts,
        },
    ),
    File::nested(
        "skipped",
        "Frames that could not be analysed, by reason.",
        &List {
            columns: SKIPPED,
            of: |a: &Analysis| &a.skipped,
        },
    ),
    File::new(
        "warnings",
        Kind::List(Element::Text),
        "Limits of the result: damage, interruption, ...",
        |a| Value::List(a.warnings.iter().map(Value::from).collect()),
    ),
    File::nested(
        "streams",
        "Numbered packets other than TCP.",
        &List {
            columns: STREAM,
            of: |a: &Analysis| &a.streams,
        },
    ),
    File::new(
        "limited_by",
        Kind::Text,
        "Says that reordering is not the problem, and what is; empty if it is, or if nothing is wrong.",
        |a| Cure::of(a).reordering_is_not_it.into(),
    ),
    File::nested(
        "actions",
        "What can be done, the most effective action first.",
        &Actions,
    ),
    File::new(
        "no_action",
        Kind::Choice(Why::NAMES),
        "Why nothing is proposed that would make the flows faster: nothing would, or not enough is known.",
        |a| Cure::of(a).none.map(|none| none.why.name()).into(),
    )
    .optional(),
    File::nested(
        "peer",
        "Comparison with the other end (--peer).",
        &Maybe {
            columns: PEER,
            of: |a: &Analysis| a.peer.as_ref(),
        },
    ),
];

/// The columns of captures.
pub(crate) fn files<'c>() -> Sheet<'c, &'c Analysis> {
    Sheet::new().with(FILE, |analysis: &&'c Analysis| *analysis)
}

/// All captures.
pub(crate) fn file_rows(analyses: &[Analysis]) -> impl Iterator<Item = &Analysis> {
    analyses.iter()
}

/// The actions for a capture.
struct Actions;

impl Nested<Analysis> for Actions {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(ACTION))
    }

    fn write(&self, analysis: &Analysis, json: &mut Json<'_>) -> io::Result<()> {
        json.array(ACTION, Cure::of(analysis).actions.iter())
    }
}

/// The clauses of the headline.
struct Claims;

impl Nested<Analysis> for Claims {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(CLAIM))
    }

    fn write(&self, analysis: &Analysis, json: &mut Json<'_>) -> io::Result<()> {
        json.array(CLAIM, headline(analysis).claims.iter())
    }
}

/// Frames that could not be analysed for one reason.
static SKIPPED: &[Column<(String, u64)>] = &[
    Column::new("reason", Kind::Text, "Why.", |s| (&s.0).into()),
    Column::new("count", Kind::Count, "How many.", |s| s.1.into()),
];

type Peer = Column<PeerComparison>;

/// The comparison with the other end.
static PEER: &[Column<PeerComparison>] = &[
    Peer::new("file", Kind::Text, "The other capture.", |p| {
        (&p.file).into()
    }),
    Peer::nested(
        "flows",
        "Flows that both captures hold.",
        &List {
            columns: PEER_FLOW,
            of: |p: &PeerComparison| &p.flows,
        },
    ),
    Peer::new(
        "only_here",
        Kind::List(Element::Text),
        "Flows that only this capture holds.",
        |p| names(&p.only_here),
    ),
    Peer::new(
        "only_there",
        Kind::List(Element::Text),
        "Flows that only the other capture holds.",
        |p| names(&p.only_there),
    ),
    Peer::new(
        "ambiguous",
        Kind::List(Element::Text),
        "Of those in only_here, the flows that match several flows of the other capture.",
        |p| names(&p.ambiguous),
    ),
];

fn names(flows: &[FlowId]) -> Value<'static> {
    let names: Vec<String> = flows.iter().map(FlowId::to_string).collect();
    names.into()
}

type Both = Column<PeerFlow>;

/// A flow seen at both ends.
static PEER_FLOW: &[Column<PeerFlow>] = &[
    Both::new(
        "flow",
        Kind::Text,
        "`src:port->dst:port`, the direction of the data; IPv6 addresses in brackets.",
        |f| f.flow.to_string().into(),
    ),
    Both::new(
        "there",
        Kind::Text,
        "The name of the same flow in the other capture; a device on the path may have translated it.",
        |f| f.there.to_string().into(),
    ),
    Both::new(
        "matched_by",
        Kind::Choice(Matched::NAMES),
        "How the two were matched: addresses and ports; sequence numbers and timestamps of packets; \
         both initial sequence numbers; distances from those and timestamps, where something on \
         the path numbers anew.",
        |f| f.matched.name().into(),
    ),
    Both::nested(
        "truth",
        "Counts with both captures in hand.",
        &Object {
            columns: COUNTS,
            of: |f: &PeerFlow| &f.truth,
        },
    ),
    Both::nested(
        "inferred",
        "Counts as inferred from this capture alone.",
        &Object {
            columns: COUNTS,
            of: |f: &PeerFlow| &f.inferred,
        },
    ),
    Both::nested(
        "reordered",
        "Reordered packets, packet by packet.",
        &Object {
            columns: AGREEMENT,
            of: |f: &PeerFlow| &f.reordered,
        },
    ),
    Both::nested(
        "lost",
        "Lost packets, packet by packet.",
        &Object {
            columns: AGREEMENT,
            of: |f: &PeerFlow| &f.lost,
        },
    ),
    Both::nested(
        "refused",
        "Packets that arrived and that the receiver discarded, packet by packet.",
        &Object {
            columns: AGREEMENT,
            of: |f: &PeerFlow| &f.refused,
        },
    ),
    Both::nested(
        "spurious",
        "Spurious retransmissions, one by one.",
        &Object {
            columns: AGREEMENT,
            of: |f: &PeerFlow| &f.spurious,
        },
    ),
    Both::new(
        "extents_compared",
        Kind::Count,
        "Packets that both call reordered.",
        |f| f.extents.compared.into(),
    ),
    Both::new(
        "extents_exact",
        Kind::Share,
        "Share with the same extent.",
        |f| f.extents.exact_share().into(),
    )
    .optional(),
    Both::new(
        "extents_within_one",
        Kind::Share,
        "Share at most one packet apart.",
        |f| f.extents.within_one_share().into(),
    )
    .optional(),
];

/// An item of a flow (the flow itself, an event, ...) with the file and flow in which it was found.
pub(crate) struct Row<'a, T> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    of: &'a T,
}

/// A flow.
pub(crate) type FlowRow<'a> = Row<'a, FlowReport>;

/// File and flow, then the columns of `T`.
fn sheet<'c, 'a: 'c, T>(columns: &'static [Column<T>]) -> Sheet<'c, Row<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &Row<'a, T>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(columns, |row| row.of)
}

/// The rows of some part of every flow.
fn rows<'a, T>(
    analyses: &'a [Analysis],
    part: fn(&'a FlowReport) -> &'a [T],
) -> impl Iterator<Item = Row<'a, T>> {
    analyses.iter().flat_map(move |analysis| {
        analysis
            .flows
            .iter()
            .flat_map(move |flow| part(flow).iter().map(move |of| Row { analysis, flow, of }))
    })
}

/// The columns of flows.
pub(crate) fn flows<'c, 'a: 'c>() -> Sheet<'c, FlowRow<'a>> {
    sheet(FLOW)
}

/// The flows of all files.
pub(crate) fn flow_rows(analyses: &[Analysis]) -> impl Iterator<Item = FlowRow<'_>> {
    rows(analyses, std::slice::from_ref)
}

/// The columns of events in CSV and Parquet.
pub(crate) fn events<'c, 'a: 'c>() -> Sheet<'c, Row<'a, Event>> {
    sheet(EVENT)
}

/// The events of all flows.
pub(crate) fn event_rows(analyses: &[Analysis]) -> impl Iterator<Item = Row<'_, Event>> {
    rows(analyses, |flow| &flow.records.events)
}

/// The columns of retransmissions in CSV and Parquet.
pub(crate) fn retransmissions<'c, 'a: 'c>() -> Sheet<'c, Row<'a, Retransmission>> {
    sheet(RETRANSMISSION)
}

/// The retransmissions of all flows.
pub(crate) fn retransmission_rows(
    analyses: &[Analysis],
) -> impl Iterator<Item = Row<'_, Retransmission>> {
    rows(analyses, |flow| &flow.records.retransmissions)
}

/// The columns of recoveries in CSV and Parquet.
pub(crate) fn recoveries<'c, 'a: 'c>() -> Sheet<'c, Row<'a, Recovery>> {
    sheet(RECOVERY)
}

/// The recoveries of all flows.
pub(crate) fn recovery_rows(analyses: &[Analysis]) -> impl Iterator<Item = Row<'_, Recovery>> {
    rows(analyses, |flow| &flow.recoveries.list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_columns_is_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(DOCUMENT), none);
        assert_eq!(inorder_report::problems(FILE), none);
        assert_eq!(inorder_report::problems(ACTION), none);
        assert_eq!(inorder_report::problems(CLAIM), none);
        assert_eq!(inorder_report::problems(PEER), none);
        assert_eq!(inorder_report::problems(&flows()), none);
        assert_eq!(inorder_report::problems(&events()), none);
        assert_eq!(inorder_report::problems(&retransmissions()), none);
        assert_eq!(inorder_report::problems(&recoveries()), none);
        assert_eq!(inorder_report::problems(crate::frames::FRAME), none);
    }
}
