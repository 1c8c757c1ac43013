//! Different link layers and tunnels around the same segment.

use inorder_wire::{LinkType, Other, Overlay, Packet, TcpFlags, Vlan, innermost, same_both_ways};

use crate::build::*;

fn inner() -> Vec<u8> {
    ipv4(6, &tcp(TcpFlags::ACK, &TIMESTAMPS, 50))
}

fn inner_v6() -> Vec<u8> {
    ipv6(6, &tcp(TcpFlags::ACK, &TIMESTAMPS, 50))
}

/// Checks that the segment is found, and returns its overlay.
#[track_caller]
fn found(packet: Packet) -> u32 {
    let s = segment(packet);
    assert_eq!((s.seq, s.payload_len, s.tsval), (SEQ, 50, 1000));
    overlay(packet)
}

#[test]
fn vlans_are_part_of_the_key() {
    let tagged = vlan(7, 0x0800, &inner());
    let vlan_of = |bytes: &[u8]| {
        let overlay = found(parse(LinkType::ETHERNET, bytes));
        Vlan::of_overlay(overlay).map(|vlan| vlan.to_string())
    };
    let cisco = parse(LinkType::CISCO_HDLC, &join(&[0x0f, 0, 0x81, 0], &tagged));
    assert_eq!(
        Vlan::of_overlay(found(cisco)).map(|vlan| vlan.to_string()),
        Some("7".to_owned())
    );
    for (bytes, expected) in [
        (eth(0x8100, &tagged), Some("7")),
        (eth(0x8100, &vlan(7, 0x86dd, &inner_v6())), Some("7")),
        // The priority is no part of it.
        (eth(0x8100, &vlan(0x6007, 0x0800, &inner())), Some("7")),
        (eth(0x88a8, &vlan(5, 0x8100, &tagged)), Some("5.7")),
        (
            eth(0x9100, &vlan(5, 0x8100, &vlan(6, 0x8100, &tagged))),
            Some("6.7"),
        ),
        // A priority without a VLAN.
        (eth(0x8100, &vlan(0x2000, 0x0800, &inner())), None),
        (eth(0x8100, &vlan(0x2000, 0x8100, &tagged)), Some("7")),
    ] {
        assert_eq!(vlan_of(&bytes).as_deref(), expected);
    }
    // Around a tunnel they are those of its ends, inside it they distinguish tenants.
    let vxlan = |inner: &[u8]| join(&[8, 0, 0, 0, 0, 0, 42, 0], inner);
    let in_udp = |inner: &[u8]| ipv4(17, &udp(50_000, 4789, &vxlan(inner)));
    let plain = eth(0x0800, &inner());
    let around = eth(0x8100, &vlan(9, 0x0800, &in_udp(&plain)));
    assert_eq!(found(parse(LinkType::ETHERNET, &around)), 42);
    let inside = eth(0x0800, &in_udp(&eth(0x8100, &tagged)));
    let overlay = found(parse(LinkType::ETHERNET, &inside));
    assert!(overlay != 42 && Vlan::of_overlay(overlay).is_none());
}

