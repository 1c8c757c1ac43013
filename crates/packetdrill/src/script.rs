//! A script as data: what `parse` makes and the runner walks through.

/// A whole script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// `--name=value` lines before the first event.
    pub options: Vec<Setting>,
    /// Everything else, in order.
    pub events: Vec<Event>,
}

/// `--name=value`; the value is empty where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Line, from 1.
    pub line: usize,
    /// Without the dashes.
    pub name: String,
    /// After the equals sign.
    pub value: String,
}

/// Something that happens, or must happen, at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Line of the script, from 1.
    pub line: usize,
    /// When.
    pub when: When,
    /// For a blocking call: how long after it starts it must return, or at which time.
    pub until: Option<Moment>,
    /// What.
    pub what: What,
}

/// A point in time as written, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Since the start of the script.
    Absolute(i64),
    /// Since the event before.
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
    /// Together with the event before: commands and code without a time.
    Same,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A segment arrives at the endpoint (`<`).
    Inject(Packet),
    /// The endpoint must send a segment (`>`).
    Expect(Packet),
    /// The application calls the socket interface.
    Call(Call),
    /// A shell command between backquotes: only its settings of the stack mean something here.
    Command(String),
    /// Assertions between `%{` and `}%`.
    Code(String),
    /// Something this subset does not know; the runner reports it.
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
    /// PSH; not compared in expectations, as packetdrill's authors recommend for merged segments.
    pub psh: bool,
    /// ACK (`.` or `A`).
    pub ack_flag: bool,
    /// ECE (`E`).
    pub ece: bool,
    /// CWR (`W`).
    pub cwr: bool,
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
    /// ECN field of the IP header, where written; injected packets without one cannot be marked.
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
    /// `nop`
    Nop,
    /// `eol`
    EndOfList,
    /// An option this subset does not know, as written.
    Other(String),
}

/// A system call with what it must return.
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
    /// `...`: anything, or what the interpreter fills in.
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
