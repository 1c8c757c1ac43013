//! The headline as a function of what held a flow back: each clause is true of constructed limits, and a program can read it.

use inorder_analysis::cure::Cure;
use inorder_analysis::{Analysis, Claim, headline};
use inorder_detect::{Cause, Confidence, FlowReport, Host, Vantage};
use inorder_limits::{Limit, LimitSet, Limits, Share, Window};

use crate::sample::{self, recovered};

mod limits;
mod open;
mod troubles;

const MS: i64 = 1_000_000;

/// Limits over a life of ten seconds, in hundredths of it.
fn limits(shares: &[(&[Limit], i64)]) -> Limits {
    let mut limits = Limits::default();
    limits.begun_ns = sample::START_NS;
    limits.ended_ns = sample::START_NS + 10_000 * MS;
    limits.shares = shares
        .iter()
        .map(|(set, percent)| Share {
            limits: LimitSet::of(set),
            ns: percent * 100 * MS,
            confidence: Confidence::Likely,
        })
        .collect();
    limits
}

/// A capture of one flow of 640 packets over these limits, changed by `change`.
fn with(shares: &[(&[Limit], i64)], change: impl FnOnce(&mut FlowReport)) -> Analysis {
    let mut flow = sample::clean(1);
    flow.limits = limits(shares);
    flow.limits.line_bps = Some(40_000_000);
    change(&mut flow);
    Analysis {
        flows: vec![flow],
        ..Analysis::default()
    }
}

fn said(analysis: &Analysis) -> String {
    headline(analysis).to_string()
}

fn kinds(analysis: &Analysis) -> Vec<&'static str> {
    headline(analysis).claims.iter().map(Claim::kind).collect()
}

/// The first sentence behind the name and the speed of the flow.
fn lead(analysis: &Analysis) -> String {
    behind_its_speed(&headline(analysis).lead)
}

/// All that is said behind the name and the speed of the flow.
fn told(analysis: &Analysis) -> String {
    behind_its_speed(&headline(analysis).to_string())
}

fn behind_its_speed(said: &str) -> String {
    let (_, behind) = said.split_once("round trip 42.1 ms): ").expect(said);
    behind.to_owned()
}
