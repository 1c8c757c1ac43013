//! Services added to the first five: layouts, identifiers, what is no packet of theirs. `crates/cli/tests/it/services.rs`
//! compares the same layouts with tshark.

use inorder_wire::{
    Aside, LinkType, Multipath, Numbered, Other, Packet, Sending, Service, StreamKey, parse_into,
};

use crate::build::*;

/// The packet of a frame and everything beside it.
#[track_caller]
fn all(link: LinkType, bytes: &[u8]) -> (Packet, Vec<Aside>) {
    let (mut packet, mut asides) = (Packet::Other(Other::NotIp), Vec::new());
    let more = parse_into(&frame(link, bytes.len(), bytes), &mut packet, &mut asides);
    assert_eq!(more, !asides.is_empty());
    assert_eq!(packet, parse(link, bytes));
    (packet, asides)
}

#[track_caller]
fn one(link: LinkType, bytes: &[u8]) -> (StreamKey, Numbered) {
    match all(link, bytes).0 {
        Packet::Numbered(key, packet) => (key, packet),
        other => panic!("expected a numbered packet, got {other:?}"),
    }
}

#[track_caller]
fn in_udp(port: u16, body: &[u8]) -> (Service, u32, u64, u32) {
    let (key, packet) = one(LinkType::RAW, &ipv4(17, &udp(49_152, port, body)));
    (key.service, key.id, packet.seq, packet.payload_len)
}

fn numbers(asides: &[Aside]) -> Vec<(Service, u32, u64)> {
    let numbered = asides.iter().filter_map(|aside| match aside {
        Aside::Numbered(key, packet) => Some((key.service, key.id, packet.seq)),
        _ => None,
    });
    numbered.collect()
}

/// Opcode, flags, partition key, queue pair, acknowledge bit, sequence number; payload and check sequence follow.
fn bth(opcode: u8, queue_pair: u32, psn: u32) -> Vec<u8> {
    let mut bytes = vec![opcode, 0, 0xff, 0xff];
    bytes.extend(queue_pair.to_be_bytes());
    bytes.extend(psn.to_be_bytes());
    bytes.extend([0; 16 + 4]);
    bytes
}

#[test]
fn rocev2_requests_responses_and_acknowledgements() {
    let expected = (Service::RoceV2, 0x11, 0xff_fffe, 16);
    assert_eq!(in_udp(4791, &bth(0x04, 0x11, 0xff_fffe)), expected);
    // The acknowledge-request bit is in the byte before the number.
    assert_eq!(in_udp(4791, &bth(0x04, 0x11, 0x80ff_fffe)), expected);
    let response = in_udp(4791, &bth(0x0d, 0x11, 7));
    assert_eq!(response, (Service::RoceV2, 0x100_0011, 7, 16));
    let (key, read) = one(LinkType::RAW, &ipv4(17, &udp(1, 4791, &bth(0x0c, 0x11, 7))));
    assert_eq!(
        (read.sending, key.src.port, key.dst.port),
        (Sending::Reserving, 0, 4791)
    );
    for unnumbered in [0x11, 0x81] {
        let packet = parse(
            LinkType::RAW,
            &ipv4(17, &udp(1, 4791, &bth(unnumbered, 1, 7))),
        );
        assert_eq!(other(packet), Other::Unnumbered);
    }
}

#[test]
fn ultra_ethernet_requests_say_that_they_are_sent_again() {
    let request = |kind: u16, flags: u16| {
        let mut bytes = (kind << 11 | 1 << 7 | flags).to_be_bytes().to_vec();
        bytes.extend([0xff, 0xff, 0x80, 0, 0, 9, 0x12, 0x34, 0, 1]);
        bytes.extend([0; 20]);
        ipv4(17, &udp(7777, 4793, &bytes))
    };
    let (key, packet) = one(LinkType::RAW, &request(2, 0));
    assert_eq!(
        (key.service, key.id, key.src.port),
        (Service::Uet, 0x1234, 0)
    );
    assert_eq!(
        (packet.seq, packet.payload_len, packet.sending),
        (0x8000_0009, 20, Sending::Once)
    );
    assert_eq!(
        one(LinkType::RAW, &request(3, 0x10)).1.sending,
        Sending::Again
    );
    // An acknowledgement.
    assert_eq!(
        other(parse(LinkType::RAW, &request(7, 0))),
        Other::Unnumbered
    );
}

