//! Calls of the kernel that the standard library lacks.

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_void};

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Mounts a file system without a device.
pub(super) fn mount(kind: &str, target: &str, options: &str) -> io::Result<()> {
    std::fs::create_dir_all(target)?;
    let [kind, target, options] = [kind, target, options].map(CString::new);
    let (kind, target, options) = (kind?, target?, options?);
    // SAFETY: all pointers are to strings that live until the call returns.
    let done = unsafe {
        libc::mount(
            kind.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            0,
            options.as_ptr().cast(),
        )
    };
    checked(done).map(drop)
}

/// Lets the calling thread, and no other, live in a network namespace that `ip netns add` made.
pub(super) fn enter(namespace: &str) -> io::Result<()> {
    enter_file(&format!("/run/netns/{namespace}"))
}

/// Lets the calling thread live in the network namespace of this file.
pub(crate) fn enter_file(path: &str) -> io::Result<()> {
    let file = std::fs::File::open(path)?;
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Undoes [`mount`].
pub(super) fn unmount(target: &str) -> io::Result<()> {
    let target = CString::new(target)?;
    // SAFETY: the pointer is to a string that lives until the call returns.
    checked(unsafe { libc::umount(target.as_ptr()) }).map(drop)
}

/// Loads a module of the kernel.
pub(super) fn load_module(path: &str) -> io::Result<()> {
    let file = std::fs::File::open(path)?;
    // SAFETY: the descriptor is open, the parameters are an empty string.
    let done = unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) };
    checked(done as c_int).map(drop)
}

/// Ends the machine. Returns only if that failed.
pub(super) fn power_off() {
    // SAFETY: neither call takes pointers.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
}

/// Nanoseconds since the start of the machine, or since 1970, which is the clock of captures.
pub(super) fn now_ns(clock: libc::clockid_t) -> i64 {
    // SAFETY: `time` is a valid timespec to write to.
    let time = unsafe {
        let mut time: libc::timespec = zeroed();
        libc::clock_gettime(clock, &raw mut time);
        time
    };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Sleeps until this time of the monotonic clock.
pub(super) fn sleep_until(at_ns: i64) {
    let left = at_ns - now_ns(libc::CLOCK_MONOTONIC);
    if let Ok(left) = u64::try_from(left) {
        std::thread::sleep(Duration::from_nanos(left));
    }
}

/// Sets a socket option.
pub(super) fn set<T: Copy>(socket: RawFd, level: c_int, option: c_int, value: T) -> io::Result<()> {
    // SAFETY: the pointer is to a value of this size.
    let done = unsafe {
        libc::setsockopt(
            socket,
            level,
            option,
            (&raw const value).cast::<c_void>(),
            size_of::<T>() as u32,
        )
    };
    checked(done).map(drop)
}

/// Sets the congestion control.
pub(super) fn set_congestion(socket: RawFd, name: &str) -> io::Result<()> {
    // SAFETY: pointer and length are of one slice.
    let done = unsafe {
        libc::setsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as u32,
        )
    };
    checked(done).map(drop)
}

/// A TCP socket of IPv4, not connected.
pub(super) fn tcp_socket() -> io::Result<OwnedFd> {
    // SAFETY: a new descriptor belongs to nobody else.
    unsafe {
        Ok(OwnedFd::from_raw_fd(checked(libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
        ))?))
    }
}

fn ipv4(address: [u8; 4], port: u16) -> libc::sockaddr_in {
    // SAFETY: all bytes zero are a valid address.
    let mut out: libc::sockaddr_in = unsafe { zeroed() };
    out.sin_family = libc::AF_INET as u16;
    out.sin_port = port.to_be();
    out.sin_addr.s_addr = u32::from_ne_bytes(address);
    out
}

/// Binds a socket.
pub(super) fn bind(socket: &OwnedFd, address: [u8; 4], port: u16) -> io::Result<()> {
    let address = ipv4(address, port);
    let length = size_of::<libc::sockaddr_in>() as u32;
    // SAFETY: the pointer is to an address of this length.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
        .map(drop)
}

