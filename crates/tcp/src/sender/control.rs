//! The congestion control of the sender, and the calls of it.

use inorder_base::random::Random;

use super::Sender;
use super::ack::{AckSegment, Before, Rtts};
use super::delivery::DeliveryRate;
use crate::Nanos;
use crate::congestion::{CongestionControl, Event, RateSample, SentEvent, Start};
use crate::loss::AckNews;

/// A congestion control and its properties, which are read once.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) algorithm: Box<dyn CongestionControl>,
    /// It alone changes the window: the sender neither grows, nor reduces, nor restarts it.
    pub(super) governs_window: bool,
    /// It sets the rate of sending.
    pub(super) paces: bool,
    /// It needs congestion marks, and their exact echo.
    pub(crate) needs_ecn: bool,
    /// It needs a call for every segment sent.
    watches_sending: bool,
    /// Seed of its random numbers.
    seed: u64,
    /// Samples of the delivery rate, if it needs them.
    pub(super) rate: Option<Box<DeliveryRate>>,
}

impl Control {
    pub(super) fn new(algorithm: Box<dyn CongestionControl>, seed: u64) -> Self {
        Self {
            seed,
            governs_window: algorithm.governs_window(),
            paces: algorithm.pacing_rate().is_some(),
            needs_ecn: algorithm.needs_ecn(),
            watches_sending: algorithm.watches_sending(),
            rate: algorithm
                .samples_rate()
                .then(|| Box::new(DeliveryRate::new())),
            algorithm,
        }
    }

    /// Its pacing rate, bytes per second, if it has one.
    pub(super) fn pacing_rate(&self) -> Option<u64> {
        if !self.paces {
            return None;
        }
        self.algorithm.pacing_rate()
    }

    /// Minimum number of segments in a burst; `otherwise` if the algorithm uses the configuration.
    pub(super) fn min_burst(&self, otherwise: u32) -> u32 {
        if !self.paces {
            return otherwise;
        }
        self.algorithm.min_burst().unwrap_or(otherwise)
    }

    fn app_limited(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.app_limited())
    }
}

impl Sender {
    /// The connection is established: the algorithm starts.
    pub(super) fn start_control(&mut self, now: Nanos) {
        let delivered = self
            .congestion
            .control
            .rate
            .as_ref()
            .map_or(1, |rate| rate.delivered);
        let start = Start {
            now,
            mss: self.agreed.mss,
            srtt: self.time.rtt.srtt,
            min_rtt: self.time.rtt.min_rtt,
            delivered,
            random: Random::new(self.congestion.control.seed, "congestion"),
        };
        self.congestion
            .control
            .algorithm
            .start(&mut self.congestion.window, &start);
    }

    pub(super) fn tell(&mut self, now: Nanos, event: Event) {
        self.congestion
            .control
            .algorithm
            .event(&mut self.congestion.window, event, now);
    }

    /// A segment of `payload` bytes is about to be sent.
    #[inline]
    pub(super) fn announce(&mut self, now: Nanos, payload: u32, again: bool) {
        if payload == 0 || !self.congestion.control.watches_sending {
            return;
        }
        let event = SentEvent {
            now,
            in_flight: self.board.in_flight(),
            payload,
            snd_nxt: self.stream.nxt,
            again,
            app_limited: self.congestion.control.app_limited(),
        };
        self.congestion
            .control
            .algorithm
            .on_sent(&mut self.congestion.window, &event);
    }

    /// True if the congestion control learns from what the application writes.
    pub(crate) fn notes_writes(&self) -> bool {
        self.congestion.control.rate.is_some()
    }

    /// The application is about to write: checks whether the data written before was too little to fill the window
    /// (Linux `tcp_rate_check_app_limited`).
    pub(crate) fn check_app_limited(&mut self) {
        let Some(rate) = &mut self.congestion.control.rate else {
            return;
        };
        let in_flight = self.board.in_flight();
        if self.stream.unsent() < u64::from(self.agreed.mss)
            && in_flight < self.congestion.window.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            rate.limit(in_flight);
        }
    }

    /// Losses have been detected: passes a sample of the delivery rate to an algorithm that needs one.
    pub(super) fn sample_rate(
        &mut self,
        now: Nanos,
        segment: &AckSegment<'_>,
        news: &AckNews<'_>,
        before: &Before,
        delivered: u32,
        rtts: &Rtts,
    ) {
        let Some(rate) = &mut self.congestion.control.rate else {
            return;
        };
        for item in news.delivered {
            rate.reported(before.front + u64::from(item.index), &item.record);
        }
        let front = self.board.front_id();
        let measured = rate.finish(now, delivered, front, self.time.rtt.min_rtt);
        // A small segment that was alone in flight: the receiver has waited for a second one.
        let ack_delayed = delivered == 1
            && before.sacked == 0
            && !news.has_sack
            && news.dsack.is_none()
            && !segment.echo
            && self.stream.una - before.una < u64::from(self.agreed.mss)
            && measured.is_some_and(|measured| measured.delivered == 1);
        let sample = RateSample {
            now,
            state: self.state,
            delivered: rate.delivered,
            delivered_at: rate.delivered_at,
            lost: self.board.losses(),
            newly_delivered: delivered,
            newly_lost: (self.board.losses() - before.losses) as u32,
            measured,
            rtt: rtts.delivered,
            ack_delayed,
            prior_in_flight: before.in_flight,
            in_flight: self.board.in_flight(),
            next_departure: self.congestion.pacer.next_departure(now),
            srtt: self.time.rtt.srtt,
            mss: self.agreed.mss,
        };
        self.congestion
            .control
            .algorithm
            .rate_sample(&mut self.congestion.window, &sample);
        if self.congestion.control.algorithm.holds_back() {
            rate.limit(sample.in_flight);
        }
    }

    /// True if the common rules change the window: growth, reduction in recovery, restart after idle times. False if
    /// the loss detection or the congestion control alone does so.
    pub(super) fn shared_rules(&self) -> bool {
        !self.congestion.control.governs_window && !self.detection_governs()
    }
}
