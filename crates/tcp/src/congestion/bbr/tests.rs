//! BBR with prescribed deliveries, round trip by round trip; and BBR in an endpoint, over a bottleneck.

use std::collections::BTreeSet;

use super::*;
use crate::config::{MS, SECOND};
use crate::congestion::Measured;
use crate::state::CaState;
use crate::{Endpoint, Pair, profiles};

/// A connection whose path delivers what the test prescribes.
struct Told {
    bbr: Bbr,
    window: Window,
    rtt: Nanos,
    sample: RateSample,
}

impl Told {
    /// Established at time 0 after a handshake of 20 ms.
    fn new() -> Self {
        let mut told = Self {
            bbr: Bbr::default(),
            window: Window::new(10),
            rtt: 20 * MS,
            sample: RateSample {
                srtt: 20 * MS,
                mss: 1448,
                delivered: 1,
                ..RateSample::default()
            },
        };
        let start = Start {
            srtt: told.rtt,
            min_rtt: told.rtt,
            ..Start::default()
        };
        told.bbr.start(&mut told.window, &start);
        told
    }

    /// One round trip that delivers `segments` and loses `lost` others.
    fn round_with(&mut self, segments: u32, lost: u32, app_limited: bool) -> Mode {
        let before = self.sample.delivered;
        let now = self.sample.now + self.rtt;
        self.sample = RateSample {
            now,
            delivered: before + u64::from(segments),
            delivered_at: now,
            lost: self.sample.lost + u64::from(lost),
            newly_delivered: segments,
            newly_lost: lost,
            measured: Some(Measured {
                delivered: segments.into(),
                interval: self.rtt,
                prior_delivered: before,
                app_limited,
            }),
            rtt: Some(self.rtt),
            next_departure: now,
            ..self.sample
        };
        self.bbr.rate_sample(&mut self.window, &self.sample);
        self.bbr.mode
    }

    fn round(&mut self, segments: u32) -> Mode {
        self.round_with(segments, 0, false)
    }

    /// Startup over a path of 100 segments per round trip, with the queue drained.
    fn filled() -> Self {
        let mut told = Self::new();
        for segments in [10, 20, 40, 80, 100, 100, 100] {
            assert_eq!(told.round(segments), Mode::Startup);
        }
        told.sample.in_flight = 400;
        assert_eq!(told.round(100), Mode::Drain);
        told.sample.in_flight = 100;
        assert_eq!(told.round(100), Mode::ProbeBandwidth);
        told
    }

    /// The bandwidth in use, segments per round trip.
    fn segments(&self) -> u64 {
        segments_over(self.bbr.bandwidth() + 1, micros(self.rtt))
    }

    /// The pacing rate in percent of the bandwidth.
    fn pace(&self) -> u64 {
        (self.bbr.pacing_rate as f64 * 100.0 / self.bbr.bytes_per_second() as f64).round() as u64
    }
}

#[test]
fn startup_ends_after_three_round_trips_without_a_quarter_more() {
    let mut told = Told::new();
    told.sample.in_flight = 400;
    for segments in [10, 20, 40, 80, 100] {
        assert_eq!(told.round(segments), Mode::Startup);
        assert_eq!(told.segments(), u64::from(segments));
    }
    // An increase from 80 to 100 is a quarter; from 100 on the increase is too small three times.
    assert_eq!(told.round(110), Mode::Startup);
    assert_eq!(told.round(120), Mode::Startup);
    assert_eq!(told.round(124), Mode::Drain);
    // Growth in time restarts the count.
    let mut told = Told::new();
    told.sample.in_flight = 400;
    for segments in [10, 20, 40, 41, 41, 60, 60, 60] {
        assert_eq!(told.round(segments), Mode::Startup);
    }
    assert_eq!(told.round(60), Mode::Drain);
}

#[test]
fn startup_paces_at_2_over_ln_2_and_never_slows_down() {
    let mut told = Told::new();
    let first = told.bbr.pacing_rate;
    // 10 segments of 1448 bytes in 20 ms, times 2.887, less a hundredth.
    assert_eq!(first / 1000, 2068);
    told.round(5);
    assert_eq!(told.bbr.pacing_rate, first);
    told.round(100);
    assert_eq!(told.pace(), 289);
}

