//! The cost of a flow's unnecessary reductions, from what was recorded of it.

use inorder_base::cause::Cause;

use super::control::{self, Judged, Recognised, Shown};
use super::episodes::Episode;
use super::once_more::{OnceMore, SURE};
use super::replay::Rest;
use super::trains::LineRate;
use super::{Closures, Dispersion, Episodes, Flights, Series};
use crate::result::{Control, Cost, GoodputBin, Lost, RecoveryVerdict};

/// Minimum duration over which the sustained rate is measured: in round trips, and in nanoseconds.
const SUSTAINED_RTTS: i64 = 4;
const SUSTAINED_NS: i64 = 10_000_000;
/// Share by which a sustained rate may exceed the rate measured by trains. If it exceeds more, the trains are wrong, because
/// no sustained rate exceeds that of the bottleneck.
const SUSTAINED_ERROR: f64 = 0.05;
/// A path is faster than BBR's own estimate of it by this factor at most. In one of eight round trips BBR sends this
/// number of times as fast as its estimate, and whatever is lost or late, it takes what arrives for the path's rate (ACM Queue 14(5),
/// 2016, gains of ProbeBW): it would have found more. So short trains that are faster are bundles of hosts, of radio frames, of
/// jitter.
const MAX_RATE_OVER_BBR: f64 = 1.25;
/// Number of round trips over which a rate must be sustained to stand for BBR's estimate, which BBR keeps for as many.
const BBR_RATE_ROUND_TRIPS: i64 = 10;
/// Minimum time over which it must be sustained, nanoseconds: bundles of radio frames and of busy hosts are shorter.
const MIN_BBR_RATE_NS: i64 = 100_000_000;
/// Maximum share of short segments in a flow whose application always has more to send.
const MAX_SHORT: f64 = 0.2;
/// Maximum share of its time in which such a flow is idle, or the receiver's window is closed.
const MAX_IDLE: f64 = 0.3;
/// Minimum share of packets that filled the receiver's window, in a flow that this window limits.
const MIN_WINDOW_FULL: f64 = 0.5;

/// A recovery: the sender sent again, and most reduce their window then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// Its first retransmission, nanoseconds.
    pub start_ns: i64,
    /// Bytes from the flow's first data byte to what was retransmitted first.
    pub seq_offset: u64,
    /// A time-out began it.
    pub timeout: bool,
    /// Whether anything was lost.
    pub verdict: RecoveryVerdict,
    /// What the sender reacted to.
    pub cause: Cause,
}

impl Reduction {
    /// Nothing was lost, and the window was reduced.
    fn is_unnecessary(&self) -> bool {
        self.verdict == RecoveryVerdict::Spurious && self.cause.reduces()
    }
}

/// A flow at its end: what was recorded of it, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// Bytes over time, [settled](Series::settle).
    pub series: &'a Series,
    /// Trains of packets.
    pub dispersion: &'a Dispersion,
    /// The windows around reductions.
    pub episodes: &'a Episodes,
    /// The rounds, if the capture was made at the sender.
    pub flights: Option<&'a Flights>,
    /// When the receiver's window was closed.
    pub closures: &'a Closures,
    /// Recoveries in their order.
    pub reductions: &'a [Reduction],
    /// Bytes that have arrived. At a receiver, what was lost before it and came again shows in its ACKs.
    pub delivered: i64,
    /// The last report of an arrival, nanoseconds.
    pub last_news_ns: i64,
    /// Time without anything to send, nanoseconds.
    pub idle_ns: i64,
    /// Packets with data.
    pub packets: u64,
    /// Of these, those that were not full.
    pub short: u64,
    /// Of these, those that filled the receiver's window.
    pub window_full: u64,
    /// The capture was made at the sender.
    pub at_sender: bool,
    /// Payload of a full segment.
    pub mss: u32,
    /// Shortest round trip between sender and receiver.
    pub rtt_ns: Option<i64>,
    /// Spurious retransmissions.
    pub spurious: u64,
}

