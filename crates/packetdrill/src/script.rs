//! A script as data: the output of the parser and the input of the runner.

/// A whole script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// `--name=value` lines before the first event.
    pub options: Vec<Setting>,
    /// Everything else, in order.
    pub events: Vec<Event>,
}

/// `--name=value`; the value is empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Line, from 1.
    pub line: usize,
    /// Without the dashes.
    pub name: String,
    /// After the equals sign.
    pub value: String,
}

/// An action or expectation at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Line of the script, from 1.
    pub line: usize,
    /// The time.
    pub when: When,
    /// For a blocking call: the time at which it must return, absolute or relative to its start.
    pub until: Option<Moment>,
    /// The action or expectation.
    pub what: What,
}

/// A point in time as written, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Since the start of the script.
    Absolute(i64),
    /// Since the previous event.
    Relative(i64),
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At one moment (within the tolerance, if it is expected).
    At(Moment),
    /// Between two moments.
    Between(Moment, Moment),
    /// At any time (`*`).
    Any,
    /// Together with the previous event: commands and code without a time.
    Same,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A segment arrives at the endpoint (`<`).
    Inject(Packet),
    /// The endpoint must send a segment (`>`).
    Expect(Packet),
    /// The application calls the socket interface.
    Call(Call),
    /// A shell command between backquotes: only settings of the stack have an effect.
    Command(String),
    /// Assertions between `%{` and `}%`.
    Code(String),
    /// A statement outside this subset; the runner reports it.
    Unsupported(String),
}

/// A TCP segment as written. Numbers are relative to the initial sequence numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// PSH; ignored in expectations, as packetdrill's authors recommend for merged segments.
    pub psh: bool,
    /// ACK (`.`).
    pub ack_flag: bool,
    /// ECE (`E`).
    pub ece: bool,
    /// CWR (`W`).
    pub cwr: bool,
    /// Accurate ECN (`A`). A digit stands for `A`, `W` and `E` together.
    pub ae: bool,
    /// URG (`U`).
    pub urg: bool,
    /// First sequence number.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: Option<u32>,
    /// Window as in the header, before scaling.
    pub window: Option<u32>,
    /// ECN field of the IP header, if written; injected packets without one are not ECN-capable.
    pub ecn: Option<EcnField>,
    /// Urgent pointer.
    pub urgent: Option<u32>,
    /// Options in order; `None`: not compared (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// The ECN field as written before the TCP flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnField {
    /// `[noecn]`
    None,
    /// `[ect0]`
    Ect0,
    /// `[ect1]`
    Ect1,
    /// `[ect01]`: either.
    Either,
    /// `[ce]`
    Ce,
}

/// A TCP option as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TcpOption {
    /// `mss N`
    Mss(u32),
    /// `wscale N`
    WindowScale(u32),
    /// `sackOK`
    SackPermitted,
    /// `sack L:R ...`
    Sack(Vec<(u32, u32)>),
    /// `TS val V ecr E`; either may be `...`
    Timestamps {
        /// TSval.
        value: Option<u32>,
        /// TSecr.
        echo: Option<u32>,
    },
    /// `ECN e1b N ceb N e0b N`, or in the order `e0b`, `ceb`, `e1b`
    AccurateEcn {
        /// The order.
        ect1_first: bool,
        /// The counters that are written.
        counters: Vec<u32>,
    },
    /// `FO`, `FO 0123abcd`, `FOEXP`: TCP Fast Open (RFC 7413)
    FastOpen {
        /// `FOEXP`
        experimental: bool,
        /// The cookie as written; empty for a request.
        cookie: String,
    },
    /// `nop`
    Nop,
    /// `eol`
    EndOfList,
    /// An unsupported option, as written.
    Other(String),
}

/// A system call and its expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// `write`, `setsockopt`, ...
    pub name: String,
    /// Arguments.
    pub arguments: Vec<Value>,
    /// The expected result; `None` for `...`.
    pub result: Option<i64>,
    /// The expected error: `EAGAIN`.
    pub errno: Option<String>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `...`: any value, or a value that the interpreter fills in.
    Ellipsis,
    /// A number.
    Integer(i64),
    /// A constant, or several joined by `|`.
    Name(String),
    /// `"..."`
    Text(String),
    /// `[a, b]`
    List(Vec<Value>),
    /// `{name=value, ...}`
    Struct(Vec<(String, Value)>),
}
