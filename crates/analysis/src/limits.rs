//! What limited a transfer, in words for people.

use inorder_detect::FlowReport;
use inorder_limits::{Limit, LimitSet, Limits, Stretch};

use crate::headline::Why;
use crate::shares::harmless;

/// The limit as a table or a legend names it.
pub(crate) fn label(limit: Limit) -> &'static str {
    match limit {
        Limit::Handshake => "handshake",
        Limit::Start => "slow start",
        Limit::Application => "application",
        Limit::SendBuffer => "send buffer",
        Limit::ReceiverWindow => "receiver's window",
        Limit::Line => "line",
        Limit::WindowNeeded => "window after a loss",
        Limit::WindowUnneeded => "window reduced without need",
        Limit::RecoveryNeeded => "recovery from a loss",
        Limit::RecoveryUnneeded => "recovery without need",
        Limit::TimerNeeded => "timer after a loss",
        Limit::TimerUnneeded => "timer without need",
        Limit::PathDead => "no answer",
        _ => "unknown",
    }
}

/// The limits among which the capture cannot tell, joined by "or".
pub(crate) fn labels(set: LimitSet) -> String {
    let all: Vec<&str> = set.iter().map(label).collect();
    match all.is_empty() {
        true => label(Limit::Unknown).to_owned(),
        false => all.join(" or "),
    }
}

/// The limits joined by "or", in the words for `flow`, whose reductions need not go back to a loss.
pub(crate) fn labels_of(flow: &FlowReport, set: LimitSet) -> String {
    let cause = match Why::of(flow) {
        Why::Losses => return labels(set),
        Why::Discards => "a discarded packet",
        Why::Marks => "a congestion mark",
    };
    labels(set).replace("a loss", cause)
}

/// True if somebody may want to remove it: neither what every transfer has, nor what makes full use of the path, nor
/// what nobody knows.
fn is_trouble(set: LimitSet) -> bool {
    let usual = |limit| harmless(limit) || limit == Limit::Unknown;
    set.iter().next().is_some() && !set.iter().any(usual)
}

/// The longest stretch of a limit that somebody may want to remove.
pub(crate) fn worst(limits: &Limits) -> Option<&Stretch> {
    let stretches = limits.stretches.iter();
    let troubled = stretches.filter(|stretch| is_trouble(stretch.limits));
    troubled.max_by_key(|stretch| stretch.end_ns.saturating_sub(stretch.start_ns))
}

/// Share of the life, 0 to 1, that such limits held.
pub(crate) fn troubled_share(limits: &Limits) -> f64 {
    limits.share_where(is_trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_its_own_label() {
        let mut all: Vec<&str> = Limit::ALL.into_iter().map(label).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Limit::ALL.len());
        let either = LimitSet::of(&[Limit::SendBuffer, Limit::Application]);
        assert_eq!(labels(either), "application or send buffer");
        assert_eq!(labels(LimitSet::default()), "unknown");
    }

    #[test]
    fn the_worst_stretch_is_the_longest_that_can_be_removed() {
        let stretch = |start_ns, end_ns, limit: Limit| Stretch {
            start_ns,
            end_ns,
            limits: limit.into(),
        };
        let mut limits = Limits::default();
        limits.stretches = vec![
            stretch(0, 50, Limit::Start),
            stretch(50, 60, Limit::TimerNeeded),
            stretch(60, 80, Limit::ReceiverWindow),
            stretch(80, 200, Limit::Line),
        ];
        assert_eq!(worst(&limits), Some(&limits.stretches[2]));
        limits.stretches.truncate(1);
        assert_eq!(worst(&limits), None);
    }
}
