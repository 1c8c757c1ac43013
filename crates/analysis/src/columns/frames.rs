//! The verdicts on single frames, with the flow to which each frame belongs.

use super::lists::{Made, made_from};
use crate::frames::{FrameVerdict, verdicts};
use crate::model::Analysis;

/// The verdicts of all files, in the order of each capture.
pub(crate) fn frame_rows(analyses: &[Analysis]) -> impl Iterator<Item = Made<'_, FrameVerdict>> {
    analyses.iter().flat_map(|analysis| {
        let mut all: Vec<_> = made_from(analysis, verdicts).collect();
        all.sort_by_key(|row| row.own.frame());
        all
    })
}
