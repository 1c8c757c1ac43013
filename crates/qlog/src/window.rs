//! Reductions of the congestion window, and which of them were needless.

use inorder_base::heap::Heap;

/// A reduction and the losses that caused it.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    /// The first of its losses was declared.
    pub(crate) start_ns: i64,
    /// Window before, bytes; `None` if the log had not said it.
    pub(crate) before: Option<f64>,
    /// Bytes in flight then; `None` if the log had not said them.
    pub(crate) in_flight: Option<f64>,
    /// The packets, by space and number.
    pub(crate) losses: Vec<(usize, u64)>,
    /// Which value of the history is the first below the window before; `None` if it did not fall within a round trip.
    pub(crate) fell: Option<usize>,
    /// The window has been as large as before since: the sender took the reduction back, or it grew again.
    over: bool,
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
    /// Losses of all episodes.
    losses: usize,
}

impl Heap for Window {
    fn heap_bytes(&self) -> usize {
        // A list that grows has room for four at first, then for twice as many.
        let losses = 4 * self.episodes.len() + 2 * self.losses;
        self.history.heap_bytes() + self.episodes.heap_bytes() + losses * size_of::<(usize, u64)>()
    }
}

impl Window {
    /// A packet in flight that was sent at `sent_ns` is declared lost; `rtt_ns` is the round trip. Losses of packets that
    /// were sent before an episode began belong to it: they reduce the window no further (RFC 9002 section 7.3.2). After a
    /// reduction that was undone they reduce it once more, and so they do if the first losses had not reduced it at all.
    pub(crate) fn lost(
        &mut self,
        space: usize,
        number: u64,
        sent_ns: i64,
        now_ns: i64,
        rtt_ns: i64,
    ) {
        self.losses += 1;
        let window_known = !self.history.is_empty();
        if let Some(last) = self.episodes.last_mut() {
            let waited_in_vain =
                last.fell.is_none() && now_ns.saturating_sub(last.start_ns) > rtt_ns;
            let reduces_no_further = !(last.over || window_known && waited_in_vain);
            if sent_ns <= last.start_ns && reduces_no_further {
                last.losses.push((space, number));
                return;
            }
        }
        self.episodes.push(Episode {
            start_ns: now_ns,
            before: self.history.last().map(|level| level.window),
            in_flight: self.history.last().and_then(|level| level.in_flight),
            losses: vec![(space, number)],
            fell: None,
            over: false,
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
            && let Some(before) = last.before
        {
            if window < before && now_ns.saturating_sub(last.start_ns) <= rtt_ns {
                last.fell.get_or_insert(self.history.len());
            }
            last.over |= last.fell.is_some() && window >= before;
        }
        self.history.push(Level {
            at_ns: now_ns,
            window,
            in_flight,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: i64 = 30;

    /// The reductions, each with the numbers of its losses.
    fn reductions(window: &Window) -> Vec<Vec<u64>> {
        let fell = window.episodes.iter().filter(|e| e.fell.is_some());
        fell.map(|e| e.losses.iter().map(|(_, number)| *number).collect())
            .collect()
    }

    /// A window of 100 that is reduced to 70 at 40.
    fn reduced() -> Window {
        let mut window = Window::default();
        window.set(0, Some(100.0), None, RTT);
        window.lost(2, 3, 3, 40, RTT);
        window.set(40, Some(70.0), None, RTT);
        window
    }

    #[test]
    fn losses_of_one_flight_reduce_the_window_once() {
        let mut window = reduced();
        window.lost(2, 12, 12, 50, RTT);
        window.set(50, Some(70.0), None, RTT);
        assert_eq!(reductions(&window), [[3, 12]]);
    }

    #[test]
    fn after_an_undone_reduction_the_same_flight_reduces_it_once_more() {
        let mut window = reduced();
        window.set(45, Some(100.0), None, RTT);
        window.lost(2, 12, 12, 50, RTT);
        window.set(50, Some(70.0), None, RTT);
        window.lost(2, 13, 13, 51, RTT);
        assert_eq!(reductions(&window), [vec![3], vec![12, 13]]);
    }

    #[test]
    fn losses_that_reduced_nothing_take_no_later_one_in() {
        let mut window = Window::default();
        window.set(0, Some(100.0), None, RTT);
        window.lost(2, 0, 0, 40, RTT);
        window.lost(2, 10, 10, 110, RTT);
        window.set(110, Some(70.0), None, RTT);
        assert_eq!(reductions(&window), [[10]]);
    }
}
