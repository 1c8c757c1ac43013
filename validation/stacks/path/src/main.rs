//! An emulated path between two TCP stacks, which are programs of their own.
//!
//! `path --out NAME [OPTIONS] --client 'PROGRAM ARGS' --server 'PROGRAM ARGS'` starts both programs. The standard input of
//! each is a socket on which every message is an IP packet (see `end.rs`). What either sends passes the stages of its
//! direction. What passes the ends is written to `NAME.snd.pcap` (the client's end; the server's with `--sender server`) and
//! `NAME.rcv.pcap`, and which frame of one is which frame of the other to `NAME.pairs.csv`, with what became of those that have no counterpart.

mod end;
mod icmp;
mod record;
mod words;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use inorder_path::{Fate, Mark, Path, Timeline};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use end::End;
use record::{Packet, Record};
use words::Options;

/// Time for packets under way to arrive after both programs have ended.
const AFTER: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    match Options::read(std::env::args().skip(1)).and_then(|o| run(&o)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("path: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let ways = options.paths()?.map(Timeline::new);
    let server = End::start(&options.server)?;
    let client = End::start(&options.client)?;
    let record =
        Record::create(&options.out, options.labels, options.port).map_err(|e| e.to_string())?;
    let mut between = Between {
        ends: [client, server],
        ways,
        record,
        clock: Clock::new(),
        card: options.card()?.map(Timeline::new),
        mtu: options.mtu,
        silent: options.silent,
    };
    let ended = between.forward(Duration::from_secs(options.seconds));
    between.record.finish().map_err(|e| e.to_string())?;
    if options.scenario.is_some() {
        let [forward, reverse] = between.ways.map(Timeline::into_path);
        let file = format!("{}.busy.csv", options.out);
        write_busy(&file, between.clock.epoch_ns, [forward, reverse]).map_err(|e| e.to_string())?;
    }
    if ended {
        Ok(())
    } else {
        Err(format!(
            "{}: not finished after {} s",
            options.out, options.seconds
        ))
    }
}

/// Writes when the links of each direction were busy: direction, link, start and end, nanoseconds since the epoch; before that
/// when the path began, at which times in a scenario are 0.
fn write_busy(file: &str, epoch_ns: i64, paths: [Path<Packet>; 2]) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    writeln!(
        out,
        "way,link,start_ns,end_ns\nbegin,,{epoch_ns},{epoch_ns}"
    )?;
    for (mut path, way) in paths.into_iter().zip(["forward", "reverse"]) {
        for (link, times) in path.busy_times().enumerate() {
            for busy in times {
                let (start_ns, end_ns) = (epoch_ns + busy.start_ns, epoch_ns + busy.end_ns);
                writeln!(out, "{way},{link},{start_ns},{end_ns}")?;
            }
        }
    }
    out.flush()
}

fn dropped(record: &mut Record, mark: &Mark<Packet>) {
    if let Fate::Dropped(_) = mark.fate {
        record.dropped(&mark.packet);
    }
}

/// Time since the epoch that never goes back.
struct Clock {
    began: Instant,
    epoch_ns: i64,
}

impl Clock {
    fn new() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Clock {
            began: Instant::now(),
            epoch_ns: since.as_nanos() as i64,
        }
    }

    fn now_ns(&self) -> i64 {
        self.epoch_ns + self.began.elapsed().as_nanos() as i64
    }
}

/// Both ends and the two directions between them: direction 0 begins at end 0.
struct Between {
    ends: [End; 2],
    ways: [Timeline<Packet>; 2],
    record: Record,
    clock: Clock,
    /// In front of end 1.
    card: Option<Timeline<Packet>>,
    /// Larger packets from end 0 do not pass, and it is told so, or not.
    mtu: Option<usize>,
    silent: bool,
}

