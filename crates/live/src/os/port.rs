//! A network interface as a pair of queues of frames, through a packet socket with virtio's header (packet(7),
//! PACKET_VNET_HDR): super-packets and checksums that are not computed yet come and go as they are.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::LiveError;
use super::link::{Change, Link};
use super::sys::{self, checked};
use super::{clock, tap};
use crate::frame::Frame;
use crate::frame::vnet::{self, Header};

/// Largest frame: a super-packet of 64 KiB with its headers.
const MAX_FRAME: usize = 65_536 + 64;
/// Bytes of the receive queue of the socket.
const QUEUE_BYTES: i32 = 64 << 20;

/// An interface whose frames are received and sent, also after it was down or removed and came back.
pub(super) struct Port {
    fd: OwnedFd,
    link: Link,
    buffer: Vec<u8>,
    /// Frames that the kernel did not send since the last [`Port::take_counts`].
    unsent: u64,
    /// Keeps others from forwarding the same frames.
    _claim: OwnedFd,
}

impl AsRawFd for Port {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// The number of an interface.
pub(super) fn index_of(name: &str) -> Result<u32, LiveError> {
    let unknown = || {
        LiveError::Refused(format!(
            "{name}: no such interface; expected one that `ip link` lists"
        ))
    };
    let text = CString::new(name).map_err(|_| unknown())?;
    // SAFETY: `text` is a string that ends with a zero.
    match unsafe { libc::if_nametoindex(text.as_ptr()) } {
        0 => Err(unknown()),
        index => Ok(index),
    }
}

/// The number of an interface whose frames begin with Ethernet's header.
///
/// # Errors
/// For an unknown interface and for those of other kinds: what the loopback interface is handed it receives itself, for ever.
pub(super) fn ethernet_index_of(name: &str) -> Result<u32, LiveError> {
    let index = index_of(name)?;
    let kind = match tap::hardware_type(name) {
        Ok(libc::ARPHRD_ETHER) => return Ok(index),
        Ok(libc::ARPHRD_LOOPBACK) => "the loopback interface".to_owned(),
        Ok(kind) => format!("an interface of type {kind} (ARPHRD)"),
        Err(source) => {
            return Err(LiveError::System {
                what: format!("cannot find out what kind of interface {name} is"),
                source,
            });
        }
    };
    Err(LiveError::Refused(format!(
        "{name}: this is {kind}; expected one with Ethernet's frames"
    )))
}

impl Port {
    /// Opens two interfaces.
    pub(super) fn pair(names: [&str; 2], tell: fn(&str)) -> Result<[Self; 2], LiveError> {
        Ok([Port::open(names[0], tell)?, Port::open(names[1], tell)?])
    }

    /// Opens the interface; it receives all frames, not only those for its own address, until it is closed.
    /// `tell` is told what becomes of the interface.
    pub(super) fn open(name: &str, tell: fn(&str)) -> Result<Self, LiveError> {
        let index = ethernet_index_of(name)?;
        let what = format!("cannot open {name} (this needs root or the capability CAP_NET_RAW)");
        let failed = |source| LiveError::System {
            what: what.clone(),
            source,
        };
        // Protocol 0: nothing is received before the socket is bound.
        let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)
            .map_err(failed)?;
        let port = Port {
            fd,
            link: Link::new(name, index, tell)?,
            buffer: vec![0; MAX_FRAME],
            unsent: 0,
            _claim: claim(name, index)?,
        };
        port.set_up(index).map_err(failed)?;
        Ok(port)
    }

    fn set_up(&self, index: u32) -> io::Result<()> {
        sys::set(&self.fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1i32)?;
        sys::set(&self.fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1i32)?;
        sys::set(
            &self.fd,
            libc::SOL_PACKET,
            libc::PACKET_IGNORE_OUTGOING,
            &1i32,
        )?;
        sys::set(&self.fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32)?;
        // Beyond the system's limit with CAP_NET_ADMIN; up to the limit without.
        if sys::set(
            &self.fd,
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            &QUEUE_BYTES,
        )
        .is_err()
        {
            sys::set(&self.fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &QUEUE_BYTES)?;
        }
        join(&self.fd, index)
    }

    /// Looks whether the interface is there, and binds the socket to the one that has its name now.
    fn look(&mut self, now: bool) {
        if let Change::Replaced(index) = self.link.look(now) {
            // If it has gone again, the next look will show it.
            let _ = join(&self.fd, index);
        }
    }

