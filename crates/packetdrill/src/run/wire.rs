//! Converts between packets of the script and segments of the endpoint, and prints packets.

use std::fmt::Write as _;

use inorder_tcp::{Ecn, EcnOption, Flags, Nanos, SackBlocks, Segment, Timestamps};

use super::host::Sent;
use crate::fast_open::{self, CookieOption};
use crate::script::{EcnField, Packet, TcpOption};

/// Maps the timestamps in the script to the endpoint's real ones.
///
/// Timestamps in a script are placeholders: an echoed value in an injected packet means the clock at the time of the
/// packet that first had this value.
#[derive(Debug, Default)]
pub(super) struct Clock {
    pairs: Vec<(u32, u32)>,
}

impl Clock {
    /// Records that the script wrote `script` where the endpoint sent `actual`.
    pub(super) fn learn(&mut self, script: u32, actual: u32) {
        if !self.pairs.iter().any(|pair| pair.0 == script) {
            self.pairs.push((script, actual));
        }
    }

    /// The endpoint's value for a value in the script: that of the same packet, otherwise at the written distance
    /// from the first one.
    pub(super) fn actual(&self, script: u32) -> u32 {
        let exact = self.pairs.iter().find(|pair| pair.0 == script);
        let first = self.pairs.first();
        match (exact, first) {
            (Some(pair), _) => pair.1,
            (None, Some(pair)) => pair.1.wrapping_add(script.wrapping_sub(pair.0)),
            (None, None) => script,
        }
    }

    /// Difference between `actual` and the script's clock, ticks.
    pub(super) fn drift(&self, script: u32, actual: u32) -> u32 {
        let expected = self.pairs.first().map_or(actual, |pair| {
            pair.1.wrapping_add(script.wrapping_sub(pair.0))
        });
        let ahead = actual.wrapping_sub(expected);
        ahead.min(ahead.wrapping_neg())
    }

    /// The script's value for a value of the endpoint, for display.
    fn script(&self, actual: u32) -> u32 {
        let exact = self.pairs.iter().find(|pair| pair.1 == actual);
        match (exact, self.pairs.first()) {
            (Some(pair), _) => pair.0,
            (None, Some(pair)) => pair.0.wrapping_add(actual.wrapping_sub(pair.1)),
            (None, None) => actual,
        }
    }
}

/// A feature of the packet that this stack does not support.
pub(super) fn unsupported(packet: &Packet, known: &fast_open::Settings) -> Option<String> {
    if packet.urg || packet.urgent.is_some_and(|urgent| urgent > 0) {
        return Some("urgent data".to_owned());
    }
    packet
        .options
        .iter()
        .flatten()
        .find_map(|option| match option {
            TcpOption::Other(text) => Some(format!("TCP option `{text}`")),
            TcpOption::FastOpen { cookie, .. } if known.read(cookie).is_none() => {
                Some(format!("the cookie {cookie:?}"))
            }
            _ => None,
        })
}

/// The option of TCP Fast Open as the script writes it.
pub(super) fn cookie(packet: &Packet, known: &fast_open::Settings) -> Option<CookieOption> {
    let options = packet.options.iter().flatten();
    options.rev().find_map(|option| match option {
        TcpOption::FastOpen {
            experimental,
            cookie,
        } => CookieOption::new(*experimental, &known.read(cookie)?),
        _ => None,
    })
}

/// Converts an injected packet to a segment.
pub(super) fn segment(packet: &Packet, clock: &Clock) -> Segment {
    let mut segment = Segment {
        seq: packet.seq,
        ack: packet.ack.unwrap_or(0),
        payload: packet.len,
        window: packet.window.unwrap_or(0).min(65_535) as u16,
        flags: flags(packet),
        ecn: match packet.ecn {
            None | Some(EcnField::None) => Ecn::NotCapable,
            Some(EcnField::Ect0 | EcnField::Either) => Ecn::Capable0,
            Some(EcnField::Ect1) => Ecn::Capable1,
            Some(EcnField::Ce) => Ecn::Congestion,
        },
        ..Segment::default()
    };
    for option in packet.options.iter().flatten() {
        match option {
            TcpOption::Mss(mss) => segment.mss = Some((*mss).min(65_535) as u16),
            TcpOption::WindowScale(shift) => segment.window_scale = Some((*shift).min(255) as u8),
            TcpOption::SackPermitted => segment.sack_permitted = true,
            TcpOption::Sack(blocks) => segment.sack = blocks.iter().copied().collect(),
            TcpOption::Timestamps { value, echo } => {
                segment.timestamps = Some(Timestamps {
                    val: value.unwrap_or(0),
                    ecr: match echo.unwrap_or(0) {
                        0 => 0,
                        echo => clock.actual(echo),
                    },
                });
            }
            TcpOption::AccurateEcn {
                ect1_first,
                counters,
            } => segment.ecn_option = Some(EcnOption::new(*ect1_first, counters)),
            // Cookies are the host's business, not the endpoint's.
            TcpOption::FastOpen { .. } => {}
            TcpOption::Nop | TcpOption::EndOfList | TcpOption::Other(_) => {}
        }
    }
    segment
}

