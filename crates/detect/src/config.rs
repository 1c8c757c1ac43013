//! What to look for and what to keep.

use std::sync::Arc;

use inorder_sort::SorterConfig;
use inorder_whatif::Settings;

use crate::choice::FlowChoice;
use crate::explanation::{Explanation, Explanations};
use crate::habits::Assumed;
use crate::hosts::Hosts;
use crate::result::{FlowReport, Vantage};

/// Share of the memory that reports of flows may take.
const REPORTS_PART: usize = 8;
/// Bytes that a report takes, with its lists.
const BYTES_OF_REPORT: usize = 4_096;

/// How a [`Tracker`](crate::Tracker) works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Take every capture as made here; `None` infers it for each connection.
    pub vantage: Option<Vantage>,
    /// Keep every event and retransmission, not only their distributions.
    pub keep_events: bool,
    /// Keep points for a time-sequence diagram.
    pub keep_points: bool,
    /// Lay SRPIC over receiver-side captures.
    pub what_if: bool,
    /// Block sizes of the what-if, packets.
    pub block_sizes: Vec<u32>,
    /// Sorters laid over them besides, by name and settings.
    pub sorters: Vec<SorterConfig>,
    /// Coalescing times of the what-if, nanoseconds.
    pub coalesce_ns: Vec<u64>,
    /// What the inference at the sender weighs.
    pub explanations: Explanations,
    /// Habits of the endpoints that are known.
    pub assumed: Assumed,
    /// What a first reading has shown of hosts.
    pub(crate) hosts: Arc<Hosts>,
    /// A connection with no packet for this long is closed, nanoseconds.
    pub idle_ns: i64,
    /// Maximum number of flows, at least one, that are reported one by one: those of the greatest
    /// [`Gravity`](crate::Gravity); the others are summed. Bounds memory: a report takes about 2 KiB.
    pub max_flows: usize,
    /// Memory that the analysis of a capture may take, bytes; `None` sets no limit. Connections that have no room are ended
    /// early, those without trouble first, then those that were silent longest ([`EndedEarly`](crate::EndedEarly)). It is
    /// kept by an estimate; single events and what a comparison of two captures keeps are not limited.
    pub memory: Option<usize>,
    /// Report and sum only these flows; `None` takes all.
    pub only: Option<FlowChoice>,
}

impl Default for Config {
    fn default() -> Self {
        let tried = Settings::default();
        Config {
            vantage: None,
            keep_events: false,
            keep_points: false,
            what_if: true,
            block_sizes: tried.block_sizes,
            sorters: Vec::new(),
            coalesce_ns: tried.coalesce_ns,
            explanations: Explanations::default(),
            assumed: Assumed::default(),
            hosts: Arc::default(),
            idle_ns: 600_000_000_000,
            max_flows: 30_000,
            memory: None,
            only: None,
        }
    }
}

/// Methods that change one field each.
macro_rules! setters {
    ($($field:ident: $type:ty),+ $(,)?) => {$(
        #[doc = concat!("See [`Config::", stringify!($field), "`](#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )+};
}

/// Each method changes one choice, so that they can be chained:
/// `Config::default().keep_events(true).what_if(false)`.
impl Config {
    setters! {
        vantage: Option<Vantage>,
        keep_events: bool,
        keep_points: bool,
        what_if: bool,
        block_sizes: Vec<u32>,
        sorters: Vec<SorterConfig>,
        coalesce_ns: Vec<u64>,
        explanations: Explanations,
        assumed: Assumed,
        idle_ns: i64,
        max_flows: usize,
        memory: Option<usize>,
        only: Option<FlowChoice>,
    }

    /// How to read the capture a second time, if these flows of a first reading show something of a host that others of them leave open
    /// ([`Explanation::OtherConnections`]).
    pub fn taught_by(&self, flows: &[FlowReport]) -> Option<Self> {
        if !self.explanations.has(Explanation::OtherConnections) {
            return None;
        }
        if !flows.iter().any(crate::hosts::asks) {
            return None;
        }
        let hosts = Hosts::of(flows);
        let hosts = hosts.teach(flows).then(|| Arc::new(hosts))?;
        Some(Config {
            hosts,
            ..self.clone()
        })
    }

    /// Reports that are kept at most: [`Config::max_flows`], if there is memory for as many.
    pub(crate) fn reports(&self) -> usize {
        let room = |memory: usize| memory / REPORTS_PART / BYTES_OF_REPORT;
        self.memory.map_or(usize::MAX, room).min(self.max_flows)
    }
}
