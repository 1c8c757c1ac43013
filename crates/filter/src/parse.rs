//! The parser: one function for each rule of the grammar.
//!
//! ```text
//! any   = all { "or" all }
//! all   = not { "and" not }
//! not   = { "not" } ( "(" any ")" | term )
//! term  = PROTOCOL | "overlay" NUMBER | "vlan" NUMBER | ( "src" | "dst" ) end | end [ ( "->" | "<->" ) end ]
//! end   = "*" | [ "host" | "net" ] ADDRESS [ ":" PORTS ] | ":" PORTS | "port" PORTS
//! ```

use std::net::{IpAddr, Ipv6Addr};
use std::ops::RangeInclusive;

use inorder_base::names::nearest;

use crate::FilterError;
use crate::expr::{Expr, Protocol, Term};
use crate::prefix::{End, Prefix};
use crate::token::{Placed, Token, tokens};

/// Maximum number of parentheses and negations inside each other, so that no text exhausts the stack.
const MAX_DEPTH: usize = 64;

/// The words of the grammar besides the protocols.
const WORDS: [&str; 10] = [
    "not", "and", "or", "src", "dst", "port", "host", "net", "overlay", "vlan",
];

const TERM: &str = "an address, a prefix, `port N`, a flow `A:p -> B:q` or a service such as `tcp`";

pub(crate) fn parse(text: &str) -> Result<Expr, FilterError> {
    let tokens = tokens(text);
    let mut parser = Parser { tokens: &tokens };
    let expr = parser.any(0)?;
    match parser.peek() {
        (Token::End, _) => Ok(expr),
        (Token::Close, at) => Err(error(at, "this `)` closes nothing".to_owned())),
        (token, at) => Err(error(
            at,
            format!("found {}, expected `and`, `or` or the end", shown(token)),
        )),
    }
}

struct Parser<'t> {
    /// Never empty: the end stays.
    tokens: &'t [Placed<'t>],
}

type Parsed<T> = Result<T, FilterError>;

impl<'t> Parser<'t> {
    fn peek(&self) -> Placed<'t> {
        self.tokens.first().copied().unwrap_or((Token::End, 1))
    }

    fn next(&mut self) -> Placed<'t> {
        let next = self.peek();
        if let [_, rest @ ..] = self.tokens
            && !rest.is_empty()
        {
            self.tokens = rest;
        }
        next
    }

    /// Takes the next token if it is this word.
    fn word(&mut self, wanted: &str) -> bool {
        let is_it = matches!(self.peek().0, Token::Word(word) if word.eq_ignore_ascii_case(wanted));
        if is_it {
            self.next();
        }
        is_it
    }

    fn any(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.all(depth)?];
        while self.word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(one_or(parts, Expr::Any))
    }

    fn all(&mut self, depth: usize) -> Parsed<Expr> {
        let mut parts = vec![self.not(depth)?];
        while self.word("and") {
            parts.push(self.not(depth)?);
        }
        Ok(one_or(parts, Expr::All))
    }

    fn not(&mut self, depth: usize) -> Parsed<Expr> {
        let (token, at) = self.peek();
        if depth >= MAX_DEPTH {
            return Err(error(
                at,
                format!("more than {MAX_DEPTH} parentheses and `not` inside each other"),
            ));
        }
        if self.word("not") {
            return Ok(Expr::Not(Box::new(self.not(depth + 1)?)));
        }
        if token != Token::Open {
            return self.term().map(Expr::Term);
        }
        self.next();
        let inner = self.any(depth + 1)?;
        match self.next() {
            (Token::Close, _) => Ok(inner),
            (Token::End, _) => Err(error(at, "this `(` is never closed".to_owned())),
            (token, at) => Err(error(
                at,
                format!("found {}, expected `and`, `or` or `)`", shown(token)),
            )),
        }
    }

    fn term(&mut self) -> Parsed<Term> {
        if let (Token::Word(word), _) = self.peek()
            && let Some(protocol) = protocol(word)
        {
            self.next();
            return Ok(Term::Protocol(protocol));
        }
        if self.word("overlay") {
            let (number, at) = self.value("a number after `overlay`")?;
            let wrong = || error(at, format!("`{number}` is no number of 32 bits"));
            return number.parse().map(Term::Overlay).map_err(|_| wrong());
        }
        if self.word("vlan") {
            /// Identifiers have 12 bits; 0 and 4,095 are no VLAN (IEEE 802.1Q).
            const VLANS: RangeInclusive<u16> = 1..=4_094;
            let (number, at) = self.value("a number after `vlan`")?;
            let id = number.parse().ok().filter(|id| VLANS.contains(id));
            let wrong = || error(at, format!("`{number}` is no VLAN from 1 to 4094"));
            return id.map(Term::Vlan).ok_or_else(wrong);
        }
        if self.word("src") {
            return self.end().map(Term::Src);
        }
        if self.word("dst") {
            return self.end().map(Term::Dst);
        }
        let from = self.end()?;
        match self.peek().0 {
            Token::To => {
                self.next();
                Ok(Term::Directed(from, self.end()?))
            }
            Token::Between => {
                self.next();
                Ok(Term::Between(from, self.end()?))
            }
            _ => Ok(Term::Either(from)),
        }
    }

    /// One end of a flow.
    fn end(&mut self) -> Parsed<End> {
        if self.word("port") {
            let (text, at) = self.value("a port or a range such as `80-90` after `port`")?;
            return Ok(End {
                prefix: None,
                ports: Some(ports(text, at)?),
            });
        }
        if self.word("host") || self.word("net") {
            let (text, at) = self.value("an address or a prefix such as `10.0.0.0/8`")?;
            return end(text, at);
        }
        let (text, at) = self.value(TERM)?;
        end(text, at)
    }

    /// The next word.
    fn value(&mut self, expected: &str) -> Parsed<(&'t str, usize)> {
        match self.next() {
            (Token::Word(word), at) => Ok((word, at)),
            (token, at) => Err(error(
                at,
                format!("found {}, expected {expected}", shown(token)),
            )),
        }
    }
}

