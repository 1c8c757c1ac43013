//! The socket of a reflector.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::confine::{Confinement, Needs};
use super::datagram::Datagram;
use super::{LiveError, clock, privileges};
use crate::reflector::{Arrived, Limits, Reflected, Reflector, set_timestamp};

/// Largest datagram.
const MAX_BYTES: usize = 65_536;
/// How often `stop` is looked at while nothing arrives, nanoseconds.
const LOOK_NS: i64 = 200_000_000;
/// How often the error of the clock is asked for, nanoseconds.
const CLOCK_NS: i64 = 10_000_000_000;

/// Answers STAMP packets at `local`; `start` gets the address, with the port if it was 0, when the socket is open and the
/// privileges are given up, and returns the flag that ends it.
///
/// # Errors
/// If the socket cannot be opened or used.
pub fn reflect(
    local: SocketAddr,
    limits: Limits,
    confinement: Confinement,
    start: &mut dyn FnMut(SocketAddr) -> &'static AtomicBool,
) -> Result<Reflected, LiveError> {
    let socket = Datagram::udp(local)?;
    let address = socket.local()?;
    let stop = privileges::confine(confinement, &Needs::default(), &mut || start(address))?;
    let mut reflector = Reflector::new(limits, address.port());
    let mut bytes = vec![0; MAX_BYTES];
    let (mut error, mut asked_ns) = (clock::error_estimate(), clock::monotonic_ns());
    while !stop.load(Ordering::Relaxed) {
        clock::wait(&mut [clock::readable(&socket)], Some(LOOK_NS));
        // An error here is about an answer sent before, whose receiver has gone.
        while let Ok(Some(received)) = socket.receive(&mut bytes) {
            let Some(from) = received.from else {
                continue;
            };
            let arrived = Arrived {
                from,
                ttl: received.ttl,
                unix_ns: received.unix_ns,
                now_ns: clock::monotonic_ns(),
            };
            if arrived.now_ns - asked_ns > CLOCK_NS {
                (error, asked_ns) = (clock::error_estimate(), arrived.now_ns);
            }
            let packet = bytes.get_mut(..received.length).unwrap_or_default();
            if reflector.reflect(packet, &arrived, error) {
                set_timestamp(packet, clock::unix_ns());
                // An answer that cannot be sent is a lost packet, as the sender will see.
                let _ = socket.answer(packet, from, received.to);
            }
        }
    }
    Ok(reflector.done())
}
