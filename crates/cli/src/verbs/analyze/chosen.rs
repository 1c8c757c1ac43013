//! `--flow`, and what to say if nothing was selected.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inorder_analysis::flows::{name, stream_name};
use inorder_analysis::{Analysis, StreamReport};
use inorder_detect::{FlowChoice, FlowId};
use inorder_report::number::plural;

use super::Args;

/// Maximum number of flows that a message names.
const NAMED: usize = 3;

/// The flows that `--flow` does not name: how many there are, and the first ones by name.
#[derive(Clone, Default)]
pub(super) struct Others(Arc<Mutex<Found>>);

/// How many flows there are, the first of them, and the streams.
#[derive(Default)]
struct Found {
    flows: u64,
    first: BTreeSet<FlowId>,
    streams: Vec<String>,
}

impl Others {
    /// Takes the flows whose name contains `text`, and notes the others here.
    pub(super) fn except(&self, text: &str) -> FlowChoice {
        let (others, text) = (self.clone(), text.to_owned());
        FlowChoice::new(move |flow| {
            let takes = has(flow, &text);
            if !takes {
                others.note(flow);
            }
            takes
        })
    }

    fn note(&self, flow: &FlowId) {
        let found = &mut *self.lock();
        found.flows += 1;
        found.first.insert(*flow);
        if found.first.len() > NAMED {
            found.first.pop_last();
        }
    }

    /// Keeps the streams whose name contains `text`, and notes all here.
    pub(super) fn keep_streams(&self, text: &str, analysis: &mut Analysis) {
        let names = analysis.streams.iter().map(stream_name);
        self.lock().streams.extend(names);
        analysis.streams.retain(|stream| has_stream(stream, text));
    }

    /// A thread that panicked aborts the program: what it left behind can be used.
    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the flows and streams of `--flow`; `others` are flows that were dropped before for its sake. Returns one line
/// if the options that select left nothing of what the captures contain.
pub(super) fn keep(args: &Args, others: &Others, analyses: &mut [Analysis]) -> Option<String> {
    if analyses.is_empty() {
        return None;
    }
    if !args.select.is_all() && analyses.iter().all(is_empty) {
        return Some(nothing_selected(args, analyses));
    }
    let text = args.flow.as_deref()?;
    // A comparison with the other end needs all flows: they are dropped only now.
    let all = analyses.iter().flat_map(|analysis| &analysis.flows);
    let unnamed = all.map(|flow| flow.flow).filter(|flow| !has(flow, text));
    unnamed.for_each(|flow| others.note(&flow));
    for analysis in analyses.iter_mut() {
        analysis.flows.retain(|flow| has(&flow.flow, text));
    }
    for analysis in analyses.iter_mut() {
        others.keep_streams(text, analysis);
    }
    analyses.iter().all(is_empty).then(|| {
        let problem = format!("--flow {text}: no flow or stream has this in its name");
        let found = &*others.lock();
        let names = found.first.iter().map(name);
        let names = names.chain(found.streams.iter().cloned());
        let names: Vec<String> = names.take(NAMED).collect();
        match found.flows + found.streams.len() as u64 - names.len() as u64 {
            _ if names.is_empty() => format!("{problem}; there are none"),
            0 => format!("{problem}; there are {}", names.join(", ")),
            more => format!("{problem}; there are {} and {more} more", names.join(", ")),
        }
    })
}

fn is_empty(analysis: &Analysis) -> bool {
    analysis.flows.is_empty() && analysis.streams.is_empty()
}

fn has(flow: &FlowId, text: &str) -> bool {
    flow.to_string().contains(text)
}

fn has_stream(stream: &StreamReport, text: &str) -> bool {
    format!("{}->{}", stream.key.src, stream.key.dst).contains(text)
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
