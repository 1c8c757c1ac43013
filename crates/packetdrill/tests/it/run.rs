//! Running scripts: errors are found where they occur, and scripts that are not understood never pass.

use std::fs;
use std::path::Path;

use inorder_packetdrill::code::{self, Statement};
use inorder_packetdrill::script::{Moment, Script, What, When};
use inorder_packetdrill::table::{self, Row, Summary};
use inorder_packetdrill::{Options, Outcome, Verdict, parse, run, run_text};
use inorder_tcp::profiles;

const OPTIONS: Options<'static> = Options {
    profile: &profiles::PROFILES[0],
    set: &[],
    tolerance: None,
    trace: false,
};

const OPEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.1 < . 1:1(0) ack 1 win 60000
+0 accept(3, ..., ...) = 4
";

/// The result of a connection that continues with `rest`, whose first line is line 8.
fn outcome(rest: &str) -> Outcome {
    run_text(&format!("{OPEN}{rest}\n"), &OPTIONS)
}

fn failure(rest: &str) -> (usize, String) {
    let outcome = outcome(rest);
    assert_eq!(outcome.verdict, Verdict::Failed, "{outcome:?}");
    (
        outcome.findings[0].line,
        outcome.findings[0].message.clone(),
    )
}

fn unsupported(rest: &str) -> String {
    let outcome = outcome(rest);
    assert_eq!(outcome.verdict, Verdict::Unsupported, "{outcome:?}");
    outcome.findings[0].message.clone()
}

#[test]
fn a_wrong_packet_is_shown_beside_the_expected_one() {
    let (line, message) = failure("+0 write(4, ..., 500) = 500\n+0 > P. 1:401(400) ack 2 <sackOK>");
    assert_eq!(line, 9);
    assert_eq!(
        message,
        "wrong length, acknowledgement number, options\n  expected: 0.100000 P. 1:401(400) ack 2 <sackOK>\n  \
         actual:   0.100000 P. 1:501(500) ack 1 win 64240"
    );
}

#[test]
fn a_missing_packet_is_reported_at_its_time() {
    let (line, message) = failure("+.2 > . 1:1(0) ack 1");
    assert_eq!(
        (line, message.lines().next()),
        (8, Some("nothing was sent until 0.304000"))
    );
}

#[test]
fn times_may_differ_by_the_tolerance_and_no_more() {
    let data = "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n";
    // The timeout happens after 100 ms and 200 ms.
    for (when, verdict) in [
        ("+.300", Verdict::Passed),
        ("+.304", Verdict::Passed),
        ("+.296", Verdict::Passed),
        ("+.305", Verdict::Failed),
        ("+.295", Verdict::Failed),
        ("+.2~+.4", Verdict::Passed),
        ("*", Verdict::Passed),
        (".4", Verdict::Passed),
        (".45", Verdict::Failed),
    ] {
        let outcome = outcome(&format!("{data}{when} > P. 1:1001(1000) ack 1"));
        assert_eq!(outcome.verdict, verdict, "{when}: {:?}", outcome.findings);
    }
}

#[test]
fn wrong_results_of_calls_are_failures() {
    assert_eq!(
        failure("+0 write(4, ..., 500) = 400").1,
        "write: expected 400, returned 500"
    );
    assert_eq!(
        failure("+0 read(5, ..., 500) = 0").1,
        "read: expected 0, returned -1 EBADF"
    );
    assert_eq!(
        failure("+0 fcntl(4, F_SETFL, O_NONBLOCK) = 0\n+0 read(4, ..., 1) = -1 EINVAL (text)").1,
        "read: expected -1 EINVAL, returned -1 EAGAIN"
    );
    assert_eq!(
        failure("+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [104], [4]) = 0").1,
        "SO_ERROR: expected 104, found 0"
    );
}

#[test]
fn blocking_calls_return_when_they_can() {
    let data = "+.1 < P. 1:101(100) ack 1 win 60000";
    assert_eq!(
        outcome(&format!("+0...0.1 read(4, ..., 500) = 100\n{data}")).verdict,
        Verdict::Passed
    );
    let (line, message) = failure(&format!("+0...0.2 read(4, ..., 500) = 100\n{data}"));
    assert_eq!(
        (line, message.as_str()),
        (9, "call of line 8: returned at 0.200000, expected 0.300000")
    );
    assert_eq!(
        failure("+0 read(4, ..., 500) = 100").1,
        "the call does not return"
    );
}

#[test]
fn false_assertions_report_their_values() {
    let (line, message) = failure("+0 %{ assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd }%");
    assert_eq!(
        (line, message.as_str()),
        (8, "assertion tcpi_snd_cwnd == 11: 10")
    );
}

