//! Actions where packets are lost, or nothing gets through.

use inorder_detect::{Cause, FlowReport, Vantage};
use inorder_limits::{Limit, LimitSet};
use inorder_report::number::{plural, rate, time};

use crate::headline::times;

use super::doubt::{as_sure_as, only_if};
use super::route::to_receiver;
use super::{Action, ActionKind, Case, Gain, mtu, policer, queue, reset};

/// Fewest recoveries of one cause that are a habit of the path.
const MIN_RECOVERIES: u64 = 3;
/// Fewest time-outs that are a habit of the path: of 21 drawn captures that show one or none, a shorter timer made the transfer slower in
/// 6, of 8 that show more in none.
const MIN_TIMEOUTS: u64 = 2;
/// A line that seems faster than a flow by more than this factor may be a bundle of packets taken for a line.
const MAX_TIMES: u64 = 20;
/// What BBR reaches of the line where packets are lost at random: at most all; at least this share. It was 0.75 until one of four
/// trials reported for Linux 6.18 brought less (docs/evidence/cost.md).
const BBR_SHARE: (f64, f64) = (0.5, 1.0);
/// Linux's shortest retransmission timer, nanoseconds (`TCP_RTO_MIN`), beyond round trips shorter than half of it.
const LINUX_RTO_MIN_NS: i64 = 200_000_000;

pub(super) fn recoveries<'a>(flows: impl IntoIterator<Item = &'a FlowReport>, cause: Cause) -> u64 {
    let flows = flows.into_iter();
    flows.map(|flow| flow.recoveries.of(cause).recoveries).sum()
}

/// What can be done about flows that lose packets.
pub(super) fn losses(flows: &[&FlowReport], cases: &[Case<'_>]) -> Vec<Action> {
    let policed = policer::shape(flows);
    let hole = mtu::black_hole(flows).or_else(|| mtu::shrunk(flows));
    let mut all = Vec::new();
    // Against a policer no other control helps.
    if policed.is_none() {
        let by_losses = control(&losing(flows)).or_else(|| recovers_slowly(flows));
        let reduced = [Limit::WindowNeeded, Limit::TimerNeeded];
        all.extend(by_losses.map(|action| only_if(action, flows, &reduced)));
    }
    all.extend(policed);
    all.extend(queue::managed(flows).map(|action| only_if(action, flows, &[Limit::Line])));
    all.extend(mtu::told(flows));
    all.extend(reset::reset(flows));
    if hole.is_none() {
        all.extend(outage(cases));
    }
    match hole {
        Some(hole) => all.push(hole),
        None => all.extend(mtu::swallowed(flows)),
    }
    let timer = shorter_timer(cases);
    if timer.as_ref().is_none_or(|a| a.kind != ActionKind::Sack) {
        all.extend(repaired_one_by_one(cases));
    }
    all.extend(timer);
    all.extend(longer_timer(cases));
    all
}

/// Flows that losses slow down: after needed reductions for most of the time, or where the limits are not known, by the
/// coarse one.
fn losing<'a>(flows: &[&'a FlowReport]) -> Vec<&'a FlowReport> {
    /// Shorter flows are over before another control would help.
    const MIN_PACKETS: u64 = 500;
    const MIN_SHARE: f64 = 0.25;
    let reduced = |set: LimitSet| {
        set.iter().all(|limit| {
            matches!(
                limit,
                Limit::WindowNeeded | Limit::RecoveryNeeded | Limit::TimerNeeded
            )
        })
    };
    let losing = |f: &&&FlowReport| match f.limits.life_ns() {
        0 => f.cost.limit == inorder_detect::Limit::Loss,
        _ => f.limits.share_where(reduced) >= MIN_SHARE,
    };
    let long = flows.iter().filter(|f| f.originals.packets >= MIN_PACKETS);
    long.filter(losing).copied().collect()
}

/// Losses at no full queue: a control that does not take each of them for congestion.
fn control(flows: &[&FlowReport]) -> Option<Action> {
    let all = || flows.iter().copied();
    let (random, unclear) = (
        recoveries(all(), Cause::RandomLoss),
        recoveries(all(), Cause::Loss),
    );
    if recoveries(all(), Cause::QueueLoss) > 0 || random < MIN_RECOVERIES {
        return None;
    }
    let sum = |of: fn(&FlowReport) -> Option<u64>| all().filter_map(of).sum::<u64>();
    let packets: u64 = all().map(|f| f.originals.lost).sum();
    let line_of = |f: &FlowReport| match f.limits.life_ns() {
        0 => f.cost.bottleneck_bps,
        _ => crate::shares::line_bps(f),
    };
    let (goodput, line) = (sum(|f| f.cost.goodput_bps), sum(line_of));
    let more = |share: f64| (share * line as f64 / (goodput as f64).max(1.0) - 1.0).max(0.0);
    let believable = line > 0 && line / MAX_TIMES <= goodput;
    Some(Action {
        evidence: format!(
            "{} were lost, and the window was reduced {} for them; the goodput was {}{}",
            plural(packets, "packet"),
            times(random + unclear),
            rate(goodput),
            match line {
                0 => String::new(),
                line => format!(" where the line passes {}", rate(line)),
            }
        ),
        gain: believable.then(|| Gain {
            low: more(BBR_SHARE.0),
            high: more(BBR_SHARE.1),
        }),
        sure: believable,
        flows: flows.len() as u64,
        ..bbr(
            flows.first()?,
            "On the sender of the data, use BBR: packets are lost although no queue is full, and it does not take each loss \
             for congestion. Or find the link that loses them (a radio link, a bad cable) and let it repeat them itself.",
        )
    })
}

