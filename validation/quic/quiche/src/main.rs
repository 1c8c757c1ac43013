//! Transfers over quiche, with its own qlog. `quiche-end server PORT [CONGESTION]` or
//! `quiche-end client PORT up|down BYTES [CONGESTION]`.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// When all is there, acknowledgements of what came late are to arrive.
const LINGER: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(120);
/// Larger than what is sent, so that it limits nothing.
const WINDOW: u64 = 64 << 20;
/// The only stream.
const STREAM: u64 = 0;
/// How often the program looks at its socket.
const TICK: Duration = Duration::from_micros(200);

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["server", port, ref rest @ ..] => serve(port.parse()?, rest),
        ["client", port, way, bytes, ref rest @ ..] => {
            ask(port.parse()?, way, bytes.parse()?, rest)
        }
        _ => Err("server PORT, or client PORT up|down BYTES".into()),
    }
}

fn settings(words: &[&str]) -> Outcome<quiche::Config> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[b"inorder"])?;
    config.verify_peer(false);
    config.log_keys();
    config.set_max_idle_timeout(20_000);
    config.set_max_recv_udp_payload_size(1_350);
    config.set_max_send_udp_payload_size(1_350);
    config.set_initial_max_data(WINDOW);
    config.set_initial_max_stream_data_bidi_local(WINDOW);
    config.set_initial_max_stream_data_bidi_remote(WINDOW);
    config.set_initial_max_streams_bidi(10);
    config.set_max_connection_window(WINDOW);
    config.set_max_stream_window(WINDOW);
    config.set_cc_algorithm_name(words.first().copied().unwrap_or("cubic"))?;
    Ok(config)
}

/// Tells the connection where to write keys and log.
fn log(connection: &mut quiche::Connection, end: &str) -> Outcome<()> {
    let keys = std::env::var("SSLKEYLOGFILE")?;
    let keys = OpenOptions::new().create(true).append(true).open(keys)?;
    connection.set_keylog(Box::new(keys));
    let file = File::create(format!("{}/{end}.sqlog", std::env::var("QLOGDIR")?))?;
    connection.set_qlog(Box::new(file), format!("quiche {end}"), String::new());
    Ok(())
}

fn serve(port: u16, words: &[&str]) -> Outcome<()> {
    let mut config = settings(words)?;
    config.load_cert_chain_from_pem_file(&std::env::var("CERT")?)?;
    config.load_priv_key_from_pem_file(&std::env::var("KEY")?)?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    println!("ready");
    let mut first = vec![0; 65_535];
    let (len, from) = socket.recv_from(&mut first)?;
    let id = [0x5a; quiche::MAX_CONN_ID_LEN];
    let id = quiche::ConnectionId::from_ref(&id);
    let connection = quiche::accept(&id, None, socket.local_addr()?, from, &mut config)?;
    let info = quiche::RecvInfo {
        from,
        to: socket.local_addr()?,
    };
    let mut end = End::new(socket, connection, "server")?;
    end.connection.recv(&mut first[..len], info)?;
    end.run(|end| {
        let way = end.request.first().copied();
        if let (true, Some(size)) = (end.is_asked, end.request.get(1..9)) {
            end.is_asked = false;
            end.unsent = if way == Some(b'd') {
                u64::from_be_bytes(size.try_into()?)
            } else {
                1
            };
        }
        Ok(())
    })
}

fn ask(port: u16, way: &str, bytes: u64, words: &[&str]) -> Outcome<()> {
    let mut config = settings(words)?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    // Differs in each run: the identifier of the connection is in the name of the log.
    let seed = std::process::id().to_be_bytes();
    let mut id = [0x43; quiche::MAX_CONN_ID_LEN];
    id[..seed.len()].copy_from_slice(&seed);
    let id = quiche::ConnectionId::from_ref(&id);
    let connection = quiche::connect(
        Some("localhost"),
        &id,
        socket.local_addr()?,
        server,
        &mut config,
    )?;
    let mut request = way.as_bytes()[..1].to_vec();
    request.extend(bytes.to_be_bytes());
    let unsent = if way == "up" { bytes } else { 0 };
    let mut end = End::new(socket, connection, "client")?;
    let mut has_asked = false;
    end.run(|end| {
        if end.connection.is_established() && !has_asked {
            has_asked = true;
            end.connection.stream_send(STREAM, &request, unsent == 0)?;
            end.unsent = unsent;
        }
        if end.has_all.is_some_and(|at| at.elapsed() > LINGER) && !end.connection.is_closed() {
            // Closing twice is no error of ours.
            end.connection.close(true, 0, b"").or_else(|error| {
                if error == quiche::Error::Done {
                    Ok(())
                } else {
                    Err(error)
                }
            })?;
        }
        Ok(())
    })
}