#[test]
fn unsupported_scripts_never_pass() {
    assert_eq!(unsupported("+0 mmap(4) = 5"), "call mmap");
    assert_eq!(unsupported("+0 `rm file`"), "command `rm file`");
    assert_eq!(
        unsupported("+0 setsockopt(4, SOL_TCP, TCP_ULP, [1], 4) = 0"),
        "setsockopt SOL_TCP TCP_ULP"
    );
    assert_eq!(
        unsupported("+0 < icmp unreachable host_unreachable"),
        "packet of kind icmp"
    );
    assert_eq!(unsupported("+0 < U. 1:1(0) ack 1 win 10"), "urgent data");
    assert_eq!(
        unsupported("+0 %{ assert tcpi_colour == 1 }%"),
        "unknown name tcpi_colour"
    );
    assert_eq!(
        unsupported("+0 %{ import os }%"),
        "unsupported code at `import os`"
    );
    // Nothing after it is judged.
    let outcome = outcome("+0 `rm file`\n+0 > . 7:7(0) ack 7\n+0 < icmp x");
    let lines: Vec<_> = outcome
        .findings
        .iter()
        .map(|f| (f.line, f.verdict))
        .collect();
    assert_eq!(
        lines,
        [(8, Verdict::Unsupported), (10, Verdict::Unsupported)]
    );
}

#[test]
fn exit_status_and_table() {
    let row = |file: &str, outcome| Row {
        file: file.to_owned(),
        outcome,
    };
    let good = || row("good.pkt", outcome(""));
    let odd = || row("odd.pkt", outcome("+0 `rm file`"));
    let bad = || row("bad.pkt", run_text("soon\n", &OPTIONS));
    assert_eq!(Summary::of(&[good()]).exit_status(), 0);
    assert_eq!(Summary::of(&[good(), odd()]).exit_status(), 2);
    assert_eq!(Summary::of(&[good(), odd(), bad()]).exit_status(), 1);
    assert_eq!(
        table::text(&[good(), odd(), bad()]),
        "good.pkt  passed\nodd.pkt   unsupported\n    odd.pkt:8: unsupported: command `rm file`\n\
         bad.pkt   failed\n    bad.pkt:1: expected a time in seconds, found `soon`\n\
         3 scripts: 1 passed, 1 failed, 1 unsupported\n"
    );
    let json = table::json(&[good(), odd()]).expect("plain data");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["summary"]["unsupported"], 1);
    assert_eq!(json["scripts"][1]["findings"][0]["line"], 8);
}

fn scripts() -> Vec<(String, Script)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    fs::read_dir(folder)
        .expect("the folder of the scripts")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a readable script");
            (path.display().to_string(), parse(&text).expect("a script"))
        })
        .collect()
}

/// Our scripts pass. To show that this is meaningful, each of their expectations must be able to fail.
#[test]
fn every_expectation_of_our_scripts_can_fail() {
    let mut tried = 0;
    for (file, script) in scripts() {
        for index in 0..script.events.len() {
            for change in [
                wrong_sequence,
                wrong_length,
                wrong_time,
                wrong_ack,
                wrong_result,
                wrong_count,
                denied,
            ] {
                let mut changed = script.clone();
                if !change(&mut changed, index) {
                    continue;
                }
                tried += 1;
                let line = script.events[index].line;
                let outcome = run(&changed, &OPTIONS);
                assert_eq!(outcome.verdict, Verdict::Failed, "{file}:{line}");
                assert!(outcome.findings[0].line >= line, "{file}:{line}");
            }
        }
    }
    assert!(tried > 1000, "{tried} changes");
}

fn wrong_sequence(script: &mut Script, index: usize) -> bool {
    match &mut script.events[index].what {
        // The SYN's sequence number is the endpoint's configured start.
        What::Expect(packet) if !packet.syn => packet.seq = packet.seq.wrapping_add(1),
        _ => return false,
    }
    true
}

fn wrong_length(script: &mut Script, index: usize) -> bool {
    match &mut script.events[index].what {
        What::Expect(packet) => packet.len += 1,
        _ => return false,
    }
    true
}

fn wrong_ack(script: &mut Script, index: usize) -> bool {
    match &mut script.events[index].what {
        What::Expect(packet) => match &mut packet.ack {
            Some(ack) => *ack = ack.wrapping_add(1),
            None => return false,
        },
        _ => return false,
    }
    true
}

fn wrong_result(script: &mut Script, index: usize) -> bool {
    // The script chooses the descriptors that `socket` and its like return.
    const TELLING: [&str; 8] = [
        "read",
        "recv",
        "recvmsg",
        "write",
        "send",
        "sendmsg",
        "poll",
        "epoll_wait",
    ];
    let What::Call(call) = &mut script.events[index].what else {
        return false;
    };
    if !TELLING.contains(&call.name.as_str()) {
        return false;
    }
    call.result = call.result.map(|result| result + 1);
    call.result.is_some()
}

fn wrong_count(script: &mut Script, index: usize) -> bool {
    let What::Command(text) = &mut script.events[index].what else {
        return false;
    };
    if !text.starts_with("sockstat") {
        return false;
    }
    text.push('7');
    true
}

fn wrong_time(script: &mut Script, index: usize) -> bool {
    let event = &mut script.events[index];
    match (&event.what, &mut event.when) {
        (What::Expect(_), When::At(Moment::Relative(ns) | Moment::Absolute(ns))) => {
            *ns += 20_000_000;
        }
        _ => return false,
    }
    true
}

fn denied(script: &mut Script, index: usize) -> bool {
    let What::Code(text) = &mut script.events[index].what else {
        return false;
    };
    let Ok(statements) = code::read(text) else {
        return false;
    };
    let [
        Statement::Assert {
            text: condition, ..
        },
    ] = statements.as_slice()
    else {
        return false;
    };
    *text = format!("assert not ({condition})");
    true
}
