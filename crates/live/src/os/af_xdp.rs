//! Receives frames of an interface before the kernel sees them, through AF_XDP sockets, one for each queue.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::between::End;
use super::bpf::Attached;
use super::link::{Change, Link};
use super::mapped::Mapped;
use super::port::index_of;
use super::sys::{self, checked};
use super::{LiveError, clock};
use crate::frame::Frame;
use crate::frame::headers::Headers;
use crate::frame::vnet::{Checksum, Header};

/// Frames that a queue holds.
const FRAMES: u32 = 4096;
/// Bytes of each frame's place; the kernel takes 256 of them for itself.
const FRAME_BYTES: u32 = 4096;

/// All receive queues of an interface.
pub(super) struct Receiver {
    queues: Vec<Queue>,
    /// Readable if one of the queues is.
    any: OwnedFd,
    next: usize,
    link: Link,
    is_gone: bool,
    _attached: Attached,
}

impl Receiver {
    /// Takes TCP of this interface; everything else goes to the kernel as before. So does TCP again as soon as this
    /// value is dropped or the process ends, for whatever reason.
    /// `tell` is told what becomes of the interface.
    pub(super) fn open(name: &str, tell: fn(&str)) -> Result<Self, LiveError> {
        let index = index_of(name)?;
        let count = queues_of(name);
        let attached = Attached::new(name, index, count)?;
        // SAFETY: the call takes flags only.
        let any = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let failed = |source| LiveError::System {
            what: format!("cannot receive from {name} through AF_XDP"),
            source,
        };
        checked(any).map_err(failed)?;
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let any = unsafe { OwnedFd::from_raw_fd(any) };
        let mut queues = Vec::new();
        for number in 0..count {
            let queue = Queue::open(index, number).map_err(failed)?;
            let mut event = libc::epoll_event {
                events: libc::EPOLLIN as u32,
                u64: 0,
            };
            // SAFETY: `event` is valid for the call.
            let done = unsafe {
                libc::epoll_ctl(
                    any.as_raw_fd(),
                    libc::EPOLL_CTL_ADD,
                    queue.fd.as_raw_fd(),
                    &mut event,
                )
            };
            checked(done).map_err(failed)?;
            queues.push(queue);
        }
        for (number, queue) in (0..).zip(&queues) {
            attached.set(number, &queue.fd)?;
        }
        Ok(Receiver {
            queues,
            any,
            next: 0,
            link: Link::new(name, index, tell)?.without_return(),
            is_gone: false,
            _attached: attached,
        })
    }
}

impl Receiver {
    /// True if the interface was removed. One that has its name now is another one, whose frames the program does not see.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Looks whether the interface is there. A queue whose interface is gone is readable for ever, so that nothing waits any
    /// more: it is not asked again.
    fn look(&mut self) {
        self.is_gone |= matches!(self.link.look(false), Change::Replaced(_)) || self.link.is_gone();
    }
}

/// Number of receive queues, at least 1.
fn queues_of(name: &str) -> u32 {
    let folder = std::fs::read_dir(format!("/sys/class/net/{name}/queues"));
    let names = folder
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let count = names
        .filter(|name| name.to_string_lossy().starts_with("rx-"))
        .count();
    u32::try_from(count.max(1)).unwrap_or(1)
}

impl AsRawFd for Receiver {
    fn as_raw_fd(&self) -> RawFd {
        self.any.as_raw_fd()
    }
}

impl End for Receiver {
    fn receive(&mut self) -> Result<Option<Frame>, LiveError> {
        for _ in 0..self.queues.len() {
            let frame = self.queues.get_mut(self.next).and_then(Queue::receive);
            if frame.is_some() {
                return Ok(frame);
            }
            self.next = (self.next + 1) % self.queues.len();
        }
        self.look();
        Ok(None)
    }

    fn has_ended(&self) -> bool {
        self.is_gone
    }

    /// Nothing is sent this way: the kernel sends as before.
    fn send(&mut self, _: &Frame) {}

    fn take_counts(&mut self) -> (u64, u64) {
        (self.queues.iter_mut().map(Queue::take_missed).sum(), 0)
    }
}

/// A ring shared with the kernel. One side writes `producer`, the other one `consumer`.
struct Ring {
    area: Mapped,
    offsets: libc::xdp_ring_offset,
}

impl Ring {
    fn new(
        fd: &OwnedFd,
        entry: usize,
        offsets: libc::xdp_ring_offset,
        place: i64,
    ) -> io::Result<Self> {
        let bytes = offsets.desc as usize + FRAMES as usize * entry;
        Ok(Ring {
            area: Mapped::new(bytes, fd.as_raw_fd(), place)?,
            offsets,
        })
    }

    fn counter(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the kernel gave the offset of an aligned 32-bit counter within the area, which lives as long as self.
        unsafe { &*self.area.start().add(offset as usize).cast::<AtomicU32>() }
    }

    fn producer(&self) -> &AtomicU32 {
        self.counter(self.offsets.producer)
    }

    fn consumer(&self) -> &AtomicU32 {
        self.counter(self.offsets.consumer)
    }

