//! The words for what held a flow back.

use inorder_detect::{Cause, FlowReport, Vantage};
use inorder_limits::{Limit, LimitSet, Window};
use inorder_report::number::{bytes, count, plural, rate, time};

use super::sure::Evidence;
use super::{open, share};
use crate::shares::{self, Part};

/// A standing queue shorter than this bothers nobody, nanoseconds (ITU-T G.114 calls delays below 150 ms good for speech;
/// a tenth of that is lost in the path's own delay).
const MIN_QUEUE_NS: i64 = 15_000_000;

/// One part of a flow's life with the numbers that belong to it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Held {
    /// What held it, for how long.
    pub(crate) part: Part,
    /// Clauses like it are seldom false.
    pub(crate) sure: bool,
    /// What speaks for that or against it.
    pub(crate) evidence: Evidence,
    /// Where the capture was made.
    pub(super) vantage: Vantage,
    /// The receiver's window.
    pub(crate) window: Option<Window>,
    /// The receiver's application reads too slowly.
    pub(crate) slow_reader: bool,
    /// Most bytes in flight.
    pub(crate) buffer_bytes: Option<u64>,
    /// Bytes that fill the path.
    pub(crate) path_bytes: Option<u64>,
    /// That is all that was sent.
    pub(crate) path_holds_all: bool,
    /// Rate of the line, bits per second.
    pub(crate) line_bps: Option<u64>,
    /// What a policer lets pass at least, bits per second.
    pub(crate) policed_bps: Option<u64>,
    /// Delay of the standing queue, nanoseconds.
    pub(crate) queueing_ns: Option<i64>,
    /// Reductions of the window: necessary or not, as the part is.
    pub(crate) reductions: u64,
    /// How often the retransmission timer expired.
    pub(crate) expiries: u64,
    /// For most of the application's time it waited for data of the other end.
    pub(crate) awaits: bool,
    /// How often the end of an answer waited for an acknowledgement, and how long altogether, nanoseconds; 0 if that is not worth a word.
    pub(crate) held_short: (u64, i64),
    /// What caused most of the unnecessary time.
    pub(crate) cause: Option<Cause>,
    /// What made the necessary reductions necessary.
    pub(crate) why: Why,
}

/// What makes a sender reduce its window, and rightly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Packets were lost, as far as is known.
    Losses,
    /// Nothing was lost: the receiver discarded what had to be sent again.
    Discards,
    /// Nothing was lost or discarded: a queue marked packets instead (RFC 3168).
    Marks,
}

impl Why {
    pub(crate) fn of(flow: &FlowReport) -> Why {
        let lost = flow.originals.lost + shares::reductions(flow).0;
        match (lost, flow.originals.refused, flow.ecn_reductions) {
            (0, 0, 1..) => Why::Marks,
            (0, 1.., _) => Why::Discards,
            _ => Why::Losses,
        }
    }

    /// After what the window is reduced.
    pub(crate) fn events(self) -> &'static str {
        match self {
            Why::Losses => "losses",
            Why::Discards => "the receiver had discarded packets",
            Why::Marks => "congestion marks (ECN)",
        }
    }
}

impl Held {
    /// One part of the life of `flow`, which a sentence names in `clauses` parts.
    pub(crate) fn of(flow: &FlowReport, part: Part, clauses: usize) -> Held {
        let evidence = Evidence::of(part.limits, clauses, flow);
        let (needed, unneeded) = shares::reductions(flow);
        let unnecessary = part.limits.iter().any(Limit::is_unneeded);
        Held {
            part,
            sure: evidence.is_sure(part.limits),
            evidence,
            vantage: flow.vantage.vantage,
            window: flow.limits.window,
            slow_reader: shares::reads_slowly(flow),
            buffer_bytes: flow.limits.send_buffer_bytes,
            line_bps: shares::line_bps(flow),
            path_bytes: shares::path_bytes(flow),
            path_holds_all: shares::path_bytes(flow) == Some(flow.originals.bytes),
            policed_bps: flow.limits.policed_bps,
            queueing_ns: flow.limits.queueing_ns,
            reductions: match unnecessary {
                true => unneeded,
                false => needed + flow.ecn_reductions,
            },
            expiries: flow.expiries(),
            awaits: shares::awaits(flow),
            held_short: match shares::held_short(flow) {
                Some((times, _)) => (times, flow.limits.held_short.ns),
                None => (0, 0),
            },
            cause: shares::main_cause(flow).filter(|_| unnecessary),
            why: Why::of(flow),
        }
    }

