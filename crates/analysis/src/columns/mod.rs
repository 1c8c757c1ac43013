//! The columns of captures, of comparisons with the other end, and of the JSON document. Those of flows and events are in
//! [`crate::flows`].

mod frames;
mod lists;
mod peers;

use std::io;

use crate::flows::{ATTEMPTS, ENDED_EARLY, FLOW, FLOW_ID, FLOW_PLACE, STREAM, TOTALS};
use inorder_detect::{FlowId, FlowReport};
use inorder_pairing::{AGREEMENT, COUNTS, Matched};
use inorder_report::json::Json;
use inorder_report::schema::Schema;
use inorder_report::{Column, Element, Nested, Sheet, Value, columns};

pub(crate) use self::frames::frame_rows;
pub(crate) use self::lists::{
    BUCKET, EXTENTS_AT_RATE, buckets, extents_at_rates, file_sheet, in_files, in_streams, made,
    made_sheet, stream_sheet,
};
pub(crate) use self::peers::{peer_rows, peers};
use crate::cure::{ACTION, Cure, Why};
use crate::headline::{CLAIM, headline};
use crate::model::Analysis;
use crate::peer::{PeerComparison, PeerFlow};

/// Value of the member `schema`.
pub const SCHEMA: &str = "inorder-analyze/1";

columns! {
    /// All analyses as one JSON object.
    pub(crate) DOCUMENT: [Analysis], |all|
    format &[SCHEMA];
    "files": Rows(FILE), "The captures, in the order given." => all;
    "flows": Nested(FlowsOfAll), "The flows of all files, file by file." => all;
}

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

/// Columns that name the capture to which a flow, an event, ... belongs.
static FILE_NAME: &[Column<Analysis>] = FILE.split_at(1).0;

columns! {
    /// A capture.
    pub(crate) FILE: Analysis, |a|
    "file": Text, "Name of the capture, as it was given." => &a.file;
    "format": Text, "Format, for people." => &a.format;
    "frames": Count, "Frames analysed: all that were read, or those that --filter, --from and --to select."
        => a.frames;
    "left_out": Count, "Frames that --filter, --from and --to left out; no other number counts them." => a.left_out;
    "bytes": Bytes, "Their size on the wire." => a.bytes;
    "first_ns": Instant, "Earliest frame; 0 without frames." => a.first_ns;
    "last_ns": Instant, "Latest frame; 0 without frames." => a.last_ns;
    "flows": Count, "How many members of the top-level `flows` belong to this file." => a.flows.len();
    "headline": Text, "The result in at most three sentences, the worst trouble first." => headline(a).to_string();
    "claims": Nested(Claims), "The clauses of the headline in their order, with the numbers by which each can be checked."
        => a;
    "summed": Object(TOTALS), "Sums over the flows of this file that are not among them: those that matter less (--max-flows)."
        => &a.summed;
    "ended_early": Object(ENDED_EARLY), "Connections that were ended early because the memory was used up (--memory)."
        => &a.ended_early;
    "attempts": Object(ATTEMPTS), "Attempts to open connections that carried no data." => &a.attempts;
    "skipped": Rows(SKIPPED), "Frames that could not be analysed, by reason." => &a.skipped;
    "warnings": List(Element::Text), "Limits of the result: damage, interruption, ..."
        => Value::List(a.warnings.iter().map(Value::from).collect());
    "streams": Rows(STREAM), "Numbered packets other than TCP." => &a.streams;
    "limited_by": Text, "Says that reordering is not the problem, and what is; empty if it is, or if nothing is wrong."
        => Cure::of(a).reordering_is_not_it;
    "actions": Nested(Actions), "What can be done, the most effective action first." => a;
    "no_action": Choice(Why::NAMES), "Why nothing is proposed that would make the flows faster: nothing would, or not enough is known."
        => Cure::of(a).none.map(|none| none.why.name()), optional();
    "peer": Maybe(PEER), "Comparison with the other end (--peer)." => a.peer.as_ref();
}

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