impl Between {
    /// Until both programs have ended. False if the time ran out first; the programs are stopped then.
    fn forward(&mut self, most: Duration) -> bool {
        let began = Instant::now();
        let mut ended: Option<Instant> = None;
        loop {
            self.take(0);
            self.take(1);
            self.deliver(0);
            self.deliver(1);
            if ended.is_some_and(|at| at.elapsed() > AFTER) {
                return true;
            }
            if began.elapsed() > most {
                self.ends.iter_mut().for_each(End::stop);
                return false;
            }
            if ended.is_none() && self.ends.iter_mut().all(|e| e.has_ended()) {
                ended = Some(Instant::now());
            }
            self.wait();
        }
    }

    /// Times of the path count from its beginning.
    fn since_begin(&self, at_ns: i64) -> i64 {
        at_ns - self.clock.epoch_ns
    }

    /// Takes all that end `from` has sent.
    fn take(&mut self, from: usize) {
        while let Some(bytes) = self.ends[from].receive() {
            let now_ns = self.clock.now_ns();
            let Some(packet) = self.record.sent(from, now_ns, bytes) else {
                continue;
            };
            if from == 0 && self.mtu.is_some_and(|mtu| packet.bytes.len() > mtu) {
                self.too_large(now_ns, &packet);
                continue;
            }
            let at_ns = self.since_begin(now_ns);
            let record = &mut self.record;
            self.ways[from].push_watched(at_ns, packet, |mark| dropped(record, &mark));
        }
    }

    /// A router right behind end 0 discards a packet, and says so if it speaks.
    fn too_large(&mut self, now_ns: i64, packet: &Packet) {
        self.record.dropped(packet);
        let answer = self.mtu.and_then(|mtu| icmp::too_large(&packet.bytes, mtu));
        if let Some(bytes) = answer.filter(|_| !self.silent) {
            self.record.told(0, now_ns, &bytes);
            self.ends[0].send(&bytes);
        }
    }

    /// Delivers what is due at the end of direction `way`. What the stack there sent before comes first, since it was
    /// sent before: so the capture has both directions in their order.
    fn deliver(&mut self, way: usize) {
        while let Some(packet) = self.due(way) {
            match &mut self.card {
                Some(card) if way == 0 => {
                    let at_ns = self.clock.now_ns() - self.clock.epoch_ns;
                    let record = &mut self.record;
                    card.push_watched(at_ns, packet, |mark| dropped(record, &mark));
                }
                _ => self.hand_over(way, packet),
            }
        }
        while way == 0
            && let Some(packet) = self.sorted()
        {
            self.hand_over(way, packet);
        }
    }

    /// The next packet at the end of the path.
    fn due(&mut self, way: usize) -> Option<Packet> {
        let at_ns = self.since_begin(self.clock.now_ns());
        let record = &mut self.record;
        let due = self.ways[way].pop_watched(at_ns, |mark| dropped(record, &mark));
        due.map(|(_, packet)| packet)
    }

    /// The next packet that the card passes on.
    fn sorted(&mut self) -> Option<Packet> {
        let at_ns = self.since_begin(self.clock.now_ns());
        let record = &mut self.record;
        let card = self.card.as_mut()?;
        let due = card.pop_watched(at_ns, |mark| dropped(record, &mark));
        due.map(|(_, packet)| packet)
    }

    fn hand_over(&mut self, way: usize, packet: Packet) {
        self.take(1 - way);
        let now_ns = self.clock.now_ns();
        self.record.arrived(1 - way, now_ns, &packet);
        self.ends[1 - way].send(&packet.bytes);
    }

    /// Until something is due or has come.
    fn wait(&self) {
        let now_ns = self.since_begin(self.clock.now_ns());
        let ways = self.ways.iter().chain(&self.card);
        let due = ways.filter_map(Timeline::next_wake_ns).min();
        // Programs that have ended are noticed every few milliseconds.
        let most_ns = 5_000_000;
        let wait_ns = due.map_or(most_ns, |at| (at - now_ns).clamp(0, most_ns));
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait_ns,
        };
        let mut fds: Vec<PollFd<'_>> = (self.ends.iter())
            .filter(|e| e.is_open())
            .map(|e| PollFd::from_borrowed_fd(e.fd(), PollFlags::IN))
            .collect();
        // Interrupted or not, the loop looks again.
        let _ = poll(&mut fds, Some(&timeout));
    }
}
