//! The verdicts on single frames, with the flow to which each frame belongs.

use inorder_detect::FlowReport;
use inorder_detect::columns::{FLOW_ID, FLOW_PLACE};
use inorder_report::Sheet;

use super::FILE_NAME;
use crate::frames::{FRAME, FrameVerdict, verdicts};
use crate::model::Analysis;

/// A verdict with the file and flow of its frame.
pub(crate) struct FrameRow<'a> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    verdict: FrameVerdict,
}

/// The columns of verdicts on frames.
pub(crate) fn frames<'c, 'a: 'c>() -> Sheet<'c, FrameRow<'a>> {
    Sheet::new()
        .with(FILE_NAME, |row: &FrameRow<'a>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(FRAME, |row| &row.verdict)
}

/// These of all files, in the order of each capture.
pub(crate) fn frame_rows(analyses: &[Analysis]) -> impl Iterator<Item = FrameRow<'_>> {
    analyses.iter().flat_map(|analysis| {
        let mut all: Vec<FrameRow<'_>> = Vec::new();
        for flow in &analysis.flows {
            let of_flow = verdicts(flow).into_iter();
            all.extend(of_flow.map(|verdict| FrameRow {
                analysis,
                flow,
                verdict,
            }));
        }
        all.sort_by_key(|row| row.verdict.frame());
        all
    })
}
