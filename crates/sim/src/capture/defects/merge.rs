//! Data frames of a connection that one frame of the capture holds: merged behind the wire (GRO), or not yet cut before it (TSO).

use std::collections::HashMap;

use inorder_scenario::config::Capture;

use super::Captured;
use super::wrap::{IP, put_ip_length};
use crate::packet::End;

/// Flags of TCP in their byte: FIN, SYN and RST, which end a merged frame or are not merged.
const ENDS: u8 = 0x07;
const PSH: u8 = 0x08;
/// A merged packet fits into the length field of IPv4.
const LONGEST: u32 = 65_535;

/// What of a frame decides whether another continues it.
#[derive(Clone, Copy)]
struct Facts {
    seq: u32,
    ack: u32,
    payload: u32,
    header: usize,
    flags: u8,
}

fn facts(frame: &Captured) -> Option<Facts> {
    let tcp = frame.bytes.get(IP + 20..IP + 40)?;
    let word = |at: usize| Some(u32::from_be_bytes(tcp.get(at..at + 4)?.try_into().ok()?));
    let header = IP + 20 + usize::from(tcp[12] >> 4) * 4;
    Some(Facts {
        seq: word(4)?,
        ack: word(8)?,
        payload: frame.length.checked_sub(header as u32)?,
        header,
        flags: tcp[13],
    })
}

/// A merged frame stands where its first packet stood.
pub(super) fn apply(frames: Vec<Captured>, plan: &Capture) -> Vec<Captured> {
    if plan.merge < 2 {
        return frames;
    }
    let mut out: Vec<Captured> = Vec::new();
    let mut open: HashMap<(u32, bool), (usize, Facts, i64)> = HashMap::new();
    for frame in frames {
        let key = (frame.flow, frame.from == End::A);
        let Some(next) = facts(&frame).filter(|f| f.payload > 0 && f.flags & ENDS == 0) else {
            open.remove(&key);
            out.push(frame);
            continue;
        };
        if let Some((at, held, last_ns)) = open.get_mut(&key)
            && let Some(first) = out.get_mut(*at)
            && continues(first, held, &frame, &next)
            && frame.ts_ns - *last_ns <= plan.merge_gap_ns
            && first.originals.len() < plan.merge as usize
        {
            absorb(first, &frame, &next);
            held.payload += next.payload;
            *last_ns = frame.ts_ns;
            if next.flags & PSH != 0 {
                open.remove(&key);
            }
            continue;
        }
        open.insert(key, (out.len(), next, frame.ts_ns));
        out.push(frame);
    }
    out
}

fn continues(first: &Captured, held: &Facts, frame: &Captured, next: &Facts) -> bool {
    let options = |frame: &Captured, facts: &Facts| {
        frame.bytes.get(IP + 40..facts.header).map(<[u8]>::to_vec)
    };
    next.seq == held.seq.wrapping_add(held.payload)
        && next.ack == held.ack
        && options(first, held) == options(frame, next)
        && first.length + next.payload < LONGEST
}

fn absorb(first: &mut Captured, frame: &Captured, next: &Facts) {
    first.length += next.payload;
    first.originals.extend(&frame.originals);
    if let Some(flags) = first.bytes.get_mut(IP + 33) {
        *flags |= next.flags;
    }
    let length = first.length - IP as u32;
    put_ip_length(&mut first.bytes, IP, length);
}
