//! TCP Fast Open (RFC 7413) as far as the host decides: the option, cookies, and who may send data with a SYN.
//!
//! - `siphash`: how a server makes cookies. `server`: what it answers to a SYN. `client`: what it knows of a server.

pub(crate) mod client;
pub(crate) mod server;
mod siphash;

use std::fmt;
use std::net::IpAddr;

/// A cookie has 4 to 16 bytes (RFC 7413 section 4.1.1). Options with other cookies are ignored.
const COOKIE_BYTES: std::ops::RangeInclusive<usize> = 4..=16;
/// More bytes than TCP options have room for.
const ROOM: usize = 40;

/// The option of a SYN or SYN-ACK: a cookie, or (without bytes) the request for one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CookieOption {
    /// Written with the number for experiments that it had before RFC 7413.
    pub(crate) experimental: bool,
    length: u8,
    bytes: [u8; ROOM],
}

impl CookieOption {
    /// `None` if the bytes have no room in a header.
    pub(crate) fn new(experimental: bool, cookie: &[u8]) -> Option<Self> {
        let mut bytes = [0; ROOM];
        bytes.get_mut(..cookie.len())?.copy_from_slice(cookie);
        Some(Self {
            experimental,
            length: cookie.len() as u8,
            bytes,
        })
    }

    pub(crate) fn request(experimental: bool) -> Self {
        Self {
            experimental,
            length: 0,
            bytes: [0; ROOM],
        }
    }

    pub(crate) fn cookie(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    pub(crate) fn is_request(&self) -> bool {
        self.length == 0
    }

    /// Its cookie has an allowed length.
    fn is_valid(&self) -> bool {
        COOKIE_BYTES.contains(&self.cookie().len()) && self.length.is_multiple_of(2)
    }
}

impl fmt::Debug for CookieOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CookieOption {
    /// As scripts write it: `FO 0123abcd`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.experimental { "FOEXP" } else { "FO" })?;
        if self.length > 0 {
            f.write_str(" ")?;
        }
        self.cookie()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The settings of the system and of a socket.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// `tcp_fastopen`: the bits of `Documentation/networking/ip-sysctl.rst`.
    pub(crate) system: u64,
    /// `tcp_fastopen_key`.
    pub(crate) key: [u8; 16],
    /// `TCP_FASTOPEN_KEY` of the socket.
    pub(crate) own_key: Option<[u8; 16]>,
    /// `TCP_FASTOPEN`: how many connections with data may wait for the end of their handshake.
    pub(crate) backlog: Option<u32>,
    /// `TCP_FASTOPEN_CONNECT`: `connect` waits for data that the SYN can carry.
    pub(crate) connect_later: bool,
    /// `TCP_FASTOPEN_NO_COOKIE`.
    pub(crate) without_cookie: bool,
    /// This host and its peer, from whose addresses a cookie is made.
    pub(crate) local: IpAddr,
    pub(crate) remote: IpAddr,
}

impl Settings {
    /// A client may send data with a SYN.
    pub(crate) const CLIENT: u64 = 0x1;
    /// A server may accept it.
    pub(crate) const SERVER: u64 = 0x2;
    /// A client sends data without a cookie.
    pub(crate) const CLIENT_WITHOUT_COOKIE: u64 = 0x4;
    /// A server accepts data without a cookie.
    pub(crate) const SERVER_WITHOUT_COOKIE: u64 = 0x200;
    /// Every listener accepts data, also without `TCP_FASTOPEN`.
    pub(crate) const EVERY_LISTENER: u64 = 0x400;
    /// The key of the public suites' `defaults.sh`.
    const KEY: u128 = 0xa1a1_a1a1_b2b2_b2b2_c3c3_c3c3_d4d4_d4d4;

    pub(crate) fn has(&self, bit: u64) -> bool {
        self.system & bit != 0
    }

    /// packetdrill's addresses for an IP version.
    pub(crate) fn set_version(&mut self, six: bool) {
        let (local, remote) = match six {
            false => ("192.168.0.1", "192.0.2.1"),
            true => ("fd3d:a0b:17d6::1", "fd3d:fa7b:d17d::1"),
        };
        let address = |text: &str| text.parse().unwrap_or(IpAddr::from([0, 0, 0, 0]));
        (self.local, self.remote) = (address(local), address(remote));
    }

