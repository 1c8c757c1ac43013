//! Builds a kernel.

#![allow(unsafe_code)] // System calls.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::{EDITS, Kernel, Kind, Source};

/// Options without which the lab does not work; the source may not have them.
const NEEDED: [&str; 12] = [
    "UML_TIME_TRAVEL_SUPPORT=y",
    "HZ=1000",
    "HIGH_RES_TIMERS=y",
    "BLK_DEV_INITRD=y",
    "HOSTFS=y",
    "MODULES=y",
    "NET_NS=y",
    "VETH=y",
    "PACKET=y",
    "NET_SCH_NETEM=y",
    "NET_SCH_HTB=y",
    "TCP_CONG_BBR=y",
];

/// Time between two looks at whether the user wants to stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// Prefix of the folders in which kernels are built; the number of the process follows.
const SCRATCH: &str = ".building-";

/// What modules need of the tree, as arguments of `tar`.
const FOR_MODULES: [&str; 6] = [
    "Makefile",
    ".config",
    "Module.symvers",
    "scripts",
    "include",
    "arch/um",
];
/// What modules need of the architecture x86, on which User Mode Linux is based, as arguments of `tar`.
const FOR_MODULES_X86: [&str; 5] = [
    "arch/x86/Makefile",
    "arch/x86/Makefile.um",
    "arch/x86/um",
    "arch/x86/include",
    "arch/x86/Kconfig",
];

/// How to build.
pub struct Building<'a> {
    /// The cache, in which also the tree is while the build runs (2 GB).
    pub cache: &'a Path,
    /// Its configuration.
    pub kind: Kind,
    /// Number of compilers at once.
    pub jobs: usize,
    /// As soon as this is true the build ends, and leaves nothing behind.
    pub stop: &'a AtomicBool,
    /// Called with what happens, in words.
    pub say: &'a dyn Fn(String),
}

/// The kernel of this source: from the cache, or built.
///
/// # Errors
/// If a step fails: which one, and its last words.
pub fn build(source: &Source, building: &Building<'_>) -> Result<Kernel, String> {
    let version = source.whole_version()?;
    let config = building.kind.fingerprint();
    let folder = building.cache.join(format!("{version}-{config}"));
    let kernel = Kernel {
        folder,
        version,
        config,
    };
    if kernel.executable().is_file() {
        return Ok(kernel);
    }
    std::fs::create_dir_all(building.cache).map_err(failed("creating the cache"))?;
    crate::leftovers::remove(building.cache, SCRATCH);
    let scratch = tempfile::Builder::new()
        .prefix(&format!("{SCRATCH}{}-", std::process::id()))
        .tempdir_in(building.cache);
    let scratch = scratch.map_err(failed("creating a folder in the cache"))?;
    let ready = scratch.path().join("ready");
    std::fs::create_dir(&ready).map_err(failed("creating a folder in the cache"))?;
    let tree = unpack(source, scratch.path(), building)?;
    configure(&tree, building)?;
    compile(&tree, building)?;
    keep(&tree, &ready, building)?;
    match std::fs::rename(&ready, &kernel.folder) {
        // Somebody else may have been faster.
        Err(_) if kernel.executable().is_file() => Ok(kernel),
        Err(error) => Err(format!("{}: {error}", kernel.folder.display())),
        Ok(()) => Ok(kernel),
    }
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}

fn unpack(source: &Source, scratch: &Path, building: &Building<'_>) -> Result<PathBuf, String> {
    (building.say)(format!("unpacking {}", source.archive.display()));
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(scratch).arg("-xJf").arg(&source.archive);
    run(tar, "unpacking", building, &mut |_| {})?;
    let tree = scratch.join(format!("linux-source-{}", source.version));
    for edit in EDITS {
        let path = tree.join(edit.file);
        let text = std::fs::read_to_string(&path).map_err(failed(edit.file))?;
        if text.contains(edit.from) {
            std::fs::write(&path, text.replace(edit.from, edit.to)).map_err(failed(edit.file))?;
        } else if edit.is_needed {
            return Err(format!(
                "{}: expected \"{}\" in this source",
                edit.file,
                edit.from.replace(['\n', '\t'], " ")
            ));
        }
    }
    Ok(tree)
}

