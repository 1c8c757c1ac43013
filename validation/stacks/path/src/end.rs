//! One end of the path: a program that is a TCP stack.
//!
//! Its standard input is a socket (SOCK_SEQPACKET). Its first message is one byte: 'r' if every further message, either
//! way, is an IP packet; 't' with a file descriptor of a TUN device, which is read and written instead. Until that message
//! comes, the program is not ready.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{IoSliceMut, read, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
    recvmsg, socketpair, sockopt,
};

/// No packet is longer.
const LARGEST: usize = 65_536;

pub struct End {
    child: Child,
    fd: OwnedFd,
    open: bool,
    buffer: Vec<u8>,
}

impl End {
    /// Starts a program and waits until it is ready.
    pub fn start(line: &str) -> Result<Self, String> {
        let failed = |what: &str, e: &dyn std::fmt::Display| format!("{line}: {what}: {e}");
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|e| failed("socketpair", &e))?;
        // Room for a whole flight, so that no stack waits for the path or loses what the path delivers.
        for end in [&ours, &theirs] {
            sockopt::set_socket_send_buffer_size(end, 4 << 20)
                .map_err(|e| failed("SO_SNDBUF", &e))?;
        }
        let mut words = line.split_whitespace();
        let program = words.next().ok_or("a program is missing")?;
        let child = Command::new(program)
            .args(words)
            .stdin(Stdio::from(theirs))
            .spawn();
        let child = child.map_err(|e| failed("cannot be started", &e))?;
        let fd = ready(ours).map_err(|e| failed("not ready", &e))?;
        let flags = fcntl_getfl(&fd).map_err(|e| failed("fcntl", &e))?;
        fcntl_setfl(&fd, flags | OFlags::NONBLOCK).map_err(|e| failed("fcntl", &e))?;
        Ok(End {
            child,
            fd,
            open: true,
            buffer: vec![0; LARGEST],
        })
    }

    /// The next packet that the stack sent.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        if !self.open {
            return None;
        }
        match read(&self.fd, &mut self.buffer) {
            Ok(n) if n > 0 => Some(self.buffer[..n].to_vec()),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => None,
            _ => {
                self.open = false;
                None
            }
        }
    }

    /// A stack that has ended, or has no room, does not get it: as with a card whose ring is full.
    pub fn send(&self, packet: &[u8]) {
        if let Err(error) = write(&self.fd, packet)
            && self.open
        {
            eprintln!("path: a packet was not taken: {error}");
        }
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.stop();
        }
    }
}

/// Waits for the program's first message, and returns what its packets come from.
fn ready(socket: OwnedFd) -> Result<OwnedFd, String> {
    let mut byte = [0];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut byte)];
    let got = recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
        .map_err(|e| e.to_string())?;
    if got.bytes != 1 {
        return Err("it ended".to_owned());
    }
    let device = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    match (byte[0], device) {
        (b'r', _) => Ok(socket),
        (b't', Some(device)) => Ok(device),
        _ => Err("its first message is neither 'r' nor 't' with a device".to_owned()),
    }
}