/// Losses of which it does not show whether a queue was full, after which the window stays far below what the line passes.
///
/// Of 600 drawn transfers the simulator ran 18 again with BBR for which this holds at the sender: 15 became faster, by 16 % to 13
/// times, one slower (a policer that was not recognised).
fn recovers_slowly(flows: &[&FlowReport]) -> Option<Action> {
    let slow = |f: &&FlowReport| recovers_too_slowly(f);
    let slow: Vec<&FlowReport> = flows.iter().copied().filter(slow).collect();
    let flow = slow.iter().max_by_key(|f| f.originals.bytes)?;
    let of = |cause| flow.recoveries.of(cause).recoveries;
    let (bps, line) = (flow.goodput_bps()?, flow.limits.line_bps?);
    Some(Action {
        evidence: format!(
            "{} were lost, the window was reduced {} for them, and the goodput was {}{}",
            plural(flow.originals.lost, "packet"),
            times(of(Cause::Loss) + of(Cause::RandomLoss)),
            rate(bps),
            match line / MAX_TIMES <= bps {
                true => format!(" where the line seems to pass {}", rate(line)),
                false => String::new(),
            }
        ),
        flows: slow.len() as u64,
        ..bbr(
            flow,
            "On the sender of the data, try BBR: the line has room, and after each loss the window stays far below it. Or find the link \
             that loses packets, or the queue that is too short, and mend it there.",
        )
    })
}

/// Whether losses held a flow for half of its life or more, far below what the line passes.
fn recovers_too_slowly(flow: &FlowReport) -> bool {
    const MIN_SHARE: f64 = 0.5;
    /// The line over the goodput: where there is less room, another control gains little and may lose.
    const MIN_ROOM: f64 = 1.5;
    /// Of all recoveries, those for late packets at most: there other actions help.
    const MAX_LATE: f64 = 0.1;
    let reduced = |limit| matches!(limit, Limit::WindowNeeded | Limit::RecoveryNeeded);
    let share = flow.limits.share_where(|set| set.iter().all(reduced));
    let of = |cause| flow.recoveries.of(cause).recoveries;
    let room = flow
        .limits
        .line_bps
        .zip(flow.goodput_bps())
        .is_some_and(|(line, bps)| line as f64 >= MIN_ROOM * bps as f64);
    let late = of(Cause::Reordering) as f64 <= MAX_LATE * flow.recoveries.total as f64;
    let lost = of(Cause::Loss) + of(Cause::RandomLoss) >= MIN_RECOVERIES;
    share >= MIN_SHARE && room && lost && late && flow.endpoints.sack && of(Cause::QueueLoss) == 0
}

/// BBR on the sender, whose evidence is still to be said.
fn bbr(flow: &FlowReport, advice: &str) -> Action {
    let to = to_receiver(flow);
    Action {
        commands: vec![
            "sysctl -w net.core.default_qdisc=fq net.ipv4.tcp_congestion_control=bbr".to_owned(),
            format!("ip route change {to} via GATEWAY dev IF congctl bbr"),
        ],
        holds: "Linux since 4.9, on the sender. If a policer drops what exceeds its rate, no other control helps: ask whoever \
                runs it for the rate, and send below it.",
        warning: "The first command changes all new connections of the host, and BBR takes more than its share beside \
                  others at a short queue; the second is for this route alone.",
        ..Action::new(ActionKind::Control, advice)
    }
}

