//! Kinds of values: how each one is written, and the type it is converted to. Declarations use them as types.
//!
//! A kind is a marker type without values. [`Duration`] is written `"2.5 ms"` and converted to nanoseconds.

use std::cmp::Ordering;
use std::marker::PhantomData;

use crate::context::Context;
use crate::error::{Place, Problem};
use crate::quantity::{self, Pacing, QueueLimit};
use crate::reader::{Reader, Table};
use crate::schema::{Form, Registry};
use crate::value::{Node, Value, tables};

pub use crate::context::Kind;
pub use crate::cumulative::CumulativeFile;
pub use crate::trace::TraceFile;

/// Defines a kind for each notation of numbers and words.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident -> $value:ty, $form:expr, $read:path;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl Kind for $name {
            type Value = $value;
            const FORM: Form = $form;
            fn read(node: &Node, _: &Context<'_>) -> Result<$value, Problem> {
                $read(node)
            }
            fn compare(value: &$value, bound: &$value) -> Option<Ordering> {
                value.partial_cmp(bound)
            }
        })*
    };
}

plain! {
    /// A time as `"2.5 ms"`: nanoseconds.
    Duration -> i64, Form::Duration, quantity::duration;
    /// A rate as `"10 Mbit/s"`: bits per second.
    Rate -> u64, Form::Rate, quantity::rate;
    /// A size as `"1500 B"`: bytes.
    Size -> u64, Form::Size, quantity::size;
    /// A size below 4 GiB.
    Size32 -> u32, Form::Size, quantity::small_size;
    /// A share as `"2 %"`, `"20 ppm"` or a number from 0 to 1: 0 to 1.
    Share -> f64, Form::Share, quantity::share;
    /// A number of packets as `64` or `"64 packets"`.
    Packets -> u64, Form::Packets, quantity::packets;
    /// A number of packets that fits into 32 bits.
    Packets32 -> u32, Form::Packets, quantity::small_packets;
    /// A number of packets that fits into 16 bits.
    Packets16 -> u16, Form::Packets, quantity::few_packets;
    /// A count.
    Count -> u64, Form::Count, quantity::count;
    /// A count that fits into 32 bits.
    Count32 -> u32, Form::Count, quantity::small_count;
    /// A number that is not negative.
    Number -> f64, Form::Number, quantity::number;
    /// A frequency as `"20 /s"`: events per second.
    Frequency -> f64, Form::Frequency, quantity::frequency;
    /// `true` or `false`.
    Flag -> bool, Form::Flag, quantity::flag;
    /// Text.
    Text -> String, Form::Text, quantity::text;
}

/// Maximum content of a queue: packets, bytes, or bandwidth-delay products; without bounds.
#[derive(Clone, Copy, Debug)]
pub enum Limit {}

impl Kind for Limit {
    type Value = QueueLimit;
    const FORM: Form = Form::Queue;
    fn read(node: &Node, _: &Context<'_>) -> Result<QueueLimit, Problem> {
        quantity::queue_limit(node)
    }
}

/// Whether data is paced, and at which maximum rate. A rate of 0 is refused because it would send nothing.
#[derive(Clone, Copy, Debug)]
pub enum Pace {}

impl Kind for Pace {
    type Value = Pacing;
    const FORM: Form = Form::FlagOrRate;
    fn read(node: &Node, _: &Context<'_>) -> Result<Pacing, Problem> {
        quantity::pacing(node)
    }
    fn compare(value: &Pacing, bound: &Pacing) -> Option<Ordering> {
        match (value, bound) {
            (Pacing::UpTo(value), Pacing::UpTo(bound)) => Some(value.cmp(bound)),
            _ => None,
        }
    }
}

/// Defines kinds that also accept a word for the absence of a value; the word is within all bounds.
macro_rules! or_word {
    ($($(#[$doc:meta])* $name:ident -> $value:ty, $form:expr, $read:path;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl Kind for $name {
            type Value = Option<$value>;
            const FORM: Form = $form;
            fn read(node: &Node, _: &Context<'_>) -> Result<Option<$value>, Problem> {
                $read(node)
            }
            fn compare(value: &Option<$value>, bound: &Option<$value>) -> Option<Ordering> {
                let (value, bound) = value.as_ref().zip(bound.as_ref())?;
                value.partial_cmp(bound)
            }
        })*
    };
}

