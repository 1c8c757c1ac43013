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

/// The window over time, and the episodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Window {
    /// Times and bytes, whenever the log says them.
    pub(crate) history: Vec<(i64, f64)>,
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
            before: self.history.last().map(|(_, window)| *window),
            losses: vec![(space, number)],
            fell: None,
        });
    }

    /// The log says the window; `rtt_ns` is the smoothed round trip.
    pub(crate) fn set(&mut self, now_ns: i64, window: f64, rtt_ns: i64) {
        if !window.is_finite() || window < 0.0 {
            return;
        }
        if let Some(last) = self.episodes.last_mut()
            && last.before.is_some_and(|before| window < before)
            && now_ns.saturating_sub(last.start_ns) <= rtt_ns
        {
            last.fell.get_or_insert(self.history.len());
        }
        self.history.push((now_ns, window));
    }
}
