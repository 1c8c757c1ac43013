//! The loss detection of the sender, and the calls of it.

use super::Sender;
use crate::Nanos;
use crate::loss::{Context, LossDetection};

/// A loss detection and its properties, which are read once.
#[derive(Debug)]
pub(super) struct Detection {
    /// Always present, except while it is being called.
    algorithm: Option<Box<dyn LossDetection>>,
    /// Its timer after the last call.
    timer: Option<Nanos>,
    /// It controls the window, and replaces fast recovery and the retransmission timer (TCP-PR).
    pub(super) governs_window: bool,
    /// It needs a call for each transmission, and decides whether new data may be sent.
    pub(super) governs_sending: bool,
}

impl Detection {
    pub(super) fn new(algorithm: Box<dyn LossDetection>) -> Self {
        Self {
            governs_window: algorithm.governs_window(),
            governs_sending: algorithm.governs_sending(),
            timer: algorithm.next_timer(),
            algorithm: Some(algorithm),
        }
    }

    pub(super) fn next_timer(&self) -> Option<Nanos> {
        self.timer
    }

    pub(super) fn dupthresh(&self) -> u32 {
        self.algorithm.as_ref().map_or(0, |loss| loss.dupthresh())
    }

    /// Earlier connections needed this tolerance of reordering.
    pub(super) fn remember(&mut self, reordering: u32) {
        if let Some(loss) = &mut self.algorithm {
            loss.remember(reordering);
            self.timer = loss.next_timer();
        }
    }

    /// Number of segments on which a reduction is based, if it does not use the scoreboard.
    pub(super) fn flight_at_loss(&self, mss: u32) -> Option<u32> {
        self.algorithm.as_ref()?.flight_at_loss(mss)
    }
}

impl Sender {
    /// Calls the loss detection with access to the rest of the sender.
    pub(super) fn consult<R>(
        &mut self,
        now: Nanos,
        call: impl FnOnce(&mut dyn LossDetection, &mut Context<'_>) -> R,
    ) -> Option<R> {
        let mut loss = self.loss.detection.algorithm.take()?;
        let result = call(loss.as_mut(), &mut self.context(now));
        self.loss.detection.timer = loss.next_timer();
        self.loss.detection.algorithm = Some(loss);
        Some(result)
    }

    /// The loss detection's decision on sending, if it makes one.
    #[inline]
    pub(super) fn own_verdict(&mut self, now: Nanos) -> Option<bool> {
        if !self.loss.detection.governs_sending {
            return None;
        }
        self.consult(now, |loss, cx| loss.may_send(cx))?
    }

    fn context(&mut self, now: Nanos) -> Context<'_> {
        let stream = &self.stream;
        let unsent = stream.unsent() > 0 && self.peer.room(stream.una, stream.nxt) > 0;
        Context {
            now,
            board: &mut self.board,
            window: &mut self.congestion.window,
            counters: &mut self.counters,
            state: self.state,
            snd_una: stream.una,
            snd_nxt: stream.nxt,
            high_seq: self.loss.recovery.high_seq,
            mss: self.agreed.mss,
            initial_window: self.config.cwnd.initial,
            srtt: self.time.rtt.srtt,
            min_rtt: self.time.rtt.min_rtt,
            rto: self.time.rtt.rto(),
            sack: self.agreed.sack,
            timestamps: self.agreed.timestamps,
            duplicates_mark: self.config.recovery.duplicates_mark,
            unsent,
            frto: self.time.timers.frto.deciding,
            undo_marker: self.loss.undo.marker,
        }
    }

    /// True if the loss detection controls the window; the sender then has no recovery and no retransmission timer.
    pub(super) fn detection_governs(&self) -> bool {
        self.loss.detection.governs_window
    }
}
