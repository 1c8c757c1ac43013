//! Streams of every numbered service, from generated frames: what `analyze` reports of them, and that tshark reads the
//! same numbers in the same frames (where it is installed and knows the protocol).

use serde_json::Value;

use crate::common::{self, Folder, code, inorder, json, stderr, stdout};

/// The numbers of every stream in their order of arrival, counted from its first one.
const ORDER: [u64; 8] = [0, 1, 3, 4, 2, 5, 6, 7];
/// 2024-05-01T12:00:00Z, seconds.
const START_S: u32 = 1_714_564_800;

/// Ethernet, with a source address for each service, so that one file has all of them.
fn eth(ether_type: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(body);
    bytes
}

fn ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + body.len() as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(body);
    bytes
}

fn udp(port: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = 49_152u16.to_be_bytes().to_vec();
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + body.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(body);
    eth(0x0800, &ipv4(17, &bytes))
}

fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// A ping, which no tag or tunnel shares its numbers with.
fn inner() -> Vec<u8> {
    ipv4(1, &[0, 0, 0, 0, 0, 0, 0, 0])
}

/// How the frames of a service are made, and how tshark shows the number.
struct Sample {
    name: &'static str,
    /// The first number: most wrap in these eight frames.
    first: u64,
    bits: u32,
    frame: fn(u64) -> Vec<u8>,
    /// A field, and options that tshark needs; none if it does not know the protocol.
    field: Option<(&'static str, &'static [&'static str])>,
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "rocev2",
        first: 0xff_fffd,
        bits: 24,
        frame: |n| {
            let psn = (n as u32).to_be_bytes();
            udp(
                4791,
                &bytes(&[&[0x04, 0, 0xff, 0xff, 0, 0, 0, 0x11], &psn, &[0; 36]]),
            )
        },
        field: Some(("infiniband.bth.psn", &[])),
    },
    Sample {
        name: "uet",
        first: 0xffff_fffd,
        bits: 32,
        frame: |n| {
            let psn = (n as u32).to_be_bytes();
            udp(
                4793,
                &bytes(&[&[0x10, 0x80, 0, 0], &psn, &[0, 7, 0, 1], &[0; 32]]),
            )
        },
        field: None,
    },
    Sample {
        name: "sctp",
        first: 0xffff_fffd,
        bits: 32,
        frame: |n| {
            let common = [0x0b, 0xb8, 0x0f, 0xa0, 0, 0, 0, 9, 0, 0, 0, 0];
            let tsn = (n as u32).to_be_bytes();
            let chunk = [
                &[0, 3, 0, 20][..],
                &tsn,
                &[0, 1, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4],
            ];
            eth(0x0800, &ipv4(132, &bytes(&[&common, &bytes(&chunk)])))
        },
        field: Some(("sctp.data_tsn_raw", &[])),
    },
    Sample {
        name: "gtp-u",
        first: 0xfffd,
        bits: 16,
        frame: |n| {
            let inner = inner();
            let len = (inner.len() as u16 + 4).to_be_bytes();
            let number = (n as u16).to_be_bytes();
            udp(
                2152,
                &bytes(&[&[0x32, 255], &len, &[0, 0, 0, 9], &number, &[0, 0], &inner]),
            )
        },
        field: Some(("gtp.seq_number", &[])),
    },
    Sample {
        name: "gre",
        first: 0xffff_fffd,
        bits: 32,
        frame: |n| {
            let number = (n as u32).to_be_bytes();
            // In UDP (RFC 8086), with a key.
            udp(
                4754,
                &bytes(&[&[0x30, 0, 8, 0, 0, 0, 0, 9], &number, &inner()]),
            )
        },
        field: Some(("gre.sequence_number", &[])),
    },
    Sample {
        name: "l2tpv3",
        first: 0xff_fffd,
        bits: 24,
        frame: |n| {
            let number = (0x4000_0000 | n as u32).to_be_bytes();
            eth(
                0x0800,
                &ipv4(
                    115,
                    &bytes(&[&[0, 0, 0x30, 0x39], &number, &eth(0x0806, &[0; 46])]),
                ),
            )
        },
        field: Some((
            "l2tp.l2_spec_sequence",
            &[
                "-o",
                "l2tp.cookie_size:None",
                "-o",
                "l2tp.l2_specific:Default L2-Specific",
            ],
        )),
    },
    Sample {
        name: "stamp",
        first: 0xffff_fffd,
        bits: 32,
        frame: |n| {
            let number = (n as u32).to_be_bytes();
            let seconds = (START_S.wrapping_add(2_208_988_800)).to_be_bytes();
            udp(
                862,
                &bytes(&[&number, &seconds, &[0, 0, 0, 0, 0, 1], &[0; 30]]),
            )
        },
        field: Some(("twamp.test.seq_number", &["-d", "udp.port==862,twamp.test"])),
    },
    Sample {
        name: "dtls",
        first: 5,
        bits: 48,
        frame: |n| {
            let number = &n.to_be_bytes()[2..];
            udp(
                4433,
                &bytes(&[&[23, 0xfe, 0xfd, 0, 1], number, &[0, 32], &[0; 32]]),
            )
        },
        field: Some((
            "dtls.record.sequence_number",
            &["-d", "udp.port==4433,dtls"],
        )),
    },
    Sample {
        name: "macsec",
        first: 5,
        bits: 32,
        frame: |n| {
            let number = (n as u32).to_be_bytes();
            eth(
                0x88e5,
                &bytes(&[&[0x2c, 0], &number, &[2, 0, 0, 0, 0, 1, 0, 1], &[0; 80]]),
            )
        },
        field: Some(("macsec.PN", &[])),
    },
    Sample {
        name: "hsr",
        first: 0xfffd,
        bits: 16,
        frame: |n| {
            let inner = inner();
            let size = (inner.len() as u16 + 6).to_be_bytes();
            let number = (n as u16).to_be_bytes();
            eth(0x892f, &bytes(&[&size, &number, &[8, 0], &inner]))
        },
        field: Some(("hsr.sequence_nr", &[])),
    },
    Sample {
        name: "prp",
        first: 0xfffd,
        bits: 16,
        frame: |n| {
            let mut body = inner();
            body.resize(46, 0);
            let size = 0xa000 | (body.len() as u16 + 6);
            let number = (n as u16).to_be_bytes();
            eth(
                0x0800,
                &bytes(&[&body, &number, &size.to_be_bytes(), &[0x88, 0xfb]]),
            )
        },
        field: Some(("prp.trailer.prp_sequence_nr", &["--enable-protocol", "prp"])),
    },
    Sample {
        name: "r-tag",
        first: 0xfffd,
        bits: 16,
        frame: |n| {
            let number = (n as u16).to_be_bytes();
            eth(0xf1c1, &bytes(&[&[0, 0], &number, &[8, 0], &inner()]))
        },
        field: Some(("ieee8021cb.seq", &[])),
    },
];

impl Sample {
    fn number(&self, n: u64) -> u64 {
        self.first.wrapping_add(n) & (u64::MAX >> (64 - self.bits))
    }

