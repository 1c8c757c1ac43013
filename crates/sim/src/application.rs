//! Who writes data, and when.

use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, Gaps, Sizes};
use inorder_tcp::Endpoint;

/// Bytes of an unlimited stream: three centuries at 1 Gb/s.
const ENDLESS: u64 = 1 << 60;
/// How many bytes ahead of sending an application writes that must stop at a given time.
const AHEAD: u64 = 256 << 10;

/// The application of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    kind: plain::Application,
    /// Total number of bytes to write; an interactive application counts its requests.
    size: u64,
    stop_ns: Option<i64>,
    written: u64,
    next_ns: i64,
    done: bool,
    closed: bool,
    dialogue: Dialogue,
    /// The send buffers of both ends did not take all that was written.
    blocked: [bool; 2],
    reading: Option<Reading>,
    random: Random,
}

/// An application at the receiver that reads at its own pace.
#[derive(Debug)]
struct Reading {
    bytes: u64,
    gap_ns: i64,
    next_ns: i64,
}

/// Requests and their answers.
#[derive(Debug, Default)]
struct Dialogue {
    asked: u64,
    answered: u64,
    /// Bytes of requests and responses that TCP has not accepted yet.
    unsaid: u64,
    unanswered: u64,
    asked_at_ns: i64,
    waiting: bool,
    /// Sum of response times, nanoseconds.
    response_ns: i64,
    complete: u64,
}

impl Application {
    /// An application that has written nothing.
    pub(crate) fn new(flow: &plain::Flow, mut random: Random) -> Self {
        Application {
            kind: flow.application.clone(),
            size: size(flow, &mut random).unwrap_or(ENDLESS).min(ENDLESS),
            stop_ns: flow.stop_ns,
            written: 0,
            next_ns: 0,
            done: false,
            closed: false,
            dialogue: Dialogue::default(),
            blocked: [false; 2],
            reading: Reading::of(flow),
            random,
        }
    }

    /// Total number of bytes it writes; `None` if there is no end.
    pub(crate) fn size(&self) -> Option<u64> {
        (self.size < ENDLESS).then_some(self.size)
    }

    /// Number of responses that have arrived, and the sum of the times since their requests, nanoseconds.
    pub(crate) fn responses(&self) -> (u64, i64) {
        (self.dialogue.complete, self.dialogue.response_ns)
    }

    /// True if the last event at an endpoint does not make it act: an endless stream is all written, or waits for room in
    /// the send buffer.
    #[inline]
    pub(crate) fn rests(&self, sender: &Endpoint) -> bool {
        // A flow with a given size is watched until all of its data has arrived.
        self.size == ENDLESS
            && matches!(self.kind, plain::Application::Bulk)
            && self.reading.is_none()
            && (self.written == ENDLESS || (self.stop_ns.is_none() && sender.stays_full()))
    }

    /// Called when the state of an endpoint has changed: writes the data that is due. Returns the time at which to
    /// call it again even if nothing changes.
    #[inline]
    pub(crate) fn progress(
        &mut self,
        now_ns: i64,
        sender: &mut Endpoint,
        receiver: &mut Endpoint,
    ) -> Option<i64> {
        let read_ns = self.reading.as_mut().and_then(|r| r.read(now_ns, receiver));
        let write_ns = self.write(now_ns, sender, receiver);
        [read_ns, write_ns].into_iter().flatten().min()
    }

    /// True for an end whose application would write more, but whose send buffer is full.
    pub(crate) fn is_blocked(&self) -> [bool; 2] {
        self.blocked
    }

    fn write(
        &mut self,
        now_ns: i64,
        sender: &mut Endpoint,
        receiver: &mut Endpoint,
    ) -> Option<i64> {
        if self.done {
            return self.close(sender);
        }
        if !sender.state().is_synchronized() {
            // `connect` returns once the connection is open: the answer to the SYN-ACK leaves by itself, and what is written is cut by
            // the options that both have agreed on.
            return self.stop_ns.filter(|&stop| stop > now_ns);
        }
        match &self.kind {
            plain::Application::Bulk => self.bulk(now_ns, sender),
            &plain::Application::Paced(plain::Paced {
                bits_per_s,
                write_bytes,
            }) => self.paced(now_ns, bits_per_s, write_bytes, sender),
            plain::Application::Interactive(_) => self.interactive(now_ns, sender, receiver),
        }
    }

