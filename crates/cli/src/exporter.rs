//! Serves the newest numbers to Prometheus, on the loopback only.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::CliError;

/// A text that is replaced from time to time.
pub(crate) struct Exporter(Arc<Mutex<Vec<u8>>>);

/// What serves the text of an [`Exporter`].
pub(crate) struct Server {
    text: Arc<Mutex<Vec<u8>>>,
    listener: TcpListener,
}

impl Exporter {
    /// Listens on this port of 127.0.0.1.
    pub(crate) fn new(port: u16) -> Result<(Self, Server), CliError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            CliError::Usage(format!(
                "--prometheus {port}: {error}; expected a free port"
            ))
        })?;
        let text = Arc::default();
        let exporter = Exporter(Arc::clone(&text));
        Ok((exporter, Server { text, listener }))
    }

    /// Replaces the text.
    pub(crate) fn publish(&self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let mut text = Vec::new();
        if write(&mut text).is_ok() {
            *lock(&self.0) = text;
        }
    }
}

/// Connections that wait for their requests at the same time; a further one takes the place of the oldest.
const MAX_WAITING: usize = 64;
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often those who wait are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Connections that were accepted, the oldest first, and a bell for who answers them.
#[derive(Default)]
struct Waiting {
    connections: Mutex<VecDeque<(TcpStream, u32)>>,
    bell: Condvar,
}

impl Server {
    /// Starts the threads that serve the text, to be called when the privileges are given up: one accepts connections, the
    /// other one answers those that asked. So nobody waits for connections that ask nothing.
    pub(crate) fn start(self) {
        let waiting = Arc::new(Waiting::default());
        let accepting = Arc::clone(&waiting);
        let listener = self.listener;
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stream.set_nonblocking(true).is_ok() {
                    accepting.add(stream);
                }
            }
        });
        std::thread::spawn(move || {
            loop {
                waiting.answer(&self.text);
                std::thread::sleep(LOOK);
            }
        });
    }
}

impl Waiting {
    fn add(&self, stream: TcpStream) {
        let mut connections = lock(&self.connections);
        if connections.len() >= MAX_WAITING {
            connections.pop_front();
        }
        connections.push_back((stream, 0));
        self.bell.notify_one();
    }

    /// Waits until there are connections, answers those that have asked, and closes those that have not for too long.
    fn answer(&self, text: &Mutex<Vec<u8>>) {
        let none = |connections: &mut VecDeque<_>| connections.is_empty();
        let connections = lock(&self.connections);
        let waited = self.bell.wait_while(connections, none);
        let mut connections = waited.unwrap_or_else(PoisonError::into_inner);
        let mut asked = Vec::new();
        for (mut stream, looks) in std::mem::take(&mut *connections) {
            match stream.read(&mut [0; 4096]) {
                Ok(1..) => asked.push(stream),
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && LOOK * looks < PATIENCE =>
                {
                    connections.push_back((stream, looks + 1));
                }
                // It has gone away, or asks nothing.
                _ => {}
            }
        }
        drop(connections);
        if !asked.is_empty() {
            let text = lock(text).clone();
            for stream in asked {
                // A reader that goes away needs no answer, and one that takes nothing gets what fits into the socket.
                let _ = answer(stream, &text);
            }
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut stream: TcpStream, text: &[u8]) -> io::Result<()> {
    let head = format!(
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    stream.write_all(&[head.as_bytes(), text].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_delay_nobody() {
        let (exporter, server) = Exporter::new(0).expect("a port");
        let address = server.listener.local_addr().expect("an address");
        exporter.publish(|out| out.write_all(b"inorder_watch_frames 7\n"));
        server.start();
        let _idle: Vec<_> = (0..100).map(|_| TcpStream::connect(address)).collect();
        let mut asking = TcpStream::connect(address).expect("a connection");
        // The test fails if five idle connections are waited for until their timeouts.
        asking.set_read_timeout(Some(PATIENCE / 2)).expect("a time");
        asking
            .write_all(b"GET /metrics HTTP/1.0\r\n\r\n")
            .expect("asked");
        let mut answer = String::new();
        asking
            .read_to_string(&mut answer)
            .expect("an answer in time");
        assert!(
            answer.ends_with("\r\n\r\ninorder_watch_frames 7\n"),
            "{answer}"
        );
    }
}
