//! Place/transition and generalised stochastic Petri nets as plain data.
//!
//! A [`Net`] is pure data: places with tokens and capacities, transitions with their timing, arcs. All functions of
//! this crate for such nets start here: the text and PNML readers create one, [`Net::validate`] refuses an invalid
//! one, simulation and analyses use one.
//!
//! # Semantics
//!
//! A transition is *enabled* in a marking if every input and read place holds at least the arc's multiplicity, every
//! inhibitor place holds fewer, and no place would exceed its capacity after the firing. Firing takes the input
//! tokens, then empties the reset places, then adds the output tokens (R. David and H. Alla, "Discrete, Continuous,
//! and Hybrid Petri Nets", 2010, ch. 1 and 2).
//!
//! Immediate transitions fire before any timed one, the highest priority first; among enabled ones of one
//! priority the choice is random in proportion to the weights (M. Ajmone Marsan, G. Conte, G. Balbo, "A class of
//! generalized stochastic Petri nets for the performance evaluation of multiprocessor systems", ACM TOCS 2(2),
//! 1984). Timed transitions race, each keeping its clock as long as it stays enabled.
//!
//! The modeller chooses the unit of time; rates are per that unit.

pub(crate) mod compiled;
pub mod family;
mod marking;
mod problem;
mod validate;
mod zero_time;

pub use family::Drawn;
pub use marking::Marking;
pub(crate) use problem::written;
pub use problem::{NetError, Problem};

/// Line of a definition in the file, from 1; 0 for nets built in Rust.
pub type Line = u32;

/// A place, by its index in [`Net::places`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub usize);

/// A transition, by its index in [`Net::transitions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub usize);

/// A place/transition or generalised stochastic Petri net.
///
/// ```
/// use inorder_petri::net::{Net, Place, Servers, Timing, Transition};
///
/// // M/M/2/5: at most five customers, two servers.
/// let mut net = Net::new("mm25");
/// let room = net.add_place(Place::new("room", 5));
/// let queue = net.add_place(Place::new("queue", 0));
/// net.add_transition(Transition::new("arrive", Timing::exponential(1.5)).input(room, 1).output(queue, 1));
/// net.add_transition(
///     Transition::new("serve", Timing::exponential(1.0))
///         .servers(Servers::Multiple(2))
///         .input(queue, 1)
///         .output(room, 1),
/// );
/// net.validate()?;
/// # Ok::<(), inorder_petri::net::NetError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Net {
    /// Name of the net; may be empty.
    pub name: String,
    /// The unit of time; may be empty, for a net that has no other than its own.
    pub unit: String,
    /// The places, in the order of the file.
    pub places: Vec<Place>,
    /// The transitions, in the order of the file, each with its arcs.
    pub transitions: Vec<Transition>,
}

/// A place of indistinguishable tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name, unique among places and transitions.
    pub name: String,
    /// Initial number of tokens.
    pub tokens: u32,
    /// Capacity; `None` for no limit.
    pub capacity: Option<u32>,
    /// Line of its definition.
    pub line: Line,
}

/// A transition and its arcs.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// Its name, unique among places and transitions.
    pub name: String,
    /// The delay from enabling to firing.
    pub timing: Timing,
    /// Maximum number of concurrent firings; only for timed transitions.
    pub servers: Servers,
    /// Its arcs, in the order of the file.
    pub arcs: Vec<Arc>,
    /// Line of its definition.
    pub line: Line,
}

/// An arc between a transition and a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arc {
    /// Kind of the arc.
    pub kind: ArcKind,
    /// The place at its other end.
    pub place: PlaceId,
    /// Number of tokens taken, added, required, or (inhibitor) from which on the arc forbids firing; 1 for reset
    /// arcs.
    pub multiplicity: u32,
    /// Line of its definition.
    pub line: Line,
}

/// The effect of an arc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArcKind {
    /// Takes tokens.
    Input,
    /// Adds tokens.
    Output,
    /// Forbids firing while the place holds at least the multiplicity.
    Inhibitor,
    /// Requires tokens without taking them.
    Read,
    /// Empties the place.
    Reset,
}

