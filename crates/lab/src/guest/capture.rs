//! Captures: packets of all hosts of one side, in one file.
//!
//! The sockets are emptied every few milliseconds, which in virtual time costs nothing and loses nothing as long as
//! the buffers hold what arrives in between.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufWriter};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use inorder_capture::PcapWriter;
use inorder_wire::{Frame, LinkType};

use super::sys;

/// Packets taken at once.
const BATCH: usize = 128;
/// Buffer of each socket in the kernel, bytes.
const BUFFER: u32 = 256 << 20;
/// The Ethernet header, bytes.
const ETHERNET: usize = 14;

/// A packet with its capture time.
struct Taken {
    ts_ns: i64,
    length: u32,
    bytes: Vec<u8>,
}

/// The capture of one side.
pub(super) struct Capture {
    sockets: Vec<OwnedFd>,
    out: PcapWriter<BufWriter<File>>,
    snap: usize,
    number: u64,
}

impl Capture {
    /// Captures at these devices, each in the namespace of its name, into a file.
    pub(super) fn open(devices: &[(&str, &str)], path: &str, snap_bytes: u32) -> io::Result<Self> {
        let snap = snap_bytes as usize + ETHERNET;
        let mut sockets = Vec::new();
        for (namespace, device) in devices {
            sys::enter(namespace)?;
            sockets.push(socket(device)?);
        }
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let out = PcapWriter::new(out, LinkType::ETHERNET, snap as u32)?;
        Ok(Capture {
            sockets,
            out,
            snap,
            number: 0,
        })
    }

    /// Writes what has arrived since the last time, by time.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        let mut taken = Vec::new();
        for socket in &self.sockets {
            while take(socket, self.snap, &mut taken)? == BATCH {}
        }
        taken.sort_by_key(|packet| packet.ts_ns);
        for packet in &taken {
            self.number += 1;
            self.out.write(&Frame {
                ts_ns: packet.ts_ns,
                number: self.number,
                link: LinkType::ETHERNET,
                orig_len: packet.length,
                data: &packet.bytes,
            })?;
        }
        Ok(())
    }

    /// Writes the rest; returns the number of packets that were lost.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.drain()?;
        let lost = self.sockets.iter().map(lost).sum::<io::Result<u64>>()?;
        self.out
            .into_inner()
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        Ok(lost)
    }
}

/// A socket that sees all packets of a device of the calling thread's namespace.
fn socket(device: &str) -> io::Result<OwnedFd> {
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    let name = CString::new(device)?;
    // SAFETY: a new descriptor belongs to nobody else.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    sys::set(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        BUFFER,
    )?;
    sys::set(
        socket.as_raw_fd(),
        libc::SOL_SOCKET,
        libc::SO_TIMESTAMPNS,
        1i32,
    )?;
    // SAFETY: all bytes zero are a valid address; the pointer is to an address of this length.
    let done = unsafe {
        let mut address: libc::sockaddr_ll = zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = libc::if_nametoindex(name.as_ptr()) as i32;
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as u32,
        )
    };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(socket)
    }
}

/// Takes up to [`BATCH`] packets; returns how many.
fn take(socket: &OwnedFd, snap: usize, into: &mut Vec<Taken>) -> io::Result<usize> {
    const CONTROL: usize = 64;
    let mut bytes = vec![0u8; BATCH * snap];
    let mut control = vec![0u64; BATCH * CONTROL / 8];
    // SAFETY: all bytes zero are valid for both.
    let (mut parts, mut heads): (Vec<libc::iovec>, Vec<libc::mmsghdr>) =
        unsafe { (vec![zeroed(); BATCH], vec![zeroed(); BATCH]) };
    for at in 0..BATCH {
        parts[at].iov_base = bytes[at * snap..].as_mut_ptr().cast();
        parts[at].iov_len = snap;
        heads[at].msg_hdr.msg_iov = &raw mut parts[at];
        heads[at].msg_hdr.msg_iovlen = 1;
        heads[at].msg_hdr.msg_control = control[at * CONTROL / 8..].as_mut_ptr().cast();
        heads[at].msg_hdr.msg_controllen = CONTROL as _;
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: every header points to buffers of its own of the lengths it gives.
    let got = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            heads.as_mut_ptr(),
            BATCH as u32,
            flags as _,
            std::ptr::null_mut(),
        )
    };
    if got < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock {
            Ok(0)
        } else {
            Err(error)
        };
    }
    for at in 0..got as usize {
        let kept = (heads[at].msg_len as usize).min(snap);
        into.push(Taken {
            ts_ns: time_of(&heads[at].msg_hdr),
            length: heads[at].msg_len,
            bytes: bytes[at * snap..at * snap + kept].to_vec(),
        });
    }
    Ok(got as usize)
}

/// The capture time of a packet.
fn time_of(head: &libc::msghdr) -> i64 {
    // SAFETY: the kernel has filled in the header; the macros walk only what it wrote.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(head);
        while !at.is_null() {
            if (*at).cmsg_level == libc::SOL_SOCKET && (*at).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(at).cast());
                return time.tv_sec * 1_000_000_000 + time.tv_nsec;
            }
            at = libc::CMSG_NXTHDR(head, at);
        }
    }
    0
}

/// Packets that a socket lost.
fn lost(socket: &OwnedFd) -> io::Result<u64> {
    // `struct tpacket_stats`: packets, drops.
    let mut counts = [0u32; 2];
    let mut length = size_of::<[u32; 2]>() as u32;
    // SAFETY: the pointers are to a buffer of this length and to the length.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(u64::from(counts[1]))
    }
}
