//! A minimal sender and path: in each round the whole window is sent, and acknowledged evenly over the round-trip
//! time. Losses occur when the test triggers them, are detected at once and repaired in one round trip. The resulting
//! windows can be computed by hand.

use inorder_tcp::congestion::{
    AckEvent, CongestionControl, Event, LossEvent, Nanos, Start, Window, find,
};

pub(crate) const MS: Nanos = 1_000_000;
pub(crate) const MSS: u32 = 1448;

/// A bottleneck behind the sender: segments beyond rate times delay wait in its queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bottleneck {
    pub segments_per_s: u64,
    pub buffer: u32,
}

/// The sender, its algorithm and its path.
#[derive(Debug)]
pub(crate) struct Driver {
    pub cc: Box<dyn CongestionControl>,
    pub window: Window,
    pub now: Nanos,
    /// Round-trip time without queueing.
    pub base_rtt: Nanos,
    pub bottleneck: Option<Bottleneck>,
    /// Segments each acknowledgement covers.
    pub per_ack: u32,
    /// Duplicates carry SACK blocks, each for one segment.
    pub sack: bool,
    /// Segments acknowledged so far.
    pub delivered: u64,
}

impl Driver {
    /// `name` from the registry, with a round-trip time of `base_rtt` and a window of `cwnd` in slow start.
    pub(crate) fn new(name: &str, base_rtt: Nanos, cwnd: u32) -> Self {
        let entry = find(name).unwrap_or_else(|| panic!("no algorithm called {name}"));
        Self::with((entry.build)(), base_rtt, cwnd)
    }

    pub(crate) fn with(mut cc: Box<dyn CongestionControl>, base_rtt: Nanos, cwnd: u32) -> Self {
        let mut window = Window::new(cwnd);
        cc.start(&mut window, &Start::default());
        Self {
            cc,
            window,
            now: 0,
            base_rtt,
            bottleneck: None,
            per_ack: 1,
            sack: false,
            delivered: 0,
        }
    }

    /// Congestion avoidance from `cwnd` on.
    pub(crate) fn avoid(mut self, cwnd: u32) -> Self {
        self.window.cwnd = cwnd;
        self.window.ssthresh = cwnd;
        self
    }

    pub(crate) fn delayed_acks(mut self) -> Self {
        self.per_ack = 2;
        self
    }

    pub(crate) fn bottleneck(mut self, segments_per_s: u64, buffer: u32) -> Self {
        self.bottleneck = Some(Bottleneck {
            segments_per_s,
            buffer,
        });
        self
    }

    /// The round-trip time while `window` segments are in flight.
    pub(crate) fn rtt(&self, window: u32) -> Nanos {
        let serial =
            |b: Bottleneck| Nanos::from(window) * 1_000_000_000 / b.segments_per_s.cast_signed();
        self.base_rtt.max(self.bottleneck.map_or(0, serial))
    }

    /// True if the bottleneck's buffer cannot hold the window.
    pub(crate) fn overflows(&self) -> bool {
        self.bottleneck.is_some_and(|b| {
            let pipe = b.segments_per_s * self.base_rtt.cast_unsigned() / 1_000_000_000;
            u64::from(self.window.cwnd) > pipe + u64::from(b.buffer)
        })
    }

    fn ack(&self, acked: u32, outstanding: u32, rtt: Nanos) -> AckEvent {
        AckEvent {
            acked_marked: 0,
            now: self.now,
            acked,
            in_flight: outstanding,
            acked_bytes: u64::from(acked) * u64::from(MSS),
            cwnd_limited: true,
            dubious: false,
            rtt: Some(rtt),
            echo_age: None,
            predicted: false,
            srtt: rtt,
            min_rtt: self.base_rtt,
            snd_una: self.delivered * u64::from(MSS),
            snd_nxt: (self.delivered + u64::from(outstanding)) * u64::from(MSS),
            mss: MSS,
        }
    }

    /// One acknowledgement, `gap` after the previous one.
    fn acknowledge(&mut self, acked: u32, gap: Nanos, rtt: Nanos) {
        self.now += gap;
        self.delivered += u64::from(acked);
        let ack = self.ack(acked, self.window.cwnd, rtt);
        self.cc.measure(&mut self.window, &ack);
        self.cc.grow(&mut self.window, &ack);
    }

    /// One round trip without loss; the window after it.
    pub(crate) fn round(&mut self) -> u32 {
        let flight = self.window.cwnd;
        self.partial_round(flight)
    }

