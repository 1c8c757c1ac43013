//! Segments: `< S. 0:0(0) ack 1 win 32792 <mss 1000,sackOK>`.

use super::{ParseError, scanner::Scanner};
use crate::script::{EcnField, Packet, TcpOption, What};

/// Parses a packet with its direction.
pub(super) fn packet(scanner: &mut Scanner<'_>) -> Result<What, ParseError> {
    let inbound = scanner.take("<");
    if !inbound {
        scanner.expect(">")?;
    }
    scanner.skip_space();
    if let Some(reason) = foreign(scanner) {
        return Ok(What::Unsupported(reason));
    }
    // Without `<...>` the packet has no options; `<...>` means that any options match.
    let mut packet = Packet {
        ecn: ecn(scanner),
        options: Some(Vec::new()),
        ..Packet::default()
    };
    flags(scanner, &mut packet)?;
    sequence(scanner, &mut packet)?;
    fields(scanner, &mut packet)?;
    Ok(if inbound {
        What::Inject(packet)
    } else {
        What::Expect(packet)
    })
}

/// Packets of other protocols; skips to the end of the statement.
fn foreign(scanner: &mut Scanner<'_>) -> Option<String> {
    const WORDS: [&str; 8] = [
        "icmp", "udp", "udplite", "ipv4", "ipv6", "gre", "mpls", "sctp",
    ];
    let rest = scanner.rest();
    let word = WORDS.into_iter().find(|word| rest.starts_with(word))?;
    scanner.rest_of_line();
    Some(format!("packet of kind {word}"))
}

/// `[ect0]` and similar fields; `None` if none is written.
fn ecn(scanner: &mut Scanner<'_>) -> Option<EcnField> {
    const FIELDS: [(&str, EcnField); 5] = [
        ("[noecn]", EcnField::None),
        ("[ect01]", EcnField::Either),
        ("[ect0]", EcnField::Ect0),
        ("[ect1]", EcnField::Ect1),
        ("[ce]", EcnField::Ce),
    ];
    let (_, field) = FIELDS.into_iter().find(|(text, _)| scanner.take(text))?;
    scanner.skip_space();
    Some(field)
}

fn flags(scanner: &mut Scanner<'_>, packet: &mut Packet) -> Result<(), ParseError> {
    let before = scanner.clone();
    let text = scanner.run(|c| !c.is_whitespace());
    if text.is_empty() {
        return Err(before.error("TCP flags"));
    }
    for flag in text.chars() {
        let field = match flag {
            'S' => &mut packet.syn,
            'F' => &mut packet.fin,
            'R' => &mut packet.rst,
            'P' => &mut packet.psh,
            '.' => &mut packet.ack_flag,
            'E' => &mut packet.ece,
            'W' => &mut packet.cwr,
            'A' => &mut packet.ae,
            'U' => &mut packet.urg,
            '-' => continue,
            // The ACE field of accurate ECN as a number.
            '0'..='7' => {
                let ace = flag as u8 - b'0';
                packet.ae = ace & 4 != 0;
                packet.cwr = ace & 2 != 0;
                packet.ece = ace & 1 != 0;
                continue;
            }
            _ => return Err(before.error("TCP flags of SFPRUEWA. or the ACE field as a number")),
        };
        *field = true;
    }
    Ok(())
}

/// `1:1001(1000)` or `1(1000)`.
fn sequence(scanner: &mut Scanner<'_>, packet: &mut Packet) -> Result<(), ParseError> {
    packet.seq = scanner.number()?;
    let end = if scanner.take(":") {
        Some((scanner.clone(), scanner.number()?))
    } else {
        None
    };
    scanner.expect("(")?;
    packet.len = scanner.number()?;
    scanner.expect(")")?;
    match end {
        Some((place, end)) if end != packet.seq.wrapping_add(packet.len) => {
            Err(place.error("an end that is start plus length"))
        }
        _ => Ok(()),
    }
}

fn fields(scanner: &mut Scanner<'_>, packet: &mut Packet) -> Result<(), ParseError> {
    loop {
        let before = scanner.clone();
        scanner.run(|c| c == ' ' || c == '\t');
        if scanner.rest().starts_with('<') {
            scanner.take("<");
            packet.options = options(scanner.until(">")?, &before)?;
            return Ok(());
        }
        match scanner.run(|c| c.is_ascii_alphabetic()) {
            "ack" => packet.ack = Some(scanner.number()?),
            "win" => packet.window = Some(scanner.number()?),
            "urg" => packet.urgent = Some(scanner.number()?),
            _ => {
                // The next statement begins here.
                *scanner = before;
                return Ok(());
            }
        }
    }
}

fn options(text: &str, place: &Scanner<'_>) -> Result<Option<Vec<TcpOption>>, ParseError> {
    if text.trim() == "..." {
        return Ok(None);
    }
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| option(part).ok_or_else(|| place.error("a TCP option")))
        .collect::<Result<Vec<_>, _>>()
        .map(Some)
}

fn option(text: &str) -> Option<TcpOption> {
    let mut words = text.split_whitespace();
    Some(match words.next()? {
        "mss" => TcpOption::Mss(words.next()?.parse().ok()?),
        "wscale" => TcpOption::WindowScale(words.next()?.parse().ok()?),
        "sackOK" => TcpOption::SackPermitted,
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::EndOfList,
        "sack" => TcpOption::Sack(words.map(block).collect::<Option<_>>()?),
        "TS" => timestamps(&words.collect::<Vec<_>>())?,
        kind @ ("FO" | "FOEXP") => TcpOption::FastOpen {
            experimental: kind == "FOEXP",
            cookie: words.collect(),
        },
        "ECN" => accurate_ecn(&words.collect::<Vec<_>>())?,
        _ => TcpOption::Other(text.to_owned()),
    })
}

fn block(text: &str) -> Option<(u32, u32)> {
    let (left, right) = text.split_once(':')?;
    Some((left.parse().ok()?, right.parse().ok()?))
}

/// `ECN e1b 1 ceb 0 e0b 1`, or the other way round; counters at the end may be missing.
fn accurate_ecn(words: &[&str]) -> Option<TcpOption> {
    let pairs: Vec<_> = words.chunks(2).collect();
    let ect1_first = pairs.first().is_none_or(|pair| pair[0] == "e1b");
    let names = match ect1_first {
        true => ["e1b", "ceb", "e0b"],
        false => ["e0b", "ceb", "e1b"],
    };
    if pairs.len() > names.len() {
        return None;
    }
    let counter = |(pair, name): (&&[&str], &str)| match **pair {
        [found, number] if found == name => number.parse().ok(),
        _ => None,
    };
    let counters = pairs.iter().zip(names).map(counter);
    Some(TcpOption::AccurateEcn {
        ect1_first,
        counters: counters.collect::<Option<_>>()?,
    })
}

fn timestamps(words: &[&str]) -> Option<TcpOption> {
    let value = |word: &str| {
        if word == "..." {
            Some(None)
        } else {
            word.parse().ok().map(Some)
        }
    };
    match words {
        ["val", v, "ecr", e] => Some(TcpOption::Timestamps {
            value: value(v)?,
            echo: value(e)?,
        }),
        _ => None,
    }
}