#[test]
fn the_queue_of_startup_is_drained() {
    let mut told = Told::new();
    for segments in [10, 20, 40, 80, 100, 100, 100] {
        told.round(segments);
    }
    told.sample.in_flight = 300;
    assert_eq!(told.round(100), Mode::Drain);
    assert_eq!(told.pace(), 34);
    assert_eq!(told.round(100), Mode::Drain);
    // One bandwidth-delay product, plus three bursts of two segments.
    told.sample.in_flight = 107;
    assert_eq!(told.round(100), Mode::Drain);
    told.sample.in_flight = 106;
    assert_eq!(told.round(100), Mode::ProbeBandwidth);
    // Two bandwidth-delay products, 14 for bursts, and 100 because acknowledgements come 100 at a time.
    assert_eq!(told.window.cwnd, 314);
}

#[test]
fn eight_phases_of_a_round_trip_each() {
    let mut told = Told::filled();
    while told.bbr.phase != 2 {
        told.sample.prior_in_flight = 200;
        told.round(100);
        told.sample.now += MS;
    }
    let mut paces = Vec::new();
    for _ in 0..8 {
        paces.push(told.pace());
        told.sample.prior_in_flight = 200;
        told.sample.now += MS;
        told.round(100);
    }
    assert_eq!(paces, [100, 100, 100, 100, 100, 100, 125, 75]);
    assert_eq!(told.bbr.phase, 2);
}

/// A higher rate is kept until it has filled the path accordingly or has caused a loss; a lower rate ends as soon as
/// the queue is drained.
#[test]
fn probing_lasts_until_it_has_had_its_effect() {
    let mut told = Told::filled();
    told.bbr.phase = 0;
    told.bbr.update_gains();
    told.sample.now += MS;
    told.sample.prior_in_flight = 100;
    told.round(100);
    told.round(100);
    assert_eq!(told.bbr.phase, 0);
    told.round_with(100, 1, false);
    assert_eq!(told.bbr.phase, 1);
    // One bandwidth-delay product is in flight: there is no queue to drain.
    told.rtt = MS;
    told.sample.prior_in_flight = 90;
    told.bbr.rate_sample(&mut told.window, &told.sample.clone());
    assert_eq!(told.bbr.phase, 2);
}

#[test]
fn the_first_phase_is_random_and_never_the_one_that_drains() {
    let first = |seed: u64| {
        let mut bbr = Bbr {
            random: Random::new(seed, "congestion"),
            ..Bbr::default()
        };
        bbr.probe_bandwidth(0);
        bbr.phase
    };
    let drawn: BTreeSet<usize> = (0..200).map(first).collect();
    assert_eq!(drawn, BTreeSet::from([0, 2, 3, 4, 5, 6, 7]));
    assert_eq!(first(7), first(7));
}

#[test]
fn the_maximum_is_forgotten_after_ten_round_trips() {
    let mut told = Told::filled();
    for _ in 0..9 {
        told.round(50);
        assert_eq!(told.segments(), 100);
    }
    told.round(50);
    told.round(50);
    assert_eq!(told.segments(), 50);
}

#[test]
fn an_application_that_sends_little_does_not_lower_the_bandwidth() {
    let mut told = Told::filled();
    for _ in 0..40 {
        told.round_with(3, 0, true);
    }
    assert_eq!(told.segments(), 100);
    // A sample above the known bandwidth is used nevertheless.
    told.round_with(120, 0, true);
    assert_eq!(told.segments(), 120);
    let mut told = Told::new();
    for _ in 0..40 {
        told.round_with(10, 0, true);
    }
    assert_eq!(told.bbr.mode, Mode::Startup);
}

/// Ten seconds without an equal or smaller round-trip time: four segments in flight for 200 ms and one round trip,
/// then back.
#[test]
fn the_round_trip_time_is_measured_anew_after_ten_seconds() {
    let mut told = Told::filled();
    let window = told.window.cwnd;
    told.rtt = 30 * MS;
    told.sample.in_flight = 150;
    let entered = (0..400).find(|_| told.round(150) == Mode::ProbeRtt);
    assert!(entered.is_some());
    let begun = told.sample.now;
    assert!(
        (10 * SECOND..=10 * SECOND + 300 * MS).contains(&begun),
        "{begun}"
    );
    assert_eq!(told.window.cwnd, 4);
    assert!(told.bbr.holds_back());
    // The phase starts when four segments are in flight.
    told.round(100);
    told.sample.in_flight = 4;
    told.rtt = 20 * MS;
    let mut dip = 0;
    // The sender marks what is sent meanwhile as limited.
    while told.round_with(4, 0, true) == Mode::ProbeRtt {
        dip += 1;
        assert_eq!(told.window.cwnd, 4);
        assert!(dip < 100);
    }
    assert_eq!(dip, 11); // more than 200 ms
    assert_eq!(told.bbr.mode, Mode::ProbeBandwidth);
    assert!(
        (200..=window).contains(&told.window.cwnd),
        "{}",
        told.window.cwnd
    );
    assert_eq!(told.bbr.min_rtt.value(), 20 * MS);
    told.round(100);
    assert!(!told.bbr.holds_back());
}

