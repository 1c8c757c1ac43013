//! When a server had something to send, for those who want to know what limited its users.

/// Times at which a server was busy, if somebody asked for them before the first packet.
#[derive(Clone, Default, Debug)]
pub(crate) struct BusyLog(Option<Vec<Busy>>);

/// A server was sending, or packets waited for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busy {
    /// Nanoseconds.
    pub start_ns: i64,
    /// Nanoseconds.
    pub end_ns: i64,
}

impl BusyLog {
    /// From now on the times are kept.
    pub(crate) fn keep(&mut self) {
        self.0.get_or_insert_default();
    }

    /// It is busy in this time, which begins no earlier than those before.
    #[inline]
    pub(crate) fn note(&mut self, start_ns: i64, end_ns: i64) {
        if let Some(times) = &mut self.0 {
            add(times, Busy { start_ns, end_ns });
        }
    }

    /// The times in order, with gaps between them; none if they were not asked for.
    pub(crate) fn times(&self) -> &[Busy] {
        self.0.as_deref().unwrap_or_default()
    }
}

#[inline(never)]
fn add(times: &mut Vec<Busy>, new: Busy) {
    match times.last_mut() {
        Some(last) if new.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(new.end_ns),
        _ if new.start_ns < new.end_ns => times.push(new),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_touch_are_one() {
        let mut log = BusyLog::default();
        log.note(0, 5);
        assert!(log.times().is_empty(), "nobody asked");
        log.keep();
        for (start_ns, end_ns) in [(10, 20), (20, 30), (40, 40), (50, 60)] {
            log.note(start_ns, end_ns);
        }
        let busy = |start_ns, end_ns| Busy { start_ns, end_ns };
        assert_eq!(log.times(), [busy(10, 30), busy(50, 60)]);
    }
}
