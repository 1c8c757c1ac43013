//! BBR, version 1: sends at the measured delivery rate of the path, and keeps about two bandwidth-delay products in
//! flight.
//!
//! Source: Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5),
//! 2016; draft-cardwell-iccrg-bbr-congestion-control-00; states, constants and integer arithmetic as in Linux 6.1
//! `tcp_bbr.c`.
//!
//! The model of the path has two parameters: the greatest delivery rate of the last 10 round trips, and the smallest
//! round-trip time of the last 10 seconds. Losses do not change them. They determine the pacing rate, `gain x
//! bandwidth`, and the window, `gain x bandwidth x round-trip time`. The gains depend on the state:
//!
//! 1. Startup: 2/ln 2 for both, until three round trips in a row have not increased the bandwidth by a quarter.
//! 2. Drain: ln 2 / 2 for the rate, until no more than one bandwidth-delay product is in flight.
//! 3. Probing for bandwidth: eight phases of one round-trip time each, with 5/4, 3/4 and six times 1 for the rate,
//!    and 2 for the window; the first phase is random.
//! 4. Probing for the round-trip time, if the minimum is 10 s old: four segments in flight, for 200 ms and one
//!    round trip.
//!
//! In addition, the window is limited to what is delivered in the first round trip of a recovery and restored
//! afterwards (`window.rs`), bursts of acknowledgements enlarge it (`aggregation.rs`), and the rate of a policer
//! replaces the measured maximum (`policer.rs`).

mod aggregation;
mod filter;
mod policer;
mod probe_rtt;
#[cfg(test)]
mod tests;
mod window;

use inorder_base::random::Random;

use super::{
    AckEvent, CongestionControl, Entry, Event, LossEvent, Nanos, RateSample, SentEvent, Start,
    Window, micros,
};
use crate::time::elapsed;
use aggregation::Aggregation;
use filter::MaxFilter;
use policer::{Finding, Policer};
use probe_rtt::MinRtt;
use window::Conservation;

pub(super) const ENTRY: Entry = Entry {
    name: "bbr",
    about: "BBR version 1: paces at the delivery rate, keeps two bandwidth-delay products in flight",
    source: "ACM Queue 14(5) 2016, Linux 4.9 and later",
    build: || Box::new(Bbr::default()),
};

/// Segments per microsecond, with 24 bits after the binary point.
type Bandwidth = u64;

/// A gain of 1: gains have 8 bits after the binary point.
const GAIN_UNIT: u64 = 256;
/// 2/ln 2: doubles the rate each round trip.
const HIGH_GAIN: u64 = GAIN_UNIT * 2885 / 1000 + 1;
/// The inverse: drains within one round trip the queue that startup has built.
const DRAIN_GAIN: u64 = GAIN_UNIT * 1000 / 2885;
/// Two bandwidth-delay products, because acknowledgements may be delayed or arrive in bursts.
const WINDOW_GAIN: u64 = 2 * GAIN_UNIT;
/// The phases of probing for bandwidth.
const CYCLE: [u64; 8] = [
    GAIN_UNIT * 5 / 4,
    GAIN_UNIT * 3 / 4,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
    GAIN_UNIT,
];
/// Number of round trips covered by the maximum of the bandwidth.
const BANDWIDTH_ROUNDS: u32 = 10;
/// Startup ends if the bandwidth has not grown by a quarter for this many round trips.
const FULL_ROUNDS: u32 = 3;
/// Round-trip time assumed before the first measurement, microseconds.
const UNKNOWN_RTT_US: u64 = 1_000;
/// Below this rate, bytes per second, a burst may be a single segment.
const SINGLE_SEGMENT_RATE: u64 = 1_200_000 / 8;
/// Maximum size of a burst in bytes and segments.
const MAX_BURST_BYTES: u64 = 65_279;
const MAX_BURST_SEGMENTS: u64 = 127;

/// Which parameter of the path is being measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// Detects whether the bandwidth still grows in startup.
#[derive(Debug, Clone, Copy, Default)]
struct FullPipe {
    bandwidth: Bandwidth,
    rounds: u32,
    reached: bool,
}

/// Round trips, counted by deliveries: one ends when data sent after its start is acknowledged.
#[derive(Debug, Clone, Copy, Default)]
struct Rounds {
    count: u32,
    /// The count of delivered segments at which the current round trip ends.
    end: u64,
    /// True if the last acknowledgement started a round trip.
    started: bool,
}

/// BBR version 1.
#[derive(Debug, Clone)]
pub struct Bbr {
    mode: Mode,
    random: Random,
    mss: u32,
    /// Bytes per second.
    pacing_rate: u64,
    /// True if the rate is based on a measured round-trip time.
    rtt_seen: bool,
    pacing_gain: u64,
    window_gain: u64,
    bandwidth: MaxFilter,
    rounds: Rounds,
    min_rtt: MinRtt,
    full: FullPipe,
    /// Phase of [`CYCLE`], and its start.
    phase: usize,
    phase_since: Nanos,
    policer: Policer,
    aggregation: Aggregation,
    conservation: Conservation,
    /// Sending has resumed after the application had no data to send.
    idle_restart: bool,
    /// BBR itself has just limited the sender.
    held_back: bool,
    /// The state after the last acknowledgement.
    last: RateSample,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            random: Random::new(0, "bbr"),
            mss: 0,
            pacing_rate: 0,
            rtt_seen: false,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            bandwidth: MaxFilter::default(),
            rounds: Rounds::default(),
            min_rtt: MinRtt::default(),
            full: FullPipe::default(),
            phase: 0,
            phase_since: 0,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            conservation: Conservation::default(),
            idle_restart: false,
            held_back: false,
            last: RateSample::default(),
        }
    }
}

