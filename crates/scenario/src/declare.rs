//! The macros that declare the keys of a scenario file.
//!
//! `keys!` declares a table. One declaration generates the plain data for other modules, the reader with its errors,
//! and the entry in the reference:
//!
//! ```text
//! keys! {
//!     /// Packets come twice.                        (the table, as the reference describes it)
//!     pub struct Duplicate in "duplicate" {          (its name in headings and messages)
//!         /// Of a second copy.                      (the key, as the reference describes it)
//!         probability: Share, required;              (field and key, kind of value, what holds without it)
//!         /// From the original to its copy.
//!         copy_delay_ns as "copy_delay": Duration, default "0 s";     (a field with a name of its own)
//!     }
//! }
//! ```
//!
//! The kind is followed by the rule for a key that is not given:
//!
//! | words | value if the key is not given | type of the field |
//! |---|---|---|
//! | `required` | error: the key must be given | the value |
//! | `default "0 s"` | this value | the value |
//! | `unset "none"` | no value; the text describes the effect | an `Option` of the value |
//! | `blank "its defaults"` | an empty table or list | the value |
//! | `like "sender" "as the sender"` | the table of that other key | the table |
//! | `flat` | not a key: includes all keys of another declaration in this table | that declaration |
//!
//! Then, if needed, in this order:
//!
//! - bounds, written like values: `in "1 packet"..="1000 packets"`, `from "1"`, `above "0 s"`, `below "100 %"`;
//! - the setting without which the key has no effect: `with policy = "flowlet"` (several words with `|`),
//!   `with sorter != "none"`, `with peak_rate`. A file that gives the key without the setting is refused.
//!
//! A check of several keys together is a function: `struct Run in "run", check Run::check {`.
//!
//! An enum is a table with variants, each with its own keys; keys of another variant are refused. The keys of a
//! variant are a struct with the variant's name:
//!
//! ```text
//! keys! {
//!     /// Packets are lost.
//!     pub enum Loss in "loss" {
//!         /// How losses depend on each other.
//!         by model, default "uniform";
//!         /// Each packet for itself.
//!         Uniform = "uniform" {
//!             /// Of the loss of a packet.
//!             probability: Share, required;
//!         },
//!     }
//! }
//! ```
//!
//! `choices!` declares the words that a key accepts; the resulting enum is the kind of the key. `type Nagle = inorder_tcp::...`
//! instead of `enum Nagle` takes the enum of the crate that acts by it.

