//! What the timeline says of the cost: nothing is lost while something else than a reduction without need holds the flow.

use inorder_cost::{Cost, Limit};

use super::{Limit as Held, LimitSet, Limits};

/// Shares of time are known no better than this.
const ROUGH: f64 = 0.02;

/// Bounds what was lost by the time that anything unneeded may have held the flow, and by what the receiver's window lets pass in the shortest round
/// trip, `rtt_ns`; and names what limited it most.
pub(crate) fn bound(cost: &mut Cost, limits: &Limits, rtt_ns: Option<i64>) {
    let room = room(cost, limits, rtt_ns);
    if let Some(lost) = &mut cost.lost {
        let may_be_unneeded = |set: LimitSet| {
            set.iter()
                .any(|limit| limit.is_unneeded() || limit == Held::Unknown)
        };
        let most = limits.share_where(may_be_unneeded).min(room);
        lost.high = lost.high.min(most + if most > 0.0 { ROUGH } else { 0.0 });
        lost.share = lost.share.min(most).min(lost.high);
        lost.low = lost.low.min(lost.share);
    }
    cost.limit = limit(limits);
}

/// Of what the receiver's window lets pass, the share that did not: no sender has more than that window on its way (RFC 9293 section 3.8.6), and
/// what is acknowledged takes a round trip.
fn room(cost: &Cost, limits: &Limits, rtt_ns: Option<i64>) -> f64 {
    let (Some(goodput), Some(window), Some(rtt_ns)) = (cost.goodput_bps, limits.window, rtt_ns)
    else {
        return 1.0;
    };
    let most = window.largest_bytes as f64 * 8.0 / (rtt_ns.max(1) as f64 / 1e9);
    (1.0 - goodput as f64 / most.max(1.0)).clamp(0.0, 1.0)
}

/// What the timeline names most, among the few names that the cost has.
fn limit(limits: &Limits) -> Limit {
    const KINDS: [(Limit, LimitSet); 5] = [
        (
            Limit::Application,
            LimitSet::of(&[Held::Application, Held::SendBuffer]),
        ),
        (Limit::Receiver, LimitSet::of(&[Held::ReceiverWindow])),
        (
            Limit::Loss,
            LimitSet::of(&[
                Held::WindowNeeded,
                Held::RecoveryNeeded,
                Held::TimerNeeded,
                Held::PathDead,
            ]),
        ),
        (Limit::Path, LimitSet::of(&[Held::Line])),
        (
            Limit::Misled,
            LimitSet::of(&[
                Held::WindowUnneeded,
                Held::RecoveryUnneeded,
                Held::TimerUnneeded,
            ]),
        ),
    ];
    let life = limits.life_ns();
    let (mut named, mut most) = (0.0, (Limit::Unknown, 0.0));
    for (limit, kind) in KINDS {
        let mut held: i64 = 0;
        for share in &limits.shares {
            held += if share.limits.is_within(kind) {
                share.ns
            } else {
                0
            };
        }
        if held == 0 {
            continue; // Of nothing there is no share, and most kinds hold no flow.
        }
        let share = match life {
            0 => 0.0,
            life => held as f64 / life as f64,
        };
        named += share;
        if share >= most.1 {
            most = (limit, share); // Of equal ones the last.
        }
    }
    // The rest is its start, or unknown.
    match most.1 > 1.0 - named {
        true => most.0,
        false => Limit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_base::confidence::Confidence;
    use inorder_cost::Lost;

    use crate::Share;

    #[test]
    fn nothing_is_lost_while_the_receivers_window_is_full() {
        let share = |limit: Held, ns| Share {
            limits: limit.into(),
            ns,
            confidence: Confidence::Likely,
        };
        let limits = Limits {
            ended_ns: 100,
            shares: vec![
                share(Held::ReceiverWindow, 97),
                share(Held::RecoveryUnneeded, 3),
            ],
            ..Limits::default()
        };
        let mut cost = Cost::default();
        cost.lost = Some(Lost {
            share: 0.64,
            low: 0.51,
            high: 0.74,
        });
        bound(&mut cost, &limits, None);
        let lost = Lost {
            share: 0.03,
            low: 0.03,
            high: 0.05,
        };
        assert_eq!((cost.limit, cost.lost), (Limit::Receiver, Some(lost)));
    }

    #[test]
    fn no_more_is_lost_than_the_receivers_window_leaves() {
        let mut cost = Cost::default();
        cost.goodput_bps = Some(12_400_000);
        cost.lost = Some(Lost {
            share: 0.39,
            low: 0.39,
            high: 0.41,
        });
        let limits = Limits {
            ended_ns: 100,
            shares: vec![Share {
                limits: Held::WindowUnneeded.into(),
                ns: 100,
                confidence: Confidence::Likely,
            }],
            window: Some(crate::Window {
                largest_bytes: 100_000,
                ..crate::Window::default()
            }),
            ..Limits::default()
        };
        // 100 kB in 60 ms are 13.3 Mbit/s.
        bound(&mut cost, &limits, Some(60_000_000));
        let lost = cost.lost.unwrap_or_default();
        assert!((lost.high - 0.09).abs() < 0.001, "{lost:?}");
        assert!((lost.share - 0.07).abs() < 0.001, "{lost:?}");
    }
}