impl Bbr {
    /// The bandwidth in use: a policer's rate, or the maximum of the last round trips.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// The bandwidth in use, bytes per second.
    pub(crate) fn bytes_per_second(&self) -> u64 {
        bytes_per_second(self.bandwidth(), GAIN_UNIT, self.mss)
    }

    /// The rate before any delivery: the window per round-trip time, multiplied by the gain.
    fn initial_rate(&mut self, cwnd: u32, srtt: Nanos) {
        let rtt_us = if srtt > 0 {
            self.rtt_seen = true;
            micros(srtt).max(1)
        } else {
            UNKNOWN_RTT_US
        };
        let bandwidth = bandwidth_of(cwnd.into(), rtt_us);
        self.pacing_rate = bytes_per_second(bandwidth, HIGH_GAIN, self.mss);
    }

    /// Startup never reduces the rate: early samples are small because little has been sent.
    fn set_pacing_rate(&mut self, gain: u64, cwnd: u32, srtt: Nanos) {
        let rate = bytes_per_second(self.bandwidth(), gain, self.mss);
        if !self.rtt_seen && srtt > 0 {
            self.initial_rate(cwnd, srtt);
        }
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn shortest_burst(&self) -> u32 {
        if self.pacing_rate < SINGLE_SEGMENT_RATE {
            1
        } else {
            2
        }
    }

    /// Segments of a burst: a millisecond at the pacing rate.
    fn burst(&self) -> u64 {
        let bytes = (self.pacing_rate >> 10).min(MAX_BURST_BYTES);
        (bytes / u64::from(self.mss.max(1)))
            .max(self.shortest_burst().into())
            .min(MAX_BURST_SEGMENTS)
    }

    /// Counts round trips, and keeps the greatest rate, ignoring samples that the application limited.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.rounds.started = false;
        let Some(measured) = sample.measured else {
            return;
        };
        if measured.prior_delivered >= self.rounds.end {
            self.rounds.end = sample.delivered;
            self.rounds.count += 1;
            self.rounds.started = true;
            self.conservation.round_over();
        }
        self.watch_for_policer(sample);
        let bandwidth = bandwidth_of(measured.delivered, micros(measured.interval));
        if !measured.app_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth
                .update(BANDWIDTH_ROUNDS, self.rounds.count, bandwidth);
        }
    }

    fn watch_for_policer(&mut self, sample: &RateSample) {
        let probing = self.mode == Mode::ProbeBandwidth;
        match self.policer.update(sample, self.rounds.started, probing) {
            Finding::Nothing => {}
            Finding::Found => self.pacing_gain = GAIN_UNIT,
            Finding::Over => self.probe_bandwidth(sample.delivered_at),
        }
    }

    /// A phase lasts one round-trip time. A phase with a higher rate lasts longer if needed until it has an effect; a
    /// phase with a lower rate ends as soon as the queue of the previous one is drained.
    fn update_phase(&mut self, sample: &RateSample) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let lasted = elapsed(sample.delivered_at, self.phase_since) > self.min_rtt.value();
        let bandwidth = self.bandwidth.get();
        let over = if self.pacing_gain == GAIN_UNIT {
            lasted
        } else {
            let in_net = self.in_net_at_departure(sample, sample.prior_in_flight);
            if self.pacing_gain > GAIN_UNIT {
                let filled = in_net >= self.inflight(bandwidth, self.pacing_gain);
                lasted && (sample.newly_lost > 0 || filled)
            } else {
                lasted || in_net <= self.inflight(bandwidth, GAIN_UNIT)
            }
        };
        if over {
            self.next_phase(sample.delivered_at);
        }
    }

    fn next_phase(&mut self, now: Nanos) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_since = now;
    }

    /// Starts probing for bandwidth, in any phase except the one that drains.
    fn probe_bandwidth(&mut self, now: Nanos) {
        self.mode = Mode::ProbeBandwidth;
        let back = self.random.below(CYCLE.len() as u64 - 1) as usize;
        self.phase = CYCLE.len() - 1 - back;
        self.next_phase(now);
    }

    /// Startup ends if three round trips have not increased the bandwidth by a quarter.
    fn check_full(&mut self, sample: &RateSample) {
        let limited = sample.measured.is_some_and(|measured| measured.app_limited);
        if self.full.reached || !self.rounds.started || limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full.bandwidth.saturating_mul(5) / 4 {
            self.full.bandwidth = bandwidth;
            self.full.rounds = 0;
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, window: &mut Window, sample: &RateSample) {
        let target = self.inflight(self.bandwidth.get(), GAIN_UNIT);
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            window.ssthresh = u32::try_from(target).unwrap_or(u32::MAX);
        }
        if self.mode == Mode::Drain && self.in_net_at_departure(sample, sample.in_flight) <= target
        {
            self.probe_bandwidth(sample.delivered_at);
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.policer.rate().is_some() => (GAIN_UNIT, WINDOW_GAIN),
            Mode::ProbeBandwidth => (CYCLE[self.phase], WINDOW_GAIN),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }

    fn update_model(&mut self, window: &mut Window, sample: &RateSample) {
        self.update_bandwidth(sample);
        if sample.measured.is_some() {
            let bandwidth = self.bandwidth();
            self.aggregation
                .update(sample, bandwidth, window.cwnd, self.rounds.started);
        }
        self.update_phase(sample);
        self.check_full(sample);
        self.check_drain(window, sample);
        self.update_min_rtt(window, sample);
        self.update_gains();
    }
}

