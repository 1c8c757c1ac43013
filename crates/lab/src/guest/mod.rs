//! The guest: the first and only program of a machine that exists for one run. It makes the network of the plan,
//! carries the traffic, captures and counts, writes the report and switches the machine off.

#![allow(unsafe_code)] // System calls.

mod capture;
mod cards;
mod counters;
mod sys;
mod traffic;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use self::sys::enter_file;

use self::capture::Capture;
use self::traffic::Shared;
use crate::plan::{Plan, Table};
use crate::report::{
    CAPTURES, FAILED, FlowReport, GO, PLAN, PROGRESS, READY, REPORT, Report, StageReport, TcpState,
};

/// The variable that tells the guest its folder, and that it runs on a host's kernel.
pub(crate) const FOLDER: &str = "INORDER_LAB_FOLDER";
/// Where the host's folder of the run appears in a machine.
const SHARED: &str = "/out";
/// Where `tc` looks for tables.
const TABLES: &str = "/run/tables";
/// Time between preparation and the beginning of the run, in which devices come up, nanoseconds.
const SETTLING_NS: i64 = 100_000_000;
/// Time between two looks at the captures, nanoseconds.
const DRAINING_NS: i64 = 2_000_000;
/// Time between two looks at whether the path is emulated, and how often it is looked, nanoseconds.
const LOOK_NS: i64 = 5_000_000;
const LOOKS: u32 = 4000;
/// Number of progress reports of the guest in a run.
const STEPS: i64 = 100;