    /// The first `segments` of a round trip.
    pub(crate) fn partial_round(&mut self, segments: u32) -> u32 {
        let flight = self.window.cwnd;
        let rtt = self.rtt(flight);
        let mut left = segments.min(flight);
        while left > 0 {
            let acked = left.min(self.per_ack);
            let gap = rtt * Nanos::from(acked) / Nanos::from(flight);
            self.acknowledge(acked, gap, rtt);
            left -= acked;
        }
        self.window.cwnd
    }

    pub(crate) fn rounds(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.round()).collect()
    }

    /// The first segment of a flight is lost: duplicates for the rest, fast recovery, and one cumulative
    /// acknowledgement a round trip later. Returns the window afterwards.
    pub(crate) fn lose(&mut self) -> u32 {
        let flight = self.window.cwnd;
        let rtt = self.rtt(flight);
        self.reduce(false, Event::RecoveryStart, |ssthresh| ssthresh);
        for _ in 1..flight {
            self.now += rtt / Nanos::from(flight);
            self.duplicate(flight);
        }
        self.now += rtt / Nanos::from(flight);
        self.delivered += u64::from(flight);
        let mut ack = self.ack(flight, 0, rtt);
        ack.dubious = true;
        ack.rtt = None;
        self.cc.measure(&mut self.window, &ack);
        self.cc
            .event(&mut self.window, Event::RecoveryEnd, self.now);
        self.cc.event(&mut self.window, Event::Open, self.now);
        self.window.cwnd
    }

    fn duplicate(&mut self, flight: u32) {
        if self.sack {
            let mut ack = self.ack(1, flight, self.rtt(flight));
            ack.dubious = true;
            self.cc.measure(&mut self.window, &ack);
        } else {
            let event = Event::DupAck { predicted: false };
            self.cc.event(&mut self.window, event, self.now);
        }
    }

    /// The timer expires, a second after the last acknowledgement.
    pub(crate) fn time_out(&mut self) {
        self.now += 1000 * MS;
        self.reduce(true, Event::Timeout, |_| 1);
    }

    fn reduce(&mut self, timeout: bool, event: Event, cwnd: impl Fn(u32) -> u32) {
        let loss = LossEvent {
            now: self.now,
            in_flight: self.window.cwnd,
            timeout,
        };
        let ssthresh = self.window.threshold_after(&mut *self.cc, &loss);
        self.window.ssthresh = ssthresh;
        self.window.cwnd = cwnd(ssthresh);
        self.window.count = 0;
        if timeout {
            let anew = Event::ThresholdAtTimeout;
            self.cc.event(&mut self.window, anew, self.now);
        }
        self.cc.event(&mut self.window, event, self.now);
    }

    /// The last reduction was unnecessary.
    pub(crate) fn undo(&mut self, ssthresh_before: u32) -> u32 {
        self.window.cwnd = self.cc.undo_cwnd(&self.window);
        self.window.ssthresh = self.window.ssthresh.max(ssthresh_before);
        self.cc.event(&mut self.window, Event::Undo, self.now);
        self.window.cwnd
    }

    /// A value of the algorithm's trace.
    pub(crate) fn traced(&self, name: &str) -> f64 {
        let mut found = None;
        self.cc.trace(&mut |key, value| {
            if key == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("{:?} traces no {name}", self.cc))
    }

    /// Mean window over time for `epochs` losses, one in each `1 / p` segments, after the same number of losses that
    /// are not counted.
    pub(crate) fn mean_window(&mut self, per_loss: u64, epochs: u32) -> f64 {
        for _ in 0..epochs {
            self.epoch(per_loss);
        }
        let (mut sum, mut time) = (0.0, 0.0);
        for _ in 0..epochs {
            let (s, t) = self.epoch(per_loss);
            sum += s;
            time += t;
        }
        sum / time
    }

    /// From one loss to the next: the sum of window times time over the rounds, and the time.
    fn epoch(&mut self, per_loss: u64) -> (f64, f64) {
        let (end, mut sum, mut time) = (self.delivered + per_loss, 0.0, 0.0);
        while self.delivered < end {
            let (window, start) = (self.window.cwnd, self.now);
            let left = (end - self.delivered).min(u64::from(window));
            self.partial_round(left as u32);
            sum += f64::from(window) * (self.now - start) as f64;
            time += (self.now - start) as f64;
        }
        // The round trip of the repair carries the reduced window.
        let start = self.now;
        let window = self.lose();
        self.delivered = end;
        let repair = (self.now - start) as f64;
        (sum + f64::from(window) * repair, time + repair)
    }
}
