//! What the verbs share that run on live interfaces until Ctrl-C: their options, and where their numbers go while they
//! run.

use std::io::{self, IsTerminal, Write};
use std::str::FromStr;

use inorder_live::os::{Confinement, LiveError, Running};
use inorder_report::text::{self, Layout};
use inorder_report::{Column, json, prometheus, schema};
use jiff::SignedDuration;

use crate::error::CliError;
use crate::exporter::{Exporter, Server};
use crate::{interrupt, manners, outputs};

/// Options of every verb on live interfaces.
#[derive(clap::Args)]
pub(crate) struct RunningOptions {
    /// Serve the numbers to Prometheus on this port of 127.0.0.1
    #[arg(long, value_name = "PORT")]
    prometheus: Option<u16>,
    /// End after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    duration: Option<f64>,
    /// Print the result as one JSON object at the end
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    pub schema: bool,
}

/// Options of the verbs that forward frames.
#[derive(clap::Args)]
pub(crate) struct Forwarding {
    /// Take precedence over all other processes of this machine, for exact times under load; needs CAP_SYS_NICE
    #[arg(long)]
    realtime: bool,
    #[command(flatten)]
    confining: Confining,
}

/// The option of every verb that gives up its privileges when its interfaces and sockets are open.
#[derive(clap::Args)]
pub(crate) struct Confining {
    /// What happens to system calls that nothing should need after the start: refuse (the process ends with an error that
    /// names the call), log (the kernel's log names it), off
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = confinement)]
    pub seccomp: Confinement,
}

fn confinement(word: &str) -> Result<Confinement, String> {
    word.parse()
}

/// Parses a number of seconds, or a time with a unit as other options take it.
///
/// # Errors
/// One line that says what was expected.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let with_unit = |text| SignedDuration::from_str(text).ok();
    let seconds = text
        .parse()
        .ok()
        .or_else(|| with_unit(text).map(|time| time.as_secs_f64()));
    // Some 30 years: in nanoseconds it fits into 64 bits.
    seconds
        .filter(|seconds| (0.0..=1e9).contains(seconds))
        .ok_or_else(|| "expected seconds, 0 to 1e9, or a time such as 90s or 2m".to_owned())
}

/// Where the numbers go while a verb runs: to Prometheus, and on a terminal.
pub(crate) struct Outlet {
    exporter: Option<Exporter>,
    prefix: &'static str,
    is_terminal: bool,
    /// Time and bytes of the last [`Outlet::show`].
    last: (i64, u64),
}

impl RunningOptions {
    /// Seconds after which to end.
    pub(crate) fn duration_s(&self) -> Option<f64> {
        self.duration
    }

    /// Prints the schema of what `--json` prints.
    pub(crate) fn print_schema<R>(
        &self,
        command: &str,
        columns: &[Column<R>],
    ) -> Result<(), CliError> {
        let about = format!("What `{command} --json` prints.");
        outputs::to_stdout(|out| schema::write(out, command, &about, columns))
    }

    /// Where the numbers go, with metrics whose names begin with `prefix`; the server is to be started when the privileges
    /// are given up.
    pub(crate) fn outlet(
        &self,
        prefix: &'static str,
    ) -> Result<(Outlet, Option<Server>), CliError> {
        // What the output looks like is known from here on: later it may not be asked.
        outputs::style(0, false);
        let (exporter, server) = self.prometheus.map(Exporter::new).transpose()?.unzip();
        let is_terminal = !self.json && !manners::is_quiet() && io::stdout().is_terminal();
        let outlet = Outlet {
            exporter,
            prefix,
            is_terminal,
            last: (0, 0),
        };
        Ok((outlet, server))
    }

    /// Runs something between two ends. The notice is printed once it works.
    pub(crate) fn run<T>(
        &self,
        forwarding: &Forwarding,
        mut server: Option<Server>,
        notice: &str,
        run: impl FnOnce(Running<'_>) -> Result<T, LiveError>,
    ) -> Result<T, CliError> {
        let mut start = || {
            if let Some(server) = server.take() {
                server.start();
            }
            interrupt::flag_before(notice)
        };
        Ok(run(Running {
            duration_ns: self.duration_s().map(|s| (s * 1e9) as i64),
            realtime: forwarding.realtime,
            confinement: forwarding.confining.seccomp,
            tell: manners::notice,
            start: &mut start,
        })?)
    }

    /// Prints the result: all of it as JSON, or its rows as a table.
    pub(crate) fn print<T, R>(
        &self,
        (all, done): (&[Column<T>], &T),
        (columns, rows): (&[Column<R>], &[R]),
    ) -> Result<(), CliError> {
        match self.json {
            true => outputs::to_stdout(|out| json::write(out, all, done)),
            false => outputs::text(|out| write_table(out, columns, rows)),
        }
    }
}

impl Outlet {
    /// True if the standard output is a terminal on which [`Outlet::replace`] shows something.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Gives the newest numbers to Prometheus.
    pub(crate) fn publish<R>(&mut self, columns: &[Column<R>], rows: &[R]) {
        if let Some(exporter) = &self.exporter {
            exporter.publish(|out| prometheus::write(out, self.prefix, columns, rows));
        }
    }

    /// Replaces what stands on the terminal, if there is one.
    pub(crate) fn replace(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if !self.is_terminal {
            return Ok(());
        }
        outputs::text(|out| {
            // Home, and clear what is below.
            out.write_all(b"\x1b[H\x1b[2J")?;
            write(out)
        })
    }

    /// Gives the newest numbers to all readers. `now_ns` is the time since the start, `bytes` what was received by then.
    pub(crate) fn show<R>(&mut self, now_ns: i64, bytes: u64, columns: &[Column<R>], rows: &[R]) {
        self.publish(columns, rows);
        let (last_ns, last_bytes) = std::mem::replace(&mut self.last, (now_ns, bytes));
        let seconds = (now_ns - last_ns).max(1) as f64 / 1e9;
        let rate = bytes.saturating_sub(last_bytes) as f64 * 8.0 / 1e6 / seconds;
        // A terminal that went away does not end what runs.
        let _ = self.replace(|out| {
            write_table(out, columns, rows)?;
            let passed = now_ns / 1_000_000_000;
            writeln!(
                out,
                "\n{rate:.1} Mbit/s received now; {passed} s since the start; Ctrl-C ends it"
            )
        });
    }
}

fn write_table<R>(out: &mut dyn Write, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    let layout = Layout::default().width(outputs::style(0, false).width);
    text::write(out, columns, rows, &layout)
}
