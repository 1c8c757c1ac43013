//! The host's own kernel for one run: namespaces for its processes, mounts and networks, made as root, in real time.
//!
//! The guest is the first process of its namespaces, so that everything in them ends with it. Nobody else sees its
//! interfaces and mounts, and nothing of them remains, however it ends.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use inorder_live::emulator::Seen;
use inorder_live::frame::Frame;
use inorder_live::os::{self, Confinement, Running};
use inorder_path::Path as Way;
use inorder_scenario::Config;

use crate::guest::FOLDER;
use crate::keeper;
use crate::plan::WIRE;
use crate::report::GO;
use crate::root::find;
use crate::uml::{MachineError, follow};

/// Where programs are looked for.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Checks that namespaces can be made here.
///
/// # Errors
/// What is missing, in one line.
pub fn check() -> Result<(), String> {
    for program in ["unshare", "ip", "tc"] {
        if find(program).is_none() {
            return Err(format!(
                "--engine netns: {program} is not installed; expected util-linux and iproute2"
            ));
        }
    }
    match works(&["true"]) {
        true => Ok(()),
        false => Err("--engine netns: namespaces cannot be made here, which needs root; expected root, or --engine uml".to_owned()),
    }
}

/// Whether this kernel has netem. Where it is missing, paths are emulated.
pub(crate) fn has_netem() -> bool {
    works(&[
        "tc", "qdisc", "add", "dev", "lo", "root", "netem", "limit", "10",
    ])
}

/// Whether a command succeeds in namespaces of its own.
fn works(command: &[&str]) -> bool {
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--net", "--mount", "--pid", "--fork"])
        .args(command);
    unshare
        .env("PATH", PATH)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    unshare.status().is_ok_and(|status| status.success())
}

/// Runs the guest to its end with this folder for its plan and its results. The paths of `emulated`, with this seed, are
/// emulated while it runs; what happened on them is returned.
///
/// # Errors
/// If the guest did not reach its end.
pub fn run(
    guest: &Path,
    folder: &Path,
    emulated: Option<(&Config, u64)>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(i64),
) -> Result<Option<[Seen; 2]>, MachineError> {
    let unshare = find("unshare").unwrap_or_else(|| "unshare".into());
    let mut command = keeper::command(guest, &unshare);
    command
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child"])
        .arg(guest)
        .current_dir(folder)
        .env_clear()
        .env("PATH", PATH)
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let child = command
        .spawn()
        .map_err(|error| MachineError::Start(error.to_string()))?;
    let mut emulation = None;
    let mut ready = |number: u32| {
        if let Some((config, seed)) = emulated {
            emulation = Some(Emulation::start(number, config, seed, folder)?);
        }
        Ok(())
    };
    let done = follow(child, folder, stop, progress, &mut ready);
    // If the path was not emulated, the reason is there, and not with the guest.
    let seen = emulation.map(Emulation::end).transpose();
    let seen = seen.map_err(MachineError::Failed)?;
    done.map(|()| seen)
}

/// A thread that forwards packets in the guest's namespace.
struct Emulation {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<[Seen; 2], String>>,
}

impl Emulation {
    /// Starts when the guest with this number has made its network; the file [`GO`] tells it that packets are forwarded.
    fn start(number: u32, config: &Config, seed: u64, folder: &Path) -> Result<Self, String> {
        let way = |stages, name| Way::<Frame>::declared(stages, name, seed);
        let ways = (
            way(&config.forward, "forward"),
            way(&config.reverse, "reverse"),
        );
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, go) = (Arc::clone(&stop), folder.join(GO));
        let (wire, ends) = WIRE;
        let namespace = format!("/proc/{number}/root/run/netns/{wire}");
        let thread = std::thread::spawn(move || {
            enter(&namespace).map_err(|error| format!("{namespace}: {error}"))?;
            let mut start = || {
                // If it cannot be written, the guest says that nobody emulates the path.
                let _ = std::fs::write(&go, []);
                &*flag
            };
            let running = Running {
                duration_ns: None,
                realtime: true,
                // The other threads of this process do other things.
                confinement: Confinement::Thread,
                // The interfaces are those of the lab.
                tell: |_| (),
                start: &mut start,
            };
            os::emulate(ends, ways, running, &mut |_, _| ()).map_err(|error| error.to_string())
        });
        Ok(Emulation { stop, thread })
    }

    fn end(self) -> Result<[Seen; 2], String> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err("the emulation ended early".to_owned()))
    }
}

#[cfg(target_os = "linux")]
fn enter(namespace: &str) -> std::io::Result<()> {
    crate::guest::enter_file(namespace)
}

#[cfg(not(target_os = "linux"))]
fn enter(_: &str) -> std::io::Result<()> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}
