//! The description of a sorter in the registry, and the choice of a sorter with its settings.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use super::{AnySorter, SORTERS};
use crate::key::FlowKey;

/// Largest ring size and flow table: indices are 32 bits wide, and memory is reserved in full at the start.
pub const MAX_CAPACITY: usize = 1 << 24;

/// Largest number of settings of an entry.
pub const MAX_SETTINGS: usize = 8;

/// A sorter as scenarios, command-line options, the C interface and the documentation refer to it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The source of its rule.
    pub source: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
}

impl Entry {
    /// Makes an entry. A constant with more than [`MAX_SETTINGS`] settings does not compile.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        settings: &'static [Setting],
    ) -> Self {
        assert!(settings.len() <= MAX_SETTINGS, "raise MAX_SETTINGS");
        Entry {
            name,
            about,
            source,
            settings,
        }
    }

    /// The entry with this name.
    pub fn named(name: &str) -> Result<&'static Entry, ConfigError> {
        let found = SORTERS.iter().copied().find(|entry| entry.name == name);
        found.ok_or_else(|| ConfigError::UnknownSorter(name.to_owned()))
    }
}

/// A setting. All settings are whole numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Its name, in scenarios and in the text of a [`SorterConfig`].
    pub name: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
    /// The unit of its number.
    pub unit: Unit,
    /// Its minimum.
    pub min: u64,
    /// Its maximum.
    pub max: u64,
    /// Its default.
    pub default: u64,
}

impl Setting {
    /// A number of packets.
    pub const fn packets(
        name: &'static str,
        about: &'static str,
        (min, max): (u64, u64),
        default: u64,
    ) -> Self {
        Setting {
            name,
            about,
            unit: Unit::Packets,
            min,
            max,
            default,
        }
    }

    /// A time in nanoseconds.
    pub const fn time(
        name: &'static str,
        about: &'static str,
        (min, max): (u64, u64),
        default: u64,
    ) -> Self {
        Setting {
            name,
            about,
            unit: Unit::Nanoseconds,
            min,
            max,
            default,
        }
    }

    /// A flag, false by default.
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Setting {
            name,
            about,
            unit: Unit::Flag,
            min: 0,
            max: 1,
            default: 0,
        }
    }
}

/// The unit of a [`Setting`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unit {
    /// Packets.
    Packets,
    /// Nanoseconds.
    Nanoseconds,
    /// 0 is false, 1 is true.
    Flag,
}

/// The sizes of the environment, which bound the memory of a sorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surroundings {
    /// Number of packets the receive ring holds, which is the largest batch: 1 to 2^24.
    pub ring_packets: usize,
    /// Number of flows a sorter follows at the same time: 1 to 2^24.
    pub flows: usize,
    /// Secret key of the flow hash. Use a random number if senders may be hostile.
    pub hash_seed: u64,
}

impl Default for Surroundings {
    /// The ring of 512 packets of the SRPIC paper.
    fn default() -> Self {
        Surroundings::ring(512)
    }
}

impl Surroundings {
    /// Reports a value that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let fits = |what, given: usize| {
            let (min, max) = (1, MAX_CAPACITY as u64);
            let given = given as u64;
            let error = ConfigError::OutOfRange {
                what,
                given,
                min,
                max,
            };
            (min..=max).contains(&given).then_some(()).ok_or(error)
        };
        fits("ring size", self.ring_packets)?;
        fits("flows", self.flows)
    }

    /// A ring of this size, a flow table for a busy server (4096 flows, and at least the number of packets), and a
    /// hash without a secret key.
    pub fn ring(ring_packets: usize) -> Self {
        Surroundings {
            ring_packets,
            flows: ring_packets.max(4096),
            hash_seed: 0,
        }
    }
}

/// A sorter by name, with its settings.
///
/// Its text is the name, followed by the settings that differ from their defaults, for example
/// `srpic:block_size=8,literal=true`.
///
/// ```
/// use inorder_sort::{Meta, Sorter, SorterConfig, Surroundings};
///
/// let config: SorterConfig = "srpic:block_size=8".parse()?;
/// let mut sorter = config.build(&Surroundings::default())?;
/// let mut up = Vec::new();
/// for (seq, packet) in [(2, 'b'), (1, 'a')] {
///     sorter.push(&Meta::data(7u32, seq, 1), packet, 0, &mut |p| up.push(p));
/// }
/// sorter.end_of_batch(0, &mut |p| up.push(p));
/// assert_eq!(up, ['a', 'b']);
/// # Ok::<(), inorder_sort::ConfigError>(())
/// ```
#[derive(Clone, Copy)]
pub struct SorterConfig {
    entry: &'static Entry,
    values: [u64; MAX_SETTINGS],
}

