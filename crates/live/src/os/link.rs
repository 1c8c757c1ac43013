//! Whether an interface is there: up, down, gone, or back with another number.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::sys::{self, checked};
use super::{LiveError, clock, port};

/// How often the interface is asked for while nothing says that it changed, nanoseconds.
const ASK_NS: i64 = 1_000_000_000;
/// The same while it is down or gone.
const ASK_SOON_NS: i64 = 100_000_000;

/// The state of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Up,
    Down,
    Gone,
}

/// What its user has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// Nothing can be sent or received until it is back.
    Lost,
    /// It is up; sockets are still bound to it.
    Up,
    /// It is up and has this number now: sockets are to be bound anew.
    Replaced(u32),
}

/// An interface that may go down, be removed, and come back. What becomes of it is reported, a line each time.
pub(super) struct Link {
    name: String,
    /// Answers questions about interfaces.
    socket: OwnedFd,
    index: u32,
    state: State,
    asked_ns: i64,
    /// False if one that comes after it is of no use.
    may_return: bool,
    tell: fn(&str),
}

impl Link {
    /// The interface with this name and number.
    pub(super) fn new(name: &str, index: u32, tell: fn(&str)) -> Result<Self, LiveError> {
        let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
            .map_err(LiveError::system("cannot ask for the state of interfaces"))?;
        Ok(Link {
            name: name.to_owned(),
            socket,
            index,
            state: State::Up,
            asked_ns: clock::monotonic_ns(),
            may_return: true,
            tell,
        })
    }

    /// This interface, whose successor with the same name is of no use. Its user then reports that it has gone.
    #[must_use]
    pub(super) fn without_return(self) -> Self {
        Link {
            may_return: false,
            ..self
        }
    }

    /// True while it can be used, as far as is known.
    pub(super) fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// True if it has been removed, as far as is known.
    pub(super) fn is_gone(&self) -> bool {
        self.state == State::Gone
    }

    /// Looks at the interface if it is time to, or `now` says so because a call on it has failed.
    pub(super) fn look(&mut self, now: bool) -> Change {
        let time_ns = clock::monotonic_ns();
        let pause_ns = if self.is_up() { ASK_NS } else { ASK_SOON_NS };
        if !now && time_ns - self.asked_ns < pause_ns {
            return Change::None;
        }
        self.asked_ns = time_ns;
        let (state, index) = match (self.ask(libc::SIOCGIFINDEX), self.ask(libc::SIOCGIFFLAGS)) {
            // SAFETY: the calls have filled in the number and the flags.
            (Ok(number), Ok(flags)) => unsafe {
                let is_up = i32::from(flags.ifr_ifru.ifru_flags) & libc::IFF_UP != 0;
                let state = if is_up { State::Up } else { State::Down };
                (state, number.ifr_ifru.ifru_ifindex.cast_unsigned())
            },
            _ => (State::Gone, self.index),
        };
        let is_new = index != self.index;
        let before = std::mem::replace(&mut self.state, state);
        let name = &self.name;
        match (before, state) {
            (State::Up, State::Up) if !is_new => return Change::None,
            (_, State::Up) => (self.tell)(&format!("{name}: is up again; it goes on")),
            (State::Down, State::Down) | (State::Gone, State::Gone) => return Change::None,
            (_, State::Down) => (self.tell)(&format!("{name}: is down; waiting until it is up")),
            (_, State::Gone) if !self.may_return => {}
            (_, State::Gone) => {
                (self.tell)(&format!(
                    "{name}: has gone; waiting until there is one again"
                ));
            }
        }
        match state {
            State::Up if is_new => {
                self.index = index;
                Change::Replaced(index)
            }
            State::Up => Change::Up,
            State::Down | State::Gone => Change::Lost,
        }
    }

    fn ask(&self, number: libc::c_ulong) -> io::Result<libc::ifreq> {
        let mut request = port::request(&self.name);
        // The type of the number differs between C libraries.
        // SAFETY: `request` is valid for the call.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), number as _, &mut request) };
        checked(done).map(|_| request)
    }
}
