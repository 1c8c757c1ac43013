//! Datagram sockets that tell when and with which time to live a packet was received.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::LiveError;
use super::clock;
use super::sys::{self, checked};

/// A socket for UDP or ICMP, not blocking.
pub(super) struct Datagram {
    fd: OwnedFd,
}

/// What came with a datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// Its length, bytes; at most the size of the buffer.
    pub length: usize,
    /// Where it came from; `None` on a connected socket.
    pub from: Option<SocketAddr>,
    /// Which of our addresses it was sent to; `None` if unknown.
    pub to: Option<Local>,
    /// Time to live or hop limit; 0 if unknown.
    pub ttl: u8,
    /// When the kernel received it, nanoseconds since the Unix epoch.
    pub unix_ns: i64,
}

/// An address of this host, from which an answer goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Local {
    address: IpAddr,
    /// The interface, which the address alone does not tell if it is a link-local one.
    interface: u32,
}

impl AsRawFd for Datagram {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Datagram {
    /// A UDP socket with this address of its own.
    pub(super) fn udp(local: SocketAddr) -> Result<Self, LiveError> {
        let what = format!(
            "cannot listen on UDP {local} (ports below 1024 need root or the capability CAP_NET_BIND_SERVICE)"
        );
        let socket = UdpSocket::bind(local).map_err(LiveError::system(what))?;
        Datagram { fd: socket.into() }.prepared(local)
    }

    /// An ICMP socket for echoes to `peer`: one of the kind that needs no privilege, if the system allows it.
    /// The second value is true if it delivers IPv4 headers.
    pub(super) fn icmp(peer: SocketAddr) -> Result<(Self, bool), LiveError> {
        let (family, protocol) = match peer {
            SocketAddr::V4(_) => (libc::AF_INET, libc::IPPROTO_ICMP),
            SocketAddr::V6(_) => (libc::AF_INET6, libc::IPPROTO_ICMPV6),
        };
        let what = "cannot open an ICMP socket (it needs root, the capability CAP_NET_RAW, or a group in the sysctl \
                    net.ipv4.ping_group_range)";
        let of_kind = |kind| sys::socket(family, kind, protocol);
        let (fd, is_raw) = match of_kind(libc::SOCK_DGRAM) {
            Ok(fd) => (fd, false),
            Err(_) => (
                of_kind(libc::SOCK_RAW).map_err(LiveError::system(what))?,
                true,
            ),
        };
        Ok((Datagram { fd }.prepared(peer)?, is_raw && peer.is_ipv4()))
    }