impl CongestionControl for Bbr {
    fn start(&mut self, window: &mut Window, start: &Start) {
        self.random = start.random.clone();
        self.mss = start.mss;
        self.min_rtt.start(start.min_rtt, start.now);
        window.ssthresh = u32::MAX;
        self.initial_rate(window.cwnd, start.srtt);
        self.rounds.end = start.delivered;
        self.aggregation.restart(start.now);
        self.last = RateSample {
            delivered: start.delivered,
            delivered_at: start.now,
            ..RateSample::default()
        };
        self.policer.reset(&self.last);
    }

    /// Never called: BBR controls the window itself.
    fn grow(&mut self, _window: &mut Window, _ack: &AckEvent) {}

    fn governs_window(&self) -> bool {
        true
    }

    /// Linux `bbr_sndbuf_expand`: BBR may double its rate while it recovers.
    fn windows_buffered(&self) -> u64 {
        3
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate)
    }

    fn min_burst(&self) -> Option<u32> {
        Some(self.shortest_burst())
    }

    fn holds_back(&self) -> bool {
        self.held_back
    }

    fn rate_sample(&mut self, window: &mut Window, sample: &RateSample) {
        self.mss = sample.mss;
        self.update_model(window, sample);
        let gain = self.pacing_gain;
        self.set_pacing_rate(gain, window.cwnd, sample.srtt);
        self.set_window(window, sample);
        self.last = *sample;
    }

    /// After an idle time the known bandwidth is used; a higher rate would only fill a queue.
    fn on_sent(&mut self, window: &mut Window, sent: &SentEvent) {
        if sent.in_flight > 0 || !sent.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(sent.now);
        match self.mode {
            Mode::ProbeBandwidth => {
                let srtt = self.last.srtt;
                self.set_pacing_rate(GAIN_UNIT, window.cwnd, srtt);
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(window, sent.now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// BBR does not use the threshold; this call only reports that recovery starts.
    fn ssthresh(&mut self, window: &Window, _loss: &LossEvent) -> u32 {
        self.save_window(window.cwnd);
        window.ssthresh
    }

    /// The losses were spurious: conclusions from them in startup and by the policer detection are discarded. The
    /// window follows the model, not the undo.
    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        self.full.bandwidth = 0;
        self.full.rounds = 0;
        self.policer.reset(&self.last);
        window.cwnd
    }

    fn event(&mut self, _window: &mut Window, event: Event, _now: Nanos) {
        if event == Event::Timeout {
            self.conservation.timed_out();
            self.full.bandwidth = 0;
            self.rounds.started = true;
            let lost = RateSample {
                newly_lost: 1,
                measured: None,
                ..self.last
            };
            self.watch_for_policer(&lost);
        }
    }

    fn trace(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bandwidth_bytes_per_s", self.bytes_per_second() as f64);
        out("pacing_rate_bytes_per_s", self.pacing_rate as f64);
        out("min_rtt_s", self.min_rtt.value() as f64 * 1e-9);
        out("mode", f64::from(self.mode as u8));
        out(
            "policed",
            f64::from(u8::from(self.policer.rate().is_some())),
        );
        out("pacing_gain", self.pacing_gain as f64 / GAIN_UNIT as f64);
    }
}

/// The bandwidth that delivers `segments` in `us` microseconds.
fn bandwidth_of(segments: u64, us: u64) -> Bandwidth {
    let exact = (u128::from(segments) << 24) / u128::from(us.max(1));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// Segments that `bandwidth` carries in `us` microseconds.
fn segments_over(bandwidth: Bandwidth, us: u64) -> u64 {
    let product = u128::from(bandwidth) * u128::from(us);
    u64::try_from(product >> 24).unwrap_or(u64::MAX)
}

/// A pacing rate: one percent less than `gain x bandwidth`, so that an existing queue shrinks.
fn bytes_per_second(bandwidth: Bandwidth, gain: u64, mss: u32) -> u64 {
    let product = u128::from(bandwidth) * u128::from(mss);
    let scaled = product.saturating_mul(gain.into()) >> 8;
    u64::try_from(scaled.saturating_mul(1_000_000 / 100 * 99) >> 24).unwrap_or(u64::MAX)
}
