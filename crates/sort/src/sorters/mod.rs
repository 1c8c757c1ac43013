//! The registry: every sorter there is, one file or folder each.
//!
//! A new sorter is its file and, here, its `mod` line and its line in `sorters!`. The file has the
//! sorter's type, generic over flow key and packet, which implements [`Sorter`] and has the functions
//! `build` and `footprint`, both of `(&SorterConfig, &Surroundings)`; and its [`Entry`] as the
//! constant `ENTRY`, which names it and its settings. Cards, `inorder sort`, the what-if, the forwarder of `netproc`, scenarios, the
//! C interface, the property test and the fuzz target all read this list.

pub mod both;
mod config;
pub mod none;
pub mod resequence;
pub mod srpic;
mod text;
pub mod window;

use crate::key::FlowKey;
use crate::meta::Meta;
use crate::out::Out;
use crate::sorter::{Counters, Sorter};

pub use config::{
    ConfigError, Entry, MAX_CAPACITY, MAX_SETTINGS, Setting, SorterConfig, Surroundings, Unit,
};

macro_rules! sorters {
    ($($module:ident::$sorter:ident,)*) => {
        /// What there is to choose from.
        pub const SORTERS: &[&Entry] = &[$(&$module::ENTRY),*];

        /// A sorter chosen by name: [`SorterConfig::build`] makes it. A call is a jump to the code
        /// of the sorter it is, not a call through a pointer.
        #[allow(clippy::large_enum_variant)] // There are few of them, and each is used a lot.
        pub enum AnySorter<K, P> {
            $(
                #[doc = concat!("[`", stringify!($module), "`]")]
                $sorter($module::$sorter<K, P>),
            )*
        }

        impl<K: FlowKey, P> AnySorter<K, P> {
            pub(crate) fn new(
                config: &SorterConfig,
                around: &Surroundings,
            ) -> Result<Self, ConfigError> {
                let name = config.entry().name;
                $(if name == $module::ENTRY.name {
                    return $module::$sorter::build(config, around).map(AnySorter::$sorter);
                })*
                Err(ConfigError::UnknownSorter(name.into()))
            }
        }

        impl<K: FlowKey, P> AnySorter<K, P> {
            /// Bytes a sorter of this choice will take: its [`Sorter::memory_footprint`].
            pub fn footprint(config: &SorterConfig, around: &Surroundings) -> usize {
                let name = config.entry().name;
                $(if name == $module::ENTRY.name {
                    let own = size_of::<$module::$sorter<K, P>>();
                    let all = $module::$sorter::<K, P>::footprint(config, around);
                    return size_of::<Self>() + all - own;
                })*
                0
            }
        }

        macro_rules! each {
            ($any:expr, $one:ident => $call:expr) => {
                match $any { $(AnySorter::$sorter($one) => $call,)* }
            };
        }
    };
}

sorters! {
    none::PassThrough,
    srpic::Srpic,
    window::Window,
    resequence::Resequencer,
    both::Both,
}

impl Default for SorterConfig {
    /// No sorter: packets pass as they come.
    fn default() -> Self {
        SorterConfig::of(&none::ENTRY)
    }
}

impl SorterConfig {
    /// True of a sorter that leaves everything as it is.
    pub fn passes_through(&self) -> bool {
        self.entry() == &none::ENTRY
    }
}

/// Passes every call on. The trait's methods are generic over where packets go, so a table of functions cannot hold
/// them, and a call through a pointer for each packet is what this type is to spare.
impl<K: FlowKey, P> Sorter<K, P> for AnySorter<K, P> {
    #[inline]
    fn push(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        each!(self, sorter => Sorter::push(sorter, meta, packet, now_ns, out));
    }

    #[inline]
    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        each!(self, sorter => Sorter::end_of_batch(sorter, now_ns, out));
    }

    #[inline]
    fn next_deadline_ns(&self) -> Option<i64> {
        each!(self, sorter => Sorter::next_deadline_ns(sorter))
    }

    #[inline]
    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        each!(self, sorter => Sorter::on_deadline(sorter, now_ns, out));
    }

    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        each!(self, sorter => Sorter::flush(sorter, now_ns, out));
    }

    fn hold_ns(&self, flow: K) -> Option<i64> {
        each!(self, sorter => Sorter::hold_ns(sorter, flow))
    }

    #[inline]
    fn held(&self) -> usize {
        each!(self, sorter => Sorter::held(sorter))
    }

    fn counters(&self) -> Counters {
        each!(self, sorter => Sorter::counters(sorter))
    }

    fn memory_footprint(&self) -> usize {
        // The enumeration itself is as large as its largest sorter.
        let own = size_of::<Self>();
        each!(self, sorter => own + Sorter::memory_footprint(sorter) - size_of_val(sorter))
    }

    #[inline]
    fn passes_through(&self) -> bool {
        each!(self, sorter => Sorter::passes_through(sorter))
    }

    #[inline]
    fn take_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut impl Out<P>,
    ) {
        each!(self, sorter => Sorter::take_burst(sorter, burst, meta, packet, now_ns, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_name_of_its_own_and_says_something() {
        for (at, entry) in SORTERS.iter().enumerate() {
            let same = |other: &&&Entry| other.name == entry.name;
            assert_eq!(SORTERS.iter().position(|e| same(&e)), Some(at));
            assert!(!entry.about.is_empty() && !entry.source.is_empty());
            for setting in entry.settings {
                assert!((setting.min..=setting.max).contains(&setting.default));
                assert!(!setting.about.is_empty());
            }
        }
    }

    #[test]
    fn every_entry_builds_at_its_defaults_and_at_its_least() {
        for entry in SORTERS {
            let config = SorterConfig::of(entry);
            let least = entry.settings.iter();
            let least = least.fold(config, |config, s| config.with(s, s.min));
            for config in [config, least] {
                let around = Surroundings::ring(64);
                let sorter = config.build::<u32, u32>(&around).unwrap();
                let footprint = AnySorter::<u32, u32>::footprint(&config, &around);
                assert_eq!(footprint, sorter.memory_footprint());
                assert_eq!(sorter.passes_through(), config.passes_through());
                assert!(sorter.memory_footprint() >= size_of_val(&sorter));
            }
        }
    }
}
