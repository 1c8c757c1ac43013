//! Errors of runs and captures.

/// Why a run has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// An unknown name.
    Unknown {
        /// The kind of thing it should name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The card's sorter cannot be created with these settings.
    Sorter(String),
    /// The caller ended the run early.
    Stopped,
    /// More than 8 million events were pending at the same time.
    TooMuchUnderWay,
    /// Packets and acknowledgements go round without taking any time.
    StandsStill {
        /// The time that does not pass, nanoseconds.
        at_ns: i64,
    },
}

impl Error {
    pub(crate) fn sorter(error: &inorder_sort::ConfigError) -> Self {
        Error::Sorter(error.to_string())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Unknown { what, name } => write!(f, "no {what} is called \"{name}\""),
            Error::Sorter(why) => write!(f, "receiver_card: {why}"),
            Error::Stopped => f.write_str("the run was stopped"),
            Error::TooMuchUnderWay => f.write_str(
                "more than 8 million packets and timers at once: limit queues or buffers",
            ),
            Error::StandsStill { at_ns } => write!(
                f,
                "time stands still at {} s: data and acknowledgements of a flow take no time; give its path a link with a rate, or a delay",
                *at_ns as f64 / 1e9
            ),
        }
    }
}

impl std::error::Error for Error {}
