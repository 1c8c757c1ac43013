//! Three namespaces in a row, in which verbs run on virtual interfaces.

// Each test file uses only some of these functions.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::common::{self, Programs, interrupt, json};

/// Two namespaces with a third one between them, in which a verb forwards. They end with this value.
pub(crate) struct Namespaces {
    names: Vec<String>,
    programs: Programs,
}

impl Namespaces {
    /// `None`, with the reason printed, if this machine does not allow it.
    pub(crate) fn new(tag: &str) -> Option<Self> {
        let name = |role: &str| format!("inorder-{}-{tag}-{role}", std::process::id());
        let made = Namespaces {
            names: ["left", "middle", "right"].map(name).to_vec(),
            programs: common::needs(&["ip", "ping"])?,
        };
        for namespace in &made.names {
            if !made.ip(&["netns", "add", namespace]) {
                common::skipped("cannot make network namespaces (this needs root)");
                return None;
            }
            made.ip(&["-n", namespace, "link", "set", "dev", "lo", "up"]);
        }
        for side in [0, 2] {
            if !made.connect(side) {
                common::skipped("cannot make pairs of virtual interfaces (veth)");
                return None;
            }
        }
        Some(made)
    }

    /// Connects the left (0) or the right side (2) with the middle, where the interface is `a0` or `b0`. It is eth0 there.
    pub(crate) fn connect(&self, side: usize) -> bool {
        let (address, link) = match side {
            0 => ("10.99.0.1/24", "a0"),
            _ => ("10.99.0.2/24", "b0"),
        };
        let (end, middle) = (self.names[side].as_str(), self.names[1].as_str());
        let pair = [
            "link", "add", "eth0", "netns", end, "type", "veth", "peer", "name", link, "netns",
            middle,
        ];
        let commands: [&[&str]; 4] = [
            &pair,
            &["-n", end, "addr", "add", address, "dev", "eth0"],
            &["-n", end, "link", "set", "dev", "eth0", "up"],
            &["-n", middle, "link", "set", "dev", link, "up"],
        ];
        commands.into_iter().all(|line| self.ip(line))
    }

    /// `ip` in one of the namespaces.
    pub(crate) fn ip_in(&self, namespace: usize, arguments: &[&str]) -> bool {
        self.ip(&[&["-n", &self.names[namespace]], arguments].concat())
    }

    /// True if the left side's pings to the right one are answered.
    pub(crate) fn can_ping(&self) -> bool {
        let ping = ["ping", "-c", "3", "-i", "0.2", "-W", "5", "10.99.0.2"];
        let answered = self.inside(0, &ping).output().expect("ip runs");
        String::from_utf8_lossy(&answered.stdout).contains(" 3 received")
    }

    /// Starts the command in a namespace.
    pub(crate) fn start(&self, namespace: usize, arguments: &[&str]) -> Running {
        let mut child = self
            .inside(namespace, &[env!("CARGO_BIN_EXE_inorder")])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let (sender, said) = std::sync::mpsc::channel();
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Running { child, said }
    }

    /// Runs a verb in the middle while the left side pings the right one three times; returns the JSON of the verb.
    pub(crate) fn ping_through(&self, verb: &[&str]) -> serde_json::Value {
        let mut child = self
            .inside(1, &[env!("CARGO_BIN_EXE_inorder")])
            .args(verb)
            .args(["--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut first = String::new();
        let mut lines = BufReader::new(child.stderr.as_mut().expect("piped"));
        lines.read_line(&mut first).expect("text");
        let ping = ["ping", "-c", "3", "-i", "0.2", "-W", "5", "10.99.0.2"];
        let answered = self.inside(0, &ping).output().expect("ip runs");
        let text = String::from_utf8_lossy(&answered.stdout).into_owned();
        interrupt(&child);
        let output = child.wait_with_output().expect("the command ends");
        assert!(text.contains(" 3 received"), "{verb:?}: {first}{text}");
        json(&output)
    }

    /// A command in one of the namespaces.
    pub(crate) fn inside(&self, namespace: usize, words: &[&str]) -> Command {
        let mut command = self.programs.command("ip");
        command
            .args(["netns", "exec", &self.names[namespace]])
            .args(words);
        command
    }

    pub(crate) fn ip(&self, arguments: &[&str]) -> bool {
        let mut command = self.programs.command("ip");
        command.args(arguments).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for namespace in &self.names {
            self.ip(&["netns", "del", namespace]);
        }
    }
}

/// A command that runs, and what it says on its standard error.
pub(crate) struct Running {
    pub child: Child,
    said: Receiver<String>,
}

impl Running {
    /// Waits for a line with these words. A busy machine may take long.
    pub(crate) fn expect(&self, words: &str) -> String {
        let mut all = String::new();
        while let Ok(line) = self.said.recv_timeout(Duration::from_secs(30)) {
            if line.contains(words) {
                return line;
            }
            all = all + &line + "\n";
        }
        panic!("expected {words:?}, found {all:?}");
    }

    /// Sends a signal, and returns what the command prints until it ends.
    pub(crate) fn end(mut self, signal: &str) -> Output {
        let kill = format!("kill -{signal} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{kill}");
        let mut pipe = self.child.stdout.take().expect("piped");
        let (sender, printed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut stdout = Vec::new();
            let _ = sender.send(pipe.read_to_end(&mut stdout).map(|_| stdout));
        });
        let stdout = printed.recv_timeout(Duration::from_secs(60));
        let stdout = stdout.unwrap_or_else(|_| panic!("goes on for 60 s after SIG{signal}"));
        let stdout = stdout.expect("read");
        let status = self.child.wait().expect("the command ends");
        let said: Vec<String> = self.said.iter().collect();
        Output {
            status,
            stdout,
            stderr: said.join("\n").into_bytes(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