/// One end of the transfer.
struct End {
    socket: UdpSocket,
    connection: quiche::Connection,
    /// The first bytes that came.
    request: Vec<u8>,
    /// All of the other end's data came, and nothing was done about it.
    is_asked: bool,
    /// Bytes that are to be sent.
    unsent: u64,
    /// When all data of the other end had come.
    has_all: Option<Instant>,
}

impl End {
    /// Nothing has come or gone; the log is called `name`.
    fn new(socket: UdpSocket, mut connection: quiche::Connection, name: &str) -> Outcome<End> {
        log(&mut connection, name)?;
        Ok(End {
            socket,
            connection,
            request: Vec::new(),
            is_asked: false,
            unsent: 0,
            has_all: None,
        })
    }

    /// Sends and receives until the connection is closed; `step` does what this end does of its own accord.
    fn run(&mut self, mut step: impl FnMut(&mut End) -> Outcome<()>) -> Outcome<()> {
        self.socket.set_nonblocking(true)?;
        let begun = Instant::now();
        let mut waits: Vec<(Instant, Vec<u8>, SocketAddr)> = Vec::new();
        while !self.connection.is_closed() {
            if begun.elapsed() > LONGEST {
                return Err("took too long".into());
            }
            self.receive()?;
            if self
                .connection
                .timeout_instant()
                .is_some_and(|at| at <= Instant::now())
            {
                self.connection.on_timeout();
            }
            self.read()?;
            step(self)?;
            self.write()?;
            self.send(&mut waits)?;
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    fn receive(&mut self) -> Outcome<()> {
        let mut buffer = [0; 65_535];
        loop {
            let (len, from) = match self.socket.recv_from(&mut buffer) {
                Ok(came) => came,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let info = quiche::RecvInfo {
                from,
                to: self.socket.local_addr()?,
            };
            // What cannot be read is dropped, and the log says so.
            let _ = self.connection.recv(&mut buffer[..len], info);
        }
    }

    fn read(&mut self) -> Outcome<()> {
        let mut buffer = [0; 65_535];
        while self.connection.stream_readable(STREAM) {
            let (len, is_last) = match self.connection.stream_recv(STREAM, &mut buffer) {
                Ok(came) => came,
                Err(quiche::Error::Done) => break,
                Err(error) => return Err(error.into()),
            };
            let lacks = 9_usize.saturating_sub(self.request.len()).min(len);
            self.request.extend(&buffer[..lacks]);
            if is_last {
                self.is_asked = true;
                self.has_all = Some(Instant::now());
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Outcome<()> {
        const BLOCK: [u8; 65_536] = [0; 65_536];
        while self.unsent > 0 {
            let part = self.unsent.min(BLOCK.len() as u64) as usize;
            let is_last = part as u64 == self.unsent;
            match self.connection.stream_send(STREAM, &BLOCK[..part], is_last) {
                Ok(0) | Err(quiche::Error::Done) => break,
                Ok(taken) => self.unsent -= taken as u64,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends what the connection has, each packet at its time.
    fn send(&mut self, waits: &mut Vec<(Instant, Vec<u8>, SocketAddr)>) -> Outcome<()> {
        let mut buffer = [0; 1_350];
        while let Ok((len, info)) = self.connection.send(&mut buffer) {
            waits.push((info.at, buffer[..len].to_vec(), info.to));
        }
        let now = Instant::now();
        let due = waits.iter().take_while(|(at, ..)| *at <= now).count();
        for (_, packet, to) in waits.drain(..due) {
            self.socket.send_to(&packet, to)?;
        }
        Ok(())
    }
}
