//! The TCP header (RFC 9293 section 3.1).

use crate::flow::FlowKey;
use crate::layer::{Context, Network, Parsed, Rest};
use crate::numbered::Aside;
use crate::segment::{MAX_PAYLOAD, NO_WSCALE, Segment, TcpFlags};
use crate::{Other, Packet, mptcp, options};
use etherparse::TcpHeaderSlice;

pub(super) fn parse(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    if context.is_quoted {
        return quoted(network, rest, context);
    }
    let mut fixed = *rest.head::<20>()?;
    let header_len = usize::from(fixed[12] >> 4) * 4;
    if header_len < 20 || header_len > rest.wire {
        return Err(Other::Malformed);
    }
    let payload_len = u32::try_from(rest.wire - header_len).unwrap_or(u32::MAX);
    if payload_len > MAX_PAYLOAD {
        return Err(Other::Malformed);
    }
    // The snap length may have cut the options, so the fixed part is parsed as a header without options.
    fixed[12] = 0x50 | fixed[12] & 0x0f;
    let header = TcpHeaderSlice::from_slice(&fixed).map_err(|_| Other::Malformed)?;
    let ends = network.with_ports(header.source_port(), header.destination_port());
    let (key, dir) = FlowKey::new(ends.src, ends.dst, context.overlay_of_tcp());
    let mut segment = Segment {
        ts_ns: context.ts_ns,
        frame: context.frame,
        seq: header.sequence_number(),
        ack: header.acknowledgment_number(),
        payload_len,
        window: header.window_size(),
        ip_id: network.ip_id,
        flags: flags(&header),
        has: network.has,
        ttl: network.ttl,
        wscale: NO_WSCALE,
        ecn: network.ecn,
        ..Segment::default()
    };
    let captured = rest.data.get(20..header_len.min(rest.data.len()));
    options::read(&mut segment, captured.unwrap_or_default(), header_len - 20);
    let syn = segment.flags.any(TcpFlags::SYN);
    if let Some(option) = captured.and_then(|captured| mptcp::find(captured, syn)) {
        let subflow = mptcp::Subflow {
            ts_ns: segment.ts_ns,
            frame: segment.frame,
            seq: segment.seq,
            payload_len,
            syn,
            option,
        };
        context.aside(Aside::Subflow(key.on_any_path(), dir, subflow));
    }
    Ok(Packet::Tcp(key, dir, segment))
}

/// What ICMP must quote of a segment: its first eight bytes (RFC 792), of which the snap length may cut the last four. `payload_len` is the
/// length of the whole segment, with its header, whose length may not be there, and `ack` tells which bits of the number are.
fn quoted(network: &Network, rest: Rest<'_>, context: Context<'_>) -> Parsed {
    let [s0, s1, d0, d1] = *rest.head::<4>()?;
    let (mut seq, mut known) = ([0; 4], [0; 4]);
    let bytes = rest.data.iter().skip(4);
    for ((to, known), byte) in seq.iter_mut().zip(&mut known).zip(bytes) {
        (*to, *known) = (*byte, 0xff);
    }
    let ends = network.with_ports(u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
    let (key, dir) = FlowKey::new(ends.src, ends.dst, context.overlay_of_tcp());
    let segment = Segment {
        ts_ns: context.ts_ns,
        frame: context.frame,
        seq: u32::from_be_bytes(seq),
        ack: u32::from_be_bytes(known),
        payload_len: u32::try_from(rest.wire).unwrap_or(u32::MAX),
        ip_id: network.ip_id,
        has: network.has,
        ..Segment::default()
    };
    Ok(Packet::Tcp(key, dir, segment))
}

fn flags(header: &TcpHeaderSlice<'_>) -> TcpFlags {
    let bits = [
        (header.fin(), TcpFlags::FIN),
        (header.syn(), TcpFlags::SYN),
        (header.rst(), TcpFlags::RST),
        (header.psh(), TcpFlags::PSH),
        (header.ack(), TcpFlags::ACK),
        (header.urg(), TcpFlags::URG),
        (header.ece(), TcpFlags::ECE),
        (header.cwr(), TcpFlags::CWR),
    ];
    TcpFlags(
        bits.iter()
            .filter(|(set, _)| *set)
            .fold(0, |all, (_, bit)| all | bit),
    )
}
