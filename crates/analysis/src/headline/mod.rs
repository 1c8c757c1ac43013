//! The result in a few sentences that can be pasted into a ticket: what held the worst flow back, what went wrong with it
//! and whether reordering is the problem, what limits the conclusions, and what is there but not analysed.
//!
//! Every clause is a [`Claim`]: a function of the limits and verdicts of the analysis, with the numbers by which it can be
//! checked. `claim` has the words.

mod attempts;
mod claim;
mod doubts;
mod flow;
mod held;
mod open;
mod rest;
mod stream;
mod sure;
mod unread;

use std::fmt;

use inorder_detect::{FlowReport, Gravity, StreamReport, Totals};
use inorder_limits::Limit;
use inorder_report::number::{count, percent, plural};

pub use self::claim::{About, Claim, Counted, Nothing};
pub(crate) use self::claim::{CLAIM, cost_of};
pub(crate) use self::flow::parts;
pub use self::held::Held;
pub(crate) use self::held::{Why, bounds};
pub(crate) use self::open::{Teller, is_wait, noun};
use crate::gravity::{Subject, troubled};
use crate::model::Analysis;
use crate::shares;

/// What one capture shows, in up to four parts of one sentence or more.
///
/// ```
/// let nothing = inorder_analysis::Analysis { frames: 3, ..Default::default() };
/// let text = inorder_analysis::headline(&nothing).to_string();
/// assert_eq!(text, "No TCP flow with data and no numbered stream among 3 frames.");
/// let answers = inorder_analysis::Analysis { frames: 40, tcp: 40, ..Default::default() };
/// let text = inorder_analysis::headline(&answers).to_string();
/// assert!(text.ends_with("40 TCP packets carry no data: was the direction of the data captured?"));
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Headline {
    /// The first sentence: what held the worst flow back longest, or its worst trouble, or that of a stream.
    pub lead: String,
    /// What else held it back, other troubles, and what reordering has to do with them.
    pub rest: Option<String>,
    /// What limits the conclusions.
    pub doubts: Option<String>,
    /// What the capture has that is not analysed, and what would help, if the lead does not say so.
    pub unread: Option<String>,
    /// Every clause of these sentences, in their order, with its numbers.
    pub claims: Vec<Claim>,
}

impl fmt::Display for Headline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lead)?;
        for sentence in [&self.rest, &self.doubts, &self.unread]
            .into_iter()
            .flatten()
        {
            write!(f, " {sentence}")?;
        }
        Ok(())
    }
}

/// Describes the result of one analysis.
pub fn headline(analysis: &Analysis) -> Headline {
    let troubled = in_order(analysis);
    let totals = analysis.totals();
    let seen = totals.flows + totals.streams.streams > 0;
    let first = troubled.first();
    let (lead, told) = match first {
        None => (calm(analysis, &totals), true),
        Some(Subject::Flow(flow)) => lead(flow),
        Some(Subject::Stream(one)) => (vec![other(About::Streams, stream::wrong(one))], true),
    };
    let (lead, rest) = if attempts_first(analysis, &troubled) {
        let failed = other(About::Attempts, attempts::wrong(&analysis.attempts));
        let wrong = match first {
            Some(Subject::Flow(flow)) if !told => flow::wrong(flow),
            _ => Vec::new(),
        };
        let others = [lead, wrong].concat();
        (vec![failed], if seen { others } else { Vec::new() })
    } else {
        (lead, rest::of(analysis, &totals, &troubled, told))
    };
    let doubts = doubts::of(analysis, &totals, first);
    let unread = seen.then(|| unread::quic(analysis)).flatten();
    let mut claims = [&lead[..], &rest[..]].concat();
    claims.extend(doubts.clone().map(|text| other(About::Doubts, text)));
    claims.extend(unread.clone().map(|text| other(About::Unread, text)));
    let mut sentences = sentences(&lead).chain(sentences(&rest));
    Headline {
        lead: sentences.next().unwrap_or_default(),
        rest: Some(sentences.collect::<Vec<String>>().join(" ")).filter(|rest| !rest.is_empty()),
        doubts,
        unread,
        claims,
    }
}

/// What the first sentence is about: the worst flow or stream, without trouble that anybody feels the largest flow.
pub(crate) fn subject(analysis: &Analysis) -> Option<Subject<'_>> {
    let worst = in_order(analysis).into_iter().next();
    worst.or_else(|| largest(analysis).map(Subject::Flow))
}