    /// The next frame, if one is there; its time is on the clock of [`clock::monotonic_ns`].
    pub(super) fn receive(&mut self) -> Result<Option<Frame>, LiveError> {
        loop {
            let mut header = [0; vnet::BYTES];
            let mut parts = [
                libc::iovec {
                    iov_base: header.as_mut_ptr().cast(),
                    iov_len: header.len(),
                },
                libc::iovec {
                    iov_base: self.buffer.as_mut_ptr().cast(),
                    iov_len: self.buffer.len(),
                },
            ];
            let mut control = [0u64; 16];
            // SAFETY: all zeros are a valid message.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            message.msg_iov = parts.as_mut_ptr();
            message.msg_iovlen = parts.len() as _;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            // SAFETY: all pointers of `message` are valid for the lengths given beside them.
            let length = unsafe { libc::recvmsg(self.as_raw_fd(), &mut message, 0) };
            if length < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EINTR) => self.look(false),
                    // A frame whose offload virtio's header cannot express was dropped.
                    Some(libc::EINVAL) => continue,
                    Some(libc::ENETDOWN | libc::ENODEV | libc::ENXIO) => self.look(true),
                    _ => return Err(LiveError::system("cannot receive frames")(error)),
                }
                return Ok(None);
            }
            let bytes = self
                .buffer
                .get(..length.unsigned_abs().saturating_sub(vnet::BYTES));
            let (Some(bytes), Some(header)) = (bytes, Header::read(&header)) else {
                continue;
            };
            return Ok(Some(frame(bytes, header, &message)));
        }
    }

    /// Sends a frame; one that the kernel refuses is counted.
    pub(super) fn send(&mut self, frame: &Frame) {
        let header = frame.header.bytes();
        let mut parts = [
            libc::iovec {
                iov_base: header.as_ptr().cast_mut().cast(),
                iov_len: header.len(),
            },
            libc::iovec {
                iov_base: frame.bytes.as_ptr().cast_mut().cast(),
                iov_len: frame.bytes.len(),
            },
        ];
        // SAFETY: all zeros are a valid message.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        // SAFETY: the parts are valid for their lengths and are only read.
        let sent = unsafe { libc::sendmsg(self.as_raw_fd(), &message, 0) };
        self.unsent += u64::from(sent < 0);
    }

    /// Frames dropped before we received them, and not sent, since the last call.
    pub(super) fn take_counts(&mut self) -> (u64, u64) {
        // The kernel sets its counters back to 0.
        let seen = sys::get(self, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        let dropped = seen.map_or(0, |seen: libc::tpacket_stats| seen.tp_drops.into());
        (dropped, std::mem::take(&mut self.unsent))
    }
}

fn frame(bytes: &[u8], header: Header, message: &libc::msghdr) -> Frame {
    let (mut tag, mut arrived) = (None, None);
    // SAFETY: the kernel filled the control buffer of `message`; these macros stay within its length, and the data
    // has the type that level and kind say.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while !next.is_null() {
            let data = libc::CMSG_DATA(next);
            match ((*next).cmsg_level, (*next).cmsg_type) {
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) => {
                    let aux = data.cast::<libc::tpacket_auxdata>().read_unaligned();
                    let is_tagged = aux.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
                    tag = is_tagged.then_some((aux.tp_vlan_tpid, aux.tp_vlan_tci));
                }
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    arrived = Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
                }
                _ => {}
            }
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
    let (unix_ns, now_ns) = (clock::unix_ns(), clock::monotonic_ns());
    let arrived_ns = arrived.map_or(now_ns, |at_ns| clock::on_monotonic(at_ns, unix_ns, now_ns));
    let (bytes, header) = with_tag(bytes, header, tag);
    Frame::new(bytes, header, arrived_ns)
}

/// Claims the frames of an interface: a name in the namespace of its network that only one socket can have, until the
/// process ends. Two that forward the same frames would double every one.
fn claim(name: &str, index: u32) -> Result<OwnedFd, LiveError> {
    let what = || LiveError::system(format!("cannot claim the frames of {name}"));
    let fd = sys::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0).map_err(what())?;
    // SAFETY: all zeros are a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    // A name that begins with a zero is in no file system.
    let text = format!("\0inorder forwards {index}");
    for (place, byte) in address.sun_path.iter_mut().zip(text.bytes()) {
        *place = byte as libc::c_char;
    }
    let length = (size_of::<libc::sa_family_t>() + text.len()) as libc::socklen_t;
    // SAFETY: `address` is valid for `length` bytes.
    let done = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    match (done, io::Error::last_os_error()) {
        (0, _) => Ok(fd),
        (_, error) if error.kind() == io::ErrorKind::AddrInUse => Err(LiveError::Refused(format!(
            "{name}: another process of inorder forwards its frames, and with two every frame would be doubled"
        ))),
        (_, error) => Err(what()(error)),
    }
}

/// A question about the interface with this name.
pub(super) fn request(name: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name.iter_mut().take(room).zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    request
}

/// Puts the VLAN tag that the kernel took out of the frame back into it.
fn with_tag(bytes: &[u8], mut header: Header, tag: Option<(u16, u16)>) -> (Vec<u8>, Header) {
    let (Some((kind, tag)), Some((addresses, rest))) = (tag, bytes.split_at_checked(12)) else {
        return (bytes.to_vec(), header);
    };
    let mut tagged = Vec::with_capacity(bytes.len() + 4);
    tagged.extend_from_slice(addresses);
    tagged.extend_from_slice(&if kind == 0 { 0x8100 } else { kind }.to_be_bytes());
    tagged.extend_from_slice(&tag.to_be_bytes());
    tagged.extend_from_slice(rest);
    if let vnet::Checksum::Partial { start, .. } = &mut header.checksum {
        *start += 4;
    }
    if header.header_bytes > 0 {
        header.header_bytes += 4;
    }
    (tagged, header)
}

/// Receives all frames of an interface, not only those for its own address, from now on until the socket is closed.
pub(super) fn join(fd: &OwnedFd, index: u32) -> io::Result<()> {
    let member = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    sys::set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)?;
    // SAFETY: all zeros are a valid address.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index.cast_signed();
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` is valid for `length` bytes.
    let done = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    checked(done).map(drop)
}
