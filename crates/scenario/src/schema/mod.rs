//! Every key of a scenario with its unit, its default and its meaning. Reading, the list of keys
//! in the documentation and `--print-defaults` all follow these tables, defaults included.

mod card;
mod endpoint;
mod flow;
mod run;
mod stage;

pub use card::CARD;
pub use endpoint::ENDPOINT;
pub use flow::{APPLICATION, FLOW, PROBE};
pub use run::{OUTPUT, RUN, SCENARIO};
pub use stage::{CROSS, LANE, STAGES};

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A time.
    Duration,
    /// A time, or `"off"`.
    DurationOrOff,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Bytes, or `"unlimited"`.
    SizeOrUnlimited,
    /// A share of a whole.
    Share,
    /// A number of packets or segments.
    Packets,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// Events per second.
    Frequency,
    /// True or false.
    Flag,
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A limit of a queue.
    Queue,
    /// A list of pairs: from this time on, this rate.
    RateSteps,
    /// A name in a registry of the caller.
    Name(Registry),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A list of stages.
    Stages,
    /// Read apart; the text says how.
    Other(&'static str),
}

/// Lists of names that scenarios refer to and do not define.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registry {
    /// Congestion controls.
    Congestion,
    /// Loss detections.
    LossDetection,
    /// Named configurations of an endpoint.
    Profile,
}

/// What holds without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// Nothing: it must be there.
    Required,
    /// This value, written as in a file but without quotes.
    Is(&'static str),
    /// Something that is not a value; the text says what.
    Unset(&'static str),
}

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub key: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// What holds without it.
    pub default: Default,
    /// What it means.
    pub about: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Name for headings and messages.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
}

impl Section {
    /// The field called `key`.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}

const fn field(key: &'static str, kind: Kind, default: Default, about: &'static str) -> Field {
    Field {
        key,
        kind,
        default,
        about,
    }
}