    /// The limit, or those that cannot be distinguished.
    pub fn limits(&self) -> LimitSet {
        self.part.limits
    }

    /// Share of the flow's life.
    pub fn share(&self) -> f64 {
        self.part.share
    }

    /// The limit, if the words speak of no other and say it without reserve.
    fn plain_limit(&self) -> Option<Limit> {
        self.part.limits.only().filter(|_| self.sure)
    }

    /// The line's or the policer's rate, where the words give it.
    pub(super) fn rate_bps(&self) -> Option<u64> {
        match self.plain_limit()? {
            Limit::Line => self.line_bps,
            Limit::WindowNeeded => self.policed_bps,
            _ => None,
        }
    }

    /// Whether the words say that the receiving application read too slowly, where they speak of its window.
    pub(super) fn reads_slowly(&self) -> Option<bool> {
        let window = self.plain_limit()? == Limit::ReceiverWindow;
        (window && self.window.is_some()).then_some(self.slow_reader)
    }

    /// The size of the window or the buffer, where the words give it.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self.plain_limit()? {
            Limit::ReceiverWindow => Some(self.window?.largest_bytes),
            Limit::SendBuffer => self.buffer_bytes,
            _ => None,
        }
    }

    /// The clause.
    pub(super) fn text(&self) -> String {
        let part = format!("{} of the time", bounds(&self.part));
        match self.part.limits.only() {
            _ if !self.sure => open::uncertain(&[self]),
            None => open::one_of_several(self),
            Some(Limit::ReceiverWindow) => self.receiver_window(&part),
            Some(Limit::SendBuffer) => format!(
                "the sender's socket buffer{} held it back for {part}, though both windows had room",
                self.buffer_bytes
                    .map_or_else(String::new, |n| format!(" of about {}", bytes(n)))
            ),
            Some(Limit::Application) => self.application(&part),
            Some(Limit::Line) => self.line(&part),
            Some(Limit::Start) => {
                format!("the congestion window still grew from its start for {part}")
            }
            Some(Limit::Handshake) => format!(
                "opening the connection took {} ({part})",
                time(self.part.ns)
            ),
            Some(Limit::WindowNeeded | Limit::RecoveryNeeded) => self.needed(&part),
            Some(Limit::WindowUnneeded | Limit::RecoveryUnneeded) => self.unneeded(&part),
            Some(Limit::TimerNeeded) => format!(
                "it waited for its retransmission timer for {} ({part}{}) after {}",
                time(self.part.ns),
                self.expiries(),
                match self.why {
                    Why::Discards => self.why.events(),
                    _ => "packets were lost",
                }
            ),
            Some(Limit::TimerUnneeded) => format!(
                "it waited for its retransmission timer for {} ({part}{}) although everything had arrived",
                time(self.part.ns),
                self.expiries()
            ),
            Some(Limit::PathDead) => format!(
                "nothing got through for {} ({part}): the path or the other host was dead",
                time(self.part.ns)
            ),
            Some(_) => format!("what held it back for {part} is unknown"),
        }
    }

    fn application(&self, part: &str) -> String {
        let awaits = match self.awaits {
            true => ", mostly while it waited for data from the other end",
            false => "",
        };
        let short = match self.held_short {
            (0, _) => String::new(),
            (times, ns) => format!(
                ", and for {} of this the last segment of an answer, which was not full, waited until all before it was \
                 acknowledged ({} times: Nagle's algorithm)",
                time(ns),
                count(times)
            ),
        };
        format!("the sending application had nothing to send for {part}{awaits}{short}")
    }

    /// `, 7 time-outs`. Away from the sender those whose packet was lost on the way do not show.
    pub(super) fn expiries(&self) -> String {
        let least = match self.vantage {
            Vantage::Sender => "",
            _ => "at least ",
        };
        match self.expiries {
            0 => String::new(),
            n => format!(", {least}{}", plural(n, "time-out")),
        }
    }

    fn receiver_window(&self, part: &str) -> String {
        let Some(window) = self.window else {
            return format!("the receiver's window held it back for {part}");
        };
        if self.slow_reader {
            let closed = match window.closed_ns {
                0 => String::new(),
                ns => format!(" and closed for {}", time(ns)),
            };
            return format!(
                "the receiving application read too slowly: the receiver's window was full for {part}{closed}"
            );
        }
        let needed = self.path_bytes.filter(|n| *n > window.largest_bytes);
        let needed = match needed {
            Some(_) if self.path_holds_all => "; the path had room for all of it".to_owned(),
            Some(n) => format!("; the path needs {}", bytes(n)),
            None => String::new(),
        };
        let unscaled = match window.unscaled {
            true => ", which cannot exceed 65,535 bytes without window scaling,",
            false => "",
        };
        format!(
            "the receiver's window of at most {}{unscaled} held it back for {part}{needed}",
            bytes(window.largest_bytes)
        )
    }

    fn line(&self, part: &str) -> String {
        let line = match self.line_bps {
            None => "the line".to_owned(),
            Some(bps) => format!("the line of {}", rate(bps)),
        };
        let queue = match self.queueing_ns.filter(|ns| *ns >= MIN_QUEUE_NS) {
            None => String::new(),
            Some(ns) => format!(", and its queue delayed packets by {}", time(ns)),
        };
        format!("{line} was full for {part}{queue}")
    }

    fn needed(&self, part: &str) -> String {
        let reductions = match self.reductions {
            0 => String::new(),
            n => format!(" ({})", plural(n, "reduction")),
        };
        match self.policed_bps {
            Some(bps) => format!(
                "a policer that lets {} or more pass and drops the rest held the congestion window down for {part}{reductions}",
                rate(bps)
            ),
            None => format!(
                "after {} the congestion window was below what the path could carry for {part}{reductions}",
                self.why.events()
            ),
        }
    }

    fn unneeded(&self, part: &str) -> String {
        let why = match self.cause {
            Some(Cause::Reordering | Cause::Refused) => ": late packets were taken for lost",
            Some(Cause::AckReordering) => ": acknowledgements overtook each other",
            Some(Cause::DelayJump) => ": the delay jumped or acknowledgements were lost",
            Some(Cause::TailProbe) => ": tail loss probes were taken for a sign of loss",
            _ => "",
        };
        let reductions = match self.reductions {
            0 => String::new(),
            n => format!(" ({})", plural(n, "reduction")),
        };
        format!(
            "the congestion window was reduced for {part}{reductions} although nothing had been lost{why}"
        )
    }
}

/// `40 %`, or `40 to 70 %` where the capture leaves so much open that a reader should know.
pub(crate) fn bounds(part: &Part) -> String {
    between(part.share, part.at_most)
}

/// `40 %`, or `40 to 70 %`, of a share of the life and the largest that it may be.
pub(super) fn between(least: f64, most: f64) -> String {
    /// A difference that changes no conclusion.
    const SMALL: f64 = 0.1;
    match most - least > SMALL {
        true => format!("{:.0} to {}", 100.0 * least, share(most)),
        false => share(least),
    }
}