or_word! {
    /// A time, or `"off"`.
    DurationOrOff -> i64, Form::DurationOrOff, quantity::duration_or_off;
    /// A size, or `"unlimited"`.
    SizeOrUnlimited -> u64, Form::SizeOrUnlimited, quantity::size_or_unlimited;
}

/// Defines kinds for names in a registry of the caller.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $registry:expr;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl Kind for $name {
            type Value = String;
            const FORM: Form = Form::Name($registry);
            fn read(node: &Node, context: &Context<'_>) -> Result<String, Problem> {
                known(node, &context.names.of($registry), $registry)
            }
        })*
    };
}

names! {
    /// Name of a congestion control.
    Congestion = Registry::Congestion;
    /// Name of a loss detection.
    LossDetection = Registry::LossDetection;
    /// Name of an endpoint profile.
    Profile = Registry::Profile;
    /// Name of a dialect, the habits of a stack.
    Dialect = Registry::Dialect;
}

/// A sorter by name, with the settings that differ from their defaults: `"window:hold=300us"`.
#[derive(Clone, Copy, Debug)]
pub enum Sorter {}

impl Kind for Sorter {
    type Value = String;
    const FORM: Form = Form::Name(Registry::Sorter);
    fn read(node: &Node, context: &Context<'_>) -> Result<String, Problem> {
        let text = quantity::text(node)?;
        let check = context.names.check_sorter;
        let (Some((name, _)), Some(check)) = (text.split_once(':'), check) else {
            return known(node, &context.names.of(Registry::Sorter), Registry::Sorter);
        };
        let names = context.names.of(Registry::Sorter);
        known_name(node, name, &names, Registry::Sorter)?;
        let expected = format!("\"{name}\" or \"{name}:SETTING=VALUE,...\"");
        check(&text).map_err(|wrong| Problem::new(&node.place, wrong, expected))?;
        Ok(text)
    }
}

fn known(node: &Node, names: &[&str], registry: Registry) -> Result<String, Problem> {
    let name = quantity::text(node)?;
    known_name(node, &name, names, registry)?;
    Ok(name)
}

fn known_name(node: &Node, name: &str, names: &[&str], registry: Registry) -> Result<(), Problem> {
    if names.contains(&name) {
        return Ok(());
    }
    let what = registry.singular();
    let problem = Problem::new(
        &node.place,
        format!("unknown {what} \"{name}\""),
        format!("one of the {what}s {}", names.join(", ")),
    );
    Err(problem.nearest(name, names.iter().copied()))
}

/// A list of names, as `["access", "core"]`.
#[derive(Clone, Copy, Debug)]
pub enum Names {}

impl Kind for Names {
    type Value = Vec<String>;
    const FORM: Form = Form::Other("list of names");
    fn read(node: &Node, _: &Context<'_>) -> Result<Vec<String>, Problem> {
        match &node.value {
            Value::List(nodes) => nodes.iter().map(quantity::text).collect(),
            _ => {
                let expected = "a list of names as [\"access\", \"core\"]";
                Err(Problem::new(&node.place, node.show(), expected))
            }
        }
    }
}

/// A table, `[...]`.
#[derive(Clone, Copy, Debug)]
pub struct One<T>(PhantomData<T>);

impl<T: Table> Kind for One<T> {
    type Value = T;
    const FORM: Form = Form::Table(&T::SECTION);
    fn read(node: &Node, context: &Context<'_>) -> Result<T, Problem> {
        T::read(&Reader::new(&[const { &T::SECTION }], node, context)?)
    }
}

/// A list of tables, `[[...]]`.
#[derive(Clone, Copy, Debug)]
pub struct List<T>(PhantomData<T>);

impl<T: Table> Kind for List<T> {
    type Value = Vec<T>;
    const FORM: Form = Form::Tables(&T::SECTION);
    fn read(node: &Node, context: &Context<'_>) -> Result<Vec<T>, Problem> {
        let nodes = tables(node)?.iter();
        nodes.map(|node| One::<T>::read(node, context)).collect()
    }
    fn blank() -> Node {
        blank_list()
    }
}

/// The value of a list that is not given: empty.
pub(crate) fn blank_list() -> Node {
    Node {
        value: Value::List(Vec::new()),
        place: Place::Default,
    }
}
