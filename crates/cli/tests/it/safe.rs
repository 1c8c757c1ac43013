//! The verbs on live interfaces as those who watch over a machine want them: without rights, and up again when the interface
//! is. Needs root, for namespaces.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::says;
use crate::common::{self, Folder, code, json, stderr};
use crate::namespaces::{Namespaces, Running};

/// What /proc says of a thread.
fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let value = status.lines().find_map(|line| line.strip_prefix(name));
    value.map_or("", |value| value.trim_start_matches(':').trim())
}

/// A row of the table: what every thread of the process may do.
fn rights(running: &Running) -> Vec<String> {
    let tasks = format!("/proc/{}/task", running.child.id());
    let entries = fs::read_dir(tasks).expect("it runs");
    let rows = entries.flatten().filter_map(|entry| {
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let names = [
            "Uid",
            "Gid",
            "CapPrm",
            "CapEff",
            "CapBnd",
            "NoNewPrivs",
            "Seccomp",
        ];
        let user = |name| field(&status, name).split_whitespace().next().unwrap_or("");
        Some(names.map(user).join(" "))
    });
    rows.collect()
}

/// What its threads may do once that is `expected` of all of them for a while, or after much longer than any of them takes.
fn settled(running: &Running, expected: &str) -> Vec<String> {
    let (mut rows, mut as_expected) = (Vec::new(), 0);
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(200));
        rows = rights(running);
        let all = !rows.is_empty() && rows.iter().all(|row| row == expected);
        as_expected = if all { as_expected + 1 } else { 0 };
        if as_expected == 3 {
            break;
        }
    }
    rows
}

/// Every verb: another user than root, no capabilities, no new ones, and a filter of system calls.
#[test]
fn every_verb_gives_up_its_rights() {
    let Some(namespaces) = Namespaces::new("rights") else {
        return;
    };
    let folder = Folder::new("rights");
    let parquet = folder.path("flows");
    let verbs: [(usize, Vec<&str>, &str); 7] = [
        (2, vec!["reflect", "--port=8620"], "listening"),
        (
            1,
            vec!["emulate", "a0", "b0", "--prometheus=0"],
            "forwarding",
        ),
        // Longer than the whole test on a busy machine.
        (
            0,
            vec![
                "probe",
                "10.99.0.2:8620",
                "--duration=600",
                "--beyond-limits",
            ],
            "",
        ),
        (
            0,
            vec!["watch", "eth0", "--interval=0.3", "--prometheus=0"],
            "watching",
        ),
        (
            2,
            vec![
                "watch",
                "eth0",
                "--interval=0.1",
                "--parquet",
                &parquet,
                "--threads=4",
            ],
            "watching",
        ),
        (2, vec!["live", "eth0"], "sorting"),
        (1, vec!["live", "a0", "b0"], "sorting"),
    ];
    let mut emulating = None;
    let mut kept = Vec::new();
    println!("verb: uid gid permitted effective bounding no-new-privileges seccomp");
    for (namespace, arguments, said) in verbs {
        if arguments[..3.min(arguments.len())] == ["live", "a0", "b0"] {
            // Two that forward the same frames are refused.
            drop(emulating.take().map(|running: Running| running.end("INT")));
        }
        if arguments == ["live", "eth0"] && !Path::new("/dev/net/tun").exists() {
            common::skipped("live eth0: there is no /dev/net/tun");
            continue;
        }
        let running = namespaces.start(namespace, &arguments);
        if !said.is_empty() {
            running.expect(said);
        }
        let none = "0000000000000000";
        let expected = format!("65534 65534 {none} {none} {none} 1 2");
        let rows = settled(&running, &expected);
        assert!(!rows.is_empty(), "{arguments:?} has ended");
        for row in &rows {
            println!("{} {}: {row}", arguments[0], arguments.len());
            assert_eq!(*row, expected, "{arguments:?}");
        }
        match arguments[0] {
            "emulate" => emulating = Some(running),
            _ => kept.push((arguments[0].to_owned(), running)),
        }
    }
    for (verb, running) in kept {
        let ended = running.end("INT");
        let expected = if verb == "probe" { 130 } else { 0 };
        assert_eq!(code(&ended), expected, "{verb}");
    }
    let written = fs::read_dir(&parquet).expect("a folder").flatten().count();
    assert!(written > 2, "{written} files");
    let metadata = fs::metadata(folder.path("flows/flows-00000.parquet")).expect("a file");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&metadata), 65_534);
}

/// Processor time that a process has used, in ticks of 10 ms.
fn ticks(running: &Running) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", running.child.id())).expect("it runs");
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let times = rest.split_whitespace().skip(11).take(2);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

/// It waits without using the processor.
fn waits(running: &Running) {
    let before = ticks(running);
    std::thread::sleep(Duration::from_secs(2));
    let used = ticks(running) - before;
    assert!(used < 40, "{used} of 200 ticks while nothing happened");
}

