//! The verbs on live interfaces, as far as they need neither root nor another machine.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::says;
use crate::common::{self, code, complaint, inorder, interrupt, json, stderr, stdout};
use crate::namespaces::Namespaces;

/// `inorder reflect` on a free port of this machine; it ends with this value.
struct Reflector {
    child: Child,
    address: String,
}

impl Reflector {
    fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(["reflect", "--port", "0"])
            .args(
                match options.iter().any(|word| word.starts_with("--address")) {
                    true => &[][..],
                    false => &["--address", "127.0.0.1"],
                },
            )
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut first = String::new();
        let mut lines = BufReader::new(child.stderr.as_mut().expect("piped"));
        lines.read_line(&mut first).expect("text");
        let address = first.trim().rsplit(' ').next().expect("an address");
        Reflector {
            address: address.to_owned(),
            child,
        }
    }

    /// Interrupts it and returns its exit code.
    fn stop(mut self) -> Option<i32> {
        interrupt(&self.child);
        self.child.wait().expect("the command ends").code()
    }
}

/// Who reads that it runs may send Ctrl-C at once; a signal that is not handled yet would be lost where the parent ignores it.
#[test]
fn once_it_says_that_it_runs_ctrl_c_is_handled() {
    for _ in 0..10 {
        let reflector = Reflector::start(&[]);
        assert!(common::catches_interrupt(&reflector.child));
        assert_eq!(reflector.stop(), Some(0));
    }
}

