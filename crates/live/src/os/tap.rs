//! Hands frames to the kernel as if a device of their own had received them (TAP with virtio's header).

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use super::LiveError;
use super::between::End;
use super::port::request;
use super::sys::{self, checked};
use crate::frame::Frame;

/// A TAP device that exists as long as this value.
pub(super) struct Tap {
    file: File,
    unsent: u64,
}

const WHAT: &str =
    "cannot make a TAP device (this needs /dev/net/tun, and root or the capability CAP_NET_ADMIN)";

impl Tap {
    /// Makes a device with the hardware address and the MTU of the interface `like`, so that the kernel takes frames
    /// for it as its own. It gets no address: the addresses stay where they are.
    pub(super) fn new(like: &str) -> Result<Self, LiveError> {
        let failed = |source| LiveError::System {
            what: WHAT.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open("/dev/net/tun").map_err(failed)?;
        let mut request = request("inorder%d");
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
        // SAFETY: `request` is valid for the call.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &mut request) };
        checked(done).map_err(failed)?;
        let name = name_in(&request);
        set_up(&name, like).map_err(failed)?;
        Ok(Tap { file, unsent: 0 })
    }
}

impl AsRawFd for Tap {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl End for Tap {
    /// What the kernel sends through the device (it has no reason to, having no address there) is dropped.
    fn receive(&mut self) -> Result<Option<Frame>, LiveError> {
        let mut dropped = [0; 2048];
        while self.file.read(&mut dropped).is_ok_and(|length| length > 0) {}
        Ok(None)
    }

    fn send(&mut self, frame: &Frame) {
        let header = frame.header.bytes();
        let parts = [
            libc::iovec {
                iov_base: header.as_ptr().cast_mut().cast(),
                iov_len: header.len(),
            },
            libc::iovec {
                iov_base: frame.bytes.as_ptr().cast_mut().cast(),
                iov_len: frame.bytes.len(),
            },
        ];
        // SAFETY: the parts are valid for their lengths and are only read.
        let sent = unsafe { libc::writev(self.as_raw_fd(), parts.as_ptr(), 2) };
        self.unsent += u64::from(sent < 0);
    }

    fn take_counts(&mut self) -> (u64, u64) {
        (0, std::mem::take(&mut self.unsent))
    }
}

fn name_in(request: &libc::ifreq) -> String {
    let bytes = request.ifr_name.iter().take_while(|&&byte| byte != 0);
    bytes.map(|&byte| char::from(byte as u8)).collect()
}

/// What kind of interface this is (`ARPHRD_ETHER` and others, linux/if_arp.h).
pub(super) fn hardware_type(name: &str) -> io::Result<u16> {
    let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut theirs = request(name);
    // SAFETY: `theirs` is valid for the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &mut theirs) };
    checked(done)?;
    // SAFETY: the call has filled in the address.
    Ok(unsafe { theirs.ifr_ifru.ifru_hwaddr.sa_family })
}

/// Hardware address and MTU as `like` has them; settings under which the kernel takes packets for addresses of other
/// interfaces; then the device is set up.
fn set_up(name: &str, like: &str) -> io::Result<()> {
    let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    // The type of the number differs between C libraries.
    let call = |number: libc::c_ulong, request: &mut libc::ifreq| {
        // SAFETY: `request` is valid for the call.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), number as _, request) };
        checked(done).map(drop)
    };
    let (mut theirs, mut ours) = (request(like), request(name));
    call(libc::SIOCGIFHWADDR, &mut theirs)?;
    ours.ifr_ifru = theirs.ifr_ifru;
    call(libc::SIOCSIFHWADDR, &mut ours)?;
    call(libc::SIOCGIFMTU, &mut theirs)?;
    ours.ifr_ifru = theirs.ifr_ifru;
    call(libc::SIOCSIFMTU, &mut ours)?;
    let read = |file: &str| std::fs::read_to_string(format!("/proc/sys/net/{file}"));
    let write = |file: String, value: &str| std::fs::write(format!("/proc/sys/net/{file}"), value);
    // The larger value of `all` and of the device counts. 1 would drop packets whose sender is reached through another
    // device, which is what happens here; 2 only wants it to be reached at all.
    let strict = read("ipv4/conf/all/rp_filter").is_ok_and(|value| value.trim() == "1");
    write(
        format!("ipv4/conf/{name}/rp_filter"),
        if strict { "2" } else { "0" },
    )?;
    // No address of its own and no router for it. A kernel without IPv6 has no such files.
    let _ = write(format!("ipv6/conf/{name}/addr_gen_mode"), "1");
    let _ = write(format!("ipv6/conf/{name}/accept_ra"), "0");
    call(libc::SIOCGIFFLAGS, &mut ours)?;
    // SAFETY: the call before filled the flags.
    let flags = unsafe { ours.ifr_ifru.ifru_flags };
    ours.ifr_ifru.ifru_flags = flags | libc::IFF_UP as i16;
    call(libc::SIOCSIFFLAGS, &mut ours)
}
