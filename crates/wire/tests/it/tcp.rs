//! TCP in IPv4 and IPv6: the fields of a segment, and cut or unusual frames.

use inorder_wire::{Aside, Dir, Has, LinkType, Other, Packet, TcpFlags, parse_into};

use crate::build::*;

const ACK: u8 = TcpFlags::ACK;

#[test]
fn a_data_segment_with_timestamps() {
    let bytes = eth(
        0x0800,
        &ipv4(6, &tcp(ACK | TcpFlags::PSH, &TIMESTAMPS, 100)),
    );
    let Packet::Tcp(key, dir, s) = parse(LinkType::ETHERNET, &bytes) else {
        panic!("not TCP");
    };
    assert_eq!(key.ends(dir).0.socket_addr().to_string(), "10.0.0.1:12345");
    assert_eq!(key.ends(dir).1.socket_addr().to_string(), "10.0.0.2:80");
    assert_eq!(dir, Dir::LowToHigh);
    assert_eq!(
        (s.ts_ns, s.frame, s.seq, s.ack, s.payload_len),
        (5, 9, SEQ, 77, 100)
    );
    assert_eq!(
        (s.tsval, s.tsecr, s.window, s.ip_id),
        (1000, 900, 501, 0x1234)
    );
    assert_eq!((s.ttl, s.ecn, s.flags.0), (64, 2, 0x18));
    assert_eq!(s.has, Has::TIMESTAMPS | Has::IP_ID | Has::DF);
}

#[test]
fn an_acknowledgement_with_sack_over_ipv6() {
    let blocks = [(5, 9), (20, 30), (40, 41)];
    let bytes = eth(
        0x86dd,
        &ipv6(6, &tcp(ACK, &timestamps_and_sack(&blocks), 0)),
    );
    let s = segment(parse(LinkType::ETHERNET, &bytes));
    assert_eq!(s.sack_blocks(), blocks);
    assert_eq!((s.payload_len, s.ttl, s.ecn), (0, 57, 1));
    assert_eq!(s.has, Has::TIMESTAMPS | Has::UNSUITABLE);
}

#[test]
fn ethernet_padding_is_no_payload() {
    let mut bytes = eth(0x0800, &ipv4(6, &tcp(ACK, &[], 0)));
    bytes.resize(60, 0);
    assert_eq!(segment(parse(LinkType::ETHERNET, &bytes)).payload_len, 0);
}

#[test]
fn the_snap_length_cuts_payload_options_headers_in_turn() {
    let options = timestamps_and_sack(&[(1, 2), (3, 4)]);
    let bytes = eth(0x0800, &ipv4(6, &tcp(ACK, &options, 1000)));
    let cut = |captured| parse_cut(&bytes, captured);

    let s = segment(cut(14 + 20 + 20 + options.len()));
    assert_eq!((s.payload_len, s.sack_len), (1000, 2));
    assert!(!s.has(Has::OPTIONS_CUT));

    let s = segment(cut(14 + 20 + 20 + options.len() - 3));
    assert_eq!((s.payload_len, s.sack_len, s.tsval), (1000, 1, 1000));
    assert!(s.has(Has::OPTIONS_CUT | Has::UNSUITABLE));

    let s = segment(cut(14 + 20 + 20));
    assert_eq!((s.payload_len, s.has(Has::OPTIONS_CUT)), (1000, true));

    for captured in 0..14 + 20 + 20 {
        assert_eq!(other(cut(captured)), Other::Truncated, "{captured}");
    }
}

#[test]
fn a_length_of_zero_is_taken_from_the_frame() {
    let mut bytes = eth(0x0800, &ipv4(6, &tcp(ACK, &TIMESTAMPS, 30_000)));
    bytes[16..18].fill(0);
    let s = segment(parse_cut(&bytes, 96));
    assert_eq!((s.payload_len, s.has(Has::LEN_FROM_FRAME)), (30_000, true));

    let mut bytes = eth(0x86dd, &ipv6(6, &tcp(ACK, &TIMESTAMPS, 30_000)));
    bytes[18..20].fill(0);
    let s = segment(parse_cut(&bytes, 96));
    assert_eq!((s.payload_len, s.has(Has::LEN_FROM_FRAME)), (30_000, true));
}

#[test]
fn an_original_length_below_the_ip_length_is_not_believed() {
    let bytes = eth(0x0800, &ipv4(6, &tcp(ACK, &TIMESTAMPS, 1448)));
    let packet = inorder_wire::same_both_ways(&frame(LinkType::ETHERNET, 66, &bytes[..66]));
    assert_eq!(segment(packet).payload_len, 1448);
}

#[test]
fn inconsistent_headers_are_malformed() {
    let good = eth(0x0800, &ipv4(6, &tcp(ACK, &[], 0)));
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        other(parse(LinkType::ETHERNET, &bytes))
    };
    assert_eq!(
        with(14, 0x65),
        Other::Malformed,
        "version 6 behind the type of IPv4"
    );
    assert_eq!(with(14, 0x44), Other::Malformed, "header of 16 bytes");
    assert_eq!(
        with(17, 19),
        Other::Malformed,
        "total length below the header's"
    );
    assert_eq!(with(17, 39), Other::Malformed, "no room for TCP");
    assert_eq!(with(46, 0x40), Other::Malformed, "TCP header of 16 bytes");
    assert_eq!(
        with(46, 0x80),
        Other::Malformed,
        "TCP header longer than the packet"
    );
}