fn configure(tree: &Path, building: &Building<'_>) -> Result<(), String> {
    (building.say)("configuring".to_owned());
    run(
        make(tree, &["defconfig"]),
        "configuring",
        building,
        &mut |_| {},
    )?;
    let path = tree.join(".config");
    let text = std::fs::read_to_string(&path).map_err(failed(".config"))?;
    // Of two lines for one option the later one holds.
    std::fs::write(&path, text + &building.kind.fragment()).map_err(failed(".config"))?;
    run(
        make(tree, &["olddefconfig"]),
        "configuring",
        building,
        &mut |_| {},
    )?;
    let text = std::fs::read_to_string(&path).map_err(failed(".config"))?;
    let lost: Vec<&str> = NEEDED
        .into_iter()
        .filter(|option| !text.lines().any(|line| line == format!("CONFIG_{option}")))
        .collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(format!("this source has no {}", lost.join(", "))),
    }
}

fn make(tree: &Path, targets: &[&str]) -> Command {
    let mut make = Command::new("make");
    make.current_dir(tree).arg("ARCH=um").args(targets);
    make
}

fn compile(tree: &Path, building: &Building<'_>) -> Result<(), String> {
    let jobs = format!("-j{}", building.jobs.max(1));
    let mut done = 0;
    run(
        make(tree, &[&jobs, "linux", "modules"]),
        "compiling",
        building,
        &mut |line| {
            if line.trim_start().starts_with("CC ") {
                done += 1;
                (building.say)(format!("compiling: {done} files (about 1,500 in all)"));
            }
        },
    )
}

/// Keeps the executable, the configuration, and what modules are built against.
fn keep(tree: &Path, ready: &Path, building: &Building<'_>) -> Result<(), String> {
    let mut strip = Command::new("strip");
    strip
        .arg("-o")
        .arg(ready.join("linux"))
        .arg(tree.join("linux"));
    run(strip, "stripping", building, &mut |_| {})?;
    std::fs::copy(tree.join(".config"), ready.join("config")).map_err(failed("config"))?;
    let symbols = tree.join("Module.symvers");
    if !symbols.is_file() {
        std::fs::copy(tree.join("vmlinux.symvers"), symbols).map_err(failed("vmlinux.symvers"))?;
    }
    let build = ready.join("build");
    std::fs::create_dir(&build).map_err(failed("build"))?;
    let archive = ready.join("build.tar");
    let mut pack = Command::new("tar");
    pack.arg("-C").arg(tree).args([
        "--exclude=*.o",
        "--exclude=*.a",
        "--exclude=.*.cmd",
        "--exclude=*.c.orig",
    ]);
    pack.arg("-cf")
        .arg(&archive)
        .args(FOR_MODULES)
        .args(FOR_MODULES_X86);
    run(pack, "keeping the headers", building, &mut |_| {})?;
    let mut unpack = Command::new("tar");
    unpack.arg("-C").arg(&build).arg("-xf").arg(&archive);
    run(unpack, "keeping the headers", building, &mut |_| {})?;
    std::fs::remove_file(archive).map_err(failed("build.tar"))
}

/// Runs a step to its end and passes on each line that it prints.
fn run(
    mut command: Command,
    what: &str,
    building: &Building<'_>,
    line: &mut dyn FnMut(&str),
) -> Result<(), String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // SAFETY: between fork and exec only one system call is made.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let mut child = command.spawn().map_err(failed(what))?;
    let errors = child.stderr.take().map(|out| {
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            lines
                .filter(|line| line.contains("error") || line.contains("***"))
                .take(5)
                .collect::<Vec<_>>()
        })
    });
    let mut stopped = false;
    let (tell, told) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            // The other end is there until this one ends.
            lines.for_each(|line| drop(tell.send(line)));
        });
    }
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok(said) => line(&said),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !stopped && building.stop.load(Ordering::Relaxed) {
            stopped = true;
            // SAFETY: no pointers; the group is that of our child, which nobody has waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
        }
    }
    let ended = child.wait().map_err(failed(what))?;
    let said = errors
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default();
    match (
        stopped || building.stop.load(Ordering::Relaxed),
        ended.success(),
    ) {
        (true, _) => Err("interrupted".to_owned()),
        (false, true) => Ok(()),
        (false, false) => Err(format!("{what} failed: {}", said.join("; "))),
    }
}