#[test]
fn link_layers() {
    let sll = join(
        &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x08, 0x00],
        &inner(),
    );
    let sll2 = [
        &[
            0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0,
        ][..],
        &inner_v6(),
    ];
    for (link, bytes) in [
        (1, eth(0x0800, &inner())),
        (1, eth(82, &join(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &inner()))),
        (
            1,
            eth(
                0x8864,
                &join(&[0x11, 0, 0, 1, 0, 104, 0x00, 0x21], &inner()),
            ),
        ),
        (113, sll),
        (276, sll2.concat()),
        (101, inner()),
        (101, inner_v6()),
        (12, inner()),
        (14, inner_v6()),
        (228, inner()),
        (229, inner_v6()),
        (0, join(&[2, 0, 0, 0], &inner())),
        (0, join(&[30, 0, 0, 0], &inner_v6())),
        (0, join(&[0, 0, 0, 28], &inner_v6())),
        (108, join(&[0, 0, 0, 24], &inner_v6())),
        (50, join(&[0x0f, 0, 8, 0], &inner())),
        (50, join(&[0x8f, 0, 0x86, 0xdd], &inner_v6())),
        (104, join(&[0x0f, 0, 8, 0], &inner())),
        (239, nflog(2, LITTLE_ENDIAN, &inner())),
        (239, nflog(10, LITTLE_ENDIAN, &inner_v6())),
        (239, nflog(2, BIG_ENDIAN, &inner())),
        // A bridge: the attribute with the header says what it is.
        (239, nflog(7, LITTLE_ENDIAN, &inner())),
        (9, join(&[0xff, 0x03, 0x00, 0x21], &inner())),
        (9, join(&[0x21], &inner())),
        (50, join(&[0xff, 0x03, 0x00, 0x57], &inner_v6())),
        (
            1,
            eth(0x8847, &join(&[0, 1, 0, 64, 0, 2, 1, 64], &inner_v6())),
        ),
        (
            1,
            eth(
                0x8847,
                &join(&[0, 1, 1, 64, 0, 0, 0, 0], &eth(0x0800, &inner())),
            ),
        ),
        (10, join(&[0x50; 13], &snap(0x0800, &inner()))),
        (
            6,
            join(&[0x10, 0x40], &join(&[2; 12], &snap(0x0800, &inner()))),
        ),
        (100, snap(0x86dd, &inner_v6())),
        (107, join(&[0x18, 0x41, 3, 0xcc], &inner())),
        (107, join(&[0x18, 0x41, 3, 0x8e], &inner_v6())),
        (107, join(&[0x18, 0x40, 2, 0x41, 3, 0xcc], &inner())),
        (107, join(&[0x18, 0x41, 0x08, 0], &inner())),
        (
            107,
            join(&[0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 0x86, 0xdd], &inner_v6()),
        ),
        (
            107,
            join(
                &[0x18, 0x41, 3, 0, 0x80, 0, 0x80, 0xc2, 0, 7],
                &eth(0x0800, &inner()),
            ),
        ),
    ] {
        let overlay = Overlay::of(found(parse(LinkType(link), &bytes)));
        assert!(
            matches!(overlay, Overlay::None | Overlay::Mpls(16 | 32)),
            "link type {link}: {overlay}"
        );
    }
}

/// LLC and SNAP with an EtherType.
fn snap(ether_type: u16, inner: &[u8]) -> Vec<u8> {
    let [high, low] = ether_type.to_be_bytes();
    join(&[0xaa, 0xaa, 3, 0, 0, 0, high, low], inner)
}

#[test]
fn a_token_ring_frame_may_have_a_route() {
    let frame = |source: u8, route: &[u8]| {
        let head = [&[0x10, 0x40][..], &[2; 6], &[source; 6], route].concat();
        parse(LinkType::TOKEN_RING, &join(&head, &snap(0x0800, &inner())))
    };
    assert_eq!(found(frame(0x82, &[0xc6, 0, 0, 1, 0, 2])), 0);
    assert_eq!(other(frame(2, &[0xc6, 0, 0, 1, 0, 2])), Other::NotIp);
    let of_the_ring = parse(LinkType::TOKEN_RING, &[0; 40]);
    assert_eq!(other(of_the_ring), Other::NotIp);
}

/// A frame of IEEE 802.11 with these two bytes of frame control and what comes between the number and the data.
fn wireless(control: [u8; 2], between: &[u8]) -> Vec<u8> {
    let head = [&control[..], &[1; 20], &[0; 2], between].concat();
    join(&head, &snap(0x0800, &inner()))
}

const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;

#[test]
fn data_frames_of_wireless_networks() {
    let address = [4; 6];
    for frame in [
        wireless([DATA, 1], &[]),
        wireless([DATA, 2], &[]),
        wireless([DATA, 3], &address),
        wireless([QOS_DATA, 2], &[0, 0]),
        wireless([QOS_DATA, 3], &[&address[..], &[5, 0]].concat()),
        wireless([QOS_DATA, 0x82], &[0, 0, 9, 9, 9, 9]),
    ] {
        assert_eq!(found(parse(LinkType::IEEE_802_11, &frame)), 0);
        // The shortest header of radiotap, one with the time and flags, and one with a second word of fields.
        let timed = [&[0, 0, 17, 0, 3, 0, 0, 0][..], &[7; 8], &[0x10]].concat();
        let words = [0, 0, 13, 0, 2, 0, 0, 0x80, 0, 0, 0, 0, 0];
        for radiotap in [&[0, 0, 8, 0, 0, 0, 0, 0][..], &timed, &words] {
            let all = join(radiotap, &frame);
            assert_eq!(found(parse(LinkType::IEEE_802_11_RADIOTAP, &all)), 0);
        }
    }
}