    /// The entry for a count of the producer or consumer.
    fn entry<T>(&self, count: u32) -> *mut T {
        let index = (count % FRAMES) as usize;
        // SAFETY: the area has `FRAMES` entries of this type behind the offset.
        unsafe {
            self.area
                .start()
                .add(self.offsets.desc as usize)
                .cast::<T>()
                .add(index)
        }
    }
}

/// One receive queue with its memory.
struct Queue {
    received: Ring,
    free: Ring,
    memory: Mapped,
    fd: OwnedFd,
    missed: u64,
}

impl Queue {
    fn open(index: u32, number: u32) -> io::Result<Self> {
        let fd = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0)?;
        let memory = Mapped::new((FRAMES * FRAME_BYTES) as usize, -1, 0)?;
        // SAFETY: all zeros are a valid registration.
        let mut area: libc::xdp_umem_reg = unsafe { std::mem::zeroed() };
        area.addr = memory.start().addr() as u64;
        area.len = memory.bytes() as u64;
        area.chunk_size = FRAME_BYTES;
        sys::set(&fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &area)?;
        for ring in [
            libc::XDP_UMEM_FILL_RING,
            libc::XDP_UMEM_COMPLETION_RING,
            libc::XDP_RX_RING,
        ] {
            sys::set(&fd, libc::SOL_XDP, ring, &FRAMES)?;
        }
        let offsets: libc::xdp_mmap_offsets = sys::get(&fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let received = Ring::new(
            &fd,
            size_of::<libc::xdp_desc>(),
            offsets.rx,
            libc::XDP_PGOFF_RX_RING,
        )?;
        let place = libc::XDP_UMEM_PGOFF_FILL_RING.cast_signed();
        let free = Ring::new(&fd, size_of::<u64>(), offsets.fr, place)?;
        let queue = Queue {
            received,
            free,
            memory,
            fd,
            missed: 0,
        };
        // One place stays unused: a ring that is full would look to its users like an empty one.
        (0..FRAMES).for_each(|frame| queue.give_back(u64::from(frame * FRAME_BYTES)));
        // SAFETY: all zeros are a valid address.
        let mut address: libc::sockaddr_xdp = unsafe { std::mem::zeroed() };
        address.sxdp_family = libc::AF_XDP as u16;
        address.sxdp_ifindex = index;
        address.sxdp_queue_id = number;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: `address` is valid for `length` bytes.
        let done = unsafe { libc::bind(queue.fd.as_raw_fd(), (&raw const address).cast(), length) };
        checked(done).map(|_| queue)
    }

    /// Gives the place of a frame to the kernel.
    fn give_back(&self, place: u64) {
        let count = self.free.producer().load(Ordering::Relaxed);
        // SAFETY: the kernel reads the entry only after the counter was increased.
        unsafe { self.free.entry::<u64>(count).write(place) };
        self.free
            .producer()
            .store(count.wrapping_add(1), Ordering::Release);
    }

    fn receive(&mut self) -> Option<Frame> {
        let count = self.received.consumer().load(Ordering::Relaxed);
        if count == self.received.producer().load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the kernel wrote this entry before it increased the counter.
        let entry = unsafe { self.received.entry::<libc::xdp_desc>(count).read() };
        let (place, length) = (entry.addr as usize, entry.len as usize);
        let mut bytes = match place
            .checked_add(length)
            .is_some_and(|end| end <= self.memory.bytes())
        {
            // SAFETY: the range lies within the memory, and the kernel does not write to it before it is given back.
            true => unsafe { std::slice::from_raw_parts(self.memory.start().add(place), length) }
                .to_vec(),
            false => Vec::new(),
        };
        self.received
            .consumer()
            .store(count.wrapping_add(1), Ordering::Release);
        self.give_back(entry.addr - entry.addr % u64::from(FRAME_BYTES));
        let header = Header {
            checksum: trusted(&mut bytes),
            ..Header::default()
        };
        Some(Frame::new(bytes, header, clock::monotonic_ns()))
    }

    /// Frames that found no free place or no room in the ring, since the last call.
    fn take_missed(&mut self) -> u64 {
        let seen = sys::get(&self.fd, libc::SOL_XDP, libc::XDP_STATISTICS);
        let all = seen.map_or(self.missed, |seen: libc::xdp_statistics| {
            seen.rx_dropped + seen.rx_ring_full + seen.rx_fill_ring_empty_descs
        });
        all - std::mem::replace(&mut self.missed, all)
    }
}

/// XDP does not say whether the checksum was verified, so it is verified here; over veth it may never have been
/// computed. A TAP device trusts a frame only if the checksum is still to be computed, so that is what it is told of
/// every frame that is undamaged. The kernel verifies, drops and counts the others.
fn trusted(bytes: &mut Vec<u8>) -> Checksum {
    let headers = Headers::find(bytes).filter(|h| h.is_undamaged(bytes) || h.is_partial(bytes));
    let Some(headers) = headers else {
        return Checksum::Unknown;
    };
    // Ethernet's padding does not belong to the packet.
    bytes.truncate(headers.end);
    headers.set_partial(bytes);
    let (start, offset) = (headers.transport as u16, headers.checksum_offset() as u16);
    Checksum::Partial { start, offset }
}