#[test]
fn recovery_conserves_packets_for_a_round_trip_and_restores_the_window() {
    let mut told = Told::filled();
    told.round(100);
    let window = told.window.cwnd;
    let event = LossEvent {
        now: told.sample.now,
        in_flight: 150,
        timeout: false,
    };
    let threshold = told.window.ssthresh;
    assert_eq!(told.bbr.ssthresh(&told.window.clone(), &event), threshold);
    // Ten segments are lost, and one acknowledgement delivers two: the window is the data in flight plus these two.
    told.sample.state = CaState::Recovery;
    told.sample.in_flight = 138;
    told.sample.newly_delivered = 2;
    told.sample.newly_lost = 10;
    told.sample.measured = None;
    told.bbr.rate_sample(&mut told.window, &told.sample.clone());
    assert_eq!(told.window.cwnd, 140);
    told.sample.in_flight = 130;
    told.sample.newly_lost = 0;
    told.bbr.rate_sample(&mut told.window, &told.sample.clone());
    assert_eq!(told.window.cwnd, 140); // The larger of the window and the conserved amount.
    // The next round trip grows towards the target by the delivered segments.
    told.round(20);
    assert_eq!(told.window.cwnd, 160);
    told.sample.state = CaState::Open;
    told.round(100);
    assert_eq!(told.window.cwnd, window);
}

#[test]
fn an_undo_discards_what_startup_concluded_from_losses() {
    let mut told = Told::new();
    for segments in [10, 20, 40, 40, 40] {
        told.round(segments);
    }
    assert_eq!(told.bbr.full.rounds, 2);
    let window = told.window.cwnd;
    assert_eq!(told.bbr.undo_cwnd(&told.window.clone()), window);
    // The next round trip sets the mark anew.
    assert_eq!(told.round(40), Mode::Startup);
    assert_eq!(told.bbr.full.rounds, 0);
}

/// Acknowledgements in bursts of 30 at a bandwidth of 5 per millisecond enlarge the window.
#[test]
fn bursts_of_acknowledgements_enlarge_the_window() {
    let mut told = Told::filled();
    let before = told.window.cwnd;
    for _ in 0..30 {
        for burst in [70, 30] {
            let measured = told.sample.measured;
            told.sample.now += 10 * MS;
            told.sample.delivered_at = told.sample.now;
            told.sample.delivered += burst;
            told.sample.newly_delivered = burst as u32;
            told.sample.measured = measured.map(|measured| Measured {
                delivered: 100,
                interval: 20 * MS,
                prior_delivered: told.sample.delivered - 100,
                ..measured
            });
            told.bbr.rate_sample(&mut told.window, &told.sample.clone());
        }
    }
    assert_eq!(told.segments(), 100);
    let extra = told.window.cwnd - before;
    assert!((20..=70).contains(&extra), "{extra}");
}

/// Losses of a quarter, and 60 segments a round trip, interval after interval: the policer's rate is used for 48 round
/// trips, without probing.
#[test]
fn a_policer_is_found_and_its_rate_kept() {
    let mut told = Told::filled();
    let mut found = 0;
    while told.bbr.policer.rate().is_none() {
        told.round_with(60, 20, false);
        found += 1;
        assert!(found < 20);
    }
    // The first loss begins the first interval; two intervals of four round trips, and one more to compare.
    assert!((8..=12).contains(&found), "{found}");
    assert_eq!(told.segments(), 60);
    for _ in 0..47 {
        told.round(60);
        assert_eq!(told.pace(), 100);
    }
    told.round(60);
    assert_eq!(told.bbr.policer.rate(), None);
}

