//! `--flow`, and what to say if nothing was selected.

use inorder_analysis::{Analysis, StreamReport};
use inorder_detect::FlowReport;
use inorder_detect::columns::{name, stream_name};
use inorder_report::number::plural;

use super::Args;

/// Maximum number of flows that a message names.
const NAMED: usize = 3;

/// Keeps the flows and streams of `--flow`. Returns one line if the options that select left nothing of what the
/// captures contain.
pub fn keep(args: &Args, analyses: &mut [Analysis]) -> Option<String> {
    if analyses.is_empty() {
        return None;
    }
    if !args.select.is_all() && analyses.iter().all(is_empty) {
        return Some(nothing_selected(args, analyses));
    }
    let text = args.flow.as_deref()?;
    let there_are = names(analyses);
    for analysis in analyses.iter_mut() {
        analysis.flows.retain(|flow| has(flow, text));
        analysis.streams.retain(|stream| has_stream(stream, text));
    }
    analyses.iter().all(is_empty).then(|| {
        let problem = format!("--flow {text}: no flow or stream has this in its name");
        match there_are.len() {
            0 => format!("{problem}; there are none"),
            n if n > NAMED => format!(
                "{problem}; there are {} and {} more",
                there_are[..NAMED].join(", "),
                n - NAMED
            ),
            _ => format!("{problem}; there are {}", there_are.join(", ")),
        }
    })
}

fn is_empty(analysis: &Analysis) -> bool {
    analysis.flows.is_empty() && analysis.streams.is_empty()
}

fn has(flow: &FlowReport, text: &str) -> bool {
    flow.flow.to_string().contains(text)
}

fn has_stream(stream: &StreamReport, text: &str) -> bool {
    format!("{}->{}", stream.src, stream.dst).contains(text)
}

fn names(analyses: &[Analysis]) -> Vec<String> {
    let flows = analyses.iter().flat_map(|analysis| &analysis.flows);
    let streams = analyses.iter().flat_map(|analysis| &analysis.streams);
    let flows = flows.map(|flow| name(&flow.flow));
    flows.chain(streams.map(stream_name)).collect()
}

fn nothing_selected(args: &Args, analyses: &[Analysis]) -> String {
    let frames = analyses.iter().map(|analysis| analysis.frames).sum::<u64>();
    let left_out = analyses
        .iter()
        .map(|analysis| analysis.left_out)
        .sum::<u64>();
    format!(
        "{}: selects no flow with data; {} of {} selected",
        args.select.describe(),
        plural(frames, "frame"),
        plural(frames + left_out, "frame"),
    )
}
