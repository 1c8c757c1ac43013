//! Serves the newest numbers to Prometheus, on the loopback only.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::CliError;

/// A server of one text, which is replaced from time to time.
pub struct Exporter {
    text: Arc<Mutex<Vec<u8>>>,
    /// Present until the thread is started.
    listener: Option<TcpListener>,
}

impl Exporter {
    /// Listens on this port of 127.0.0.1.
    pub fn new(port: u16) -> Result<Self, CliError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            CliError::Usage(format!(
                "--prometheus {port}: {error}; expected a free port"
            ))
        })?;
        Ok(Exporter {
            text: Arc::default(),
            listener: Some(listener),
        })
    }

    /// Replaces the text. The first call starts the thread that serves it, so that it is started without the
    /// privileges that have been given up by then.
    pub fn publish(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let mut text = Vec::new();
        if write(&mut text).is_ok() {
            *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
        if let Some(listener) = self.listener.take() {
            let text = Arc::clone(&self.text);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    // A reader that goes away needs no answer.
                    let _ = answer(stream, &text);
                }
            });
        }
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
