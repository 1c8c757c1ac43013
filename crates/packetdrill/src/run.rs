//! Runs a script: events in order, in virtual time, against endpoints.
//!
//! - `host`: connections and time. `sockets`, `calls`, `options`: what the application does.
//! - `wire`, `expect`: packets injected, and packets expected.
//! - `names`: what assertions can ask for.

mod calls;
mod expect;
mod host;
mod names;
mod options;
mod sockets;
mod wire;

use inorder_tcp::Nanos;
use inorder_tcp::profiles::Profile;

use crate::code;
use crate::outcome::{Finding, Outcome, Verdict};
use crate::script::{Call, Event, Moment, Packet, Script, What, When};
use crate::setup::{Setup, apply_command};
use calls::Calls;
use host::{Host, ORIGIN};
use sockets::{Answer, Table};
use wire::Clock;

/// How long an event without a time may be waited for.
const LONGEST_WAIT: Nanos = 3_600_000_000_000;

/// Why a script does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    Failed(String),
    Unsupported(String),
}

/// How to run scripts.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// What the stack is before the script configures it.
    pub profile: &'a Profile,
    /// Instead of the script's own tolerance, ns.
    pub tolerance: Option<Nanos>,
    /// Keep a trace.
    pub trace: bool,
}

/// Runs a script.
pub fn run(script: &Script, options: &Options<'_>) -> Outcome {
    let mut runner = Runner::new(script, options);
    let stop = runner.everything();
    runner.outcome(stop)
}

/// A call that has not returned.
struct Pending {
    line: usize,
    call: Call,
    since: Nanos,
    /// When it must return.
    until: Option<(i128, i128)>,
}

struct Runner<'a> {
    script: &'a Script,
    setup: Setup,
    host: Host,
    table: Table,
    clock: Clock,
    variables: code::Variables,
    pending: Option<Pending>,
    tolerance: Option<Nanos>,
    unsupported: Vec<Finding>,
    tracing: bool,
    trace: Vec<String>,
    events: usize,
}

impl<'a> Runner<'a> {
    fn new(script: &'a Script, options: &Options<'_>) -> Self {
        Self {
            script,
            setup: Setup::new(options.profile),
            host: Host::new(),
            table: Table::default(),
            clock: Clock::default(),
            variables: code::Variables::new(),
            pending: None,
            tolerance: options.tolerance,
            unsupported: Vec::new(),
            tracing: options.trace,
            trace: Vec::new(),
            events: 0,
        }
    }

    fn outcome(mut self, stop: Option<Finding>) -> Outcome {
        self.write_trace();
        let mut findings = self.unsupported;
        let failed = stop
            .as_ref()
            .is_some_and(|stop| stop.verdict == Verdict::Failed);
        findings.extend(stop);
        // A failure is only as good as what went before it: where something before it was not understood,
        // the script is unsupported.
        let verdict = match (failed, findings.len()) {
            (_, 0) => Verdict::Passed,
            (true, 1) => Verdict::Failed,
            _ => Verdict::Unsupported,
        };
        Outcome {
            verdict,
            findings,
            events: self.events,
            trace: self.trace,
        }
    }

    fn everything(&mut self) -> Option<Finding> {
        for setting in &self.script.options {
            if let Err(message) = self.setup.option(setting) {
                self.not_understood(setting.line, message);
            }
        }
        let script = self.script;
        for (index, event) in script.events.iter().enumerate() {
            if let Err(stop) = self.event(index, event) {
                return Some(finding(event.line, stop));
            }
            self.write_trace();
            self.events += 1;
            // A statement without meaning here makes everything after it guesswork.
            if !self.unsupported.is_empty() {
                self.survey(&script.events[index + 1..]);
                return None;
            }
        }
        self.finish_pending()
    }

    fn not_understood(&mut self, line: usize, message: String) {
        self.unsupported.push(Finding {
            line,
            verdict: Verdict::Unsupported,
            message,
        });
    }

    /// Names what else of the script could not have been judged.
    fn survey(&mut self, rest: &[Event]) {
        for event in rest {
            let reason = match &event.what {
                What::Unsupported(reason) => Some(reason.clone()),
                What::Inject(packet) | What::Expect(packet) => wire::unsupported(packet),
                _ => None,
            };
            if let Some(reason) = reason {
                self.not_understood(event.line, reason);
            }
        }
    }