/// The only part, or all of them together.
fn one_or(mut parts: Vec<Expr>, together: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => together(parts),
    }
}

fn protocol(word: &str) -> Option<Protocol> {
    let mut all = Protocol::all();
    all.find(|(name, _)| name.eq_ignore_ascii_case(word))
        .map(|(_, protocol)| protocol)
}

/// `*`, `ADDRESS`, `ADDRESS:PORTS` or `:PORTS`.
fn end(text: &str, at: usize) -> Parsed<End> {
    if text == "*" {
        return Ok(End::default());
    }
    let (address, port_text) = split(text);
    let before_ports = |ports: &str| text.chars().count() - ports.chars().count();
    Ok(End {
        prefix: address
            .map(|address| prefix(address, text, at))
            .transpose()?,
        ports: port_text
            .map(|text| ports(text, at + before_ports(text)))
            .transpose()?,
    })
}

/// Address and ports. An IPv6 address with ports is in brackets; without ports it may stand alone.
fn split(text: &str) -> (Option<&str>, Option<&str>) {
    let is_v6 = text
        .split('/')
        .next()
        .is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    if is_v6 {
        return (Some(text), None);
    }
    let after_bracket = text.rfind(']').map_or(0, |at| at + 1);
    match text[after_bracket..].find(':') {
        Some(colon) => {
            let (address, ports) = text.split_at(after_bracket + colon);
            (
                Some(address).filter(|a| !a.is_empty() && *a != "*"),
                Some(&ports[1..]),
            )
        }
        None => (Some(text), None),
    }
}

/// `ADDRESS`, `ADDRESS/BITS`, with or without brackets; `whole` is the word it is part of, for the message.
fn prefix(text: &str, whole: &str, at: usize) -> Parsed<Prefix> {
    let (address, bits) = match text.split_once(['[', ']']) {
        None => halves(text),
        // `[ADDRESS]`, `[ADDRESS/BITS]` or `[ADDRESS]/BITS`.
        Some(_) => {
            let inner = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            match inner {
                Some((inner, "")) => halves(inner),
                Some((inner, after)) if after.starts_with('/') => (inner, Some(&after[1..])),
                _ => return Err(unknown(whole, at)),
            }
        }
    };
    let Ok(addr) = address.parse::<IpAddr>() else {
        return Err(unknown(whole, at));
    };
    let length = |text: &str| match text.parse() {
        Ok(bits) => Ok(bits),
        Err(_) => Err(error(
            at,
            format!("`{text}` is no length of a prefix, expected a number of bits"),
        )),
    };
    let bits = bits.map(length).transpose()?;
    Prefix::new(addr, bits).map_err(|most| {
        error(
            at,
            format!("the prefix `{text}` is too long, expected at most {most} bits"),
        )
    })
}

fn halves(text: &str) -> (&str, Option<&str>) {
    match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    }
}

/// `80` or `80-90`.
fn ports(text: &str, at: usize) -> Parsed<RangeInclusive<u16>> {
    let one = |text: &str| text.parse::<u16>().ok();
    let range = match text.split_once('-') {
        None => one(text).map(|port| port..=port),
        Some((low, high)) => one(low).zip(one(high)).map(|(low, high)| low..=high),
    };
    match range {
        Some(range) if !range.is_empty() => Ok(range),
        Some(_) => Err(error(
            at,
            format!("the range of ports `{text}` is empty, expected the smaller port first"),
        )),
        None => Err(error(
            at,
            format!("`{text}` is no port, expected 0 to 65535 or a range such as `80-90`"),
        )),
    }
}

/// A word that is nothing known.
fn unknown(word: &str, at: usize) -> FilterError {
    let protocols = Protocol::all().map(|(name, _)| name);
    let suggestion = match nearest(word, WORDS.into_iter().chain(protocols)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if word.parse::<u16>().is_ok() => format!("did you mean `port {word}`?"),
        None => format!("expected {TERM}"),
    };
    error(
        at,
        format!("`{word}` is no address, port or known word; {suggestion}"),
    )
}

fn error(position: usize, problem: String) -> FilterError {
    FilterError { position, problem }
}

fn shown(token: Token<'_>) -> String {
    match token {
        Token::Word(word) => format!("`{word}`"),
        Token::Open => "`(`".to_owned(),
        Token::Close => "`)`".to_owned(),
        Token::To => "`->`".to_owned(),
        Token::Between => "`<->`".to_owned(),
        Token::End => "the end".to_owned(),
    }
}
