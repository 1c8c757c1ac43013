//! Reductions of the congestion window, and which of them were needless.

/// A reduction and the losses that caused it.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    /// The first of its losses was declared.
    pub(crate) start_ns: i64,
    /// Window before, bytes; `None` if the log had not said it.
    pub(crate) before: Option<f64>,
    /// The packets, by space and number.
    pub(crate) losses: Vec<(usize, u64)>,
    /// Which value of the history is the first below the window before; `None` if it did not fall within a round trip.
    pub(crate) fell: Option<usize>,
}

/// The window at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) at_ns: i64,
    /// Bytes.
    pub(crate) window: f64,
    /// Bytes in flight; `None` if the log never says them.
    pub(crate) in_flight: Option<f64>,
}

/// The window over time, and the episodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Window {
    /// Whenever the log says something.
    pub(crate) history: Vec<Level>,
    pub(crate) episodes: Vec<Episode>,
}

impl Window {
    /// A packet that was sent at `sent_ns` is declared lost. Losses of packets that were sent before an episode began
    /// belong to it: they reduce the window no further (RFC 9002 section 7.3.2).
    pub(crate) fn lost(&mut self, space: usize, number: u64, sent_ns: i64, now_ns: i64) {
        if let Some(last) = self.episodes.last_mut()
            && sent_ns <= last.start_ns
        {
            last.losses.push((space, number));
            return;
        }
        self.episodes.push(Episode {
            start_ns: now_ns,
            before: self.history.last().map(|level| level.window),
            losses: vec![(space, number)],
            fell: None,
        });
    }

    /// The log says the window or what is in flight; `rtt_ns` is the smoothed round trip.
    pub(crate) fn set(
        &mut self,
        now_ns: i64,
        window: Option<f64>,
        in_flight: Option<f64>,
        rtt_ns: i64,
    ) {
        let before = self.history.last();
        let sane = |value: &f64| value.is_finite() && *value >= 0.0;
        let in_flight = in_flight
            .filter(sane)
            .or(before.and_then(|level| level.in_flight));
        let Some(window) = window.filter(sane).or(before.map(|level| level.window)) else {
            return;
        };
        if let Some(last) = self.episodes.last_mut()
            && last.before.is_some_and(|before| window < before)
            && now_ns.saturating_sub(last.start_ns) <= rtt_ns
        {
            last.fell.get_or_insert(self.history.len());
        }
        self.history.push(Level {
            at_ns: now_ns,
            window,
            in_flight,
        });
    }
}
