//! Source, destination and protocol of any packet.

use std::fmt;
use std::net::IpAddr;

use inorder_wire::Endpoint;

/// Where a packet goes, and by which protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Flow {
    /// Source; port 0 where there is none.
    pub src: Endpoint,
    /// Destination.
    pub dst: Endpoint,
    /// Protocol number of IP, or the EtherType of packets that are not IP.
    pub protocol: u16,
    /// False for packets that are not IP, which have no ends.
    pub is_ip: bool,
}

impl Flow {
    /// The flow of a packet of this EtherType, from its network header on.
    pub(crate) fn of(kind: u16, data: &[u8]) -> Flow {
        Flow::ip(data).unwrap_or(Flow {
            src: Endpoint::default(),
            dst: Endpoint::default(),
            protocol: kind,
            is_ip: false,
        })
    }

    fn ip(data: &[u8]) -> Option<Flow> {
        let v4 = |at: usize| Some(u32::from_be_bytes(*data.get(at..)?.first_chunk()?));
        let v6 = |at: usize| Some(u128::from_be_bytes(*data.get(at..)?.first_chunk()?));
        let (src, dst, protocol, ports) = match data.first()? >> 4 {
            4 => {
                let fragment = u16::from_be_bytes(*data.get(6..)?.first_chunk()?) & 0x3fff != 0;
                let header = usize::from(data[0] & 0x0f) * 4;
                let (src, dst) = (Endpoint::v4(v4(12)?, 0), Endpoint::v4(v4(16)?, 0));
                (src, dst, *data.get(9)?, (!fragment).then_some(header))
            }
            6 => (
                Endpoint::v6(v6(8)?, 0),
                Endpoint::v6(v6(24)?, 0),
                *data.get(6)?,
                Some(40),
            ),
            _ => return None,
        };
        // TCP, UDP, DCCP, SCTP, UDP-Lite begin with their ports.
        let has_ports = matches!(protocol, 6 | 17 | 33 | 132 | 136);
        let port = |at: usize| Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?));
        let (from, to) = match ports.filter(|_| has_ports) {
            Some(at) => (port(at).unwrap_or(0), port(at + 2).unwrap_or(0)),
            None => (0, 0),
        };
        Some(Flow {
            src: src.with_port(from),
            dst: dst.with_port(to),
            protocol: u16::from(protocol),
            is_ip: true,
        })
    }

    /// The two hosts, without ports: packets between them take one way in each direction.
    pub(crate) fn hosts(&self) -> Flow {
        let host = |end: Endpoint| end.with_port(0);
        Flow {
            src: host(self.src),
            dst: host(self.dst),
            protocol: if self.is_ip { 0 } else { self.protocol },
            is_ip: self.is_ip,
        }
    }

    /// The flow without its ports, which fragments do not have.
    pub(crate) fn without_ports(&self) -> Flow {
        Flow {
            src: self.src.with_port(0),
            dst: self.dst.with_port(0),
            ..*self
        }
    }

    /// The other direction.
    pub(crate) fn reverse(&self) -> Flow {
        Flow {
            src: self.dst,
            dst: self.src,
            ..*self
        }
    }
}

impl fmt::Display for Flow {
    /// `tcp 10.0.0.1:4000->10.0.0.2:80`, `ip-47 10.0.0.1->10.0.0.2`, `ethernet-0x0806`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_ip {
            return write!(f, "ethernet-{:#06x}", self.protocol);
        }
        match self.protocol {
            0 => {}
            1 => f.write_str("icmp ")?,
            6 => f.write_str("tcp ")?,
            17 => f.write_str("udp ")?,
            58 => f.write_str("icmpv6 ")?,
            132 => f.write_str("sctp ")?,
            other => write!(f, "ip-{other} ")?,
        }
        let end = |end: Endpoint| -> (IpAddr, u16) { (end.socket_addr().ip(), end.port) };
        match (end(self.src), end(self.dst)) {
            ((src, 0), (dst, 0)) => write!(f, "{src}->{dst}"),
            _ => write!(f, "{}->{}", self.src, self.dst),
        }
    }
}
