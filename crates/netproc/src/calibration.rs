//! The constants of the model with their sources.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

/// The source of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The user's own value: the default of a file that replaces constants.
    #[default]
    Given,
    /// Printed in the paper.
    Paper,
    /// Computed from printed throughputs.
    Derived,
    /// Fitted so that the model reproduces printed throughputs or table 1.
    Fitted,
    /// No accessible source; the influence is small.
    Assumed,
}

impl Status {
    /// The name in the calibration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Paper => "paper",
            Self::Derived => "derived",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: f64,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    note: String,
}

/// A constant with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value, in the unit of the field of [`Calibration`] of that name.
    pub value: f64,
    /// Its source.
    pub status: Status,
    /// More about the source; may be empty.
    pub note: String,
}

/// The constants in a calibration file, by name.
pub fn constants(text: &str) -> Result<Vec<Constant>, CalibrationError> {
    let constant = |(name, entry): (String, Entry)| Constant {
        name,
        value: entry.value,
        status: entry.status,
        note: entry.note,
    };
    Ok(read(text)?.into_iter().map(constant).collect())
}

/// Why a calibration file was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CalibrationError {
    /// Not TOML, or not of the form `[name] value status note`.
    #[error("line {line}: {problem}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A constant that does not exist in the model.
    #[error("unknown constant [{name}]{}", nearest.as_ref().map(|n| format!(", did you mean [{n}]?")).unwrap_or_default())]
    Unknown {
        /// The name as written.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// A value that is negative or not a number, or zero if that is meaningless.
    #[error("[{name}] value: expected a positive number")]
    Value {
        /// The constant.
        name: String,
    },
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The constants of the model: times in cycles of the engines' clock unless their names say otherwise.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Calibration {
            $($(#[$doc])* pub $name: f64,)*
        }

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Calibration {
            fn from_values(values: &BTreeMap<&str, f64>) -> Self {
                Self { $($name: values.get(stringify!($name)).copied().unwrap_or_default(),)* }
            }

            /// Every constant with its name.
            fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

constants! {
    /// Clock of the engines, MHz.
    clock_mhz,
    /// Rate of the arriving line, Gb/s.
    line_gbps,
    /// Size of the receive buffer and of the transmit buffer, bytes.
    buffer_bytes,
    /// Packets that the receiving MAC can hold.
    mac_packets,
    /// Mean instructions of the receiving step per mpacket.
    receive_instructions,
    /// Mean instructions before the header read.
    header_read_instructions,
    /// Mean instructions before the look-up.
    lookup_instructions,
    /// Mean instructions before the header write.
    header_write_instructions,
    /// Mean instructions of the transmit step per mpacket.
    transmit_instructions,
    /// Duration of a command on the bus.
    command_bus,
    /// Maximum number of waiting commands of an engine.
    command_fifo,
    /// Time for which a transfer of 64 bytes occupies the DRAM.
    dram_transfer,
    /// Time for which a header access occupies the DRAM.
    dram_header,
    /// Time from the end of the DRAM access to the signal.
    dram_latency,
    /// Mean time of an SRAM access (exponential).
    sram,
    /// Number of SRAM accesses of a look-up.
    lookups,
    /// Duration of a scratchpad operation.
    scratch,
    /// Time of a mpacket from the transmit buffer to the MAC.
    transmit_media,
    /// Instructions of an ordered or locked section per mpacket.
    section_instructions,
    /// Time for which an engine's lock is held under local allocation, per mpacket.
    local_hold,
    /// Number of scratchpad operations of AISR's receiving section.
    aisr_scratch_operations,
    /// Number of scratchpad operations of AISR's receiving section with 16 receiving threads.
    aisr_wide_scratch_operations,
    /// Work of AISR's reordering engine per packet.
    aisr_emit,
    /// Work of Packet Sort's sorting engine per packet.
    sort_base,
    /// Additional work for each packet of the same flow that is in progress.
    sort_step,
}

impl Default for Calibration {
    /// The calibration embedded in the crate.
    fn default() -> Self {
        // A test parses the file, so no constant can be missing.
        Self::parse("").unwrap_or_else(|_| Self::from_values(&BTreeMap::new()))
    }
}

impl Calibration {
    /// The embedded file.
    pub const EMBEDDED: &str = include_str!("calibration.toml");

    /// Reads a calibration file; constants that it does not contain keep their embedded values.
    pub fn parse(text: &str) -> Result<Self, CalibrationError> {
        let embedded = read(Self::EMBEDDED)?;
        let given = read(text)?;
        let mut values = BTreeMap::new();
        for (name, entry) in embedded.iter().chain(&given) {
            if !NAMES.contains(&name.as_str()) {
                return Err(unknown(name));
            }
            if !(entry.value.is_finite() && entry.value > 0.0) {
                return Err(CalibrationError::Value { name: name.clone() });
            }
            values.insert(name.as_str(), entry.value);
        }
        Ok(Self::from_values(&values))
    }

    /// The constants as a part of a coloured net, the file `constants.net` that the nets of the IXP 2400 include. A test
    /// holds that file to this text, so that the calibration file is the only place where a number is changed.
    pub fn as_net(&self) -> String {
        let mut text = NET_HEADER.to_owned();
        for (name, value) in self.values() {
            let value = match name {
                // Whole things.
                "buffer_bytes" | "mac_packets" | "command_fifo" | "lookups" => value.trunc(),
                _ => value,
            };
            text.push_str(&format!("constant ixp2400_{name} = {value}\n"));
        }
        text
    }
}

const NET_HEADER: &str = "\
# The constants of the IXP 2400, in cycles unless their names say otherwise: what `inorder netproc --net-constants` prints of
# calibration.toml, which is the file to change.
coloured part ixp2400_constants

";

fn read(text: &str) -> Result<BTreeMap<String, Entry>, CalibrationError> {
    toml::from_str(text).map_err(|error| CalibrationError::Syntax {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        problem: error.message().lines().collect::<Vec<_>>().join(" "),
    })
}

/// The line that contains byte `at`, from 1.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

fn unknown(name: &str) -> CalibrationError {
    let nearest = inorder_base::names::nearest(name, NAMES.iter().copied());
    CalibrationError::Unknown {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_contains_every_constant() {
        let entries = read(Calibration::EMBEDDED).expect("reads");
        let mut wanted: Vec<_> = NAMES.to_vec();
        wanted.sort_unstable();
        assert_eq!(
            entries.keys().map(String::as_str).collect::<Vec<_>>(),
            wanted
        );
        assert!(entries.values().all(|entry| entry.status != Status::Given));
        assert_eq!(Calibration::default().dram_transfer, 49.8);
    }

    #[test]
    fn the_nets_include_the_constants_of_the_embedded_file() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("nets");
        let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("is readable");
        assert_eq!(
            read(&folder.join("constants.net")),
            Calibration::default().as_net(),
            "run `inorder netproc --net-constants > crates/netproc/nets/constants.net`"
        );
        let files = std::fs::read_dir(&folder).expect("the folder of the nets");
        let nets: String = files
            .map(|file| file.expect("an entry").path())
            .filter(|path| !path.ends_with("constants.net"))
            .map(|path| read(&path))
            .collect();
        for (name, _) in Calibration::default().values() {
            let used = format!(" ixp2400_{name} ");
            assert!(nets.contains(&used), "no net uses {name}");
        }
    }

    #[test]
    fn a_file_overrides_the_constants_it_contains() {
        let ours =
            Calibration::parse("[sram]\nvalue = 100\nstatus = \"assumed\"\n").expect("reads");
        assert_eq!((ours.sram, ours.scratch), (100.0, 66.5));
        // Where a value comes from matters only for the constants of the model.
        let ours = Calibration::parse("[sram]\nvalue = 100\n").expect("reads");
        assert_eq!(ours.sram, 100.0);
        let error = Calibration::parse("[dram_latenzy]\nvalue = 1\nstatus = \"fitted\"\n")
            .expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "unknown constant [dram_latenzy], did you mean [dram_latency]?"
        );
        assert!(Calibration::parse("[sram]\nvalue = -1\nstatus = \"fitted\"\n").is_err());
        let error =
            Calibration::parse("[sram]\nvalue = 1\nstatus = \"guess\"\n").expect_err("status");
        let message = error.to_string();
        assert!(
            message.starts_with("line 3: ") && message.lines().count() == 1,
            "{message}"
        );
    }
}
