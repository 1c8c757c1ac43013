//! A machine for one run: User Mode Linux, an ordinary process.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::keeper;
use crate::report::{FAILED, PROGRESS, READY};
use crate::root::INIT;

/// Time between two looks at whether the user wants to stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// Polls without guest output before the guest counts as hung (10 min).
const MAX_SILENT_LOOKS: u32 = 6000;
/// Memory of a machine, MiB. Only what it uses is taken.
const MEMORY_MIB: u32 = 1024;

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The guest's program, which outside of a machine is its keeper.
    pub guest: PathBuf,
    /// The kernel.
    pub kernel: PathBuf,
    /// Its root.
    pub root: PathBuf,
    /// Whether its clock jumps from event to event.
    pub is_virtual: bool,
}

/// Why a machine did not finish its run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MachineError {
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
    /// The kernel cannot be started.
    #[error("cannot start the kernel: {0}")]
    Start(String),
    /// The guest gave up.
    #[error("{0}")]
    Failed(String),
    /// The machine ended early, with these last words.
    #[error("the machine ended early: {0}")]
    Died(String),
    /// The machine hung.
    #[error("the machine was silent for ten minutes and was ended; its last words: {0}")]
    Hung(String),
}

impl Machine {
    /// Runs the guest to its end with this folder for its plan and its results; `progress` gets the time that has
    /// passed in it, nanoseconds. No process of it outlives the call, nor this program.
    ///
    /// # Errors
    /// If the guest did not reach its end.
    pub fn run(
        &self,
        folder: &Path,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(i64),
    ) -> Result<(), MachineError> {
        follow(self.start(folder)?, folder, stop, progress, &mut |_| Ok(()))
    }

    fn start(&self, folder: &Path) -> Result<Child, MachineError> {
        let mut command = keeper::command(&self.guest, &self.kernel);
        command
            .args(self.arguments(folder))
            .current_dir(folder)
            .env_clear()
            .env("TMPDIR", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
            .spawn()
            .map_err(|error| MachineError::Start(error.to_string()))
    }

    /// The kernel's command line.
    fn arguments(&self, folder: &Path) -> Vec<OsString> {
        let with = |name: &str, path: &Path| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        let mut arguments: Vec<OsString> = vec![
            format!("mem={MEMORY_MIB}M").into(),
            with("initrd=", &self.root),
            format!("rdinit={INIT}").into(),
            with("hostfs=", folder),
            with("uml_dir=", folder),
            "umid=guest".into(),
            "con=null".into(),
            "con0=null,fd:1".into(),
            "ssl=null".into(),
            "ipv6.disable=1".into(),
            "panic=-1".into(),
            "quiet".into(),
        ];
        if self.is_virtual {
            arguments.push("time-travel=inf-cpu".into());
        }
        arguments
    }
}

/// Listens to a guest until it has ended. `ready` is called when it waits for its path to be emulated, with its number as a
/// process of this system. No process of it outlives the call.
///
/// # Errors
/// If the guest did not reach its end.
pub fn follow(
    guest: Child,
    folder: &Path,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(i64),
    ready: &mut dyn FnMut(u32) -> Result<(), String>,
) -> Result<(), MachineError> {
    let mut guest = Guest(guest);
    let (tell, told) = channel();
    if let Some(out) = guest.0.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
    }
    let mut last = Vec::new();
    let mut silent = 0;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(MachineError::Stopped);
        }
        match told.recv_timeout(PATIENCE) {
            Ok(line) => {
                silent = 0;
                if let Some(problem) = line.strip_prefix(FAILED) {
                    return Err(MachineError::Failed(problem.to_owned()));
                }
                if let Some(number) = line.strip_prefix(READY) {
                    let number = number.trim().parse().unwrap_or(0);
                    ready(number).map_err(MachineError::Failed)?;
                    continue;
                }
                match line
                    .strip_prefix(PROGRESS)
                    .and_then(|ns| ns.trim().parse().ok())
                {
                    Some(ns) => progress(ns),
                    None => remember(&mut last, line),
                }
            }
            Err(RecvTimeoutError::Timeout) if silent < MAX_SILENT_LOOKS => silent += 1,
            Err(RecvTimeoutError::Timeout) => return Err(MachineError::Hung(last.join("; "))),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match folder.join(crate::report::REPORT).is_file() {
        true => Ok(()),
        false => Err(MachineError::Died(last.join("; "))),
    }
}

/// Keeps the last few lines.
fn remember(last: &mut Vec<String>, line: String) {
    const LINES: usize = 8;
    if last.len() >= LINES {
        last.remove(0);
    }
    last.push(line);
}

/// A running machine, ended when it is dropped.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        // Waiting closes the keeper's standard input, which makes it end the machine.
        let _ = self.0.wait();
    }
}
