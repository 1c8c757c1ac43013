//! Services that number their packets.

use inorder_wire::{Aside, LinkType, Numbered, Other, Packet, Service, StreamKey, parse_into};

use crate::build::*;

#[track_caller]
fn numbered(packet: Packet) -> (StreamKey, Numbered) {
    match packet {
        Packet::Numbered(key, packet) => (key, packet),
        other => panic!("expected a numbered packet, got {other:?}"),
    }
}

#[track_caller]
fn summary(bytes: &[u8]) -> (Service, u32, u64, u32) {
    let (key, packet) = numbered(parse(LinkType::RAW, bytes));
    assert_eq!((packet.ts_ns, packet.frame), (5, 9));
    (key.service, key.id, packet.seq, packet.payload_len)
}

/// The numbers beside the packet of a frame.
fn beside(link: LinkType, bytes: &[u8]) -> Vec<(Service, u32, u64)> {
    let (mut packet, mut asides) = (Packet::Other(Other::NotIp), Vec::new());
    parse_into(&frame(link, bytes.len(), bytes), &mut packet, &mut asides);
    let numbers = asides.iter().filter_map(|aside| match aside {
        Aside::Numbered(key, packet) => Some((key.service, key.id, packet.seq)),
        _ => None,
    });
    numbers.collect()
}

fn udp4(src: u16, dst: u16, body: &[u8]) -> Vec<u8> {
    ipv4(17, &udp(src, dst, body))
}

#[test]
fn rtp() {
    let head = [0x80, 96, 0xff, 0xfe, 0, 0, 0, 1, 0, 0, 0, 9];
    let plain = join(&head, &[0; 160]);
    assert_eq!(
        summary(&udp4(40_000, 40_002, &plain)),
        (Service::Rtp, 9, 65534, 160)
    );
    // One contributing source and an extension of one word.
    let mut long = plain.clone();
    long[0] = 0x91;
    long[12..24].copy_from_slice(&[0, 0, 0, 7, 0xbe, 0xde, 0, 1, 1, 2, 3, 4]);
    assert_eq!(
        summary(&udp4(40_000, 40_002, &long)),
        (Service::Rtp, 9, 65534, 148)
    );
    let mut rtcp = plain.clone();
    rtcp[1] = 200;
    assert!(matches!(
        other(parse(LinkType::RAW, &udp4(5004, 5005, &rtcp))),
        Other::Udp(_)
    ));
    assert!(matches!(
        other(parse(LinkType::RAW, &udp4(5004, 53, &plain))),
        Other::Udp(_)
    ));
}

#[test]
fn esp_bare_and_in_udp() {
    let esp = [0, 0, 0x12, 0x34, 0, 0, 0, 7, 1, 2, 3, 4];
    assert_eq!(summary(&ipv4(50, &esp)), (Service::Esp, 0x1234, 7, 4));
    assert_eq!(summary(&ipv6(50, &esp)), (Service::Esp, 0x1234, 7, 4));
    assert_eq!(
        summary(&udp4(4500, 4500, &esp)),
        (Service::Esp, 0x1234, 7, 4)
    );
    for not_esp in [&[0xff][..], &[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]] {
        let packet = parse(LinkType::RAW, &udp4(4500, 4500, not_esp));
        assert!(matches!(other(packet), Other::Udp(_)));
    }
}

#[test]
fn wireguard_data_but_not_its_handshakes() {
    let mut data = vec![4, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0];
    data.extend([0; 16 + 96]);
    assert_eq!(
        summary(&udp4(51820, 9, &data)),
        (Service::WireGuard, 1, 258, 96)
    );
    // What goes to all is no WireGuard.
    let mut to_all = udp4(51820, 9, &data);
    to_all[16..20].copy_from_slice(&[255; 4]);
    assert!(matches!(
        other(parse(LinkType::RAW, &to_all)),
        Other::Udp(_)
    ));
    data[0] = 1;
    assert!(matches!(
        other(parse(LinkType::RAW, &udp4(51820, 9, &data))),
        Other::Udp(_)
    ));
}

#[test]
fn echo_requests_and_replies() {
    let echo = |kind| [kind, 0, 0, 0, 0, 7, 1, 2, 0, 0];
    let service = Service::IcmpEcho;
    assert_eq!(summary(&ipv4(1, &echo(8))), (service, 7, 258, 2));
    assert_eq!(summary(&ipv4(1, &echo(0))), (service, 0x1_0007, 258, 2));
    assert_eq!(summary(&ipv6(58, &echo(128))), (service, 7, 258, 2));
    assert_eq!(summary(&ipv6(58, &echo(129))), (service, 0x1_0007, 258, 2));
    assert_eq!(other(parse(LinkType::RAW, &ipv4(1, &echo(3)))), Other::Icmp);
}

#[test]
fn gre_counts_beside_what_is_inside() {
    let head = [0x30, 0, 0x08, 0x00, 0, 0, 0, 5, 0, 0, 0, 6];
    let ping = ipv4(1, &[8, 0, 0, 0, 0, 7, 1, 2]);
    let bytes = ipv4(47, &join(&head, &ping));
    assert_eq!(summary(&bytes), (Service::Gre, 5, 6, ping.len() as u32));
    assert_eq!(beside(LinkType::RAW, &bytes), [(Service::IcmpEcho, 7, 258)]);
    let inner = ipv4(6, &tcp(0x10, &[], 4));
    let bytes = ipv4(47, &join(&head, &inner));
    let packet = parse(LinkType::RAW, &bytes);
    let number = inorder_wire::Overlay::number(overlay(packet));
    assert_eq!((segment(packet).payload_len, number), (4, 5));
    assert_eq!(beside(LinkType::RAW, &bytes), [(Service::Gre, 5, 6)]);
}

#[test]
fn numbered_packets_in_tunnels_carry_the_overlay() {
    let esp = ipv4(50, &[0, 0, 0x12, 0x34, 0, 0, 0, 7, 1, 2, 3, 4]);
    let vxlan = join(&[8, 0, 0, 0, 0, 0, 3, 0], &eth(0x0800, &esp));
    let (key, packet) = numbered(parse(LinkType::RAW, &udp4(1, 8472, &vxlan)));
    assert_eq!((key.service, key.overlay, packet.seq), (Service::Esp, 3, 7));
}
