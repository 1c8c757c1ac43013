//! The language, statement by statement, and text that is not in the language.

use inorder_packetdrill::script::{Call, Moment, Packet, TcpOption, Value, What, When};
use inorder_packetdrill::{ParseError, parse};
use proptest::prelude::*;

const SAMPLE: &str = r#"// A comment.
--tolerance_usecs=20000   // generous
`sysctl -q net.ipv4.tcp_sack=0
sysctl -q net.ipv4.tcp_timestamps=1`

0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3   # another
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 100 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.01~+.02 > P. 1:1001(1000) ack 1 <nop,nop,sack 2001:3001 5001:6001>
+0...0.2 read(4, ..., 1000) = -1 EAGAIN (Resource temporarily unavailable)
+0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
* > . 1:1(0) ack 2
"#;

#[test]
fn every_statement_of_the_sample_is_parsed() {
    let script = parse(SAMPLE).expect("reads");
    assert_eq!(script.options[0].name, "tolerance_usecs");
    assert_eq!(script.options[0].value, "20000");
    let lines: Vec<_> = script.events.iter().map(|e| e.line).collect();
    assert_eq!(lines, [3, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    assert!(matches!(&script.events[0].what, What::Command(c) if c.lines().count() == 2));
    assert_eq!(script.events[0].when, When::Same);
}

#[test]
fn segments_with_options() {
    let script = parse(SAMPLE).expect("reads");
    let What::Inject(syn) = &script.events[3].what else {
        panic!("a segment")
    };
    let wanted = Packet {
        syn: true,
        window: Some(32792),
        options: Some(vec![
            TcpOption::Mss(1000),
            TcpOption::SackPermitted,
            TcpOption::Timestamps {
                value: Some(100),
                echo: Some(0),
            },
            TcpOption::Nop,
            TcpOption::WindowScale(7),
        ]),
        ..Packet::default()
    };
    assert_eq!(syn, &wanted);
    let What::Expect(data) = &script.events[5].what else {
        panic!("a segment")
    };
    assert_eq!(
        (data.seq, data.len, data.ack, data.psh, data.ack_flag),
        (1, 1000, Some(1), true, true)
    );
    let blocks = TcpOption::Sack(vec![(2001, 3001), (5001, 6001)]);
    assert_eq!(
        data.options,
        Some(vec![TcpOption::Nop, TcpOption::Nop, blocks])
    );
    let When::Between(from, to) = script.events[5].when else {
        panic!("a range")
    };
    assert_eq!(
        (from, to),
        (Moment::Relative(10_000_000), Moment::Relative(20_000_000))
    );
}

#[test]
fn calls_with_results() {
    let script = parse(SAMPLE).expect("reads");
    assert_eq!(script.events[6].until, Some(Moment::Absolute(200_000_000)));
    let read = Call {
        name: "read".to_owned(),
        arguments: vec![Value::Integer(4), Value::Ellipsis, Value::Integer(1000)],
        result: Some(-1),
        errno: Some("EAGAIN".to_owned()),
    };
    assert_eq!(script.events[6].what, What::Call(read));
    let What::Call(poll) = &script.events[8].what else {
        panic!("a call")
    };
    let Value::List(list) = &poll.arguments[0] else {
        panic!("a list")
    };
    let Value::Struct(fields) = &list[0] else {
        panic!("a structure")
    };
    assert_eq!(
        fields[1],
        (
            "events".to_owned(),
            Value::Name("POLLIN|POLLOUT".to_owned())
        )
    );
}

#[test]
fn other_protocols_are_unsupported_not_wrong() {
    let script =
        parse("+0 < icmp unreachable frag_needed mtu 1200\n+0 > . 1:1(0) ack 1\n").expect("reads");
    assert!(matches!(&script.events[0].what, What::Unsupported(_)));
    assert!(matches!(&script.events[1].what, What::Expect(_)));
}

#[test]
fn errors_contain_line_and_expectation() {
    let error = |text: &str| parse(text).expect_err("wrong");
    let ParseError { line, expected, .. } =
        error("0 socket(..., A, B) = 3\n\n+0 < S 0:5(0) win 1\n");
    assert_eq!(
        (line, expected.as_str()),
        (3, "an end that is start plus length")
    );
    assert_eq!(
        error("+0 < X 0:0(0)").expected,
        "TCP flags of SFPRUEWA. or the ACE field as a number"
    );
    assert_eq!(
        error("+0 close(4) 0").to_string(),
        "line 1: expected `=`, found `0`"
    );
    assert_eq!(error("soon close(4) = 0").expected, "a time in seconds");
    assert_eq!(
        error("/* no end").expected,
        "`*/` at the end of the comment"
    );
    assert!(parse(&format!("+0 f({}", "[".repeat(100_000))).is_err());
    // A script without statements cannot fail, so it must not pass.
    for nothing in ["", "// a remark\n", "--mtu=1500\n"] {
        assert_eq!(error(nothing).expected, "a statement");
    }
}

proptest! {
    /// Parsing a damaged script ends with a script or an error.
    #[test]
    fn damaged_text_never_panics(at in 0..SAMPLE.len(), length in 0..40_usize, with in "\\PC{0,6}") {
        let end = (at + length).min(SAMPLE.len());
        if SAMPLE.is_char_boundary(at) && SAMPLE.is_char_boundary(end) {
            let text = format!("{}{with}{}", &SAMPLE[..at], &SAMPLE[end..]);
            let _ = parse(&text);
        }
    }
}
