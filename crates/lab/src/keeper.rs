//! Ends a machine with the program that started it, however that program ends.
//!
//! User Mode Linux consists of several processes, and some of them outlive the death of the first one. They have a group
//! of their own. The keeper reads from a pipe whose other end only the program holds: when that end is closed, which the
//! system does also for a program that was killed, the keeper kills the group.

#![allow(unsafe_code)] // System calls.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Runs the command in these arguments until it ends or the standard input is closed. Nothing of it remains.
pub fn main(mut arguments: impl Iterator<Item = std::ffi::OsString>) {
    let Some(program) = arguments.next() else {
        return;
    };
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn();
    let Ok(mut child) = child else {
        return;
    };
    let group = child.id() as i32;
    // SAFETY: no pointers; the group is that of a child of which nobody has taken the end, so the number is its own.
    let end_group = move || unsafe {
        libc::kill(-group, libc::SIGKILL);
    };
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        // Nothing is ever written: this waits for the end.
        let _ = std::io::stdin().read_to_end(&mut rest);
        end_group();
    });
    // The first process is looked at without taking its end, so that its number stays its own until the others ended.
    // SAFETY: all bytes zero are a valid place for the result, which is not used.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(
            libc::P_PID,
            child.id(),
            &raw mut info,
            libc::WEXITED | libc::WNOWAIT,
        );
    }
    end_group();
    let _ = child.wait();
}

/// A command that runs under a keeper, which is the guest's program started outside of a machine.
pub fn command(guest: &std::path::Path, program: &std::path::Path) -> Command {
    let mut command = Command::new(guest);
    command.arg(program).process_group(0).stdin(Stdio::piped());
    command
}
