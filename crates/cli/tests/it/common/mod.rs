//! Runs the command and inspects its results.

// Each test file uses only some of these functions.
#![allow(dead_code)]

mod needs;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

#[allow(unused_imports)]
pub(crate) use needs::{Programs, machine_has, needs, skipped};

pub(crate) fn inorder(arguments: &[&str]) -> Output {
    inorder_fed(arguments, b"")
}

/// The command, running, with pipes to and from it.
fn started(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Runs the command with `input` on its standard input.
pub(crate) fn inorder_fed(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = started(arguments);
    // The command may end without reading all of its input; this is no error here.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("the command ends")
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal ended it")
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("text")
}

/// A classic pcap of this link type with a frame each millisecond from `start_s` on, seconds since the epoch.
pub(crate) fn pcap(link: u32, start_s: u32, frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 2 | 4 << 16, 0, 0, 65_535, link] {
        file.extend(word.to_le_bytes());
    }
    for (ms, frame) in (0..).zip(frames) {
        let len = frame.len() as u32;
        for word in [start_s, ms * 1_000, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// The text has these words.
#[track_caller]
pub(crate) fn says(text: impl AsRef<str>, words: &str) {
    let text = text.as_ref();
    assert!(text.contains(words), "it does not say {words:?}: {text}");
}

/// The text does not have these words.
#[track_caller]
pub(crate) fn omits(text: impl AsRef<str>, words: &str) {
    let text = text.as_ref();
    assert!(!text.contains(words), "it says {words:?}: {text}");
}

/// A folder that is deleted when this value is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("inorder-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.0.join(name), bytes).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The error message of a command that failed with code `expected`; it must be one line that begins with the
/// command's name.
pub(crate) fn complaint(arguments: &[&str], expected: i32) -> String {
    let output = inorder(arguments);
    let message = stderr(&output).to_owned();
    assert_eq!(code(&output), expected, "{arguments:?}: {message}");
    assert!(message.starts_with("inorder: "), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    message
}

/// Starts a command that would run for ever, and ends it with Ctrl-C once it handles that signal and has worked for a tenth of a second of
/// processor time, so that there is something to keep.
#[cfg(target_os = "linux")]
pub(crate) fn interrupted(arguments: &[&str]) -> Output {
    const TICKS: u64 = 10;
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let works = |child: &Child| catches_interrupt(child) && ticks(child) >= TICKS;
    while !works(&child) && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    interrupt(&child);
    child.wait_with_output().expect("the command ends")
}

/// Processor time that the process has used, in hundredths of a second, according to /proc.
#[cfg(target_os = "linux")]
fn ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let user = behind_name.split_whitespace().nth(11);
    user.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Gives the command this input, and ends it with Ctrl-C while it waits for more.
#[cfg(target_os = "linux")]
pub(crate) fn interrupted_while_waiting(arguments: &[&str], input: &[u8]) -> Output {
    use std::io::Write;
    let mut child = started(arguments);
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input).expect("the command reads");
    while !catches_interrupt(&child) && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // What is in the pipe is read at once; there is no sign of it that could be waited for.
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().expect("the command ends");
    drop(pipe);
    output
}

/// Sends SIGINT, as Ctrl-C does. The shell has a `kill` of its own; the program of that name is not on every machine.
#[cfg(target_os = "linux")]
pub(crate) fn interrupt(child: &Child) {
    let sent = Command::new("sh")
        .args(["-c", "kill -INT \"$0\"", &child.id().to_string()])
        .status();
    assert!(sent.expect("a shell").success());
}

/// True if the process handles SIGINT, according to the signal mask in /proc.
#[cfg(target_os = "linux")]
pub(crate) fn catches_interrupt(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 2 != 0)
}