    /// The cookie that this host gives its peer (Linux `__tcp_fastopen_cookie_gen_cipher`).
    pub(crate) fn cookie(&self) -> [u8; 8] {
        self.cookie_by(&self.own_key.unwrap_or(self.key))
    }

    /// The settings of a socket, with those of the system as they are now.
    pub(crate) fn under(&self, system: &Self) -> Self {
        Self {
            system: system.system,
            key: system.key,
            ..self.clone()
        }
    }

    fn cookie_by(&self, key: &[u8; 16]) -> [u8; 8] {
        let mut message = Vec::new();
        for address in [self.remote, self.local] {
            match address {
                IpAddr::V4(four) => message.extend(four.octets()),
                IpAddr::V6(six) => message.extend(six.octets()),
            }
        }
        siphash::hash(key, &message).to_le_bytes()
    }

    /// A cookie as a script writes it: in hexadecimal, or by the names that the suites' runner defines for the cookies of
    /// `defaults.sh` and of a key of zeros.
    pub(crate) fn read(&self, text: &str) -> Option<Vec<u8>> {
        match text {
            "TFO_COOKIE" => return Some(self.cookie_by(&Self::KEY.to_be_bytes()).to_vec()),
            "TFO_COOKIE_ZERO" => return Some(self.cookie_by(&[0; 16]).to_vec()),
            _ => {}
        }
        let digit = |c: u8| char::from(c).to_digit(16);
        let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
            _ => None,
        });
        pairs.collect()
    }
}

impl Default for Settings {
    /// As Linux is installed, over IPv4.
    fn default() -> Self {
        let mut settings = Self {
            system: Self::CLIENT,
            key: Self::KEY.to_be_bytes(),
            own_key: None,
            backlog: None,
            connect_later: false,
            without_cookie: false,
            local: IpAddr::from([0, 0, 0, 0]),
            remote: IpAddr::from([0, 0, 0, 0]),
        };
        settings.set_version(false);
        settings
    }
}

/// `01020304-05060708-090a0b0c-0d0e0f10`: the key as the system's setting has it.
pub(crate) fn key(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut parts = text.split('-');
    for place in key.chunks_mut(4) {
        let part = u32::from_str_radix(parts.next()?, 16).ok()?;
        place.copy_from_slice(&part.to_be_bytes());
    }
    parts.next().is_none().then_some(key)
}

/// `\x01\x02...`: the key as `TCP_FASTOPEN_KEY` has it. Linux also takes two keys, the second one for cookies of earlier days.
pub(crate) fn key_of_bytes(text: &str) -> Option<[u8; 16]> {
    let mut bytes = text.split("\\x");
    if !bytes.next()?.is_empty() {
        return None;
    }
    let bytes: Option<Vec<u8>> = bytes
        .map(|byte| u8::from_str_radix(byte, 16).ok())
        .collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_those_of_linux() {
        // Printed by a Linux server with the keys of the public suites, for packetdrill's addresses.
        let mut settings = Settings::default();
        let text = |settings: &Settings| format!("{:016x}", u64::from_be_bytes(settings.cookie()));
        assert_eq!(text(&settings), "3021b9d889017eeb");
        settings.set_version(true);
        assert_eq!(text(&settings), "c1d1e9742a47a9bc");
        settings.key = key("00000000-00000000-00000000-00000000").expect("a key");
        assert_eq!(text(&settings), "82af1a8f9a205c34");
        assert_eq!(key("1-2-3"), None);
        let bytes = r"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(key_of_bytes(bytes), Some(settings.key));
        assert_eq!((key_of_bytes(""), key_of_bytes(r"\x00")), (None, None));
    }

    #[test]
    fn cookies_are_read_and_written() {
        let settings = Settings::default();
        let read = |text: &str| settings.read(text);
        assert_eq!(read("00ff"), Some(vec![0, 255]));
        assert_eq!(read("TFO_COOKIE"), Some(settings.cookie().to_vec()));
        assert_eq!((read("0"), read("no")), (None, None));
        let option = CookieOption::new(true, &[0x0a, 0xbc]).expect("room");
        assert_eq!(option.to_string(), "FOEXP 0abc");
        assert_eq!(CookieOption::request(false).to_string(), "FO");
        assert!(!option.is_valid() && option.cookie().len() == 2);
    }
}
