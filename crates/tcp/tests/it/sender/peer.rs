//! The other side, controlled by the test: acknowledgements in units of segments, and the sender's reactions.

use inorder_tcp::config::MS;
use inorder_tcp::congestion::CongestionControl;
use inorder_tcp::{
    CaState, Config, Endpoint, Flags, Info, Nanos, Segment, State, Timestamps, loss, profiles,
};

/// Payload of a segment, bytes.
pub(crate) const MSS: u32 = 1000;

/// A sender under test and its peer.
pub(crate) struct Peer {
    pub end: Endpoint,
    pub now: Nanos,
    tick: u32,
}

/// A basic configuration: segments of `MSS` bytes, no timestamps, no Nagle.
pub(crate) fn config(profile: &str) -> Config {
    (profiles::find(profile).unwrap().build)().with(|config| {
        config.mss = MSS;
        config.options.timestamps = false;
        config.recovery.loss_probe = inorder_tcp::config::LossProbe::Off;
    })
}

impl Peer {
    /// A sender whose first `window` segments of many left a round trip of 100 ms ago.
    pub(crate) fn a_round_trip_on(profile: &str, control: &str, loss: &str, window: u32) -> Self {
        let mut custom = config(profile);
        custom.cwnd.initial = window;
        let mut peer = Peer::new(&custom, control, loss);
        peer.write(1000);
        peer.now += 100 * MS;
        peer
    }

    /// A connection with a round-trip time of 100 ms, opened.
    pub(crate) fn new(config: &Config, congestion: &str, loss: &str) -> Self {
        let find = |name| inorder_tcp::congestion::find(name).unwrap();
        Self::with(config, (find(congestion).build)(), loss)
    }

    /// An opened connection with a congestion control defined by the test.
    pub(crate) fn with(
        config: &Config,
        congestion: Box<dyn CongestionControl>,
        loss: &str,
    ) -> Self {
        Self::after_syns(config, congestion, loss, 0)
    }

    /// An opened connection of which this number of SYNs had to be sent again before one was answered.
    pub(crate) fn after_syns(
        config: &Config,
        congestion: Box<dyn CongestionControl>,
        loss: &str,
        repeats: u32,
    ) -> Self {
        let options = if config.options.timestamps { 12 } else { 0 };
        let config = config.clone().with(|config| config.mss = MSS + options);
        let mut peer = Self {
            end: Endpoint::new(&config, congestion, (loss::find(loss).unwrap().build)()),
            now: 0,
            tick: 0,
        };
        peer.end.connect(0);
        let syn = peer.end.poll_transmit(0).unwrap();
        assert!(syn.flags.has(Flags::SYN));
        for _ in 0..repeats {
            peer.now = peer.end.next_timer().expect("the SYN is timed");
            peer.end.on_timer(peer.now);
            let again = peer.end.poll_transmit(peer.now).expect("the SYN again");
            assert!(again.flags.has(Flags::SYN));
        }
        peer.now += 100 * MS;
        let answer = Segment {
            seq: 0,
            ack: 1,
            flags: Flags::SYN.with(Flags::ACK),
            window: u16::MAX,
            window_scale: Some(8),
            mss: Some((MSS + options) as u16),
            sack_permitted: config.options.sack,
            timestamps: config.options.timestamps.then(|| peer.echo(0)),
            ..Segment::default()
        };
        peer.end.on_segment(peer.now, &answer);
        assert_eq!(peer.end.state(), State::Established);
        assert_eq!(peer.out(), []);
        // The SYN's window was not scaled; from here on it does not change.
        assert_eq!(peer.ack(0, &[]), []);
        peer
    }

    fn echo(&self, ecr: u32) -> Timestamps {
        Timestamps {
            val: self.tick,
            ecr,
        }
    }

    /// Writes this number of segments and returns what is sent.
    pub(crate) fn write(&mut self, segments: u64) -> Vec<u32> {
        assert_eq!(
            self.end.write(segments * u64::from(MSS)),
            segments * u64::from(MSS)
        );
        self.out()
    }

    /// Numbers of the segments sent now, from 0; acknowledgements are left out.
    pub(crate) fn out(&mut self) -> Vec<u32> {
        self.segments()
            .iter()
            .filter(|segment| segment.payload > 0)
            .map(|segment| (segment.seq - 1) / MSS)
            .collect()
    }

    pub(crate) fn segments(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.end.poll_transmit(self.now)).collect()
    }

    /// Acknowledges everything below segment `ack`, and SACKs these ranges of segments.
    pub(crate) fn ack(&mut self, ack: u32, sack: &[(u32, u32)]) -> Vec<u32> {
        self.ack_echo(ack, sack, 0)
    }

    /// Acknowledges and SACKs so, and echoes a timestamp (if the option is used).
    pub(crate) fn ack_echo(&mut self, ack: u32, sack: &[(u32, u32)], ecr: u32) -> Vec<u32> {
        self.ack_with(ack, sack, ecr, u16::MAX)
    }

    /// An acknowledgement without SACK that carries this window.
    pub(crate) fn ack_window(&mut self, ack: u32, window: u16) -> Vec<u32> {
        self.ack_with(ack, &[], 0, window)
    }

    fn ack_with(&mut self, ack: u32, sack: &[(u32, u32)], ecr: u32, window: u16) -> Vec<u32> {
        let segment = Segment {
            seq: 1,
            ack: ack * MSS + 1,
            flags: Flags::ACK,
            window,
            timestamps: self.end.config().options.timestamps.then(|| self.echo(ecr)),
            sack: sack
                .iter()
                .map(|&(start, end)| (start * MSS + 1, end * MSS + 1))
                .collect(),
            ..Segment::default()
        };
        self.end.on_segment(self.now, &segment);
        self.out()
    }

    /// A duplicate acknowledgement without SACK.
    pub(crate) fn duplicate(&mut self, ack: u32) -> Vec<u32> {
        self.ack(ack, &[])
    }

    /// Advances time; timers expire; returns what is sent.
    pub(crate) fn wait(&mut self, time: Nanos) -> Vec<u32> {
        let until = self.now + time;
        let mut sent = Vec::new();
        while let Some(at) = self.end.next_timer().filter(|&at| at <= until) {
            self.now = self.now.max(at);
            self.end.on_timer(self.now);
            sent.extend(self.out());
        }
        self.now = until;
        sent
    }

    pub(crate) fn info(&self) -> Info {
        self.end.info()
    }

    pub(crate) fn state(&self) -> CaState {
        self.end.info().ca_state
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.end.info().cwnd
    }

    pub(crate) fn reordering(&self) -> u32 {
        self.end.info().reordering
    }
}