    fn prepared(self, family: SocketAddr) -> Result<Self, LiveError> {
        let (level, ttl, to) = match family {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_RECVTTL, libc::IP_PKTINFO),
            SocketAddr::V6(_) => (
                libc::IPPROTO_IPV6,
                libc::IPV6_RECVHOPLIMIT,
                libc::IPV6_RECVPKTINFO,
            ),
        };
        let failed = || LiveError::system("cannot set up the socket");
        sys::set(&self.fd, level, ttl, &1).map_err(failed())?;
        sys::set(&self.fd, level, to, &1).map_err(failed())?;
        sys::set(&self.fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1).map_err(failed())?;
        // With 255 at the start, the reflector's answer tells the number of hops (RFC 5357 section 4.1.2).
        let hops = if family.is_ipv4() {
            libc::IP_TTL
        } else {
            libc::IPV6_UNICAST_HOPS
        };
        sys::set(&self.fd, level, hops, &255).map_err(failed())?;
        // Room for bursts; the kernel limits it to what the system allows.
        let _ = sys::set(&self.fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &(4 << 20));
        // SAFETY: the call takes flags and no pointer.
        let done = unsafe { libc::fcntl(self.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        checked(done).map_err(failed())?;
        Ok(self)
    }

    /// Sends and receives only to and from `peer` from now on.
    pub(super) fn connect(&self, peer: SocketAddr) -> Result<(), LiveError> {
        let (address, length) = raw_address(peer);
        // SAFETY: `address` is valid for `length` bytes.
        let done = unsafe { libc::connect(self.as_raw_fd(), (&raw const address).cast(), length) };
        let what = format!("cannot reach {peer}");
        checked(done).map(drop).map_err(LiveError::system(what))
    }

    /// The address of its own.
    pub(super) fn local(&self) -> Result<SocketAddr, LiveError> {
        // SAFETY: all zeros are a valid address of no family.
        let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: `address` is valid for `length` bytes.
        unsafe { libc::getsockname(self.as_raw_fd(), (&raw mut address).cast(), &mut length) };
        let unknown =
            || LiveError::system("cannot read the socket's address")(io::Error::last_os_error());
        socket_address(&address).ok_or_else(unknown)
    }

    /// Sends to the peer to which the socket is connected.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: `bytes` is valid for its length.
        let sent = unsafe { libc::send(self.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        checked(sent).map(drop)
    }

    /// Sends to `peer`, from the address to which it had sent: another one of this host would not be that of an answer.
    pub(super) fn answer(
        &self,
        bytes: &[u8],
        peer: SocketAddr,
        from: Option<Local>,
    ) -> io::Result<()> {
        let (mut address, length) = raw_address(peer);
        let mut part = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: all zeros are a valid message.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_name = (&raw mut address).cast();
        message.msg_namelen = length;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        let mut control = [0u64; 8];
        if let Some(from) = from {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            message.msg_controllen = write_control(&mut message, from) as _;
        }
        // SAFETY: all pointers of `message` are valid for the lengths given beside them, and are only read.
        let sent = unsafe { libc::sendmsg(self.as_raw_fd(), &message, 0) };
        checked(sent).map(drop)
    }

    /// The next datagram; `None` if none is there.
    pub(super) fn receive(&self, bytes: &mut [u8]) -> io::Result<Option<Received>> {
        let mut part = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        // SAFETY: all zeros are valid values of these types.
        let (mut address, mut message): (libc::sockaddr_storage, libc::msghdr) =
            unsafe { std::mem::zeroed() };
        let mut control = [0u64; 16];
        message.msg_name = (&raw mut address).cast();
        message.msg_namelen = size_of_val(&address) as libc::socklen_t;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        // SAFETY: all pointers of `message` are valid for the lengths given beside them.
        let length = unsafe { libc::recvmsg(self.as_raw_fd(), &mut message, libc::MSG_DONTWAIT) };
        if length < 0 {
            let error = io::Error::last_os_error();
            let nothing = matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            );
            return if nothing { Ok(None) } else { Err(error) };
        }
        let mut received = Received {
            length: length.unsigned_abs(),
            from: socket_address(&address),
            to: None,
            ttl: 0,
            unix_ns: 0,
        };
        read_control(&message, &mut received);
        if received.unix_ns == 0 {
            received.unix_ns = clock::unix_ns();
        }
        Ok(Some(received))
    }
}

/// Reads the time of arrival and the time to live from the control messages.
fn read_control(message: &libc::msghdr, received: &mut Received) {
    // SAFETY: the kernel filled the control buffer of `message`; these macros stay within its length.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: `next` points to a whole control message, whose data has the type that level and kind say.
        unsafe {
            let data = libc::CMSG_DATA(next);
            match ((*next).cmsg_level, (*next).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    received.unix_ns = time.tv_sec * 1_000_000_000 + time.tv_nsec;
                }
                (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                    received.ttl = data.cast::<i32>().read_unaligned() as u8;
                }
                (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                    let info = data.cast::<libc::in_pktinfo>().read_unaligned();
                    received.to = Some(Local {
                        // Ours, also where the packet was sent to all.
                        address: IpAddr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()),
                        interface: 0,
                    });
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                    let info = data.cast::<libc::in6_pktinfo>().read_unaligned();
                    let address = std::net::Ipv6Addr::from(info.ipi6_addr.s6_addr);
                    received.to = (!address.is_multicast()).then_some(Local {
                        address: address.into(),
                        interface: match address.is_unicast_link_local() {
                            true => info.ipi6_ifindex as u32,
                            false => 0,
                        },
                    });
                }
                _ => {}
            }
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
}

/// Writes the address from which a message goes into its control buffer, which has room; returns the length of that.
fn write_control(message: &mut libc::msghdr, from: Local) -> usize {
    // SAFETY: the control buffer is aligned, and larger than a header with either of the two structures.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        let data = libc::CMSG_DATA(header);
        let bytes = match from.address {
            IpAddr::V4(address) => {
                let mut info: libc::in_pktinfo = std::mem::zeroed();
                info.ipi_spec_dst.s_addr = u32::from_ne_bytes(address.octets());
                ((*header).cmsg_level, (*header).cmsg_type) = (libc::IPPROTO_IP, libc::IP_PKTINFO);
                data.cast::<libc::in_pktinfo>().write_unaligned(info);
                size_of_val(&info) as u32
            }
            IpAddr::V6(address) => {
                let mut info: libc::in6_pktinfo = std::mem::zeroed();
                info.ipi6_addr.s6_addr = address.octets();
                info.ipi6_ifindex = from.interface as _;
                ((*header).cmsg_level, (*header).cmsg_type) =
                    (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO);
                data.cast::<libc::in6_pktinfo>().write_unaligned(info);
                size_of_val(&info) as u32
            }
        };
        (*header).cmsg_len = libc::CMSG_LEN(bytes) as _;
        libc::CMSG_SPACE(bytes) as usize
    }
}

fn raw_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all zeros are a valid address of no family.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let place = &raw mut storage;
    match address {
        SocketAddr::V4(v4) => {
            let raw = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from_ne_bytes(v4.ip().octets()),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: the storage is large enough and aligned for every address.
            unsafe { place.cast::<libc::sockaddr_in>().write(raw) };
            (storage, size_of_val(&raw) as libc::socklen_t)
        }
        SocketAddr::V6(v6) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: v6.ip().octets(),
                },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { place.cast::<libc::sockaddr_in6>().write(raw) };
            (storage, size_of_val(&raw) as libc::socklen_t)
        }
    }
}

fn socket_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let place = std::ptr::from_ref(storage);
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says which type the storage holds.
            let raw = unsafe { place.cast::<libc::sockaddr_in>().read() };
            let address = raw.sin_addr.s_addr.to_ne_bytes();
            Some(SocketAddr::from((address, u16::from_be(raw.sin_port))))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let raw = unsafe { place.cast::<libc::sockaddr_in6>().read() };
            let (address, port) = (raw.sin6_addr.s6_addr, u16::from_be(raw.sin6_port));
            Some(
                std::net::SocketAddrV6::new(
                    address.into(),
                    port,
                    raw.sin6_flowinfo,
                    raw.sin6_scope_id,
                )
                .into(),
            )
        }
        _ => None,
    }
}
