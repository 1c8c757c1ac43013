//! Executes a script: its events in order, in virtual time, against endpoints.
//!
//! - `host`: connections and time; `limits`: how long they had to wait for the peer.
//! - `application`: calls, some of which block; `sockets`, `calls`, `sending`, `options`, `messages`, `stamps`, `epoll`: their implementation.
//! - `fast_open`: opening with data in the SYN.
//! - `packets`: injected and expected packets; `wire`, `expect`: conversion and comparison.
//! - `names`: the values available to assertions.

mod application;
mod calls;
mod epoll;
mod expect;
mod fast_open;
mod host;
mod limits;
mod messages;
mod names;
mod options;
mod packets;
mod sending;
mod sockets;
mod stamps;
mod watched;
mod wire;
mod zerocopy;

use inorder_tcp::Nanos;
use inorder_tcp::profiles::Profile;

use crate::code;
use crate::outcome::{Finding, Outcome, Verdict};
use crate::script::{Call, Event, Moment, Script, What, When};
use crate::setup::{Setup, apply_command, inspect};
use application::Pending;
use host::{Host, ORIGIN};
use sockets::{Answer, Table};
use wire::Clock;

/// Maximum time to wait for an event without a time.
const LONGEST_WAIT: Nanos = 3_600_000_000_000;

/// Why a script stops.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    Failed(String),
    Unsupported(String),
}

/// How to run scripts.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The profile of the stack before the script configures it.
    pub profile: &'a Profile,
    /// Settings before the script's own, with names and values: of the system (`net.ipv4.tcp_ecn`, which have a dot) and
    /// options of scripts (`mtu`).
    pub set: &'a [(String, String)],
    /// Tolerance that replaces the script's own one, ns.
    pub tolerance: Option<Nanos>,
    /// Whether to keep a trace.
    pub trace: bool,
}

/// Runs a script.
pub fn run(script: &Script, options: &Options<'_>) -> Outcome {
    let mut runner = Runner::new(script, options);
    let stop = runner.everything();
    runner.outcome(stop)
}

struct Runner<'a> {
    script: &'a Script,
    given: &'a [(String, String)],
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
    fn new(script: &'a Script, options: &Options<'a>) -> Self {
        Self {
            script,
            given: options.set,
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
        // A failure is reliable only if everything before it was understood; otherwise the script is unsupported.
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
        for (name, value) in self.given {
            if let Err(message) = self.setup.set(name, value) {
                self.not_understood(0, message);
            }
        }
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
            // An unsupported statement here makes all following results unreliable.
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

    /// Records which other statements of the script are unsupported.
    fn survey(&mut self, rest: &[Event]) {
        for event in rest {
            let reason = match &event.what {
                What::Unsupported(reason) => Some(reason.clone()),
                What::Inject(packet) | What::Expect(packet) => {
                    wire::unsupported(packet, &self.setup.fast_open)
                }
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
                self.host.device_full = self.setup.device_full;
                // A system's setting that holds for connections that exist, too.
                let option = self.setup.config.ecn.accurate.option;
                self.host.set_ecn_option(option);
                self.inspect(text)
            }
            What::Code(text) => self.assertions(text),
            What::Expect(_) | What::Unsupported(_) => Ok(()),
        }
    }

    /// Commands that count sockets in a state.
    fn inspect(&self, text: &str) -> Result<(), Stop> {
        for (state, wanted) in text.lines().filter_map(|line| inspect::states(line.trim())) {
            let found = self.table.count(&self.host, state);
            if found != wanted {
                return Err(Stop::Failed(format!(
                    "sockets in {state:?}: expected {wanted}, found {found}"
                )));
            }
        }
        Ok(())
    }

    // Time.

    fn tolerance(&self) -> i128 {
        self.tolerance.unwrap_or(self.setup.tolerance).into()
    }

    /// A time of the script in virtual time; relative times count from when the last event actually happened.
    fn moment(&self, moment: Moment) -> i128 {
        match moment {
            Moment::Absolute(ns) => i128::from(ORIGIN) + i128::from(ns),
            Moment::Relative(ns) => i128::from(self.host.now) + i128::from(ns),
        }
    }

    /// Advances time to an event that the script triggers.
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

    /// The interval in which an expected packet may arrive.
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

    // Assertions.

    fn assertions(&mut self, text: &str) -> Result<(), Stop> {
        let unsupported = |error: code::CodeError| Stop::Unsupported(error.to_string());
        let statements = code::read(text).map_err(unsupported)?;
        let connection = self.host.current();
        let now = self.host.now;
        let known = |name: &str| names::value(connection?, now, name);
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
            let text = wire::show(&sent, &self.clock);
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