    fn event(&mut self, index: usize, event: &Event) -> Result<(), Stop> {
        match &event.what {
            What::Expect(packet) => return self.expect(event, packet),
            What::Unsupported(reason) => return Err(Stop::Unsupported(reason.clone())),
            _ => {}
        }
        self.wait_for(event.when)?;
        match &event.what {
            What::Inject(packet) => self.inject(index, packet),
            What::Call(call) => self.call(index, event, call),
            What::Command(text) => {
                for message in apply_command(&mut self.setup, text) {
                    self.not_understood(event.line, message);
                }
                Ok(())
            }
            What::Code(text) => self.assertions(text),
            What::Expect(_) | What::Unsupported(_) => Ok(()),
        }
    }

    // Time.

    fn tolerance(&self) -> i128 {
        self.tolerance.unwrap_or(self.setup.tolerance).into()
    }

    /// A moment of the script in virtual time; relative ones count from what the last event really took.
    fn moment(&self, moment: Moment) -> i128 {
        match moment {
            Moment::Absolute(ns) => i128::from(ORIGIN) + i128::from(ns),
            Moment::Relative(ns) => i128::from(self.host.now) + i128::from(ns),
        }
    }

    /// Lets time pass until an event that is to be made to happen.
    fn wait_for(&mut self, when: When) -> Result<(), Stop> {
        let at = match when {
            When::At(moment) | When::Between(moment, _) => self.moment(moment),
            When::Any | When::Same => return Ok(()),
        };
        let late = i128::from(self.host.now) - at;
        if late > self.tolerance() {
            return Err(Stop::Failed(format!(
                "should happen at {}, but it is {} already",
                wire::show_time(at - i128::from(ORIGIN)),
                wire::show_moment(self.host.now),
            )));
        }
        let at = Nanos::try_from(at).unwrap_or(0);
        while self.host.step(at) {
            self.ask_pending()?;
        }
        self.host.now = self.host.now.max(at);
        Ok(())
    }

    /// The span in which an expected packet may come.
    fn span(&self, when: When) -> (i128, i128) {
        let tolerance = self.tolerance();
        match when {
            When::At(moment) => {
                let at = self.moment(moment);
                (at - tolerance, at + tolerance)
            }
            When::Between(from, to) => (self.moment(from) - tolerance, self.moment(to) + tolerance),
            When::Any => (0, i128::from(self.host.now.saturating_add(LONGEST_WAIT))),
            When::Same => (0, i128::from(self.host.now) + tolerance),
        }
    }

    // Packets.

    fn inject(&mut self, index: usize, packet: &Packet) -> Result<(), Stop> {
        if let Some(reason) = wire::unsupported(packet) {
            return Err(Stop::Unsupported(reason));
        }
        let segment = wire::segment(packet, &self.clock);
        if self.tracing {
            let text = wire::show_packet(packet);
            self.note(self.host.now, &format!("< {text}"));
        }
        if self.host.is_vacant() {
            self.admit(index)?;
        }
        self.host.inject(&segment);
        self.ask_pending()
    }

    /// An endpoint for a segment that belongs to no connection: a new one if somebody listens, else one that
    /// refuses.
    fn admit(&mut self, index: usize) -> Result<(), Stop> {
        let isn = self.next_isn(index);
        let listener = self.table.listener();
        let mut endpoint = listener
            .unwrap_or(&self.setup)
            .endpoint(isn)
            .map_err(Stop::Unsupported)?;
        if listener.is_some() {
            endpoint.listen();
        }
        self.host.add(endpoint, false);
        Ok(())
    }

    /// The sequence number the script writes in the next SYN it expects.
    fn next_isn(&self, index: usize) -> u32 {
        self.script.events[index..]
            .iter()
            .find_map(|event| match &event.what {
                What::Expect(packet) if packet.syn => Some(packet.seq),
                _ => None,
            })
            .unwrap_or(0)
    }

