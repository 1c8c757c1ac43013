//! What one connection shows of its host is known of the others, where the capture can be read again.

use std::io::Cursor;
use std::path::PathBuf;

use inorder_capture::PcapWriter;
use inorder_pipeline::{Analysis, Analyzer, Config, Input};
use inorder_wire::{Frame, LinkType};

const LEN: u32 = 1_000;
const MS: i64 = 1_000_000;
/// How far the receiver, beside which the capture is made, is from the sender and back.
const ROUND_TRIP: i64 = 20 * MS;

/// A connection from one host, whose data passes each millisecond.
struct Connection {
    port: u16,
    begin_ns: i64,
    /// Since the SYN, when the client answers the SYN-ACK.
    answer_ns: i64,
    /// Data packets, of which those in `lost` are missing where they belong.
    packets: u32,
    lost: &'static [u32],
    /// What is sent again has an identification of its own.
    renews: bool,
}

impl Connection {
    /// The frames and their times: each lost packet comes a round trip later.
    fn frames(&self) -> Vec<(i64, Vec<u8>)> {
        let (syn, ack) = (0x02, 0x10);
        let mut frames = vec![
            (0, self.frame(true, 0, syn, 0)),
            (0, self.frame(false, 0, syn | ack, 0)),
            (self.answer_ns, self.frame(true, 1, ack, 0)),
        ];
        for n in 0..self.packets {
            let lost = self.lost.contains(&n);
            let ip_id = match lost && self.renews {
                true => n + ROUND_TRIP as u32 / MS as u32,
                false => n,
            };
            let wait = ROUND_TRIP + MS / 10;
            let at = self.answer_ns + i64::from(n) * MS + if lost { wait + MS } else { 0 };
            frames.push((at, self.frame(true, 2 + ip_id, ack, 1 + n * LEN)));
        }
        frames.iter_mut().for_each(|(at, _)| *at += self.begin_ns);
        frames
    }

    /// A frame over IPv4 that passed no router; data where there is a number of a first byte.
    fn frame(&self, forth: bool, ip_id: u32, flags: u8, seq: u32) -> Vec<u8> {
        let len = if seq > 0 { LEN as usize } else { 0 };
        let (host, server) = ([10, 0, 0, 9], [10, 0, 0, 1]);
        let (from, to) = if forth {
            (host, server)
        } else {
            (server, host)
        };
        let (sport, dport) = if forth {
            (self.port, 443)
        } else {
            (443, self.port)
        };
        let (seq, ttl) = match (forth, flags) {
            (true, 0x02) => (0, 54),
            (true, _) => (seq.max(1), 54),
            (false, _) => (0, 64),
        };
        // Both ends permit SACK.
        let options: &[u8] = if flags & 0x02 > 0 { &[4, 2, 1, 1] } else { &[] };
        let headers = 40 + options.len();
        let mut data = vec![0x45, 0];
        data.extend(((headers + len) as u16).to_be_bytes());
        data.extend((100 + ip_id as u16).to_be_bytes());
        data.extend([0x40, 0, ttl, 6, 0, 0]);
        data.extend([from, to].concat());
        data.extend([sport.to_be_bytes(), dport.to_be_bytes()].concat());
        data.extend(seq.to_be_bytes());
        data.extend(1_u32.to_be_bytes());
        data.extend([(headers as u8 - 20) << 2, flags, 0xff, 0xff, 0, 0, 0, 0]);
        data.extend(options);
        data.resize(headers + len, 7);
        data
    }
}

fn capture(connections: &[Connection]) -> Vec<u8> {
    let mut frames: Vec<_> = connections.iter().flat_map(Connection::frames).collect();
    frames.sort_by_key(|(at, _)| *at);
    let mut writer = PcapWriter::new(Vec::new(), LinkType::RAW, 2_000).unwrap();
    for (ts_ns, data) in &frames {
        let frame = Frame {
            ts_ns: *ts_ns,
            number: 0,
            link: LinkType::RAW,
            orig_len: data.len() as u32,
            data,
        };
        writer.write(&frame).unwrap();
    }
    writer.into_inner()
}

/// Late and lost packets of the second connection, read once and from a file.
fn told(name: &str, connections: &[Connection]) -> [(u64, u64); 2] {
    let bytes = capture(connections);
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, &bytes).unwrap();
    let analyzer = Analyzer::new().config(Config::default());
    let once = analyzer.run(Input::reader(name, Cursor::new(bytes)));
    let again = analyzer.run(&file);
    assert!(again.as_ref().unwrap() == &analyzer.threads(3).run(&file).unwrap());
    let second = |analysis: Analysis| {
        let flow = &analysis.flows[1];
        (flow.reordering.reordered, flow.originals.lost)
    };
    [second(once.unwrap()), second(again.unwrap())]
}

const LONG: &[u32] = &[30, 90, 150, 210, 270, 330];

fn connection(port: u16, lost: &'static [u32], renews: bool) -> Connection {
    Connection {
        port,
        begin_ns: i64::from(port) * MS,
        answer_ns: ROUND_TRIP,
        packets: 400,
        lost,
        renews,
    }
}

#[test]
fn what_a_host_keeps_is_lost_in_its_other_connections_too() {
    let keeps = |port, lost| connection(port, lost, false);
    assert_eq!(
        told("keeps.pcap", &[keeps(1, LONG), keeps(2, &[200])]),
        [(1, 0), (0, 1)]
    );
    let alone = [keeps(1, &[]), keeps(2, &[200])];
    assert_eq!(
        told("unknown.pcap", &alone),
        [(1, 0); 2],
        "nothing is shown"
    );
}

#[test]
fn a_slow_answer_to_the_handshake_is_no_round_trip() {
    let slow = Connection {
        answer_ns: 10 * ROUND_TRIP,
        ..connection(2, &[200], false)
    };
    let all = [connection(1, LONG, false), slow];
    // By its own round trip it came too soon for a retransmission. By that of the other connection it may be one.
    assert_eq!(told("slow.pcap", &all), [(1, 0), (0, 0)]);
}

#[test]
fn two_hosts_behind_one_address_show_nothing() {
    let all = [
        connection(1, LONG, true),
        connection(2, &[200], false),
        connection(3, LONG, false),
    ];
    assert_eq!(told("both.pcap", &all), [(1, 0); 2]);
}