#[test]
fn sctp_chunks_and_reports() {
    let chunk = |kind: u8, body: &[u8]| {
        let mut bytes = vec![kind, 3];
        bytes.extend((4 + body.len() as u16).to_be_bytes());
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let data = |tsn: u32, len: usize| {
        let mut body = tsn.to_be_bytes().to_vec();
        body.extend([0, 1, 0, 2, 0, 0, 0, 0]);
        body.extend(vec![0xab; len]);
        chunk(0, &body)
    };
    let mut packet = vec![0x0b, 0xb8, 0x0f, 0xa0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0];
    // Cumulative 100, two gaps (102-103 and 105), one duplicate.
    let sack = [
        0, 0, 0, 100, 0, 1, 0, 0, 0, 2, 0, 1, 0, 2, 0, 3, 0, 5, 0, 5, 0, 0, 0, 99,
    ];
    packet.extend(chunk(3, &sack));
    packet.extend(data(7, 5));
    packet.extend(data(8, 100));
    let (first, asides) = all(LinkType::RAW, &ipv4(132, &packet));
    let Packet::Numbered(key, number) = first else {
        panic!("{first:?}");
    };
    assert_eq!(
        (key.service, key.id, key.src.port, key.dst.port),
        (Service::Sctp, 0xdead_beef, 3000, 4000)
    );
    assert_eq!((number.seq, number.payload_len), (7, 5));
    assert_eq!(numbers(&asides), [(Service::Sctp, 0xdead_beef, 8)]);
    let Some(Aside::Report(back, report)) = asides.first() else {
        panic!("{asides:?}");
    };
    assert_eq!((back.id, back.src.port, back.dst.port), (0, 4000, 3000));
    assert_eq!(report.ranges, [(102, 103), (105, 105)]);
    assert_eq!((report.cumulative, report.duplicates), (100, 1));
}

#[test]
fn gtp_u_counts_beside_what_is_inside() {
    let tcp = ipv4(6, &tcp(0x10, &[], 4));
    let head = [0x32, 255, 0, 0, 0, 0, 0, 9, 0xff, 0xfe, 0, 0];
    let (packet, asides) = all(
        LinkType::RAW,
        &ipv4(17, &udp(2152, 2152, &join(&head, &tcp))),
    );
    assert_eq!(segment(packet).payload_len, 4);
    assert_eq!(numbers(&asides), [(Service::GtpU, 9, 0xfffe)]);
    // Without the flag the same bytes are no number.
    let head = [0x30, 255, 0, 0, 0, 0, 0, 9];
    let (_, asides) = all(
        LinkType::RAW,
        &ipv4(17, &udp(2152, 2152, &join(&head, &tcp))),
    );
    assert_eq!(asides, []);
}

#[test]
fn l2tpv3_with_cookies_of_every_length() {
    for cookie in [0, 4, 8] {
        let mut body = vec![0, 0, 0x30, 0x39];
        body.extend(vec![0x11; cookie]);
        body.extend([0x40, 0, 1, 2]);
        body.extend([0xee; 60]);
        let (key, number) = one(LinkType::RAW, &ipv4(115, &body));
        assert_eq!((key.service, key.id), (Service::L2tpV3, 12345));
        assert_eq!((number.seq, number.payload_len), (258, 60));
        let in_udp = ipv4(17, &udp(1701, 1701, &join(&[0, 3, 0, 0], &body)));
        assert_eq!(one(LinkType::RAW, &in_udp).1, number);
    }
    // Without the S bit, and the control connection.
    for body in [[0, 0, 0x30, 0x39, 0, 0, 1, 2], [0, 0, 0, 0, 0x40, 0, 1, 2]] {
        assert_eq!(
            other(parse(LinkType::RAW, &ipv4(115, &body))),
            Other::Unnumbered
        );
    }
}

#[test]
fn stamp_by_its_port_and_by_its_clock() {
    // The frames of these tests were captured in 1970.
    let test = |seconds: u32, estimate: u8| {
        let mut bytes = vec![0, 0, 1, 2];
        bytes.extend(seconds.to_be_bytes());
        bytes.extend([0, 0, 0, 0, estimate, 1]);
        bytes.resize(44, 0);
        bytes
    };
    assert_eq!(in_udp(862, &test(7, 0)), (Service::Stamp, 0, 258, 44));
    assert_eq!(
        in_udp(20_000, &test(2_208_988_830, 0)),
        (Service::Stamp, 0, 258, 44)
    );
    assert_eq!(
        in_udp(20_000, &test(30, 0x40)),
        (Service::Stamp, 0, 258, 44)
    );
    for (seconds, estimate) in [(2_208_989_000, 0), (2_208_988_830, 0x40), (30, 0)] {
        let bytes = ipv4(17, &udp(9, 20_000, &test(seconds, estimate)));
        assert!(matches!(other(parse(LinkType::RAW, &bytes)), Other::Udp(_)));
    }
}

#[test]
fn dtls_records_of_a_datagram() {
    let record = |kind: u8, epoch: u8, seq: u8, len: usize| {
        let mut bytes = vec![kind, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 1, 0, seq];
        bytes.extend((len as u16).to_be_bytes());
        bytes.extend(vec![0; len]);
        bytes
    };
    let two = join(&record(22, 0, 4, 30), &record(23, 1, 0, 40));
    let bytes = ipv4(17, &udp(5000, 6000, &two));
    let (_, asides) = all(LinkType::RAW, &bytes);
    assert_eq!(in_udp(6000, &two), (Service::Dtls, 0, 0x1_0004, 30));
    assert_eq!(numbers(&asides), [(Service::Dtls, 1, 0x1_0000)]);
    // Longer than the datagram, and TLS.
    let mut long = record(23, 1, 0, 40);
    long[12] = 41;
    let mut tls = record(23, 1, 0, 40);
    tls[1] = 3;
    for no in [long, tls] {
        let packet = parse(LinkType::RAW, &ipv4(17, &udp(5000, 6000, &no)));
        assert!(matches!(other(packet), Other::Udp(_)));
    }
}

#[test]
fn macsec_encrypted_and_only_protected() {
    let mut encrypted = vec![0x2d, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 0, 3];
    encrypted.extend([0xcc; 80]);
    let (key, number) = one(LinkType::ETHERNET, &eth(0x88e5, &encrypted));
    assert_eq!(
        (key.service, key.id, number.seq),
        (Service::MacSec, 3 << 2 | 1, 9)
    );
    assert_eq!(
        (key.src.to_string(), key.dst.to_string()),
        ("02:00:00:00:00:07".into(), "*".into())
    );
    assert_eq!(number.payload_len, 64);
    let mut protected = vec![0x00, 0, 0, 0, 0, 10, 0x08, 0x00];
    protected.extend(ipv4(6, &tcp(0x10, &[], 4)));
    protected.extend([0; 16]);
    let (packet, asides) = all(LinkType::ETHERNET, &eth(0x88e5, &protected));
    assert_eq!(segment(packet).payload_len, 4);
    assert_eq!(numbers(&asides), [(Service::MacSec, 4, 10)]);
}

#[test]
fn tags_of_redundant_networks() {
    let tcp = ipv4(6, &tcp(0x10, &[], 4));
    let size = (tcp.len() + 6) as u16;
    let mut hsr = (0x1000 | size).to_be_bytes().to_vec();
    hsr.extend([0xff, 0xff, 0x08, 0x00]);
    hsr.extend(&tcp);
    let (packet, asides) = all(LinkType::ETHERNET, &eth(0x892f, &hsr));
    assert_eq!(segment(packet).payload_len, 4);
    assert_eq!(numbers(&asides), [(Service::Hsr, 1, 0xffff)]);

    let rtag = join(&[0, 0, 0, 5, 0x08, 0x00], &tcp);
    let tagged = eth(0x8100, &vlan(0x6003, 0xf1c1, &rtag));
    assert_eq!(
        numbers(&all(LinkType::ETHERNET, &tagged).1),
        [(Service::RTag, 3, 5)]
    );
    // Something else in the tag: the tag is the packet.
    let arp = eth(0xf1c1, &join(&[0, 0, 0, 5, 0x08, 0x06], &[0; 28]));
    assert_eq!(one(LinkType::ETHERNET, &arp).1.seq, 5);
}

#[test]
fn prp_trailers_need_their_size() {
    let body = ipv4(6, &tcp(0x10, &TIMESTAMPS, 4));
    let trailer = |size: usize| {
        let mut bytes = body.clone();
        bytes.extend([0, 9, 0xa0 | (size >> 8) as u8, size as u8, 0x88, 0xfb]);
        bytes
    };
    let size = body.len() + 6;
    for frame in [
        eth(0x0800, &trailer(size)),
        eth(0x8100, &vlan(9, 0x0800, &trailer(size))),
    ] {
        let (packet, asides) = all(LinkType::ETHERNET, &frame);
        assert_eq!(segment(packet).payload_len, 4);
        assert_eq!(numbers(&asides), [(Service::Prp, 10, 9)]);
    }
    let (_, asides) = all(LinkType::ETHERNET, &eth(0x0800, &trailer(size + 1)));
    assert_eq!(asides, []);
}

#[test]
fn multipath_tcp_options_are_beside_their_segment() {
    let dss = [
        30, 20, 0x20, 0x0c, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 100, 0, 0,
    ];
    let (packet, asides) = all(LinkType::RAW, &ipv4(6, &tcp(0x10, &dss, 100)));
    let [Aside::Subflow(_, _, subflow)] = asides.as_slice() else {
        panic!("{asides:?}");
    };
    assert_eq!(
        (subflow.seq, subflow.payload_len),
        (segment(packet).seq, 100)
    );
    let number = 5;
    assert!(
        matches!(subflow.option, Multipath::Data { number: n, bits: 64, subflow: 1, len: 100 } if n == number)
    );
}
