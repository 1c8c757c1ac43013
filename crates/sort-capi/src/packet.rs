//! A packet as C describes it.

use std::ffi::{c_int, c_void};

use ::inorder_sort::classify::{TcpFacts, tcp_header};
use ::inorder_sort::{FourTuple, Kind, Meta, Sorter as _};

use crate::handle::{Pointer, Sorter, error};

/// A packet and what the sorter must know of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct inorder_sort_packet {
    /// What is delivered; never followed, NULL is as good as any.
    pub packet: *mut c_void,
    /// The flow, one direction of it: any bytes, as inorder_sort_set_v4() and _v6() fill in or
    /// of the caller's own making. All 40 are compared.
    pub flow: [u8; 40],
    /// Sequence number of the first payload byte, host byte order.
    pub seq: u32,
    /// What the packet adds to the sequence number: payload bytes for TCP.
    pub len: u32,
    /// What may be done with it, one of INORDER_SORT_DATA and so on. inorder_sort_set_tcp() tells it
    /// of a TCP segment.
    pub kind: u32,
}

/// Must not wait and passes at once: a fragment, URG, an unknown option, another protocol.
pub const INORDER_SORT_OTHER: u32 = 0;
/// Data with a sequence number: may be held and sorted.
pub const INORDER_SORT_DATA: u32 = 1;
/// A TCP segment that only acknowledges; passes at once.
pub const INORDER_SORT_ACK: u32 = 2;
/// A TCP segment with SYN; passes at once.
pub const INORDER_SORT_OPEN: u32 = 3;
/// A TCP segment with FIN or RST; passes at once.
pub const INORDER_SORT_CLOSE: u32 = 4;

/// Data is looked for first, the others in a function of their own: one `match` becomes an indirect
/// jump for every packet.
#[inline]
fn kind(number: u32) -> Kind {
    if number == INORDER_SORT_DATA {
        Kind::Data
    } else {
        other_kind(number)
    }
}

/// A number that means nothing counts as INORDER_SORT_OTHER, which is never wrong.
#[cold]
fn other_kind(number: u32) -> Kind {
    match number {
        INORDER_SORT_ACK => Kind::Ack,
        INORDER_SORT_OPEN => Kind::Open,
        INORDER_SORT_CLOSE => Kind::Close,
        _ => Kind::Other,
    }
}

fn number(kind: Kind) -> u32 {
    match kind {
        Kind::Data => INORDER_SORT_DATA,
        Kind::Ack => INORDER_SORT_ACK,
        Kind::Open => INORDER_SORT_OPEN,
        Kind::Close => INORDER_SORT_CLOSE,
        _ => INORDER_SORT_OTHER,
    }
}

impl inorder_sort_packet {
    #[inline]
    fn meta(&self) -> Meta<FourTuple> {
        Meta {
            flow: FourTuple::from_bytes(&self.flow),
            seq: self.seq,
            len: self.len,
            kind: kind(self.kind),
        }
    }

    #[inline]
    fn pointer(&self) -> Pointer {
        Pointer::new(self.packet)
    }
}

/// Fills in the flow of a packet over IPv4: addresses in network byte order, ports in host byte
/// order, overlay identifier (VXLAN VNI, ...) or 0. Does nothing when a pointer is NULL.
///
/// # Safety
/// `packet` is NULL or points at a packet, the addresses are NULL or point at 4 bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_set_v4(
    packet: *mut inorder_sort_packet,
    src: *const u8,
    src_port: u16,
    dst: *const u8,
    dst_port: u16,
    overlay: u32,
) {
    // SAFETY: the caller's promise; arrays of bytes have no alignment.
    let (src, dst) = unsafe {
        (
            src.cast::<[u8; 4]>().as_ref(),
            dst.cast::<[u8; 4]>().as_ref(),
        )
    };
    let flow = src
        .zip(dst)
        .map(|(s, d)| FourTuple::v4(*s, src_port, *d, dst_port));
    // SAFETY: the caller's promise.
    unsafe { set(packet, flow, overlay) };
}