#[test]
fn forwarding_goes_on_when_an_interface_is_back() {
    let Some(namespaces) = Namespaces::new("back") else {
        return;
    };
    for verb in [
        &["emulate", "a0", "b0", "--json"][..],
        &["live", "a0", "b0", "--json"],
    ] {
        let running = namespaces.start(1, verb);
        running.expect("between a0 and b0");
        assert!(namespaces.can_ping(), "{verb:?}");
        assert!(namespaces.ip_in(1, &["link", "set", "a0", "down"]));
        running.expect("a0: is down");
        waits(&running);
        assert!(namespaces.ip_in(1, &["link", "set", "a0", "up"]));
        running.expect("a0: is up again");
        assert!(namespaces.can_ping(), "{verb:?}: after it was down");
        assert!(namespaces.ip_in(1, &["link", "del", "a0"]));
        running.expect("a0: has gone");
        waits(&running);
        assert!(namespaces.connect(0));
        running.expect("a0: is up again");
        assert!(namespaces.can_ping(), "{verb:?}: after it had gone");
        // SIGTERM, by which service managers end a program, is as good as Ctrl-C.
        let ended = running.end("TERM");
        assert_eq!(code(&ended), 0, "{verb:?}");
        let sent = if verb[0] == "live" {
            "sent"
        } else {
            "delivered"
        };
        let frames = json(&ended)["directions"][0][sent].as_u64();
        assert!(
            frames.is_some_and(|frames| frames >= 9),
            "{verb:?}: {frames:?}"
        );
    }
}

#[test]
fn watching_goes_on_when_the_interface_is_back() {
    let Some(namespaces) = Namespaces::new("watch") else {
        return;
    };
    let emulating = namespaces.start(1, &["emulate", "a0", "b0"]);
    emulating.expect("forwarding");
    let running = namespaces.start(0, &["watch", "eth0", "--interval=0.2", "--json"]);
    running.expect("watching");
    assert!(namespaces.can_ping());
    assert!(namespaces.ip_in(0, &["link", "set", "eth0", "down"]));
    running.expect("eth0: is down");
    waits(&running);
    assert!(namespaces.ip_in(0, &["link", "set", "eth0", "up"]));
    running.expect("eth0: is up again");
    assert!(namespaces.can_ping());
    assert!(namespaces.ip_in(0, &["link", "del", "eth0"]));
    running.expect("eth0: has gone");
    waits(&running);
    assert!(namespaces.connect(0));
    running.expect("eth0: is up again");
    emulating.expect("a0: is up again");
    assert!(namespaces.can_ping());
    let ended = running.end("INT");
    // Three times three pings with their answers.
    let frames = json(&ended)["frames"].as_u64().unwrap_or(0);
    assert!(frames >= 18, "{frames}");
    emulating.end("INT");
}

/// A disk of 64 KiB.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(name: &str) -> Option<SmallDisk> {
        let folder = std::env::temp_dir().join(format!("inorder-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "none"])
            .arg(&folder)
            .output();
        if !mount.is_ok_and(|done| done.status.success()) {
            common::skipped("no disk can be mounted");
            return None;
        }
        Some(SmallDisk(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn watching_goes_on_while_the_disk_is_full() {
    let Some(namespaces) = Namespaces::new("full") else {
        return;
    };
    let Some(disk) = SmallDisk::new("full") else {
        return;
    };
    let filling = disk.0.join("filling");
    fs::write(&filling, vec![0; 64 << 10]).expect("it has just this room");
    let flows = disk.0.join("flows");
    let folder = flows.to_str().expect("a name of letters");
    let running = namespaces.start(
        0,
        &[
            "watch",
            "lo",
            "--interval=0.2",
            "--json",
            "--parquet",
            folder,
        ],
    );
    running.expect("watching");
    running.expect("No space left on device (os error 28); watching goes on");
    fs::remove_file(&filling).expect("it is there");
    running.expect("files are written again");
    let ended = running.end("INT");
    assert_eq!(code(&ended), 1);
    let unwritten = json(&ended)["unwritten"].as_u64();
    assert!(unwritten.is_some_and(|unwritten| unwritten > 0));
    // The files of the intervals are whole or not there.
    for file in fs::read_dir(&flows).expect("a folder").flatten() {
        let bytes = fs::read(file.path()).expect("readable");
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{file:?}"
        );
    }
}

/// What was taken before the kernel cannot be taken again without the privileges of the start: it says so and ends.
#[test]
fn what_sorts_before_the_kernel_ends_with_its_interface() {
    let Some(namespaces) = Namespaces::new("gone") else {
        return;
    };
    let running = namespaces.start(0, &["live", "eth0", "--json"]);
    let first = running.expect("");
    if !first.contains("sorting what eth0") {
        return common::skipped("this kernel has no AF_XDP, XDP on veth or TUN");
    }
    assert!(namespaces.ip_in(0, &["link", "set", "eth0", "down"]));
    running.expect("eth0: is down");
    waits(&running);
    assert!(namespaces.ip_in(0, &["link", "set", "eth0", "up"]));
    running.expect("eth0: is up again");
    assert!(namespaces.ip_in(0, &["link", "del", "eth0"]));
    let said = running.expect("eth0: has gone");
    assert!(said.contains("start anew"), "{said}");
    let ended = running.end("0");
    assert_eq!(
        (code(&ended), &json(&ended)["directions"][0]["unsent"]),
        (1, &0.into())
    );
}

/// With two that forward the same frames, every frame would be doubled.
#[test]
fn a_pair_of_interfaces_is_forwarded_once() {
    let Some(namespaces) = Namespaces::new("once") else {
        return;
    };
    let running = namespaces.start(1, &["emulate", "a0", "b0"]);
    running.expect("forwarding");
    for other in [&["emulate", "b0", "a0"], &["live", "a0", "b0"]] {
        let refused = namespaces
            .inside(1, &[env!("CARGO_BIN_EXE_inorder")])
            .args(other)
            .output()
            .expect("ip runs");
        assert_eq!(code(&refused), 1);
        says(stderr(&refused), "another process of inorder");
    }
    running.end("INT");
    let next = namespaces.start(1, &["live", "a0", "b0"]);
    next.expect("sorting between");
    next.end("INT");
}