/// The time from enabling to firing.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// Immediate.
    Immediate {
        /// Higher ones fire first.
        priority: u32,
        /// Weight in a random choice among equal priorities; above 0.
        weight: f64,
    },
    /// Exponentially distributed.
    Exponential {
        /// Firings per unit of time and server; above 0.
        rate: f64,
    },
    /// Constant.
    Deterministic {
        /// Units of time; above 0.
        delay: f64,
    },
    /// Uniformly distributed.
    Uniform {
        /// Minimum, units of time.
        low: f64,
        /// Maximum, units of time; at least `low` and above 0.
        high: f64,
    },
    /// The sum of exponential stages; its mean is `stages / rate`.
    Erlang {
        /// Number of stages; above 0.
        stages: u32,
        /// Rate of each stage; above 0.
        rate: f64,
    },
    /// Of one of the families of [`family`].
    Drawn(Drawn),
    /// One of a list of observed values.
    Empirical {
        /// The values and their weights.
        values: Vec<Observation>,
    },
}

/// A value of an empirical distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Units of time; not below 0.
    pub delay: f64,
    /// Weight of this value; not below 0, the sum of all above 0.
    pub weight: f64,
}

/// Maximum number of concurrent firings of one timed transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Servers {
    /// One server.
    #[default]
    Single,
    /// A fixed number; at least 1.
    Multiple(u32),
    /// As many as the input tokens allow.
    Infinite,
}

impl Net {
    /// A net without places and transitions.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a place.
    pub fn add_place(&mut self, place: Place) -> PlaceId {
        self.places.push(place);
        PlaceId(self.places.len() - 1)
    }

    /// Adds a transition.
    pub fn add_transition(&mut self, transition: Transition) -> TransitionId {
        self.transitions.push(transition);
        TransitionId(self.transitions.len() - 1)
    }

    /// The place of that name.
    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        self.places.iter().position(|p| p.name == name).map(PlaceId)
    }

    /// The transition of that name.
    pub fn transition_named(&self, name: &str) -> Option<TransitionId> {
        self.transitions
            .iter()
            .position(|t| t.name == name)
            .map(TransitionId)
    }

    /// Transitions with several clocks of which one stops when another transition takes a token that they share, each with one such transition.
    /// Where delays remember how long they have lasted, it matters that this is the youngest and not the token's own.
    pub(crate) fn youngest_stops(&self) -> Vec<(String, String)> {
        let takes = |other: &Transition, place| {
            let arcs = other.arcs.iter();
            arcs.filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Reset))
                .any(|arc| arc.place == place)
        };
        let several = self.transitions.iter().filter(|transition| {
            let remembers = !matches!(
                transition.timing,
                Timing::Exponential { .. } | Timing::Immediate { .. }
            );
            remembers && !matches!(transition.servers, Servers::Single | Servers::Multiple(1))
        });
        several
            .filter_map(|transition| {
                let inputs = transition
                    .arcs
                    .iter()
                    .filter(|arc| arc.kind == ArcKind::Input);
                let others = || {
                    self.transitions
                        .iter()
                        .filter(|other| other.name != transition.name)
                };
                let other = inputs
                    .map(|arc| arc.place)
                    .find_map(|place| others().find(|other| takes(other, place)))?;
                Some((transition.name.clone(), other.name.clone()))
            })
            .collect()
    }

    /// Refuses an invalid net and returns its first error, in the order of the file.
    pub fn validate(&self) -> Result<(), NetError> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// What is wrong with a place that [`Net::is_full`].
    pub(crate) const FULL: &str = "cannot hold the tokens of a further firing, since at most 4294967295 can be counted: \
                                   transitions stop as at a capacity; expected a capacity, or fewer tokens";

    /// Whether a place without a capacity held, at its peak, more tokens than leave room for those of some transition.
    pub(crate) fn is_full(&self, place: PlaceId, peak: u32) -> bool {
        let gives = |t: &Transition| t.multiplicity(ArcKind::Output, place);
        let most = self.transitions.iter().map(gives).max().unwrap_or(0);
        self.places[place.0].capacity.is_none() && peak.checked_add(most).is_none()
    }

    /// The same net without line numbers, for comparing nets from different files.
    #[must_use]
    pub fn without_lines(mut self) -> Self {
        for place in &mut self.places {
            place.line = 0;
        }
        for transition in &mut self.transitions {
            transition.line = 0;
            for arc in &mut transition.arcs {
                arc.line = 0;
            }
        }
        self
    }
}

