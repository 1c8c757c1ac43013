//! The result in a few sentences that can be pasted into a ticket: the gravest trouble, what else there is and whether
//! reordering is the problem, what limits the conclusions, and what is there but not analysed.

mod attempts;
mod doubts;
mod flow;
mod rest;
mod stream;
mod unread;

use std::fmt;

use inorder_detect::{FlowReport, Gravity, StreamReport, Totals};
use inorder_report::number::{bytes, count, percent, plural, rate};

use crate::gravity::{Subject, troubled};
use crate::model::Analysis;
use inorder_detect::columns::name;

/// At most four sentences about one capture.
///
/// ```
/// let nothing = inorder_analysis::Analysis { frames: 3, ..Default::default() };
/// let text = inorder_analysis::headline(&nothing).to_string();
/// assert_eq!(text, "No TCP flow with data and no numbered stream among 3 frames.");
/// let answers = inorder_analysis::Analysis { frames: 40, tcp: 40, ..Default::default() };
/// let text = inorder_analysis::headline(&answers).to_string();
/// assert!(text.ends_with("40 TCP packets carry no data: was the direction of the data captured?"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Headline {
    /// The gravest trouble, with the flow or stream that has it.
    pub lead: String,
    /// Other troubles, and what reordering has to do with them.
    pub rest: Option<String>,
    /// What limits the conclusions.
    pub doubts: Option<String>,
    /// What the capture has that is not analysed, and what would help, if the lead does not say so.
    pub unread: Option<String>,
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
    let troubled = troubled(analysis);
    let totals = analysis.totals();
    let unread = (totals.flows + totals.streams.streams > 0)
        .then(|| unread::quic(analysis))
        .flatten();
    if attempts_first(analysis, &troubled) {
        let seen = totals.flows + totals.streams.streams > 0;
        return Headline {
            lead: sentence(&attempts::wrong(&analysis.attempts)),
            rest: match troubled.first() {
                None => seen.then(|| nothing_wrong(analysis, &totals)),
                Some(worst) => Some(lead(worst)),
            },
            doubts: doubts::of(analysis, &totals, troubled.first()),
            unread,
        };
    }
    Headline {
        lead: match troubled.first() {
            None => nothing_wrong(analysis, &totals),
            Some(worst) => lead(worst),
        },
        rest: rest::of(analysis, &totals, &troubled),
        doubts: doubts::of(analysis, &totals, troubled.first()),
        unread,
    }
}

/// Connections that were never opened are the gravest trouble.
fn attempts_first(analysis: &Analysis, troubled: &[Subject<'_>]) -> bool {
    let gravity = Gravity::of_attempts(&analysis.attempts);
    let graver = |worst: &Subject<'_>| worst.gravity().key() < gravity;
    analysis.attempts.failed() > 0 && troubled.first().is_none_or(graver)
}

/// The sentence on the gravest trouble of a flow or stream.
fn lead(worst: &Subject<'_>) -> String {
    match worst {
        Subject::Flow(flow) => {
            let limit = flow::limit(flow);
            sentence(&format!("{}: {}{limit}", moved(flow), flow::wrong(flow)))
        }
        Subject::Stream(stream) => sentence(&stream::wrong(stream)),
    }
}

/// Adds the full stop.
fn sentence(text: &str) -> String {
    format!("{text}.")
}

/// `A->B moved 31.0 MB at 24.0 Mbit/s`.
fn moved(flow: &FlowReport) -> String {
    let name = name(&flow.flow);
    let at = |bps| format!(" at {}", rate(bps));
    match flow.data_bytes {
        0 => format!("{name} moved no data"),
        n => format!(
            "{name} moved {}{}",
            bytes(n),
            flow.goodput_bps().map(at).unwrap_or_default()
        ),
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

fn nothing_wrong(analysis: &Analysis, totals: &Totals) -> String {
    let streams = totals.streams.streams;
    if let (0, 0, Some(quic)) = (totals.flows, streams, unread::quic(analysis)) {
        return format!("{quic}{}", one_sided(analysis));
    }
    let seen = match (totals.flows, streams) {
        (0, 0) => {
            return format!(
                "No TCP flow with data and no numbered stream among {}{}.{}",
                plural(analysis.frames, "frame"),
                unused(analysis),
                one_sided(analysis)
            );
        }
        (0, streams) => plural(streams, "numbered stream"),
        (flows, 0) => plural(flows, "TCP flow"),
        (flows, streams) => format!(
            "{} and {}",
            plural(flows, "TCP flow"),
            plural(streams, "numbered stream")
        ),
    };
    // What was missing when the capture ended may have been lost.
    let unseen = totals.blind.any + totals.streams.absent + totals.streams.uncounted;
    let (visible, nothing) = match (unseen, totals.unfilled + totals.streams.absent) {
        (0, 0) => ("No problem", "no packet was lost, late or sent again"),
        (_, 0) => (
            "No problem is visible",
            "no packet was lost, late or sent again",
        ),
        _ => (
            "No problem is visible",
            "no packet is known to have been lost or late, and none was sent again",
        ),
    };
    let refused = match totals.fast_open_refused {
        0 => String::new(),
        n => format!(
            " (but data in {}, which was refused there: TCP Fast Open)",
            plural(n, "SYN")
        ),
    };
    let largest = analysis.flows.iter().max_by_key(|flow| flow.data_bytes);
    let largest = match largest.filter(|flow| flow.data_bytes > 0) {
        None => String::new(),
        Some(flow) if totals.flows == 1 => {
            format!("; {}{}", moved(flow), flow::limit(flow))
        }
        Some(flow) => format!("; the largest, {}{}", moved(flow), flow::limit(flow)),
    };
    format!("{visible} in {seen}: {nothing}{refused}{largest}.")
}

/// So many TCP packets without data are more than connections that carry none usually have: perhaps they acknowledge data that
/// was not captured.
const MIN_ANSWERS: u64 = 10;

/// A question for whoever captured TCP packets and no data.
fn one_sided(analysis: &Analysis) -> String {
    // Where nothing answers, no data is missing.
    if analysis.tcp.saturating_sub(analysis.attempts.packets) < MIN_ANSWERS {
        return String::new();
    }
    format!(
        " {} carry no data: was the direction of the data captured?",
        plural(analysis.tcp, "TCP packet")
    )
}

/// Why frames were not used: ` (12 not IP, 3 malformed; the UDP is between 2 pairs of hosts)`.
fn unused(analysis: &Analysis) -> String {
    let reasons = analysis.skipped.iter();
    let reasons: Vec<String> = reasons
        .map(|(reason, n)| format!("{} {reason}", count(*n)))
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

/// `3 of 200 packets (1.5 %)`.
fn of_packets(n: u64, all: u64) -> String {
    let share = n as f64 / all.max(1) as f64;
    format!(
        "{} of {} ({} %)",
        count(n),
        plural(all, "packet"),
        percent(share)
    )
}

/// `was` or `were`.
fn was(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

/// `once`, `twice`, `3 times`.
fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", count(n)),
    }
}
