//! What ICMP messages say of TCP segments.

use inorder_wire::{
    Aside, Complaint, ComplaintKind, Dir, Endpoint, FlowKey, LinkType, Other, Overlay, Packet,
    parse_into,
};

use crate::build::*;

/// The direction of every segment that is built here: from 10.0.0.1 port 12345 to 10.0.0.2 port 80.
fn key(overlay: u32) -> (FlowKey, Dir) {
    let [src, dst] = [(0x0a00_0001, 12345), (0x0a00_0002, 80)].map(|(a, p)| Endpoint::v4(a, p));
    FlowKey::new(src, dst, overlay)
}

/// An ICMP message with the second half of its header and what it quotes.
fn icmp(kind: u8, code: u8, second: [u8; 4], quoted: &[u8]) -> Vec<u8> {
    [&[kind, code, 0, 0][..], &second, quoted].concat()
}

/// A router between the two sends an ICMP message to the first.
fn from_router(message: &[u8]) -> Vec<u8> {
    let mut bytes = ipv4(1, message);
    bytes[12..20].copy_from_slice(&[198, 51, 100, 1, 10, 0, 0, 1]);
    bytes
}

#[track_caller]
fn asides(bytes: &[u8]) -> Vec<Aside> {
    let frame = frame(LinkType::RAW, bytes.len(), bytes);
    let (mut packet, mut asides) = (Packet::Other(Other::NotIp), Vec::new());
    parse_into(&frame, &mut packet, &mut asides);
    assert_eq!(other(packet), Other::Icmp);
    assert_eq!(parse(LinkType::RAW, bytes), packet);
    asides
}

#[track_caller]
fn complaint(bytes: &[u8]) -> (FlowKey, Dir, Complaint) {
    match asides(bytes).as_slice() {
        [Aside::Complaint(key, dir, complaint)] => (*key, *dir, *complaint),
        other => panic!("expected one complaint, got {other:?}"),
    }
}

/// A whole segment with 1,000 bytes of payload, of which routers quote 20 + 8 bytes.
fn segment_v4() -> Vec<u8> {
    ipv4(6, &tcp(0x10, &TIMESTAMPS, 1000))
}

#[test]
fn fragmentation_needed_names_the_segment_and_the_size() {
    let quoted = &segment_v4()[..28];
    let (of, dir, said) = complaint(&from_router(&icmp(3, 4, [0, 0, 0x05, 0x78], quoted)));
    assert_eq!((of, dir), key(0));
    let expected = Complaint {
        ts_ns: 5,
        frame: 9,
        kind: ComplaintKind::TooLarge,
        code: 4,
        mtu: Some(1400),
        seq: SEQ,
        seq_known: u32::MAX,
        ip_id: Some(0x1234),
        tcp_len: Some(1032),
    };
    assert_eq!(said, expected);
    // Old routers do not say which size would pass.
    let old = complaint(&from_router(&icmp(3, 4, [0; 4], quoted))).2;
    assert_eq!((old.kind, old.mtu), (ComplaintKind::TooLarge, None));
}

#[test]
fn packet_too_big_of_ipv6() {
    let segment = ipv6(6, &tcp(0x10, &TIMESTAMPS, 1000));
    let bytes = ipv6(58, &icmp(2, 0, 1280u32.to_be_bytes(), &segment));
    let (of, dir, said) = complaint(&bytes);
    let (src, dst) = of.ends(dir);
    assert_eq!(src.socket_addr().to_string(), "[2001:db8::1]:12345");
    assert_eq!(dst.socket_addr().to_string(), "[2001:db8::2]:80");
    assert_eq!((said.kind, said.mtu), (ComplaintKind::TooLarge, Some(1280)));
    assert_eq!(
        (said.seq, said.ip_id, said.tcp_len),
        (SEQ, None, Some(1032))
    );
}

#[test]
fn every_kind_with_its_code() {
    let (v4, v6) = (segment_v4(), ipv6(6, &tcp(0x10, &[], 10)));
    let of_v4 = |kind, code| {
        let said = complaint(&from_router(&icmp(kind, code, [0, 0, 9, 9], &v4[..28]))).2;
        (said.kind, said.code, said.mtu)
    };
    let of_v6 = |kind, code| {
        let said = complaint(&ipv6(58, &icmp(kind, code, [0; 4], &v6))).2;
        (said.kind, said.code, said.mtu)
    };
    use ComplaintKind::*;
    assert_eq!(of_v4(3, 1), (Unreachable, 1, None));
    assert_eq!(of_v4(3, 13), (Unreachable, 13, None));
    assert_eq!(of_v4(11, 0), (TimeExceeded, 0, None));
    assert_eq!(of_v4(11, 1), (TimeExceeded, 1, None));
    assert_eq!(of_v4(12, 0), (ParameterProblem, 0, None));
    assert_eq!(of_v6(1, 4), (Unreachable, 4, None));
    assert_eq!(of_v6(3, 0), (TimeExceeded, 0, None));
    assert_eq!(of_v6(4, 1), (ParameterProblem, 1, None));
}

