//! Which flows expressions select, what is said of texts that are none, and a straightforward twin.

use std::net::{IpAddr, SocketAddr};

use inorder_filter::{Filter, fuzz_one};
use inorder_wire::{Endpoint, FlowKey, Service, StreamKey};
use proptest::prelude::*;

/// True if `filter` selects the flow written as `SRC>DST`.
fn selects(filter: &str, flow: &str) -> bool {
    let filter: Filter = filter.parse().unwrap_or_else(|e| panic!("{filter}: {e}"));
    let (src, dst) = flow.split_once('>').unwrap();
    filter.flow(src.parse().unwrap(), dst.parse().unwrap(), 0)
}

const WEB: &str = "10.0.0.1:40000>192.0.2.7:443";
const BACK: &str = "192.0.2.7:443>10.0.0.1:40000";
const SIX: &str = "[2001:db8::1]:5000>[2001:db8:1::2]:80";

#[test]
fn terms_select_flows() {
    for (filter, yes, no) in [
        ("10.0.0.1", &[WEB, BACK][..], &[SIX][..]),
        ("host 10.0.0.1", &[WEB, BACK], &[SIX]),
        ("10.0.0.0/8", &[WEB, BACK], &[SIX]),
        ("net 10.0.0.0/31", &[WEB, BACK], &[SIX]),
        ("0.0.0.0/0", &[WEB, BACK], &[SIX]),
        ("::/0", &[SIX], &[WEB, BACK]),
        ("2001:db8::/47", &[SIX], &[WEB]),
        ("[2001:db8::1]", &[SIX], &[WEB]),
        ("[2001:db8::/32]:80", &[SIX], &[WEB]),
        ("[2001:db8::]/32", &[SIX], &[WEB]),
        ("2001:db8::1:80", &[], &[SIX]),
        ("port 443", &[WEB, BACK], &[SIX]),
        (":443", &[WEB, BACK], &[SIX]),
        ("port 400-500", &[WEB, BACK], &[SIX]),
        ("192.0.2.7:443", &[WEB, BACK], &[SIX]),
        ("192.0.2.7:40000", &[], &[WEB, BACK]),
        ("src 10.0.0.1", &[WEB], &[BACK]),
        ("dst port 443", &[WEB], &[BACK, SIX]),
        ("src :443", &[BACK], &[WEB]),
        ("10.0.0.1:40000->192.0.2.7:443", &[WEB], &[BACK]),
        ("10.0.0.1 <-> :443", &[WEB, BACK], &[SIX]),
        ("* -> :443", &[WEB], &[BACK]),
        ("*:443 -> *", &[BACK], &[WEB]),
        ("tcp", &[WEB, BACK, SIX], &[]),
        ("rtp or udp or ESP", &[], &[WEB, SIX]),
        ("ipv4", &[WEB], &[SIX]),
        ("overlay 0", &[WEB], &[]),
        ("vlan 10", &[], &[WEB]),
        ("overlay 7", &[], &[WEB]),
        ("not port 443", &[SIX], &[WEB]),
        ("!port 443&&tcp", &[SIX], &[WEB]),
        ("not (port 443 or ipv6)", &[], &[WEB, SIX]),
        ("ipv6 or tcp and port 443", &[WEB, SIX], &[]),
        ("(ipv6 or tcp) and port 443", &[WEB], &[SIX]),
    ] {
        for flow in yes {
            assert!(selects(filter, flow), "{filter}: {flow}");
        }
        for flow in no {
            assert!(!selects(filter, flow), "{filter}: {flow}");
        }
    }
}

#[test]
fn both_directions_of_a_connection_are_analysed() {
    let filter: Filter = "10.0.0.1:40000 -> 192.0.2.7:443".parse().unwrap();
    let (key, _) = FlowKey::new(
        Endpoint::v4(0xc000_0207, 443),
        Endpoint::v4(0x0a00_0001, 40_000),
        0,
    );
    assert!(filter.connection(&key));
    assert!(!"src port 80".parse::<Filter>().unwrap().connection(&key));
}