    fn expect(&mut self, event: &Event, packet: &Packet) -> Result<(), Stop> {
        if let Some(reason) = wire::unsupported(packet) {
            return Err(Stop::Unsupported(reason));
        }
        let (from, to) = self.span(event.when);
        let limit = Nanos::try_from(to).unwrap_or(0);
        while self.host.sent.is_empty() && self.host.step(limit) {
            self.ask_pending()?;
        }
        let Some(actual) = expect::next(&mut self.host.sent, packet.len) else {
            let expected = wire::show_packet(packet);
            let by = wire::show_time(to - i128::from(ORIGIN));
            return Err(Stop::Failed(format!(
                "nothing was sent until {by}\n  expected: {expected}"
            )));
        };
        let tolerance = self.tolerance.unwrap_or(self.setup.tolerance);
        let tick = self.setup.timestamp_tick;
        let mut wrong =
            expect::differences(packet, &actual.segment, &mut self.clock, tick, tolerance);
        let at = i128::from(actual.at);
        if at < from || at > to {
            wrong.insert(0, "time");
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let middle = (from + to) / 2 - i128::from(ORIGIN);
        let expected_at = match event.when {
            When::Any => "any time".to_owned(),
            _ => wire::show_time(middle),
        };
        Err(Stop::Failed(format!(
            "wrong {}\n  expected: {expected_at} {}\n  actual:   {} {}",
            wrong.join(", "),
            wire::show_packet(packet),
            wire::show_moment(actual.at),
            wire::show(&actual.segment, &self.clock),
        )))
    }

    // Calls.

    fn call(&mut self, index: usize, event: &Event, call: &Call) -> Result<(), Stop> {
        // One call at a time: the one before has to return first.
        if let Some(finding) = self.finish_pending() {
            return Err(match finding.verdict {
                Verdict::Unsupported => Stop::Unsupported(finding.message),
                _ => Stop::Failed(format!("line {}: {}", finding.line, finding.message)),
            });
        }
        let now = self.host.now;
        let until = event.until.map(|until| {
            // The end of a call with a relative start counts from the same moment.
            let at = match (event.when, until) {
                (When::At(Moment::Relative(start)), Moment::Absolute(end)) => {
                    i128::from(now) + i128::from(end) - i128::from(start)
                }
                _ => self.moment(until),
            };
            (at - self.tolerance(), at + self.tolerance())
        });
        let isn = self.next_isn(index);
        let answer = self.ask(call, isn, now, true)?;
        self.trace_call(call, &answer);
        if answer == Answer::Wait {
            self.pending = Some(Pending {
                line: event.line,
                call: call.clone(),
                since: now,
                until,
            });
            if until.is_none() {
                return self
                    .finish_pending()
                    .map_or(Ok(()), |finding| Err(Stop::Failed(finding.message)));
            }
            return Ok(());
        }
        check_answer(call, &answer)?;
        check_return(until, now)
    }

    fn ask(&mut self, call: &Call, isn: u32, since: Nanos, first: bool) -> Result<Answer, Stop> {
        Calls {
            host: &mut self.host,
            table: &mut self.table,
            setup: &self.setup,
            isn,
            since,
            first,
        }
        .answer(call)
    }

    /// Looks whether the waiting call can return now.
    fn ask_pending(&mut self) -> Result<(), Stop> {
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let answer = self.ask(&pending.call, 0, pending.since, false)?;
        if answer == Answer::Wait {
            self.pending = Some(pending);
            return Ok(());
        }
        self.trace_call(&pending.call, &answer);
        check_answer(&pending.call, &answer)
            .and_then(|()| check_return(pending.until, self.host.now))
            .map_err(|stop| match stop {
                Stop::Failed(message) => {
                    Stop::Failed(format!("call of line {}: {message}", pending.line))
                }
                stop => stop,
            })
    }

    /// Lets time pass until the waiting call returns; tells what is wrong with that.
    fn finish_pending(&mut self) -> Option<Finding> {
        let pending = self.pending.as_ref()?;
        let line = pending.line;
        let poll_end = match pending.call.arguments.get(2) {
            Some(crate::script::Value::Integer(ms)) if pending.call.name == "poll" && *ms >= 0 => {
                Some(pending.since.saturating_add(*ms as u64 * 1_000_000))
            }
            _ => None,
        };
        let limit = pending.until.map_or_else(
            || self.host.now.saturating_add(LONGEST_WAIT),
            |(_, to)| Nanos::try_from(to).unwrap_or(0),
        );
        while self.pending.is_some() {
            let next = poll_end.filter(|&end| end > self.host.now).unwrap_or(limit);
            let stepped = self.host.step(next.min(limit));
            if !stepped && poll_end.is_some_and(|end| end <= limit && self.host.now < end) {
                self.host.now = next;
            } else if !stepped {
                return Some(finding(
                    line,
                    Stop::Failed("the call does not return".to_owned()),
                ));
            }
            if let Err(stop) = self.ask_pending() {
                return Some(finding(line, stop));
            }
        }
        None
    }

    // Assertions.

    fn assertions(&mut self, text: &str) -> Result<(), Stop> {
        let unsupported = |error: code::CodeError| Stop::Unsupported(error.to_string());
        let statements = code::read(text).map_err(unsupported)?;
        let endpoint = self.host.current().map(|connection| &connection.endpoint);
        let known = |name: &str| endpoint.and_then(|endpoint| names::value(endpoint, name));
        let ran = code::run(&statements, &mut self.variables, &known).map_err(unsupported)?;
        for line in ran.printed {
            self.note(self.host.now, &format!("print {line}"));
        }
        if ran.failed.is_empty() {
            return Ok(());
        }
        Err(Stop::Failed(format!("assertion {}", ran.failed.join("; "))))
    }

    // The trace.

    fn note(&mut self, at: Nanos, text: &str) {
        if self.tracing {
            self.trace.push(format!("{} {text}", wire::show_moment(at)));
        }
    }

    fn trace_call(&mut self, call: &Call, answer: &Answer) {
        let answer = match answer {
            Answer::Value(value) => value.to_string(),
            Answer::Errno(name) => format!("-1 {name}"),
            Answer::Wait => "...".to_owned(),
        };
        self.note(self.host.now, &format!("{}() = {answer}", call.name));
    }

    fn write_trace(&mut self) {
        for sent in std::mem::take(&mut self.host.fresh) {
            let text = wire::show(&sent.segment, &self.clock);
            self.note(sent.at, &format!("> {text}"));
        }
    }
}

fn finding(line: usize, stop: Stop) -> Finding {
    let (verdict, message) = match stop {
        Stop::Failed(message) => (Verdict::Failed, message),
        Stop::Unsupported(message) => (Verdict::Unsupported, message),
    };
    Finding {
        line,
        verdict,
        message,
    }
}

/// The result against the script's.
fn check_answer(call: &Call, answer: &Answer) -> Result<(), Stop> {
    let (value, errno) = match answer {
        Answer::Value(value) => (*value, None),
        Answer::Errno(errno) => (-1, Some(*errno)),
        Answer::Wait => return Ok(()),
    };
    let same_value = call.result.is_none_or(|result| result == value);
    let same_errno = call.result.is_none() || call.errno.as_deref() == errno;
    // EWOULDBLOCK is another name of EAGAIN on every system these scripts are for.
    let again = call.errno.as_deref() == Some("EWOULDBLOCK") && errno == Some("EAGAIN");
    if same_value && (same_errno || again) {
        return Ok(());
    }
    let show = |value: Option<i64>, errno: Option<&str>| match (value, errno) {
        (Some(value), Some(errno)) => format!("{value} {errno}"),
        (Some(value), None) => value.to_string(),
        (None, _) => "...".to_owned(),
    };
    Err(Stop::Failed(format!(
        "{}: expected {}, returned {}",
        call.name,
        show(call.result, call.errno.as_deref()),
        show(Some(value), errno),
    )))
}

fn check_return(until: Option<(i128, i128)>, now: Nanos) -> Result<(), Stop> {
    match until {
        Some((from, to)) if !(from..=to).contains(&i128::from(now)) => Err(Stop::Failed(format!(
            "returned at {}, expected {}",
            wire::show_moment(now),
            wire::show_time((from + to) / 2 - i128::from(ORIGIN)),
        ))),
        _ => Ok(()),
    }
}
