//! The constants of the model, each with where it comes from.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

/// How a constant is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Printed in the paper.
    Paper,
    /// Arithmetic on printed throughputs.
    Derived,
    /// Chosen so that printed throughputs or table 1 come out.
    Fitted,
    /// Without a readable source; of little influence.
    Assumed,
}

impl Status {
    /// As in the file.
    pub fn name(self) -> &'static str {
        match self {
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
    status: Status,
    #[serde(default)]
    note: String,
}

/// A constant with where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its value, in the unit of the field of [`Calibration`] of that name.
    pub value: f64,
    /// How it is known.
    pub status: Status,
    /// More about that; may be empty.
    pub note: String,
}

/// The constants that a calibration file names, by name.
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
    /// Not TOML, or not of the shape `[name] value status note`.
    #[error("line {line}: {problem}")]
    Syntax {
        /// Where, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A constant that the model does not have.
    #[error("unknown constant [{name}]{}", nearest.as_ref().map(|n| format!(", did you mean [{n}]?")).unwrap_or_default())]
    Unknown {
        /// As written.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// A value that is negative or not a number, or zero where that has no meaning.
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
    /// Packets the receiving MAC holds.
    mac_packets,
    /// Mean instructions of [`Step::Receive`](crate::job::Step::Receive), a mpacket.
    receive_instructions,
    /// Mean instructions before the header read.
    header_read_instructions,
    /// Mean instructions before the look-up.
    lookup_instructions,
    /// Mean instructions before the header write.
    header_write_instructions,
    /// Mean instructions of the transmit step, a mpacket.
    transmit_instructions,
    /// A command on the bus.
    command_bus,
    /// Commands an engine may have waiting.
    command_fifo,
    /// DRAM busy for a transfer of 64 bytes.
    dram_transfer,
    /// DRAM busy for a header access.
    dram_header,
    /// From the end of the DRAM's service to the signal.
    dram_latency,
    /// Mean of an SRAM access (exponential).
    sram,
    /// SRAM accesses of a look-up.
    lookups,
    /// A scratchpad operation.
    scratch,
    /// A mpacket from the transmit buffer to the MAC.
    transmit_media,
    /// Instructions of an ordered or locked section, a mpacket.
    section_instructions,
    /// Holding of an engine's lock under local allocation, a mpacket.
    local_hold,
    /// Scratch operations of AISR's receiving section.
    aisr_scratch_operations,
    /// The same with 16 receiving threads.
    aisr_wide_scratch_operations,
    /// Work of AISR's reordering engine on a packet.
    aisr_emit,
    /// Work of Packet Sort's sorting engine on a packet.
    sort_base,
    /// The same for each packet of its flow in work.
    sort_step,
}

impl Default for Calibration {
    /// The calibration that comes with the crate.
    fn default() -> Self {
        // A test reads it, so nothing can be missing.
        Self::parse("").unwrap_or_else(|_| Self::from_values(&BTreeMap::new()))
    }
}

impl Calibration {
    /// The embedded file.
    pub const EMBEDDED: &str = include_str!("calibration.toml");

    /// Reads a calibration file; constants it does not name keep their embedded values.
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
}

fn read(text: &str) -> Result<BTreeMap<String, Entry>, CalibrationError> {
    toml::from_str(text).map_err(|error| CalibrationError::Syntax {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        problem: error.message().lines().collect::<Vec<_>>().join(" "),
    })
}

/// The line that byte `at` is in, from 1.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

fn unknown(name: &str) -> CalibrationError {
    let nearest = inorder_nearest::nearest(name, NAMES.iter().copied());
    CalibrationError::Unknown {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_names_every_constant() {
        let entries = read(Calibration::EMBEDDED).expect("reads");
        let mut wanted: Vec<_> = NAMES.to_vec();
        wanted.sort_unstable();
        assert_eq!(
            entries.keys().map(String::as_str).collect::<Vec<_>>(),
            wanted
        );
        assert_eq!(Calibration::default().dram_transfer, 49.8);
    }

    #[test]
    fn a_file_overrides_what_it_names() {
        let ours =
            Calibration::parse("[sram]\nvalue = 100\nstatus = \"assumed\"\n").expect("reads");
        assert_eq!((ours.sram, ours.scratch), (100.0, 66.5));
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
