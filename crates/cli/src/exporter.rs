//! Serves the newest numbers to Prometheus, on the loopback only.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::CliError;

/// A text that is replaced from time to time.
pub struct Exporter(Arc<Mutex<Vec<u8>>>);

/// What serves the text of an [`Exporter`].
pub struct Server {
    text: Arc<Mutex<Vec<u8>>>,
    listener: TcpListener,
}

impl Exporter {
    /// Listens on this port of 127.0.0.1.
    pub fn new(port: u16) -> Result<(Self, Server), CliError> {
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
    pub fn publish(&self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let mut text = Vec::new();
        if write(&mut text).is_ok() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }
}

impl Server {
    /// Starts the thread that serves the text, to be called when the privileges are given up.
    pub fn start(self) {
        std::thread::spawn(move || {
            for stream in self.listener.incoming().flatten() {
                let text = self
                    .text
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                // A reader that goes away needs no answer.
                let _ = answer(stream, &text);
            }
        });
    }
}

/// Answers any request with the text.
fn answer(mut stream: TcpStream, text: &[u8]) -> io::Result<()> {
    let patience = Some(Duration::from_secs(1));
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(patience)?;
    let mut request = [0; 4096];
    let _ = stream.read(&mut request)?;
    write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n",
        text.len()
    )?;
    stream.write_all(text)
}