impl SorterConfig {
    /// The sorter of `entry`, one of [`SORTERS`], as it is when nothing is set.
    pub const fn of(entry: &'static Entry) -> Self {
        let mut values = [0; MAX_SETTINGS];
        let mut at = 0;
        // An iterator cannot be used in a constant. An entry never has more settings than this array holds.
        while at < entry.settings.len() {
            values[at] = entry.settings[at].default;
            at += 1;
        }
        SorterConfig { entry, values }
    }

    /// The sorter with this name, with default settings.
    pub fn named(name: &str) -> Result<Self, ConfigError> {
        Entry::named(name).map(Self::of)
    }

    /// The entry of the sorter.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Changes the setting with this name.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), ConfigError> {
        let setting = self.setting(name)?;
        check(setting, value)?;
        *self = self.with(setting, value);
        Ok(())
    }

    /// The setting with this name.
    pub fn setting(&self, name: &str) -> Result<&'static Setting, ConfigError> {
        let found = self.entry.settings.iter().find(|s| s.name == name);
        found.ok_or_else(|| ConfigError::UnknownSetting {
            sorter: self.entry,
            name: name.to_owned(),
        })
    }

    /// The same sorter with another value of one of its settings. The value is checked when the sorter is made. A
    /// setting of another sorter changes nothing.
    #[must_use]
    pub fn with(mut self, setting: &Setting, value: u64) -> Self {
        for (own, old) in self.entry.settings.iter().zip(&mut self.values) {
            if own.name == setting.name {
                *old = value;
            }
        }
        self
    }

    /// The value of `setting`; its default if it belongs to another sorter.
    pub fn value(&self, setting: &Setting) -> u64 {
        let mut own = self.entry.settings.iter().zip(self.values);
        let found = own.find(|(own, _)| own.name == setting.name);
        found.map_or(setting.default, |(_, value)| value)
    }

    /// All settings and their values.
    pub fn values(&self) -> impl Iterator<Item = (&'static Setting, u64)> {
        self.entry.settings.iter().zip(self.values)
    }

    /// Reports a value that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.values().try_for_each(|(s, value)| check(s, value))
    }

    /// Makes the sorter and reserves all its memory.
    pub fn build<K: FlowKey, P>(
        &self,
        around: &Surroundings,
    ) -> Result<AnySorter<K, P>, ConfigError> {
        self.check()?;
        around.check()?;
        AnySorter::new(self, around)
    }
}

fn check(setting: &Setting, value: u64) -> Result<(), ConfigError> {
    let fits = (setting.min..=setting.max).contains(&value);
    fits.then_some(()).ok_or(ConfigError::OutOfRange {
        what: setting.name,
        given: value,
        min: setting.min,
        max: setting.max,
    })
}

impl PartialEq for SorterConfig {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.values == other.values
    }
}

impl Eq for SorterConfig {}

impl fmt::Debug for SorterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SorterConfig({self})")
    }
}

/// The reason why a sorter could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// No sorter has this name.
    UnknownSorter(String),
    /// The sorter has no such setting.
    UnknownSetting {
        /// The sorter.
        sorter: &'static Entry,
        /// The given name of the setting.
        name: String,
    },
    /// The value of a setting cannot be parsed.
    Malformed {
        /// The setting.
        what: &'static str,
        /// The given value.
        given: String,
        /// The expected form.
        expected: &'static str,
    },
    /// A number is too small or too large.
    OutOfRange {
        /// The name of the value.
        what: &'static str,
        /// The given number.
        given: u64,
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// There is not enough memory for the sorter.
    OutOfMemory,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Entry {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::UnknownSorter(name) => {
                write!(f, "no sorter `{name}`; there are ")?;
                list(f, SORTERS.iter().map(|entry| entry.name))
            }
            ConfigError::UnknownSetting { sorter, name } if sorter.settings.is_empty() => {
                write!(f, "sorter {} has no settings, so no `{name}`", sorter.name)
            }
            ConfigError::UnknownSetting { sorter, name } => {
                write!(f, "sorter {} has no setting `{name}`; it has ", sorter.name)?;
                list(f, sorter.settings.iter().map(|setting| setting.name))
            }
            ConfigError::Malformed {
                what,
                given,
                expected,
            } => write!(f, "{what} must be {expected}, not `{given}`"),
            ConfigError::OutOfRange {
                what,
                given,
                min,
                max,
            } => write!(f, "{what} must be {min} to {max}, not {given}"),
            ConfigError::OutOfMemory => f.write_str("out of memory for the sorter"),
        }
    }
}

fn list<'n>(f: &mut fmt::Formatter<'_>, names: impl Iterator<Item = &'n str>) -> fmt::Result {
    for (at, name) in names.enumerate() {
        write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for ConfigError {}

impl From<alloc::collections::TryReserveError> for ConfigError {
    fn from(_: alloc::collections::TryReserveError) -> Self {
        ConfigError::OutOfMemory
    }
}
