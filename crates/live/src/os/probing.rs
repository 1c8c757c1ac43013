//! Sends the packets of a probe and receives their answers.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use super::confine::{Confinement, Needs};
use super::datagram::{Datagram, Received};
use super::{LiveError, clock, privileges};
use crate::icmp::{Echo, Version, behind_ipv4};
use crate::probe::{Answers, Plan, Protocol, Session};
use crate::stamp::{ErrorEstimate, ReflectedPacket, SenderPacket, Timestamp};

/// Largest datagram.
const MAX_BYTES: usize = 65_536;
/// A packet that found no room in the socket is tried again after this time, nanoseconds.
const AGAIN_NS: i64 = 50_000;

/// Probes `peer` as planned and returns the order of each direction. `start` is called when the socket is open and the
/// privileges are given up, and returns the flag that ends it; then, what was measured so far is returned.
///
/// # Errors
/// If a socket cannot be opened or used, or the peer answered nothing and refused packets.
pub fn probe(
    peer: SocketAddr,
    protocol: Protocol,
    plan: &Plan,
    confinement: Confinement,
    start: &mut dyn FnMut() -> &'static AtomicBool,
) -> Result<Answers, LiveError> {
    clock::be_exact(false)?;
    let line = match protocol {
        Protocol::Stamp => Line::stamp(peer)?,
        Protocol::Icmp => Line::icmp(peer)?,
    };
    let stop = privileges::confine(confinement, &Needs::default(), start)?;
    let mut session = Session::new(*plan);
    let mut bytes = vec![0; plan.bytes];
    let mut buffer = vec![0; MAX_BYTES];
    let mut refused = None;
    let start_ns = clock::monotonic_ns();
    let offset_ns = clock::unix_ns() - start_ns;
    while !stop.load(Ordering::Relaxed) {
        let elapsed_ns = clock::monotonic_ns() - start_ns;
        if session.is_done(elapsed_ns) {
            break;
        }
        let mut next_ns = None;
        while let Some(seq) = session.due(elapsed_ns) {
            match line.send(seq, &mut bytes) {
                Ok(()) => session.sent(),
                Err(error) if is_full(&error) => {
                    next_ns = Some(elapsed_ns + AGAIN_NS);
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    refused = Some(error);
                }
                Err(error) => {
                    return Err(LiveError::system(format!("cannot send to {peer}"))(error));
                }
            }
        }
        let next_ns = next_ns.unwrap_or_else(|| session.next_ns());
        let wait_ns = start_ns + next_ns - clock::monotonic_ns();
        clock::wait(&mut [clock::readable(&line.socket)], Some(wait_ns));
        refused = line.receive(&mut session, &mut buffer)?.or(refused);
    }
    match (session.counts(), refused) {
        ((_, 0), Some(error)) => Err(LiveError::Refused(format!(
            "{peer}: no reflector answers there ({error}); expected `inorder reflect` or another STAMP reflector"
        ))),
        ((_, answers), _) => Ok(Answers {
            answers: answers as u64,
            clock_set_ns: clock::unix_ns() - clock::monotonic_ns() - offset_ns,
            directions: session.finish(),
        }),
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

/// A socket to the peer, and what marks our packets.
struct Line {
    socket: Datagram,
    protocol: Protocol,
    version: Version,
    /// True if the socket delivers IPv4 headers.
    with_ipv4: bool,
    secret: u64,
    error: ErrorEstimate,
}

impl Line {
    fn stamp(peer: SocketAddr) -> Result<Self, LiveError> {
        let any = match peer {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        Line::new(Datagram::udp(any)?, peer, Protocol::Stamp, false)
    }

    fn icmp(peer: SocketAddr) -> Result<Self, LiveError> {
        let (socket, with_ipv4) = Datagram::icmp(peer)?;
        Line::new(socket, peer, Protocol::Icmp, with_ipv4)
    }

    fn new(
        socket: Datagram,
        peer: SocketAddr,
        protocol: Protocol,
        with_ipv4: bool,
    ) -> Result<Self, LiveError> {
        socket.connect(peer)?;
        // Two sessions of one machine differ by process and time; nobody needs to be unable to guess this.
        let secret =
            (clock::unix_ns().cast_unsigned() ^ u64::from(std::process::id()) << 32).max(1);
        Ok(Line {
            socket,
            protocol,
            version: if peer.is_ipv4() {
                Version::V4
            } else {
                Version::V6
            },
            with_ipv4,
            secret,
            error: clock::error_estimate(),
        })
    }

    /// The identifier of the session in STAMP's packets.
    fn ssid(&self) -> u16 {
        (self.secret ^ self.secret >> 16) as u16
    }

    fn send(&self, seq: u32, bytes: &mut [u8]) -> io::Result<()> {
        let now_ns = clock::unix_ns();
        match self.protocol {
            Protocol::Stamp => {
                let timestamp = Timestamp::from_unix_ns(now_ns);
                let (error, ssid) = (self.error, self.ssid());
                SenderPacket {
                    seq,
                    timestamp,
                    error,
                    ssid,
                }
                .write(bytes);
            }
            Protocol::Icmp => {
                let secret = self.secret;
                Echo {
                    secret,
                    seq,
                    sent_ns: now_ns,
                }
                .write(self.version, bytes);
            }
        }
        self.socket.send(bytes)
    }

    /// Takes all answers that are there; an error that the peer sent is returned.
    fn receive(
        &self,
        session: &mut Session,
        buffer: &mut [u8],
    ) -> Result<Option<io::Error>, LiveError> {
        let mut refused = None;
        loop {
            match self.socket.receive(buffer) {
                Ok(Some(received)) => self.take(session, &received, buffer),
                Ok(None) => return Ok(refused),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    refused = Some(error);
                }
                Err(error) => return Err(LiveError::system("cannot receive answers")(error)),
            }
        }
    }

    fn take(&self, session: &mut Session, received: &Received, buffer: &[u8]) {
        let bytes = buffer.get(..received.length).unwrap_or_default();
        match self.protocol {
            Protocol::Stamp => {
                // A reflector that knows only RFC 8762 answers with zeros for the identifier.
                let answer = ReflectedPacket::read(bytes);
                if let Some(answer) =
                    answer.filter(|answer| [0, self.ssid()].contains(&answer.ssid))
                {
                    session.reflected(&answer, received.unix_ns);
                }
            }
            Protocol::Icmp => {
                let bytes = if self.with_ipv4 {
                    behind_ipv4(bytes).unwrap_or_default()
                } else {
                    bytes
                };
                let echo = Echo::read_reply(self.version, bytes);
                if let Some(echo) = echo.filter(|echo| echo.secret == self.secret) {
                    session.echoed(&echo, received.unix_ns);
                }
            }
        }
    }
}
