//! The form of a value, for the reference and for messages.

use super::Section;

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub enum Form {
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
    /// True, false, or a rate.
    FlagOrRate,
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [Word]),
    /// The limit of a queue.
    Queue,
    /// A list of pairs: the rate from each time on.
    RateSteps,
    /// A name in a registry of the caller.
    Name(Registry),
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
    /// A list of stages.
    Stages,
    /// Described by the text.
    Other(&'static str),
}

/// A word that a key accepts.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// As it is written.
    pub name: &'static str,
    /// Its meaning: the doc comment of the declaration.
    pub doc: &'static str,
}

/// Lists of names to which scenarios refer and which the caller defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registry {
    /// Congestion controls.
    Congestion,
    /// Loss detections.
    LossDetection,
    /// Profiles of an endpoint.
    Profile,
    /// Dialects of an endpoint.
    Dialect,
    /// Sorters of a network card.
    Sorter,
}

impl Registry {
    /// The name for a single entry.
    pub(crate) fn singular(self) -> &'static str {
        match self {
            Registry::Congestion => "congestion control",
            Registry::LossDetection => "loss detection",
            Registry::Profile => "profile",
            Registry::Dialect => "dialect",
            Registry::Sorter => "sorter",
        }
    }
}

impl Form {
    /// How a value is written, in Markdown.
    pub fn markdown(self) -> String {
        match self {
            Form::Duration => "time, `\"2.5 ms\"`".into(),
            Form::DurationOrOff => "time, or `\"off\"`".into(),
            Form::Rate => "rate, `\"10 Mbit/s\"`".into(),
            Form::Size => "size, `\"1500 B\"`".into(),
            Form::SizeOrUnlimited => "size, or `\"unlimited\"`".into(),
            Form::Share => "share, `\"2 %\"` or 0 to 1".into(),
            Form::Packets => "packets, `64` or `\"64 packets\"`".into(),
            Form::Count => "whole number".into(),
            Form::Number => "number".into(),
            Form::Frequency => "how often, `\"20 /s\"`".into(),
            Form::Flag => "`true`, `false`".into(),
            Form::FlagOrRate => "`true`, `false`, or a rate".into(),
            Form::Text => "text".into(),
            Form::Choice(words) => {
                let quoted = words.iter().map(|word| format!("`\"{}\"`", word.name));
                quoted.collect::<Vec<_>>().join(", ")
            }
            Form::Queue => "`\"64 packets\"`, `\"100 kB\"`, `\"1 BDP\"`, `\"unlimited\"`".into(),
            Form::RateSteps => "pairs of time and rate".into(),
            Form::Name(registry) => format!("name of a {}", registry.singular()),
            Form::Table(_) => "table".into(),
            Form::Tables(_) => "list of tables".into(),
            Form::Stages => "list of stages".into(),
            Form::Other(text) => text.into(),
        }
    }

    /// `text`, the value of a default, in TOML syntax.
    pub fn literal(self, text: &str) -> String {
        if matches!(text, "true" | "false") || text.parse::<f64>().is_ok() {
            return text.to_owned();
        }
        format!("\"{text}\"")
    }
}
