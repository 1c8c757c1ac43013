//! What a task of a study does.

use serde::{Deserialize, Serialize};

/// A capture as it was when the study was planned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
pub struct Listed {
    /// Its name in results: the path below the folder that was named, or the path as it was given.
    pub file: String,
    /// Where it is: a path, or a URL that the opener of the study understands.
    pub path: String,
    /// Its size, bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What changes when it changes: the time of its last change, nanoseconds since the epoch, or what a bucket has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What one task does.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Analyses these captures.
    Captures(Vec<Listed>),
    /// Makes these runs or connections, by their numbers from 0.
    Items {
        /// The first.
        first: u64,
        /// How many.
        count: u64,
    },
}

impl Work {
    /// Captures, runs or connections.
    pub fn len(&self) -> u64 {
        match self {
            Work::Captures(captures) => captures.len() as u64,
            Work::Items { count, .. } => *count,
        }
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `all` items in tasks of `each`.
    pub(crate) fn items(all: u64, each: u64) -> Vec<Work> {
        let each = each.max(1);
        let starts = (0..all.div_ceil(each)).map(|number| number * each);
        let work = |first| Work::Items {
            first,
            count: each.min(all - first),
        };
        starts.map(work).collect()
    }
}