/// The numbers of a segment moved: its own by `own`, those of the other direction by `other`. Scripts count from the initial
/// sequence numbers, except in segments with SYN.
pub(super) fn shifted(segment: &Segment, own: u32, other: u32) -> Segment {
    if segment.flags.has(Flags::SYN) {
        return *segment;
    }
    let block = |&(left, right): &(u32, u32)| (left.wrapping_add(other), right.wrapping_add(other));
    Segment {
        seq: segment.seq.wrapping_add(own),
        ack: match segment.flags.has(Flags::ACK) {
            true => segment.ack.wrapping_add(other),
            false => segment.ack,
        },
        sack: segment.sack.as_slice().iter().map(block).collect(),
        ..*segment
    }
}

/// True if the ECN field of a segment is as written; if none is written, any field matches.
pub(super) fn same_ecn(written: Option<EcnField>, actual: Ecn) -> bool {
    match written {
        None => true,
        Some(EcnField::None) => actual == Ecn::NotCapable,
        Some(EcnField::Ect0) => actual == Ecn::Capable0,
        Some(EcnField::Ect1) => actual == Ecn::Capable1,
        Some(EcnField::Either) => matches!(actual, Ecn::Capable0 | Ecn::Capable1),
        Some(EcnField::Ce) => actual == Ecn::Congestion,
    }
}

/// Control bits except PSH, which depends on how the network card cuts a burst (see README).
pub(super) fn flags(packet: &Packet) -> Flags {
    let mut flags = Flags::NONE;
    let pairs = [
        (packet.syn, Flags::SYN),
        (packet.fin, Flags::FIN),
        (packet.rst, Flags::RST),
        (packet.ack_flag, Flags::ACK),
        (packet.urg, Flags::URG),
        (packet.ece, Flags::ECE),
        (packet.cwr, Flags::CWR),
        (packet.ae, Flags::AE),
    ];
    for (set, flag) in pairs {
        if set {
            flags = flags.with(flag);
        }
    }
    flags
}

/// Options without padding, in a fixed order: stacks arrange them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Options {
    mss: Option<u32>,
    window_scale: Option<u32>,
    sack_permitted: bool,
    /// Present; the value is compared separately.
    pub(super) value: Option<Option<u32>>,
    pub(super) echo: Option<Option<u32>>,
    sack: SackBlocks,
    accurate_ecn: Option<EcnOption>,
    cookie: Option<CookieOption>,
}

impl Options {
    /// `cookie`: what its option of TCP Fast Open means.
    pub(super) fn of_packet(options: &[TcpOption], cookie: Option<CookieOption>) -> Self {
        let mut all = Self {
            cookie,
            ..Self::default()
        };
        for option in options {
            match option {
                TcpOption::Mss(mss) => all.mss = Some(*mss),
                TcpOption::WindowScale(shift) => all.window_scale = Some(*shift),
                TcpOption::SackPermitted => all.sack_permitted = true,
                TcpOption::Sack(blocks) => all.sack = blocks.iter().copied().collect(),
                TcpOption::Timestamps { value, echo } => {
                    all.value = Some(*value);
                    all.echo = Some(*echo);
                }
                TcpOption::AccurateEcn {
                    ect1_first,
                    counters,
                } => all.accurate_ecn = Some(EcnOption::new(*ect1_first, counters)),
                TcpOption::FastOpen { .. } => {}
                TcpOption::Nop | TcpOption::EndOfList | TcpOption::Other(_) => {}
            }
        }
        all
    }

    pub(super) fn of_sent(sent: &Sent) -> Self {
        let segment = &sent.segment;
        Self {
            cookie: sent.cookie,
            mss: segment.mss.map(u32::from),
            window_scale: segment.window_scale.map(u32::from),
            sack_permitted: segment.sack_permitted,
            value: segment.timestamps.map(|ts| Some(ts.val)),
            echo: segment.timestamps.map(|ts| Some(ts.ecr)),
            sack: segment.sack,
            accurate_ecn: segment.ecn_option,
        }
    }