#[test]
fn wireless_frames_behind_other_headers_of_cards() {
    let frame = wireless([QOS_DATA, 2], &[0, 0]);
    let mut prism = [0; 144];
    prism[..8].copy_from_slice(&[0x44, 0, 0, 0, 144, 0, 0, 0]);
    let mut avs = [0; 64];
    avs[..8].copy_from_slice(&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64]);
    let ppi = [0, 0, 12, 0, 105, 0, 0, 0, 4, 0, 0, 0];
    for (link, header) in [
        (LinkType::IEEE_802_11_PRISM, &prism[..]),
        (LinkType::IEEE_802_11_PRISM, &avs),
        (LinkType::IEEE_802_11_AVS, &avs),
        (LinkType::PPI, &ppi),
    ] {
        assert_eq!(found(parse(link, &join(header, &frame))), 0, "{link}");
    }
    let usb = parse(LinkType::PPI, &join(&[0, 0, 8, 0, 189, 0, 0, 0], &frame));
    assert_eq!(other(usb), Other::UnknownLink(LinkType(189)));
    // A header that is longer than the frame.
    let longer = parse(
        LinkType::PPI,
        &join(&[0, 0, 255, 255, 105, 0, 0, 0], &frame),
    );
    assert_eq!(other(longer), Other::Malformed);
}

/// An acknowledgement of PPTP without a payload has no number, and nothing inside (RFC 2637 section 4.1).
#[test]
fn what_only_acknowledges_in_pptp_is_not_malformed() {
    let key_and_acknowledgement = [0, 0, 0, 3, 0, 0, 0, 2];
    let bytes = gre(0x2081, 0x880b, &key_and_acknowledgement, &[]);
    assert_eq!(other(parse(LinkType::RAW, &bytes)), Other::Unnumbered);
}

#[test]
fn what_radiotap_says_of_the_frame_behind_it() {
    let behind = |flags: u8, frame: &[u8]| {
        let radiotap = [0, 0, 9, 0, 2, 0, 0, 0, flags];
        parse(LinkType::IEEE_802_11_RADIOTAP, &join(&radiotap, frame))
    };
    let padded = wireless([QOS_DATA, 2], &[0, 0, 0xff, 0xff]);
    assert_eq!(found(behind(0x20, &padded)), 0);
    assert_eq!(other(behind(0, &padded)), Other::NotIp);
    let frame = wireless([DATA, 1], &[]);
    assert_eq!(found(behind(0x10, &frame)), 0);
    assert_eq!(other(behind(0x50, &frame)), Other::Malformed);
    let cut = parse(LinkType::IEEE_802_11_RADIOTAP, &[0, 0, 9, 0, 2, 0, 0, 0]);
    assert_eq!(other(cut), Other::Malformed);
}

#[test]
fn wireless_frames_that_are_not_read_are_counted_by_their_reason() {
    let said = |frame: &[u8]| other(parse(LinkType::IEEE_802_11, frame));
    assert_eq!(said(&wireless([DATA, 0x41], &[])), Other::Encrypted);
    let merged = wireless([QOS_DATA, 2], &[0x80, 0]);
    assert_eq!(said(&merged), Other::Aggregate);
    for without_data in [[0x80, 0], [0xd4, 0], [0x48, 1], [0xc8, 1]] {
        assert_eq!(said(&wireless(without_data, &[0, 0])), Other::WithoutData);
    }
    let mut further = wireless([DATA, 1], &[]);
    further[22] = 0x11;
    assert_eq!(said(&further), Other::WirelessFragment);
}

type Order = fn(u16) -> [u8; 2];
const LITTLE_ENDIAN: Order = u16::to_le_bytes;
const BIG_ENDIAN: Order = u16::to_be_bytes;