/// Declares a table of a scenario file; see the module.
macro_rules! keys {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident in $section:literal $(, check $check:path)? {
            $(
                $(#[doc = $about:literal])+
                $field:ident $(as $key:literal)?: $kind:ty, $need:ident $($text:literal)*
                $(, in $low:literal ..= $high:literal)? $(, from $from:literal)?
                $(, above $above:literal)? $(, below $below:literal)?
                $(, with $owner:ident $(= $($value:literal)|+)? $(!= $not:literal)?)?;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $($(#[doc = $about])+ pub $field: $crate::declare::field_type!($need $kind),)*
        }

        impl $crate::schema::Keys for $name {
            const SECTION: $crate::schema::Section = $crate::schema::Section {
                name: $section,
                doc: concat!($($doc),+),
                items: &[$($crate::declare::item!($need [$kind] $crate::declare::key!(
                    [$($about)+] [$field $($key)?] [$kind] $need [$($text)*]
                    [$($low)? $($from)?] [$($high)?] [$($above)?] [$($below)?]
                    [$($owner $(= $($value)+)? $(!= $not)?)?]
                )),)*],
            };
        }

        impl $crate::reader::Table for $name {
            fn read(r: &$crate::reader::Reader<'_>) -> Result<Self, $crate::error::Problem> {
                let table = $name {
                    $($field: $crate::declare::read!(r $need [$kind] [$($text)*] $crate::declare::key!(
                        [$($about)+] [$field $($key)?] [$kind] $need [$($text)*]
                        [$($low)? $($from)?] [$($high)?] [$($above)?] [$($below)?]
                        [$($owner $(= $($value)+)? $(!= $not)?)?]
                    )),)*
                };
                $($check(&table, r)?;)?
                Ok(table)
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $name:ident in $section:literal $(, check $check:path)? {
            $(#[doc = $by:literal])+
            by $tag:ident, $tag_need:ident $($tag_text:literal)?;
            $(
                $(#[doc = $word_doc:literal])+
                $variant:ident = $word:literal $({
                    $(
                        $(#[doc = $about:literal])+
                        $field:ident $(as $key:literal)?: $kind:ty, $need:ident $($text:literal)*
                        $(, in $low:literal ..= $high:literal)? $(, from $from:literal)?
                        $(, above $above:literal)? $(, below $below:literal)?;
                    )*
                })?,
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug)]
        $vis enum $name {
            $(
                $(#[doc = $word_doc])+
                $variant $(($crate::declare::table_of!($variant $($field)*)))?,
            )+
        }

        $($(
            #[doc = concat!("The keys of `", stringify!($tag), " = \"", $word, "\"`.")]
            #[derive(Clone, PartialEq, Debug)]
            $vis struct $variant {
                $($(#[doc = $about])+ pub $field: $crate::declare::field_type!($need $kind),)*
            }
        )?)+

        impl $name {
            const SELECTOR: $crate::schema::Key = $crate::schema::Key {
                name: stringify!($tag),
                form: $crate::schema::Form::Choice(&[
                    $($crate::schema::Word { name: $word, doc: concat!($($word_doc),+) },)+
                ]),
                need: $crate::declare::need!($tag_need $($tag_text)?),
                bounds: $crate::schema::Bounds::NONE,
                owner: None,
                doc: concat!($($by),+),
            };
        }

        impl $crate::schema::Keys for $name {
            const SECTION: $crate::schema::Section = $crate::schema::Section {
                name: $section,
                doc: concat!($($doc),+),
                items: &[
                    $crate::schema::Item::Key($name::SELECTOR),
                    $($($($crate::declare::item!($need [$kind] $crate::declare::key!(
                        [$($about)+] [$field $($key)?] [$kind] $need [$($text)*]
                        [$($low)? $($from)?] [$($high)?] [$($above)?] [$($below)?]
                        [$tag = $word]
                    )),)*)?)+
                ],
            };
        }

        impl $crate::reader::Table for $name {
            fn read(r: &$crate::reader::Reader<'_>) -> Result<Self, $crate::error::Problem> {
                let table = r.select(&$name::SELECTOR, &[$(($word, |_r| Ok($name::$variant $(($variant {
                    $($field: $crate::declare::read!(_r $need [$kind] [$($text)*] $crate::declare::key!(
                        [$($about)+] [$field $($key)?] [$kind] $need [$($text)*]
                        [$($low)? $($from)?] [$($high)?] [$($above)?] [$($below)?]
                        [$tag = $word]
                    )),)*
                }))?))),+])?;
                $($check(&table, r)?;)?
                Ok(table)
            }
        }
    };
}

/// Declares the words that a key accepts. The enum is both the kind of the key and the type of its value; it is declared here, or
/// one of the crate that acts by it.
macro_rules! choices {
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $name:ident {
            $($(#[doc = $word_doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $($(#[doc = $word_doc])+ $variant,)+
        }

        impl $name {
            /// All words, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word in a file.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        $crate::declare::words!($name { $($(#[doc = $word_doc])+ $variant = $word,)+ });
    };
    (
        $(#[doc = $doc:literal])+
        $vis:vis type $name:ident = $type:path {
            $($(#[doc = $word_doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        $vis type $name = $type;

        $crate::declare::words!($name { $($(#[doc = $word_doc])+ $variant = $word,)+ });
    };
}

/// Makes an enum the kind of a key.
macro_rules! words {
    ($name:ident { $($(#[doc = $word_doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        impl $crate::kind::Kind for $name {
            type Value = Self;
            const FORM: $crate::schema::Form = $crate::schema::Form::Choice(&[
                $($crate::schema::Word { name: $word, doc: concat!($($word_doc),+) },)+
            ]);
            fn read(
                node: &$crate::value::Node,
                _: &$crate::context::Context<'_>,
            ) -> Result<Self, $crate::error::Problem> {
                $crate::quantity::choice(node, &[$(($word, Self::$variant)),+])
            }
        }
    };
}

/// The type with the keys of a variant. The fields only say that there is one.
macro_rules! table_of {
    ($variant:ident $($field:ident)*) => {
        $variant
    };
}

/// The type of a field.
macro_rules! field_type {
    (required $kind:ty) => { <$kind as $crate::kind::Kind>::Value };
    (default $kind:ty) => { <$kind as $crate::kind::Kind>::Value };
    (blank $kind:ty) => { <$kind as $crate::kind::Kind>::Value };
    (unset $kind:ty) => { Option<<$kind as $crate::kind::Kind>::Value> };
    (like $kind:ty) => { $kind };
    (flat $kind:ty) => { $kind };
}

/// The rule for a key that is not given, for the reference.
macro_rules! need {
    (required) => {
        $crate::schema::Need::Required
    };
    (default $text:literal) => {
        $crate::schema::Need::Default($text)
    };
    (unset $text:literal) => {
        $crate::schema::Need::Unset($text)
    };
    (blank $text:literal) => {
        $crate::schema::Need::Unset($text)
    };
    (like $other:literal $text:literal) => {
        $crate::schema::Need::Unset($text)
    };
    (flat) => {
        $crate::schema::Need::Unset("")
    };
}

/// An optional literal.
macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

/// The setting a key depends on.
macro_rules! owner {
    () => { None };
    ($key:ident) => { Some($crate::schema::Owner::Given(stringify!($key))) };
    ($key:ident != $not:literal) => { Some($crate::schema::Owner::IsNot(stringify!($key), $not)) };
    ($key:ident = $($value:literal)+) => {
        Some($crate::schema::Owner::Is(stringify!($key), &[$($value),+]))
    };
}

/// The name of a key: its own, or that of its field.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// The form of a key's value.
macro_rules! form {
    (like $kind:ty) => {
        $crate::schema::Form::Table(&<$kind as $crate::schema::Keys>::SECTION)
    };
    (flat $kind:ty) => {
        $crate::schema::Form::Other("")
    };
    ($need:ident $kind:ty) => {
        <$kind as $crate::kind::Kind>::FORM
    };
}

/// A key as a value.
macro_rules! key {
    (
        [$($about:literal)+] [$($name:tt)+] [$kind:ty] $need:ident [$($text:literal)*]
        [$($low:literal)?] [$($high:literal)?] [$($above:literal)?] [$($below:literal)?] [$($owner:tt)*]
    ) => {
        $crate::schema::Key {
            name: $crate::declare::key_name!($($name)+),
            form: $crate::declare::form!($need $kind),
            need: $crate::declare::need!($need $($text)*),
            bounds: $crate::schema::Bounds {
                low: $crate::declare::optional!($($low)?),
                high: $crate::declare::optional!($($high)?),
                above: $crate::declare::optional!($($above)?),
                below: $crate::declare::optional!($($below)?),
            },
            owner: $crate::declare::owner!($($owner)*),
            doc: concat!($($about),+),
        }
    };
}

/// A key, or all keys of another declaration.
macro_rules! item {
    (flat [$kind:ty] $key:expr) => {
        $crate::schema::Item::Flat(&<$kind as $crate::schema::Keys>::SECTION)
    };
    ($need:ident [$kind:ty] $key:expr) => {
        $crate::schema::Item::Key($key)
    };
}

/// The value of a field.
macro_rules! read {
    ($r:ident unset [$kind:ty] [$text:literal] $key:expr) => {
        $r.maybe::<$kind>(const { &$key })?
    };
    ($r:ident blank [$kind:ty] [$text:literal] $key:expr) => {
        $r.or_blank::<$kind>(const { &$key })?
    };
    ($r:ident like [$kind:ty] [$other:literal $text:literal] $key:expr) => {
        $r.like::<$kind>(const { &$key }, $other)?
    };
    ($r:ident flat [$kind:ty] [] $key:expr) => {
        <$kind as $crate::reader::Table>::read($r)?
    };
    ($r:ident $need:ident [$kind:ty] [$($text:literal)?] $key:expr) => {
        $r.get::<$kind>(const { &$key })?
    };
}

pub(crate) use {
    choices, field_type, form, item, key, key_name, keys, need, optional, owner, read, table_of,
    words,
};