    fn is_over(&self, now_ns: i64) -> bool {
        self.written >= self.size || self.stop_ns.is_some_and(|stop| now_ns >= stop)
    }

    /// Closes the connection when all data is written and the connection is open.
    fn close(&mut self, sender: &mut Endpoint) -> Option<i64> {
        self.done = true;
        self.blocked[0] = false;
        if !self.closed && sender.state().is_synchronized() {
            self.closed = true;
            sender.close();
        }
        None
    }

    fn bulk(&mut self, now_ns: i64, sender: &mut Endpoint) -> Option<i64> {
        if self.is_over(now_ns) {
            return self.close(sender);
        }
        let mut bytes = self.size - self.written;
        if self.stop_ns.is_some() && self.size == ENDLESS {
            bytes = bytes.min(AHEAD.saturating_sub(sender.info().notsent_bytes));
        }
        self.written += sender.write(bytes);
        self.blocked[0] = self.written < self.size;
        if self.written >= self.size && self.size < ENDLESS {
            return self.close(sender);
        }
        self.stop_ns
    }

    fn paced(
        &mut self,
        now_ns: i64,
        bits_per_s: u64,
        write_bytes: u64,
        sender: &mut Endpoint,
    ) -> Option<i64> {
        if self.is_over(now_ns) {
            return self.close(sender);
        }
        if self.next_ns == 0 {
            self.next_ns = now_ns;
        }
        let gap = u128::from(write_bytes) * 8_000_000_000 / u128::from(bits_per_s.max(1));
        while self.next_ns <= now_ns && !self.is_over(now_ns) {
            let bytes = write_bytes.min(self.size - self.written);
            // Data that the send buffer does not accept is dropped: the source is live.
            self.blocked[0] = sender.write(bytes) < bytes;
            self.written += bytes;
            let gap = i64::try_from(gap).unwrap_or(i64::MAX).max(1);
            self.next_ns = self.next_ns.saturating_add(gap);
        }
        Some(self.next_ns)
    }

    fn interactive(
        &mut self,
        now_ns: i64,
        client: &mut Endpoint,
        server: &mut Endpoint,
    ) -> Option<i64> {
        let plain::Application::Interactive(plain::Interactive {
            request_bytes,
            response_bytes,
            think_ns,
            think_times,
        }) = self.kind
        else {
            return None;
        };
        let talk = &mut self.dialogue;
        let due = server.counters().received.bytes_received / request_bytes;
        talk.unanswered += due.saturating_sub(talk.answered) * response_bytes;
        talk.answered = talk.answered.max(due);
        if talk.unanswered > 0 {
            talk.unanswered -= server.write(talk.unanswered);
        }
        self.blocked[1] = talk.unanswered > 0;
        let got = client.counters().received.bytes_received / response_bytes;
        if talk.waiting && got >= talk.asked {
            talk.waiting = false;
            talk.complete += 1;
            talk.response_ns += now_ns - talk.asked_at_ns;
            self.next_ns = now_ns.saturating_add(pause(think_ns, think_times, &mut self.random));
        }
        if !talk.waiting && now_ns >= self.next_ns {
            if self.is_over(now_ns) {
                return self.close(client);
            }
            let talk = &mut self.dialogue;
            (talk.waiting, talk.asked_at_ns) = (true, now_ns);
            talk.asked += 1;
            talk.unsaid += request_bytes;
            self.written += request_bytes;
        }
        let talk = &mut self.dialogue;
        if talk.unsaid > 0 {
            talk.unsaid -= client.write(talk.unsaid);
        }
        self.blocked[0] = talk.unsaid > 0;
        (!talk.waiting).then_some(self.next_ns)
    }
}

impl Reading {
    fn of(flow: &plain::Flow) -> Option<Self> {
        let bits = u128::from(flow.read_bytes) * 8_000_000_000;
        let gap_ns = bits / u128::from(flow.read_bits_per_s?.max(1));
        Some(Reading {
            bytes: flow.read_bytes,
            gap_ns: i64::try_from(gap_ns).unwrap_or(i64::MAX).max(1),
            next_ns: 0,
        })
    }

    /// Reads if it is time; returns when to read again, as long as something may come.
    fn read(&mut self, now_ns: i64, receiver: &mut Endpoint) -> Option<i64> {
        while self.next_ns <= now_ns {
            self.next_ns = self.next_ns.max(now_ns - self.gap_ns);
            receiver.read(self.bytes);
            self.next_ns = self.next_ns.saturating_add(self.gap_ns);
        }
        let over = receiver.peer_closed() && receiver.readable() == 0;
        (!over).then_some(self.next_ns)
    }
}