#[test]
fn fragments() {
    let whole = tcp(ACK, &TIMESTAMPS, 100);
    let first = parse(LinkType::RAW, &ipv4_with(6, 0x2000, &[], &whole));
    assert_eq!(segment(first).payload_len, 100);
    assert!(segment(first).has(Has::UNSUITABLE));
    let later = parse(LinkType::RAW, &ipv4_with(6, 0x0010, &[], &whole));
    let Packet::LaterFragment(later) = later else {
        panic!("{later:?}");
    };
    let whole_len = whole.len() as u32;
    assert_eq!(
        (later.offset, later.len, later.more),
        (128, whole_len, false)
    );
    assert_eq!((later.id, later.frame), (0x1234, 9));
    let Packet::FirstFragment(key, dir, head, header_len) = first else {
        panic!("{first:?}");
    };
    assert_eq!((head.ip_id, header_len), (0x1234, 32));
    assert_eq!(key.ends(dir).0.addr(), later.src.addr());
    // Of a datagram that is no segment it is noted that the fragments were there.
    let Packet::LaterFragment(udp) = parse(LinkType::RAW, &ipv4_with(17, 0x0010, &[], &whole))
    else {
        panic!("no later fragment");
    };
    assert_eq!((udp.protocol, later.protocol), (17, 6));
    let bytes = ipv4_with(17, 0x2000, &[], &join(&[0, 9, 0, 9, 1, 0, 0, 0], &whole));
    let (mut first, mut asides) = (Packet::Other(Other::NotIp), Vec::new());
    let frame = frame(LinkType::RAW, bytes.len(), &bytes);
    assert!(parse_into(&frame, &mut first, &mut asides));
    assert!(matches!(other(first), Other::Udp(_)));
    // Behind it may be what only further packets can confirm.
    let Some(Aside::FirstPart(part)) = asides.first() else {
        panic!("{asides:?}");
    };
    let len = bytes.len() as u32 - 20;
    assert_eq!((part.protocol, part.offset, part.len), (17, 0, len));
    assert!(part.more && part.id == 0x1234);
    let tiny = parse(LinkType::RAW, &ipv4_with(6, 0x2000, &[], &whole[..8]));
    assert_eq!(other(tiny), Other::Fragment);

    let v6 = |offset_and_more: u16| {
        let [high, low] = offset_and_more.to_be_bytes();
        parse(
            LinkType::RAW,
            &ipv6(44, &join(&[6, 0, high, low, 0, 0, 0, 1], &whole)),
        )
    };
    assert_eq!(segment(v6(1)).payload_len, 100);
    let Packet::LaterFragment(later) = v6(8 | 1) else {
        panic!("{:?}", v6(8 | 1));
    };
    assert_eq!((later.id, later.offset, later.more), (1, 8, true));
    assert!(
        segment(v6(0)).has(Has::UNSUITABLE),
        "an atomic fragment is a header all the same"
    );
}

#[test]
fn ipv6_extension_headers_and_ah() {
    let mut chain = tcp(ACK, &TIMESTAMPS, 7);
    // AH with a 12-byte check value, then destination options, routing, hop-by-hop.
    chain = join(
        &[
            6, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
        ],
        &chain,
    );
    chain = join(&[51, 0, 1, 4, 0, 0, 0, 0], &chain);
    chain = join(&[60, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], &chain);
    chain = join(&[43, 0, 1, 4, 0, 0, 0, 0], &chain);
    let s = segment(parse(LinkType::RAW, &ipv6(0, &chain)));
    assert_eq!((s.payload_len, s.tsval), (7, 1000));
    assert!(s.has(Has::UNSUITABLE));
}

#[test]
fn ipv4_options_make_a_segment_unsuitable() {
    let packet = ipv4_with(6, 0, &[7, 3, 4, 0], &tcp(ACK, &TIMESTAMPS, 3));
    let s = segment(parse(LinkType::RAW, &packet));
    assert_eq!(
        (s.payload_len, s.has),
        (3, Has::TIMESTAMPS | Has::IP_ID | Has::UNSUITABLE)
    );
}

#[test]
fn options_in_an_unusual_order() {
    // SACK first, timestamps behind, as some stacks send them.
    let mut options = vec![5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 8, 10];
    options.extend([0, 0, 0, 3, 0, 0, 0, 4, 0, 0]);
    options.extend([0, 0]);
    let s = segment(parse(LinkType::RAW, &ipv4(6, &tcp(ACK, &options, 1))));
    assert_eq!((s.sack_blocks(), s.tsval, s.tsecr), (&[(1, 2)][..], 3, 4));
}

#[test]
fn four_sack_blocks_without_timestamps() {
    let mut options = vec![1, 1, 5, 34];
    (1..=8u32).for_each(|edge| options.extend(edge.to_be_bytes()));
    let s = segment(parse(LinkType::RAW, &ipv4(6, &tcp(ACK, &options, 0))));
    assert_eq!(s.sack_blocks(), [(1, 2), (3, 4), (5, 6), (7, 8)]);
}