/// What `nflog` writes of a packet of this family: the header of the packet, the prefix of the rule, the time, and the packet.
fn nflog(family: u8, order: Order, packet: &[u8]) -> Vec<u8> {
    let ether_type = packet.first().map_or(0, |first| match first >> 4 {
        4 => 0x0800u16,
        _ => 0x86dd,
    });
    let header = [&ether_type.to_be_bytes()[..], &[3, 0]].concat();
    let mut bytes = vec![family, 0, 0, 5];
    for (kind, content) in [
        (1, &header[..]),
        (10, b"log\0\0"),
        (3, &[0; 16]),
        (9, packet),
    ] {
        bytes.extend(order(4 + content.len() as u16));
        bytes.extend(order(kind));
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

#[test]
fn what_of_a_logged_packet_is_wrong_or_missing() {
    let whole = nflog(2, LITTLE_ENDIAN, &inner());
    let nflog_of = |bytes: &[u8], captured: usize| {
        let all = frame(LinkType::NFLOG, bytes.len(), &bytes[..captured]);
        same_both_ways(&all)
    };
    // Cut within the attributes, within the packet's headers, and within its payload.
    assert_eq!(other(nflog_of(&whole, 20)), Other::Truncated);
    assert_eq!(other(nflog_of(&whole, whole.len() - 80)), Other::Truncated);
    assert_eq!(found(nflog_of(&whole, whole.len() - 50)), 0);
    // The packet is missing; another version; a length that goes nowhere; bytes that are no type.
    assert_eq!(other(nflog_of(&whole[..12], 12)), Other::Malformed);
    let changed = |at: usize, to: u8| {
        let mut bytes = whole.clone();
        bytes[at] = to;
        other(nflog_of(&bytes, bytes.len()))
    };
    assert_eq!(changed(1, 1), Other::Malformed);
    assert_eq!(changed(4, 0), Other::Malformed);
    assert_eq!(changed(7, 9), Other::Malformed);
}

#[test]
fn frames_without_ip() {
    let said = |link: LinkType, bytes: &[u8]| other(parse(link, bytes));
    let (ppp, cisco) = ([0xff, 3, 0xc0, 0x21, 1, 1, 0, 4], [0x8f, 0, 0x80, 0x35, 0]);
    assert_eq!(said(LinkType::PPP_HDLC, &ppp), Other::Ppp(0xc021));
    assert_eq!(said(LinkType::PPP_HDLC, &cisco), Other::EtherType(0x8035));
    let gre_arp = gre(0, 0x0806, &[], &[0; 28]);
    assert_eq!(said(LinkType::RAW, &gre_arp), Other::EtherType(0x0806));
    assert_eq!(
        other(parse(LinkType::ETHERNET, &eth(0x0806, &[0; 28]))),
        Other::EtherType(0x0806)
    );
    assert_eq!(
        other(parse(LinkType::ETHERNET, &eth(38, &[0x42, 0x42, 3, 0]))),
        Other::NotIp
    );
    assert_eq!(
        other(parse(LinkType(189), &[0; 40])),
        Other::UnknownLink(LinkType(189))
    );
    assert_eq!(other(parse(LinkType::RAW, &[0x50; 40])), Other::Malformed);
    assert_eq!(
        other(parse(LinkType::RAW, &ipv4(2, &[0; 8]))),
        Other::Protocol(2)
    );
}

fn gre(flags: u16, protocol: u16, optional: &[u8], body: &[u8]) -> Vec<u8> {
    let head = [flags.to_be_bytes(), protocol.to_be_bytes()].concat();
    ipv4(47, &[&head, optional, body].concat())
}

fn vxlan(vni: u8, inner: &[u8]) -> Vec<u8> {
    let head = [8, 0, 0, 0, 0, 0, vni, 0];
    ipv4(17, &udp(50_000, 4789, &join(&head, &eth(0x0800, inner))))
}

#[test]
fn tenants_of_tunnels_have_different_keys() {
    let raw = |bytes: &[u8]| Overlay::number(found(parse(LinkType::RAW, bytes)));
    assert_eq!(raw(&vxlan(42, &inner())), 42);
    let geneve = [1, 0, 0x65, 0x58, 0, 0, 43, 0, 9, 9, 9, 9];
    let geneve = udp(50_000, 6081, &join(&geneve, &eth(0x86dd, &inner_v6())));
    assert_eq!(raw(&ipv6(17, &geneve)), 43);
    let key = [0, 0, 0, 44];
    assert_eq!(raw(&gre(0x2000, 0x0800, &key, &inner())), 44);
    assert_eq!(
        raw(&gre(0xa000, 0x0800, &[1, 2, 0, 0, 0, 0, 0, 45], &inner())),
        45
    );
    assert_eq!(raw(&gre(0x2000, 0x6558, &key, &eth(0x0800, &inner()))), 44);

    // Without an identifier, the inner and outer packet still have different keys.
    let plain = [
        gre(0, 0x0800, &[], &inner()),
        ipv4(4, &inner()),
        ipv4(41, &inner_v6()),
        ipv6(41, &inner_v6()),
        ipv4(97, &join(&[0x30, 0], &eth(0x0800, &inner()))),
        vxlan(0, &inner()),
    ];
    assert!(plain.iter().all(|bytes| raw(bytes) != 0));

    // With two levels, both identifiers and their order count.
    let twice = |outer, inside| raw(&vxlan(outer, &vxlan(inside, &inner())));
    assert_ne!(twice(1, 2), twice(2, 1));
    assert_ne!(twice(1, 2), twice(1, 3));
}

#[test]
fn the_innermost_packet_of_a_frame() {
    let within = |link, bytes: &[u8]| {
        let frame = inorder_wire::Frame {
            ts_ns: 0,
            number: 1,
            link,
            orig_len: bytes.len() as u32,
            data: bytes,
        };
        innermost(&frame).map(|(inner, overlay)| (inner.data.to_vec(), Overlay::of(overlay)))
    };
    let raw = |bytes: &[u8]| within(LinkType::RAW, bytes);
    assert_eq!(raw(&inner()), None);
    assert_eq!(
        raw(&vxlan(42, &inner())),
        Some((inner(), Overlay::Vxlan(42)))
    );
    assert_eq!(
        raw(&ipv4(4, &inner())),
        Some((inner(), Overlay::Protocol(4)))
    );
    let arp = [0; 28].to_vec();
    let in_vxlan = join(&[8, 0, 0, 0, 0, 0, 42, 0], &eth(0x0806, &arp));
    let in_vxlan = ipv4(17, &udp(50_000, 4789, &in_vxlan));
    assert_eq!(raw(&in_vxlan), Some((arp, Overlay::Vxlan(42))));
    let labelled = eth(0x8847, &join(&[0, 1, 1, 64], &inner()));
    let inside = Some((inner(), Overlay::Mpls(16)));
    assert_eq!(within(LinkType::ETHERNET, &labelled), inside);
    // What ICMP quotes did not pass here.
    let quoting = ipv4(1, &join(&[3, 1, 0, 0, 0, 0, 0, 0], &inner()));
    assert_eq!(raw(&quoting), None);
    let sll = join(&[0; 14], &join(&[8, 0], &inner()));
    assert_eq!(within(LinkType(113), &sll), None);
}

#[test]
fn gre_in_udp_and_vxlan_with_a_protocol() {
    let raw = |bytes: &[u8]| Overlay::number(found(parse(LinkType::RAW, bytes)));
    let in_udp = |port, body: &[u8]| ipv4(17, &udp(50_000, port, body));
    // RFC 8086: with and without a key, which is the tenant's.
    let keyed = join(&[0x20, 0, 8, 0, 0, 0, 0, 44], &inner());
    assert_eq!(raw(&in_udp(4754, &keyed)), 44);
    let plain = raw(&in_udp(4754, &join(&[0, 0, 0x86, 0xdd], &inner_v6())));
    assert!(plain != 0 && plain != raw(&gre(0, 0x86dd, &[], &inner_v6())));
    // VXLAN-GPE: IPv4, IPv6, Ethernet, a service chain, MPLS; as VXLAN without the field.
    let gpe = |flags: u8, next: u8, body: &[u8]| {
        in_udp(4790, &join(&[flags, 0, 0, next, 0, 0, 42, 0], body))
    };
    assert_eq!(raw(&gpe(0x0c, 1, &inner())), 42);
    assert_eq!(raw(&gpe(0x0c, 2, &inner_v6())), 42);
    assert_eq!(raw(&gpe(0x0c, 3, &eth(0x0800, &inner()))), 42);
    assert_eq!(raw(&gpe(0x08, 0, &eth(0x0800, &inner()))), 42);
    let chain = |next: u8, body: &[u8]| join(&[0x0f, 0xc2, 2, next, 0, 0, 1, 255], body);
    assert_eq!(raw(&gpe(0x0c, 4, &chain(1, &inner()))), 42);
    assert_eq!(raw(&gpe(0x0c, 4, &chain(4, &chain(2, &inner_v6())))), 42);
    let labelled = gpe(0x0c, 5, &join(&[0, 1, 1, 64], &inner()));
    assert!(Overlay::is_one_way(found(parse(LinkType::RAW, &labelled))));
    // Without the flag of an identifier there is none.
    assert_ne!(raw(&gpe(0x04, 1, &inner())), 42);
    let bytes = eth(0x894f, &chain(3, &eth(0x0800, &inner())));
    assert_eq!(found(parse(LinkType::ETHERNET, &bytes)), 0);
    // The tunnel's own packets, an unknown protocol, another version.
    let said = |bytes: &[u8]| other(parse(LinkType::RAW, bytes));
    assert_eq!(said(&gpe(0x0d, 3, &[0; 20])), Other::Unnumbered);
    assert_eq!(said(&gpe(0x0c, 9, &inner())), Other::EtherType(0x894f));
    assert!(matches!(said(&gpe(0x1c, 1, &inner())), Other::Udp(_)));
}

#[test]
fn gtp_u_with_extension_headers() {
    let gtp = |head: &[u8]| {
        let body = udp(2152, 2152, &join(head, &inner()));
        found(parse(LinkType::RAW, &ipv4(17, &body)))
    };
    let plain = gtp(&[0x30, 255, 0, 112, 0, 0, 0, 1]);
    let sequence = gtp(&[0x32, 255, 0, 112, 0, 0, 0, 2, 0, 9, 0, 0]);
    let extended = gtp(&[0x34, 255, 0, 112, 0, 0, 0, 3, 0, 0, 0, 0x85, 1, 0x10, 9, 0]);
    // The endpoint identifiers differ by direction: what puts connections together must know.
    let teids = [plain, sequence, extended];
    assert_eq!(
        teids.map(Overlay::of),
        [1, 2, 3].map(|teid| Overlay::Gtp(teid, true))
    );
    assert!(teids.into_iter().all(Overlay::is_one_way));
}

#[test]
fn erspan_and_pptp() {
    let frame = eth(0x0800, &inner());
    let seq = [0, 0, 0, 5];
    let type_two = gre(
        0x1000,
        0x88be,
        &seq,
        &join(&[0x10, 1, 0, 77, 0, 0, 0, 0], &frame),
    );
    let type_one = gre(0, 0x88be, &[], &frame);
    let type_three = [0x20, 1, 0, 77, 0, 0, 0, 0, 0, 0, 0, 0];
    let type_three = gre(0x1000, 0x22eb, &seq, &join(&type_three, &frame));
    let pptp = [0, 108, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2];
    let pptp = gre(0x3081, 0x880b, &pptp, &join(&[0xff, 3, 0, 0x21], &inner()));
    for bytes in [type_one, type_two, type_three, pptp] {
        assert_ne!(found(parse(LinkType::RAW, &bytes)), 0);
    }
}

#[test]
fn the_inner_length_counts_and_inner_cuts_are_reported() {
    let bytes = eth(0x0800, &vxlan(1, &inner()));
    let headers = bytes.len() - 50;
    assert_eq!(found(parse_cut(&bytes, headers)), 1);
    assert_eq!(other(parse_cut(&bytes, headers - 40)), Other::Truncated);
}

#[test]
fn the_nesting_depth_is_limited() {
    let mut bytes = inner();
    for _ in 0..6 {
        bytes = ipv4(4, &bytes);
    }
    found(parse(LinkType::RAW, &bytes));
    let bytes = ipv4(4, &bytes);
    assert_eq!(other(parse(LinkType::RAW, &bytes)), Other::TooDeep);
    // Pseudowires and SNAP nested in each other must not exhaust the stack.
    let mut bytes = Vec::new();
    for _ in 0..100_000 {
        bytes.extend(eth(0x8847, &[0, 1, 1, 64, 0, 0, 0, 0]));
    }
    assert_eq!(other(parse(LinkType::ETHERNET, &bytes)), Other::TooDeep);
    let snap = eth(6, &[0xaa, 0xaa, 3, 0, 0, 0, 0, 6]);
    let snaps = [&snap[..], &[0xaa, 0xaa, 3, 0, 0, 0, 0, 6].repeat(100_000)].concat();
    assert_eq!(other(parse(LinkType::ETHERNET, &snaps)), Other::TooDeep);
}
