//! Senders and receivers: plain blocking sockets, nothing that waits for time by spinning.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use inorder_base::random::Random;

use super::sys;
use crate::plan::{Connection, FIRST_PORT, Group, Plan, SERVICE, Socket, Work};
use crate::report::FlowReport;

/// Bytes written at once.
const CHUNK: usize = 1 << 16;
static ZEROS: [u8; CHUNK] = [0; CHUNK];
/// Bytes that an application writes ahead of sending if it must stop at a given time.
const AHEAD: u32 = 256 << 10;

/// What the threads of a run share.
pub(super) struct Shared {
    /// The plan.
    pub plan: Plan,
    /// Time of the monotonic clock at which the run begins.
    pub begin_ns: i64,
    /// The senders' sockets while they are open.
    pub senders: Vec<Mutex<Option<RawFd>>>,
    /// What the applications know.
    pub reports: Mutex<Vec<FlowReport>>,
}

impl Shared {
    fn now_ns(&self) -> i64 {
        sys::now_ns(libc::CLOCK_MONOTONIC) - self.begin_ns
    }

    fn is_over(&self, group: &Group) -> bool {
        let now_ns = self.now_ns();
        now_ns >= self.plan.duration_ns || group.stop_ns.is_some_and(|stop_ns| now_ns >= stop_ns)
    }

    fn note(&self, flow: usize, change: impl FnOnce(&mut FlowReport)) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(report) = reports.get_mut(flow) {
            change(report);
        }
    }
}

fn options(socket: &OwnedFd, options: &Socket) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    sys::set_congestion(fd, &options.congestion)?;
    if let Some(mss) = options.mss {
        sys::set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss)?;
    }
    if let Some(bytes) = options.receive_buffer {
        let bytes = u32::try_from(bytes)
            .unwrap_or(u32::MAX / 4)
            .min(u32::MAX / 4);
        sys::set(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)?;
    }
    if options.no_delay {
        sys::set(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1i32)?;
    }
    if let Some(rate) = options.pacing {
        sys::set(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate)?;
    }
    Ok(())
}

/// Listens for the connections of a group; ends with the machine.
pub(super) fn serve(group: &Group) -> io::Result<()> {
    sys::enter(&group.receiver)?;
    let server = sys::tcp_socket()?;
    options(&server, &group.receiving)?;
    sys::bind(&server, group.to, SERVICE)?;
    sys::listen(&server)?;
    let work = group.work;
    std::thread::spawn(move || {
        while let Ok(socket) = sys::accept(&server) {
            let _ = small_thread(move || match work {
                Work::Bulk | Work::Paced { .. } => {
                    while sys::discard(socket.as_raw_fd(), 1 << 20).is_ok_and(|got| got > 0) {}
                }
                Work::Dialogue {
                    request_bytes,
                    response_bytes,
                    ..
                } => {
                    while exchange(&socket, request_bytes, response_bytes).is_ok_and(|open| open) {}
                }
            });
        }
    });
    Ok(())
}

/// A thread with a small stack, of which there are many.
pub(super) fn small_thread(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(run)
        .map(drop)
}

/// Reads a request and answers it; false at the end.
fn exchange(socket: &OwnedFd, request: u64, response: u64) -> io::Result<bool> {
    if !read(socket, request)? {
        return Ok(false);
    }
    write(socket, response)?;
    Ok(true)
}

/// Reads `bytes` bytes; false if the connection ends before.
fn read(socket: &OwnedFd, mut bytes: u64) -> io::Result<bool> {
    while bytes > 0 {
        let got = sys::discard(
            socket.as_raw_fd(),
            usize::try_from(bytes).unwrap_or(CHUNK).min(1 << 20),
        )?;
        if got == 0 {
            return Ok(false);
        }
        bytes -= got as u64;
    }
    Ok(true)
}

fn write(socket: &OwnedFd, mut bytes: u64) -> io::Result<()> {
    while bytes > 0 {
        let most = usize::try_from(bytes).unwrap_or(CHUNK).min(CHUNK);
        bytes -= sys::send(socket.as_raw_fd(), &ZEROS[..most], 0)? as u64;
    }
    Ok(())
}

