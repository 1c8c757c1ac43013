//! What passes an interface, as a capture without an end: a ring of blocks shared with the kernel (TPACKET_V3,
//! packet_mmap in the kernel's documentation), read as the bytes of a pcap file.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use inorder_capture::PcapWriter;
use inorder_wire::{Frame, LinkType};

use super::link::{Change, Link};
use super::mapped::Mapped;
use super::sys;
use super::{LiveError, clock, port};

/// Bytes of a block. The kernel hands over a block when it is full, or after [`BLOCK_MS`].
const BLOCK_BYTES: usize = 1 << 20;
const BLOCK_MS: u32 = 20;
/// Bytes that [`Read::read`] collects before it returns, if there are as many.
const PIECE_BYTES: usize = 1 << 18;

/// An interface that is watched.
pub struct Ring {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    area: Mapped,
    fd: OwnedFd,
    blocks: usize,
    /// The block that is read next, or is being read: how many of its frames are left, and where the next one begins.
    block: usize,
    left: u32,
    place: usize,
    is_open: bool,
    link: LinkType,
    snap_bytes: u32,
    missed: u64,
    interface: Link,
}

// SAFETY: the mapped area belongs to this value alone.
unsafe impl Send for Inner {}

impl Ring {
    /// Watches an interface; of each frame the first `snap_bytes` bytes are kept. `buffer_bytes` bytes of frames wait
    /// in memory while they are not read. `tell` is told what becomes of the interface.
    pub fn open(
        name: &str,
        snap_bytes: u32,
        buffer_bytes: usize,
        tell: fn(&str),
    ) -> Result<Self, LiveError> {
        let index = port::index_of(name)?;
        let link = link_type(name)?;
        let what = format!("cannot watch {name} (this needs root or the capability CAP_NET_RAW)");
        let failed = |source| LiveError::System {
            what: what.clone(),
            source,
        };
        let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(failed)?;
        let blocks = (buffer_bytes / BLOCK_BYTES).max(4);
        let area = set_up(&fd, index, snap_bytes, blocks).map_err(failed)?;
        Ok(Ring {
            inner: Arc::new(Mutex::new(Inner {
                area,
                fd,
                blocks,
                block: 0,
                left: 0,
                place: 0,
                is_open: false,
                link,
                snap_bytes,
                missed: 0,
                interface: Link::new(name, index, tell)?,
            })),
        })
    }

    /// A capture of what passes during the next `ns` nanoseconds, or until `stop`. Frames that pass between two
    /// captures wait for the next one.
    pub fn capture(&self, ns: i64, stop: &'static AtomicBool) -> impl Read + Send + 'static {
        Reading {
            ring: Arc::clone(&self.inner),
            writer: None,
            bytes: Shared::default(),
            given: 0,
            end_ns: clock::monotonic_ns().saturating_add(ns),
            stop,
        }
    }

    /// Frames that found no room, since the beginning.
    pub fn missed(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.count_missed();
        inner.missed
    }
}

fn set_up(fd: &OwnedFd, index: u32, snap_bytes: u32, blocks: usize) -> io::Result<Mapped> {
    sys::set(
        fd,
        libc::SOL_PACKET,
        libc::PACKET_VERSION,
        &(libc::tpacket_versions::TPACKET_V3 as i32),
    )?;
    // One instruction of the classic filter: accept, cut to this number of bytes.
    let mut accept = libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: snap_bytes,
    };
    let filter = libc::sock_fprog {
        len: 1,
        filter: &raw mut accept,
    };
    sys::set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK_BYTES as u32,
        tp_block_nr: blocks as u32,
        tp_frame_size: 2048,
        tp_frame_nr: (BLOCK_BYTES / 2048 * blocks) as u32,
        tp_retire_blk_tov: BLOCK_MS,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    sys::set(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
    let area = Mapped::new(BLOCK_BYTES * blocks, fd.as_raw_fd(), 0)?;
    port::join(fd, index)?;
    Ok(area)
}

/// The link type of the frames of an interface, by its hardware type.
fn link_type(name: &str) -> Result<LinkType, LiveError> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/type")).unwrap_or_default();
    match text.trim() {
        // Ethernet, and the loopback, whose frames have the same header. Without the file, Ethernet is assumed.
        "1" | "772" | "" => Ok(LinkType::ETHERNET),
        // Tunnels without a link layer.
        "65534" | "768" | "776" | "778" => Ok(LinkType::RAW),
        other => Err(LiveError::Refused(format!(
            "{name}: frames of hardware type {other} cannot be read; expected Ethernet or a tunnel"
        ))),
    }
}

