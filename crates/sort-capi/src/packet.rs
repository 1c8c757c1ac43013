//! A packet as C describes it.

use std::ffi::c_void;

use ::inorder_sort::{FourTuple, Meta};

use crate::handle::{Pointer, Sorter};

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
    /// 0: must not wait and passes at once, after what its flow has held. Anything else: may be
    /// held and sorted (data, not a fragment, no IP options, no TCP options but timestamps, none
    /// of CWR ECE URG RST SYN FIN).
    pub suitable: u32,
}

impl inorder_sort_packet {
    #[inline]
    fn meta(&self) -> Meta<FourTuple> {
        Meta {
            flow: FourTuple::from_bytes(&self.flow),
            seq: self.seq,
            len: self.len,
            suitable: self.suitable != 0,
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
pub(crate) fn push<F>(sorter: &mut Sorter, burst: &[inorder_sort_packet], out: &mut F)
where
    F: FnMut(Pointer) + ?Sized,
{
    sorter.push_burst(
        burst,
        inorder_sort_packet::meta,
        inorder_sort_packet::pointer,
        out,
    );
}

/// Sorts a batch into an array; `None` when it is too short.
#[inline]
pub(crate) fn sort_batch(
    sorter: &mut Sorter,
    burst: &[inorder_sort_packet],
    places: &mut [Pointer],
) -> Option<usize> {
    sorter.sort_batch(
        burst,
        inorder_sort_packet::meta,
        inorder_sort_packet::pointer,
        places,
    )
}