/// Nothing got through for a while.
fn outage(cases: &[Case<'_>]) -> Option<Action> {
    let case = super::worst(cases, |set| set.only() == Some(Limit::PathDead))?;
    let to = case.flow.flow.dst.ip();
    let first = case.flow.limits.stretches.iter();
    let first = first
        .filter(|s| s.limits.contains(Limit::PathDead))
        .map(|s| s.start_ns)
        .min();
    let since = first.map(|ns| ns.saturating_sub(case.flow.limits.begun_ns));
    let action = Action {
        commands: vec![format!("mtr -n -o LSDNABWV {to}")],
        evidence: format!(
            "nothing got through for {}{}",
            time(case.part.ns),
            since.map_or_else(String::new, |ns| format!(
                ", the first time {} after the start",
                time(ns)
            ))
        ),
        holds: "No setting of TCP helps while nothing gets through.",
        ..Action::new(
            ActionKind::Outage,
            format!(
                "Find out what interrupted the path to {to} (a link, a route, a radio link, the host itself)."
            ),
        )
    };
    Some(as_sure_as(case, action))
}

/// Waiting for timers that are long against the round trip.
fn shorter_timer(cases: &[Case<'_>]) -> Option<Action> {
    let waiting = |limit| {
        matches!(
            limit,
            Limit::TimerNeeded | Limit::TimerUnneeded | Limit::PathDead
        )
    };
    let timer = |set: LimitSet| set.contains(Limit::TimerNeeded) && set.iter().all(waiting);
    let case = super::worst(cases, timer)?;
    let flow = case.flow;
    // A single outage is none of the timer's.
    if flow.timeouts() < MIN_TIMEOUTS || flow.recoveries.total < MIN_RECOVERIES {
        return None;
    }
    let to = to_receiver(flow);
    let waited = format!(
        "it waited for its timer for {} ({} of the time), after {} lost",
        time(case.part.ns),
        case.share(),
        plural(flow.originals.lost, "packet")
    );
    if !flow.endpoints.sack && flow.endpoints.syn_seen {
        let action = Action {
            evidence: format!("{waited}, and the connection has no SACK"),
            holds: "Both ends must offer it. With SACK the sender probes for lost tails (RFC 8985 section 7; Linux since \
                    4.20) instead of waiting.",
            ..Action::sack()
        };
        return Some(as_sure_as(case, action));
    }
    let rtt = crate::shares::round_trip_ns(flow)?;
    // Where it may have expired without need, a shorter one expires so more often.
    let needed = !case.part.limits.contains(Limit::TimerUnneeded);
    let action = || Action {
        commands: vec![format!(
            "ip route change {to} via GATEWAY dev IF rto_min {}ms",
            (2 * rtt / 1_000_000).max(20)
        )],
        evidence: waited,
        holds: "Linux waits 200 ms at least, which is long beside this round trip; waits that have doubled several times \
                become shorter in proportion. It does not mend the losses.",
        ..Action::new(
            ActionKind::Timer,
            format!(
                "On the sender of the data, let the retransmission timer of the route to {to} be shorter."
            ),
        )
    };
    (needed && 2 * rtt < LINUX_RTO_MIN_NS).then(|| as_sure_as(case, action()))
}

/// Without SACK a sender repairs one loss in a round trip (RFC 6582 section 3.2), and many are lost together.
fn repaired_one_by_one(cases: &[Case<'_>]) -> Option<Action> {
    /// Retransmissions of one recovery on average, at least.
    const MIN_TOGETHER: u64 = 3;
    let reduced = |limit| matches!(limit, Limit::WindowNeeded | Limit::RecoveryNeeded);
    let case = super::worst(cases, |set| set.iter().all(reduced))?;
    let (again, phases) = (case.flow.retransmissions.total, case.flow.recoveries.total);
    // After a time-out a sender repeats all there is, with SACK or without. Of 15 drawn transfers with one or two recoveries SACK made six
    // faster and four slower, of 10 with more nine faster and none slower by more than a twentieth.
    let by_duplicates = phases >= MIN_RECOVERIES && phases > case.flow.timeouts();
    let many = by_duplicates && again >= MIN_TOGETHER.saturating_mul(phases);
    let action = || Action {
        evidence: format!(
            "the connection has no SACK, and {} in {} were sent again, one in a round trip",
            plural(again, "packet"),
            plural(phases, "recovery phase")
        ),
        holds: "Both ends must offer it; Linux of any version.",
        ..Action::sack()
    };
    let without = !case.flow.endpoints.sack && case.flow.endpoints.syn_seen;
    (many && without).then(|| as_sure_as(case, action()))
}

/// Timers that expire although everything arrived.
fn longer_timer(cases: &[Case<'_>]) -> Option<Action> {
    let late = |set: LimitSet| set.only() == Some(Limit::TimerUnneeded);
    let case = super::worst(cases, late)?;
    let flow = case.flow;
    let needless = flow.recoveries.of(Cause::DelayJump);
    if needless.recoveries < MIN_RECOVERIES {
        return None;
    }
    let to = to_receiver(flow);
    let action = Action {
        commands: vec![format!(
            "ip route change {to} via GATEWAY dev IF rto_min 1s"
        )],
        evidence: format!(
            "the timer expired {} although everything had arrived",
            times(needless.expiries)
        ),
        holds: "Linux of any version. It also delays the repair of what is lost at the end of a burst.",
        ..Action::new(
            ActionKind::Timer,
            format!(
                "Find what holds packets up on the path to {to} (a radio link that sleeps, a queue that is served late); \
                 until then, let the retransmission timer of this route wait longer."
            ),
        )
    };
    Some(as_sure_as(case, action))
}

/// What is not known of losses.
pub(super) const WHICH_LOSSES: &str = "whether the losses come from a full queue (a managed queue helps) or not (BBR helps) does not show here";

/// From elsewhere than the sender's side it does not show whether a queue was full.
pub(super) fn unclear_losses(flows: &[&FlowReport]) -> Option<&'static str> {
    let losing = losing(flows);
    let elsewhere = losing.iter().any(|f| f.vantage.vantage != Vantage::Sender);
    let unclear = recoveries(losing.iter().copied(), Cause::Loss);
    (elsewhere && unclear >= MIN_RECOVERIES).then_some(WHICH_LOSSES)
}