/// The size of one connection, bytes, distributed around the mean of its kind. A fixed size uses no random number.
fn size(flow: &plain::Flow, random: &mut Random) -> Option<u64> {
    if let Some(file) = &flow.size_file {
        return Some((file.quantile(random.unit()) as u64).max(1));
    }
    let mean = flow.size_bytes?;
    let factor = match flow.size_distribution {
        Sizes::Constant => return Some(mean),
        Sizes::Exponential => random.exponential(),
        Sizes::Lognormal => lognormal(flow.size_sigma, random),
        Sizes::Pareto => pareto(flow.size_shape, random),
    };
    // A connection carries at least one byte; the cast saturates.
    Some(((mean as f64 * factor) as u64).max(1))
}

/// A lognormal variate with mean 1, whose logarithm has this standard deviation.
fn lognormal(sigma: f64, random: &mut Random) -> f64 {
    libm::exp(sigma * random.normal() - sigma * sigma / 2.0)
}

/// A Pareto variate with mean 1; its minimum is (shape - 1) / shape.
fn pareto(shape: f64, random: &mut Random) -> f64 {
    (shape - 1.0) / shape / libm::pow(1.0 - random.unit(), 1.0 / shape)
}

/// A random time around its mean, nanoseconds.
pub(crate) fn pause(mean_ns: i64, gaps: Gaps, random: &mut Random) -> i64 {
    match gaps {
        Gaps::Constant => mean_ns,
        Gaps::Exponential => (mean_ns as f64 * random.exponential()) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_scenario::Scenario;

    fn files() -> inorder_scenario::Registries {
        let own = crate::Own::reading(|_, _| Ok("1000 0.5\n3000 1\n".to_owned()));
        crate::build::registries_with(&own)
    }

    /// Sizes of many connections of a flow with these keys.
    fn sizes(keys: &str) -> Vec<u64> {
        let text = format!("[[flow]]\n{keys}");
        let scenario = Scenario::load(&text, "sizes.toml", &files()).unwrap();
        let cells = scenario.cells().unwrap();
        let stream = Random::new(1, "sizes");
        let draw = |n| size(&cells[0].config.flows[0], &mut stream.fork(n)).unwrap();
        (0..200_000).map(draw).collect()
    }

    fn mean(sizes: &[u64]) -> f64 {
        sizes.iter().map(|size| *size as f64).sum::<f64>() / sizes.len() as f64
    }

    #[test]
    fn sizes_have_their_mean_and_their_shape() {
        assert!(sizes("size = \"50 kB\"").iter().all(|size| *size == 50_000));
        let exponential = sizes("size = \"50 kB\"\nsize_distribution = \"exponential\"");
        assert!((mean(&exponential) / 50_000.0 - 1.0).abs() < 0.01);
        // The median is the mean divided by exp(sigma^2 / 2).
        let mut lognormal =
            sizes("size = \"50 kB\"\nsize_distribution = \"lognormal\"\nsize_sigma = 0.8");
        assert!((mean(&lognormal) / 50_000.0 - 1.0).abs() < 0.01);
        lognormal.sort_unstable();
        let median = lognormal[lognormal.len() / 2] as f64 / 50_000.0;
        assert!((median / (-0.32f64).exp() - 1.0).abs() < 0.02, "{median}");
        // Half of the variates are 1,000, the others uniform up to 3,000.
        let drawn = sizes("size_file = \"sizes.cdf\"");
        assert!((mean(&drawn) / 1500.0 - 1.0).abs() < 0.01);
        assert!(drawn.iter().all(|size| (1000..=3000).contains(size)));
        // With a shape of 3 the minimum is two thirds of the mean, and 1/27 of the values are above three times the
        // minimum.
        let pareto = sizes("size = \"60 kB\"\nsize_distribution = \"pareto\"\nsize_shape = 3");
        assert!((mean(&pareto) / 60_000.0 - 1.0).abs() < 0.01);
        assert!(pareto.iter().all(|size| *size >= 40_000));
        let large = pareto.iter().filter(|size| **size >= 120_000).count();
        assert!(
            (large as f64 / pareto.len() as f64 * 27.0 - 1.0).abs() < 0.05,
            "{large}"
        );
    }
}