/// Fills in the flow of a packet over IPv6, otherwise as inorder_sort_set_v4().
///
/// # Safety
/// `packet` is NULL or points at a packet, the addresses are NULL or point at 16 bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_set_v6(
    packet: *mut inorder_sort_packet,
    src: *const u8,
    src_port: u16,
    dst: *const u8,
    dst_port: u16,
    overlay: u32,
) {
    // SAFETY: the caller's promise; arrays of bytes have no alignment.
    let (src, dst) = unsafe {
        (
            src.cast::<[u8; 16]>().as_ref(),
            dst.cast::<[u8; 16]>().as_ref(),
        )
    };
    let flow = src
        .zip(dst)
        .map(|(s, d)| FourTuple::v6(*s, src_port, *d, dst_port));
    // SAFETY: the caller's promise.
    unsafe { set(packet, flow, overlay) };
}

/// Fills in `seq`, `len` and `kind` from a TCP header as it was received, by the rule all users of
/// these sorters follow: data may be held unless it is a fragment, has IP options, TCP options other
/// than timestamps, or any of the flags CWR ECE URG RST SYN FIN.
///
/// `tcp`: the header with its options, of which `length` bytes are there; `payload_len`: bytes of
/// payload, from the length in the IP header; `special`: the packet is a fragment, or has IP options
/// or extension headers.
///
/// 0; -EINVAL: a pointer is NULL or there are fewer than 20 bytes; then nothing is changed.
///
/// # Safety
/// `packet` is NULL or points at a packet, `tcp` is NULL or points at `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_set_tcp(
    packet: *mut inorder_sort_packet,
    tcp: *const u8,
    length: usize,
    payload_len: u32,
    special: bool,
) -> c_int {
    if packet.is_null() || tcp.is_null() {
        return -error::EINVAL;
    }
    // SAFETY: not NULL, and the caller's promise.
    let header = tcp_header(unsafe { std::slice::from_raw_parts(tcp, length) });
    let Some((seq, facts)) = header else {
        return -error::EINVAL;
    };
    let facts = TcpFacts {
        payload_len,
        ip_options: special,
        ..facts
    };
    // SAFETY: not NULL, and the caller's promise.
    unsafe {
        (&raw mut (*packet).seq).write(seq);
        (&raw mut (*packet).len).write(payload_len);
        (&raw mut (*packet).kind).write(number(facts.kind()));
    }
    0
}

/// # Safety
/// `packet` is NULL or points at a packet, initialised or not.
unsafe fn set(packet: *mut inorder_sort_packet, flow: Option<FourTuple>, overlay: u32) {
    if let Some(flow) = flow
        && !packet.is_null()
    {
        let bytes = flow.in_overlay(overlay).to_bytes();
        // SAFETY: not NULL, and the caller's promise.
        unsafe { (&raw mut (*packet).flow).write(bytes) };
    }
}

/// An array from C; `None` when it is NULL but has a length.
///
/// # Safety
/// `packets` is NULL or an array of `count`.
pub(crate) unsafe fn burst<'a>(
    packets: *const inorder_sort_packet,
    count: usize,
) -> Option<&'a [inorder_sort_packet]> {
    match (packets.is_null(), count) {
        (_, 0) => Some(&[]),
        (true, _) => None,
        // SAFETY: the caller's promise.
        (false, _) => Some(unsafe { std::slice::from_raw_parts(packets, count) }),
    }
}

/// An array to write to; `None` when it is NULL but has a length.
///
/// # Safety
/// `out` is NULL or an array of `room` initialised or plain pointers that nobody else uses.
pub(crate) unsafe fn places<'a>(out: *mut *mut c_void, room: usize) -> Option<&'a mut [Pointer]> {
    match (out.is_null(), room) {
        (_, 0) => Some(&mut []),
        (true, _) => None,
        // SAFETY: the caller's promise; nothing is read from it.
        (false, _) => Some(unsafe { std::slice::from_raw_parts_mut(out.cast(), room) }),
    }
}

/// Pushes a burst.
#[inline]
pub(crate) fn push<F>(sorter: &mut Sorter, burst: &[inorder_sort_packet], now_ns: i64, out: &mut F)
where
    F: FnMut(Pointer) + ?Sized,
{
    sorter.push_burst(
        burst,
        inorder_sort_packet::meta,
        inorder_sort_packet::pointer,
        now_ns,
        out,
    );
}

/// Sorts a batch into an array; `None` when it is too short.
#[inline]
pub(crate) fn sort_batch(
    sorter: &mut Sorter,
    burst: &[inorder_sort_packet],
    now_ns: i64,
    places: &mut [Pointer],
) -> Option<usize> {
    sorter.sort_batch(
        burst,
        inorder_sort_packet::meta,
        inorder_sort_packet::pointer,
        now_ns,
        places,
    )
}
