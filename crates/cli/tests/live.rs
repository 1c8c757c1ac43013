//! The verbs on live interfaces, as far as they need neither root nor another machine.

#![cfg(target_os = "linux")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use common::{code, complaint, inorder, interrupt, json, stderr, stdout};

/// `inorder reflect` on a free port of this machine; it ends with this value.
struct Reflector {
    child: Child,
    address: String,
}

impl Reflector {
    fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
            .args(["reflect", "--address", "127.0.0.1", "--port", "0"])
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

impl Drop for Reflector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