impl Flow<'_> {
    /// What its throughput was, and what its unnecessary reductions cost.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost {
            goodput_bps: self.goodput(),
            goodput: self.goodput_over_time(),
            wasted_bytes: self.spurious.saturating_mul(u64::from(self.mss)),
            ..Cost::default()
        };
        let recognised = self.recognise();
        (cost.control, cost.control_confidence) = (recognised.control, recognised.confidence);
        let rate = self.rate(recognised);
        let mss = self.mss();
        cost.bottleneck_bps = rate.map(|r| (r.likely * mss * 8.0) as u64);
        for recovery in self.reductions.iter().filter(|r| r.is_unnecessary()) {
            cost.unnecessary += 1;
            let Some(episode) = self.episodes.of(recovery.start_ns) else {
                continue;
            };
            cost.restored += u64::from(control::restored(episode, mss as i64));
            let end = episode.end_ns.unwrap_or(self.last_news_ns);
            let lasted = end.saturating_sub(recovery.start_ns).max(0);
            cost.recovery_ns = cost.recovery_ns.saturating_add(lasted);
            if recovery.timeout {
                cost.timeout_ns = cost.timeout_ns.saturating_add(episode.silence_ns);
            }
        }
        cost.closed_ns = self.closures.total_ns();
        cost.lost = self.lost(&cost, rate, recognised);
        cost
    }

    fn mss(&self) -> f64 {
        f64::from(self.mss.max(1))
    }

    /// From the first data to the last report of an arrival, nanoseconds.
    fn duration_ns(&self) -> i64 {
        let first = self.series.start_ns();
        self.last_news_ns.saturating_sub(first)
    }

    fn goodput(&self) -> Option<u64> {
        let ns = u128::try_from(self.duration_ns()).ok()?;
        let bits = u128::try_from(self.delivered).ok()? * 8 * 1_000_000_000;
        u64::try_from(bits.checked_div(ns)?).ok()
    }

    fn goodput_over_time(&self) -> Vec<GoodputBin> {
        let series = self.series;
        let width_ns = series.width_ns() as u64;
        let bps = |bytes: u64| match bytes.checked_mul(8_000_000_000) {
            Some(bits) => bits / width_ns,
            // More than 2 GB in one interval.
            None => (u128::from(bytes) * 8_000_000_000 / u128::from(width_ns)) as u64,
        };
        let bins = (0i64..).zip(series.bins());
        bins.map(|(i, bin)| GoodputBin {
            start_ns: series.start_ns() + i * series.width_ns(),
            goodput_bps: bps(bin.delivered),
            again_bps: bps(bin.again),
        })
        .collect()
    }

    fn recognise(&self) -> Recognised {
        // The window in flight shows at the sender only.
        let Some(flights) = self.flights.filter(|_| self.at_sender) else {
            return Recognised::NOTHING;
        };
        if self.application_limits() || self.receiver_limits() {
            return Recognised::NOTHING;
        }
        let judge = |episode| (episode, self.verdict_of(episode));
        let episodes: Vec<Judged<'_>> = self.episodes.all().iter().map(judge).collect();
        control::recognise(&Shown {
            episodes: &episodes,
            rounds: flights.all(),
            rtt_ns: self.rtt_ns.unwrap_or(0),
            mss: self.mss() as i64,
        })
    }

    /// Why the sender went into the episode.
    fn verdict_of(&self, episode: &Episode) -> Option<RecoveryVerdict> {
        let next = self
            .reductions
            .partition_point(|r| r.start_ns < episode.start_ns);
        let recovery = self.reductions.get(next)?;
        let end_ns = episode.end_ns.unwrap_or(i64::MAX);
        (recovery.start_ns <= end_ns).then_some(recovery.verdict)
    }

    /// The greatest rate over `span` nanoseconds, bytes a second; 0 if the flow is shorter.
    fn sustained(&self, span: i64) -> f64 {
        // What arrives once more takes its share of the line, too.
        let series = self.series;
        let rate = series.most_sustained(span, |b| (b.delivered + b.repeated) as f64);
        rate.unwrap_or(0.0)
    }

    /// Segments a second.
    fn rate(&self, recognised: Recognised) -> Option<LineRate> {
        let rtt_ns = self.rtt_ns?;
        let mss = self.mss();
        let sustained = self.sustained(rtt_ns.saturating_mul(SUSTAINED_RTTS).max(SUSTAINED_NS));
        let mut rate = self.dispersion.rate()?;
        if sustained > rate.likely * (1.0 + SUSTAINED_ERROR) {
            rate.likely = sustained;
            rate.high = rate.high.max(sustained * (1.0 + SUSTAINED_ERROR));
        }
        let found = self.sustained(
            rtt_ns
                .saturating_mul(BBR_RATE_ROUND_TRIPS)
                .max(MIN_BBR_RATE_NS),
        ) * MAX_RATE_OVER_BBR;
        if recognised.control == Control::Bbr && recognised.confidence >= SURE && found > 0.0 {
            rate.low = rate.low.min(found);
            rate.likely = rate.likely.min(found);
            rate.high = rate.high.min(found);
        }
        (rate.low > 0.0).then_some(LineRate {
            low: rate.low / mss,
            likely: rate.likely / mss,
            high: rate.high / mss,
        })
    }

    /// What the unnecessary reductions cost.
    fn lost(&self, cost: &Cost, rate: Option<LineRate>, recognised: Recognised) -> Option<Lost> {
        if cost.unnecessary == 0 {
            return Some(Lost::default());
        }
        let whole_s = self.duration_ns() as f64 / 1e9;
        let (rate, rtt_ns) = (rate?, self.rtt_ns?);
        let rtt_s = rtt_ns as f64 / 1e9;
        let first = self.reductions.iter().find(|r| r.is_unnecessary())?;
        let episode = self.episodes.of(first.start_ns)?;
        let begun_ns = self.series.start_ns();
        let before_s = first.start_ns.saturating_sub(begun_ns) as f64 / 1e9;
        let idle_s = self.idle_since(first.start_ns);
        let rest = self.rest(first, episode);
        let once_more = OnceMore {
            rest,
            rate,
            rtt_s,
            recognised,
            unchanged_s: before_s + idle_s,
            whole_s,
        };
        let lost = once_more.lost();
        let chance = once_more.chance(lost.share);
        Some(self.bounded(lost, cost, (whole_s, chance)))
    }

    /// Where no window stayed reduced, or the application had no more to send, no more is lost than the time it took, and it may
    /// be nothing.
    fn bounded(&self, lost: Lost, cost: &Cost, (whole_s, chance): (f64, f64)) -> Lost {
        let undone = cost.restored == cost.unnecessary;
        let took = (cost.timeout_ns as f64 + cost.recovery_ns as f64) / 1e9 / whole_s;
        let bound = (undone || self.application_limits()).then_some(took);
        let high = bound.map_or(lost.high, |most| lost.high.min(most + chance));
        let high = high.clamp(0.0, 0.999);
        let low = if bound.is_some_and(|most| lost.low > most) {
            0.0
        } else {
            lost.low
        };
        Lost {
            share: lost.share.min(bound.unwrap_or(1.0)).clamp(0.0, high),
            low: low.clamp(0.0, high),
            high,
        }
    }

    /// Seconds without anything to send or without room for it at the receiver, after `from_ns`.
    fn idle_since(&self, from_ns: i64) -> f64 {
        let all = self.duration_ns().max(1) as f64;
        let after = self.last_news_ns.saturating_sub(from_ns).max(0) as f64;
        let waited_ns = self.idle_ns as f64 + self.closures.total_ns() as f64;
        waited_ns / 1e9 * (after / all)
    }

    fn rest(&self, first: &Reduction, episode: &Episode) -> Rest {
        let mss = self.mss();
        let segments = |bytes: i64| bytes.max(0) as f64 / mss;
        let losses = self
            .reductions
            .iter()
            .filter(|r| r.verdict == RecoveryVerdict::Loss);
        let before = losses.clone().any(|r| r.start_ns < first.start_ns);
        let later = losses.clone().filter(|r| r.start_ns >= first.start_ns);
        let offset = |r: &Reduction| i64::try_from(r.seq_offset).unwrap_or(i64::MAX);
        let queue = losses.clone().filter(|r| r.cause == Cause::QueueLoss);
        let overflows = queue.filter_map(|r| self.episodes.of(r.start_ns));
        Rest {
            segments: segments(self.delivered - episode.delivered),
            window: self.window_at(episode),
            slow_start: !before,
            losses: later
                .map(|r| segments(offset(r) - episode.delivered))
                .collect(),
            overflow: overflows.map(|e| segments(e.before)).max_by(f64::total_cmp),
            receiver: self
                .receiver_limits()
                .then(|| segments(self.episodes.most_in_flight)),
        }
    }

    /// Segments that were on their way when the episode began. Away from the sender, what came by in the round trip
    /// before tells.
    fn window_at(&self, episode: &Episode) -> f64 {
        let mss = self.mss();
        if self.at_sender {
            return episode.before as f64 / mss;
        }
        let series = self.series;
        let rtt_ns = self.rtt_ns.unwrap_or(0);
        let from = episode
            .start_ns
            .saturating_sub(rtt_ns.max(series.width_ns()));
        let bins = (0i64..).zip(series.bins());
        let within = bins.filter(|(i, _)| {
            let at = series.start_ns() + i * series.width_ns();
            (from..episode.start_ns).contains(&at)
        });
        let (count, bytes) = within.fold((0, 0), |(n, sum), (_, bin)| (n + 1, sum + bin.fresh));
        let ns = (count * series.width_ns()).max(1) as f64;
        bytes as f64 / mss * rtt_ns as f64 / ns
    }

    fn application_limits(&self) -> bool {
        let short = self.short as f64 > MAX_SHORT * self.packets as f64;
        short || self.idle_ns as f64 > MAX_IDLE * self.duration_ns() as f64
    }

    fn receiver_limits(&self) -> bool {
        let closed_ns = self.closures.total_ns() as f64;
        closed_ns > MAX_IDLE * self.duration_ns() as f64
            || self.window_full as f64 > MIN_WINDOW_FULL * self.packets as f64
    }
}