#[test]
fn services_select_streams() {
    for service in Service::ALL {
        let key = StreamKey {
            service: *service,
            src: Endpoint::v4(1, 5004),
            dst: Endpoint::v4(2, 5004),
            id: 7,
            overlay: 0,
        };
        let selects = |text: &str| text.parse::<Filter>().unwrap().stream(&key);
        assert!(selects(service.name()));
        // The data of Multipath TCP is data of TCP.
        assert_eq!(selects("tcp"), *service == Service::Mptcp);
        assert_eq!(selects("udp"), service.is_over_udp());
        assert!(selects("0.0.0.1->0.0.0.2") && !selects("0.0.0.2->0.0.0.1"));
    }
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    for (text, message) in [
        (
            "",
            "character 1: found the end, expected an address, a prefix, `port N`",
        ),
        (
            "prot 80",
            "character 1: `prot` is no address, port or known word; did you mean `port`?",
        ),
        (
            "tcp and wiregard",
            "character 9: `wiregard` is no address, port or known word; did you mean `wireguard`?",
        ),
        ("443", "did you mean `port 443`?"),
        (
            "tcp port 80",
            "character 5: found `port`, expected `and`, `or` or the end",
        ),
        ("(tcp", "character 1: this `(` is never closed"),
        ("tcp)", "character 4: this `)` closes nothing"),
        (
            "port",
            "character 5: found the end, expected a port or a range such as `80-90` after `port`",
        ),
        (
            "port 99999",
            "character 6: `99999` is no port, expected 0 to 65535",
        ),
        (
            "10.0.0.1:90-80",
            "character 10: the range of ports `90-80` is empty",
        ),
        (
            "10.0.0.0/33",
            "character 1: the prefix `10.0.0.0/33` is too long, expected at most 32 bits",
        ),
        ("10.0.0.0/x", "character 1: `x` is no length of a prefix"),
        (
            "10.0.0.1 ->",
            "character 12: found the end, expected an address",
        ),
        ("example.org", "character 1: `example.org` is no address"),
        ("über", "character 1: `über` is no address"),
        ("tcp or or", "character 8: `or` is no address"),
        ("overlay x", "character 9: `x` is no number of 32 bits"),
        ("vlan 4095", "character 6: `4095` is no VLAN from 1 to 4094"),
    ] {
        let error = text.parse::<Filter>().unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let deep = "(".repeat(100_000);
    let error = deep.parse::<Filter>().unwrap_err();
    assert!(error.problem.contains("inside each other"), "{error}");
}

/// The twin: text and meaning are made together, by the plainest means.
#[derive(Clone, Debug)]
enum Twin {
    Port(u16),
    Src(IpAddr),
    Net(IpAddr, u32),
    Not(Box<Twin>),
    And(Box<Twin>, Box<Twin>),
    Or(Box<Twin>, Box<Twin>),
}

impl Twin {
    fn text(&self) -> String {
        match self {
            Twin::Port(port) => format!("port {port}"),
            Twin::Src(addr) => format!("src {addr}"),
            Twin::Net(addr, bits) => format!("{addr}/{bits}"),
            Twin::Not(inner) => format!("not ({})", inner.text()),
            Twin::And(a, b) => format!("({}) and ({})", a.text(), b.text()),
            Twin::Or(a, b) => format!("({}) or ({})", a.text(), b.text()),
        }
    }

    fn holds(&self, src: SocketAddr, dst: SocketAddr) -> bool {
        match self {
            Twin::Port(port) => src.port() == *port || dst.port() == *port,
            Twin::Src(addr) => src.ip() == *addr,
            Twin::Net(addr, bits) => {
                within(src.ip(), *addr, *bits) || within(dst.ip(), *addr, *bits)
            }
            Twin::Not(inner) => !inner.holds(src, dst),
            Twin::And(a, b) => a.holds(src, dst) && b.holds(src, dst),
            Twin::Or(a, b) => a.holds(src, dst) || b.holds(src, dst),
        }
    }
}

/// Compares the first bits one by one, as text.
fn within(addr: IpAddr, net: IpAddr, bits: u32) -> bool {
    let digits = |addr: IpAddr| match addr {
        IpAddr::V4(v4) => format!("{:032b}", v4.to_bits()),
        IpAddr::V6(v6) => format!("{:0128b}", v6.to_bits()),
    };
    let (addr_digits, net_digits) = (digits(addr), digits(net));
    addr.is_ipv4() == net.is_ipv4() && addr_digits[..bits as usize] == net_digits[..bits as usize]
}

/// Few addresses, so that terms often hold.
fn address() -> impl Strategy<Value = IpAddr> {
    prop::sample::select(vec![
        "10.0.0.1",
        "10.0.0.2",
        "192.0.2.7",
        "2001:db8::1",
        "2001:db8:1::2",
    ])
    .prop_map(|text| text.parse().unwrap())
}

fn twin() -> impl Strategy<Value = Twin> {
    let leaf = prop_oneof![
        (1u16..4).prop_map(Twin::Port),
        address().prop_map(Twin::Src),
        (address(), 0u32..=32).prop_map(|(addr, bits)| Twin::Net(addr, bits)),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Twin::Not(Box::new(a))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Twin::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Twin::Or(Box::new(a), Box::new(b))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_expression_means_what_its_twin_means(
        twin in twin(), src in address(), dst in address(), ports in (1u16..4, 1u16..4)
    ) {
        let filter: Filter = twin.text().parse().unwrap();
        let (src, dst) = (SocketAddr::new(src, ports.0), SocketAddr::new(dst, ports.1));
        prop_assert_eq!(filter.flow(src, dst, 0), twin.holds(src, dst), "{}", twin.text());
    }

    #[test]
    fn any_text_is_refused_or_logical(text in "[ ()!a-z0-9.:/*<>\\[\\]&|-]{0,40}") {
        fuzz_one(text.as_bytes());
    }

    #[test]
    fn words_in_any_order_are_refused_or_logical(
        words in prop::collection::vec(prop::sample::select(vec![
            "tcp", "rtp", "not", "and", "or", "(", ")", "->", "<->", "port", "src", "dst", "10.0.0.1", ":80",
            "[2001:db8::1]:443", "80-90", "*", "!", "10.0.0.0/8", "overlay", "0",
        ]), 0..12)
    ) {
        fuzz_one(words.join(" ").as_bytes());
    }
}