columns! {
    /// Frames that could not be analysed for one reason.
    pub(crate) SKIPPED: (String, u64), |s|
    "reason": Text, "Why." => &s.0;
    "count": Count, "How many." => s.1;
}

columns! {
    /// The comparison with the other end.
    PEER: PeerComparison, |p|
    "file": Text, "The other capture." => &p.file;
    "flows": Rows(PEER_FLOW), "Flows that both captures hold." => &p.flows;
    "only_here": List(Element::Text), "Flows that only this capture holds." => names(&p.only_here);
    "only_there": List(Element::Text), "Flows that only the other capture holds." => names(&p.only_there);
    "ambiguous": List(Element::Text), "Of those in only_here, the flows that match several flows of the other capture."
        => names(&p.ambiguous);
}

fn names(flows: &[FlowId]) -> Value<'static> {
    let names: Vec<String> = flows.iter().map(FlowId::to_string).collect();
    names.into()
}

columns! {
    /// A flow seen at both ends.
    PEER_FLOW: PeerFlow, |f|
    "flow": Text, "`src:port->dst:port`, the direction of the data; IPv6 addresses in brackets."
        => f.flow.to_string();
    "there": Text, "The name of the same flow in the other capture; a device on the path may have translated it."
        => f.there.to_string();
    "matched_by": Choice(Matched::NAMES), "How the two were matched: addresses and ports; sequence numbers and timestamps of packets; both initial sequence numbers; distances from those and timestamps, where something on the path numbers anew."
        => f.matched.name();
    "truth": Object(COUNTS), "Counts with both captures in hand." => &f.found.truth;
    "inferred": Object(COUNTS), "Counts as inferred from this capture alone." => &f.found.inferred;
    "reordered": Object(AGREEMENT), "Reordered packets, packet by packet." => &f.found.reordered;
    "lost": Object(AGREEMENT), "Lost packets, packet by packet." => &f.found.lost;
    "refused": Object(AGREEMENT), "Packets that arrived and that the receiver discarded, packet by packet."
        => &f.found.refused;
    "spurious": Object(AGREEMENT), "Spurious retransmissions, one by one." => &f.found.spurious;
    "extents_compared": Count, "Packets that both call reordered." => f.found.extents.compared;
    "extents_exact": Share, "Share with the same extent." => f.found.extents.exact_share(), optional();
    "extents_within_one": Share, "Share at most one packet apart." => f.found.extents.within_one_share(), optional();
}

/// An item of a flow (the flow itself, an event, ...) with the file and flow in which it was found.
pub(crate) struct Row<'a, T> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    of: &'a T,
}

/// A flow.
pub(crate) type FlowRow<'a> = Row<'a, FlowReport>;

/// File and flow, then the columns of `T`.
pub(crate) fn sheet<'c, 'a: 'c, T>(columns: &'static [Column<T>]) -> Sheet<'c, Row<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &Row<'a, T>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(columns, |row| row.of)
}

/// The rows of some part of every flow.
pub(crate) fn rows<'a, T>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::{EVENT, RECOVERY, RETRANSMISSION};

    #[test]
    fn every_list_of_columns_is_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(DOCUMENT), none);
        assert_eq!(inorder_report::problems(FILE), none);
        assert_eq!(inorder_report::problems(ACTION), none);
        assert_eq!(inorder_report::problems(CLAIM), none);
        assert_eq!(inorder_report::problems(PEER), none);
        assert_eq!(inorder_report::problems(&flows()), none);
        assert_eq!(inorder_report::problems(&sheet(EVENT)), none);
        assert_eq!(inorder_report::problems(&sheet(RETRANSMISSION)), none);
        assert_eq!(inorder_report::problems(&sheet(RECOVERY)), none);
        assert_eq!(inorder_report::problems(crate::frames::FRAME), none);
    }
}