/// Flows and streams with trouble, the worst first. Where what happened to that did no harm, the flow that carried most is of more interest.
fn in_order(analysis: &Analysis) -> Vec<Subject<'_>> {
    let mut all = troubled(analysis);
    let slight = all.first().and_then(|worst| match worst {
        Subject::Flow(flow) => worst.gravity().is_slight().then_some(flow.originals.bytes),
        Subject::Stream(_) => None,
    });
    let larger = largest(analysis).filter(|flow| slight.is_some_and(|n| flow.originals.bytes > n));
    if let Some(larger) = larger {
        all.retain(|one| !matches!(one, Subject::Flow(flow) if std::ptr::eq(*flow, larger)));
        all.insert(0, Subject::Flow(larger));
    }
    all
}

/// The flow that carried most, if any carried something.
fn largest(analysis: &Analysis) -> Option<&FlowReport> {
    let flows = analysis.flows.iter();
    let largest = flows.max_by_key(|flow| flow.originals.bytes);
    largest.filter(|flow| flow.originals.bytes > 0)
}

fn other(about: About, text: String) -> Claim {
    Claim::Other { about, text }
}

/// Connections that were never opened are the worst trouble.
fn attempts_first(analysis: &Analysis, troubled: &[Subject<'_>]) -> bool {
    let gravity = Gravity::of_attempts(&analysis.attempts);
    let graver = |worst: &Subject<'_>| worst.gravity().key() < gravity;
    analysis.attempts.failed() > 0 && troubled.first().is_none_or(graver)
}

/// The claims on the worst flow: how fast it was, and what held it back; where that is not known, its worst trouble. True
/// if the claims name the trouble.
fn lead(flow: &FlowReport) -> (Vec<Claim>, bool) {
    let mut claims = vec![flow::moved(flow)];
    let held = flow::held(flow);
    let unknown =
        |claim: &Claim| matches!(claim, Claim::Held(h) if h.limits().contains(Limit::Unknown));
    let told = held.first().is_none_or(unknown);
    if told {
        claims.extend(flow::wrong(flow));
    }
    claims.extend(held);
    claims.extend(flow::coarse_limit(flow));
    (claims, told)
}

/// Claims as sentences: what a flow moved with what held it longest, then one for each other claim.
fn sentences(claims: &[Claim]) -> impl Iterator<Item = String> {
    spans(claims).into_iter().map(|span| sentence(&span))
}

/// A clause as a sentence; one that ends as a sentence does is one already.
fn sentence(clause: &str) -> String {
    let end = if clause.ends_with(['.', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{end}", capital(clause))
}

/// Claims as clauses of one sentence.
pub(crate) fn clauses(claims: &[Claim]) -> String {
    spans(claims).join("; ")
}

/// A clause for each claim: what a flow moved leads to what is said of it first, and what is uncertain of one flow is one clause.
fn spans(claims: &[Claim]) -> Vec<String> {
    let mut spans: Vec<String> = Vec::new();
    let mut before: Option<&Claim> = None;
    let mut left = claims;
    while let Some((claim, behind)) = left.split_first() {
        let unsure: Vec<&Held> = left.iter().map_while(unsure).collect();
        let (clause, behind) = match unsure.len() {
            0 => (claim.text(), behind),
            n => (open::uncertain(&unsure), left.get(n..).unwrap_or_default()),
        };
        let link = before.and_then(|before| link(before, claim));
        match (link, spans.last_mut()) {
            (Some(link), Some(span)) => span.push_str(&format!("{link}{clause}")),
            _ => spans.push(clause),
        }
        (before, left) = (Some(claim), behind);
    }
    spans
}

/// What joins a claim to the one before it, where they belong together.
fn link(before: &Claim, claim: &Claim) -> Option<&'static str> {
    match (before, claim) {
        (Claim::Moved { .. }, _) => Some(": "),
        (
            Claim::Late {
                harmless: false, ..
            },
            Claim::Mistaken { .. },
        ) => Some(", and "),
        _ => None,
    }
}

/// What a clause says to be uncertain.
fn unsure(claim: &Claim) -> Option<&Held> {
    match claim {
        Claim::Held(held) if !held.sure => Some(held),
        _ => None,
    }
}

/// With a capital letter, unless the name of a flow or stream comes first.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let starts_with_name = text.split(' ').take(2).any(|word| word.contains("->"));
    match letters.next() {
        Some(first) if !starts_with_name => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// What limits the conclusions from a stream, and what its numbers are, as clauses.
pub(crate) fn stream_remarks(stream: &StreamReport) -> Vec<String> {
    stream::remarks(stream)
}

/// What happened to one flow or stream, in a few words for the line under which its details are folded.
pub(crate) fn summary(subject: &Subject<'_>) -> String {
    match subject {
        Subject::Flow(flow) => flow::gist(flow),
        Subject::Stream(stream) => stream::troubles(stream),
    }
}

/// The claims on a capture without trouble: that there is none, and how fast the largest flow was.
fn calm(analysis: &Analysis, totals: &Totals) -> Vec<Claim> {
    let streams = totals.streams.streams;
    if totals.flows + streams == 0 {
        let text = match unread::quic(analysis) {
            Some(quic) => format!("{quic}{}", one_sided(analysis)),
            None => format!(
                "No TCP flow with data and no numbered stream among {}{}.{}",
                plural(analysis.frames, "frame"),
                unused(analysis),
                one_sided(analysis)
            ),
        };
        return vec![other(About::Unread, text)];
    }
    // What was missing when the capture ended may have been lost.
    let lacking = totals.artefacts.missing_segments;
    let unseen = totals.blind.any + lacking + totals.streams.absent + totals.streams.uncounted;
    let how = match (unseen, totals.originals.unfilled + totals.streams.absent) {
        (0, 0) if analysis.flows.iter().all(shares::nothing_holds_it) => Nothing::NoProblem,
        // Away from the sender, a pause may be the application's or hide a timer.
        (0, 0)
            if analysis.flows.iter().any(shares::may_hide_a_timer)
                || analysis.flows.iter().all(shares::perhaps_nothing_holds_it) =>
        {
            Nothing::NoneVisible
        }
        (0, 0) => Nothing::NothingLost,
        (_, 0) => Nothing::NoneVisible,
        _ => Nothing::NoneKnown,
    };
    let mut claims = vec![Claim::Nothing {
        how,
        flows: totals.flows,
        streams,
        refused_syns: totals.openings.fast_open_refused,
        behind_resets: analysis
            .flows
            .iter()
            .map(|flow| flow.endpoints.closing.again_behind_reset)
            .sum(),
    }];
    if let Some(flow) = largest(analysis) {
        let mut moved = flow::moved(flow);
        if let Claim::Moved { largest, .. } = &mut moved {
            *largest = totals.flows > 1;
        }
        claims.push(moved);
        claims.extend(flow::held(flow));
        claims.extend(flow::coarse_limit(flow));
    }
    claims
}

/// Connections that carry no data usually have fewer packets than this: more of them perhaps acknowledge data that was not
/// captured.
const MIN_ANSWERS: u64 = 10;

/// A question for whoever captured TCP packets and no data.
fn one_sided(analysis: &Analysis) -> String {
    if without_data(analysis) < MIN_ANSWERS {
        return String::new();
    }
    format!(
        " {} carry no data: was the direction of the data captured?",
        plural(analysis.tcp, "TCP packet")
    )
}

/// Packets of TCP in a capture without data, but those of attempts: where nothing answers, no data is missing.
fn without_data(analysis: &Analysis) -> u64 {
    analysis.tcp.saturating_sub(analysis.attempts.packets)
}

/// `8 TCP without data`, if there are too few of them to ask whether the direction of the data was captured.
fn few_answers(analysis: &Analysis) -> Option<String> {
    let few = without_data(analysis);
    (1..MIN_ANSWERS)
        .contains(&few)
        .then(|| format!("{} TCP without data", count(few)))
}

/// Why frames were not used: ` (12 not IP, 3 malformed; the UDP is between 2 pairs of hosts)`.
fn unused(analysis: &Analysis) -> String {
    let reasons = analysis.skipped.iter();
    let reasons: Vec<String> = reasons
        .map(|(reason, n)| format!("{} {reason}", count(*n)))
        .chain(few_answers(analysis))
        .collect();
    let udp = match analysis.udp_pairs {
        0 => String::new(),
        1 => "; the UDP is between one pair of hosts".to_owned(),
        n => format!("; the UDP is between {} pairs of hosts", count(n)),
    };
    match reasons.is_empty() {
        true => String::new(),
        false => format!(" ({}{udp})", reasons.join(", ")),
    }
}

/// `3 of the 200 packets that arrived (1.5 %)`.
fn of_arrived(n: u64, all: u64) -> String {
    if n == all {
        return format!("{} that arrived", every(all));
    }
    let share = percent(n as f64 / all.max(1) as f64);
    format!(
        "{} of the {} that arrived ({share} %)",
        count(n),
        plural(all, "packet")
    )
}

/// `3 of 200 packets (1.5 %)`.
fn of_packets(n: u64, all: u64) -> String {
    if n == all {
        return every(all);
    }
    let share = percent(n as f64 / all.max(1) as f64);
    format!("{} of {} ({share} %)", count(n), plural(all, "packet"))
}

/// `all 200 packets`.
fn every(all: u64) -> String {
    match all {
        1 => "the only packet".to_owned(),
        n => format!("all {}", plural(n, "packet")),
    }
}

/// A share of a flow's life: `94 %`; a small one keeps its digits.
pub(crate) fn share(of: f64) -> String {
    match of * 100.0 {
        whole if whole >= 10.0 => format!("{whole:.0} %"),
        _ => format!("{} %", percent(of)),
    }
}

/// `was` or `were`.
fn was(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

/// `once`, `twice`, `3 times`.
pub(crate) fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", count(n)),
    }
}