/// Opens a connection at its time and carries its data.
pub(super) fn send(shared: &Shared, number: usize, connection: &Connection) {
    let Some(group) = shared.plan.groups.get(connection.group) else {
        return;
    };
    sys::sleep_until(shared.begin_ns + connection.start_ns);
    if shared.is_over(group) {
        return;
    }
    let done = open(number, group).and_then(|socket| {
        set_sender(shared, number, Some(socket.as_raw_fd()));
        let done = carry(shared, number, connection, group, &socket);
        if done.is_ok() {
            // The other end closes after the last byte.
            while sys::discard(socket.as_raw_fd(), CHUNK).is_ok_and(|got| got > 0) {}
        }
        set_sender(shared, number, None);
        done
    });
    if let Err(error) = done {
        shared.note(number, |report| report.error = Some(error.to_string()));
    }
}

fn set_sender(shared: &Shared, number: usize, socket: Option<RawFd>) {
    if let Some(place) = shared.senders.get(number) {
        *place.lock().unwrap_or_else(PoisonError::into_inner) = socket;
    }
}

fn open(number: usize, group: &Group) -> io::Result<OwnedFd> {
    sys::enter(&group.sender)?;
    let socket = sys::tcp_socket()?;
    options(&socket, &group.sending)?;
    if group.stop_ns.is_some() {
        sys::set(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_NOTSENT_LOWAT,
            AHEAD,
        )?;
    }
    sys::bind(&socket, group.from, FIRST_PORT + number as u16)?;
    sys::connect(&socket, group.to, SERVICE)?;
    Ok(socket)
}

fn carry(
    shared: &Shared,
    number: usize,
    connection: &Connection,
    group: &Group,
    socket: &OwnedFd,
) -> io::Result<()> {
    let size = connection.size.unwrap_or(u64::MAX);
    match group.work {
        Work::Bulk => bulk(shared, group, size, socket)?,
        Work::Paced {
            write_bytes,
            gap_ns,
        } => paced(shared, group, size, socket, (write_bytes, gap_ns))?,
        Work::Dialogue { .. } => dialogue(shared, number, group, size, socket)?,
    }
    sys::finish(socket.as_raw_fd());
    Ok(())
}

fn bulk(shared: &Shared, group: &Group, size: u64, socket: &OwnedFd) -> io::Result<()> {
    let mut left = size;
    while left > 0 && !shared.is_over(group) {
        let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        left -= sys::send(socket.as_raw_fd(), &ZEROS[..most], 0)? as u64;
    }
    Ok(())
}

/// A live source: what TCP does not take is dropped.
fn paced(
    shared: &Shared,
    group: &Group,
    size: u64,
    socket: &OwnedFd,
    (bytes, gap_ns): (u64, i64),
) -> io::Result<()> {
    let mut left = size;
    let mut next_ns = shared.now_ns();
    while left > 0 && !shared.is_over(group) {
        let mut due = bytes.min(left);
        left -= due;
        while due > 0 {
            let most = usize::try_from(due).unwrap_or(CHUNK).min(CHUNK);
            match sys::send(socket.as_raw_fd(), &ZEROS[..most], libc::MSG_DONTWAIT) {
                Ok(sent) => due -= sent as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        next_ns += gap_ns;
        sys::sleep_until(shared.begin_ns + next_ns);
    }
    Ok(())
}

fn dialogue(
    shared: &Shared,
    number: usize,
    group: &Group,
    size: u64,
    socket: &OwnedFd,
) -> io::Result<()> {
    let Work::Dialogue {
        request_bytes,
        response_bytes,
        think_ns,
        exponential,
    } = group.work
    else {
        return Ok(());
    };
    let mut random = Random::new(number as u64, "think");
    let mut written = 0;
    while written < size && !shared.is_over(group) {
        let asked_ns = shared.now_ns();
        write(socket, request_bytes)?;
        written = written.saturating_add(request_bytes);
        if !read(socket, response_bytes)? {
            return Ok(());
        }
        let now_ns = shared.now_ns();
        if now_ns < shared.plan.duration_ns {
            shared.note(number, |report| {
                report.responses += 1;
                report.response_ns += (now_ns - asked_ns).unsigned_abs();
            });
        }
        let factor = if exponential {
            random.exponential()
        } else {
            1.0
        };
        let pause_ns = (think_ns as f64 * factor) as i64;
        sys::sleep_until(shared.begin_ns + now_ns + pause_ns);
    }
    Ok(())
}