/// Losses of a few percent do not indicate a policer.
#[test]
fn few_losses_do_not_indicate_a_policer() {
    let mut told = Told::filled();
    for _ in 0..100 {
        told.round_with(98, 2, false);
    }
    assert_eq!(told.bbr.policer.rate(), None);
}

/// After a pause the bandwidth is known: no probing until data is acknowledged, and no measuring phase for an old
/// round-trip time.
#[test]
fn a_restart_after_a_pause_paces_at_the_known_bandwidth() {
    let mut told = Told::filled();
    told.bbr.phase = 0;
    told.round(100);
    assert_eq!(told.pace(), 125);
    told.sample.now += 20 * SECOND;
    let sent = SentEvent {
        now: told.sample.now,
        app_limited: true,
        ..SentEvent::default()
    };
    told.bbr.on_sent(&mut told.window, &sent);
    assert_eq!(told.pace(), 100);
    assert_ne!(told.round_with(4, 0, true), Mode::ProbeRtt);
}

/// The results of a run over a path of 10 Mbit/s and 40 ms.
struct Run {
    pair: Pair,
    /// States in order, each once per stay.
    modes: Vec<u32>,
    /// Data segments dropped by the queue.
    dropped: u64,
}

fn value(bbr: &dyn CongestionControl, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    bbr.trace(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

/// `seconds` of an endless transfer over a bottleneck whose queue holds `queue` of time, each `lost`th segment lost.
fn run(seconds: Nanos, queue: Nanos, lost: u64) -> Run {
    let config = profiles::linux_6();
    let end = || Endpoint::with_names(&config, ENTRY.name, "linux").unwrap();
    let dropped = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let count = std::sync::Arc::clone(&dropped);
    let mut free_at: Nanos = 0;
    let pair = Pair::new(end(), end(), 20 * MS).with_fate(move |departure, copies| {
        let bytes = Nanos::from(departure.segment.payload) + 52;
        let wait = (free_at - departure.now).max(0);
        let full = wait > queue || (lost > 0 && departure.data_index % lost == lost - 1);
        if departure.segment.payload > 0 && full {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return;
        }
        if departure.segment.payload == 0 {
            return copies.push(0);
        }
        free_at = free_at.max(departure.now) + bytes * 800; // 10 Mbit/s
        copies.push(free_at - departure.now);
    });
    let mut run = Run {
        pair,
        modes: Vec::new(),
        dropped: 0,
    };
    run.pair.open();
    run.pair.client.write(1 << 40);
    while run.pair.step(seconds * SECOND) {
        let mode = value(run.pair.client.congestion(), "mode") as u32;
        if run.modes.last() != Some(&mode) {
            run.modes.push(mode);
        }
    }
    run.dropped = dropped.load(std::sync::atomic::Ordering::Relaxed);
    run
}

/// Bytes per second of payload that the path of [`run`] carries.
const CARRIED: f64 = 1.25e6 * 1448.0 / 1500.0;

fn share(run: &Run, seconds: f64) -> f64 {
    run.pair.server.counters().received.bytes_received as f64 / seconds / CARRIED
}

#[test]
fn a_path_with_a_deep_queue_is_filled_without_filling_the_queue() {
    let run = run(25, SECOND, 0);
    // Startup, drain, probing for bandwidth; a measuring phase after 10 s and after 20 s.
    assert_eq!(run.modes, [0, 1, 2, 3, 2, 3, 2]);
    assert_eq!(run.dropped, 0);
    let share = share(&run, 25.0);
    assert!((0.93..=1.0).contains(&share), "{share}");
    let srtt = run.pair.client.info().timing.rtt;
    assert!(srtt < 90 * MS, "{srtt}");
    let bandwidth = value(run.pair.client.congestion(), "bandwidth_bytes_per_s");
    assert!(
        (0.97..1.03).contains(&(bandwidth / 0.99 / CARRIED)),
        "{bandwidth}"
    );
}

#[test]
fn losses_of_one_in_a_hundred_cost_little() {
    let run = run(10, SECOND, 100);
    let share = share(&run, 10.0);
    assert!(run.dropped > 70, "{}", run.dropped);
    assert!(share > 0.85, "{share}");
}

#[test]
fn a_shallow_queue_causes_losses_but_does_not_reduce_the_rate() {
    let run = run(10, 10 * MS, 0);
    assert!(run.dropped > 0);
    let share = share(&run, 10.0);
    assert!(share > 0.8, "{share}");
}