impl Place {
    /// A place without a capacity.
    pub fn new(name: impl Into<String>, tokens: u32) -> Self {
        Self {
            name: name.into(),
            tokens,
            capacity: None,
            line: 0,
        }
    }

    /// The same place with a capacity of `most` tokens.
    #[must_use]
    pub fn capacity(mut self, most: u32) -> Self {
        self.capacity = Some(most);
        self
    }
}

impl Transition {
    /// A single-server transition without arcs.
    pub fn new(name: impl Into<String>, timing: Timing) -> Self {
        Self {
            name: name.into(),
            timing,
            servers: Servers::Single,
            arcs: Vec::new(),
            line: 0,
        }
    }

    /// The same transition with these servers.
    #[must_use]
    pub fn servers(mut self, servers: Servers) -> Self {
        self.servers = servers;
        self
    }

    /// The same transition, which takes `multiplicity` tokens from `place`.
    #[must_use]
    pub fn input(self, place: PlaceId, multiplicity: u32) -> Self {
        self.arc(ArcKind::Input, place, multiplicity)
    }

    /// The same transition, which adds `multiplicity` tokens to `place`.
    #[must_use]
    pub fn output(self, place: PlaceId, multiplicity: u32) -> Self {
        self.arc(ArcKind::Output, place, multiplicity)
    }

    /// The same transition, forbidden while `place` holds at least `multiplicity` tokens.
    #[must_use]
    pub fn inhibitor(self, place: PlaceId, multiplicity: u32) -> Self {
        self.arc(ArcKind::Inhibitor, place, multiplicity)
    }

    /// The same transition, which requires `multiplicity` tokens in `place`.
    #[must_use]
    pub fn read(self, place: PlaceId, multiplicity: u32) -> Self {
        self.arc(ArcKind::Read, place, multiplicity)
    }

    /// The same transition, which empties `place`.
    #[must_use]
    pub fn reset(self, place: PlaceId) -> Self {
        self.arc(ArcKind::Reset, place, 1)
    }

    fn arc(mut self, kind: ArcKind, place: PlaceId, multiplicity: u32) -> Self {
        self.arcs.push(Arc {
            kind,
            place,
            multiplicity,
            line: 0,
        });
        self
    }

    /// The arcs of one kind.
    pub fn arcs_of(&self, kind: ArcKind) -> impl Iterator<Item = &Arc> {
        self.arcs.iter().filter(move |arc| arc.kind == kind)
    }

    /// The multiplicity of the arc of one kind to `place`; 0 if there is none.
    pub fn multiplicity(&self, kind: ArcKind, place: PlaceId) -> u32 {
        self.arcs_of(kind)
            .find(|arc| arc.place == place)
            .map_or(0, |arc| arc.multiplicity)
    }
}

impl Timing {
    /// Immediate, with priority 1 and weight 1.
    pub fn immediate() -> Self {
        Self::weighted(1, 1.0)
    }

    /// Immediate, with this priority and weight.
    pub fn weighted(priority: u32, weight: f64) -> Self {
        Self::Immediate { priority, weight }
    }

    /// Exponential with this rate.
    pub fn exponential(rate: f64) -> Self {
        Self::Exponential { rate }
    }

    /// Whether it takes no time.
    pub fn is_immediate(&self) -> bool {
        matches!(self, Self::Immediate { .. })
    }

    /// The mean time of one firing, in the net's unit of time.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Immediate { .. } => 0.0,
            Self::Exponential { rate } => 1.0 / rate,
            Self::Deterministic { delay } => *delay,
            Self::Uniform { low, high } => 0.5 * (low + high),
            Self::Erlang { stages, rate } => f64::from(*stages) / rate,
            Self::Drawn(drawn) => drawn.mean(),
            Self::Empirical { values } => {
                let total: f64 = values.iter().map(|v| v.weight).sum();
                values.iter().map(|v| v.delay * v.weight).sum::<f64>() / total
            }
        }
    }
}

impl ArcKind {
    /// The word in the text format and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Inhibitor => "inhibitor",
            Self::Read => "read",
            Self::Reset => "reset",
        }
    }
}

impl Servers {
    /// Number of concurrent firings if the input tokens allow `degree`.
    pub fn limit(self, degree: u32) -> u32 {
        match self {
            Self::Single => degree.min(1),
            Self::Multiple(most) => degree.min(most),
            Self::Infinite => degree,
        }
    }
}