    /// True if equal, ignoring timestamps.
    pub(super) fn same_layout(&self, other: &Self) -> bool {
        let plain = |options: &Self| Self {
            value: options.value.map(|_| None),
            echo: options.echo.map(|_| None),
            ..*options
        };
        plain(self) == plain(other)
    }
}

/// A segment in the notation of scripts, with the script's clock.
pub(super) fn show(sent: &Sent, clock: &Clock) -> String {
    let segment = &sent.segment;
    let flags = format!("{:?}", segment.flags);
    let flags = if flags.is_empty() { "-" } else { &flags };
    let end = segment.seq.wrapping_add(segment.payload);
    let ecn = match segment.ecn {
        Ecn::NotCapable => "",
        Ecn::Capable0 => "[ect0] ",
        Ecn::Capable1 => "[ect1] ",
        Ecn::Congestion => "[ce] ",
    };
    let mut text = format!("{ecn}{flags} {}:{end}({})", segment.seq, segment.payload);
    if segment.flags.has(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    let _ = write!(text, " win {}", segment.window);
    let mut options = show_options(segment, clock);
    options.extend(sent.cookie.map(|cookie| cookie.to_string()));
    if !options.is_empty() {
        let _ = write!(text, " <{}>", options.join(","));
    }
    text
}

fn show_options(segment: &Segment, clock: &Clock) -> Vec<String> {
    let mut list = Vec::new();
    if let Some(mss) = segment.mss {
        list.push(format!("mss {mss}"));
    }
    if segment.sack_permitted {
        list.push("sackOK".to_owned());
    }
    if let Some(ts) = segment.timestamps {
        list.push(format!("TS val {} ecr {}", clock.script(ts.val), ts.ecr));
    }
    if let Some(shift) = segment.window_scale {
        list.push(format!("wscale {shift}"));
    }
    if !segment.sack.is_empty() {
        let blocks: Vec<_> = segment
            .sack
            .as_slice()
            .iter()
            .map(|(l, r)| format!("{l}:{r}"))
            .collect();
        list.push(format!("sack {}", blocks.join(" ")));
    }
    list.extend(segment.ecn_option.map(|option| option.to_string()));
    list
}

/// A packet as the script wrote it, without padding.
pub(super) fn show_packet(packet: &Packet) -> String {
    let flags = format!("{:?}", flags(packet));
    let push = if packet.psh { "P" } else { "" };
    let end = packet.seq.wrapping_add(packet.len);
    let ecn = match packet.ecn {
        None => "",
        Some(EcnField::None) => "[noecn] ",
        Some(EcnField::Ect0) => "[ect0] ",
        Some(EcnField::Ect1) => "[ect1] ",
        Some(EcnField::Either) => "[ect01] ",
        Some(EcnField::Ce) => "[ce] ",
    };
    let mut text = format!("{ecn}{push}{flags} {}:{end}({})", packet.seq, packet.len);
    if let Some(ack) = packet.ack {
        let _ = write!(text, " ack {ack}");
    }
    if let Some(window) = packet.window {
        let _ = write!(text, " win {window}");
    }
    match &packet.options {
        None => text.push_str(" <...>"),
        Some(options) => {
            let list: Vec<_> = options.iter().filter_map(show_option).collect();
            if !list.is_empty() {
                let _ = write!(text, " <{}>", list.join(","));
            }
        }
    }
    text
}

fn show_option(option: &TcpOption) -> Option<String> {
    let open = |value: &Option<u32>| value.map_or("...".to_owned(), |value| value.to_string());
    Some(match option {
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => {
            let blocks: Vec<_> = blocks.iter().map(|(l, r)| format!("{l}:{r}")).collect();
            format!("sack {}", blocks.join(" "))
        }
        TcpOption::Timestamps { value, echo } => {
            format!("TS val {} ecr {}", open(value), open(echo))
        }
        TcpOption::AccurateEcn {
            ect1_first,
            counters,
        } => EcnOption::new(*ect1_first, counters).to_string(),
        TcpOption::FastOpen {
            experimental,
            cookie,
        } => {
            let kind = if *experimental { "FOEXP" } else { "FO" };
            format!("{kind} {cookie}").trim_end().to_owned()
        }
        TcpOption::Other(text) => text.clone(),
        TcpOption::Nop | TcpOption::EndOfList => return None,
    })
}

/// Seconds since the script began, to the microsecond.
pub(super) fn show_time(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let micros = ns.unsigned_abs() / 1_000;
    format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// [`show_time`] of a moment of virtual time.
pub(super) fn show_moment(at: Nanos) -> String {
    show_time(i128::from(at) - i128::from(super::host::ORIGIN))
}