#[test]
fn both_directions_of_the_loopback_are_in_order() {
    let reflector = Reflector::start(&[]);
    let options = [
        "--rate=1000",
        "--burst=10",
        "--duration=0.1",
        "--size=200",
        "--json",
    ];
    let output = inorder(&[&["probe", reflector.address.as_str()], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = json(&output);
    let directions = found["directions"].as_array().expect("an array");
    let facts = |name: &str| -> Vec<u64> {
        let values = directions
            .iter()
            .map(|d| d[name].as_u64().expect("a count"));
        values.collect()
    };
    assert_eq!(facts("sent"), [100, 100, 100]);
    assert_eq!(facts("received"), [100, 100, 100]);
    assert_eq!(facts("reordered"), [0, 0, 0]);
    let csv = inorder(&["probe", &reflector.address, "--duration=0.02", "--csv"]);
    assert_eq!(stdout(&csv).lines().count(), 4);
    assert_eq!(reflector.stop(), Some(0));
}

#[test]
fn a_flood_is_not_answered() {
    let reflector = Reflector::start(&["--max-rate=50"]);
    let options = ["--rate=1000", "--duration=0.1", "--wait=0.1", "--json"];
    let output = inorder(&[&["probe", reflector.address.as_str()], &options[..]].concat());
    let found = json(&output);
    let round_trip = found["directions"].as_array().and_then(|all| all.last());
    let received = round_trip.expect("a direction")["received"].as_u64();
    let received = received.expect("a count");
    // A tenth of a second at 50 per second, and a bucket of as much; a slow machine may take longer.
    assert!((1..100).contains(&received), "{received}");
}

#[test]
fn a_probe_without_a_reflector_says_so() {
    let message = complaint(
        &["probe", "127.0.0.1:9", "--duration=0.05", "--wait=0.1"],
        1,
    );
    assert!(message.contains("no reflector answers there"), "{message}");
    let message = complaint(&["probe", "127.0.0.1", "--rate=5000"], 2);
    assert!(message.contains("--beyond-limits"), "{message}");
}

/// A host with several addresses answers from the one that was asked: from another one the answer would not be taken.
#[test]
fn answers_come_from_the_address_that_was_asked() {
    let reflector = Reflector::start(&["--address=::"]);
    let port = reflector.address.rsplit(':').next().expect("a port");
    for address in ["127.0.0.2", "127.0.0.1", "[::1]"] {
        let peer = format!("{address}:{port}");
        let output = inorder(&["probe", &peer, "--duration=0.05", "--wait=2", "--json"]);
        assert_eq!(code(&output), 0, "{peer}: {}", stderr(&output));
        assert_eq!(json(&output)["directions"][0]["received"], 5, "{peer}");
    }
    assert_eq!(reflector.stop(), Some(0));
}

/// A probe of which nothing comes back has measured nothing.
#[test]
fn a_probe_without_an_answer_fails() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let peer = silent.local_addr().expect("an address").to_string();
    let output = inorder(&["probe", &peer, "--duration=0.05", "--wait=0.05", "--json"]);
    assert_eq!(code(&output), 1);
    assert_eq!(json(&output)["directions"][0]["lost"], 5);
    says(stderr(&output), "nothing was answered");
}

#[test]
fn a_duration_is_a_number_of_seconds() {
    for wrong in ["nan", "inf", "-1", "1e300"] {
        let message = complaint(&["watch", "lo", &format!("--duration={wrong}")], 2);
        assert!(message.contains("expected seconds"), "{message}");
    }
    // A time with a unit, as all other options take it; the interface is what is wrong then.
    for option in ["--duration=1s", "--interval=1m", "--interval=500ms"] {
        let message = complaint(&["watch", "no-such-interface", option], 1);
        assert!(message.contains("no such interface"), "{message}");
    }
}

impl Drop for Reflector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_loopback_interface_is_refused() {
    for arguments in [
        vec!["live", "lo"],
        vec!["live", "lo", "eth0"],
        vec!["emulate", "lo", "eth0"],
    ] {
        let run = inorder(&arguments);
        if stderr(&run).contains("no such interface") {
            return common::skipped("there is no interface lo");
        }
        assert_ne!(code(&run), 0);
        let said = stderr(&run);
        let expected = "lo: this is the loopback interface; expected one with Ethernet's frames";
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn frames_pass_between_two_interfaces() {
    let Some(namespaces) = Namespaces::new("pass") else {
        return;
    };
    let emulated = namespaces.ping_through(&["emulate", "a0", "b0", "--delay=2 ms"]);
    let delivered = emulated["directions"][0]["delivered"].as_u64();
    assert!(delivered.is_some_and(|packets| packets >= 3), "{emulated}");
    let sorted = namespaces.ping_through(&["live", "a0", "b0", "--sorter=resequence"]);
    assert_eq!(sorted["directions"][0]["held"], 0, "{sorted}");
}

/// IPv6, neighbour discovery, ARP, UDP, ICMP and fragments are unchanged behind an emulator and both kinds of sorters.
#[test]
fn what_cannot_be_sorted_is_untouched() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let named = ["bash", "ip", "ping", "python3", "ss", "sysctl"];
    let Some(programs) = common::needs(&named) else {
        return;
    };
    let tried = programs
        .command("bash")
        .args(["validation/live/run", "quick"])
        .current_dir(root)
        .env("INORDER", env!("CARGO_BIN_EXE_inorder"))
        .output()
        .expect("bash runs");
    for line in stdout(&tried).lines() {
        if let Some((_, why)) = line.split_once("skipped: ") {
            common::skipped(why);
        }
    }
    assert_eq!(code(&tried), 0, "{}{}", stdout(&tried), stderr(&tried));
}

#[test]
fn what_an_interface_receives_is_sorted_and_watched() {
    let Some(namespaces) = Namespaces::new("in") else {
        return;
    };
    // Pings are no TCP: they pass by the sorter, and the interface works on.
    let mut sorting = namespaces
        .inside(2, &[env!("CARGO_BIN_EXE_inorder")])
        .args(["live", "eth0", "--duration=3", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let forwarded = namespaces.ping_through(&["emulate", "a0", "b0"]);
    assert_eq!(forwarded["directions"][0]["unsent"], 0, "{forwarded}");
    let ended = sorting.wait().expect("the command ends");
    if !ended.success() {
        common::skipped("this kernel has no AF_XDP, XDP on veth or TUN");
    }
    let watched = namespaces
        .inside(0, &[env!("CARGO_BIN_EXE_inorder")])
        .args([
            "watch",
            "eth0",
            "--duration=0.3",
            "--interval=0.1",
            "--json",
        ])
        .output()
        .expect("ip runs");
    assert_eq!(json(&watched)["intervals"], 3, "{}", stderr(&watched));
}
