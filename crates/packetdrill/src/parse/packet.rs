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
            '.' | 'A' => &mut packet.ack_flag,
            'E' => &mut packet.ece,
            'W' => &mut packet.cwr,
            'U' => &mut packet.urg,
            '-' => continue,
            _ => return Err(before.error("TCP flags of SFPRUEW.")),
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
        _ => TcpOption::Other(text.to_owned()),
    })
}

fn block(text: &str) -> Option<(u32, u32)> {
    let (left, right) = text.split_once(':')?;
    Some((left.parse().ok()?, right.parse().ok()?))
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