/// Runs as the first process of a machine, or of namespaces of a host's own kernel.
pub fn main() {
    let host = std::env::var(FOLDER).ok();
    let done = match &host {
        Some(folder) => enter_host(folder),
        None => boot().map(|()| SHARED),
    };
    if let Err(problem) = done.and_then(run_in) {
        say(&format!("{FAILED}{problem}"));
    }
    // The end of the first process ends its namespaces with all that is in them; only a machine has to be switched off.
    if host.is_none() {
        sys::power_off();
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // Without a console there is nobody to tell.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The number of this process on the host, if it runs there.
static HOST_NUMBER: std::sync::OnceLock<String> = std::sync::OnceLock::new();

/// What failed, in words.
type Failure = String;

/// Adds what was tried to an error.
fn trying<E: std::fmt::Display>(what: impl std::fmt::Display) -> impl FnOnce(E) -> Failure {
    move |error| format!("{what}: {error}")
}

fn boot() -> Result<(), Failure> {
    for (kind, target, options) in [
        ("proc", "/proc", ""),
        ("sysfs", "/sys", ""),
        ("tmpfs", "/run", ""),
        ("devtmpfs", "/dev", ""),
        ("hostfs", SHARED, "/"),
    ] {
        sys::mount(kind, target, options).map_err(trying(format!("mounting {target}")))?;
    }
    Ok(())
}

/// The mounts that namespaces of a host's kernel need; nobody else sees them.
fn enter_host(folder: &str) -> Result<&str, Failure> {
    // What is mounted there now still knows this process by its number on the host.
    let number = std::fs::read_link("/proc/self").map_err(trying("its own number"))?;
    HOST_NUMBER.get_or_init(|| number.to_string_lossy().into_owned());
    for (kind, target) in [("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run")] {
        sys::mount(kind, target, "").map_err(trying(format!("mounting {target}")))?;
    }
    Ok(folder)
}

/// Carries out the plan in this folder, and leaves the report there.
fn run_in(shared: &str) -> Result<(), Failure> {
    let plan = std::fs::read(format!("{shared}/{PLAN}")).map_err(trying("reading the plan"))?;
    // A plan of the same build has no other form.
    let other_build = |error| {
        format!(
            "reading the plan: {error}: inorder-guest is of another build than inorder, expected both from the same one"
        )
    };
    let plan: Plan = serde_json::from_slice(&plan).map_err(other_build)?;
    prepare(&plan, shared)?;
    if plan.emulated {
        wait_for_the_path(shared)?;
    }
    let report = carry_out(plan, shared)?;
    let text = serde_json::to_vec(&report).map_err(trying("writing the report"))?;
    std::fs::write(format!("{shared}/{REPORT}"), text).map_err(trying("writing the report"))
}

/// Waits until somebody on the host emulates the path.
fn wait_for_the_path(shared: &str) -> Result<(), Failure> {
    let number = HOST_NUMBER.get().map_or("", String::as_str);
    say(&format!("{READY}{number}"));
    for _ in 0..LOOKS {
        if std::fs::exists(format!("{shared}/{GO}")).is_ok_and(|there| there) {
            return Ok(());
        }
        sys::sleep_until(sys::now_ns(libc::CLOCK_MONOTONIC) + LOOK_NS);
    }
    Err("nobody emulates the path".to_owned())
}

/// Makes the network.
fn prepare(plan: &Plan, shared: &str) -> Result<(), Failure> {
    for name in &plan.modules {
        let path = format!("{shared}/{name}.ko");
        sys::load_module(&path).map_err(trying(format!("loading {path}")))?;
    }
    for table in &plan.tables {
        write_table(table).map_err(trying(format!("writing the table {}", table.name)))?;
    }
    let added: Vec<String> = plan
        .namespaces
        .iter()
        .map(|name| format!("netns add {name}"))
        .collect();
    run("ip", None, &added)?;
    for batch in &plan.batches {
        run(&batch.program, batch.namespace.as_deref(), &batch.lines)?;
    }
    for setting in &plan.settings {
        let path = format!("/proc/sys/{}", setting.key.replace('.', "/"));
        sys::enter(&setting.namespace)
            .and_then(|()| std::fs::write(&path, &setting.value))
            .map_err(trying(format!("{} = {}", setting.key, setting.value)))?;
    }
    for device in plan.devices.iter().filter(|_| !plan.offloads) {
        sys::enter(&device.namespace)
            .and_then(|()| sys::offloads_off(&device.name))
            .map_err(trying(format!(
                "offloads of {} in {}",
                device.name, device.namespace
            )))?;
    }
    for card in &plan.cards {
        cards::set(card).map_err(trying(format!(
            "parameters of {} in {}",
            card.name, card.namespace
        )))?;
    }
    Ok(())
}

fn write_table(table: &Table) -> io::Result<()> {
    std::fs::create_dir_all(TABLES)?;
    let numbers: Vec<String> = table.numbers.iter().map(ToString::to_string).collect();
    std::fs::write(
        format!("{TABLES}/{}.dist", table.name),
        numbers.join("\n") + "\n",
    )
}

/// In a machine all programs are in `/bin`.
fn program_path(program: &str) -> std::path::PathBuf {
    let own = std::path::PathBuf::from(format!("/bin/{program}"));
    match own.is_file() {
        true => own,
        false => crate::root::find(program).unwrap_or(own),
    }
}

/// Calls `ip` or `tc` with these lines; returns what it printed.
fn run(program: &str, namespace: Option<&str>, lines: &[String]) -> Result<String, Failure> {
    let mut command = Command::new(program_path(program));
    if let Some(namespace) = namespace {
        command.args(["-n", namespace]);
    }
    command
        .args(["-s", "-j", "-batch", "-"])
        .env("TC_LIB_DIR", TABLES);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(trying(program))?;
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all((lines.join("\n") + "\n").as_bytes())
            .map_err(trying(program))?;
    }
    let output = child.wait_with_output().map_err(trying(program))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said
        .lines()
        .take_while(|line| !line.starts_with("Usage"))
        .collect();
    Err(format!(
        "{program} in {}: {}",
        namespace.unwrap_or("no namespace"),
        said.join("; ")
    ))
}

/// Does what the plan says, from its beginning to its end.
fn carry_out(plan: Plan, folder: &str) -> Result<Report, Failure> {
    let wrong = |what: &'static str| trying::<io::Error>(what);
    let begin_ns = sys::now_ns(libc::CLOCK_MONOTONIC) + SETTLING_NS;
    let offset_ns = sys::now_ns(libc::CLOCK_REALTIME) - sys::now_ns(libc::CLOCK_MONOTONIC);
    let flows = plan.flows.len();
    let shared = Arc::new(Shared {
        begin_ns,
        senders: (0..flows).map(|_| Mutex::new(None)).collect(),
        reports: Mutex::new(vec![FlowReport::default(); flows]),
        plan,
    });
    let plan = &shared.plan;
    for group in &plan.groups {
        traffic::serve(group).map_err(wrong("listening"))?;
    }
    let end = Arc::new(AtomicBool::new(false));
    let captures = captures(plan, folder, &end)?;
    for number in 0..flows {
        let shared = Arc::clone(&shared);
        traffic::small_thread(move || traffic::send(&shared, number, &shared.plan.flows[number]))
            .map_err(wrong("starting a thread"))?;
    }
    let changes = changes(&shared);
    let samples = samples(&shared);
    let end_ns = begin_ns + plan.duration_ns;
    let mut before = BTreeMap::new();
    let hosts = || {
        plan.groups
            .iter()
            .flat_map(|group| [&group.sender, &group.receiver])
    };
    let steps = (0..=STEPS).map(|step| (plan.duration_ns / STEPS * step, false));
    let mut moments: Vec<(i64, bool)> = steps.chain([(plan.warm_up_ns, true)]).collect();
    moments.sort_unstable();
    for (at_ns, is_warm) in moments {
        sys::sleep_until(begin_ns + at_ns);
        if is_warm {
            for host in hosts() {
                before.insert(
                    host.clone(),
                    counters::of_host(host).map_err(wrong("counters"))?,
                );
            }
        }
        say(&format!("{PROGRESS}{at_ns}"));
    }
    sys::sleep_until(end_ns);
    end.store(true, Ordering::Relaxed);
    let mut report = Report {
        begin_ns: begin_ns + offset_ns,
        kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        ..Report::default()
    };
    for host in hosts() {
        let after = counters::of_host(host).map_err(wrong("counters"))?;
        let grown = counters::since(before.get(host).unwrap_or(&BTreeMap::new()), after);
        report.counters.insert(host.clone(), grown);
    }
    for device in plan.devices.iter().filter(|device| device.is_stage) {
        let line = format!("qdisc show dev {}", device.name);
        let shown = run("tc", Some(&device.namespace), &[line])?;
        let (drops, marks) = counters::drops_and_marks(&shown);
        report.stages.push(StageReport {
            namespace: device.namespace.clone(),
            device: device.name.clone(),
            drops,
            marks,
        });
    }
    for capture in captures {
        let lost = capture
            .join()
            .map_err(|_| "a capture ended early".to_owned())?;
        report.capture_drops += lost.map_err(wrong("capturing"))?;
    }
    changes
        .join()
        .map_err(|_| "the changes ended early".to_owned())??;
    report.samples = samples
        .join()
        .map_err(|_| "the samples ended early".to_owned())?;
    report.flows.clone_from(
        &shared
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner),
    );
    Ok(report)
}