    fn pcap(&self) -> Vec<u8> {
        let frames = ORDER.iter().map(|n| (self.frame)(self.number(*n)));
        common::pcap(1, START_S, frames)
    }
}

#[test]
fn one_packet_of_every_service_is_late() {
    let folder = Folder::new("services");
    for sample in SAMPLES {
        let file = folder.file(&format!("{}.pcap", sample.name), &sample.pcap());
        let output = inorder(&["analyze", "--json", "--filter", sample.name, &file]);
        assert_eq!(code(&output), 0, "{}: {}", sample.name, stderr(&output));
        let result = json(&output);
        let streams = result["files"][0]["streams"].as_array().unwrap();
        let [stream] = streams.as_slice() else {
            panic!("{}: {streams:#?}", sample.name);
        };
        assert_eq!(stream["service"], sample.name);
        let counts = ["received", "reordered"].map(|name| stream[name].as_u64());
        assert_eq!(counts, [Some(8), Some(1)], "{}", sample.name);
        assert_eq!(stream["missing"], 0, "{}", sample.name);
        assert_eq!(stream["max_extent"], 2, "{}", sample.name);
        assert!(
            !stream["what_if"].as_array().unwrap().is_empty(),
            "{}",
            sample.name
        );
        let window = &stream["window_needed"];
        let has_window = ["dtls", "macsec"].contains(&sample.name);
        assert_eq!(window.as_u64(), has_window.then_some(3), "{}", sample.name);
    }
}

#[test]
fn every_service_is_documented_with_its_width() {
    let text = include_str!("../../../../docs/services.md");
    for service in inorder_wire::Service::ALL {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", service.name())));
        let row = row.unwrap_or_else(|| panic!("docs/services.md lacks {}", service.name()));
        let bits = format!("| {} |", service.bits());
        assert!(row.contains(&bits) || row.contains("| bytes |"), "{row}");
    }
}

#[test]
fn tshark_reads_the_same_numbers() {
    let Some(programs) = common::needs(&["tshark"]) else {
        return;
    };
    let folder = Folder::new("services-tshark");
    for sample in SAMPLES {
        let Some((field, options)) = sample.field else {
            continue;
        };
        let file = folder.file(&format!("{}.pcap", sample.name), &sample.pcap());
        let mut command = programs.command("tshark");
        command
            .args(["-r", &file, "-T", "fields", "-e", field])
            .args(options);
        let output = command.output().expect("tshark runs");
        let found: Vec<u64> = stdout(&output)
            .lines()
            .filter_map(|line| match line.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => line.parse().ok(),
            })
            .collect();
        let expected: Vec<u64> = ORDER.iter().map(|n| sample.number(*n)).collect();
        assert_eq!(found, expected, "{}: {}", sample.name, stderr(&output));
    }
}

#[test]
fn windows_are_rows_of_their_own() {
    let folder = Folder::new("services-windows");
    let sample = SAMPLES
        .iter()
        .find(|sample| sample.name == "macsec")
        .unwrap();
    let file = folder.file("macsec.pcap", &sample.pcap());
    let output = inorder(&["analyze", "--csv", "--rows", "replay-windows", &file]);
    let text = stdout(&output);
    assert!(
        text.starts_with("file,stream,window,accepts,refused,refused_ratio\n"),
        "{text}"
    );
    // Strict order refuses the late packet; a window of three packets refuses none.
    assert!(text.contains(",1,,1,0.125"), "{text}");
    assert!(text.contains(",3,1,0,0"), "{text}");
    let all = inorder(&["analyze", "--json", &file]);
    let windows = &json(&all)["files"][0]["streams"][0]["replay_windows"];
    assert_eq!(windows.as_array().map_or(0, Vec::len), 8, "{windows}");
    assert_eq!(windows[0]["accepts"], Value::Null);
}