/// Connects a socket.
pub(super) fn connect(socket: &OwnedFd, address: [u8; 4], port: u16) -> io::Result<()> {
    let address = ipv4(address, port);
    let length = size_of::<libc::sockaddr_in>() as u32;
    // SAFETY: the pointer is to an address of this length.
    checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })
        .map(drop)
}

/// Lets others connect.
pub(super) fn listen(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: no pointers.
    checked(unsafe { libc::listen(socket.as_raw_fd(), 1024) }).map(drop)
}

/// Takes the next connection.
pub(super) fn accept(socket: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: null pointers are allowed; the new descriptor belongs to nobody else.
    unsafe {
        let new = libc::accept4(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_CLOEXEC,
        );
        Ok(OwnedFd::from_raw_fd(checked(new)?))
    }
}

/// Takes bytes out of a socket and drops them, without copying; returns how many.
pub(super) fn discard(socket: RawFd, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC TCP writes nothing to the buffer.
    let got = unsafe { libc::recv(socket, std::ptr::null_mut(), most, libc::MSG_TRUNC) };
    if got < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(got as usize)
    }
}

/// Writes; `flags` are those of `send`.
pub(super) fn send(socket: RawFd, bytes: &[u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: pointer and length are of one slice.
    let sent = unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast(),
            bytes.len(),
            flags | libc::MSG_NOSIGNAL,
        )
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(sent as usize)
    }
}

/// Says that nothing more will be written.
pub(super) fn finish(socket: RawFd) {
    // SAFETY: no pointers. An error means that the connection is gone, which reading tells too.
    unsafe { libc::shutdown(socket, libc::SHUT_WR) };
}

/// The state of a TCP socket: the kernel's `tcp_info`, as far as this kernel has it.
pub(super) fn tcp_info(socket: RawFd) -> io::Result<[u8; 256]> {
    let mut info = [0u8; 256];
    let mut length = 256u32;
    // SAFETY: the pointers are to a buffer of this length and to the length.
    let done = unsafe {
        libc::getsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    checked(done).map(|_| info)
}

/// Makes a request of `ethtool`, whose first word is the command, about a device; the answer replaces it.
fn ethtool(device: &str, words: &mut [u32]) -> io::Result<()> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let socket = tcp_socket()?;
    // SAFETY: all bytes zero are a valid request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes().take(15)) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the request points to a command and its values, which live until the call returns.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    checked(done).map(drop)
}

/// Switches off what makes packets of a device larger than segments, or leaves checksums to hardware.
pub(super) fn offloads_off(device: &str) -> io::Result<()> {
    /// `ETHTOOL_STXCSUM`, `ETHTOOL_SSG`, `ETHTOOL_STSO`, `ETHTOOL_SGSO`, `ETHTOOL_SGRO`.
    const COMMANDS: [u32; 5] = [0x17, 0x19, 0x1f, 0x24, 0x2c];
    for command in COMMANDS {
        match ethtool(device, &mut [command, 0]) {
            // SSG may be refused after TXCSUM has switched it off already.
            Err(error) if command != 0x19 => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Sets how a card coalesces: `ethtool -C DEVICE rx-usecs N rx-frames N`.
pub(super) fn set_coalescing(device: &str, usecs: u32, frames: u32) -> io::Result<()> {
    /// `ETHTOOL_SCOALESCE`, and the words of `struct ethtool_coalesce`.
    const COMMAND: u32 = 0x0f;
    const WORDS: usize = 23;
    let mut words = [0; WORDS];
    words[..3].copy_from_slice(&[COMMAND, usecs, frames]);
    ethtool(device, &mut words)
}

/// Sets the size of a card's ring: `ethtool -G DEVICE rx N`.
pub(super) fn set_ring(device: &str, packets: u32) -> io::Result<()> {
    /// `ETHTOOL_SRINGPARAM`, and the words of `struct ethtool_ringparam`, of which the sixth is the receive ring.
    const COMMAND: u32 = 0x11;
    let mut words = [0; 9];
    words[0] = COMMAND;
    words[5] = packets;
    ethtool(device, &mut words)
}