type Capturing = std::thread::JoinHandle<io::Result<u64>>;

/// Starts the captures of both sides.
fn captures(plan: &Plan, folder: &str, end: &Arc<AtomicBool>) -> Result<Vec<Capturing>, Failure> {
    let mut threads = Vec::new();
    for (side, name) in CAPTURES.iter().enumerate() {
        let here = plan
            .devices
            .iter()
            .filter(|device| device.captured == Some(side));
        let here: Vec<(&str, &str)> = here
            .map(|device| (device.namespace.as_str(), device.name.as_str()))
            .collect();
        let path = format!("{folder}/{name}");
        let mut capture =
            Capture::open(&here, &path, plan.snap_bytes).map_err(trying("capturing"))?;
        let end = Arc::clone(end);
        threads.push(std::thread::spawn(move || {
            let mut at_ns = sys::now_ns(libc::CLOCK_MONOTONIC);
            while !end.load(Ordering::Relaxed) {
                at_ns += DRAINING_NS;
                sys::sleep_until(at_ns);
                capture.drain()?;
            }
            capture.finish()
        }));
    }
    Ok(threads)
}

/// Changes the network during the run.
fn changes(shared: &Arc<Shared>) -> std::thread::JoinHandle<Result<(), Failure>> {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        for change in &shared.plan.changes {
            sys::sleep_until(shared.begin_ns + change.at_ns);
            run(
                "tc",
                Some(&change.namespace),
                std::slice::from_ref(&change.line),
            )?;
        }
        Ok(())
    })
}

/// Samples the senders.
fn samples(shared: &Arc<Shared>) -> std::thread::JoinHandle<Vec<TcpState>> {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut samples = Vec::new();
        let Some(interval_ns) = shared.plan.sample_interval_ns else {
            return samples;
        };
        let mut time_ns = 0;
        while time_ns <= shared.plan.duration_ns {
            sys::sleep_until(shared.begin_ns + time_ns);
            for (flow, socket) in shared.senders.iter().enumerate() {
                let socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(Ok(state)) = socket.map(counters::of_socket) {
                    samples.push(TcpState {
                        time_ns,
                        flow: flow as u32,
                        ..state
                    });
                }
            }
            time_ns += interval_ns;
        }
        samples
    })
}