impl Inner {
    fn header(&self) -> *mut libc::tpacket_block_desc {
        // SAFETY: the block lies within the area.
        unsafe { self.area.start().add(self.block * BLOCK_BYTES).cast() }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: the status is an aligned 32-bit number within the area, which lives as long as self.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.header()).hdr.bh1.block_status) }
    }

    /// Opens the next block; false if the kernel has not handed it over yet.
    fn open_block(&mut self) -> bool {
        if self.is_open {
            return true;
        }
        if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the block was handed over, so the kernel does not write to it.
        let (left, place) = unsafe {
            let header = (*self.header()).hdr.bh1;
            (header.num_pkts, header.offset_to_first_pkt)
        };
        (self.left, self.place, self.is_open) = (left, place as usize, true);
        true
    }

    fn close_block(&mut self) {
        fence(Ordering::Release);
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.block = (self.block + 1) % self.blocks;
        self.is_open = false;
    }

    /// Writes the frames that are there until `enough` bytes are written. Returns false if none was there.
    fn write(
        &mut self,
        writer: &mut PcapWriter<Shared>,
        bytes: &Shared,
        enough: usize,
    ) -> io::Result<bool> {
        let mut some = false;
        while bytes.len() < enough && self.open_block() {
            while self.left > 0 && bytes.len() < enough {
                self.write_frame(writer)?;
                some = true;
            }
            if self.left == 0 {
                self.close_block();
            }
        }
        Ok(some)
    }

    fn write_frame(&mut self, writer: &mut PcapWriter<Shared>) -> io::Result<()> {
        let start = self.block * BLOCK_BYTES + self.place;
        // SAFETY: the kernel wrote whole frames with their headers into the block, which is ours now.
        let (header, data) = unsafe {
            let header = self.area.start().add(start).cast::<libc::tpacket3_hdr>();
            let data = self.area.start().add(start + usize::from((*header).tp_mac));
            (
                &*header,
                std::slice::from_raw_parts(data, (*header).tp_snaplen as usize),
            )
        };
        let ts_ns = i64::from(header.tp_sec) * 1_000_000_000 + i64::from(header.tp_nsec);
        let tag = header.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
        let mut tagged = Vec::new();
        let mut frame = Frame {
            ts_ns,
            number: 0,
            link: self.link,
            orig_len: header.tp_len,
            data,
        };
        if tag && let Some((addresses, rest)) = data.split_at_checked(12) {
            let kind = match header.hv1.tp_vlan_tpid {
                0 => 0x8100,
                kind => kind,
            };
            let tag = (header.hv1.tp_vlan_tci as u16).to_be_bytes();
            tagged = [addresses, &kind.to_be_bytes(), &tag, rest].concat();
            frame.orig_len += 4;
        }
        if !tagged.is_empty() {
            frame.data = &tagged;
        }
        self.left -= 1;
        self.place += header.tp_next_offset as usize;
        writer.write(&frame)
    }

    /// Looks whether the interface is there. `failed`: the socket has an error, which it gives back when it is asked; until
    /// then no wait for frames would last.
    fn look(&mut self, failed: bool) {
        if failed {
            let _: io::Result<i32> = sys::get(&self.fd, libc::SOL_SOCKET, libc::SO_ERROR);
        }
        if let Change::Replaced(index) = self.interface.look(failed) {
            // If it has gone again, the next look will show it.
            let _ = port::join(&self.fd, index);
        }
    }

    fn count_missed(&mut self) {
        // The kernel sets its counters back to 0.
        let seen = sys::get(&self.fd, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        self.missed += seen.map_or(0, |seen: libc::tpacket_stats_v3| u64::from(seen.tp_drops));
    }
}

/// Bytes that a writer adds and a reader takes.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One capture of the ring.
struct Reading {
    ring: Arc<Mutex<Inner>>,
    /// Made with the first bytes.
    writer: Option<PcapWriter<Shared>>,
    bytes: Shared,
    /// Bytes of `bytes` that were returned.
    given: usize,
    end_ns: i64,
    stop: &'static AtomicBool,
}

impl Reading {
    /// Collects frames; the capture ends if none come any more.
    fn fill(&mut self) -> io::Result<()> {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if self.writer.is_none() {
            // A VLAN tag that the kernel took out is put back in.
            let snap_bytes = ring.snap_bytes + 4;
            self.writer = Some(PcapWriter::new(self.bytes.clone(), ring.link, snap_bytes)?);
        }
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        loop {
            let now_ns = clock::monotonic_ns();
            if now_ns >= self.end_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if ring.write(writer, &self.bytes, PIECE_BYTES)? || self.bytes.len() > 0 {
                return Ok(());
            }
            let wait_ns = (self.end_ns - now_ns).min(100_000_000);
            let mut ready = [clock::readable(&ring.fd)];
            clock::wait(&mut ready, Some(wait_ns));
            ring.look(ready[0].revents & libc::POLLERR != 0);
        }
    }
}

impl Read for Reading {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given >= self.bytes.len() {
            self.bytes
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
            self.given = 0;
            self.fill()?;
        }
        let bytes = self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = bytes.get(self.given..).unwrap_or_default();
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}
