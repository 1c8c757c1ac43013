//! A packet as the C interface describes it.

use std::ffi::{c_int, c_void};

use ::inorder_sort::classify::{TcpFacts, tcp_header};
use ::inorder_sort::{FourTuple, Kind, Meta, Sorter as _};

use crate::handle::{Pointer, Sorter, error};

/// A packet and what the sorter needs to know about it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct inorder_sort_packet {
    /// The pointer that is delivered. The library never dereferences it; NULL is allowed.
    pub packet: *mut c_void,
    /// The flow, which is one direction of a connection. inorder_sort_set_v4() and inorder_sort_set_v6() fill it in;
    /// the caller may also use bytes of its own. All 40 bytes are compared.
    pub flow: [u8; 40],
    /// Sequence number of the first payload byte, in host byte order.
    pub seq: u32,
    /// The amount the packet adds to the sequence number: for TCP the payload bytes.
    pub len: u32,
    /// How the sorter may treat the packet: INORDER_SORT_DATA or another constant of this group.
    /// inorder_sort_set_tcp() determines it for a TCP segment.
    pub kind: u32,
}

/// Must not be held and passes at once: a fragment, URG, an unknown option, another protocol.
pub const INORDER_SORT_OTHER: u32 = 0;
/// Data with a sequence number: may be held and sorted.
pub const INORDER_SORT_DATA: u32 = 1;
/// A TCP segment that only carries an acknowledgement; passes at once.
pub const INORDER_SORT_ACK: u32 = 2;
/// A TCP segment with SYN; passes at once.
pub const INORDER_SORT_OPEN: u32 = 3;
/// A TCP segment with FIN or RST; passes at once.
pub const INORDER_SORT_CLOSE: u32 = 4;

/// Data is tested first and the others are in a separate function: a single `match` would compile to an indirect jump
/// for every packet.
#[inline]
fn kind(number: u32) -> Kind {
    if number == INORDER_SORT_DATA {
        Kind::Data
    } else {
        other_kind(number)
    }
}

/// An unknown number counts as INORDER_SORT_OTHER, which is always safe.
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

/// Fills in the flow of a packet over IPv4: addresses in network byte order, ports in host byte order, and the
/// overlay identifier (for example a VXLAN VNI) or 0. Does nothing when a pointer is NULL.
///
/// # Safety
/// `packet` is NULL or points to a packet; each address is NULL or points to 4 bytes.
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

/// Fills in the flow of a packet over IPv6; otherwise like inorder_sort_set_v4().
///
/// # Safety
/// `packet` is NULL or points to a packet; each address is NULL or points to 16 bytes.
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

/// Fills in `seq`, `len` and `kind` from a TCP header as received. A segment with payload may be held unless it is a
/// fragment, has IP options, has TCP options other than timestamps, or has any of the flags CWR, ECE, URG, RST, SYN
/// and FIN. All users of these sorters apply the same rule.
///
/// `tcp` is the header with its options, of which `length` bytes are available; `payload_len` is the payload in
/// bytes, computed from the length in the IP header; `special` is true when the packet is a fragment or has IP
/// options or extension headers.
///
/// Returns 0; -EINVAL when a pointer is NULL or fewer than 20 bytes are available, and then nothing is changed.
///
/// # Safety
/// `packet` is NULL or points to a packet, `tcp` is NULL or points to `length` bytes.
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
/// `packet` is NULL or points to memory for a packet, initialised or not.
unsafe fn set(packet: *mut inorder_sort_packet, flow: Option<FourTuple>, overlay: u32) {
    if let Some(flow) = flow
        && !packet.is_null()
    {
        let bytes = flow.in_overlay(overlay).to_bytes();
        // SAFETY: not NULL, and the caller's promise.
        unsafe { (&raw mut (*packet).flow).write(bytes) };
    }
}

/// An array from C; `None` when it is NULL and its length is not 0.
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

/// An array to write to; `None` when it is NULL and its length is not 0.
///
/// # Safety
/// `out` is NULL or an array of `room` pointers, initialised or not, that nothing else uses.
pub(crate) unsafe fn places<'a>(out: *mut *mut c_void, room: usize) -> Option<&'a mut [Pointer]> {
    match (out.is_null(), room) {
        (_, 0) => Some(&mut []),
        (true, _) => None,
        // SAFETY: the caller's promise; the array is never read.
        (false, _) => Some(unsafe { std::slice::from_raw_parts_mut(out.cast(), room) }),
    }
}

/// Pushes the packets of a batch.
#[inline]
pub(crate) fn push(
    sorter: &mut Sorter,
    burst: &[inorder_sort_packet],
    now_ns: i64,
    out: &mut (impl FnMut(Pointer) + ?Sized),
) {
    sorter.push_burst(
        burst,
        inorder_sort_packet::meta,
        inorder_sort_packet::pointer,
        now_ns,
        out,
    );
}

/// Sorts a batch into an array; `None` when the array is too short.
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