#[test]
fn what_is_no_complaint_about_tcp() {
    let datagram = ipv4(17, &udp(5000, 53, &[0; 30]));
    let later = ipv4_with(6, 0x2000 | 185, &[], &[0; 100]);
    let refused = from_router(&icmp(3, 3, [0; 4], &segment_v4()[..28]));
    for message in [
        // Of a datagram, of a later fragment, cut within the ports, about an error, a redirection.
        icmp(3, 3, [0; 4], &datagram),
        icmp(11, 1, [0; 4], &later),
        icmp(3, 4, [0; 4], &segment_v4()[..23]),
        icmp(3, 4, [0; 4], &refused),
        icmp(5, 1, [10, 0, 0, 9], &segment_v4()[..28]),
        icmp(9, 0, [0; 4], &[]),
        icmp(3, 4, [0; 4], &[]),
    ] {
        assert_eq!(asides(&from_router(&message)), [], "{message:02x?}");
    }
    // Neighbour solicitation.
    assert_eq!(asides(&ipv6(58, &icmp(135, 0, [0; 4], &[0; 16]))), []);
    // Cut within the header of ICMP.
    let bytes = eth(0x0800, &from_router(&icmp(3, 4, [0; 4], &segment_v4())));
    assert_eq!(other(parse_cut(&bytes, 14 + 20 + 7)), Other::Truncated);
}

#[test]
fn the_quoted_packet_may_have_options_extensions_or_be_a_first_fragment() {
    let options = ipv4_with(6, 0x4000, &[1, 1, 1, 0], &tcp(0x10, &[], 500));
    let said = complaint(&from_router(&icmp(3, 4, [0; 4], &options[..32])));
    assert_eq!((said.2.seq, said.2.tcp_len), (SEQ, Some(520)));
    let fragment = ipv4_with(6, 0x2000, &[], &tcp(0x10, &[], 1460));
    let said = complaint(&from_router(&icmp(11, 1, [0; 4], &fragment[..28])));
    assert_eq!((said.0, said.2.seq), (key(0).0, SEQ));
    let hop_by_hop = [&[6, 0, 1, 4, 0, 0, 0, 0], &tcp(0x10, &[], 5)[..]].concat();
    let said = complaint(&ipv6(58, &icmp(3, 0, [0; 4], &ipv6(0, &hop_by_hop))));
    assert_eq!((said.2.seq, said.2.tcp_len), (SEQ, Some(25)));
}

/// Routers quote as much as fits into 576 bytes (RFC 1812 section 4.3.2.3), so that what is inside a tunnel is there.
#[test]
fn a_packet_of_a_tunnel_is_quoted() {
    let inner = &segment_v4()[..28];
    let in_gre = ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7][..], inner].concat());
    let (of, dir, said) = complaint(&from_router(&icmp(3, 4, [0, 0, 5, 120], &in_gre)));
    assert_eq!((of.in_overlay(Overlay::number(of.overlay)), dir), key(7));
    assert_eq!((said.seq, said.mtu), (SEQ, Some(1400)));
    // The number of a tunnel is no packet that passed here.
    let numbered = [&[0x10, 0, 8, 0, 0, 0, 0, 1][..], inner].concat();
    let (of, ..) = complaint(&from_router(&icmp(3, 4, [0; 4], &ipv4(47, &numbered))));
    assert_ne!(of.overlay, 0);
    let in_vxlan = join(&[8, 0, 0, 0, 0, 0, 42, 0], &eth(0x0800, inner));
    let in_vxlan = ipv4(17, &udp(50_000, 4789, &in_vxlan));
    assert_eq!(
        complaint(&from_router(&icmp(3, 1, [0; 4], &in_vxlan))).0,
        key(42).0
    );
}

/// A message inside a tunnel is about a connection inside it.
#[test]
fn a_message_in_a_tunnel() {
    let message = from_router(&icmp(3, 4, [0, 0, 5, 120], &segment_v4()[..28]));
    let in_gre = ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7][..], &message].concat());
    let of = complaint(&in_gre).0;
    assert_eq!(of.in_overlay(Overlay::number(of.overlay)), key(7).0);
}

/// Behind a device that translates addresses, the quotation counts and not the addresses of the message.
#[test]
fn the_quoted_addresses_count() {
    let mut bytes = from_router(&icmp(3, 4, [0, 0, 5, 120], &segment_v4()[..28]));
    bytes[16..20].copy_from_slice(&[203, 0, 113, 9]);
    assert_eq!(complaint(&bytes).0, key(0).0);
}

/// What a route is traced with: an echo request whose hop limit was used up. Its number is no packet that passed here.
#[test]
fn an_echo_request_that_expired_is_named() {
    let echo = |kind| ipv4(1, &[kind, 0, 0, 0, 0, 7, 1, 2]);
    let expired = asides(&from_router(&icmp(11, 0, [0; 4], &echo(8))));
    let [Aside::Expired(request)] = expired.as_slice() else {
        panic!("expected one request, got {expired:?}");
    };
    assert_eq!(
        (request.asker().unwrap().id, request.is_reply()),
        (7, false)
    );
    assert_eq!(asides(&from_router(&icmp(11, 0, [0; 4], &echo(0)))), []);
    assert_eq!(asides(&from_router(&icmp(3, 1, [0; 4], &echo(8)))), []);
}
