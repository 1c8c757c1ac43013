//! Kinds of values: how each is written, and what it becomes. Declarations name them as types.
//!
//! A kind is never a value; it stands for one. [`Duration`] is written `"2.5 ms"` and becomes nanoseconds.

use std::cmp::Ordering;
use std::marker::PhantomData;

use crate::context::Context;
use crate::error::{Place, Problem};
use crate::quantity::{self, Pacing, QueueLimit};
use crate::reader::{Reader, Table};
use crate::schema::{Form, Registry};
use crate::value::{Node, Value, tables};

pub use crate::context::Kind;

/// A kind for each way of writing numbers and words.
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
    /// A size of less than 4 GiB.
    Size32 -> u32, Form::Size, quantity::small_size;
    /// A share as `"2 %"`, `"20 ppm"` or a number from 0 to 1: 0 to 1.
    Share -> f64, Form::Share, quantity::share;
    /// A number of packets as `64` or `"64 packets"`.
    Packets -> u64, Form::Packets, quantity::packets;
    /// The same in 32 bits.
    Packets32 -> u32, Form::Packets, quantity::small_packets;
    /// The same in 16 bits.
    Packets16 -> u16, Form::Packets, quantity::few_packets;
    /// A whole number of things.
    Count -> u64, Form::Count, quantity::count;
    /// The same in 32 bits.
    Count32 -> u32, Form::Count, quantity::small_count;
    /// A number from 0 on.
    Number -> f64, Form::Number, quantity::number;
    /// How often, as `"20 /s"`: events per second.
    Frequency -> f64, Form::Frequency, quantity::frequency;
    /// `true` or `false`.
    Flag -> bool, Form::Flag, quantity::flag;
    /// Text.
    Text -> String, Form::Text, quantity::text;
}

/// What a queue holds at most: packets, bytes, or bandwidth-delay products. Nothing bounds it.
#[derive(Clone, Copy, Debug)]
pub enum Limit {}

impl Kind for Limit {
    type Value = QueueLimit;
    const FORM: Form = Form::Queue;
    fn read(node: &Node, _: &Context<'_>) -> Result<QueueLimit, Problem> {
        quantity::queue_limit(node)
    }
}

/// Whether, and up to which rate, data is paced. A rate of 0 would send nothing.
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

/// Kinds whose values may be a word that stands for no value; the word is within all bounds.
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

/// Kinds of names that are in a registry of the caller.
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
    /// Name of a configuration of an endpoint.
    Profile = Registry::Profile;
}

/// A sorter by its name, and its settings where they are not at their defaults: `"window:hold=300us"`.
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

/// A list of nothing, where nothing was written.
pub(crate) fn blank_list() -> Node {
    Node {
        value: Value::List(Vec::new()),
        place: Place::Default,
    }
}
