//! smoltcp as one end of the path: `smoltcp client|server up BYTES | fetch TIMES BYTES [KEY=VALUE...]`.
//!
//! Packets come and go through the standard input (see ../path/src/end.rs). Keys: congestion=none|reno|cubic (none is
//! smoltcp's own choice), timestamps=1, flows=N (connections at the same time, to ports 5001 and above).

use std::io;
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::write;
use rustix::net::{RecvFlags, recv};
use rustix::stdio::stdin;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

const PORT: u16 = 5001;
const REQUEST: usize = 100;
const BUFFER: usize = 65_535;
/// How long the stack still answers after its application has ended.
const LINGER: Duration = Duration::from_millis(700);

/// The standard input as a network card for IP packets.
struct Card;

struct Received(Vec<u8>);
struct Sending;

impl Device for Card {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut out = DeviceCapabilities::default();
        out.max_transmission_unit = 1500;
        out.medium = Medium::Ip;
        out
    }

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending)> {
        let mut packet = vec![0; 65_536];
        let (length, _) = recv(stdin(), &mut packet[..], RecvFlags::DONTWAIT).ok()?;
        if length == 0 {
            std::process::exit(0);
        }
        packet.truncate(length);
        Some((Received(packet), Sending))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending> {
        Some(Sending)
    }
}

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl phy::TxToken for Sending {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut packet = vec![0; length];
        let out = f(&mut packet);
        let _ = write(stdin(), &packet);
        out
    }
}

struct Work {
    is_client: bool,
    is_upload: bool,
    times: usize,
    bytes: usize,
}

/// What an application still has to do on one connection.
struct Transfer {
    socket: SocketHandle,
    unsent: usize,
    awaited: usize,
    rounds: usize,
    closes: bool,
    ended: bool,
}

impl Transfer {
    fn new(socket: SocketHandle, work: &Work) -> Self {
        let (is_client, is_upload) = (work.is_client, work.is_upload);
        let asks = is_client && !is_upload;
        Transfer {
            socket,
            unsent: if asks {
                REQUEST
            } else if is_client {
                work.bytes
            } else {
                0
            },
            awaited: if asks {
                work.bytes
            } else if is_upload {
                usize::MAX
            } else {
                REQUEST
            },
            rounds: if is_upload {
                0
            } else {
                work.times - usize::from(asks)
            },
            closes: is_client && is_upload,
            ended: false,
        }
    }

    /// All that was awaited has come.
    fn answered(&mut self, work: &Work) {
        if self.rounds == 0 {
            self.closes = work.is_client;
            self.awaited = usize::MAX;
            return;
        }
        self.rounds -= 1;
        (self.unsent, self.awaited) = if work.is_client {
            (REQUEST, work.bytes)
        } else {
            (work.bytes, REQUEST)
        };
    }

    fn go_on(&mut self, socket: &mut Socket<'_>, work: &Work) {
        while socket.can_recv() {
            let got = socket.recv(|data| (data.len(), data.len())).unwrap_or(0);
            if self.awaited != usize::MAX {
                self.awaited = self.awaited.saturating_sub(got);
            }
        }
        if self.awaited == 0 {
            self.answered(work);
        }
        while self.unsent > 0 && socket.can_send() {
            let part = vec![0; self.unsent.min(BUFFER)];
            self.unsent -= socket.send_slice(&part).unwrap_or(0);
        }
        let begun = !matches!(
            socket.state(),
            State::Listen | State::SynSent | State::SynReceived
        );
        let peer_closed = matches!(socket.state(), State::CloseWait);
        if begun && self.unsent == 0 && (self.closes || peer_closed) {
            socket.close();
            self.closes = false;
        }
        self.ended = begun && matches!(socket.state(), State::Closed | State::TimeWait);
    }
}

fn milliseconds() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_millis() as u32
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((work, keys)) = read_words(&words) else {
        eprintln!("smoltcp client|server up BYTES | fetch TIMES BYTES [KEY=VALUE...]");
        std::process::exit(2);
    };
    let key = |name: &str| {
        keys.iter()
            .find_map(|w| w.split_once('=').filter(|(k, _)| *k == name))
            .map(|(_, v)| v)
    };
    let mut card = Card;
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = u64::from(milliseconds()) << 20 | u64::from(std::process::id());
    let mut interface = Interface::new(config, &mut card, Instant::now());
    let address = |last| IpAddress::v4(192, 0, 2, last);
    let own = address(if work.is_client { 1 } else { 2 });
    interface.update_ip_addrs(|all| {
        all.push(IpCidr::new(own, 24))
            .expect("room for one address")
    });
    let mut sockets = SocketSet::new(Vec::new());
    let flows: u16 = key("flows").and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut transfers = Vec::new();
    for port in PORT..PORT + flows {
        let buffer = || SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = Socket::new(buffer(), buffer());
        match key("congestion") {
            Some("reno") => socket.set_congestion_control(CongestionControl::Reno),
            Some("cubic") => socket.set_congestion_control(CongestionControl::Cubic),
            _ => {}
        }
        if key("timestamps") == Some("1") {
            socket.set_tsval_generator(Some(milliseconds));
        }
        if work.is_client {
            let local = 49_152 + (milliseconds() as u16 & 0x3fff);
            let begun = socket.connect(interface.context(), (address(2), port), local);
            begun.expect("a new socket can connect");
        } else {
            socket.listen(port).expect("a new socket can listen");
        }
        transfers.push(Transfer::new(sockets.add(socket), &work));
    }
    write(stdin(), b"r")?;
    let mut ended: Option<std::time::Instant> = None;
    while ended.is_none_or(|at| at.elapsed() < LINGER) {
        interface.poll(Instant::now(), &mut card, &mut sockets);
        for transfer in &mut transfers {
            transfer.go_on(sockets.get_mut(transfer.socket), &work);
        }
        // What the applications wrote goes out before the wait.
        interface.poll(Instant::now(), &mut card, &mut sockets);
        if ended.is_none() && transfers.iter().all(|t| t.ended) {
            ended = Some(std::time::Instant::now());
        }
        let delay = interface.poll_delay(Instant::now(), &sockets);
        let wait = delay.map_or(20_000_000, |d| {
            (d.total_micros() as i64 * 1000).min(20_000_000)
        });
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait,
        };
        let _ = poll(
            &mut [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)],
            Some(&timeout),
        );
    }
    Ok(())
}

fn read_words(words: &[String]) -> Option<(Work, &[String])> {
    let (role, kind) = (words.first()?, words.get(1)?);
    let number = |i: usize| words.get(i)?.parse().ok();
    let is_upload = kind == "up";
    let (times, bytes, keys) = if is_upload {
        (1, number(2)?, 3)
    } else {
        (number(2)?, number(3)?, 4)
    };
    let work = Work {
        is_client: role == "client",
        is_upload,
        times,
        bytes,
    };
    Some((work, words.get(keys..)?))
}
